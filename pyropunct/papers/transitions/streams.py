"""Streams of running words, with the punctuation, sentences and trees to predict."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

from pyropunct.papers.transitions.machine import FULL, MIDDLE, NONE
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


class Reading(NamedTuple):
    """The marks and ends that a system predicts behind the n words of a stream, and the tree.

    :ivar heads: the head of each word from 1, 0 for roots; None without trees.
    :ivar ends: whether a sentence ends behind each word; None if sentences end behind full stops.
    """

    marks: Sequence[int]
    heads: Sequence[int] | None = None
    relations: Sequence[str] | None = None
    ends: Sequence[bool] | None = None


def reading_parts(
    sentences: Sequence[Any],
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[str, ...], tuple[bool, ...]]:
    """The parts of the `Reading` of a stream of sentences that have a tree and a surface."""
    firsts = accumulate((len(one.tree) for one in sentences), initial=0)
    placed = list(zip(firsts, sentences, strict=False))
    return (
        tuple(mark for one in sentences for mark in marks_in(one.surface)),
        tuple(head and first + head for first, one in placed for head in one.tree.heads),
        tuple(relation for one in sentences for relation in one.tree.relations),
        tuple(word == len(one.tree) for one in sentences for word in range(1, len(one.tree) + 1)),
    )


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
    marks, heads, relations, _ = reading_parts(sentences)
    return Stream(
        forms=tuple(form.lower() for one in sentences for form in one.tree.forms),
        tags=tuple(
            one.layout.block.tokens[word - 1].columns[column]
            for one in sentences
            for word in one.layout.words
        ),
        marks=marks,
        heads=heads,
        relations=relations,
        sizes=tuple(len(one.tree) for one in sentences),
        lifted=sum(one.lifted for one in sentences),
    )
