"""How the sums over all T' of a problem are computed: by the compiled loops, or by tensor operations."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor

from pyropunct.inference.chart import chart_of, recorded
from pyropunct.inference.circuit import levels, wide
from pyropunct.inference.circuit.program import Evaluation, Program, are_far
from pyropunct.inference.circuit.sums import MAX, SUM, Semiring
from pyropunct.inference.problem import Problem, Weights
from pyropunct.inference.ragged import Array
from pyropunct.inference.threads import in_threads, parts_of

TensorWeights = Weights[Tensor]
"""The numbers of a problem as tensors: double, or complex for dual numbers."""

T = TypeVar("T")

TreeRange = tuple[int, int]
"""The first of some consecutive trees, and the tree after the last."""

TensorValues = levels.Numbers | wide.Wide


class Solver(Protocol):
    """Computes sums and maxima over all T' of a problem, for double or complex (dual) weights."""

    problem: Problem
    device: torch.device

    def inside(self, weights: TensorWeights) -> tuple[Tensor, Any]:
        """(B,) log p(x | T) but for the scales of `Problem.unscaled`, and what `gradients` needs."""

    def gradients(self, weights: TensorWeights, passed: Any, seeds: Tensor) -> TensorWeights:
        """Derivatives in log p(l, r | w) and other weights of log totals times (B,) seeds."""

    def best(self, weights: TensorWeights) -> Tensor:
        """(N,) the choice of each node in the best derivation.

        It is -1 where the surface is impossible, and for an item that is not part of the best tree.
        """

    def draws(self, weights: TensorWeights, draws: int, generator: torch.Generator | None) -> Tensor:
        """(draws, N) the choices in draws from the posterior, with -1 as in `best`."""


