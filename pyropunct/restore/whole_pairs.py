"""Pairs of marks around constituents, such as brackets or the commas of an apposition: wholes, not halves."""

import math
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from itertools import product
from operator import eq
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.draws import Draws
from pyropunct.text.marks import CLOSERS, PAIRED, unpaired

EQUAL = 1e-9
"""Risks and probabilities that differ by less count as equal, since their sums are rounded."""

PAIR_GAIN, PAIR_GAIN_READ = 0.4, 0.7
"""The gain of a pair of marks around a constituent, where a mark counts 1: without a trusted reader, and with
one.  In the 19 languages of `multi`, whose reader is not trusted, F1 of commas is .548 with the first number,
.529 with the second."""

PAIR_ODDS, POWER = 0.74, 0.9
"""The odds that a constituent has a pair are PAIR_ODDS times the odds of its less probable mark, raised to
POWER: logistic regression on GUM dev."""

ROUNDS = 4
"""The most passes over all constituents."""

_LOSSES = (0.0, 1.0, -1.0)
"""What a surface with neither, one or both marks of a pair loses, in terms of p(pair)."""

FAINT = 0.02
"""Less probable strings and pairs are ignored."""


class _Pair(NamedTuple):
    """A mark on one side of a constituent and its partner on the other, with p(pair)."""

    slots: tuple[int, int]
    numbers: tuple[int, int]
    share: float


def _pairs(draws: Draws, strings: Sequence[Sequence[str]]) -> list[_Pair]:
    """The most probable pair of each constituent, unless it is improbable.

    Without a trusted reader, its probability is the share of draws with both marks.  A trusted reader knows
    single marks better: then it follows from the less probable mark in `Draws.shares`, see `PAIR_ODDS`.
    """
    number: dict[tuple[str, ...] | None, int] = {tuple(string): n for n, string in enumerate(strings)}
    partner = np.array([number.get(_partner(string), -1) for string in strings])
    found = []
    for left, right in draws.edges:
        if draws.is_read and draws.shares is not None:
            less = np.minimum(draws.shares[left], draws.shares[right, partner]) * (partner >= 0)
            odds = PAIR_ODDS * (less / np.maximum(1 - less, EQUAL)) ** POWER
            shares = odds / (1 + odds)
        else:
            at_left, at_right = draws.numbers[:, left], draws.numbers[:, right]
            both = partner[at_left] == at_right
            shares = np.bincount(at_left[both], draws.weights[both], len(strings))
        if shares.max() > FAINT:
            best = int(shares.argmax())
            found.append(_Pair((left, right), (best, int(partner[best])), float(shares.max())))
    return found


def _partner(string: Sequence[str]) -> tuple[str] | None:
    """The string on the right of a constituent that forms a pair with this one on its left."""
    if len(string) != 1 or (string[0] in PAIRED and string[0] not in CLOSERS):
        return None
    return (CLOSERS[string[0]][:1] if string[0] in CLOSERS else string[0],)


def around_constituents(
    draws: Draws, strings: Sequence[Sequence[str]], expected: NDArray[Any], chosen: NDArray[Any]
) -> NDArray[Any]:
    """(n + 1,) the strings after improving the pairs of each constituent in turn."""
    pairs, touching = _pairs(draws, strings), defaultdict(list)
    for pair in pairs:
        for slot in pair.slots:
            touching[slot].append(pair)
    gain = PAIR_GAIN_READ if draws.is_read else PAIR_GAIN
    marked = np.array([bool(string) for string in strings])
    nothing = np.where(marked, np.inf, expected).argmin(1).tolist()
    chosen = chosen.tolist()

    def loss(pair: _Pair, way: tuple[int, ...]) -> float:
        """The loss of the strings on either side of a pair's constituent."""
        chosen[pair.slots[0]], chosen[pair.slots[1]] = way
        near = {other for slot in pair.slots for other in touching[slot]}
        halves = ((other, [chosen[slot] for slot in other.slots]) for other in near)
        whole = math.fsum(other.share * _LOSSES[sum(map(eq, now, other.numbers))] for other, now in halves)
        return float(expected[pair.slots, way].sum()) + gain * whole

    for _ in range(ROUNDS):
        before = chosen[:]
        for pair in pairs:
            now = tuple(chosen[slot] for slot in pair.slots)
            choices = [(mark, nothing[slot]) for slot, mark in zip(pair.slots, pair.numbers, strict=True)]
            if all(number in of_slot for number, of_slot in zip(now, choices, strict=True)):
                best = min([now, *product(*choices)], key=partial(loss, pair))
                chosen[pair.slots[0]], chosen[pair.slots[1]] = best
        if chosen == before:
            break
    return np.array(chosen)


def without_halves(
    strings: Sequence[Sequence[str]], expected: NDArray[Any], chosen: NDArray[Any]
) -> NDArray[Any]:
    """(n + 1,) the strings, without brackets and quotation marks that lack their other half."""
    alone = np.array([PAIRED.isdisjoint(string) for string in strings])
    others = np.where(alone, expected, np.inf)
    free = np.isfinite(others.min(1))

    def unmatched(way: NDArray[Any]) -> int:
        return unpaired([strings[number] for number in way.tolist()])

    while unmatched(chosen) and (slots := np.flatnonzero(~alone[chosen] & free).tolist()):
        ways = []
        for slot in slots:
            way = chosen.copy()
            way[slot] = others[slot].argmin()
            ways.append((unmatched(way), expected[slot, way[slot]] - expected[slot, chosen[slot]], slot, way))
        chosen = min(ways, key=lambda each: each[:3])[-1]
    return chosen
