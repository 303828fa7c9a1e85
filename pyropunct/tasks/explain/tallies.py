"""Expected counts of outcomes, and their shares with intervals."""

import math
from collections import defaultdict
from collections.abc import Mapping
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.tasks.explain.kinds import NO_SUBTYPE


class Tally(NamedTuple):
    """The expected number of times that something happens, in total and for each outcome."""

    total: float
    outcomes: Mapping[str, float]


Key = tuple[str, str]
"""What is compared, and of what."""


class Tallies:
    """Tallies that grow."""

    def __init__(self) -> None:
        self.totals: defaultdict[Key, float] = defaultdict(float)
        self.outcomes: defaultdict[Key, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))

    def add(self, key: Key, has: Mapping[str, bool], times: float = 1) -> None:
        """Count something that happens so many times, and the outcomes that it has."""
        self.totals[key] += times
        for outcome, happens in has.items():
            self.outcomes[key][outcome] += times * happens

    def rounded(self, digits: int | None = None) -> dict[Key, Tally]:
        """All tallies, rounded; constituents without a subtype apart only if others of it have one."""
        divided = {(table, of.partition(":")[0]) for table, of in self.totals if ":" in of}
        return {
            key: Tally(
                round(total, digits),
                {name: round(times, digits) for name, times in self.outcomes[key].items()},
            )
            for key, total in self.totals.items()
            if NO_SUBTYPE not in key[1] or (key[0], key[1].partition(NO_SUBTYPE)[0]) in divided
        }


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


def central_interval(draws: NDArray[Any], level: float) -> NDArray[Any]:
    """(2, ...) both ends of the central interval of draws, the first dimension, at a level."""
    return np.quantile(draws, ((1 - level) / 2, (1 + level) / 2), axis=0)


def share_of(expected: float, total: float, level: float) -> Share:
    """A share with Wilson's interval at a level; it is near Jeffreys' and allows fractional counts."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    middle, spread = expected + z * z / 2, z * math.sqrt(expected * (1 - expected / total) + z * z / 4)
    low, high = ((middle + sign * spread) / (total + z * z) for sign in (-1, 1))
    return Share(expected, total, max(0.0, low), min(1.0, high))
