"""What the decoders choose, against brute force over pairs of draws and over all combinations of strings."""

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from drawn import Surface, draws_of, random_draws, surfaces_of
from hypothesis import given
from hypothesis import strategies as st

from pyropunct.draws import Draws
from pyropunct.fitted.evaluation import surface_distance
from pyropunct.restore.decoders import DECODERS, decoder_with
from pyropunct.restore.settings import thresholds
from pyropunct.restore.whole_pairs import FAINT, PAIR_GAIN
from pyropunct.text.marks import marks_of, unpaired

seeds = given(st.integers(0, 2**32 - 1))
"""Draws are made from a random seed, since examples that hypothesis makes itself have few equal strings."""


def expected_loss(draws: Draws, surface: Surface) -> float:
    """The sum over draws of weight times edit distance, as equation (10) has it."""
    pairs = zip(surfaces_of(draws), draws.weights, strict=True)
    return sum(weight * surface_distance(surface, other) for other, weight in pairs)


@seeds
def test_risks_are_expected_losses_and_in_order(seed: int) -> None:
    draws = random_draws(seed)
    decisions = {name: decoder(draws) for name, decoder in DECODERS.items()}
    for decision in decisions.values():
        assert decision.risk == pytest.approx(expected_loss(draws, decision.surface), abs=1e-12)


@seeds
def test_mbr_is_best_of_all_draws(seed: int) -> None:
    draws = random_draws(seed)
    surface, risk = DECODERS["mbr"](draws)[:2]
    assert list(surface) in surfaces_of(draws)
    assert risk == pytest.approx(min(expected_loss(draws, other) for other in surfaces_of(draws)), abs=1e-12)


COMMA, STOP, BOTH = [[","], []], [[], ["."]], [[","], ["."]]


@pytest.mark.parametrize("name", DECODERS)
def test_the_first_of_equals(name: str) -> None:
    """Each of two surfaces was drawn once, and is as far from the other as the other from it."""
    for first, second in ((COMMA, STOP), (STOP, COMMA)):
        surface = DECODERS[name](draws_of([first, second])).surface
        assert list(map(list, surface)) == (BOTH if name == "f1" else first)


def test_mbr_of_equals_takes_the_most_frequent() -> None:
    """Either string of either slot has half of the weight, so the risks of all four surfaces are equal."""
    draws = draws_of([COMMA, STOP, [[], []], BOTH], [0.1, 0.1, 0.4, 0.4])
    assert DECODERS["mbr"](draws).surface == ((), ())


def test_mbr_of_equals_but_for_rounding() -> None:
    """Two tokens are drawn at distance 1 from each other, so weights of 1/2 make their risks equal."""
    draws = draws_of([[["!"]], [["?"]], [["?"]], [["!"]]], [0.3, 0.25, 0.25, 0.2])
    assert DECODERS["mbr"](draws).surface == (("!",),)


def test_one_draw_of_many_slots() -> None:
    draws = draws_of([[["\t^"], *[[","]] * 2000]])
    for decoder in DECODERS.values():
        surface, risk = decoder(draws)[:2]
        assert (len(surface), risk) == (2001, 0)


def gain(draws: Draws, surface: Surface, threshold: dict[str, float]) -> float:
    """The expected number of right marks, less the threshold of each mark."""
    costs = sum(threshold.get(mark, threshold[""]) for slot in surface for mark in marks_of(slot))
    right = 0.0
    for other, weight in zip(surfaces_of(draws), draws.weights, strict=True):
        pairs = zip(surface, other, strict=True)
        right += weight * sum((Counter(marks_of(a)) & Counter(marks_of(b))).total() for a, b in pairs)
    return right - costs


