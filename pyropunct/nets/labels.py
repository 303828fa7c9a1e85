"""Labels of slots for networks: whole slot strings, and a spelling model for strings without a label."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.models.channel.slip import TokenBigrams
from pyropunct.nets.word_batches import padded
from pyropunct.text.marks import (
    ABBREVIATION_DOT,
    BOUNDARIES,
    NO_MARKS,
    START,
    UNKNOWN,
    Surface,
    displayed_string,
    marks_of,
)
from pyropunct.untrusted import texts, types
from pyropunct.vocabulary import MARK_COUNT

SlotString = tuple[str, ...]

LABEL_COUNT = 2
"""A slot string seen less often in training has the label of unknown strings."""

SMOOTHING = 0.05
"""Added to the count of each pair of marks."""


@dataclass(frozen=True)
class Labels:
    """The numbered labels of slots: the known strings, then one label for all other strings.

    Slot strings exclude START.  A mark with fewer than 5 tokens in training is UNKNOWN, as in
    `pyropunct.vocabulary.Vocabulary`, so that perplexities are comparable with `pyropunct.Punctuator`.

    :ivar marks: the marks in strings, beginning with ABBREVIATION_DOT and UNKNOWN.
    :ivar strings: the slot strings that have a label; the first is empty.
    """

    marks: tuple[str, ...]
    strings: tuple[SlotString, ...]

    @property
    def unknown(self) -> int:
        """The label of all other strings."""
        return len(self.strings)

    def require_marks(self, tokens: Iterable[str]) -> None:
        """Raise `ValueError` if a model's tokens, with or without START, have other marks."""
        if others := set(self.marks) ^ set(tokens).difference(BOUNDARIES):
            raise ValueError(
                f"the tagger does not have the marks of the model: {displayed_string(sorted(others))}"
            )

    @cached_property
    def printable(self) -> tuple[int, ...]:
        """The labels that can be restored: known strings of known marks."""
        return tuple(number for number, string in enumerate(self.strings) if UNKNOWN not in string)

    @cached_property
    def mark_number(self) -> dict[str, int]:
        """The number of each mark."""
        return {mark: number for number, mark in enumerate(self.marks)}

    @cached_property
    def has_mark(self) -> NDArray[np.float64]:
        """(strings, marks + 1) 1 where a string has a mark; the last column, for other marks, is 0."""
        return np.array([[*(mark in string for mark in self.marks), 0] for string in self.strings], float)

    @cached_property
    def _number(self) -> dict[SlotString, int]:
        return {string: number for number, string in enumerate(self.strings)}

    def strings_of(self, surface: Surface) -> list[SlotString]:
        """The n + 1 slot strings of a sentence, rare marks replaced by UNKNOWN."""
        return [
            tuple(mark if mark in self.mark_number else UNKNOWN for mark in slot)
            for slot in slot_strings(surface)
        ]

    def encode(self, strings: Iterable[SlotString]) -> list[int]:
        """The label of each string."""
        return [self._number.get(string, self.unknown) for string in strings]

    def surface(self, numbers: Sequence[int]) -> Surface:
        """The surface, with START, of n + 1 labels."""
        first, *others = (self.strings[number] for number in numbers)
        return [(START, *first), *others]

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> "Labels":
        """:raises ValueError: if a list is missing or damaged."""
        marks = types("the list of marks", plain["marks"], (ABBREVIATION_DOT, UNKNOWN))
        strings = tuple(texts("a label", string) for string in plain["strings"])
        if (
            strings[:1] != ((),)
            or len(set(strings)) < len(strings)
            or not set().union(*strings) <= set(marks)
        ):
            raise ValueError(
                "the labels are not distinct strings of the marks, beginning with the empty string"
            )
        return cls(marks, strings)


def slot_strings(surface: Surface) -> list[SlotString]:
    """The slots of a sentence without START."""
    return [marks_of(slot) for slot in surface]


