"""How the sums over all T' of a problem are computed: by the compiled loops, or by tensor operations."""

from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.inference.chart import chart_of, recorded
from pyropunct.inference.circuit import levels
from pyropunct.inference.circuit.program import Program, Values
from pyropunct.inference.circuit.sums import MAX, SUM
from pyropunct.inference.problem import Problem, Weights
from pyropunct.inference.threads import in_threads, parts_of

Array = NDArray[Any]

TensorWeights = Weights[Tensor]
"""The numbers of a problem as tensors: double, or complex for dual numbers."""

TOGETHER = 62
"""How many draws tensor operations make together: each is a bit of an integer."""


class Solver(Protocol):
    """Computes sums and maxima over all T' of a problem, for double or complex (dual) weights."""

    problem: Problem
    device: torch.device

    def inside(self, weights: TensorWeights) -> tuple[Tensor, Any]:
        """log p(x | T) of each tree but for the scales of automata, (B,), and whatever `gradients` needs."""

    def gradients(self, weights: TensorWeights, passed: Any, seeds: Tensor) -> TensorWeights:
        """Derivatives in log p(l, r | w) and other weights of log totals times (B,) seeds."""

    def best(self, weights: TensorWeights) -> Tensor:
        """The choice of each node in the best derivation, (N,), -1 where the surface is impossible, or for an
        item that is not part of the best tree.
        """

    def draws(self, weights: TensorWeights, draws: int, generator: torch.Generator | None) -> Tensor:
        """(draws, N) the choices in draws from the posterior, likewise."""


class CircuitSolver:
    """By compiled loops on the CPU, in as many threads as torch has: for given trees and packed forests."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.device = problem, torch.device("cpu")
        chart = chart_of(problem)
        edges = parts_of(len(chart.node))
        # Parts with about equal numbers of items, a part for each thread.
        self.borders: list[int] = np.unique(np.searchsorted(chart.item_start, edges)).tolist()
        programs = in_threads(lambda *trees: recorded(problem, chart, *trees), self.borders)
        self.parts: dict[tuple[int, int], Program] = dict(zip(pairwise(self.borders), programs, strict=True))

    def inside(self, weights: TensorWeights) -> tuple[Tensor, list[Values]]:
        """See `Solver`."""
        passed = self._values(weights, SUM)
        rows = [part.log_results(values) for part, values in zip(self.parts.values(), passed, strict=True)]
        return torch.from_numpy(np.concatenate(rows)), passed

    def gradients(self, weights: TensorWeights, passed: list[Values], seeds: Tensor) -> TensorWeights:
        """See `Solver`."""
        given, pair = _given(weights).numpy(), np.zeros_like(weights.pair.numpy())
        values = dict(zip(self.borders, passed, strict=False))

        def work(first: int, last: int) -> Array:
            part, seed = self.parts[first, last], seeds[first:last].numpy()
            return part.slopes(values[first], seed, len(given), pair)

        flows = torch.from_numpy(np.sum(in_threads(work, self.borders), axis=0))
        return Weights(torch.from_numpy(pair), *flows[:-1].split([len(part) for part in weights[1:]]))

    def best(self, weights: TensorWeights) -> Tensor:
        """See `Solver`."""
        return self._derivations(weights, MAX, 1, torch.zeros(self.problem.forest.num_trees))[0]

    def draws(self, weights: TensorWeights, draws: int, generator: torch.Generator | None) -> Tensor:
        """See `Solver`."""
        seeds = torch.randint(2**32, (self.problem.forest.num_trees,), generator=generator)
        return self._derivations(weights, SUM, draws, seeds)

    def _values(self, weights: TensorWeights, semiring: np.bool_) -> list[Values]:
        given, pair = _given(weights).numpy(), weights.pair.numpy()
        return in_threads(lambda *trees: self.parts[trees].values(given, pair, semiring), self.borders)

    def _derivations(self, weights: TensorWeights, semiring: np.bool_, count: int, seeds: Tensor) -> Tensor:
        values = dict(zip(self.borders, self._values(weights, semiring), strict=False))
        used = np.full((count, self.problem.forest.num_nodes), -1)

        def work(first: int, last: int) -> None:
            part, seed = self.parts[first, last], seeds[first:last].long().numpy()
            part.derivations(values[first], semiring, seed, used)

        in_threads(work, self.borders)
        return torch.from_numpy(np.where(used < 0, -1, used - self.problem.choice_start[:-1]))


def _given(weights: TensorWeights) -> Tensor:
    """The first cells of a program."""
    return torch.cat([*weights[1:], weights.arc.new_ones(1)])


class TensorSolver:
    """By tensor operations on the device of ``problem.log_pairs``, for given trees.

    On a GPU the last digit may differ between calls, unless torch is told to be deterministic.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem, self.device = problem, problem.log_pairs.device
        program = recorded(problem, chart_of(problem), 0, problem.forest.num_trees)
        self.circuit = levels.circuit_of(program, self.device)
        self.leaf = torch.from_numpy(program.tape.leaf.astype(np.int64)).to(self.device)

    def inside(self, weights: TensorWeights) -> tuple[Tensor, levels.Numbers]:
        """See `Solver`."""
        values = self._values(weights, levels.total)
        # Each node has one vector that is rescaled, and those of a tree come one after the other.
        scales = self.problem.forest.per_tree(values.scale.log())
        totals = values.numbers[self.circuit.results]
        possible = totals.where(totals.real > 0, torch.zeros_like(totals))
        return possible.log() + scales, values

    def gradients(self, weights: TensorWeights, values: levels.Numbers, seeds: Tensor) -> TensorWeights:
        """See `Solver`."""
        totals = values.numbers[self.circuit.results]
        seeds = (seeds / totals).where(totals.real > 0, torch.zeros_like(totals))
        adjoint = levels.reverse(self.circuit, values, seeds)
        cells, places, _ = self.leaf.unbind(1)
        flows = adjoint[cells] * values.numbers[cells]
        pair = torch.zeros_like(weights.pair).index_copy(0, places, flows)
        sizes = [len(part) for part in weights[1:]]
        return Weights(pair, *adjoint[: sum(sizes)].split(sizes))

    def best(self, weights: TensorWeights) -> Tensor:
        """See `Solver`."""
        numbers = self._values(weights, levels.greatest).numbers
        return self._choices(levels.derivations(self.circuit, numbers, 1, lambda weight: weight), 1)[0]

    def draws(self, weights: TensorWeights, draws: int, generator: torch.Generator | None) -> Tensor:
        """See `Solver`."""
        numbers = self._values(weights, levels.total).numbers
        counts = [len(part) for part in torch.arange(draws).split(TOGETHER)]
        used = (levels.derivations(self.circuit, numbers, count, levels.over_noise) for count in counts)
        return torch.cat([self._choices(some, count) for some, count in zip(used, counts, strict=True)])

    def _values(self, weights: TensorWeights, add: levels.Add) -> levels.Numbers:
        return levels.evaluate(self.circuit, _given(weights), weights.pair, self.leaf, add)

    def _choices(self, used: Tensor, count: int) -> Tensor:
        """The choice of each node in each derivation, (derivations, N): the pair used, -1 for none."""
        start = torch.from_numpy(self.problem.choice_start).to(self.device)
        leaf, derivation = levels.bits(used[self.leaf[:, 0]], count)
        _, place, node = self.leaf[leaf].unbind(1)
        choices = place.new_full((count, self.problem.forest.num_nodes), -1)
        choices[derivation, node] = place - start[node]
        return choices
