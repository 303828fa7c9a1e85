"""The circuit of Algorithm 1, evaluated in a semiring and reversed, by tensor operations on any device.

As in pytorch-struct (Rush 2020), the semiring is an argument.  The "gradients" of the total in p(l, r | w)
are the posterior of each pair for sums, 1 for the pairs of the best derivation for maxima, and 1 for the
pairs drawn for draws.  Expectations come from dual numbers, as in the kernels.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from pyropunct.inference.kernels.structure import Weights
from pyropunct.inference.problem import Problem
from pyropunct.inference.solvers import TensorWeights
from pyropunct.inference.tensors.circuit import Circuit, circuit_of

TOGETHER = 62
"""How many draws are made together: each is a bit of an integer."""

Add = Callable[[Tensor, Tensor, Tensor], object]
"""Adds terms to the numbers at their places, in place."""


def total(numbers: Tensor, place: Tensor, terms: Tensor) -> None:
    """The sum semiring: of real or of dual numbers."""
    numbers.index_add_(0, place, terms)


def greatest(numbers: Tensor, place: Tensor, terms: Tensor) -> None:
    """The max semiring."""
    numbers.scatter_reduce_(0, place.long(), terms, "amax")


class Values(NamedTuple):
    """All numbers of a circuit, and the scale of each node: its result has been divided by that."""

    numbers: Tensor
    scale: Tensor


def evaluate(circuit: Circuit, weights: TensorWeights, add: Add) -> Values:
    """Compute all numbers, level by level, in the semiring `total` or `greatest`."""
    leaves = torch.cat([*weights, weights.pair.new_ones(1)])
    numbers = leaves.new_zeros(circuit.size)
    numbers[: len(leaves)] = leaves
    scale = leaves.real.new_full((circuit.nodes,), torch.finfo(torch.double).tiny)
    for level in circuit.levels:
        terms = numbers.index_select(0, level.first).mul_(numbers.index_select(0, level.second))
        add(numbers, level.target, terms)
        if len(level.node):
            result = numbers.index_select(0, level.result)
            scale.scatter_reduce_(0, level.node, result.real, "amax")
            numbers.index_copy_(0, level.result, result / scale.index_select(0, level.node))
    return Values(numbers, scale)


def reverse(circuit: Circuit, values: Values, seeds: Tensor) -> Tensor:
    """The adjoints of all numbers, from those of the totals; scales count as constants."""
    numbers, scale = values
    adjoint = torch.zeros_like(numbers)
    adjoint[circuit.totals] = seeds
    for level in reversed(circuit.levels):
        if len(level.node):
            flow = adjoint.index_select(0, level.result) / scale.index_select(0, level.node)
            adjoint.index_copy_(0, level.result, flow)
        flow = adjoint.index_select(0, level.target)
        adjoint.index_add_(0, level.first, flow * numbers.index_select(0, level.second))
        adjoint.index_add_(0, level.second, flow * numbers.index_select(0, level.first))
    return adjoint


def derivations(circuit: Circuit, numbers: Tensor, count: int, noisy: Callable[[Tensor], Tensor]) -> Tensor:
    """The derivations that use each number, as bits; ``noisy`` changes weights before the maximum."""
    used = torch.zeros_like(numbers, dtype=torch.long)
    used[circuit.totals] = (numbers[circuit.totals] > 0) * ((1 << count) - 1)
    for level in reversed(circuit.levels):
        term, bit = _bits(used.index_select(0, level.target), count)
        target, first, second = (column[term] for column in level[:3])
        weight = noisy(numbers[first] * numbers[second])
        chosen = _first_of_greatest(weight, target.long() * count + bit)
        bit = 1 << bit[chosen]
        # A derivation uses each number once, except for weights of the channel, which nobody asks for.
        used.index_add_(0, first[chosen], bit)
        used.index_add_(0, second[chosen], bit)
    return used


def _bits(numbers: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The bits that are set, up to a count: the places of their numbers, and which bits."""
    place = numbers.nonzero()[:, 0]
    bits = numbers[place][:, None] >> torch.arange(count, device=numbers.device)
    row, bit = (bits & 1).nonzero().unbind(1)
    return place[row], bit


def _first_of_greatest(weight: Tensor, group: Tensor) -> Tensor:
    """The place of the greatest weight in each group, of several the first."""
    groups, group = torch.unique(group, return_inverse=True)
    best = weight.new_zeros(len(groups)).scatter_reduce_(0, group, weight, "amax")
    place = torch.arange(len(weight), device=weight.device).where(weight == best[group], len(weight))
    return place.new_full((len(groups),), len(weight)).scatter_reduce_(0, group, place, "amin")


def _over_noise(weight: Tensor) -> Tensor:
    """Weights whose greatest is a draw in proportion to them: w_i / e_i for exponential noise e."""
    return weight / torch.empty_like(weight).exponential_()


class TensorSolver:
    """A `pyropunct.inference.solvers.Solver` by tensor operations on the device of ``problem.log_pairs``.

    On a GPU the last digit may differ between calls, unless torch is told to be deterministic.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem, self.device = problem, problem.log_pairs.device
        self.circuit = circuit_of(problem, self.device)

    def inside(self, weights: TensorWeights) -> tuple[Tensor, Values]:
        """See `pyropunct.inference.solvers.Solver`."""
        values = evaluate(self.circuit, weights, total)
        scales = self.problem.forest.per_tree(values.scale.log())
        totals = values.numbers[self.circuit.totals]
        possible = totals.where(totals.real > 0, torch.zeros_like(totals))
        return possible.log() + scales, values

    def gradients(self, weights: TensorWeights, values: Values, seeds: Tensor) -> TensorWeights:
        """See `pyropunct.inference.solvers.Solver`."""
        totals = values.numbers[self.circuit.totals]
        seeds = (seeds / totals).where(totals.real > 0, torch.zeros_like(totals))
        leaves = reverse(self.circuit, values, seeds)[: sum(self.circuit.leaves)]
        pair, *others = leaves.split(self.circuit.leaves)
        return Weights(pair * weights.pair, *others)

    def best(self, weights: TensorWeights) -> Tensor:
        """See `pyropunct.inference.solvers.Solver`."""
        values = evaluate(self.circuit, weights, greatest)
        return self._choices(derivations(self.circuit, values.numbers, 1, lambda weight: weight), 1)[0]

    def draws(self, weights: TensorWeights, draws: int, generator: torch.Generator | None) -> Tensor:
        """See `pyropunct.inference.solvers.Solver`."""
        numbers = evaluate(self.circuit, weights, total).numbers
        counts = [len(part) for part in torch.arange(draws).split(TOGETHER)]
        return torch.cat(
            [self._choices(derivations(self.circuit, numbers, count, _over_noise), count) for count in counts]
        )

    def _choices(self, used: Tensor, count: int) -> Tensor:
        """The choice of each node in each derivation, (derivations, N): the pair used, -1 for none."""
        start = torch.from_numpy(self.problem.choice_start).to(self.device)
        place, derivation = _bits(used[: self.circuit.leaves[0]], count)
        node = torch.searchsorted(start, place, right=True) - 1
        choices = place.new_full((count, self.circuit.nodes), -1)
        choices[derivation, node] = place - start[node]
        return choices
