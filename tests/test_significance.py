"""The paired permutation test against enumeration, and as a test: under the null hypothesis and beyond."""

import itertools
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyropunct import significance
from pyropunct.significance import f1, permutation_test

pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=9)


def enumerated(
    one: list[list[int]], other: list[list[int]], statistic: Callable[[list[int]], Fraction]
) -> float:
    """The p-value from its definition: swap the systems in every set of sentences, in exact arithmetic."""

    def gap(swaps: tuple[bool, ...]) -> Fraction:
        first = [b if swap else a for a, b, swap in zip(one, other, swaps, strict=True)]
        second = [a if swap else b for a, b, swap in zip(one, other, swaps, strict=True)]
        columns = range(len(one[0]))
        return abs(
            statistic([sum(row[column] for row in first) for column in columns])
            - statistic([sum(row[column] for row in second) for column in columns])
        )

    every = list(itertools.product([False, True], repeat=len(one)))
    observed = gap(every[0])
    return sum(gap(swaps) >= observed for swaps in every) / len(every)


@given(pairs.filter(bool))
def test_few_sentences_are_tested_exactly(some: list[tuple[int, int]]) -> None:
    one, other = zip(*some, strict=True)
    expected = enumerated([[a] for a in one], [[b] for b in other], lambda totals: Fraction(totals[0]))
    assert permutation_test(one, other) == expected


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 4), min_size=1, max_size=8))
def test_f1_is_tested_exactly(rows: list[tuple[int, int, int, int]]) -> None:
    """Two systems that restore some marks, more or less of them right, of the same true marks."""
    one = [[gold + 1, right + wrong, min(right, gold + 1)] for gold, right, wrong, _ in rows]
    other = [[gold + 1, right + wrong, min(right, gold + 1)] for gold, wrong, _, right in rows]

    def exact(totals: list[int]) -> Fraction:
        return Fraction(2 * totals[2], totals[0] + totals[1])

    assert permutation_test(one, other, statistic=f1) == enumerated(one, other, exact)


def test_a_worked_example() -> None:
    """Of the sums 1 + 2 + 4 under 8 sign patterns only two are as far from 0 as 7, and four as far as 5."""
    assert permutation_test([1, 2, 4, 6], [0, 0, 0, 6]) == 2 / 8
    assert permutation_test([0, 2, 4, 6], [1, 0, 0, 6]) == 4 / 8


def test_equal_systems_do_not_differ() -> None:
    assert permutation_test([3.5, 1.0], [3.5, 1.0]) == 1
    assert permutation_test([], []) == 1
    assert permutation_test([1, 2], [2, 1]) == 1


def test_draws_come_close_to_enumeration(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    for size in (5, 9, 14):
        one, other = random.poisson(1.0, size), random.poisson(1.5, size)
        exact = permutation_test(one, other)
        with monkeypatch.context() as patch:
            patch.setattr(significance, "EXACT", -1)
            drawn = permutation_test(one, other, 40_000)
        assert drawn == pytest.approx(exact, abs=4 * (exact * (1 - exact) / 40_000) ** 0.5 + 1e-4)


def test_sums_of_real_numbers_that_are_equal_but_for_rounding() -> None:
    """Enumeration counts a pattern and its opposite, whatever the order of summation."""
    random = np.random.default_rng(0)
    for _ in range(50):
        differences = -random.exponential(3.0, 12)
        assert permutation_test(differences - 40, np.full(12, -40.0)) == 2 / 2**12


@given(st.lists(st.tuples(st.floats(-50, 0), st.floats(-50, 0)), min_size=15, max_size=40), st.integers(0, 9))
def test_symmetric_and_repeatable(some: list[tuple[float, float]], seed: int) -> None:
    one, other = zip(*some, strict=True)
    p = permutation_test(one, other, 200, seed=seed)
    assert p == permutation_test(other, one, 200, seed=seed)
    assert 1 / 201 <= p <= 1


def test_blocks_bound_the_memory_and_change_nothing_but_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = np.random.default_rng(5).poisson(1.0, (2, 300))
    whole = permutation_test(one, other, 3000)
    sizes = []
    sums = significance._sums

    def watched(differences: np.ndarray, minus: np.ndarray) -> np.ndarray:
        sizes.append(minus.size)
        return sums(differences, minus)

    monkeypatch.setattr(significance, "CELLS_AT_ONCE", 10_000)
    monkeypatch.setattr(significance, "_sums", watched)
    blocks = permutation_test(one, other, 3000)
    assert max(sizes) <= 10_000
    assert sum(sizes) == 3000 * np.count_nonzero(one != other)
    assert blocks == pytest.approx(whole, abs=0.05)


def test_p_is_uniform_under_the_null_hypothesis() -> None:
    """Of 400 pairs of equally good systems: within four standard errors at some levels."""
    random = np.random.default_rng(11)
    values = np.array(
        [permutation_test(*random.normal(size=(2, 60)), 400, seed=number) for number in range(400)]
    )
    for level in (0.05, 0.2, 0.5, 0.8):
        error = (level * (1 - level) / len(values)) ** 0.5
        assert (values <= level).mean() == pytest.approx(level, abs=4 * error)


def test_a_clear_difference_is_found() -> None:
    random = np.random.default_rng(2)
    base = random.normal(size=500)
    assert permutation_test(base + 0.2 + 0.1 * random.normal(size=500), base) == 1 / 10_001
    better = base + 0.02 * random.normal(size=500)
    assert permutation_test(better, base) > 0.001


def test_pairs_are_needed() -> None:
    with pytest.raises(ValueError, match=r"shapes \(2, 1\) and \(3, 1\) make no pairs"):
        permutation_test([1, 2], [1, 2, 3])


@pytest.mark.parametrize("number", [-np.inf, np.nan])
def test_numbers_must_be_finite(number: float) -> None:
    with pytest.raises(ValueError, match="not finite"):
        permutation_test([1.0, number] * 10, [2.0] * 20)


def test_the_statistic_must_be_finite() -> None:
    """A ratio that is 1 for both systems, but 0 / 0 after some permutations."""
    rows = np.array([[0.0, 0.0], [1.0, 1.0]])

    def ratio(totals: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return totals[..., 0] / totals[..., 1]

    with pytest.raises(ValueError, match="the statistic of some totals is not finite"):
        permutation_test(rows, rows[::-1], statistic=ratio)
