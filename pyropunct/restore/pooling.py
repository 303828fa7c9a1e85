"""What networks read in the words of a sentence, and what the story says of its tree, pooled slot by slot.

The story says p(x_i | T) of the string of each slot, as shares of draws; the networks say q(x_i | words).
Their pool is logarithmic (Hinton 1999, "Products of experts")::

    in proportion to   q(x_i | words)^w  p(x_i | T)^(1 - w)

Only p is estimated.  To first order, an error e of log p(s) changes the pool P(s) by (1 - w) P(s) e, less
what keeps the sum.  With m draws, log p(s) has variance 1 / (m p(s)).  So by the delta method a mean of some
a(s) over the pool has the variance ::

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
    """What a network reads in the words of a sentence.

    :ivar vocabulary: its labels.
    :ivar probabilities: (n + 1, labels).
    """

    vocabulary: SlotVocabulary
    probabilities: Probabilities


def log_odds(voices: Sequence[Voice], tokens: Sequence[str]) -> Tensor:
    """(n + 1, tokens) the means of what several networks read, for a story that reads."""
    return torch.stack([one.vocabulary.log_odds(one.probabilities, tokens) for one in voices]).mean(0)


def pooled(draws: Draws, voices: Sequence[Voice], weight: float) -> Draws:
    """The draws, with the pool of shares of strings as `Draws.shares`, and its `Draws.spread`.

    :param voices: one or more networks, of which the geometric mean is taken.
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
