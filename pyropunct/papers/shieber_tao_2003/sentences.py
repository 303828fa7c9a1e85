"""Sentences without their commas, constituents that start and end between words, and scores of commas.

Shieber & Tao (2003, section 3) count at each position i, behind word i, the constituents with their left
boundary there (sc_i) and with their right boundary there (ec_i).  A word with its tag is a constituent too.
The tree is that without commas: constituents on either side of a comma meet at the same position.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.fitted.evaluation import MarkScore
from pyropunct.nets.parser import Parser
from pyropunct.text.lines import NO_SENTENCE, TreebankError, opened, read_lines
from pyropunct.treebank.phrase_trees import (
    EMPTY_ELEMENT,
    PhraseTree,
    as_printed,
    read_phrase_trees,
    universal_tag,
)
from pyropunct.treebank.tree import Tree, spans

COMMA = ","


@dataclass(frozen=True, slots=True)
class CommaSentence:
    """A sentence of words (and marks other than commas) with tags, and the places of its commas.

    :ivar commas: (n + 1,) whether one or several commas stand at each position.
    :ivar starts: (n + 1,) sc_i; ``ends``, (n + 1,) ec_i.
    :ivar number: the number of its tree in the file, from 1; 0 without a file.
    """

    words: tuple[str, ...]
    tags: tuple[str, ...]
    commas: NDArray[np.bool_]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    number: int = 0


def read_comma_sentences(path: str | Path) -> list[CommaSentence]:
    """The sentences of a file of bracketed phrase-structure trees, or of standard input (``-``).

    Trees of commas and empty elements alone are left out.

    :raises TreebankError: if the file cannot be read, is not UTF-8, or has no tree, or something else.
    """
    with opened(str(path)) as (stream, name):
        sentences = list(comma_sentences(read_phrase_trees(read_lines(stream, name), name)))
    if not sentences:
        raise TreebankError(name, NO_SENTENCE)
    return sentences


def require_commas(sentences: Iterable[CommaSentence], name: str) -> None:
    """Raises TreebankError, which names the file, if there is no comma to learn from."""
    if not any(sentence.commas.any() for sentence in sentences):
        raise TreebankError(name, "there is no comma in the file, so nothing to learn from")


def comma_sentences(trees: Iterable[PhraseTree]) -> Iterator[CommaSentence]:
    """The sentences of trees; see `read_comma_sentences`."""
    for number, tree in enumerate(trees, start=1):
        found = _Positions()
        found.read(tree)
        if found.words:
            places = np.array(found.commas), np.array(found.starts), np.array(found.ends)
            yield CommaSentence(tuple(found.words), tuple(found.tags), *places, number)


@dataclass
class _Positions:
    """The words of a tree so far, and what is at the positions behind them."""

    words: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    commas: list[bool] = field(default_factory=lambda: [False])
    starts: list[int] = field(default_factory=lambda: [0])
    ends: list[int] = field(default_factory=lambda: [0])

    def read(self, tree: PhraseTree) -> None:
        """Add a tree.  Phrases of commas and empty elements alone do not count."""
        start = len(self.words)
        if tree.word == COMMA:
            self.commas[-1] = True
        elif tree.word and tree.label != EMPTY_ELEMENT:
            self.words.append(tree.word)
            self.tags.append(tree.category)
            self.commas.append(False)
            self.starts.append(0)
            self.ends.append(0)
        for daughter in tree.daughters:
            self.read(daughter)
        if tree.label and len(self.words) > start:
            self.starts[start] += 1
            self.ends[-1] += 1


def parsed(sentences: Sequence[CommaSentence], parser: Parser) -> list[CommaSentence]:
    """Sentences with the constituents and tags of the parser's best trees; those of marks alone keep tags."""
    places = [
        [place for place, tag in enumerate(one.tags) if universal_tag(tag) != "PUNCT"] for one in sentences
    ]  # the positions before the words that are no marks
    forms = [_forms(one, words) for one, words in zip(sentences, places, strict=True) if words]
    trees = iter(parser.parse(forms))
    return [
        _with_constituents(sentence, words, next(trees)[0].tree if words else None)
        for sentence, words in zip(sentences, places, strict=True)
    ]


