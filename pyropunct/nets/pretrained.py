"""Pretrained features of words: their sources, and caches by sentence."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

ENCODED_TOGETHER = 100
"""The most sentences whose features are asked for together."""


class Pretrained(Protocol):
    """A frozen source of features of words, such as `pyropunct.nets.encoder.Encoder`."""

    @property
    def size(self) -> int:
        """Features of a word."""

    def features(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """(sentences, longest, size) features padded with 0, in half precision."""

    def identity(self) -> dict[str, Any]:
        """In plain JSON types, what must be equal in training and use of a network that reads it."""

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """What a model file keeps of it, as plain JSON types and tensors."""


class SentenceCache:
    """A tensor for each of the most recently used sentences, ``most_words`` words in all."""

    def __init__(self, most_words: float) -> None:
        self.most_words = most_words
        self.rows: dict[tuple[str, ...], Tensor] = {}

    def use(self, sentences: Iterable[tuple[str, ...]], rows: Iterable[Tensor]) -> None:
        """Store the tensors of sentences, and drop the least recently used ones to make room."""
        for sentence, row in zip(sentences, rows, strict=True):
            self.rows.pop(sentence, None)
            self.rows[sentence] = row
        surplus = sum(map(len, self.rows)) - self.most_words
        for sentence in list(self.rows):
            if surplus <= 0:
                break
            surplus -= len(sentence)
            del self.rows[sentence]


class CachedFeatures:
    """Features computed once by ``source``, cached in half precision."""

    def __init__(self, source: Pretrained) -> None:
        self.source = source
        self._rows: dict[tuple[str, ...], Tensor] = {}

    @property
    def size(self) -> int:
        """Features of a word."""
        return self.source.size

    def rows(self, sentences: Sequence[Sequence[str]]) -> list[Tensor]:
        """For each sentence the (n, size) features of its n words, computed in small batches."""
        keys, rows = [tuple(sentence) for sentence in sentences], self._rows
        new = [key for key in dict.fromkeys(keys) if key not in rows]
        for start in range(0, len(new), ENCODED_TOGETHER):
            part = new[start : start + ENCODED_TOGETHER]
            for key, features in zip(part, self.source.features(part), strict=True):
                rows[key] = features[: len(key)].half()
        return [rows[key] for key in keys]

    def features(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """See `Pretrained.features`."""
        return pad_sequence(self.rows(sentences), batch_first=True).float()

    def identity(self) -> dict[str, Any]:
        """The identity of the source."""
        return self.source.identity()

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """The parts of the source."""
        return self.source.to_parts()


def with_cache(pretrained: Pretrained | None) -> CachedFeatures | None:
    """The same source, with a cache; None stays None."""
    if pretrained is None or isinstance(pretrained, CachedFeatures):
        return pretrained
    return CachedFeatures(pretrained)


def without_cache(pretrained: Pretrained | None) -> Pretrained | None:
    """The same source, without its cache."""
    return pretrained.source if isinstance(pretrained, CachedFeatures) else pretrained


def check_same(pretrained: Pretrained | None, wanted: Mapping[str, Any] | None) -> None:
    """Raise `ValueError` if a network gets other features than it was trained with (None: without)."""
    if (None if pretrained is None else pretrained.identity()) != wanted:
        raise ValueError("it was trained with other pretrained features of words")
