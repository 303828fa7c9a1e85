"""The arc-eager parser: feature templates, training and parsing."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, NamedTuple

from numpy.typing import NDArray

from pyropunct.papers.experiment import Advance
from pyropunct.papers.transitions.arc_eager import ATOMS, FULL, KINDS, LEFT, NONE, REDUCE, RIGHT, SHIFT
from pyropunct.papers.transitions.cells import FIRST_MARK, MARK, TAG, WORD, matrix_of
from pyropunct.papers.transitions.perceptron import number_of
from pyropunct.papers.transitions.search import ARC_EAGER, TransitionSystem
from pyropunct.papers.transitions.transition_parser import (
    Action,
    Rest,
    TransitionParser,
    relation_numbers,
    system_of,
)
from pyropunct.papers.zhang_2013.streams import Stream

WORDS = """
s0.w | b0.w | b1.w | b2.w | s0.t | b0.t | b1.t | b2.t | s0.w s0.t | b0.w b0.t | b1.w b1.t | b2.w b2.t
s0.w s0.t b0.w b0.t | s0.w s0.t b0.w | s0.w s0.t b0.t | s0.w b0.w b0.t | s0.t b0.w b0.t
s0.w b0.w | s0.t b0.t | b0.t b1.t | s0.t b0.t b1.t | b0.t b1.t b2.t
"""
"""Words and tags: Table 2 (a) of Zhang, Wu, Yang & Li (2013)."""

TREES = """
h.t s0.t b0.t | s0.t s0.l.t b0.t | s0.t s0.r.t b0.t | s0.t b0.t b0.l.t
s0.w d | s0.t d | b0.w d | b0.t d | s0.w b0.w d | s0.t b0.t d
s0.w s0.vl | s0.t s0.vl | s0.w s0.vr | s0.t s0.vr | b0.w b0.vl | b0.t b0.vl
h.w | h.t | s0.d | s0.l.w | s0.l.t | s0.l.d | s0.r.w | s0.r.t | s0.r.d | b0.l.w | b0.l.t | b0.l.d
h2.w | h2.t | h.d | s0.l2.w | s0.l2.t | s0.l2.d | s0.r2.w | s0.r2.t | s0.r2.d | b0.l2.w | b0.l2.t | b0.l2.d
s0.t s0.l.t s0.l2.t | s0.t s0.r.t s0.r2.t | s0.t h.t h2.t | b0.t b0.l.t b0.l2.t
s0.w s0.sl | s0.t s0.sl | s0.w s0.sr | s0.t s0.sr | b0.w b0.sl | b0.t b0.sl
"""
"""Trees: Table 2 (b), with children of s0 and b0 where it prints those of b0 and b1, as in Zhang & Nivre
(2011), from which it is taken."""

MARKS = """
b0.p | b1.p | s0.p | b0.p b0.w | b0.p b0.t | b0.p b1.t | b0.p b0.t b1.t | b0.p b1.p
b0.p s0.t | b0.p s0.p | b0.p s0.t b0.t | b0.p s0.d | b0.p s0.r.d | b0.p b0.sl
s0.p s0.t | s0.p b0.t | s0.p s0.t b0.t
"""
"""Marks that were found before: properties of the words before them, and of the heads of these."""


Array = NDArray[Any]
Marks = Sequence[int]
"""The mark behind each word of a stream."""

NEEDED = {SHIFT + NONE: "", SHIFT + FULL: "", LEFT: "dep", REDUCE: ""}
"""The kinds of transitions with which any stream can be parsed, each with its relation if training shows none
of this kind."""


class ParsedStream(NamedTuple):
    """The n words of a stream with marks behind them (see `NONE`) and heads from 1, 0 for roots."""

    marks: tuple[int, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]


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


def stream_after(actions: Iterable[Action], root: str) -> ParsedStream:
    """The marks and trees to which transitions lead; ``root`` is the relation of roots."""
    marks: list[int] = []
    heads: list[int] = []
    relations: list[str] = []
    stack: list[int] = []
    for kind, relation in actions:
        if kind == LEFT:
            child = stack.pop()
            heads[child - 1], relations[child - 1] = len(heads) + 1, relation
        elif kind == REDUCE:
            stack.pop()
        else:
            arc = kind >= RIGHT
            marks.append(kind % (FULL + 1))
            heads.append(stack[-1] if arc else 0)
            relations.append(relation if arc else root)
            stack.append(len(heads))
    return ParsedStream(tuple(marks), tuple(heads), tuple(relations))


@dataclass(frozen=True)
class ArcEagerRecipe:
    """How a parser is trained.

    :ivar reads_marks: whether it reads marks of another system, and decides on them anew.
    :ivar beam: the most states that are kept, in training and afterwards.
    :ivar iterations: passes over the sentences.
    :ivar seed: of the order of sentences, which changes in each iteration.
    """

    reads_marks: bool = False
    beam: int = 5
    iterations: int = 15
    seed: int = 0


class ArcEagerParser(TransitionParser):
    """A parser of streams that predicts punctuation; see `train_arc_eager`."""

    recipe: ArcEagerRecipe
    what = "an arc-eager parser"
    recipe_kind = ArcEagerRecipe
    kinds, needed = KINDS, NEEDED

    @classmethod
    def system(cls, recipe: ArcEagerRecipe, actions: Sequence[Action]) -> TransitionSystem:
        """The score of an arc is that of its mark plus that of its relation, so marks share weights."""
        numbers = relation_numbers(actions)
        moves = []
        for kind, relation in actions:
            first = len(KINDS) + (0 if kind == LEFT else len(numbers))
            second = first + numbers[relation] - 1 if relation else -1
            moves.append((kind, numbers.get(relation, 0), kind, second))
        return system_of(ARC_EAGER, moves, WORDS + TREES + (MARKS if recipe.reads_marks else ""), ATOMS)

    def parse(self, streams: Iterable[Stream], found: Sequence[Marks] | None = None) -> list[ParsedStream]:
        """The marks and trees of streams, whose own marks and trees are ignored.

        :param found: marks of another system, for a parser that reads them, and only then: else a ValueError.
        """
        streams = list(streams)
        if self.recipe.reads_marks != (found is not None):
            raise ValueError("marks of another system are for a parser that was trained to read them")
        given = found if found is not None else [()] * len(streams)
        return [
            stream_after(self.best_actions(encoded(*both)), self.root)
            for both in zip(streams, given, strict=True)
        ]


def encoded(stream: Stream, found: Marks = (), first: int = 0) -> Array:
    """A stream from its word ``first`` (from 0) on for compiled code, with marks of another system."""
    rows = {WORD: list(map(number_of, stream.forms[first:])), TAG: list(map(number_of, stream.tags[first:]))}
    if found:
        rows[MARK] = [FIRST_MARK + mark if mark != NONE else 0 for mark in found[first:]]
    return matrix_of(len(stream.forms) - first, rows)


def train_arc_eager(
    some: Sequence[Stream],
    recipe: ArcEagerRecipe | None = None,
    *,
    found: Sequence[Marks] | None = None,
    advance: Advance = lambda done: None,
) -> ArcEagerParser:
    """Train a parser on streams.

    If the right transitions leave the beam, the rest of the sentence is skipped.

    :param found: the marks of each stream that another system predicted, if the parser reads them.
    :raises ValueError: if there is no sentence, or there are thousands of relations.
    """
    recipe = recipe or ArcEagerRecipe(reads_marks=found is not None)
    if not any(one.sizes for one in some):
        raise ValueError("there is no sentence to learn from")
    given = [()] * len(some) if found is None else found
    examples = [list(_rests(*pair)) for pair in zip(some, given, strict=True)]
    roots = (
        relation for one in some for head, relation in zip(one.heads, one.relations, strict=True) if not head
    )
    report = {
        "streams": len(some),
        "sentences": sum(len(one.sizes) for one in some),
        "lifted_arcs": sum(one.lifted for one in some),
    }
    return ArcEagerParser.learned(recipe, examples, roots, report, advance)


def _rests(stream: Stream, found: Marks) -> Iterator[Rest]:
    """A stream from each of its sentences on."""
    goal = _transitions_of(stream)
    for first, size in zip(accumulate(stream.sizes, initial=0), stream.sizes, strict=False):
        yield Rest(encoded(stream, found, first), goal[2 * first :], 2 * size)


def _transitions_of(stream: Stream) -> list[Action]:
    found: list[Action] = []
    for size in stream.sizes:
        first = len(found) // 2
        own = slice(first, first + size)
        heads = [head and head - first for head in stream.heads[own]]
        found += transitions_to(heads, stream.relations[own], stream.targets[own])
    return found
