"""Dynamic programs of one's own: recorded in Python, differentiable, with best derivations and draws."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from pyropunct.inference.circuit.program import Program, finished, room
from pyropunct.inference.circuit.sums import MAX, SUM, Semiring
from pyropunct.inference.circuit.tape import ADDED, CELLS, DENSE, LEAVES, RESCALE, SPARSE, STEPS, TRANSPOSED
from pyropunct.inference.ragged import Array


class Vector(NamedTuple):
    """The cells of a vector of a `Recorder`."""

    recorder: "Recorder"
    cell: int
    length: int


class Recorder:
    """Records a dynamic program as products of matrices and vectors (`pyropunct.inference.circuit.tape`).

    Its numbers are *given*, or are *weights* that are looked up in a list.  Results are sums of products of
    both.  An item uses one of its weights in each product: that is what decoding decides.  All methods raise
    ValueError where lengths do not fit, or for a vector of another recorder.

    :param given: how many numbers are given.  Each step may read any of them, again and again.
    :param weights: how many weights the list has; by default, as many as are looked up.
    :raises ValueError: if one of them is negative.
    """

    def __init__(self, given: int, weights: int | None = None) -> None:
        for what, count in (("given numbers", given), ("weights", weights or 0)):
            if count < 0:
                raise ValueError(f"a Recorder of {count} {what}: there may be none, but not fewer")
        self._given, self._weights = given, weights
        self._one, self._cells = Vector(self, given, 1), given + 1
        self._steps: list[tuple[int, ...]] = []
        self._leaves: list[tuple[int, int, int, int]] = []  # cell, item, column, row
        self._looked_up: list[int] = []
        self._places: list[tuple[int, int]] = []
        self._results: list[int] = []

    def given(self, first: int, length: int) -> Vector:
        """Some of the given numbers, as a vector."""
        self._check_given("a vector", first, length)
        return Vector(self, first, length)

    def dense(self, matrix: int, vector: Vector, rows: int) -> Vector:
        """M v: the rows of M lie one after the other, from this given number on."""
        self._check(vector)
        self._check_given("a matrix", matrix, rows * vector.length)
        return self._recorded([(DENSE, rows, vector.length, matrix, vector.cell)], rows)

    def transposed(self, matrix: int, vector: Vector, columns: int) -> Vector:
        """M^T v: the rows of M lie one after the other, one for each number of v."""
        self._check(vector)
        self._check_given("a matrix", matrix, vector.length * columns)
        return self._recorded([(TRANSPOSED, vector.length, columns, matrix, vector.cell)], columns)

    def times(self, one: Vector, other: Vector) -> Vector:
        """The products of the numbers of two vectors of the same length."""
        self._check(one, other)
        _check_lengths(one.length, other.length)
        places = [(place, place) for place in range(one.length)]
        return self._recorded([self._sparse(places, one.cell, other)], one.length)

    def outer(self, one: Vector, other: Vector) -> Vector:
        """All products of a number of one vector and a number of another: row by row, one for each of the
        first.
        """
        self._check(one, other)
        rows = [
            [(row * other.length + column, row) for column in range(other.length)]
            for row in range(one.length)
        ]
        steps = [self._sparse(places, other.cell, one) for places in rows]
        return self._recorded(steps, one.length * other.length)

    def plus(self, first: Vector, *others: Vector) -> Vector:
        """The sum of vectors of the same length."""
        self._check(first, *others)
        _check_lengths(first.length, *(vector.length for vector in others))
        kinds = [TRANSPOSED] + [ADDED] * len(others)
        steps = [
            (kind, 1, first.length, vector.cell, self._one.cell)
            for kind, vector in zip(kinds, (first, *others), strict=True)
        ]
        return self._recorded(steps, first.length)

    def weights(self, item: int, places: Sequence[int]) -> Vector:
        """The weights of an item at these places of the list."""
        return self.weighed(item, places, None)

    def weighed(self, item: int, places: Sequence[int], vector: Vector | None) -> Vector:
        """The numbers of a vector, times the weights of an item at these places of the list."""
        if vector is not None:
            self._check(vector)
            _check_lengths(vector.length, len(places))
        for place in places:
            if item < 0 or place < 0:
                raise ValueError(f"item {item}, place {place}: neither may be negative")
            if self._weights is not None and place >= self._weights:
                raise ValueError(f"item {item} looks up place {place} of {self._weights} weights")
        first, self._cells = self._cells, self._cells + len(places)
        width = -len(self._leaves) - 1  # until it is known where the rows and columns of leaves start
        for number in range(len(places)):
            self._leaves.append((first + number, item, 0 if vector is None else number, number))
        self._looked_up += places
        return self._recorded([(SPARSE, len(places), width, first, (vector or self._one).cell)], len(places))

    def total(self, vector: Vector) -> Vector:
        """The sum of the numbers of a vector."""
        self._check(vector)
        return self._recorded([self._sparse([(0, 0)] * vector.length, vector.cell, self._one)], 1)

    def add_result(self, vector: Vector) -> None:
        """Let the sum of the numbers of a vector be a result."""
        self._results.append(self.total(vector).cell)

    def program(self) -> "DynamicProgram":
        """The recorded program."""
        rows, columns = np.array(self._places).reshape(-1, 2).T
        tape = room(len(self._steps), len(self._leaves), rows, columns)
        for number, (kind, count, width, *cells) in enumerate(self._steps):
            tape.steps[number] = kind, count, width if width >= 0 else tape.leaf_place - width - 1, *cells
        for number, (cell, item, column, row) in enumerate(self._leaves):
            tape.leaf[number] = cell, number, item
            tape.column[tape.leaf_place + number], tape.row[tape.leaf_place + number] = column, row
        tape.used[[STEPS, CELLS, LEAVES]] = len(self._steps), self._cells, len(self._leaves)
        weights = max(self._looked_up, default=-1) + 1 if self._weights is None else self._weights
        looked_up = np.array(self._looked_up, np.int64)
        return DynamicProgram(
            finished(tape, np.array(self._results, np.int64)), self._given, weights, looked_up
        )

    def _check(self, *vectors: Vector) -> None:
        if any(vector.recorder is not self for vector in vectors):
            raise ValueError("a vector belongs to another Recorder: record each program with one")

    def _check_given(self, what: str, first: int, length: int) -> None:
        if first < 0 or length < 1 or first + length > self._given:
            raise ValueError(f"{what} of {length} numbers from {first} on, of {self._given} given numbers")

    def _sparse(self, places: Sequence[tuple[int, int]], matrix: int, vector: Vector) -> tuple[int, ...]:
        self._places += places
        return SPARSE, len(places), len(self._places) - len(places), matrix, vector.cell

    def _recorded(self, steps: Sequence[tuple[int, ...]], length: int) -> Vector:
        """Record steps with the same target."""
        target = Vector(self, self._cells, length)
        self._cells += length
        self._steps += [(*step[:3], target.cell, *step[3:]) for step in steps]
        self._steps.append((RESCALE, 1, length, target.cell, target.cell, target.cell))
        return target


def _check_lengths(first: int, *others: int) -> None:
    if {first, *others} != {first}:
        raise ValueError(f"lengths differ: {', '.join(map(str, (first, *others)))}")


@dataclass(frozen=True)
class DynamicProgram:
    """A recorded dynamic program of R results and items that use one weight each.

    All methods take ``given``, (..., G) nonnegative numbers, and ``log_weights``, (..., W) logarithms of
    weights, which may be minus infinity. Leading dimensions broadcast. They compute in double precision on
    the CPU, and in log space where doubles would be too small or too large. They raise ValueError for other
    numbers.

    :ivar looked_up: the place of each weight that is looked up.
    """

    recorded: Program
    num_given: int
    num_weights: int
    looked_up: Array

    def log_totals(self, given: Tensor, log_weights: Tensor) -> Tensor:
        """(..., R) the logarithm of each result, minus infinity for 0.

        Differentiable once; raises NotImplementedError under ``create_graph=True``.
        """
        batch, *rows = self._rows(given, log_weights)
        totals: Tensor = _LogTotals.apply(self, *rows)
        return totals.reshape(*batch, -1)

    def best(self, given: Tensor, log_weights: Tensor) -> Tensor:
        """(..., items) the place of the weight that each item uses in the best derivation.

        It is -1 for an item without a part in that derivation. Raises ValueError if a result is 0.
        """
        return self._derived(given, log_weights, MAX, 1, None)[..., 0, :]

    def draws(
        self, given: Tensor, log_weights: Tensor, draws: int, generator: torch.Generator | None = None
    ) -> Tensor:
        """(..., draws, items) the same in draws of derivations, in proportion to their products."""
        return self._derived(given, log_weights, SUM, draws, generator)

    def _derived(
        self,
        given: Tensor,
        log_weights: Tensor,
        semiring: Semiring,
        count: int,
        generator: torch.Generator | None,
    ) -> Tensor:
        program = self.recorded
        batch, *rows = self._rows(given, log_weights)
        items = int(program.tape.leaf[:, 2].max(initial=-1)) + 1
        used = np.full((len(rows[0]), count, items), -1)
        for numbers, logs, of_row in zip(*self.cells(*rows), used, strict=True):
            values = program.values(numbers, logs, semiring)
            impossible = np.flatnonzero(program.log_results(values) == -np.inf)
            if len(impossible):
                raise ValueError(f"result {impossible[0]} is 0, so it has no derivation")
            seeds = torch.randint(2**32, (len(program.results),), generator=generator).numpy()
            program.derivations(values, semiring, seeds, of_row)
        places = np.where(used < 0, -1, self.looked_up[used]) if items else used
        return torch.from_numpy(places).reshape(*batch, count, items)

    def _rows(self, given: Tensor, log_weights: Tensor) -> tuple[torch.Size, Tensor, Tensor]:
        """Leading dimensions, and a row of given numbers and one of log weights for each; checks them."""
        for what, numbers, count in (
            ("given numbers", given, self.num_given),
            ("log weights", log_weights, self.num_weights),
        ):
            if numbers.dim() == 0 or numbers.shape[-1] != count:
                raise ValueError(f"{what}: expected (..., {count}), actual {tuple(numbers.shape)}")
            if numbers.numel() and not numbers.max() < torch.inf:
                raise ValueError(f"{what}: one is infinite or NaN")
        if given.numel() and given.min() < 0:
            raise ValueError("given numbers: one is negative; they are not logarithms")
        batch = torch.Size(np.broadcast_shapes(given.shape[:-1], log_weights.shape[:-1]))
        rows = [row.expand(*batch, -1).reshape(batch.numel(), row.shape[-1]) for row in (given, log_weights)]
        return batch, rows[0], rows[1]

    def cells(self, given: Tensor, log_weights: Tensor) -> tuple[Array, Array]:
        """Given numbers with 1 behind them, and the logarithms of the weights looked up, for each row."""
        numbers, logs = (rows.detach().cpu().double().numpy() for rows in (given, log_weights))
        return np.append(numbers, np.ones((len(numbers), 1)), 1), logs[:, self.looked_up]


class _LogTotals(torch.autograd.Function):
    """`DynamicProgram.log_totals` of rows."""

    @staticmethod
    def forward(ctx: Any, program: DynamicProgram, given: Tensor, log_weights: Tensor) -> Tensor:
        recorded = program.recorded
        ctx.program, ctx.cells = program, program.cells(given, log_weights)
        ctx.save_for_backward(given, log_weights)
        ctx.values = list(map(recorded.values, *ctx.cells))
        results = [recorded.log_results(values) for values in ctx.values]
        return torch.from_numpy(np.array(results).reshape(len(given), len(recorded.results)))

    @staticmethod
    def backward(ctx: Any, seeds: Tensor) -> tuple[Tensor | None, ...]:
        if torch.is_grad_enabled():
            raise NotImplementedError("log_totals has no second derivatives: drop create_graph=True")
        given, log_weights = ctx.saved_tensors
        of_given, of_weights = np.zeros(given.shape), np.zeros(log_weights.shape)
        of_leaves = np.zeros(len(ctx.program.looked_up))
        columns = zip(*ctx.cells, ctx.values, seeds.numpy(), strict=True)
        for row, each in enumerate(columns):
            of_given[row] = ctx.program.recorded.slopes(*each, of_leaves)[:-1]
            np.add.at(of_weights[row], ctx.program.looked_up, of_leaves)
        return None, torch.from_numpy(of_given).to(given), torch.from_numpy(of_weights).to(log_weights)
