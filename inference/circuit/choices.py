"""Derivations of a program, from its results down: the best one, or draws in proportion to their weights.

Each sum picks its greatest term, or draws one.  This replaces the derivation and the sampling semiring of Li,
Wang & Eisner (2019, section 3.1).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.inference.circuit.sums import MAX, power, scale_of
from pyropunct.inference.circuit.tape import ADDED, DENSE, RESCALE, SPARSE
from pyropunct.inference.compiling import compiled, spliced

Array = NDArray[Any]


class Evaluated(NamedTuple):
    """A program with the values of its cells; the first fields are those of a
    `pyropunct.inference.circuit.tape.Tape`.

    :ivar writer: (cells,) for the first cell of each vector the last step that wrote it, -1 for none.
    :ivar earlier: for each step, the one that added to its target before, -1 for none.
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
            earlier[number] = writer[target] if kind == ADDED else -1
            writer[target] = number


@spliced
def _term(done, step, place, number):
    """A term of a number of a step's target: its cell in M, and its place in v; -1 if it has no such term."""
    if step[0] == DENSE:
        return step[4] + place * step[2] + number, number
    if step[0] != SPARSE:
        return step[4] + number * step[2] + place, number
    if done.row[step[2] + number] != place:
        return -1, -1
    return step[4] + number, np.int64(done.column[step[2] + number])


@spliced
def _pick(done, number, place, chance, semiring):
    """The step and the term behind a number: the greatest, or the one where ``chance`` is used up."""
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