class CircuitSolver:
    """By compiled loops on the CPU, in as many threads as torch has: for given trees and packed forests."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.device = problem, torch.device("cpu")
        self.chart = chart_of(problem)
        edges = parts_of(len(self.chart.node))
        # A program for each thread, with about equal numbers of items.
        self.borders: list[int] = np.unique(np.searchsorted(self.chart.item_start, edges)).tolist()
        programs = in_threads(lambda *trees: recorded(problem, self.chart, *trees), self.borders)
        self.programs: dict[TreeRange, Program] = dict(zip(pairwise(self.borders), programs, strict=True))

    def inside(self, weights: TensorWeights) -> tuple[Tensor, dict[TreeRange, Evaluation]]:
        """See `Solver`."""
        passed = self._values(weights, SUM)
        rows = [self.programs[trees].log_results(values) for trees, values in passed.items()]
        return torch.from_numpy(np.concatenate(rows)), passed

    def gradients(
        self, weights: TensorWeights, passed: dict[TreeRange, Evaluation], seeds: Tensor
    ) -> TensorWeights:
        """See `Solver`."""
        given, log_pairs = _given(weights).numpy(), weights.pair.numpy()
        pair = np.zeros_like(log_pairs)

        def work(first: int, last: int) -> Array:
            trees, seed = (first, last), seeds[first:last].numpy()
            return self.programs[trees].slopes(given, log_pairs, passed[trees], seed, pair)

        flows = torch.from_numpy(np.sum(self._for_each(work, passed), axis=0))
        return Weights(torch.from_numpy(pair), *flows[:-1].split([len(part) for part in weights[1:]]))

    def best(self, weights: TensorWeights) -> Tensor:
        """See `Solver`."""
        return self._derivations(weights, MAX, 1, torch.zeros(self.problem.forest.num_trees))[0]

    def draws(self, weights: TensorWeights, draws: int, generator: torch.Generator | None) -> Tensor:
        """See `Solver`."""
        seeds = torch.randint(2**32, (self.problem.forest.num_trees,), generator=generator)
        return self._derivations(weights, SUM, draws, seeds)

    def _values(self, weights: TensorWeights, semiring: Semiring) -> dict[TreeRange, Evaluation]:
        """The values of each program.

        If doubles do not suffice for all its trees, each tree gets a program of its own; consecutive trees
        that need `wide.Wide` share one.
        """
        given, log_pairs = _given(weights).numpy(), weights.pair.numpy()
        columns = given, log_pairs, semiring
        doubles = in_threads(lambda *trees: self.programs[trees].doubles(*columns), self.borders)
        passed: dict[TreeRange, Evaluation] = {}
        far: list[int] = []
        for together, values in zip(pairwise(self.borders), doubles, strict=True):
            if values is not None:
                passed[together] = values
                continue
            for trees in pairwise(range(together[0], together[1] + 1)):
                alone = self._program(*trees).doubles(*columns)
                if alone is None:
                    far.append(trees[0])
                else:
                    passed[trees] = alone
        for run in np.split(far, np.flatnonzero(np.diff(far) > 1) + 1) if far else ():
            trees = int(run[0]), int(run[-1]) + 1
            passed[trees] = self._program(*trees).wide_values(*columns)
        return dict(sorted(passed.items()))

    def _program(self, first: int, last: int) -> Program:
        """The program of some trees."""
        if (first, last) not in self.programs:
            self.programs[first, last] = recorded(self.problem, self.chart, first, last)
        return self.programs[first, last]

    def _for_each(self, work: Callable[[int, int], T], passed: dict[TreeRange, Evaluation]) -> list[T]:
        """Do work for each program, in threads unless `_values` has split one."""
        if list(passed) == list(pairwise(self.borders)):
            return in_threads(work, self.borders)
        return [work(*trees) for trees in passed]

    def _derivations(self, weights: TensorWeights, semiring: Semiring, count: int, seeds: Tensor) -> Tensor:
        passed = self._values(weights, semiring)
        used = np.full((count, self.problem.forest.num_nodes), -1)

        def work(first: int, last: int) -> None:
            program, seed = self.programs[first, last], seeds[first:last].long().numpy()
            program.derivations(passed[first, last], semiring, seed, used)

        self._for_each(work, passed)
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
        self.circuit = levels.circuit_of(program.tape, program.results, self.device)
        self.leaf = torch.from_numpy(program.tape.leaf.astype(np.int64)).to(self.device)

    def inside(self, weights: TensorWeights) -> tuple[Tensor, TensorValues]:
        """See `Solver`."""
        values = self._values(weights, SUM)
        if isinstance(values, wide.Wide):
            return values.at(self.circuit.results).log(), values
        # Each node has one vector that is rescaled, and those of a tree come one after the other.
        scales = self.problem.forest.per_tree(values.scale.log())
        totals = values.numbers[self.circuit.results]
        possible = totals.where(totals.real > 0, torch.zeros_like(totals))
        return possible.log() + scales, values

    def gradients(self, weights: TensorWeights, values: TensorValues, seeds: Tensor) -> TensorWeights:
        """See `Solver`."""
        cells, places, _ = self.leaf.unbind(1)
        if isinstance(values, levels.Numbers):
            totals = values.numbers[self.circuit.results]
            of_results = (seeds / totals).where(totals.real > 0, torch.zeros_like(totals))
            adjoint = levels.reverse(self.circuit, values, of_results)
            flows = adjoint[cells] * values.numbers[cells]
            if not adjoint.real.isfinite().all():
                values = self._wide(weights, SUM)
        if isinstance(values, wide.Wide):
            of_cells = wide.reverse(self.circuit, values, seeds)
            flows = of_cells.at(cells).times(values.at(cells)).doubles()
            adjoint = of_cells.doubles()
        pair = torch.zeros_like(weights.pair).index_copy(0, places, flows)
        sizes = [len(part) for part in weights[1:]]
        return Weights(pair, *adjoint[: sum(sizes)].split(sizes))

    def best(self, weights: TensorWeights) -> Tensor:
        """See `Solver`."""
        return self._choices(*self._weighed(weights, MAX), 1)[0]

    def draws(self, weights: TensorWeights, draws: int, generator: torch.Generator | None) -> Tensor:
        """See `Solver`."""
        is_possible, weigh = self._weighed(weights, SUM)
        noisy = levels.over_noise(weigh)
        counts = [len(part) for part in torch.arange(draws).split(levels.TOGETHER)]
        return torch.cat([self._choices(is_possible, noisy, count) for count in counts])

    def _values(self, weights: TensorWeights, semiring: Semiring) -> TensorValues:
        """As doubles, unless their range does not suffice."""
        logs = weights.pair
        if are_far(logs.real[self.leaf[:, 1]]):
            return self._wide(weights, semiring)
        numbers = logs.real.exp()
        if logs.is_complex():
            numbers = torch.complex(numbers, numbers * logs.imag)
        values = levels.evaluate(self.circuit, _given(weights), numbers, self.leaf, semiring)
        return self._wide(weights, semiring) if levels.has_left_range(self.circuit, values) else values

    def _wide(self, weights: TensorWeights, semiring: Semiring) -> wide.Wide:
        given, pair = wide.of_doubles(_given(weights)), wide.of_logs(weights.pair)
        return wide.evaluate(self.circuit, given, pair, self.leaf, semiring)

    def _weighed(self, weights: TensorWeights, semiring: Semiring) -> tuple[Tensor, levels.Weigh]:
        """Whether each result is possible, and the weights of terms."""
        values = self._values(weights, semiring)
        if isinstance(values, wide.Wide):
            return values.mantissa[self.circuit.results] > 0, wide.weighing(values)
        return values.numbers[self.circuit.results] > 0, levels.weighing(values.numbers)

    def _choices(self, is_possible: Tensor, weigh: levels.Weigh, count: int) -> Tensor:
        """(derivations, N) the pair that each node uses in each derivation, -1 for none."""
        used = levels.derivations(self.circuit, is_possible, count, weigh)
        start = torch.from_numpy(self.problem.choice_start).to(self.device)
        leaf, derivation = used[self.leaf[:, 0]].nonzero().unbind(1)
        _, place, node = self.leaf[leaf].unbind(1)
        choices = place.new_full((count, self.problem.forest.num_nodes), -1)
        choices[derivation, node] = place - start[node]
        return choices
