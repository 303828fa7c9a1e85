"""The sums over draws that decoders need, compiled: see `pyropunct.restore.decoders`."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyropunct.inference.compiling import compiled, inner

CONSTANT = 1e-9
"""A variance that is no greater is taken for rounding."""

SURE = 5.0
"""A mean of so many standard errors is taken to have the right sign."""


@compiled
def shares_and_risks(
    numbers: NDArray[Any], weights: NDArray[Any], distance: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """(n + 1, k) the probability and R_i (infinite if not drawn) of strings, from (draws, n + 1) numbers."""
    slots, number = numbers.shape[1], len(distance)
    share, risk = np.zeros((slots, number)), np.full((slots, number), np.inf)
    for draw in range(len(numbers)):
        for slot in range(slots):
            share[slot, numbers[draw, slot]] += weights[draw]
    for slot in range(slots):
        for string in range(number):
            if share[slot, string] > 0:
                risk[slot, string] = 0.0
                for other in range(number):
                    risk[slot, string] += share[slot, other] * distance[string, other]
    return share, risk


@compiled
def regrets(
    share: NDArray[Any],
    risk: NDArray[Any],
    distance: NDArray[Any],
    spread: NDArray[Any],
    chosen: NDArray[Any],
    squares: float,
) -> NDArray[Any]:
    """(n + 1,) the edits that more draws are expected to save in each slot.

    :param share: and ``risk``, (n + 1, k), see `shares_and_risks`.
    :param spread: (n + 1, k), see `pyropunct.draws.Draws`.
    :param chosen: (n + 1,) the numbers of the strings.
    :param squares: the sum of the squared weights of the draws.
    """
    saved = np.zeros(len(share))
    for slot in range(len(share)):
        for string in range(len(distance)):
            if share[slot, string] > 0:
                mean, square = risk[slot, string] - risk[slot, chosen[slot]], 0.0
                for other in range(len(distance)):
                    away = distance[string, other] - distance[chosen[slot], other]
                    square += spread[slot, other] * (away - mean) ** 2
                variance = square * squares
                if variance > CONSTANT and mean**2 < SURE**2 * variance:
                    saved[slot] = max(saved[slot], _gain(mean, math.sqrt(variance)))
    return saved


@inner
def _gain(mean: float, error: float) -> float:
    """The expectation of max(0, -v) for a normal v."""
    z = mean / error
    return error * (math.exp(-z * z / 2) / math.sqrt(2 * math.pi) - z * math.erfc(z / math.sqrt(2)) / 2)
