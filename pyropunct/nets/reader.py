"""Readers of running text: find sentence ends, marks and case in words without punctuation.

Example::

    from pyropunct import read_treebank
    from pyropunct.nets.reader_training import train_reader

    reader = train_reader(read_treebank("train.conllu"), read_treebank("dev.conllu"))
    print(reader.sentences("she left he stayed in paris".split()))
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor

from pyropunct.nets.labels import Probabilities
from pyropunct.nets.networks import TrainedWordNetwork
from pyropunct.nets.running_text import (
    CASES,
    OTHER,
    Document,
    ReaderRecipe,
    ReaderVocabulary,
    RunningNetwork,
    case_of,
    in_case,
)

CORE, MARGIN = 128, 32
"""The words in the core of a window, whose reading it gives, and the words that it sees on either side."""

LIKELY = 0.3
"""The probability above which a sentence ends; it is below 1/2, as missed ends cost more."""

WINDOWS_AT_ONCE = 32
"""Windows that the network reads together."""


class Reading(NamedTuple):
    """The reading of n words of running text.

    :ivar ends: (n,) the probability that a sentence ends behind each word.
    :ivar cases: (n, 4) logits of the cases of words inside sentences: see `RunningNetwork`.
    :ivar marks: (n, labels) logits of the marks behind words inside sentences.
    """

    ends: Tensor
    cases: Tensor
    marks: Tensor


class TextWindow(NamedTuple):
    """Neighbouring words of a text that the network reads, and the core of them whose reading is kept."""

    words: Sequence[str]
    core: slice


@dataclass(frozen=True)
class RunningReader(TrainedWordNetwork[ReaderVocabulary, ReaderRecipe, RunningNetwork]):
    """Finds sentences, marks and cases in running text; see `pyropunct.nets.reader_training.train_reader`.

    :ivar beside: another reader, without pretrained features: all logits are the means of both readers.
    """

    beside: "RunningReader | None" = None

    what = "a reader of running text"
    kinds = (ReaderVocabulary, ReaderRecipe, RunningNetwork)

    def read(self, words: Sequence[str]) -> Reading:
        """Read the words of running text in windows; time and memory are linear in their number."""
        return self.read_all([words])[0]

    def read_all(self, texts: Sequence[Sequence[str]]) -> list[Reading]:
        """Read several texts, those of similar lengths together, which is faster than one by one."""
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        by_length = [texts[place] for place in order]
        windows = [window for words in by_length for window in windows_of(words, 0, len(words))]
        groups = (windows[n : n + WINDOWS_AT_ONCE] for n in range(0, len(windows), WINDOWS_AT_ONCE))
        shapes = (0,), (0, CASES), (0, len(self.network.at_end))
        nothing = Reading(*(torch.zeros(shape, dtype=torch.float) for shape in shapes))
        parts = [self.read_windows(group) for group in groups] or [nothing]
        sizes = [len(words) for words in by_length]
        columns = (torch.cat(column).split(sizes) for column in zip(*parts, strict=True))
        found = dict(zip(order, (Reading(*rows) for rows in zip(*columns, strict=True)), strict=True))
        return [found[place] for place in range(len(texts))]

    @torch.inference_mode()
    def read_windows(self, windows: Sequence[TextWindow]) -> Reading:
        """Read the words in the cores of one or more windows together."""
        columns = self._logits([window.words for window in windows])
        rows = [(row, window.core) for row, window in enumerate(windows)]
        ends, cases, marks = (torch.cat([column[place] for place in rows]).cpu() for column in columns)
        return Reading(ends.sigmoid(), cases, marks)

    def _logits(self, texts: Sequence[Sequence[str]]) -> tuple[Tensor, Tensor, Tensor]:
        """See `RunningNetwork.forward`."""
        ends, cases, marks = self.network(self.encode(texts))
        if self.beside is None:
            return ends, cases, marks
        other_ends, other_cases, other_marks = self.beside._logits(texts)
        same = other_marks[..., self._labels_beside]
        return (ends + other_ends) / 2, (cases + other_cases) / 2, (marks + same) / 2

    @cached_property
    def _labels_beside(self) -> list[int]:
        """For each label of this reader, the label of the same string in the reader beside it."""
        assert self.beside is not None
        labels = self.beside.vocabulary.slots.labels
        return [*labels.encode(self.vocabulary.slots.labels.strings), labels.unknown]

    @cached_property
    def _inside_to_edges(self) -> tuple[Tensor, Tensor]:
        """What is added to logits (labels,) of marks at an end, and to logits (4,) of cases at a start."""
        at_end, at_start = self.network.at_end.detach().cpu(), self.network.at_start.detach().cpu()
        if self.beside is None:
            return at_end, at_start
        other_end, other_start = self.beside._inside_to_edges
        return (at_end + other_end[self._labels_beside]) / 2, (at_start + other_start) / 2

    def sentences(self, words: Sequence[str]) -> list[list[str]]:
        """The sentences of running text."""
        sentences: list[list[str]] = [[]]
        for word, end in zip(words, self.read(words).ends.tolist(), strict=True):
            sentences[-1].append(word)
            if end > LIKELY:
                sentences.append([])
        return [sentence for sentence in sentences if sentence]

    @torch.inference_mode()
    def mark_probabilities(self, marks: Tensor, ends: Sequence[bool]) -> Probabilities:
        """(n, labels) probabilities of the strings behind n words, given `Reading.marks` and the ends."""
        logits = marks + torch.tensor(ends, dtype=marks.dtype)[:, None] * self._inside_to_edges[0]
        return logits.double().softmax(-1).numpy()

    def in_cases(self, words: Sequence[str], cases: Tensor, starts: Sequence[bool]) -> list[str]:
        """Lower-cased words in their most probable cases, from `Reading.cases` and sentence starts."""
        with torch.inference_mode():
            logits = cases + torch.tensor(starts, dtype=cases.dtype)[:, None] * self._inside_to_edges[1]
            best, second = logits.argmax(-1).tolist(), logits[:, :OTHER].argmax(-1).tolist()
        others = self.vocabulary.other_by_lower
        return [
            others[word.lower()] if case == OTHER and word.lower() in others else in_case(word, simple)
            for word, case, simple in zip(words, best, second, strict=True)
        ]


def windows_of(
    words: Sequence[str], start: int, stop: int, core: int = CORE, ahead: int = MARGIN
) -> Iterator[TextWindow]:
    """Windows whose cores together are the words ``start`` to ``stop`` - 1 of a text.

    :param core: the most words of a core, and ``ahead``, those that are seen behind it.
    """
    for first in range(start, stop, core):
        seen, last = max(0, first - MARGIN), min(stop, first + core)
        yield TextWindow(words[seen : last + ahead], slice(first - seen, last - seen))


class ReaderScores(NamedTuple):
    """Scores of a reader, in percent.

    :ivar f1: of sentence ends inside documents, in words as written.
    :ivar lower_f1: the same in lower-cased words.
    :ivar case: accuracy of case in lower-cased words, of those that have case.
    :ivar lower_marks: F1 of the strings of marks behind lower-cased words.
    """

    words: int
    f1: float
    lower_f1: float
    case: float
    lower_marks: float

    @property
    def merit(self) -> float:
        """The sum of the four percentages, by which the best epoch is chosen."""
        return self.f1 + self.lower_f1 + self.case + self.lower_marks


class Counts(NamedTuple):
    """Counts in the treebank (gold), in the answers (predicted), and in both (right)."""

    gold: int
    predicted: int
    right: int

    @property
    def precision(self) -> float:
        """In percent, 100 if nothing was found."""
        return 100 * self.right / self.predicted if self.predicted else 100.0

    @property
    def recall(self) -> float:
        """In percent, 100 if there is nothing to find."""
        return 100 * self.right / self.gold if self.gold else 100.0

    @property
    def f1(self) -> float:
        """The harmonic mean of both, 100 if there is nothing and nothing was found."""
        both = self.gold + self.predicted
        return 200 * self.right / both if both else 100.0


def count_ends(found: Sequence[Sequence[bool]], gold: Sequence[Sequence[bool]]) -> Counts:
    """Count sentence ends inside documents, found and gold; the end of a document does not count."""
    inside = ([end for ends in documents for end in ends[:-1]] for documents in (found, gold))
    return count_labels(*inside)


def count_labels(found: Sequence[int], gold: Sequence[int]) -> Counts:
    """Count the labels behind words; label 0, such as the empty string of marks, does not count."""
    right = sum(one == other > 0 for one, other in zip(found, gold, strict=True))
    return Counts(sum(map(bool, gold)), sum(map(bool, found)), right)


def reader_scores(reader: RunningReader, texts: Sequence[Document]) -> ReaderScores:
    """The scores of a reader on documents as written, and lower-cased."""
    gold = [document.ends for document in texts]
    as_written = [(reader.read(document.words).ends > LIKELY).tolist() for document in texts]
    lowered, marks, right, cased = [], list[int](), 0, 0
    labels = reader.vocabulary.slots.labels
    for document in texts:
        words = [word.lower() for word in document.words]
        ends, cases, of_marks = reader.read(words)
        lowered.append((ends > LIKELY).tolist())
        marks += reader.mark_probabilities(of_marks, lowered[-1]).argmax(1).tolist()
        written = reader.in_cases(words, cases, [True, *lowered[-1][:-1]])
        pairs = [pair for pair in zip(written, document.words, strict=True) if case_of(pair[1]) is not None]
        cased += len(pairs)
        right += sum(word == correct for word, correct in pairs)
    case = 100 * right / cased if cased else 100.0
    f1, lower_f1 = count_ends(as_written, gold).f1, count_ends(lowered, gold).f1
    gold_marks = labels.encode(string for document in texts for string in labels.strings_of(document.marks))
    return ReaderScores(len(marks), f1, lower_f1, case, count_labels(marks, gold_marks).f1)
