"""A recorded dynamic program on the CPU, and what can be computed with it."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.inference.circuit.choices import Evaluated, derive, link
from pyropunct.inference.circuit.slopes import reverse
from pyropunct.inference.circuit.sums import SUM, evaluate
from pyropunct.inference.circuit.tape import CELLS, LEAVES, STEP, STEPS, Tape

Array = NDArray[Any]


class Values(NamedTuple):
    """The numbers of all cells, each with a power of two by which its vector is to be multiplied."""

    numbers: Array
    exponent: Array


class Program(NamedTuple):
    """The recorded steps, and the cells that hold the R results.

    The first cells are given numbers; leaves are looked up in a list of weights.
    """

    tape: Tape
    results: Array

    def values(self, given: Array, weights: Array, semiring: np.bool_ = SUM) -> Values:
        """Evaluate it for ``given`` numbers, and (W,) ``weights``: nonnegative, or dual (complex)."""
        tape, cells = self.tape, int(self.tape.used[CELLS])
        numbers, exponent = np.zeros(cells, given.dtype), np.zeros(cells, np.int32)
        numbers[: len(given)] = given
        numbers[tape.leaf[:, 0]] = weights[tape.leaf[:, 1]]
        evaluate(tape.steps, tape.row, tape.column, numbers, exponent, semiring)
        return Values(numbers, exponent)

    def log_results(self, values: Values) -> Array:
        """(R,) the logarithm of each result: minus infinity, without a slope, where it is 0."""
        results = values.numbers[self.results]
        is_possible = results.real > 0
        logs = np.log(np.where(is_possible, results, 1)) + np.log(2) * values.exponent[self.results]
        return np.where(is_possible, logs, -np.inf)

    def slopes(self, values: Values, seeds: Array, given: int, weights: Array) -> Array:
        """Derivatives of the seeded sum of `log_results`.

        :param given: how many numbers were given.
        :param weights: (W,) takes those in the logarithms of the weights that are looked up.
        :returns: those in the given numbers.
        """
        tape, (numbers, exponent), results = self.tape, values, values.numbers[self.results]
        adjoint = np.zeros_like(numbers)
        is_possible = results.real > 0
        adjoint[self.results] = np.where(is_possible, seeds / np.where(is_possible, results, 1), 0)
        reverse(tape.steps, tape.row, tape.column, numbers, exponent, adjoint)
        cells, places = tape.leaf[:, 0], tape.leaf[:, 1]
        weights[places] = adjoint[cells] * numbers[cells]
        return adjoint[:given]

    def derivations(self, values: Values, semiring: np.bool_, seeds: Array, used: Array) -> None:
        """The best derivation of each result, or draws, from values in that semiring.

        :param seeds: (R,) for draws.
        :param used: (derivations, items), -1 before, takes the place of the weight that each item uses.
        """
        tape, (numbers, exponent) = self.tape, values
        writer, earlier = np.full(len(numbers), -1, np.int32), np.empty(len(tape.steps), np.int32)
        link(tape.steps, writer, earlier)
        done = Evaluated(*tape[:5], writer, earlier, numbers, exponent)
        # A derivation visits a vector once, and of two vectors of a step one waits.
        stack = np.empty((len(tape.steps) + 2, 2), np.int64)
        for result, seed in zip(self.results.tolist(), seeds.tolist(), strict=True):
            if numbers[result] > 0:
                derive(done, result, np.random.default_rng(seed), semiring, stack, used)


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
