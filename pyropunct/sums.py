"""Sums that do not depend on the order in which numbers are added, so that parts can be summed apart."""

import math
from fractions import Fraction

_UNIT = 1 << 1074
"""All finite numbers of double precision are multiples of 1 / this."""


class ExactSum:
    """A sum of numbers of double precision, of which nothing is rounded off.

    Infinite numbers, and what is none, count as such.

    :param text: what `str` made of another sum, with which this one begins.
    """

    def __init__(self, text: str = "0") -> None:
        self._scaled, self._strange = 0, 0.0
        try:
            self._scaled = int(Fraction(text) * _UNIT)
        except ValueError:
            self._strange = float(text)

    def add(self, number: float) -> None:
        """Add a number."""
        if math.isfinite(number):
            numerator, denominator = number.as_integer_ratio()
            self._scaled += numerator * (_UNIT // denominator)
        else:
            self._strange += number

    def __iadd__(self, other: "ExactSum") -> "ExactSum":
        self._scaled += other._scaled
        self._strange += other._strange
        return self

    def __float__(self) -> float:
        """The number of double precision that is nearest to the sum."""
        return self._scaled / _UNIT + self._strange

    def __str__(self) -> str:
        """The sum itself, as a fraction or, if it is infinite or none, by its name."""
        return str(self._strange) if self._strange else str(Fraction(self._scaled, _UNIT))
