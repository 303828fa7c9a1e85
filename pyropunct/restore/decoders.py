"""Deciding on one surface punctuation, given only draws from p(x | T).

The loss of a surface string x against the truth x* is the total edit distance over all slots,
sum over i of d(x_i, x*_i) (Li, Wang & Eisner 2019, section 6.1).  Its expectation adds up over the slots::

    E[loss(x, x*)] = sum over i of R_i(x_i)        R_i(s) = sum over strings t of p(x*_i = t) d(s, t)

so R_i(s) is computed once for each string s that was drawn in slot i, and the risk of a whole drawn surface
is a sum of n + 1 numbers from these tables.  Equation (10) of the paper, taken literally, compares all m^2
pairs of the m draws.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from pyropunct.treebank.marks import Surface, marks_of

if TYPE_CHECKING:
    from pyropunct.draws import Draws

EQUAL = 1e-9
"""Risks and probabilities that differ by less count as equal, since their sums are rounded."""

Probabilities = tuple[float, ...]
"""A number for each of the slots 0..n."""


class Decision(NamedTuple):
    """The decision of a decoder for one sentence.

    :ivar surface: the punctuation tokens of the slots 0..n.
    :ivar risk: the expected edit distance from the truth, estimated from the draws.
    :ivar regret: how many edits more draws can be expected to save; infinite if the decoder cannot say.
    :ivar probability: how probable the string of each slot is, whatever the others are.
    :ivar effective_draws: how many draws of equal weights they are worth, where some marks are known; see
        `pyropunct.restore.posterior.Posterior`.
    """

    surface: Surface
    risk: float
    regret: float
    probability: Probabilities
    effective_draws: float | None = None


class _Tables(NamedTuple):
    """The strings drawn in each slot, over all k distinct strings.

    :ivar share: (n + 1, k) the probability of each string in each slot.
    :ivar risk: (n + 1, k) R_i of each string; infinite if it was not drawn in the slot.
    :ivar distance: (k, k) the edit distances of the strings.
    """

    share: NDArray[Any]
    risk: NDArray[Any]
    distance: NDArray[Any]


def _tables(draws: "Draws") -> _Tables:
    # numba takes long to import, and the names of the decoders are asked for without it
    from pyropunct.restore.risks import shares_and_risks

    strings = [marks_of(string) for string in draws.strings]
    distance = cdist(strings, strings, scorer=Levenshtein.distance, dtype=np.float64)
    share, risk = shares_and_risks(draws.numbers, draws.weights, distance)
    return _Tables(share, risk, distance)


def _risks(draws: "Draws", tables: _Tables) -> NDArray[Any]:
    """The expected loss of each draw."""
    return tables.risk[np.arange(draws.numbers.shape[1]), draws.numbers].sum(1)


def _regret(draws: "Draws", tables: _Tables, chosen: NDArray[Any]) -> float:
    """What more draws can be expected to save, if the strings of the slots are chosen now.

    In slot i, the mean of d(s, t) - d(c, t) over the draws t says how much worse a string s is than the
    chosen c.  By the central limit theorem the true mean is normal around it, with a standard error e, and
    the expectation of what s may turn out to be better is::

        e (phi(z) - z (1 - Phi(z)))        z = the mean / e

    The sum over the slots of the greatest of these is the regret.

    :param chosen: (n + 1,) the numbers of the strings.
    """
    from pyropunct.restore.risks import regrets

    return float(regrets(*tables, chosen, (draws.weights**2).sum()).sum())


def _decision(
    draws: "Draws", tables: _Tables, chosen: NDArray[Any], risk: float, regret: float | None = None
) -> Decision:
    """The decision for the chosen strings.

    :param chosen: (n + 1,) the numbers of the strings.
    :param regret: computed if it is None.
    """
    regret = _regret(draws, tables, chosen) if regret is None else regret
    surface = tuple(draws.strings[number] for number in chosen.tolist())
    probability = tuple(tables.share[np.arange(len(chosen)), chosen].tolist())
    return Decision(surface, float(risk), regret, probability)


def minimum_bayes_risk(draws: "Draws") -> Decision:
    """The drawn surface with the least expected loss: equation (10), computed exactly in O(m n).

    Of equally good surfaces the most frequent is taken, and of these the one that was drawn first.
    """
    tables = _tables(draws)
    risks = _risks(draws, tables)
    best = np.flatnonzero(risks <= risks.min() + EQUAL)
    first, share = _frequencies(draws, best)
    chosen = _least(first, -share)
    return _decision(draws, tables, draws.numbers[chosen], risks[chosen])


def minimum_bayes_risk_by_slot(draws: "Draws") -> Decision:
    """In each slot the drawn string with the least expected edit distance.

    Its risk is never above that of `minimum_bayes_risk`, since the drawn surfaces are among the combinations
    that it chooses from.  But the combination may be one that was never drawn, such as one bracket of a pair.
    Of equally good strings the most frequent is taken.
    """
    tables = _tables(draws)
    strings = np.arange(len(draws.strings))
    best = [_least(strings, row, -share) for row, share in zip(tables.risk, tables.share, strict=True)]
    least = tables.risk[np.arange(len(best)), best].sum()
    return _decision(draws, tables, np.array(best), least)


def most_frequent(draws: "Draws") -> Decision:
    """The surface drawn most often; of equally frequent ones, that with the least expected loss.

    Its regret is not known, for there may be many surfaces that are hardly more seldom.
    """
    tables = _tables(draws)
    risks = _risks(draws, tables)
    first, share = _frequencies(draws, np.arange(len(draws.numbers)))
    chosen = _least(first, -share, risks[first])
    return _decision(draws, tables, draws.numbers[chosen], risks[chosen], math.inf)


def _frequencies(draws: "Draws", chosen: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The first draw of each distinct surface among the chosen draws, and the probability of the surface."""
    first: dict[bytes, int] = {}
    rows = np.ascontiguousarray(draws.numbers[chosen])
    surfaces = rows.view(f"V{rows.itemsize * rows.shape[1]}").ravel().tolist()
    place = list(map(first.setdefault, surfaces, chosen.tolist()))
    share = np.bincount(place, draws.weights[chosen])
    places = np.array(list(first.values()))
    return places, share[places]


def _least(candidates: NDArray[Any], *keys: NDArray[Any]) -> int:
    """The candidate with the least first key, then the least second key, and so on.

    Of candidates equal in all keys, the least number is taken.
    """
    places = np.arange(len(candidates))
    for key in keys:
        places = places[key[places] <= key[places].min() + EQUAL]
    return int(candidates[places].min())


Decoder = Callable[["Draws"], Decision]

DECODERS: dict[str, Decoder] = {
    "mbr": minimum_bayes_risk,
    "slot-mbr": minimum_bayes_risk_by_slot,
    "map": most_frequent,
}
"""The decoders, by their names on the command line."""
