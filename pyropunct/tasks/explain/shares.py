"""Shares of expected numbers, with intervals."""

import math
from statistics import NormalDist
from typing import NamedTuple


class Share(NamedTuple):
    """The share of an outcome: its expected number, that of all outcomes, and an interval."""

    expected: float
    total: float
    low: float
    high: float

    @property
    def value(self) -> float:
        """The share, from 0 to 1."""
        return self.expected / self.total


def share_of(expected: float, total: float, level: float) -> Share:
    """A share with Wilson's interval at a level; it is near Jeffreys' and allows fractional counts."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    middle, spread = expected + z * z / 2, z * math.sqrt(expected * (1 - expected / total) + z * z / 4)
    low, high = ((middle + sign * spread) / (total + z * z) for sign in (-1, 1))
    return Share(expected, total, max(0.0, low), min(1.0, high))
