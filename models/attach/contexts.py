"""Looking up contexts among those that have weights: sorted keys, and compiled code that finds them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.inference.compiling import compiled
from pyropunct.inference.ragged import starts_of
from pyropunct.inference.threads import in_threads, parts_of
from pyropunct.models.attach.views import Contexts

Array = NDArray[Any]

KEYS_PER_THREAD = 20_000
"""With fewer keys to look up than this, a thread costs more than it saves."""


def gather_contexts(view: Array, number: Array, views: int) -> Contexts:
    """Put contexts into the order of their views; contexts with the number -1 are left out.

    :param view: the view of each context, in any order.
    :param number: ``int32``, the number of each context.
    :param views: how many views there are.
    """
    sizes = np.zeros(views, np.int64)
    _count(view, number, sizes)
    start = starts_of(sizes)
    result = np.empty(start[-1], number.dtype)
    _gather(view, number, start[:-1].copy(), result)
    return Contexts(start, result)


@compiled
def _count(view: Array, number: Array, sizes: Array) -> None:
    for use in range(len(view)):
        sizes[view[use]] += number[use] >= 0


@compiled
def _gather(view: Array, number: Array, end: Array, result: Array) -> None:
    for use in range(len(view)):
        if number[use] >= 0:
            result[end[view[use]]] = number[use]
            end[view[use]] += 1


class Index(NamedTuple):
    """An index of sorted 64-bit keys by their first bits, over which they are spread evenly.

    :ivar keys: the keys, as the model keeps them.
    :ivar known: the same keys as unsigned numbers.
    :ivar first: for each value of the first bits, the first key with this value or a greater one.
    :ivar shift: by how many bits to shift a key so that its first bits remain.
    :ivar compared: the bits that are compared.  The keys of a small model are shortened: their last bits are
        all zero, and do not count.
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
    return Index(keys, known, first, 64 - bits, _compared(known))


def _compared(known: Array) -> np.uint64:
    """All bits but the trailing bits that are zero in every key."""
    used = int(np.bitwise_or.reduce(known)) or 1
    return np.uint64(2**64 - (used & -used))


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
