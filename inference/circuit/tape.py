"""A dynamic program as a list of steps, each a product of a matrix and a vector.

All numbers lie in one line of *cells*.  A step reads a matrix M and a vector v, and writes a vector ::

    DENSE        target = M v            the rows of M are ``width`` long, one after the other
    TRANSPOSED   target = M^T v
    ADDED        target += M^T v         to a target that is not empty
    SPARSE       target = M v            M has a cell for each of some (row, column)
    RESCALE      target, as a multiple of a power of two if it has become very small or very large
    ALIGN        target, as a multiple of the same power of two as ``vector``, which has been rescaled

To write a program is to record these steps.  Sums, the best derivation, draws and derivatives follow.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.inference.compiling import spliced

Places = NDArray[np.int32]

DENSE, TRANSPOSED, ADDED, SPARSE, RESCALE, ALIGN = range(6)

STEP = ("kind", "count", "width", "target", "matrix", "vector")
"""The columns of a step: its kind; how many rows M has, of SPARSE how many cells; how long its rows are, of
SPARSE where the places of its cells start in ``row`` and ``column``; where the target, M and v start."""

STEPS, CELLS, LEAVES = range(3)


class Tape(NamedTuple):
    """Room for steps, and how much of it is used.

    :ivar steps: (steps, 6) the columns of `STEP`.
    :ivar row: the row of each cell of all sparse matrices; ``column``, the column.
    :ivar leaf: (leaves, 3) of each weight that is looked up in a list: its cell, its place in the list, and
        the item to which it belongs.
    :ivar leaf_place: where the rows and columns of leaves start.
    :ivar used: (3,) the numbers of steps, cells and leaves.  All others are single integers (int32).
    """

    steps: Places
    row: Places
    column: Places
    leaf: Places
    leaf_place: int
    used: Places


@spliced
def new_vector(tape: Tape, length: int) -> int:
    """Cells for a vector, or for a matrix."""
    cell = tape.used[CELLS]
    tape.used[CELLS] += length
    return cell


@spliced
def record(tape: Tape, kind: int, count: int, width: int, target: int, matrix: int, vector: int) -> None:
    """Record a step."""
    step = tape.steps[tape.used[STEPS]]
    tape.used[STEPS] += 1
    step[0], step[1], step[2] = kind, count, width
    step[3], step[4], step[5] = target, matrix, vector


@spliced
def record_leaf(tape: Tape, row: int, column: int, place: int, item: int) -> None:
    """Record the next cell of a sparse matrix, whose weight is looked up."""
    number = tape.used[LEAVES]
    tape.used[LEAVES] += 1
    leaf = tape.leaf[number]
    leaf[0], leaf[1], leaf[2] = tape.used[CELLS], place, item
    tape.row[tape.leaf_place + number] = row
    tape.column[tape.leaf_place + number] = column
    tape.used[CELLS] += 1


@spliced
def record_rescale(tape: Tape, target: int, width: int) -> None:
    """Record that a vector is complete, and may be rescaled."""
    record(tape, RESCALE, 1, width, target, target, target)


@spliced
def record_align(tape: Tape, target: int, width: int, like: int) -> None:
    """Record that a vector is to be scaled like another one."""
    record(tape, ALIGN, 1, width, target, target, like)
