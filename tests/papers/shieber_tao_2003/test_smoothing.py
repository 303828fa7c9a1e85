"""Distributions with backoff: they sum to 1, and agree with the formulas computed by hand."""

from collections.abc import Sequence

import numpy as np
import pytest

from pyropunct.papers.shieber_tao_2003.smoothing import (
    SMOOTHINGS,
    Backoff,
    HistoryLevel,
    Integers,
    Katz,
    WittenBell,
    discounts,
)

SIZES = (3, 4, 6)


def events(rows: Sequence[Sequence[int]]) -> Integers:
    return np.array(rows, np.int64)


def drawn(number: int) -> Integers:
    generator = np.random.default_rng(number)
    return np.minimum(generator.geometric(0.4, (number, 3)) - 1, np.array(SIZES) - 1)


@pytest.mark.parametrize("smoothing", SMOOTHINGS.values())
@pytest.mark.parametrize("number", [1, 7, 200, 5000])
def test_distributions_sum_to_1_in_contexts_seen_and_unseen(
    smoothing: type[HistoryLevel], number: int
) -> None:
    found = Backoff(smoothing, drawn(number), SIZES)
    everything = np.indices(SIZES).reshape(3, -1).T
    probabilities = found.probability(everything).reshape(SIZES)
    assert (probabilities > 0).all()
    np.testing.assert_allclose(probabilities.sum(-1), 1, rtol=1e-12)


def test_witten_bell_by_hand() -> None:
    found = Backoff(WittenBell, events([(0, 1), (0, 1), (0, 2), (1, 2)]), (3, 4))
    unigram = [(0 + 2 / 4) / 6, (2 + 2 / 4) / 6, (2 + 2 / 4) / 6, (0 + 2 / 4) / 6]  # of 4 events of 2 types
    in_0 = [2 * unigram[0] / 5, (2 + 2 * unigram[1]) / 5, (1 + 2 * unigram[2]) / 5, 2 * unigram[3] / 5]
    np.testing.assert_allclose(found.probability(events([(0, y) for y in range(4)])), in_0)
    np.testing.assert_allclose(found.probability(events([(2, y) for y in range(4)])), unigram)  # never seen


def test_all_types_of_a_context_count() -> None:
    found = Backoff(WittenBell, events([(y,) for y in range(9)]), (12,))
    expected = [(1 + 9 / 12) / (9 + 9)] * 9 + [9 / 12 / (9 + 9)] * 3
    np.testing.assert_allclose(found.probability(events([(y,) for y in range(12)])), expected)


def test_katz_by_hand() -> None:
    # Without counts of 2 there are no discounts; one unseen outcome is taken to be seen in each context.
    found = Backoff(Katz, events([(0, 1), (0, 2), (1, 0)]), (2, 4))
    # So p(y) = 1/4 for each of the three that were seen, and for the rest; it divides what is left.
    in_0 = [1 / 3 * 0.5, 1 / 3, 1 / 3, 1 / 3 * 0.5]
    in_1 = [1 / 2, 1 / 2 / 3, 1 / 2 / 3, 1 / 2 / 3]
    np.testing.assert_allclose(found.probability(events([(0, y) for y in range(4)])), in_0)
    np.testing.assert_allclose(found.probability(events([(1, y) for y in range(4)])), in_1)


def test_discounts_of_good_and_turing() -> None:
    seen = {1: 400, 2: 120, 3: 60, 4: 36, 5: 24, 6: 17, 7: 13, 8: 10, 9: 1}
    found = discounts(np.repeat(list(seen), list(seen.values())))
    trusted = 8 * 10 / 400
    assert found[0] == pytest.approx((2 * 120 / 400 - trusted) / (1 - trusted))
    assert found[400] == pytest.approx((3 * 60 / 120 / 2 - trusted) / (1 - trusted))
    assert found[-2:].tolist() == [1, 1]


def test_fewer_counts_are_discounted_where_some_never_occur() -> None:
    seen = {1: 400, 2: 120, 3: 60, 8: 10}
    trusted = 3 * 60 / 400
    expected = [(2 * 120 / 400 - trusted) / (1 - trusted), (3 * 60 / 120 / 2 - trusted) / (1 - trusted), 1, 1]
    found = discounts(np.repeat(list(seen), list(seen.values())))
    np.testing.assert_allclose(found[[0, 400, 520, -1]], expected)


def test_the_last_context_is_kept_longest() -> None:
    found = Backoff(WittenBell, events([(0, 0, 1), (1, 1, 2)]), SIZES)
    last_kept = found.probability(events([(2, 0, 1), (2, 1, 1)]))
    assert last_kept[0] > last_kept[1]
    first_alone = found.probability(events([(0, 3, 1), (1, 3, 1)]))
    assert first_alone[0] == first_alone[1]


def test_numbers_that_are_too_large_are_refused() -> None:
    with pytest.raises(ValueError, match="invalid entry"):
        Backoff(WittenBell, events([(0, 9)]), (3, 4))
