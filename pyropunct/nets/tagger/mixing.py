"""Mixtures of what two models say about the same sentences."""

import math

import torch
from torch import Tensor

STEPS = 100
"""Steps of expectation maximisation, of which far fewer are enough."""


def log_mixture(one: Tensor, other: Tensor, share: float) -> Tensor:
    """log ((1 - share) exp(one) + share exp(other)) of each sentence.

    :param one: (sentences,) log-probabilities.
    :param other: likewise.
    :param share: from 0 to 1.
    """
    weights = torch.tensor([1 - share, share], dtype=one.dtype, device=one.device)
    return torch.stack([one, other.to(one)]).add(weights.log()[:, None]).logsumexp(0)


def likeliest_share(one: Tensor, other: Tensor) -> float:
    """The share with the greatest sum of `log_mixture`, by expectation maximisation.

    It is found from one half, and is in between 0 and 1 even if one model is better in all sentences: then it
    is as near to the border as these sentences bear out.

    :param one: (sentences,) log-probabilities of sentences that neither model has seen; at least one.
    :param other: likewise.
    """
    share = 0.5
    for _ in range(STEPS):
        odds = other.to(one) - one + math.log(share) - math.log1p(-share)
        weight = float(odds.sigmoid().sum())
        share = (weight + 0.5) / (len(one) + 1)  # half a sentence for either, lest a border be reached
    return share
