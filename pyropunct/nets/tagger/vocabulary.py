"""The slot strings of a treebank as numbers."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from torch import Tensor

from pyropunct.files import texts
from pyropunct.nets.tagger.labels import Labels, SlotString, Spelling, collect_labels
from pyropunct.nets.words import padded
from pyropunct.treebank.marks import Surface


@dataclass(frozen=True)
class SlotVocabulary:
    """The slot strings of a training treebank.

    :ivar labels: the labels, with the strings that have one.
    :ivar rare: the strings without a label.
    """

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
        """(sentences, longest n + 1) the labels of the slots, 0 behind the last."""
        return padded([self.labels.encode(self.labels.strings_of(surface)) for surface in surfaces])

    @classmethod
    def collect(cls, surfaces: Sequence[Surface], tokens: Iterable[str] | None = None) -> Self:
        """The strings of a training treebank.

        :param tokens: see `pyropunct.nets.tagger.labels.collect_labels`.
        """
        labels = collect_labels(surfaces, tokens)
        seen = {string for surface in surfaces for string in labels.strings_of(surface)}
        return cls(labels, tuple(sorted(seen - set(labels.strings))))

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """The vocabulary of a plain dictionary of its parts.

        :raises ValueError: if a part is missing or damaged.
        """
        labels = Labels.from_json(plain["labels"])
        rare = tuple(texts("a rare string", string) for string in plain["rare"])
        if not set().union(*rare) <= set(labels.marks):
            raise ValueError("a rare string has a mark that the labels do not have")
        return cls(labels, rare)
