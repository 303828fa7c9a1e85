"""A recorded dynamic program on the CPU: its values, their slopes, and its derivations.

A derivation is found from the results down: each sum picks its greatest term, or draws one.  This replaces
the derivation and the sampling semiring of Li, Wang & Eisner (2019, section 3.1).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from pyropunct.inference.circuit import levels, wide
from pyropunct.inference.circuit.range import clear_flags, has_left_range
from pyropunct.inference.circuit.sums import MAX, SUM, Semiring, evaluate, power, reverse, scale_of
from pyropunct.inference.circuit.tape import CELLS, DENSE, LEAVES, RESCALE, SPARSE, STEP, STEPS, Tape
from pyropunct.inference.compiling import compiled, spliced
from pyropunct.inference.ragged import Array


class Evaluated(NamedTuple):
    """A program with the values of its cells; the first fields are those of a
    `pyropunct.inference.circuit.tape.Tape`.

    :ivar writer: (cells,) for the first cell of each vector the last step that wrote it, -1 for none.
    :ivar earlier: for each step, the one that wrote to its target before, -1 for none.
    """

    steps: Array
    row: Array
    column: Array
    leaf: Array
    leaf_place: int
    writer: Array
    earlier: Array
    values: Array
    exponent: Array


@compiled
def link(steps, writer, earlier):
    """Fill ``writer``, which is -1 before, and ``earlier``; see `Evaluated`."""
    for number in range(len(steps)):
        kind, target = steps[number, 0], steps[number, 3]
        if kind < RESCALE:
            earlier[number] = writer[target]
            writer[target] = number


@spliced
def _term(done, step, place, number):
    """A term of a number of the target: its cell in M and its place in v; -1 if it has no such term."""
    if step[0] == DENSE:
        return step[4] + place * step[2] + number, number
    if step[0] != SPARSE:
        return step[4] + number * step[2] + place, number
    if done.row[step[2] + number] != place:
        return -1, -1
    return step[4] + number, np.int64(done.column[step[2] + number])


@spliced
def _pick(done, number, place, chance, semiring):
    """The step and the term that a number is derived from: the greatest, or one drawn.

    A draw takes the first term at which the weights so far exceed ``chance``.
    """
    best, chosen, chosen_step = 0.0, -1, number
    while number >= 0:
        step = done.steps[number]
        factor = power(scale_of(step, done.exponent))
        for term in range(step[2] if step[0] == DENSE else step[1]):
            cell, at = _term(done, step, place, term)
            weight = factor * done.values[cell] * done.values[step[5] + at] if cell >= 0 else 0.0
            if weight > 0 and (semiring != MAX or weight > best):
                best, chosen, chosen_step = weight, term, number  # of a draw, a little may remain at the end
                chance -= weight
                if semiring != MAX and chance < 0:
                    return chosen_step, chosen
        number = done.earlier[number]
    return chosen_step, chosen


@compiled
def derive(done, result, generator, semiring, stack, used):
    """Write which leaves derivations use.

    :param result: the cell of a result that is not 0.
    :param generator: NumPy's, for draws.
    :param stack: (most, 2) room for the vectors that wait, with a place in each.
    :param used: (derivations, items) takes the place of the leaf that each item uses.
    """
    for derivation in range(len(used)):
        stack[0, 0], stack[0, 1], height = result, 0, 1
        while height > 0:
            height -= 1
            start, place = stack[height, 0], stack[height, 1]
            if done.writer[start] < 0:
                continue
            chance = 0.0 if semiring == MAX else generator.random() * done.values[start + place]
            number, term = _pick(done, done.writer[start], place, chance, semiring)
            step = done.steps[number]
            cell, at = _term(done, step, place, term)
            begin = step[4]  # of the vector in M that has the cell
            if step[0] == SPARSE:
                leaf = step[2] + term - done.leaf_place
                if leaf >= 0:
                    used[derivation, done.leaf[leaf, 2]] = done.leaf[leaf, 1]
            else:
                begin += (place if step[0] == DENSE else term) * step[2]
            stack[height, 0], stack[height, 1] = begin, cell - begin
            stack[height + 1, 0], stack[height + 1, 1] = step[5], at
            height += 2


class Values(NamedTuple):
    """The numbers of all cells, each with a power of two by which its vector is to be multiplied."""

    numbers: Array
    exponent: Array


Evaluation = Values | wide.Wide
"""Values within the range of doubles, or of any size."""


@dataclass(frozen=True)
class Program:
    """The recorded steps, and the cells that hold the R results.

    The first cells are given numbers; leaves are looked up in a list of (W,) log weights.  What leaves the
    range of doubles is computed again, slower, as `pyropunct.inference.circuit.wide.Wide`.
    """

    tape: Tape
    results: Array

    def values(self, given: Array, log_weights: Array, semiring: Semiring = SUM) -> Evaluation:
        """Evaluate it for (G,) numbers that are nonnegative or dual (complex), and log weights likewise."""
        values = self.doubles(given, log_weights, semiring)
        return self.wide_values(given, log_weights, semiring) if values is None else values

    def doubles(self, given: Array, log_weights: Array, semiring: Semiring = SUM) -> Values | None:
        """`values` as doubles, None where they leave the range."""
        tape, cells = self.tape, int(self.tape.used[CELLS])
        logs = log_weights[tape.leaf[:, 1]]
        if are_far(torch.from_numpy(logs.real)):
            return None
        numbers, exponent = np.zeros(cells, given.dtype), np.zeros(cells, np.int32)
        numbers[: len(given)] = given
        numbers[tape.leaf[:, 0]] = np.exp(logs)
        clear_flags()
        evaluate(tape.steps, tape.row, tape.column, numbers, exponent, semiring)
        return None if has_left_range() else Values(numbers, exponent)

    def wide_values(self, given: Array, log_weights: Array, semiring: Semiring = SUM) -> wide.Wide:
        """`values` of any size."""
        numbers, weights = torch.from_numpy(given), torch.from_numpy(log_weights)
        given_wide, weights_wide = wide.of_doubles(numbers), wide.of_logs(weights)
        return wide.evaluate(self._circuit, given_wide, weights_wide, self._leaf, semiring)

    def log_results(self, values: Evaluation) -> Array:
        """(R,) the logarithm of each result: minus infinity, without a slope, where it is 0."""
        if isinstance(values, wide.Wide):
            return values.at(self._circuit.results).log().numpy()
        results = values.numbers[self.results]
        is_possible = results.real > 0
        logs = np.log(np.where(is_possible, results, 1)) + np.log(2) * values.exponent[self.results]
        return np.where(is_possible, logs, -np.inf)

    def slopes(
        self,
        given: Array,
        log_weights: Array,
        values: Evaluation,
        seeds: Array,
        of_weights: Array,
    ) -> Array:
        """Derivatives of the seeded sum of `log_results`.

        :param values: those of ``given`` and ``log_weights``.
        :param of_weights: (W,) takes those in the logarithms of the weights that are looked up.
        :returns: those in the given numbers.
        """
        tape = self.tape
        cells, places = tape.leaf[:, 0], tape.leaf[:, 1]
        if isinstance(values, Values):
            (numbers, exponent), results = values, values.numbers[self.results]
            adjoint = np.zeros_like(numbers)
            is_possible = results.real > 0
            adjoint[self.results] = np.where(is_possible, seeds / np.where(is_possible, results, 1), 0)
            reverse(tape.steps, tape.row, tape.column, numbers, exponent, adjoint)
            with np.errstate(over="ignore", invalid="ignore"):
                flows, of_given = adjoint[cells] * numbers[cells], adjoint[: len(given)]
            if np.isfinite(flows).all() and np.isfinite(of_given).all():
                of_weights[places] = flows
                return of_given
            values = self.wide_values(given, log_weights)
        of_cells, leaf = wide.reverse(self._circuit, values, torch.from_numpy(seeds)), self._leaf[:, 0]
        of_weights[places] = of_cells.at(leaf).times(values.at(leaf)).doubles().numpy()
        return np.asarray(of_cells.doubles()[: len(given)])

    def derivations(self, values: Evaluation, semiring: Semiring, seeds: Array, used: Array) -> None:
        """The best derivation of each result, or draws, from values in that semiring.

        :param seeds: (R,) for draws.
        :param used: (derivations, items), -1 before, takes the place of the weight that each item uses.
        """
        if isinstance(values, wide.Wide):
            weigh = wide.weighing(values)
            if semiring == SUM:
                weigh = levels.over_noise(weigh, torch.Generator().manual_seed(int(seeds[0])))
            is_possible = values.at(self._circuit.results).mantissa > 0
            for some in np.split(used, range(levels.TOGETHER, len(used), levels.TOGETHER)):
                uses = levels.derivations(self._circuit, is_possible, len(some), weigh)
                leaf, derivation = uses[self._leaf[:, 0]].nonzero().numpy().T
                some[derivation, self.tape.leaf[leaf, 2]] = self.tape.leaf[leaf, 1]
            return
        tape, (numbers, exponent) = self.tape, values
        writer, earlier = np.full(len(numbers), -1, np.int32), np.empty(len(tape.steps), np.int32)
        link(tape.steps, writer, earlier)
        done = Evaluated(*tape[:5], writer, earlier, numbers, exponent)
        # A derivation visits a vector once, and of two vectors of a step one waits.
        stack = np.empty((len(tape.steps) + 2, 2), np.int64)
        for result, seed in zip(self.results.tolist(), seeds.tolist(), strict=True):
            if numbers[result] > 0:
                derive(done, result, np.random.default_rng(seed), semiring, stack, used)

    @cached_property
    def _circuit(self) -> levels.Circuit:
        return levels.circuit_of(self.tape, self.results, torch.device("cpu"))

    @cached_property
    def _leaf(self) -> Tensor:
        return torch.from_numpy(self.tape.leaf.astype(np.int64))


SAFE = 600.0
"""Weights are multiplied as doubles if their finite logarithms are not further from 0."""


def are_far(logs: Tensor) -> bool:
    """Whether a finite number is not within `SAFE`."""
    size = logs.abs()
    return bool(((size > SAFE) & (size < torch.inf)).any())


def room(steps: int, leaves: int, rows: Array, columns: Array) -> Tape:
    """A tape for at most so many steps and leaves.

    :param rows: the row of each weight in a sparse matrix of given weights; ``columns``, its column.
    """
    row, column = np.empty((2, len(rows) + leaves), np.int32)
    row[: len(rows)], column[: len(rows)] = rows, columns
    step, leaf = np.empty((steps, len(STEP)), np.int32), np.empty((leaves, 3), np.int32)
    return Tape(step, row, column, leaf, len(rows), np.zeros(3, np.int64))


def finished(tape: Tape, results: Array) -> Program:
    """The program that a tape has, cut to its length."""
    steps, leaves = tape.steps[: tape.used[STEPS]], tape.leaf[: tape.used[LEAVES]]
    return Program(tape._replace(steps=steps, leaf=leaves), results)
