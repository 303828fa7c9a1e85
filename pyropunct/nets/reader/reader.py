"""The reader of running text: its network, and the trained reader."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from pyropunct.nets.labels import Probabilities
from pyropunct.nets.layers import WordNetwork, mirror, stack
from pyropunct.nets.reader.case import CASES, OTHER, in_case
from pyropunct.nets.reader.encoding import NO_CASE, ReaderVocabulary
from pyropunct.nets.recipes import ReaderRecipe
from pyropunct.nets.trained import TrainedWordNetwork
from pyropunct.nets.words import WordBatch

CORE, MARGIN = 128, 32
"""The words in the core of a window, whose reading it gives, and the words that it sees on either side."""

LIKELY = 0.25
"""The probability above which a sentence ends; it is below 1/2, as missed ends cost more."""

WINDOWS_AT_ONCE = 32
"""Windows that the network reads together."""


class Answers(NamedTuple):
    """The right answers for a batch of windows; each (windows, longest).

    :ivar ends: 1 where a sentence ends behind a word, 0 elsewhere.
    :ivar starts: 1 where a sentence starts with a word.
    :ivar cases: of the words, `NO_CASE` where no case is to be learned and in the padding.
    :ivar marks: the labels of the strings behind the words.
    """

    ends: Tensor
    starts: Tensor
    cases: Tensor
    marks: Tensor


class RunningNetwork(WordNetwork):
    """Scores for each word: whether a sentence ends behind it, which marks do, and how it is written.

    With h_i the state of the LSTMs at word i, s_i = 1 if a sentence starts with it, and e_i = 1 if one ends
    behind it,

        p(e_i = 1) = sigmoid(u' h_i + a)        p(case of i | s_i) = softmax(V h_i + b + s_i c)
                                                p(marks behind i | e_i) = softmax(W h_i + d + e_i f)

    so that cases and marks depend on the sentences that were decided on.

    :param vocabulary: the types of words.
    :param recipe: the sizes of everything.
    :param pretrained: see `pyropunct.nets.layers.WordNetwork`.
    """

    def __init__(self, vocabulary: ReaderVocabulary, recipe: ReaderRecipe, pretrained: int = 0) -> None:
        super().__init__(vocabulary, recipe, pretrained)
        self.recipe = recipe
        self.layers = stack(recipe.layers, self.word_size, recipe.lstm_size)
        self.ends = nn.Linear(2 * recipe.lstm_size, 1)
        self.cases = nn.Linear(2 * recipe.lstm_size, CASES)
        self.at_start = nn.Parameter(torch.zeros(CASES))
        labels = len(vocabulary.slots.labels.strings) + 1
        self.marks = nn.Linear(2 * recipe.lstm_size, labels)
        self.at_end = nn.Parameter(torch.zeros(labels))
        self.float()

    def forward(self, batch: WordBatch) -> tuple[Tensor, Tensor, Tensor]:
        """The logits of ends (windows, longest), and those inside of sentences of cases (windows, longest, 4)
        and of marks (windows, longest, labels).
        """
        reverse, words = mirror(batch), self.embed(batch)
        for layer in self.layers:
            words = layer(self.dropout(words), reverse)
        words = self.dropout(words)
        return self.ends(words)[..., 0], self.cases(words), self.marks(words)

    def loss(self, batch: WordBatch, answers: Answers) -> Tensor:
        """The negative log-probability of the right ends, marks and, with a weight, cases, per word."""
        ends, cases, marks = self(batch)
        word, cased = batch.words > 0, answers.cases != NO_CASE
        end_loss = functional.binary_cross_entropy_with_logits(ends[word], answers.ends[word])
        cases = cases[cased] + answers.starts[cased][:, None] * self.at_start
        case_loss = functional.cross_entropy(cases, answers.cases[cased], reduction="sum") / word.sum()
        marks = marks[word] + answers.ends[word][:, None] * self.at_end
        mark_loss = functional.cross_entropy(marks, answers.marks[word])
        return end_loss + mark_loss + self.recipe.case_weight * case_loss


class Reading(NamedTuple):
    """The reading of n words of running text.

    :ivar ends: (n,) the probability that a sentence ends behind each word.
    :ivar cases: (n, 4) the logits of the cases of the words inside of sentences: see `RunningNetwork`.
    :ivar marks: (n, labels) the logits of the marks behind the words inside of sentences.
    """

    ends: Tensor
    cases: Tensor
    marks: Tensor


class Window(NamedTuple):
    """Neighbouring words of a text.

    :ivar words: the words that the network sees.
    :ivar core: the place among them of the words whose reading it gives.
    """

    words: Sequence[str]
    core: slice


@dataclass(frozen=True)
class RunningReader(TrainedWordNetwork[ReaderVocabulary, ReaderRecipe, RunningNetwork]):
    """Finds sentences, marks and cases in running text, trained by `pyropunct.nets.reader.train_reader`."""

    what = "a reader of running text"
    kinds = (ReaderVocabulary, ReaderRecipe, RunningNetwork)

    def read(self, words: Sequence[str]) -> Reading:
        """Read the words of running text in windows: time and memory are linear in their number.

        The reading of a word depends on nothing outside of its window.
        """
        return self.read_all([words])[0]

    def read_all(self, texts: Sequence[Sequence[str]]) -> list[Reading]:
        """Read several texts, which is quicker than one after the other."""
        windows = [window for words in texts for window in windows_of(words, 0, len(words))]
        groups = (windows[n : n + WINDOWS_AT_ONCE] for n in range(0, len(windows), WINDOWS_AT_ONCE))
        shapes = (0,), (0, CASES), (0, len(self.network.at_end))
        nothing = Reading(*(torch.zeros(shape, dtype=torch.float) for shape in shapes))
        parts = [self.read_windows(group) for group in groups] or [nothing]
        sizes = [len(words) for words in texts]
        columns = (torch.cat(column).split(sizes) for column in zip(*parts, strict=True))
        return [Reading(*rows) for rows in zip(*columns, strict=True)]

    @torch.inference_mode()
    def read_windows(self, windows: Sequence[Window]) -> Reading:
        """Read the words in the cores of one or more windows together."""
        columns = self.network(self.encode([window.words for window in windows]))
        rows = [(row, window.core) for row, window in enumerate(windows)]
        ends, cases, marks = (torch.cat([column[place] for place in rows]) for column in columns)
        return Reading(ends.sigmoid(), cases, marks)

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
        """(n, labels) the probabilities of the strings of marks behind n words.

        :param marks: their rows of `Reading.marks`.
        :param ends: whether a sentence ends behind each word.
        """
        logits = marks + torch.tensor(ends, dtype=marks.dtype)[:, None] * self.network.at_end
        return logits.double().softmax(-1).numpy()

    def in_cases(self, words: Sequence[str], cases: Tensor, starts: Sequence[bool]) -> list[str]:
        """Words without capital letters, in their most probable cases.

        :param cases: their rows of `Reading.cases`.
        :param starts: whether a sentence starts with each word.
        """
        with torch.inference_mode():
            logits = cases + torch.tensor(starts, dtype=cases.dtype)[:, None] * self.network.at_start
            best, second = logits.argmax(-1).tolist(), logits[:, :OTHER].argmax(-1).tolist()
        others = self.vocabulary.other_by_lower
        return [
            others[word.lower()] if case == OTHER and word.lower() in others else in_case(word, simple)
            for word, case, simple in zip(words, best, second, strict=True)
        ]


def windows_of(words: Sequence[str], start: int, stop: int) -> Iterator[Window]:
    """Windows whose cores together are a range of words of a text.

    :param start: the first word of the range, counted from 0.
    :param stop: the first word behind the range.
    """
    for first in range(start, stop, CORE):
        seen, last = max(0, first - MARGIN), min(stop, first + CORE)
        yield Window(words[seen : last + MARGIN], slice(first - seen, last - seen))
