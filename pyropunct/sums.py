"""Sums that do not depend on the order in which numbers are added, so that parts can be summed apart."""

import math
from fractions import Fraction

_UNIT = 1 << 1074
"""All finite numbers of double precision are multiples of 1 / this."""


class ExactSum:
    """An exact sum of numbers of double precision: nothing is rounded off.

    Infinities and NaN stay what they are.

    :param text: another sum as `str` writes it; this sum begins with it.
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
        """The sum itself: a fraction, or the name of an infinity or NaN."""
        return str(self._strange) if self._strange else str(Fraction(self._scaled, _UNIT))
