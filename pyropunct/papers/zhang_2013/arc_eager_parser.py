"""The arc-eager parser: the streams that it reads, feature templates, training and parsing."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from numpy.typing import NDArray

from pyropunct.papers.transitions.arc_eager import (
    ATOMS,
    FULL,
    KINDS,
    LEFT,
    MIDDLE,
    NONE,
    REDUCE,
    RIGHT,
    SHIFT,
)
from pyropunct.papers.transitions.cells import FIRST_MARK, MARK, matrix_of
from pyropunct.papers.transitions.search import ARC_EAGER, TransitionSystem
from pyropunct.papers.transitions.transition_parser import (
    Action,
    Rest,
    TransitionParser,
    relation_numbers,
    system_of,
)
from pyropunct.tasks import Advance
from pyropunct.text.marks import Surface
from pyropunct.treebank.conllu_block import UPOS, XPOS
from pyropunct.treebank.sentence import Sentence, by_document

STOPS, PAUSES = frozenset(".?!。？！"), frozenset(",:;，：；、")
"""The characters of which full stops and middle pauses consist."""

SENTENCES = 10
"""The most sentences of a stream, as in the paper."""


@dataclass(frozen=True)
class Stream:
    """The n lower-case words of some sentences of a document, with marks and projective trees to predict.

    Marks are those of the paper's Table 3: a full stop for periods, question and exclamation marks, a middle
    pause for commas, colons and semicolons, or none.

    :ivar heads: the head of each word from 1, 0 for the root of each sentence.
    :ivar sizes: how many words each sentence has.
    :ivar lifted: how many words got another head by projectivisation.
    """

    forms: tuple[str, ...]
    tags: tuple[str, ...]
    marks: tuple[int, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    sizes: tuple[int, ...]
    lifted: int = 0

    @cached_property
    def ends(self) -> tuple[bool, ...]:
        """For each word whether a sentence ends behind it."""
        return tuple(place == size for size in self.sizes for place in range(1, size + 1))

    @cached_property
    def targets(self) -> tuple[int, ...]:
        """The mark to predict behind each word: full stops end sentences, and inside are middle pauses."""
        return tuple(
            FULL if end else MIDDLE if mark != NONE else NONE
            for mark, end in zip(self.marks, self.ends, strict=True)
        )


def marks_in(surface: Surface) -> tuple[int, ...]:
    """The marks behind n words, given the punctuation tokens of the slots 0..n."""
    kinds = (
        [FULL if STOPS.issuperset(one) else MIDDLE if PAUSES.issuperset(one) else NONE for one in slot]
        for slot in surface[1:]
    )
    return tuple(max(slot, default=NONE) for slot in kinds)


def streams(sentences: Iterable[Sentence], size: int = SENTENCES, *, universal: bool = False) -> list[Stream]:
    """The sentences of a treebank as streams of at most ``size``, which end with a document.

    :param universal: use the universal tags instead of those of the language.
    """
    column = UPOS if universal else XPOS
    return [
        _stream(part[first : first + size], column)
        for part in by_document(sentences)
        for first in range(0, len(part), size)
    ]


def _stream(sentences: Sequence[Sentence], column: int) -> Stream:
    sizes = [len(sentence.tree) for sentence in sentences]
    firsts = [sum(sizes[:place]) for place in range(len(sizes))]
    return Stream(
        forms=tuple(form.lower() for one in sentences for form in one.tree.forms),
        tags=tuple(
            one.layout.block.tokens[word - 1].columns[column]
            for one in sentences
            for word in one.layout.words
        ),
        marks=tuple(mark for one in sentences for mark in marks_in(one.surface)),
        heads=tuple(
            head and first + head
            for first, one in zip(firsts, sentences, strict=True)
            for head in one.tree.heads
        ),
        relations=tuple(relation for one in sentences for relation in one.tree.relations),
        sizes=tuple(sizes),
        lifted=sum(one.lifted for one in sentences),
    )


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


def encoded(stream: Stream, found: Marks = (), first: int = 0) -> NDArray[Any]:
    """A stream from its word ``first`` (from 0) on for compiled code, with marks of another system."""
    read = {MARK: [FIRST_MARK + mark if mark != NONE else 0 for mark in found[first:]]} if found else {}
    return matrix_of(stream.forms[first:], stream.tags[first:], read)


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
    goal, firsts = list[Action](), list(accumulate(stream.sizes, initial=0))
    for first, after in pairwise(firsts):
        heads = [head and head - first for head in stream.heads[first:after]]
        goal += transitions_to(heads, stream.relations[first:after], stream.targets[first:after])
    for first, after in pairwise(firsts):
        yield Rest(encoded(stream, found, first), goal[2 * first :], 2 * (after - first))
