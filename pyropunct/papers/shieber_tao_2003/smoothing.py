"""Conditional distributions estimated from counts, with backoff to shorter contexts.

A context h = (h_1, .., h_k) is shortened from the left to (h_2, .., h_k), (h_3, .., h_k) and so on; the empty
context backs off to the uniform distribution over all V outcomes.  With c(h y) the count of y in h, c(h) its
sum over y, and h' the next shorter context:

Witten-Bell (Witten & Bell 1991, method C) reserves mass for new outcomes in proportion to T(h), the number of
different outcomes seen in the context::

    p(y | h) = (c(h y) + T(h) p(y | h')) / (c(h) + T(h))

Katz (1987) discounts counts by the estimate of Good and Turing and gives the saved mass to unseen outcomes::

    p(y | h) = d(c(h y)) c(h y) / c(h)    if c(h y) > 0
               alpha(h) p(y | h')         otherwise

In contexts that were never seen, p(y | h) = p(y | h').
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

LARGEST_DISCOUNTED = 7
"""Katz trusts larger counts as they are."""

LEAST_SAVED = 1e-9
"""A smaller part of a count is a rounding error."""


class HistoryLevel(ABC):
    """The smoothed distributions of the contexts of one length, over V = ``number`` outcomes.

    :param keys: (events,) the number h V + y of each seen event, ascending: outcome y in context number h.
    :param counts: (events,) c(h y).
    :param shorter: (events,) p(y | h').
    """

    def __init__(self, keys: Integers, counts: Integers, number: int, shorter: Floats) -> None:
        self._keys, self._counts, self._number = keys, counts, number
        self._contexts, self._owners = np.unique(keys // number, return_inverse=True)
        self._totals = np.bincount(self._owners, counts)
        self._types = np.bincount(self._owners)
        self._estimate(shorter)

    def _estimate(self, shorter: Floats) -> None:  # noqa: B027  # not every smoothing needs more than counts
        """Compute further statistics of the smoothing from the counts."""

    @abstractmethod
    def extended(self, keys: Integers, shorter: Floats) -> Floats:
        """(M,) p(y | h) from (M,) p(y | h') and the numbers of contexts and outcomes."""

    def _of_event(self, keys: Integers, values: NDArray[Any]) -> NDArray[Any]:
        """(M,) the values (events,) of events, 0 for those that were not seen."""
        return _looked_up(keys, self._keys, values, 0)

    def _of_context(self, keys: Integers, values: NDArray[Any], default: int) -> NDArray[Any]:
        """(M,) the values (contexts,) of the contexts of events, the default for those not seen."""
        return _looked_up(keys // self._number, self._contexts, values, default)


def _looked_up(wanted: Integers, keys: Integers, values: NDArray[Any], default: int) -> NDArray[Any]:
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[places] == wanted, values[places], default)


class WittenBell(HistoryLevel):
    """Witten-Bell smoothing."""

    def extended(self, keys: Integers, shorter: Floats) -> Floats:
        """(M,) p(y | h) from p(y | h')."""
        total = self._of_context(keys, self._totals, 0)
        types = self._of_context(keys, self._types, 1)  # so that a context that was not seen leaves p(y | h')
        return (self._of_event(keys, self._counts) + types * shorter) / (total + types)


class Katz(HistoryLevel):
    """Katz smoothing."""

    def _estimate(self, shorter: Floats) -> None:
        complete = self._types == self._number  # contexts in which nothing is unseen
        discounted = self._counts * np.where(complete[self._owners], 1, discounts(self._counts))
        saved = self._totals - np.bincount(self._owners, discounted)
        # Where nothing is saved although something is unseen, one outcome more is taken to be seen.
        totals = self._totals + (~complete & (saved < LEAST_SAVED))
        self._probabilities = discounted / totals[self._owners]
        left = 1 - np.bincount(self._owners, self._probabilities)
        unseen = 1 - np.bincount(self._owners, shorter)
        self._alpha = left / np.where(complete, 1, unseen)

    def extended(self, keys: Integers, shorter: Floats) -> Floats:
        """(M,) p(y | h) from p(y | h')."""
        seen = self._of_event(keys, self._probabilities)
        return np.where(seen > 0, seen, self._of_context(keys, self._alpha, 1) * shorter)


def discounts(counts: Integers) -> Floats:
    """(events,) d(r) for each count r, from how many events n_r were seen r times (Katz 1987)::

        d(r) = (r* / r - A) / (1 - A)    r* = (r + 1) n_{r+1} / n_r    A = (K + 1) n_{K+1} / n_1

    for r up to K = 7, and 1 for larger counts.  If some d(r) is not between 0 and 1, K is decreased until all
    are, as in the CMU toolkit; in the end there are no discounts.
    """
    r = np.arange(1, LARGEST_DISCOUNTED + 1)
    n = np.bincount(counts, minlength=LARGEST_DISCOUNTED + 2)[: LARGEST_DISCOUNTED + 2].astype(float)
    d = np.ones(LARGEST_DISCOUNTED + 2)
    for largest in range(LARGEST_DISCOUNTED, 0, -1):
        if not n[1 : largest + 1].all():
            continue
        trusted = (largest + 1) * n[largest + 1] / n[1]
        some = r[:largest]
        ratios = (some + 1) * n[some + 1] / (n[some] * some)
        if trusted < 1:
            found = (ratios - trusted) / (1 - trusted)
            if (found > 0).all() and (found <= 1).all():
                d[some] = found
                break
    return d[np.minimum(counts, LARGEST_DISCOUNTED + 1)]


SMOOTHINGS: Mapping[str, type[HistoryLevel]] = {"witten-bell": WittenBell, "katz": Katz}


class Backoff:
    """p(y | h_1 .. h_k), estimated from N events, (N, k + 1) numbers from 0.

    :param sizes: (k + 1) the number of values of each part; V is the last.
    :raises ValueError: if a number is not below its size, or if different events may exceed 63 bits.
    """

    def __init__(self, smoothing: type[HistoryLevel], events: Integers, sizes: Sequence[int]) -> None:
        self._sizes = tuple(sizes)
        keys = self._keys(events)
        self._levels: list[HistoryLevel] = []
        for length in range(len(self._sizes)):
            seen, counts = np.unique(keys % self._modulus(length), return_counts=True)
            self._levels.append(smoothing(seen, counts, self._sizes[-1], self._probability(seen)))

    def probability(self, events: Integers) -> Floats:
        """(M,) p(y | h), given (M, k + 1) h_1 .. h_k and y. Raises ValueError if a number is too large."""
        return self._probability(self._keys(events))

    def _keys(self, events: Integers) -> Integers:
        """(M,) each event as one number."""
        return np.ravel_multi_index(tuple(events.T), self._sizes)

    def _modulus(self, length: int) -> int:
        """The modulus that keeps the last ``length`` parts of the context, and y, of an event's number."""
        return prod(self._sizes[len(self._sizes) - 1 - length :])

    def _probability(self, keys: Integers) -> Floats:
        """(M,) p(y | h), by the contexts of all lengths that have been counted."""
        probability = np.full(len(keys), 1 / self._sizes[-1])
        for length, level in enumerate(self._levels):
            probability = level.extended(keys % self._modulus(length), probability)
        return probability