@given(seed=st.integers(0, 2**32 - 1), usual=st.floats(0.05, 0.95), comma=st.floats(0.05, 0.95))
def test_probable_marks_are_best_in_each_slot(seed: int, usual: float, comma: float) -> None:
    draws, threshold = random_draws(seed, words=0, number=12), {"": usual, ",": comma}
    shares: Counter[tuple[str, ...]] = Counter()
    for [string], weight in zip(surfaces_of(draws), draws.weights, strict=True):
        shares[string] += float(weight / draws.weights.sum())
    candidates = {string for string, share in shares.items() if share > FAINT}
    best = max(candidates, key=lambda string: gain(draws, [string], threshold))
    found = decoder_with("f1", threshold)(draws).surface
    if unpaired([best]):
        assert not unpaired(found) or all(unpaired([string]) for string in candidates)
    else:
        assert gain(draws, found, threshold) == pytest.approx(gain(draws, [best], threshold), abs=1e-9)


def test_threshold_of_each_mark() -> None:
    """A mark is there if it is more probable than its threshold, whatever the most probable string is."""
    draws = draws_of([COMMA, STOP, [[], []]], [0.35, 0.25, 0.4])
    for text, surface in (
        ("0.3", ((",",), ())),
        ("0.2", ((",",), (".",))),
        ("0.35", ((), ())),  # of equals the most frequent
        (",=0.36 .=0.24 0.9", ((), (".",))),
        (".=0.24", ((",",), (".",))),
    ):
        assert decoder_with("f1", thresholds(text))(draws).surface == surface
    assert decoder_with("mbr", 0.0)(draws).surface == ((), ())


def test_strings_half_as_probable_as_a_faint_best_are_left_out() -> None:
    """All strings of the slot are faint. The rare ones share a probable mark; one of the others has three."""
    common = [*((mark,) for mark in "abcdefghijklmnopqrs"), ("a", "b", "c")]
    rare = [(mark, "!") for mark in "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMN"]
    strings, shares = (*common, *rare), np.array([[2 / 128] * 20 + [1 / 128] * 40])
    draws = Draws(strings, np.zeros((1, 1), np.int32), np.ones(1), shares=shares)
    decision = decoder_with("f1", 0.01)(draws)
    assert decision.surface == (("a", "b", "c"),)
    pairs = zip(strings, shares[0], strict=True)
    risks = (share * surface_distance(decision.surface, [one]) for one, share in pairs)
    assert decision.risk == pytest.approx(sum(risks))


@pytest.mark.parametrize("text", ["", " ", "x", "1.1", ",=-0.1", ",=", "nan"])
def test_bad_thresholds(text: str) -> None:
    with pytest.raises(ValueError, match=r"number from 0 to 1|no threshold"):
        thresholds(text)


def test_probable_marks_keep_pairs_whole() -> None:
    """The opening bracket is probable, its closing one alone is not: around a constituent both or neither."""
    draws = draws_of([[["("], [")"], []], [["("], [], [")"]], [[], [], []]], [0.25, 0.2, 0.55])

    def decided(some: Draws, threshold: float) -> Surface:
        return decoder_with("f1", {"(": threshold, ")": threshold})(some).surface

    assert decided(draws, 0.3) == ((), (), ())
    around = replace(draws, edges=((0, 1),))
    assert decided(around, 0.3) == (("(",), (")",), ())
    assert decided(around, 0.4) == ((), (), ())
    assert decoder_with("f1", 0.3)(around).surface == ((), (), ())  # brackets that are not named need 0.5
    both = draws_of([[["("], [")"]], [[], []]], [0.45, 0.55])
    assert decoder_with("f1", 0.3)(both).surface == ((), ())  # nor if both are as probable
    given = draws_of([[["("], []]], [1.0])
    assert decided(given, 0.3) == (("(",), ())  # there is no other way


