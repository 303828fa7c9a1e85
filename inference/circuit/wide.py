"""A program for numbers of any size, level by level: where doubles would be too small or too large.

A number is m 2^e, with an exponent e of its own.  So it is computed in log space as far as its size goes, and
may still be negative, or dual (complex), as derivatives are.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from pyropunct.inference.circuit.levels import Circuit, Weigh, add
from pyropunct.inference.circuit.sums import SUM, Semiring


class Wide(NamedTuple):
    """Numbers m 2^e.

    :ivar mantissa: 0, or from 1/2 to 1 in absolute value; of complex numbers, the greater part is.
    :ivar exponent: whole numbers, as doubles; minus infinity where the mantissa is 0.
    """

    mantissa: Tensor
    exponent: Tensor

    def at(self, place: Tensor) -> "Wide":
        """The numbers at some places."""
        return Wide(self.mantissa.index_select(0, place), self.exponent.index_select(0, place))

    def put(self, place: Tensor, numbers: "Wide") -> None:
        """Write numbers to some places."""
        self.mantissa.index_copy_(0, place, numbers.mantissa)
        self.exponent.index_copy_(0, place, numbers.exponent)

    def times(self, other: "Wide") -> "Wide":
        """The products."""
        return normal(self.mantissa * other.mantissa, self.exponent + other.exponent)

    def over(self, other: "Wide") -> "Wide":
        """The quotients; 0 for numbers over 0."""
        is_zero = other.mantissa == 0
        quotient = (self.mantissa / other.mantissa).masked_fill(is_zero, 0)
        return normal(quotient, self.exponent - other.exponent.masked_fill(is_zero, 0))

    def scaled(self, exponent: Tensor) -> Tensor:
        """As doubles, in multiples of 2^``exponent``."""
        return _shifted(self.mantissa, (self.exponent - exponent).nan_to_num(nan=0.0))

    def doubles(self) -> Tensor:
        """As doubles: very small numbers become 0, and large ones less than 2^1024."""
        return self._replace(exponent=self.exponent.clamp(max=1024)).scaled(torch.zeros_like(self.exponent))

    def log(self) -> Tensor:
        """The logarithms: minus infinity, without a slope, for numbers that are not positive."""
        is_positive = self.mantissa.real > 0
        logs = self.mantissa.where(is_positive, 1).log() + math.log(2) * self.exponent
        return logs.where(is_positive, -torch.inf)


def _shifted(mantissa: Tensor, exponent: Tensor) -> Tensor:
    """m 2^e in two steps, as 2^e may be out of range where the product is not."""
    half = (exponent.clamp(-2200, 2200) / 2).floor()
    return mantissa * torch.exp2(half) * torch.exp2(exponent.clamp(-2200, 2200) - half)


def normal(mantissa: Tensor, exponent: Tensor) -> Wide:
    """The numbers m 2^e for any m."""
    parts = torch.view_as_real(mantissa) if mantissa.is_complex() else mantissa[..., None]
    size = parts.abs().amax(-1)
    shift = torch.frexp(size)[1].to(size)
    return Wide(_shifted(mantissa, -shift), (exponent + shift).masked_fill(size == 0, -torch.inf))


def of_doubles(numbers: Tensor) -> Wide:
    """Numbers that were doubles."""
    return normal(numbers, torch.zeros_like(numbers.real))


def of_logs(logs: Tensor) -> Wide:
    """The exponentials of numbers; complex numbers are dual."""
    is_zero = logs.real == -torch.inf
    logs = logs.masked_fill(is_zero, 0)
    exponent = (logs.real / math.log(2)).round()
    rest = (logs.real - math.log(2) * exponent).clamp(-1, 1)  # of huge numbers, no digit of it is known
    mantissa = torch.complex(rest, logs.imag) if logs.is_complex() else rest
    return normal(mantissa.exp().masked_fill(is_zero, 0), exponent)


def _add(numbers: Wide, place: Tensor, terms: Wide, semiring: Semiring) -> None:
    """Add terms to the numbers at their places, in a semiring."""
    places, index = torch.unique(place.long(), return_inverse=True)
    before = numbers.at(places)
    exponent = before.exponent.scatter_reduce(0, index, terms.exponent, "amax")
    result = before.scaled(exponent)
    add(result, index, terms.scaled(exponent[index]), semiring)
    numbers.put(places, normal(result, exponent))


def evaluate(circuit: Circuit, given: Wide, weights: Wide, leaf: Tensor, semiring: Semiring) -> Wide:
    """Compute all numbers; see `pyropunct.inference.circuit.levels.evaluate`."""
    numbers = of_doubles(given.mantissa.new_zeros(circuit.size))
    numbers.put(torch.arange(len(given.mantissa), device=leaf.device), given)
    numbers.put(leaf[:, 0], weights.at(leaf[:, 1]))
    for level in circuit.levels:
        _add(numbers, level.target, numbers.at(level.first).times(numbers.at(level.second)), semiring)
    return numbers


def reverse(circuit: Circuit, numbers: Wide, seeds: Tensor) -> Wide:
    """The adjoints of all numbers, for seeds of the logarithms of the results."""
    adjoint = of_doubles(torch.zeros_like(numbers.mantissa))
    of_results = of_doubles(seeds.to(numbers.mantissa)).over(numbers.at(circuit.results))
    _add(adjoint, circuit.results, of_results, SUM)
    for level in reversed(circuit.levels):
        flow = adjoint.at(level.target)
        _add(adjoint, level.first, flow.times(numbers.at(level.second)), SUM)
        _add(adjoint, level.second, flow.times(numbers.at(level.first)), SUM)
    return adjoint


def weighing(numbers: Wide) -> Weigh:
    """The weights of terms in multiples of about the greatest one of their group, as doubles."""

    def weigh(first: Tensor, second: Tensor, group: Tensor) -> Tensor:
        terms = numbers.at(first).times(numbers.at(second))
        greatest = torch.full_like(terms.exponent, -torch.inf)
        return terms.scaled(greatest.scatter_reduce(0, group, terms.exponent, "amax")[group])

    return weigh
