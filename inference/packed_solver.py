"""Sums over all trees of a packed forest, over their punctemes and edits: equation 1 with T summed out.

`PackedSolver` gives latent trees all of `pyropunct.inference.inside`. Sources: Li, Wang & Eisner (2019,
section 3); Eisner & Satta (1999) for the halves of heads.
"""

from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.inference.inventory import Inventory
from pyropunct.inference.kernels.inside import MAX, SUM
from pyropunct.inference.kernels.packed import Chart, Vectors, decode_packed, inside_packed, outside_packed
from pyropunct.inference.kernels.structure import Weights
from pyropunct.inference.machines.automata import Automata
from pyropunct.inference.packed import PackedForest
from pyropunct.inference.problem import Problem
from pyropunct.inference.ragged import starts_of

Array = NDArray[Any]

OF_FOREST = Chart._fields[: Chart._fields.index("half_automaton")]
"""The fields of a `Chart` that are those of its forest."""


Passed = tuple[Array, Vectors]
"""An inside pass: the total weights of sentences, (B,), and the vectors of all halves."""


class PackedSolver:
    """A `pyropunct.inference.solvers.Solver` of latent trees, on the CPU; choice -1: an item is not part of
    T.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem, self.device = problem, torch.device("cpu")

    @cached_property
    def chart(self) -> Chart:
        """All that has no weight."""
        problem, forest, automata = self.problem, self.problem.forest, self.problem.automata
        assert isinstance(forest, PackedForest)
        inventory = problem.inventory
        tries = inventory.whole_tries[::-1]  # first the right one, as places by `on_left`
        entries = np.array([len(trie.token) for trie in tries])
        automaton = problem.slot_automaton[forest.half_slot].cpu().numpy()
        states = np.diff(automata.state_start)
        is_read = np.diff(automata.arc_start[:: automata.num_tokens]) > 0
        here = np.where(is_read[automaton], entries[forest.on_left.numpy()], 1)
        return Chart(
            **{name: getattr(forest, name).cpu().numpy() for name in OF_FOREST},
            half_automaton=automaton,
            relation=problem.relation.cpu().numpy(),
            choice_start=problem.choice_start,
            row_start=inventory.pair_start,
            entry=np.stack([trie.of_pair for trie in tries]),
            token=_stacked([trie.token for trie in tries]),
            parent=_stacked([trie.parent for trie in tries]),
            value_start=starts_of(states[automaton]),
            grown_start=starts_of(states[automaton] * here),
            state_start=automata.state_start,
            arc_start=automata.arc_start,
            arc_source=automata.source,
            arc_target=automata.target,
            num_tokens=automata.num_tokens,
            start_token=-1 if inventory.start_token is None else inventory.start_token,
            end_token=-1 if inventory.end_token is None else inventory.end_token,
        )

    def inside(self, weights: Weights[Tensor]) -> tuple[Tensor, Passed]:
        """See `pyropunct.inference.solvers.Solver`."""
        arrays, log_scale = self._scaled(weights)
        totals, vectors = self._inside(arrays, SUM)
        return torch.from_numpy(totals).log() + log_scale, (totals, vectors)

    def gradients(self, weights: Weights[Tensor], passed: Passed, seeds: Tensor) -> Weights[Tensor]:
        """See `pyropunct.inference.solvers.Solver`."""
        arrays, _ = self._scaled(weights)
        adjoint = Weights(*(np.zeros_like(values) for values in arrays))
        totals, vectors = passed
        seed = np.where(totals == 0, 0, seeds.numpy() / np.where(totals == 0, 1, totals))
        slopes = self._vectors(arrays.pair.dtype)
        outside_packed(self.chart, arrays, vectors, slopes, adjoint, seed.astype(arrays.pair.dtype))
        return Weights(*map(torch.from_numpy, (adjoint.pair * arrays.pair, *adjoint[1:])))

    def best(self, weights: Weights[Tensor]) -> Tensor:
        """See `pyropunct.inference.solvers.Solver`."""
        return self._decoded(weights, MAX, torch.zeros(1, *self._chances, dtype=torch.double))[0]

    def draws(self, weights: Weights[Tensor], draws: int, generator: torch.Generator | None) -> Tensor:
        """See `pyropunct.inference.solvers.Solver`."""
        uniform = torch.rand((draws, *self._chances), dtype=torch.double, generator=generator)
        return self._decoded(weights, SUM, uniform)

    @property
    def _chances(self) -> tuple[int, int]:
        return int(self.problem.forest.node_start[-1]), 5

    def _decoded(self, weights: Weights[Tensor], semiring: np.bool_, uniform: Tensor) -> Tensor:
        arrays, _ = self._scaled(weights)
        totals, vectors = self._inside(arrays, semiring)
        incoming = np.argsort(self.chart.target, kind="stable")
        start = np.searchsorted(self.chart.target[incoming], np.arange(len(self.chart.on_left) + 1))
        choices = np.full((len(uniform), len(self.chart.word)), -1)
        decode_packed(
            self.chart, arrays, vectors, totals, start, incoming, uniform.numpy(), semiring, choices
        )
        return torch.from_numpy(choices)

    def _inside(self, arrays: Weights[Array], semiring: np.bool_) -> Passed:
        totals = np.empty(self.problem.forest.num_trees, arrays.pair.dtype)
        vectors = self._vectors(arrays.pair.dtype)
        inside_packed(self.chart, arrays, vectors, totals, semiring)
        return totals, vectors

    def _vectors(self, kind: np.dtype[Any]) -> Vectors:
        chart = self.chart
        sizes = chart.value_start[-1], chart.grown_start[-1]
        value, grown = (np.zeros(int(size), kind) for size in sizes)
        return Vectors(value, grown, np.zeros(len(chart.on_left), np.bool_))

    def _scaled(self, weights: Weights[Tensor]) -> tuple[Weights[Array], Tensor]:
        """Weights of each word's pairs divided by the greatest, against underflow; and the log divisors."""
        forest = self.problem.forest
        word = np.repeat(self.chart.word, np.diff(self.chart.choice_start))
        pair = weights.pair.numpy()
        best = np.zeros(int(forest.node_start[-1]))
        np.maximum.at(best, word, pair.real)
        best[best == 0] = 1
        log_scale = np.add.reduceat(np.log(best), forest.node_start[:-1].numpy())
        others = (np.ascontiguousarray(values.numpy()) for values in weights[1:])
        return Weights(pair / best[word], *others), torch.from_numpy(log_scale)


def without_marks(forest: PackedForest, log_weights: Tensor) -> Problem:
    """The problem of trees alone, without punctuation, given (I,) log weights of items."""
    one, states = torch.ones(1, dtype=torch.double), np.array([0, 1])
    nothing = Automata(1, states, states * 0, states[:0], states[:0], one[:0], one, one, np.zeros(1))
    items, slots = (torch.zeros(size, dtype=torch.long) for size in (forest.num_nodes, forest.num_slots))
    return Problem(forest, Inventory(1, [[((), ())]]), items, log_weights, nothing, slots)


def _stacked(rows: list[Array]) -> Array:
    """Two rows, the shorter one filled up with 0."""
    longest = max(map(len, rows))
    return np.stack([np.pad(row, (0, longest - len(row))) for row in rows])
