"""Streams: sentences of a document as words in lower case, without punctuation or ends.

Behind each word stands one of three marks (Zhang, Wu, Yang & Li 2013, Table 3): a full stop for periods,
question and exclamation marks, a middle pause for commas, colons and semicolons, or none.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from pyropunct.papers.transitions.arc_eager import FULL, MIDDLE, NONE
from pyropunct.text.marks import Surface
from pyropunct.treebank.conllu_block import UPOS, XPOS
from pyropunct.treebank.sentence import Sentence, by_document

STOPS, PAUSES = frozenset(".?!。？！"), frozenset(",:;，：；、")
"""The characters of which full stops and middle pauses consist."""

SENTENCES = 10
"""The most sentences of a stream, as in the paper."""


@dataclass(frozen=True)
class Stream:
    """The n lower-case words of some sentences, with marks and projective trees to predict.

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
    return tuple(_mark(slot) for slot in surface[1:])


def _mark(slot: Sequence[str]) -> int:
    kinds = [FULL if STOPS.issuperset(one) else MIDDLE if PAUSES.issuperset(one) else NONE for one in slot]
    return max(kinds, default=NONE)


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
        tags=tuple(tag for one in sentences for tag in _tags(one, column)),
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


def _tags(sentence: Sentence, column: int) -> list[str]:
    tokens = sentence.layout.block.tokens
    return [tokens[word - 1].columns[column] for word in sentence.layout.words]
