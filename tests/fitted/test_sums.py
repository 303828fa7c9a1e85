"""Sums that do not depend on the order."""

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from pyropunct.fitted.evaluation import ExactSum

FINITE = st.floats(-1e300, 1e300)


def summed(numbers: list[float]) -> ExactSum:
    total = ExactSum()
    for number in numbers:
        total.add(number)
    return total


@given(st.lists(FINITE), st.lists(FINITE))
def test_sums_of_parts_are_exact(one: list[float], other: list[float]) -> None:
    total = ExactSum(str(summed(one)))
    total += summed(other)
    assert Fraction(str(total)) == sum(map(Fraction, one + other))
    assert float(total) == math.fsum(other + one)


def test_infinite_numbers() -> None:
    total = summed([1.0, -math.inf, 2.0])
    assert float(total) == -math.inf == float(ExactSum(str(total)))
    total.add(math.inf)
    assert math.isnan(float(total))
    assert math.isnan(float(ExactSum(str(total))))
