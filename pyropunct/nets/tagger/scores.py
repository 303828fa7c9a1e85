"""Scores of punctuation that is predicted slot by slot, and mixtures of the probabilities of two models."""

import math
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
import torch
from torch import Tensor

from pyropunct.text.marks import Surface


class SlotScores(NamedTuple):
    """How well punctuation is predicted from words.

    :ivar slots: the number of slots.
    :ivar perplexity: per slot.
    """

    slots: int
    perplexity: float

    @classmethod
    def of(cls, log_prob: Tensor, surfaces: Sequence[Surface]) -> Self:
        """The scores of sentences.

        :param log_prob: (sentences,) log p(x | words), in natural logarithms.
        :param surfaces: their punctuation.
        """
        slots = sum(map(len, surfaces))
        return cls(slots, float(np.exp(-float(log_prob.sum()) / slots)))

    @property
    def merit(self) -> float:
        """The geometric mean of the probabilities of slots, by which the best epoch is chosen."""
        return 1 / self.perplexity


STEPS = 100
"""Steps of expectation maximisation, far more than it needs."""


def log_mixture(first: Tensor, second: Tensor, share: float) -> Tensor:
    """log ((1 - share) exp(first) + share exp(second)) of each sentence.

    :param first: (sentences,) log-probabilities of a model.
    :param second: (sentences,) those of another model.
    :param share: from 0 to 1.
    """
    weights = torch.tensor([1 - share, share], dtype=first.dtype, device=first.device)
    return torch.stack([first, second.to(first)]).add(weights.log()[:, None]).logsumexp(0)


def likeliest_share(first: Tensor, second: Tensor) -> float:
    """The share with the greatest sum of `log_mixture`, by expectation maximisation.

    The search starts at one half.  The share is strictly between 0 and 1: if one model is better in all
    sentences, it is as near to the border as the number of sentences justifies.

    :param first: (sentences,) log-probabilities of one or more sentences that neither model has seen.
    :param second: (sentences,) those of the other model.
    """
    share = 0.5
    for _ in range(STEPS):
        odds = second.to(first) - first + math.log(share) - math.log1p(-share)
        weight = float(odds.sigmoid().sum())
        share = (weight + 0.5) / (len(first) + 1)  # half a sentence more for either
    return share
