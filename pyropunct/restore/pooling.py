"""Pools the networks' predictions from words with the story's predictions from trees, slot by slot.

The story gives p(x_i | T) for the string of each slot, as shares of draws; the networks give q(x_i | words).
Their pool is logarithmic (Hinton 1999, "Products of experts")::

    in proportion to   q(x_i | words)^w  p(x_i | T)^(1 - w)

Only p is estimated.  To first order, an error e of log p(s) changes the pool P(s) by (1 - w) P(s) e, before
renormalisation.  With m draws, log p(s) has variance 1 / (m p(s)).  So by the delta method the mean of a(s)
over the pool has the variance ::

    sum over strings s of   (1 - w)^2  P(s)^2 / p(s)  (a(s) - mean)^2 / m
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from pyropunct.draws import Draws
from pyropunct.nets.labels import Probabilities, SlotVocabulary
from pyropunct.text.marks import START

FAINT = 0.02
"""Strings that were not drawn in a slot are left out of its pool if they are read with less probability."""

LEAST = 1e-6
"""Less than this is not read of any string."""

UNSEEN = 0.25
"""As many draws of each string are added to those of the story, since it may be drawn yet."""


class Voice(NamedTuple):
    """A network's predictions for a sentence: (n + 1, labels) probabilities of the labels of a vocabulary."""

    vocabulary: SlotVocabulary
    probabilities: Probabilities


def log_odds(voices: Sequence[Voice], tokens: Sequence[str]) -> Tensor:
    """(n + 1, tokens) the mean log-odds of several networks, for a story that reads."""
    return torch.stack([one.vocabulary.log_odds(one.probabilities, tokens) for one in voices]).mean(0)


def pooled(draws: Draws, voices: Sequence[Voice], weight: float) -> Draws:
    """The draws with pooled `Draws.shares` and `Draws.spread`.

    :param voices: at least one; their geometric mean is taken.
    :param weight: w.
    """
    strings = dict.fromkeys(draws.strings)
    for vocabulary, probabilities in voices:
        slots, labels = np.nonzero(probabilities[:, :-1] > FAINT)
        for slot, label in zip(slots.tolist(), labels.tolist(), strict=True):
            string = vocabulary.labels.strings[label]
            strings.setdefault((START, *string) if slot == 0 else string)
    known = tuple(strings)
    drawn = np.zeros((draws.numbers.shape[1], len(known)))
    for slot, numbers in enumerate(draws.numbers.T):
        drawn[slot, : len(draws.strings)] = np.bincount(numbers, draws.weights, len(draws.strings))
    logs = [one.vocabulary.log_probs(one.probabilities, known) for one in voices]
    read = np.mean(np.maximum(logs, np.log(LEAST)), 0)
    possible = (drawn > 0) | (read > np.log(FAINT))
    possible &= np.array([START in string for string in known]) == (np.arange(len(drawn)) == 0)[:, None]
    seen = drawn + UNSEEN / len(draws.numbers)
    pool = np.where(possible, np.exp(weight * read + (1 - weight) * np.log(seen)), 0)
    total = pool.sum(1, keepdims=True)
    shares = np.where(total > 0, pool / np.where(total > 0, total, 1), drawn)
    return replace(draws, strings=known, shares=shares, spread=(1 - weight) ** 2 * shares**2 / seen)
