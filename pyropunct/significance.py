"""Paired permutation tests, as in Table 3, Figure 4 and Table 6 of Li, Wang & Eisner (2019)."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

PERMUTATIONS = 10_000
"""How many permutations are drawn."""

EXACT = 14
"""If the systems differ in at most this many sentences, all permutations are enumerated instead."""

CELLS_AT_ONCE = 1 << 22
"""The most permutations times sentences that are processed together, to bound the memory."""

EQUAL = 1e-12
"""The relative tolerance below which two differences count as equal, since sums are rounded."""

Totals = NDArray[np.float64]
Statistic = Callable[[Totals], Totals]
"""From totals over all sentences, (..., k), to what is compared, (...)."""


def total(totals: Totals) -> Totals:
    """The statistic of one quantity: its sum."""
    return totals[..., 0]


def f1(totals: Totals) -> Totals:
    """Micro-averaged F1 from totals (..., 3) of true, proposed and right marks; 0 without any mark."""
    true, proposed, right = (totals[..., place] for place in range(3))
    return 2 * right / np.maximum(true + proposed, 1)


def permutation_test(
    one: ArrayLike,
    other: ArrayLike,
    permutations: int = PERMUTATIONS,
    *,
    seed: int = 0,
    statistic: Statistic = total,
) -> float:
    """The two-sided p-value of a difference between two systems measured on the same sentences.

    A permutation swaps the results of the systems in a random set of sentences; p is the share of
    permutations after which the systems differ at least as much as observed. For the sum of one quantity with
    differences d_i between the systems, a permutation is a vector of signs s_i::

        p = (1 + number of permutations with |sum of s_i d_i| >= |sum of d_i|) / (1 + permutations)

    where the observed result counts as one permutation (Phipson & Smyth 2010). If at most 14 of the d_i are
    not zero, all their signs are enumerated, and p is exact. The test is symmetric in the two systems.

    :param one: (sentences,) a quantity of each sentence, or (sentences, k) several.
    :param other: the same of the other system.
    :param statistic: computes the compared value from the totals; by default the total of one quantity.
    :raises ValueError: if the shapes differ, or if a number or a statistic is infinite or not a number.
    """
    first, second = _quantities(one), _quantities(other)
    if first.shape != second.shape:
        raise ValueError(f"quantities of the shapes {first.shape} and {second.shape} make no pairs")
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError("a quantity of some sentence is not finite, so sums of differences say nothing")
    both = (first + second).sum(0)
    differences = first - second
    differences = differences[differences.any(1)]

    def compared(totals: Totals) -> Totals:
        found = statistic(totals)
        if not np.isfinite(found).all():
            raise ValueError("the statistic of some totals is not finite, so its differences say nothing")
        return found

    def gaps(flipped: Totals) -> Totals:
        """The absolute difference between the systems, from (..., k) differences of totals."""
        return np.abs(compared((both + flipped) / 2) - compared((both - flipped) / 2))

    size = np.abs(compared(first.sum(0))) + np.abs(compared(second.sum(0)))
    least = gaps(differences.sum(0)) - EQUAL * size
    if len(differences) <= EXACT:
        return float((gaps(_all_sums(differences)) >= least).mean())
    drawn = _drawn_sums(differences, permutations, np.random.default_rng(seed))
    reached = sum(int((gaps(sums) >= least).sum()) for sums in drawn)
    return (1 + reached) / (1 + permutations)


def _quantities(values: ArrayLike) -> Totals:
    found = np.asarray(values, float)
    return found[:, None] if found.ndim == 1 else found


def _all_sums(differences: Totals) -> Totals:
    """(2^n, k) the sums of n differences under all signs."""
    number = len(differences)
    minus = np.arange(2**number)[:, None] >> np.arange(number) & 1
    return _sums(differences, minus)


def _drawn_sums(differences: Totals, permutations: int, generator: np.random.Generator) -> Iterator[Totals]:
    """Blocks of sums of the differences under random signs."""
    number = len(differences)
    block = max(1, CELLS_AT_ONCE // number)
    for done in range(0, permutations, block):
        size = min(block, permutations - done), -(-number // 8)
        packed = generator.integers(256, size=size, dtype=np.uint8)
        yield _sums(differences, np.unpackbits(packed, axis=1, count=number))


def _sums(differences: Totals, minus: NDArray[np.integer]) -> Totals:
    """(permutations, k) the sums of the differences under some signs."""
    return differences.sum(0) - 2 * (minus @ differences)
