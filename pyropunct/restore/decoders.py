"""Decoders: choose one surface punctuation, given draws from p(x | T).

The loss of a surface string x against the truth x* is the total edit distance over all slots,
sum over i of d(x_i, x*_i) (Li, Wang & Eisner 2019, section 6.1).  Its expectation is a sum over the slots::

    E[loss(x, x*)] = sum over i of R_i(x_i)        R_i(s) = sum over strings t of p(x*_i = t) d(s, t)

so R_i(s) is computed once for each string s drawn in slot i, and the risk of a surface is a sum of n + 1
numbers. Equation (10) of the paper, taken literally, compares all m^2 pairs of the m draws.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from pyropunct.draws import Draws
from pyropunct.inference.compiling import compiled, inner
from pyropunct.restore.settings import THRESHOLD, Thresholds
from pyropunct.restore.whole_pairs import EQUAL, FAINT, around_constituents, without_halves
from pyropunct.text.marks import PAIRED, Surface, marks_of

PAIRED_AT_LEAST = 0.5
"""The least threshold of brackets and quotation marks: readers mind a wrong one more than a missing one."""

Shares = tuple[Mapping[tuple[str, ...], float], ...]
"""For each of the slots 0..n the strings of marks that were drawn there, with their probabilities."""


class Decision(NamedTuple):
    """The decision of a decoder for one sentence.

    :ivar risk: the expected edit distance from the truth, estimated from the draws.
    :ivar regret: the edits that more draws are expected to save; infinite if the decoder cannot say.
    :ivar shares: the marginal probability of each string in each slot.
    :ivar effective_draws: the effective sample size given evidence.
    """

    surface: Surface
    risk: float
    regret: float
    shares: Shares
    effective_draws: float | None = None


class _Tables(NamedTuple):
    """Tables (n + 1, k) over slots and the k distinct strings; ``distance`` is (k, k).

    :ivar risk: (n + 1, k) R_i of each string; infinite if it was not drawn in the slot.
    """

    share: NDArray[Any]
    risk: NDArray[Any]
    distance: NDArray[Any]
    spread: NDArray[Any]


def _tables(draws: Draws) -> _Tables:
    strings = [marks_of(string) for string in draws.strings]
    distance = cdist(strings, strings, scorer=Levenshtein.distance, dtype=np.float64)
    share, risk = shares_and_risks(draws.numbers, draws.weights, distance)
    if draws.shares is not None:
        share = draws.shares
        risk = np.where((share > 0) | np.isfinite(risk), share @ distance, np.inf)
    return _Tables(share, risk, distance, share if draws.spread is None else draws.spread)


def _regret(draws: Draws, tables: _Tables, chosen: NDArray[Any]) -> float:
    """The edits that more draws are expected to save, if the strings (n + 1,) are chosen now.

    In slot i, the mean of d(s, t) - d(c, t) over the draws t says how much worse a string s is than the
    chosen c.  By the central limit theorem it is normal with a standard error e, and the expected gain of
    switching to s is::

        e (phi(z) - z (1 - Phi(z)))        z = the mean / e

    The regret is the sum over the slots of the greatest gain.
    """
    return float(regrets(*tables, chosen, (draws.weights**2).sum()).sum())


def _decision(
    draws: Draws, tables: _Tables, chosen: NDArray[Any], risk: float, regret: float | None = None
) -> Decision:
    """The decision for the chosen strings (n + 1,)."""
    regret = _regret(draws, tables, chosen) if regret is None else regret
    surface = tuple(draws.strings[number] for number in chosen.tolist())
    shares: Shares = tuple({} for _ in surface)
    slots, numbers = tables.share.nonzero()
    strings = ((slot, draws.strings[number]) for slot, number in zip(slots, numbers, strict=True))
    for (slot, string), share in zip(strings, tables.share[slots, numbers].tolist(), strict=True):
        shares[slot][string] = share  # type: ignore[index]  # mappings for all others
    return Decision(surface, float(risk), regret, shares)


def minimum_bayes_risk(draws: Draws) -> Decision:
    """The drawn surface of least expected loss, exact in O(m n); ties go to the more frequent."""
    tables = _tables(draws)
    risks = tables.risk[np.arange(draws.numbers.shape[1]), draws.numbers].sum(1)
    best = np.flatnonzero(risks <= risks.min() + EQUAL)
    first, share = _frequencies(draws, best)
    chosen = _least(first, -share)
    return _decision(draws, tables, draws.numbers[chosen], risks[chosen])


def probable_marks(draws: Draws, threshold: Thresholds = THRESHOLD) -> Decision:
    """In each slot the string whose marks are most probable, less a threshold for each mark.

    With c(m, s) the number of marks m in a string s, slot i gets the string s that maximises::

        sum over marks m of  E[min(c(m, s), c(m, x*_i))] - threshold(m) c(m, s)

    so a single mark is chosen if its probability exceeds its threshold.  Threshold F/2 for all marks
    maximises the F1 of the marks of a large corpus, where F is that F1 (Lewis 1995, "Evaluating and
    optimizing autonomous text classification systems"; Ye et al. 2012, "Optimizing F-measure").

    Paired marks, such as brackets or the commas around an apposition, belong to constituents.  With p(pair)
    the probability that a constituent has the mark on one side and its partner on the other, a surface with
    both gains `PAIR_GAIN` p(pair) or more, and a surface with one of them loses as much.  Starting from the
    above, the pair of each constituent in turn is added, removed or kept, whichever is best.  Brackets and
    quotation marks without their other half are removed.

    :param threshold: of all marks, or by mark; "" is for marks that are not named.  That of brackets and
        quotation marks is at least `PAIRED_AT_LEAST`, unless they are named.
    """
    tables = _tables(draws)
    strings = [marks_of(string) for string in draws.strings]
    loss = _mark_losses(strings, {"": threshold} if isinstance(threshold, int | float) else threshold)
    seen = tables.share > np.minimum(FAINT, tables.share.max(1, keepdims=True) / 2)
    expected = np.where(seen, tables.share @ loss.T, np.inf)
    chosen = _least_of_slots(expected, tables.share)
    regret = _regret(draws, tables._replace(risk=expected, distance=loss), chosen)
    chosen = around_constituents(draws, strings, expected, chosen)
    chosen = without_halves(strings, expected, chosen)
    return _decision(draws, tables, chosen, tables.risk[np.arange(len(chosen)), chosen].sum(), regret)


def _mark_losses(strings: Sequence[Sequence[str]], threshold: Mapping[str, float]) -> NDArray[Any]:
    """(k, k) the loss of each string if the truth is another: thresholds of its marks, less those right."""
    usual, number = threshold.get("", THRESHOLD), dict[str, int]()
    for string in strings:
        for mark in string:
            number.setdefault(mark, len(number))
    counts = np.zeros((len(strings), len(number)))
    for row, string in zip(counts, strings, strict=True):
        for mark in string:
            row[number[mark]] += 1
    of_mark = {mark: max(usual, PAIRED_AT_LEAST) if mark in PAIRED else usual for mark in number}
    costs = counts @ np.array([threshold.get(mark, of_mark[mark]) for mark in number], float)
    return costs[:, None] - np.minimum(counts[:, None], counts).sum(-1)


def _least_of_slots(expected: NDArray[Any], share: NDArray[Any]) -> NDArray[Any]:
    """(n + 1,) the string of least expected loss in each slot; ties go to the most frequent."""
    strings = np.arange(expected.shape[1])
    pairs = zip(expected, share, strict=True)
    return np.array([_least(strings, row, -of_slot) for row, of_slot in pairs])


def _frequencies(draws: Draws, chosen: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The first draw of each distinct surface among the chosen draws, and the surface's probability."""
    first: dict[bytes, int] = {}
    rows = np.ascontiguousarray(draws.numbers[chosen])
    surfaces = rows.view(f"V{rows.itemsize * rows.shape[1]}").ravel().tolist()
    place = list(map(first.setdefault, surfaces, chosen.tolist()))
    share = np.bincount(place, draws.weights[chosen])
    places = np.array(list(first.values()))
    return places, share[places]


def _least(candidates: NDArray[Any], *keys: NDArray[Any]) -> int:
    """The candidate with the least first key, then second key, and so on, then the least number."""
    places = np.arange(len(candidates))
    for key in keys:
        places = places[key[places] <= key[places].min() + EQUAL]
    return int(candidates[places].min())


Decoder = Callable[[Draws], Decision]

DECODERS: dict[str, Decoder] = {
    "mbr": minimum_bayes_risk,
    "f1": probable_marks,
}
"""The decoders, by their names on the command line."""


def decoder_with(name: str, threshold: Thresholds) -> Decoder:
    """The decoder of a name, with thresholds if it takes them; raises `KeyError` if it is unknown."""
    return partial(probable_marks, threshold=threshold) if name == "f1" else DECODERS[name]


CONSTANT = 1e-9
"""A variance that is no greater is taken for rounding."""

SURE = 5.0
"""A mean of so many standard errors is taken to have the right sign."""


@compiled
def shares_and_risks(
    numbers: NDArray[Any], weights: NDArray[Any], distance: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """(n + 1, k) the probability and R_i (infinite if not drawn) of strings, from (draws, n + 1) numbers."""
    slots, number = numbers.shape[1], len(distance)
    share, risk = np.zeros((slots, number)), np.full((slots, number), np.inf)
    for draw in range(len(numbers)):
        for slot in range(slots):
            share[slot, numbers[draw, slot]] += weights[draw]
    for slot in range(slots):
        for string in range(number):
            if share[slot, string] > 0:
                risk[slot, string] = 0.0
                for other in range(number):
                    risk[slot, string] += share[slot, other] * distance[string, other]
    return share, risk


@compiled
def regrets(
    share: NDArray[Any],
    risk: NDArray[Any],
    distance: NDArray[Any],
    spread: NDArray[Any],
    chosen: NDArray[Any],
    squares: float,
) -> NDArray[Any]:
    """(n + 1,) the edits that more draws are expected to save in each slot.

    :param share: and ``risk``, (n + 1, k), see `shares_and_risks`.
    :param spread: (n + 1, k), see `pyropunct.draws.Draws`.
    :param chosen: (n + 1,) the numbers of the strings.
    :param squares: the sum of the squared weights of the draws.
    """
    saved = np.zeros(len(share))
    for slot in range(len(share)):
        for string in range(len(distance)):
            if share[slot, string] > 0:
                mean, square = risk[slot, string] - risk[slot, chosen[slot]], 0.0
                for other in range(len(distance)):
                    away = distance[string, other] - distance[chosen[slot], other]
                    square += spread[slot, other] * (away - mean) ** 2
                variance = square * squares
                if variance > CONSTANT and mean**2 < SURE**2 * variance:
                    saved[slot] = max(saved[slot], _gain(mean, math.sqrt(variance)))
    return saved


@inner
def _gain(mean: float, error: float) -> float:
    """The expectation of max(0, -v) for a normal v."""
    z = mean / error
    return error * (math.exp(-z * z / 2) / math.sqrt(2 * math.pi) - z * math.erfc(z / math.sqrt(2)) / 2)