class Spelling:
    """q(string | the string has no label): a smoothed bigram model of marks, renormalised.

    The bigram model q is `TokenBigrams`, of marks.  The labelled strings are divided out::

        q(string | no label) = q(string) / (1 - sum of q(s) over the non-empty s in labels.strings)

    The model is estimated from each distinct string once, because new strings resemble the many rare
    strings more than the few frequent ones.

    :param strings: the slot strings of the training treebank, in the marks of the labels.
    :ivar bigrams: (marks + 1, marks + 1) the probability of the next mark (last column: the end), after each
        mark (last row: at the start).
    """

    def __init__(self, labels: Labels, strings: Iterable[SlotString] = ()) -> None:
        self.labels = labels
        distinct = sorted({string for string in strings if string})
        encoded = map(self._encode, distinct)
        self.bigrams = TokenBigrams(encoded, len(labels.marks), smoothing=SMOOTHING).probabilities

    def log_prob(self, string: SlotString) -> float:
        """log q(string | the string has no label), in natural logarithms."""
        return self._log_q(string) - self._log_unlabelled

    @cached_property
    def _log_unlabelled(self) -> float:
        """The log-probability of all strings without a label."""
        return math.log1p(
            -math.fsum(math.exp(self._log_q(string)) for string in self.labels.strings if string)
        )

    def _log_q(self, string: SlotString) -> float:
        """log q of a non-empty string, as a sum of logarithms, so that long strings do not underflow."""
        end = len(self.labels.marks)
        steps = list(pairwise([end, *self._encode(string), end]))
        return float(self.bigrams[tuple(torch.tensor(steps).T)].log().sum())

    def _encode(self, string: SlotString) -> list[int]:
        return [self.labels.mark_number[mark] for mark in string]


LEAST_PROBABLE, GREATEST_ODDS = 1e-5, 7.0
"""Log-odds are computed from probabilities no less than the first, and cut off at the second."""

Probabilities = NDArray[np.float64]
"""(n + 1, labels) the probability of each label in each slot of a sentence of n words."""


@dataclass(frozen=True)
class SlotVocabulary:
    """The slot strings of a training treebank: the labels, and the ``rare`` strings without a label."""

    labels: Labels
    rare: tuple[SlotString, ...]

    @cached_property
    def spelling(self) -> Spelling:
        """The probabilities of strings without a label."""
        return Spelling(self.labels, (*self.labels.strings, *self.rare))

    def log_spelling(self, strings: Sequence[SlotString]) -> float:
        """The sum of log q(string | no label) over the strings without a label."""
        pairs = zip(strings, self.labels.encode(strings), strict=True)
        unlabelled = (string for string, label in pairs if label == self.labels.unknown)
        return math.fsum(map(self.spelling.log_prob, unlabelled))

    def encode(self, surfaces: Sequence[Surface]) -> Tensor:
        """(sentences, longest n + 1) the labels of the slots, padded with 0."""
        return padded([self.labels.encode(self.labels.strings_of(surface)) for surface in surfaces])

    def log_probs(self, probabilities: Probabilities, strings: Surface) -> NDArray[np.float64]:
        """(n + 1, k) log-probabilities of k strings in each slot; unknown marks count as `UNKNOWN`."""
        known = self.labels.strings_of(strings)
        labels = self.labels.encode(known)
        spelling = [
            self.spelling.log_prob(string) if label == self.labels.unknown else 0.0
            for string, label in zip(known, labels, strict=True)
        ]
        with np.errstate(divide="ignore"):
            return np.log(probabilities[:, labels]) + spelling

    def log_odds(self, probabilities: Probabilities, tokens: Sequence[str]) -> Tensor:
        """(n + 1, tokens) the log-odds of strings with each token, against the empty string."""
        has = self.labels.has_mark[:, [self.labels.mark_number.get(token, -1) for token in tokens]]
        of_tokens, nothing = probabilities[:, :-1] @ has, probabilities[:, :1]
        logs = (np.log(np.maximum(part, LEAST_PROBABLE)) for part in (of_tokens, nothing))
        return torch.from_numpy(np.subtract(*logs).clip(-GREATEST_ODDS, GREATEST_ODDS)).float()

    @classmethod
    def collect(cls, surfaces: Iterable[Surface], tokens: Iterable[str] | None = None) -> Self:
        """The strings of a training treebank, in the marks of ``tokens`` or of the treebank.

        Those seen more than once have labels.
        """
        slots = [slot for surface in surfaces for slot in slot_strings(surface)]
        seen = Counter(mark for slot in slots for mark in slot)
        frequent = (mark for mark, count in seen.items() if count >= MARK_COUNT) if tokens is None else tokens
        special = (ABBREVIATION_DOT, UNKNOWN)
        marks = (*special, *sorted(set(frequent).difference(NO_MARKS)))
        counts = Counter(filter(None, Labels(marks, ()).strings_of(slots)))
        known = sorted(string for string, count in counts.items() if count >= LABEL_COUNT)
        return cls(Labels(marks, ((), *known)), tuple(sorted(counts.keys() - set(known))))

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """:raises ValueError: if a part is missing or damaged."""
        labels = Labels.from_json(plain["labels"])
        rare = tuple(texts("a rare string", string) for string in plain["rare"])
        if not set().union(*rare) <= set(labels.marks):
            raise ValueError("a rare string has a mark that the labels do not have")
        return cls(labels, rare)
