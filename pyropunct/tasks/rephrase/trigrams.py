"""A trigram language model, to measure how natural rephrased sentences are.

Li, Wang & Eisner (2019, section 6.3) train it on rephrased sentences and ask how well it predicts the
original ones (Table 6).
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

    for each word w of a vocabulary of V words, one of which is the end of the sentence.  c(u v) is the number
    of times that u v is followed by a word or the end.

    :param sentences: the sentences that are counted.
    :param vocabulary: the words, without the end of a sentence.
    :param smoothing: lambda.
    :raises ValueError: if a sentence has a word that is not in the vocabulary, or lambda is not positive.
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
        """(n + 1,) log p of each of the n words of a sentence and of its end, natural logarithms.

        :raises ValueError: if it has a word that is not in the vocabulary.
        """
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
    """The n + 1 trigrams of a sentence of n words: one that ends in each word, and one that ends it."""
    places = [EDGE, EDGE, *sentence, EDGE]
    return list(zip(places, places[1:], places[2:], strict=False))


def with_punctuation(marks: Sequence[bool]) -> NDArray[np.bool_]:
    """(n + 1,) whether each trigram of a sentence has a mark of punctuation among its three words.

    :param marks: for each of the n words whether it is a mark.
    """
    places = np.array([False, False, *marks, False])
    return places[:-2] | places[1:-1] | places[2:]


def perplexity(log_probabilities: NDArray[np.float64]) -> float:
    """exp(- mean log p)."""
    return float(np.exp(-log_probabilities.mean()))
