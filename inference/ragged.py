"""Arrays of runs of different lengths, one run after the other."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyropunct.inference.compiling import compiled

Array = NDArray[Any]
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


def starts_of(sizes: Sequence[int] | Array) -> Ints:
    """Where consecutive runs of these sizes start, and where the last one ends."""
    starts = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


def runs(first: Array, sizes: Array) -> Ints:
    """The numbers first, first + 1, ... of several runs, one run after the other."""
    result = np.empty(int(sizes.sum()), np.int64)
    _fill_runs(first, sizes, result)
    return result


@compiled
def _fill_runs(first: Array, sizes: Array, result: Ints) -> None:
    end = 0
    for run in range(len(first)):
        block = result[end : end + sizes[run]]
        for offset in range(len(block)):
            block[offset] = first[run] + offset
        end += len(block)
