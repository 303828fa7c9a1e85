"""Four treatments of the marks of a sentence to parse (Ma, Zhang & Zhu 2014, section 3).

Marks are tokens, are removed, or are *properties* of words: of the next word if they open a pair, else of the
word before.  Where the paper is silent, this follows the authors' program: an even number of dashes ``--``
are pairs; marks beside a mark of a pair are ignored; of others on a word the last wins; and a final mark is
no property.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import compress, groupby
from typing import Any

from pyropunct.papers.options import ALL, PAIRED, TOKENS
from pyropunct.text.marks import CLOSERS, direct_quotes
from pyropunct.treebank.conllu_block import DEPREL, FORM, UPOS, XPOS
from pyropunct.treebank.projective import projectivise
from pyropunct.treebank.sentence import Sentence

DASH = "--"

_NO_TAG = "_"
_OPENERS = (*CLOSERS, DASH)


@dataclass(frozen=True, slots=True)
class MarkedSentence:
    """The m tokens of a sentence, words and marks; heads from 1, 0 for the root; no head is a mark."""

    forms: tuple[str, ...]
    tags: tuple[str, ...]
    marks: tuple[bool, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TreatedSentence:
    """The n tokens of a sentence to parse, by their numbers in the sentence, from 1.

    :ivar opened: the kinds of pairs that are opened before each token, as bits; ``closed``, closed behind it.
    :ivar beside: the tag of another mark behind it, empty if there is none.
    """

    tokens: tuple[int, ...]
    forms: tuple[str, ...]
    tags: tuple[str, ...]
    opened: tuple[int, ...]
    closed: tuple[int, ...]
    beside: tuple[str, ...]


def have_language_tags(sentences: Iterable[Sentence]) -> bool:
    """Whether all tokens of a treebank have a language-specific part of speech (XPOS)."""
    tokens = (token for sentence in sentences for token in sentence.layout.block.tokens)
    return all(token.columns[XPOS] != _NO_TAG for token in tokens)


def marked_sentences(sentences: Iterable[Sentence], *, universal: bool = False) -> list[MarkedSentence]:
    """The sentences of a treebank with their marks and the language's tags, or universal ones."""
    return [_marked(sentence, UPOS if universal else XPOS) for sentence in sentences]


def _marked(sentence: Sentence, column: int) -> MarkedSentence:
    tokens, words = sentence.layout.block.tokens, set(sentence.layout.words)
    return MarkedSentence(
        forms=tuple(token.columns[FORM] for token in tokens),
        tags=tuple(token.columns[column] for token in tokens),
        marks=tuple(number not in words for number in range(1, len(tokens) + 1)),
        heads=tuple(token.head for token in tokens),
        relations=tuple(token.columns[DEPREL] for token in tokens),
    )


def treated(sentence: MarkedSentence, treatment: str) -> TreatedSentence:
    """The tokens of a sentence to parse, with their properties; ``treatment`` is one of `TREATMENTS`."""
    size = len(sentence.forms)
    opened, closed, beside = [0] * size, [0] * size, [""] * size
    kept = [treatment == TOKENS or not mark for mark in sentence.marks]
    if treatment in (PAIRED, ALL):
        sides = pair_sides(sentence)
        for first, last in _runs(sentence.marks):
            for side in sides[first:last]:
                if side > 0 and last < size:
                    opened[last] |= 1 << side
                elif side < 0 and first:
                    closed[first - 1] |= 1 << -side
            if any(sides[first:last]):
                continue
            if treatment == PAIRED:
                kept[first:last] = [True] * (last - first)
            elif first and min(last, size - 1) > first:
                beside[first - 1] = sentence.tags[min(last, size - 1) - 1]
    properties: Sequence[Iterable[Any]] = opened, closed, beside
    columns = (range(1, size + 1), sentence.forms, sentence.tags, *properties)
    return TreatedSentence(*(tuple(compress(column, kept)) for column in columns))


def _runs(marks: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """The first place of each run of adjacent marks, and the place behind the run."""
    for is_mark, group in groupby(range(len(marks)), lambda place: marks[place]):
        places = list(group)
        if is_mark:
            yield places[0], places[-1] + 1


def pair_sides(sentence: MarkedSentence) -> list[int]:
    """For each token the number of the kind of pair that it opens, the negative number if it closes it, or 0.

    Tags direct straight quotation marks, or they alternate. A mark that can do both closes the last pair if
    it can.
    """
    places = [place for place, mark in enumerate(sentence.marks) if mark]
    forms, tags = [sentence.forms[place] for place in places], [sentence.tags[place] for place in places]
    dashes, seen = forms.count(DASH) % 2 == 0, 0
    sides, open_kinds = [0] * len(sentence.forms), list[int]()
    for place, mark in zip(places, direct_quotes(forms, tags), strict=True):
        kind = 1 + _OPENERS.index(mark) if mark in CLOSERS else 0
        if mark == DASH and dashes:
            seen += 1
            sides[place] = len(_OPENERS) * (1 if seen % 2 else -1)
        elif open_kinds and mark in CLOSERS[_OPENERS[open_kinds[-1] - 1]]:
            sides[place] = -open_kinds.pop()
        elif kind:
            sides[place] = kind
            open_kinds.append(kind)
        else:
            sides[place] = -next((1 + n for n, one in enumerate(CLOSERS) if mark in CLOSERS[one]), 0)
    return sides


def tree_of(sentence: MarkedSentence, tokens: Sequence[int]) -> tuple[tuple[int, ...], tuple[str, ...], int]:
    """The heads from 1 and relations of the parsed tokens, made projective, and how many heads changed."""
    place = {0: 0} | {token: number for number, token in enumerate(tokens, start=1)}
    heads = [place[sentence.heads[token - 1]] for token in tokens]
    projective = projectivise(heads)
    lifted = sum(old != new for old, new in zip(heads, projective, strict=True))
    return projective, tuple(sentence.relations[token - 1] for token in tokens), lifted
