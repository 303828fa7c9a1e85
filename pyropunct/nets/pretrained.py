"""Features of words that somebody else has learned from much text, for networks to read."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from pyropunct.errors import UserError

REMEMBERED_WORDS = 10_000
"""The words whose features a fitted model remembers."""

ENCODED_TOGETHER = 100
"""Sentences whose features are asked for together."""


class PretrainedError(UserError, ValueError):
    """What gives such features cannot be used; the message is one line and names it."""


class Pretrained(Protocol):
    """Gives features of words, such as `pyropunct.nets.encoder.Encoder`; it is never trained here."""

    @property
    def size(self) -> int:
        """Features of a word."""

    def features(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """(sentences, longest, size) the features of the words of some sentences, 0 in the padding.

        They have the precision of half-precision numbers.

        :raises PretrainedError: if it cannot be used.
        """

    def identity(self) -> dict[str, Any]:
        """What has to be the same when a network that was trained with it is used, in plain JSON types."""

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """What a model folder keeps of it, in plain JSON types and tensors."""


class _Memory:
    """Features that are kept in memory, in half precision, after they were computed.

    :param source: computes them.
    """

    def __init__(self, source: Pretrained) -> None:
        self.source = source
        self._rows: dict[tuple[str, ...], Tensor] = {}

    @property
    def size(self) -> int:
        """Features of a word."""
        return self.source.size

    def features(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """See `Pretrained.features`."""
        keys = [tuple(sentence) for sentence in sentences]
        self._make_room(keys)
        if new := [key for key in dict.fromkeys(keys) if key not in self._rows]:
            for key, found in zip(new, self.source.features(new), strict=True):
                self._rows[key] = found[: len(key)].half()
        return pad_sequence([self._rows[key] for key in keys], batch_first=True).float()

    def _make_room(self, sentences: Sequence[tuple[str, ...]]) -> None:
        """Forget what is not to be kept any more when some sentences are asked for."""

    def identity(self) -> dict[str, Any]:
        """That of the source."""
        return self.source.identity()

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Those of the source."""
        return self.source.to_parts()


class Kept(_Memory):
    """Features that are computed once, however many there are: for training."""


class Remembered(_Memory):
    """The features of the sentences that were asked for last: for use, where several networks read them.

    No more than `REMEMBERED_WORDS` words are remembered, unless more are asked for at once.
    """

    def _make_room(self, sentences: Sequence[tuple[str, ...]]) -> None:
        asked = set(sentences)
        for key in [key for key in self._rows if key in asked]:
            self._rows[key] = self._rows.pop(key)  # it is the last one now
        new = sum(map(len, asked - self._rows.keys()))
        surplus = new + sum(map(len, self._rows)) - REMEMBERED_WORDS
        for key in [key for key in self._rows if key not in asked]:
            if surplus <= 0:
                break
            surplus -= len(self._rows.pop(key))


def kept(pretrained: Pretrained | None) -> Kept | None:
    """Something whose features are kept from now on; None stays None."""
    return pretrained if pretrained is None or isinstance(pretrained, Kept) else Kept(pretrained)


def bare(pretrained: Pretrained | None) -> Pretrained | None:
    """The same without what is kept."""
    return pretrained.source if isinstance(pretrained, Kept) else pretrained


def check_same(pretrained: Pretrained | None, wanted: Mapping[str, Any] | None) -> None:
    """Make sure that a network gets the features with which it was trained.

    :param wanted: their `Pretrained.identity`, None if it was trained without.
    :raises ValueError: if these are others.
    """
    if (None if pretrained is None else pretrained.identity()) != wanted:
        raise ValueError("it was trained with other pretrained features of words")


def features_of_words(pretrained: Pretrained, sentences: Sequence[Sequence[str]]) -> Tensor:
    """(N, size) the features of the N words of some sentences, in half precision.

    Equal sentences are asked for once, and a part of the sentences at a time, since features come with
    padding.

    :raises PretrainedError: if the features cannot be computed.
    """
    distinct = list(dict.fromkeys(map(tuple, sentences)))
    rows: dict[tuple[str, ...], Tensor] = {}
    for first in range(0, len(distinct), ENCODED_TOGETHER):
        part = distinct[first : first + ENCODED_TOGETHER]
        for words, features in zip(part, pretrained.features(part), strict=True):
            rows[words] = features[: len(words)].half()
    nothing = torch.zeros(0, pretrained.size, dtype=torch.half)
    return torch.cat([nothing, *(rows[tuple(words)] for words in sentences)])
