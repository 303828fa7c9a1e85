"""Arrays of runs of different lengths, one run after the other."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def starts_of(sizes: Sequence[int] | NDArray[Any]) -> Ints:
    """Where consecutive runs of these sizes start, and where the last one ends."""
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


def runs(first: NDArray[Any], sizes: NDArray[Any]) -> Ints:
    """The numbers first, first + 1, ... of several runs, one run after the other."""
    starts = starts_of(sizes)
    return np.arange(starts[-1]) + np.repeat(first - starts[:-1], sizes)
