"""The arc-eager parser of streams: training and parsing."""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import ClassVar

from pyropunct.papers.options import CASCADED
from pyropunct.papers.transitions.cells import FIRST_MARK, matrix_of
from pyropunct.papers.transitions.machine import FULL, LEFT, NONE, REDUCE, RIGHT, SHIFT
from pyropunct.papers.transitions.parser import Action, Example, Recipe, TransitionParser
from pyropunct.papers.transitions.perceptron import Array
from pyropunct.papers.transitions.streams import Reading, Stream
from pyropunct.tasks import Advance

Marks = Sequence[int]
"""The mark behind each word of a stream."""


class ArcEagerParser(TransitionParser):
    """A parser of streams that predicts punctuation; see `train_arc_eager`."""

    what = "an arc-eager parser"
    needed: ClassVar = {SHIFT + NONE: "", SHIFT + FULL: "", LEFT: "dep", REDUCE: ""}

    @classmethod
    def weight_numbers(cls, place: int, kind: int, relation: int, relations: int) -> tuple[int, int]:
        """The score of an arc is that of its mark plus that of its relation, so marks share weights."""
        side = 0 if kind == LEFT else relations
        return kind - SHIFT, REDUCE - SHIFT + side + relation if relation else -1

    def parse(self, streams: Sequence[Stream], found: Sequence[Marks] | None = None) -> list[Reading]:
        """The marks and trees of streams, whose own marks and trees are ignored.

        :param found: marks of another system, for a parser that reads them, and only then: else a ValueError.
        """
        if (self.recipe.features == CASCADED) != (found is not None):
            raise ValueError("marks of another system are for a parser that was trained to read them")
        return [Reading(*self.reading(words)) for words in _encoded(streams, found)]


def _encoded(streams: Sequence[Stream], found: Sequence[Marks] | None) -> list[Array]:
    """Streams in the format of compiled code, with marks of another system."""
    marks = [[0] * len(one.forms) for one in streams] if found is None else found
    return [
        matrix_of(one.forms, one.tags, [mark and FIRST_MARK + mark for mark in read])
        for one, read in zip(streams, marks, strict=True)
    ]


def transitions_to(heads: Sequence[int], relations: Sequence[str], marks: Sequence[int]) -> list[Action]:
    """The transitions to a sentence with a projective tree; a word leaves the stack as late as it can.

    :param marks: a full stop behind the last word, and nowhere else.
    """
    stack: list[int] = []
    found: list[Action] = []
    for word, head in enumerate(heads, start=1):
        while stack and stack[-1] != head and any(heads[one - 1] == word or one == head for one in stack):
            child = stack.pop()
            left = heads[child - 1] == word
            found.append((LEFT, relations[child - 1]) if left else (REDUCE, ""))
        arc = bool(stack) and stack[-1] == head
        stack.append(word)
        found.append((RIGHT + marks[word - 1], relations[word - 1]) if arc else (SHIFT + marks[word - 1], ""))
    return found + [(REDUCE, "")] * len(stack)


def train_arc_eager(
    some: Sequence[Stream],
    recipe: Recipe,
    advance: Advance = lambda done: None,
    found: Sequence[Marks] | None = None,
) -> ArcEagerParser:
    """Train a parser on streams.

    If the right transitions leave the beam, the rest of the sentence is skipped.

    :param found: the marks of each stream that another system predicted, if the parser reads them.
    :raises ValueError: if there is no sentence, or there are thousands of relations.
    """
    pairs = zip(_encoded(some, found), some, strict=True)
    examples = [Example(words, _goal(stream), stream.sizes) for words, stream in pairs]
    roots = (
        relation for one in some for head, relation in zip(one.heads, one.relations, strict=True) if not head
    )
    return ArcEagerParser.learned(recipe, examples, roots, {}, advance)


def _goal(stream: Stream) -> list[Action]:
    """The transitions to all sentences of a stream."""
    goal = list[Action]()
    for first, after in pairwise(accumulate(stream.sizes, initial=0)):
        heads = [head and head - first for head in stream.heads[first:after]]
        goal += transitions_to(heads, stream.relations[first:after], stream.targets[first:after])
    return goal
