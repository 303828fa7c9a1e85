"""Dynamic programs of one's own: recorded in Python, differentiable, with best derivations and draws."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.inference.circuit.program import Program, finished, room
from pyropunct.inference.circuit.sums import MAX, SUM
from pyropunct.inference.circuit.tape import CELLS, DENSE, LEAVES, RESCALE, SPARSE, STEPS, TRANSPOSED

Array = NDArray[Any]


class Vector(NamedTuple):
    """The cells of a vector."""

    cell: int
    length: int


class Recorder:
    """Records a dynamic program as products of matrices and vectors (`pyropunct.inference.circuit.tape`).

    Its numbers are *given*, or are *weights* that are looked up in a list.  Results are sums of products of
    both.  An item uses one of its weights in each product: that is what decoding decides.

    :param given: how many numbers are given.
    """

    def __init__(self, given: int) -> None:
        self._one, self._cells = Vector(given, 1), given + 1
        self._steps: list[tuple[int, ...]] = []
        self._leaves: list[tuple[int, int, int, int, int]] = []  # cell, place, item, column, row
        self._places: list[tuple[int, int]] = []
        self._results: list[int] = []

    def given(self, first: int, length: int) -> Vector:
        """Some of the given numbers, as a vector."""
        return Vector(first, length)

    def dense(self, matrix: int, vector: Vector, rows: int) -> Vector:
        """M v: the rows of M lie one after the other, from this given number on."""
        return self._recorded(DENSE, rows, vector.length, matrix, vector, rows)

    def transposed(self, matrix: int, vector: Vector, columns: int) -> Vector:
        """M^T v: the rows of M lie one after the other, one for each number of v."""
        return self._recorded(TRANSPOSED, vector.length, columns, matrix, vector, columns)

    def times(self, one: Vector, other: Vector) -> Vector:
        """The products of the numbers of two vectors of the same length."""
        return self._sparse([(place, place) for place in range(one.length)], one.cell, other, one.length)

    def weights(self, item: int, places: Sequence[int]) -> Vector:
        """The weights of an item at these places of the list; a place is looked up once."""
        return self.weighed(item, places, None)

    def weighed(self, item: int, places: Sequence[int], vector: Vector | None) -> Vector:
        """The numbers of a vector, times the weights of an item at these places of the list."""
        first, self._cells = self._cells, self._cells + len(places)
        width = -len(self._leaves) - 1  # until it is known where the rows and columns of leaves start
        for number, place in enumerate(places):
            self._leaves.append((first + number, place, item, 0 if vector is None else number, number))
        return self._recorded(SPARSE, len(places), width, first, vector or self._one, len(places))

    def total(self, vector: Vector) -> Vector:
        """The sum of the numbers of a vector."""
        return self._sparse([(0, 0)] * vector.length, vector.cell, self._one, 1)

    def add_result(self, vector: Vector) -> None:
        """Let the sum of the numbers of a vector be a result."""
        self._results.append(self.total(vector).cell)

    def program(self) -> "DynamicProgram":
        """The recorded program. Raises ValueError if two of its steps look up the same weight."""
        places = [place for _, place, *_ in self._leaves]
        if len(set(places)) < len(places):
            twice = next(place for place in places if places.count(place) > 1)
            raise ValueError(f"weight {twice} is looked up twice: make it a given number")
        rows, columns = np.array(self._places).reshape(-1, 2).T
        tape = room(len(self._steps), len(self._leaves), rows, columns)
        for number, (kind, count, width, *cells) in enumerate(self._steps):
            tape.steps[number] = kind, count, width if width >= 0 else tape.leaf_place - width - 1, *cells
        for number, (*leaf, column, row) in enumerate(self._leaves):
            tape.leaf[number] = leaf
            tape.column[tape.leaf_place + number], tape.row[tape.leaf_place + number] = column, row
        tape.used[[STEPS, CELLS, LEAVES]] = len(self._steps), self._cells, len(self._leaves)
        return DynamicProgram(finished(tape, np.array(self._results)))

    def _sparse(self, places: Sequence[tuple[int, int]], matrix: int, vector: Vector, rows: int) -> Vector:
        self._places += places
        return self._recorded(SPARSE, len(places), len(self._places) - len(places), matrix, vector, rows)

    def _recorded(
        self, kind: int, count: int, width: int, matrix: int, vector: Vector, length: int
    ) -> Vector:
        target = Vector(self._cells, length)
        self._cells += length
        self._steps.append((kind, count, width, target.cell, matrix, vector.cell))
        self._steps.append((RESCALE, 1, length, target.cell, target.cell, target.cell))
        return target


class DynamicProgram(NamedTuple):
    """A recorded dynamic program of R results, items that use one weight each, and W weights."""

    recorded: Program

    def log_totals(self, given: Tensor, log_weights: Tensor) -> Tensor:
        """(R,) the logarithm of each result, in double precision; differentiable once.

        :param given: nonnegative; :param log_weights: (W,).
        """
        totals: Tensor = _LogTotals.apply(self.recorded, given, log_weights)
        return totals

    def best(self, given: Tensor, log_weights: Tensor) -> Tensor:
        """(items,) the place of the weight that each item uses in the best derivation; -1 for none."""
        return self._derived(given, log_weights, MAX, 1, None)[0]

    def draws(
        self, given: Tensor, log_weights: Tensor, draws: int, generator: torch.Generator | None = None
    ) -> Tensor:
        """(draws, items) the same in draws of derivations, in proportion to their products."""
        return self._derived(given, log_weights, SUM, draws, generator)

    def _derived(
        self,
        given: Tensor,
        log_weights: Tensor,
        semiring: np.bool_,
        count: int,
        generator: torch.Generator | None,
    ) -> Tensor:
        program = self.recorded
        values = program.values(*_numbers(given, log_weights), semiring)
        items = int(program.tape.leaf[:, 2].max(initial=-1)) + 1
        used = np.full((count, items), -1)
        seeds = torch.randint(2**32, (len(program.results),), generator=generator).numpy()
        program.derivations(values, semiring, seeds, used)
        return torch.from_numpy(used)


def _numbers(given: Tensor, log_weights: Tensor) -> tuple[Array, Array]:
    """Given numbers with 1 behind them, and weights."""
    one = given.new_ones(1, dtype=torch.double)
    numbers = torch.cat([given.detach().double(), one]), log_weights.detach().double().exp()
    return numbers[0].numpy(), numbers[1].numpy()


class _LogTotals(torch.autograd.Function):
    """`DynamicProgram.log_totals`."""

    @staticmethod
    def forward(ctx: Any, program: Program, given: Tensor, log_weights: Tensor) -> Tensor:
        values = program.values(*_numbers(given, log_weights))
        ctx.program, ctx.values = program, values
        ctx.save_for_backward(given, log_weights)
        return torch.from_numpy(program.log_results(values))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, seeds: Tensor) -> tuple[Tensor | None, ...]:
        given, log_weights = ctx.saved_tensors
        slopes = np.zeros(len(log_weights))
        of_given = ctx.program.slopes(ctx.values, seeds.numpy(), len(given), slopes)
        return None, torch.from_numpy(of_given.copy()).to(given), torch.from_numpy(slopes).to(log_weights)
