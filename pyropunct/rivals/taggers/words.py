"""Words as taggers read them: each as the sum of the learned vectors of its attributes."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from pyropunct.files import types
from pyropunct.vocabulary import word_shape

BEGIN, END = "\t^", "\t$"
"""Words before the first and after the last word of every sentence; no form contains a tab."""

ATTRIBUTE_COUNT = 2
"""An attribute seen less often in training counts as unknown."""

FORM = 0
"""The index of the form among the attributes of a word."""


@lru_cache(1 << 16)
def word_attributes(word: str) -> tuple[str, ...]:
    """The lower-cased form, its last three, two and one characters, its first one, and its shape."""
    form = word.lower()
    values = (form, form[-3:], form[-2:], form[-1:], form[:1], str(word_shape(word)))
    return tuple(f"{kind}={value}" for kind, value in zip(KINDS, values, strict=True))


KINDS = ("form", "last three", "last two", "last", "first", "shape")
UNKNOWNS = tuple(f"unknown {kind}" for kind in KINDS)


@dataclass(frozen=True)
class WordVocabulary:
    """Numbers for the attributes of words.

    :ivar attributes: what `word_attributes` gives; the first six are the unknown ones of each kind.
    """

    attributes: tuple[str, ...]

    @cached_property
    def _number(self) -> dict[str, int]:
        return {attribute: number for number, attribute in enumerate(self.attributes)}

    def encode(self, words: Sequence[str]) -> Tensor:
        """(n + 2, 6) the numbers of the attributes of BEGIN, the n words, and END."""
        rows = [
            [self._number.get(attribute, kind) for kind, attribute in enumerate(word_attributes(word))]
            for word in (BEGIN, *words, END)
        ]
        return torch.tensor(rows)

    def to_json(self) -> dict[str, Any]:
        """Plain lists, from which `from_json` makes an equal vocabulary."""
        return asdict(self)

    @classmethod
    def from_json(cls, plain: dict[str, Any]) -> "WordVocabulary":
        """The vocabulary that `to_json` wrote.

        :raises ValueError: if it is none.
        """
        return cls(types("the list of attributes", plain["attributes"], UNKNOWNS))


def collect_words(sentences: Iterable[Sequence[str]]) -> WordVocabulary:
    """The attributes that occur at least twice in a training treebank."""
    seen = Counter(
        attribute
        for words in sentences
        for word in (BEGIN, *words, END)
        for attribute in word_attributes(word)
    )
    known = sorted(attribute for attribute, count in seen.items() if count >= ATTRIBUTE_COUNT)
    return WordVocabulary((*UNKNOWNS, *known))


def batch_words(encoded: Sequence[Tensor]) -> Tensor:
    """(sentences, longest n + 2, 6) encoded sentences, padded with zeros."""
    return pad_sequence(list(encoded), batch_first=True)


class WordVectors(nn.Module):
    """The vector of a word is the sum of the vectors of its attributes.

    :param attributes: how many attributes there are.
    :param size: the length of the vectors.
    :param dropout: the probability that an element of a word's vector is dropped in training.
    :param word_dropout: the probability that a form counts as unknown in training.
    :param pretrained: how many pretrained features a word has, of which a linear function is added to the
        sum; 0 if there are none.
    """

    def __init__(
        self, attributes: int, size: int, dropout: float, word_dropout: float, pretrained: int = 0
    ) -> None:
        super().__init__()
        self.vectors = nn.Embedding(attributes, size)
        nn.init.normal_(self.vectors.weight, std=0.3)
        self.dropout, self.word_dropout = nn.Dropout(dropout), word_dropout
        self.pretrained = nn.Linear(pretrained, size) if pretrained else None

    def forward(self, words: Tensor, features: Tensor | None = None) -> Tensor:
        """(..., size) vectors of the words (..., 6).

        :param features: (..., pretrained features), which become features of mean 0 and variance 1.
        """
        if self.training:
            words = words.clone()
            forms = words[..., FORM]
            forms[torch.rand(forms.shape, device=forms.device) < self.word_dropout] = FORM
        vectors = self.vectors(words).sum(-2)
        if self.pretrained is not None and features is not None:
            vectors = vectors + self.pretrained(functional.layer_norm(features, features.shape[-1:]))
        return self.dropout(vectors)
