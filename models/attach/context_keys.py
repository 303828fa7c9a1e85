"""The 64-bit keys of contexts, and the places of keys among the contexts that have weights, compiled."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.inference.compiling import compiled, spliced
from pyropunct.inference.ragged import Array, Ints
from pyropunct.inference.threads import in_threads, parts_of

Keys = NDArray[np.uint64]

FIRST_KEY = np.uint64(0x243F6A8885A308D3)
"""The key before any value is mixed in.  Not zero: zero mixed with a zero would stay zero."""

KEYS_PER_THREAD = 20_000
"""With fewer keys to look up than this, a thread costs more than it saves."""


@spliced
def _mixed(key: np.uint64, value: np.uint64) -> np.uint64:
    """A 64-bit key with another value folded in (the mixing step of splitmix64)."""
    key = (key ^ value) * np.uint64(0x9E3779B97F4A7C15)
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    return key ^ (key >> np.uint64(27))


@compiled
def _mix(templates: Ints, table: Ints, columns: Ints, keys: Keys) -> None:
    for row in range(len(table)):
        for view in range(columns.shape[1]):
            key = _mixed(FIRST_KEY, np.uint64(templates[row]))
            for column in table[row]:
                if column >= 0:
                    key = _mixed(key, np.uint64(columns[column, view]))
            keys[row, view] = key


def keys_of(templates: Sequence[int], table: Ints, columns: Ints) -> Keys:
    """(templates, V) the keys of contexts, from (templates, width) and (columns, V) integers."""
    keys = np.empty((len(templates), columns.shape[1]), np.uint64)
    _mix(np.array(templates, np.int64), table, columns, keys)
    return keys


class Index(NamedTuple):
    """An index of sorted 64-bit keys by their first bits; assumes that keys are evenly spread.

    :ivar known: the keys, unsigned.
    :ivar first: for each value of the first bits, the first key with this value or a greater one.
    :ivar shift: the right shift that leaves the first bits of a key.
    :ivar compared: the bits to compare; the last bits of shortened keys are zero and ignored.
    """

    keys: Tensor
    known: Array
    first: Array
    shift: int
    compared: np.uint64

    def find(self, keys: Array) -> Array:
        """(len(keys),) ``int32``, the places of keys among the known ones, -1 for unknown keys."""
        result = np.empty(len(keys), np.int32)

        def work(first: int, last: int) -> None:
            places = result[first:last]
            _find(self.known, self.first, np.uint64(self.shift), self.compared, keys[first:last], places)

        in_threads(work, parts_of(len(keys), KEYS_PER_THREAD))
        return result


def index_of(keys: Tensor) -> Index:
    """Index sorted 64-bit keys by about as many beginnings as there are keys."""
    known = keys.cpu().numpy().view(np.uint64)
    bits = max(1, len(known).bit_length())
    beginnings = np.arange(1 << bits, dtype=np.uint64) << np.uint64(64 - bits)
    first = np.append(np.searchsorted(known, beginnings), len(known))
    used = int(np.bitwise_or.reduce(known)) or 1
    return Index(keys, known, first, 64 - bits, np.uint64(2**64 - (used & -used)))


@compiled
def _find(
    known: Array, first: Array, shift: np.uint64, compared: np.uint64, keys: Array, result: Array
) -> None:
    for place in range(len(keys)):
        key = keys[place] & compared
        beginning = np.int64(key >> shift)
        at, end = first[beginning], first[beginning + 1]
        while at < end and known[at] < key:
            at += 1
        result[place] = at if at < end and known[at] == key else -1