def _forms(sentence: CommaSentence, places: Sequence[int]) -> list[str]:
    """Words in the format of parsers: as written, but abbreviations without their dot."""
    printed = (as_printed(sentence.words[place], sentence.tags[place]) for place in places)
    return [form.rstrip(".") or form for form in printed]


def _with_constituents(sentence: CommaSentence, places: Sequence[int], tree: Tree | None) -> CommaSentence:
    each = np.ones(len(sentence.words), np.int64)
    starts, ends = np.append(each, 0), np.append(0, each)
    tags = list(sentence.tags)
    if tree is not None:
        for first, last, size in spans(tree.heads):
            if size > 1:
                starts[places[first - 1]] += 1
                ends[places[last - 1] + 1] += 1
        for place, tag in zip(places, tree.tags, strict=True):
            tags[place] = tag
    return replace(sentence, tags=tuple(tags), starts=starts, ends=ends)


HUMAN = 0.86
"""The sentence accuracy of people, according to other people (Beeferman et al. 1998)."""

RIGHT, RESTORED, GOLD, DECISIONS, WRONG, CORRECT = range(6)
"""The columns of counts: rightly restored commas, restored commas, and true commas; positions behind words,
and positions with a wrong decision; and 1 for a sentence in which all is right."""


MARKS = GOLD, RESTORED, RIGHT
"""The columns of true, restored and rightly restored commas."""


def counts(restored: NDArray[np.bool_], gold: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(6,) the counts of one sentence, from (n + 1,) commas; one before the first word is gold, but not
    decided.
    """
    wrong = int((restored != gold)[1:].sum())
    right = int((restored & gold).sum())
    return np.array(
        [right, restored.sum(), gold.sum(), len(gold) - 1, wrong, (restored == gold).all()], np.int64
    )


@dataclass(frozen=True)
class CommaScores:
    """Counts of commas: (sentences, 6), a row for each sentence."""

    table: NDArray[np.int64]

    @classmethod
    def of(cls, restored: Iterable[NDArray[np.bool_]], gold: Sequence[NDArray[np.bool_]]) -> "CommaScores":
        """The scores of sentences, given (n + 1,) restored and gold commas of each."""
        pairs = zip(restored, gold, strict=True)
        return cls(np.array([counts(one, other) for one, other in pairs], np.int64).reshape(-1, 6))

    @property
    def marks(self) -> MarkScore:
        """Precision, recall and F1 of commas."""
        return MarkScore(*map(self._total, MARKS))

    @property
    def token_accuracy(self) -> float | None:
        """The share of positions behind words with the right decision; None if there are none."""
        return _share(self._total(DECISIONS) - self._total(WRONG), self._total(DECISIONS))

    @property
    def sentence_accuracy(self) -> float | None:
        """The share of sentences with all commas right and no others; None without sentences."""
        return _share(self._total(CORRECT), len(self.table))

    def error_reduction(self, baseline: "CommaScores") -> float | None:
        """The share of the avoidable sentence errors of a baseline that are avoided::

            (s - b) / (.86 - b)

        where s and b are sentence accuracies and .86 is that of people.  With b = .470, that of model 1 on
        section 23, it is the last column of Table 1.  None if one accuracy is, or if b is .86 or more.
        """
        reached, start = self.sentence_accuracy, baseline.sentence_accuracy
        if reached is None or start is None or start >= HUMAN:
            return None
        return (reached - start) / (HUMAN - start)

    def _total(self, column: int) -> int:
        return int(self.table[:, column].sum())


class CommaResult(NamedTuple):
    """The result of a model; ``title``: what it uses.

    :ivar trees: the source of its constituents: ``gold`` or ``parsed``, empty if it uses none.
    """

    name: str
    title: str
    trees: str
    scores: CommaScores


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
