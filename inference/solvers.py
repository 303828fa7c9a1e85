"""How the sums over all T' of a problem are computed: by the compiled kernels, or by tensor operations."""

from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.inference.kernels import decode, inside, outside
from pyropunct.inference.kernels.inside import MAX, SUM
from pyropunct.inference.kernels.structure import Weights
from pyropunct.inference.kernels.workspace import Workspaces
from pyropunct.inference.problem import Problem
from pyropunct.inference.threads import in_threads, parts_of

Array = NDArray[Any]

TensorWeights = Weights[Tensor]
"""The numbers of a problem as tensors: double, or complex for dual numbers."""


class Solver(Protocol):
    """Computes sums and maxima over all T' of a problem, for double or complex (dual) weights."""

    problem: Problem
    device: torch.device

    def inside(self, weights: TensorWeights) -> tuple[Tensor, Any]:
        """log p(x | T) of each tree but for the scales of automata, (B,), and whatever `gradients` needs."""

    def gradients(self, weights: TensorWeights, passed: Any, seeds: Tensor) -> TensorWeights:
        """Derivatives in log p(l, r | w) and other weights of log totals times (B,) seeds."""

    def best(self, weights: TensorWeights) -> Tensor:
        """The choice of each node in the best derivation, (N,), -1 where the surface is impossible."""

    def draws(self, weights: TensorWeights, draws: int, generator: torch.Generator | None) -> Tensor:
        """(draws, N) the choices in draws from the posterior, -1 where the surface is impossible."""


Passed = dict[int, Workspaces]
"""An inside pass over all trees: by its first tree, the workspaces of each thread's part of the forest."""


class KernelSolver:
    """By the compiled kernels on the CPU, in as many threads as torch has."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.device = problem, torch.device("cpu")

    def inside(self, weights: TensorWeights) -> tuple[Tensor, Passed]:
        """See `Solver`."""
        structure, arrays, borders = self.problem.flat_structure, _arrays(weights), self._borders()
        totals = np.empty(self.problem.forest.num_trees, arrays.pair.dtype)

        def work(first: int, last: int) -> Workspaces:
            return inside.inside_pass(structure, arrays, first, last, totals)

        return torch.from_numpy(totals), dict(zip(borders, in_threads(work, borders), strict=False))

    def gradients(self, weights: TensorWeights, passed: Passed, seeds: Tensor) -> TensorWeights:
        """See `Solver`."""
        structure, arrays, seed = self.problem.flat_structure, _arrays(weights), seeds.numpy()
        pair = np.zeros_like(arrays.pair)  # each node has its part; all other weights have many users

        def work(first: int, last: int) -> Weights[Array]:
            gradients = Weights(pair, *(np.zeros_like(values) for values in arrays[1:]))
            outside.add_gradients(structure, arrays, passed[first], last, seed, gradients)
            return gradients

        parts = in_threads(work, [*passed, self.problem.forest.num_trees])
        sums = (np.sum([part[field] for part in parts], axis=0) for field in (1, 2, 3))
        return Weights(*map(torch.from_numpy, (pair, *sums)))

    def best(self, weights: TensorWeights) -> Tensor:
        """See `Solver`."""
        return self._decoded(weights, MAX, torch.zeros(1, *self._chances(), dtype=torch.double))[0]

    def draws(self, weights: TensorWeights, draws: int, generator: torch.Generator | None) -> Tensor:
        """See `Solver`."""
        uniform = torch.rand((draws, *self._chances()), dtype=torch.double, generator=generator)
        return self._decoded(weights, SUM, uniform)

    def _chances(self) -> tuple[int, int]:
        return self.problem.forest.num_nodes, 3 + 2 * self.problem.inventory.longest

    def _decoded(self, weights: TensorWeights, semiring: np.bool_, uniform: Tensor) -> Tensor:
        structure, arrays, chance = self.problem.structure, _arrays(weights), uniform.numpy()
        flat, choices = self.problem.flat_structure, np.empty(chance.shape[:2], np.int64)
        sums = structure.pair_start, structure.arc_start, structure.state_start
        most = int(max(np.diff(starts).max() for starts in sums))

        def work(first: int, last: int) -> None:
            decode.decode(flat, arrays, first, last, semiring, chance, most, choices)

        in_threads(work, self._borders())
        return torch.from_numpy(choices)

    def _borders(self) -> list[int]:
        """The borders of parts of the forest with about equal numbers of nodes, a part for each thread."""
        edges = parts_of(self.problem.forest.num_nodes)
        return np.unique(np.searchsorted(self.problem.structure.node_start, edges)).tolist()


def _arrays(weights: TensorWeights) -> Weights[Array]:
    return Weights(*(np.ascontiguousarray(values.numpy()) for values in weights))