def test_commas_around_an_apposition_are_both_there_or_neither() -> None:
    """One alone is probable enough; around a constituent both are there, or neither."""
    draws = draws_of([[[","], [","]], [[","], []], [[], []]], [0.22, 0.12, 0.66])
    assert decoder_with("f1", 0.25)(draws).surface == ((",",), ())
    draws = replace(draws, edges=((0, 1),))
    assert decoder_with("f1", 0.25)(draws).surface == ((",",), (",",))
    assert decoder_with("f1", 0.35)(draws).surface == ((), ())
    apart = draws_of([[[","], []], [[], [","]], [[], []]], [0.34, 0.22, 0.44])
    apart = replace(apart, edges=((0, 1),))
    assert decoder_with("f1", 0.3)(apart).surface == ((",",), ())
    # A trusted reader tells only of single marks: then two that are probable enough are a pair.
    shares = np.array([[0.34, 0.66], [0.22, 0.78]])
    pooled = replace(apart, strings=((",",), ()), shares=shares)
    assert decoder_with("f1", 0.3)(pooled).surface == ((",",), ())
    pooled = replace(pooled, is_read=True)
    assert decoder_with("f1", 0.3)(pooled).surface == ((",",), (",",))


@seeds
def test_no_marks_around_a_constituent_would_be_better(seed: int) -> None:
    """By the gain of all marks and of whole pairs, worked out from the draws."""
    random = np.random.default_rng(seed)
    rows = random.random((20, 5)) < random.random((20, 1))
    draws = draws_of([[[","] if comma else [] for comma in row] for row in rows], random.random(20))
    draws = replace(draws, edges=((0, 2), (1, 3), (1, 4), (2, 3)))

    def value(surface: Surface) -> float:
        pairs = 0.0
        for left, right in draws.edges:
            drawn = surfaces_of(draws)
            both = [
                weight
                for each, weight in zip(drawn, draws.weights, strict=True)
                if each[left] and each[right]
            ]
            there = bool(surface[left]) + bool(surface[right])
            pairs += sum(both) * {0: 0, 1: -1, 2: 1}[there] * (sum(both) > FAINT)
        return gain(draws, surface, {"": 0.3}) + PAIR_GAIN * pairs

    found = [tuple(slot) for slot in decoder_with("f1", 0.3)(draws).surface]
    if len(draws.strings) == 1:
        return
    for edges in draws.edges:
        for marks in product([(), (",",)], repeat=2):
            other = found[:]
            for slot, mark in zip(edges, marks, strict=True):
                other[slot] = mark
            drawn = all(
                any(each[slot] == mark for each in surfaces_of(draws)) for slot, mark in enumerate(other)
            )
            assert not drawn or value(found) >= value(other) - 1e-9


def test_regret_is_what_the_normal_approximation_expects() -> None:
    """Of 20 draws of a slot, 13 are empty and 7 are commas: the comma may yet turn out to be better."""
    gains = np.array([1.0] * 13 + [-1.0] * 7)
    true_means = np.random.default_rng(0).normal(gains.mean(), gains.std() / np.sqrt(20), 10**6)
    regret = DECODERS["mbr"](draws_of([[[]]] * 13 + [[[","]]] * 7)).regret
    assert regret == pytest.approx(np.maximum(0, -true_means).mean(), rel=0.02)


def test_regret_of_slots_adds_up_and_more_draws_lessen_it() -> None:
    one = [[[]]] * 13 + [[[","]]] * 7
    two = [[[], []]] * 13 + [[[","], [","]]] * 7
    regret = DECODERS["mbr"](draws_of(one)).regret
    assert DECODERS["mbr"](draws_of(two)).regret == pytest.approx(2 * regret)
    assert 0 < DECODERS["mbr"](draws_of(one * 10)).regret < regret / 10
    assert DECODERS["mbr"](draws_of([[[","]]] * 5)).regret == 0


@seeds
def test_weights_are_heeded(seed: int) -> None:
    """A draw of weight 3 is worth three draws; there are 64, so that sums of weights are exact."""
    draws, counts = random_draws(seed), 1 + np.random.default_rng(seed).multinomial(34, np.ones(30) / 30)
    weighted = Draws(draws.strings, draws.numbers, counts / counts.sum())
    repeated = Draws(
        draws.strings, np.repeat(draws.numbers, counts, 0), np.full(counts.sum(), 1 / counts.sum())
    )
    for decoder in DECODERS.values():
        assert decoder(weighted).risk == pytest.approx(decoder(repeated).risk, abs=1e-12)
