"""Deciding on one surface punctuation, given only draws from p(x | T).

The loss of a surface string x against the truth x* is the total edit distance over all slots,
sum over i of d(x_i, x*_i) (Li, Wang & Eisner 2019, section 6.1).  Its expectation adds up over the slots::

    E[loss(x, x*)] = sum over i of R_i(x_i)        R_i(s) = sum over strings t of p(x*_i = t) d(s, t)

so R_i(s) is computed once for each string s that was drawn in slot i, and the risk of a whole drawn surface
is a sum of n + 1 numbers from these tables.  Equation (10) of the paper, taken literally, compares all m^2
pairs of the m draws.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.restore.edit_distance import slot_distance
from pyropunct.treebank.marks import Surface

if TYPE_CHECKING:
    from pyropunct.draws import Draws

EQUAL = 1e-9
"""Risks and probabilities that differ by less count as equal, since their sums are rounded."""

_distance = lru_cache(1 << 18)(slot_distance)


class Decision(NamedTuple):
    """What a decoder decided for one sentence.

    :ivar surface: the punctuation tokens of the slots 0..n.
    :ivar risk: the expected edit distance from the truth, estimated from the draws.
    """

    surface: Surface
    risk: float


class _Tables(NamedTuple):
    """The strings drawn in each slot, over all k distinct strings.

    :ivar share: (n + 1, k) the probability of each string in each slot.
    :ivar risk: (n + 1, k) R_i of each string; infinite if it was not drawn in the slot.
    """

    share: NDArray[Any]
    risk: NDArray[Any]


def _tables(draws: "Draws") -> _Tables:
    slots, strings = draws.numbers.shape[1], len(draws.strings)
    cells = draws.numbers + strings * np.arange(slots)
    weights = np.broadcast_to(draws.weights[:, None], cells.shape)
    share = np.bincount(cells.ravel(), weights.ravel(), slots * strings).reshape(slots, strings)
    risk = np.full((slots, strings), np.inf)
    for slot in range(slots):
        drawn = np.flatnonzero(share[slot])
        risk[slot, drawn] = _distances(draws, drawn) @ share[slot, drawn]
    return _Tables(share, risk)


def _distances(draws: "Draws", numbers: NDArray[Any]) -> NDArray[Any]:
    """The edit distances of some strings from each other."""
    if len(numbers) == 1:
        return np.zeros((1, 1))
    strings = [draws.strings[number] for number in numbers.tolist()]
    return np.array([[_distance(one, other) for other in strings] for one in strings], float)


def _risks(draws: "Draws") -> NDArray[Any]:
    """The expected loss of each draw."""
    return _tables(draws).risk[np.arange(draws.numbers.shape[1]), draws.numbers].sum(1)


def minimum_bayes_risk(draws: "Draws") -> Decision:
    """The drawn surface with the least expected loss: equation (10), computed exactly in O(m n).

    Of equally good surfaces the most frequent is taken, and of these the one that was drawn first.
    """
    risks = _risks(draws)
    best = np.flatnonzero(risks <= risks.min() + EQUAL)
    first, share = _frequencies(draws, best)
    return _decision(draws, risks, _least(first, -share))


def minimum_bayes_risk_by_slot(draws: "Draws") -> Decision:
    """In each slot the drawn string with the least expected edit distance.

    Its risk is never above that of `minimum_bayes_risk`, since the drawn surfaces are among the combinations
    that it chooses from.  But the combination may be one that was never drawn, such as one bracket of a pair.
    Of equally good strings the most frequent is taken.
    """
    share, risk = _tables(draws)
    strings = np.arange(len(draws.strings))
    best = [_least(strings, row, -shares) for row, shares in zip(risk, share, strict=True)]
    least = risk[np.arange(len(best)), best].sum()
    return Decision(tuple(draws.strings[number] for number in best), float(least))


def most_frequent(draws: "Draws") -> Decision:
    """The surface drawn most often; of equally frequent ones, that with the least expected loss."""
    risks = _risks(draws)
    first, share = _frequencies(draws, np.arange(len(draws.numbers)))
    return _decision(draws, risks, _least(first, -share, risks[first]))


def _frequencies(draws: "Draws", some: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The first draw of each distinct surface among some draws, and the probability of the surface."""
    _, first, place = np.unique(draws.numbers[some], axis=0, return_index=True, return_inverse=True)
    return some[first], np.bincount(place.reshape(-1), draws.weights[some])


def _least(candidates: NDArray[Any], *keys: NDArray[Any]) -> int:
    """The candidate with the least first key, then the least second key, and so on.

    Of candidates equal in all keys, the least number is taken.
    """
    left = np.arange(len(candidates))
    for key in keys:
        left = left[key[left] <= key[left].min() + EQUAL]
    return int(candidates[left].min())


def _decision(draws: "Draws", risks: NDArray[Any], best: int) -> Decision:
    return Decision(tuple(draws.surface(best)), float(risks[best]))


Decoder = Callable[["Draws"], Decision]

DECODERS: dict[str, Decoder] = {
    "mbr": minimum_bayes_risk,
    "slot-mbr": minimum_bayes_risk_by_slot,
    "map": most_frequent,
}
"""The decoders, by their names on the command line."""
