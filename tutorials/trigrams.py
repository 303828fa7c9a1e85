"""How natural rephrased sentences are: how well a trigram model of them predicts the original ones.

This is the test of Li, Wang & Eisner (2019, section 6.3, Table 6).
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

SMOOTHING = 0.001
"""lambda, which is added to each count, as in the paper."""

EDGE = "\tedge"
"""Stands twice before a sentence and once after it."""


class TrigramModel:
    """A trigram model of sentences with additive smoothing::

        p(w | u v) = (c(u v w) + lambda) / (c(u v) + lambda V)

    for each word w of a vocabulary of V words, which include the end of the sentence.

    :raises ValueError: if a word is not in the vocabulary, or lambda is not positive.
    """

    def __init__(
        self, sentences: Iterable[Sequence[str]], vocabulary: Collection[str], smoothing: float = SMOOTHING
    ) -> None:
        if smoothing <= 0:
            raise ValueError(f"the smoothing is {smoothing}: it must be positive")
        self._words, self._smoothing = {*vocabulary, EDGE}, smoothing
        self._trigrams: Counter[tuple[str, ...]] = Counter()
        self._contexts: Counter[tuple[str, ...]] = Counter()
        for sentence in sentences:
            self._trigrams.update(self._checked(sentence))
        for trigram, count in self._trigrams.items():
            self._contexts[trigram[:2]] += count

    def log_probabilities(self, sentence: Sequence[str]) -> NDArray[np.float64]:
        """(n + 1,) log p of n words and the end; raises `ValueError` for unknown words."""
        more, total = self._smoothing, self._smoothing * len(self._words)
        chances = [
            (self._trigrams[trigram] + more) / (self._contexts[trigram[:2]] + total)
            for trigram in self._checked(sentence)
        ]
        return np.log(chances)

    def _checked(self, sentence: Sequence[str]) -> list[tuple[str, ...]]:
        unknown = [word for word in sentence if word not in self._words]
        if unknown:
            raise ValueError(f"the word {unknown[0]} is not in the vocabulary")
        return trigrams(sentence)


def trigrams(sentence: Sequence[str]) -> list[tuple[str, ...]]:
    """The n + 1 trigrams of a sentence of n words, the last for its end."""
    places = [EDGE, EDGE, *sentence, EDGE]
    return list(zip(places, places[1:], places[2:], strict=False))


def with_punctuation(marks: Sequence[bool]) -> NDArray[np.bool_]:
    """(n + 1,) whether each trigram of a sentence contains a mark, given which of the n words are marks."""
    places = np.array([False, False, *marks, False])
    return places[:-2] | places[1:-1] | places[2:]


def perplexity(log_probabilities: NDArray[np.float64]) -> float:
    """exp(- mean log p)."""
    return float(np.exp(-log_probabilities.mean()))
