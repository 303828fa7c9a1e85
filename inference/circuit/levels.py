"""A program by tensor operations on any device: all steps that can be done at the same time, at once.

Each step has a *level*, above those of both its factors, so the number of calls to torch depends on the depth
and breadth of trees, not on their number.  As in pytorch-struct (Rush 2020), the semiring is an argument.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from pyropunct.inference.circuit.sums import MAX, Semiring
from pyropunct.inference.circuit.tape import ALIGN, CELLS, DENSE, RESCALE, SPARSE, Tape
from pyropunct.inference.compiling import compiled
from pyropunct.inference.ragged import Array, runs, starts_of

SMALLEST_SCALE = torch.finfo(torch.double).tiny
"""The scale of a vector without a greater number."""

TOGETHER = 64
"""How many draws tensor operations make together: each needs a byte for each number."""

SMALL, LARGE = 1e-250, 1e50
"""A term is not lost if it is greater, and is divided by a smaller number."""

CHUNK = 1 << 24
"""How many terms are checked at once."""

Weigh = Callable[[Tensor, Tensor, Tensor], Tensor]
"""The weights of terms, from the places of their factors and the group that each belongs to."""


def add(numbers: Tensor, place: Tensor, terms: Tensor, semiring: Semiring) -> None:
    """Add terms to the numbers at their places; dual numbers only by `SUM`."""
    if semiring == MAX:
        numbers.scatter_reduce_(0, place.long(), terms, "amax")
    else:
        numbers.index_add_(0, place, terms)


class Level(NamedTuple):
    """Terms, first times second, added to their targets; and the vectors then complete, to be rescaled.

    :ivar complete: the numbers of these vectors; ``vector``, to which each belongs.
    :ivar aligned: the numbers of vectors that share the scale of another vector; ``like``, that other vector.
    """

    target: Tensor
    first: Tensor
    second: Tensor
    complete: Tensor
    vector: Tensor
    aligned: Tensor
    like: Tensor


class Circuit(NamedTuple):
    """A program, level by level.

    :ivar size: how many numbers there are; ``vectors``, how many vectors are rescaled.
    :ivar results: where the results lie.
    :ivar first: the first factors of the terms of all levels; ``second``, the second ones.
    """

    levels: list[Level]
    size: int
    vectors: int
    results: Tensor
    first: Tensor
    second: Tensor


class Numbers(NamedTuple):
    """All numbers of a circuit, and the scale of each vector: it has been divided by that."""

    numbers: Tensor
    scale: Tensor


@compiled
def _find_levels(steps, level, of_step):
    """Fill ``of_step`` with the level of each step, and ``level``, zeros before, with that of each vector.

    All steps that add to a vector have the level that completes it.
    """
    for number in range(len(steps)):
        kind, count, width, target, matrix = steps[number, :5]
        last = max(level[matrix], level[steps[number, 5]])
        if kind >= RESCALE:
            of_step[number] = level[target] = max(last, level[target])
            continue
        if kind != SPARSE:
            for place in range(count):
                last = max(last, level[matrix + place * width])
        of_step[number] = last + 1
        level[target] = max(last + 1, level[target])
    for number in range(len(steps)):
        if steps[number, 0] < RESCALE:
            of_step[number] = level[steps[number, 3]]


def circuit_of(tape: Tape, results: Array, device: torch.device) -> Circuit:
    """The circuit of recorded steps, and of the cells of their results.

    Where it is evaluated in doubles, each result needs all of its rescaled vectors.
    """
    steps, size = tape.steps, int(tape.used[CELLS])
    level, of_step = np.zeros(size, np.int32), np.empty(len(steps), np.int32)
    _find_levels(steps, level, of_step)
    order = np.argsort(of_step, kind="stable")
    ends, aligned = (order[steps[order, 0] == kind] for kind in (RESCALE, ALIGN))
    rescaled = np.sort(ends)
    vector_of = np.zeros(size, np.int64)
    vector_of[steps[rescaled, 3]] = np.arange(len(ends))
    order = order[steps[order, 0] < RESCALE]
    lengths = np.where(steps[order, 0] == SPARSE, steps[order, 1], steps[order, 1] * steps[order, 2])
    last = np.arange(1, of_step.max() + 1)
    terms = _terms(tape, steps[order], lengths, device)
    columns = _split(terms, of_step[order], lengths, last)
    for some, cell in ((ends, 3), (aligned, 5)):
        states, vector = steps[some, 2], vector_of[steps[some, cell]]
        numbers = np.stack([runs(steps[some, 3], states), np.repeat(vector, states)])
        columns += _split(list(torch.from_numpy(numbers).to(device)), of_step[some], states, last)
    levels = [Level(*some) for some in zip(*columns, strict=True)]
    return Circuit(levels, size, len(ends), torch.from_numpy(results).to(device), terms[1], terms[2])


def _split(columns: list[Tensor], level: Array, length: Array, last: Array) -> list[Any]:
    """Cut columns into levels: they consist of runs, each of a ``length`` and a ``level``."""
    ends = starts_of(length)[np.searchsorted(level, last, "right")]
    return [column.split(np.diff(ends, prepend=0).tolist()) for column in columns]


def _terms(tape: Tape, steps: Array, lengths: Array, device: torch.device) -> list[Tensor]:
    """Targets, first and second factors of all terms, (terms,) each; expanded on the device."""
    start = starts_of(lengths)
    columns = torch.from_numpy(np.concatenate([steps.T, start[None, :-1]])).to(device, torch.int32)
    step = torch.repeat_interleave(torch.from_numpy(lengths).to(device), output_size=int(start[-1]))
    kind, _, width, target, first, second, begin = (column.index_select(0, step) for column in columns)
    number = torch.arange(len(step), dtype=torch.int32, device=device) - begin
    places = [torch.from_numpy(column).to(device) for column in (tape.row, tape.column)]
    is_sparse, is_dense = kind == SPARSE, kind == DENSE
    row, column = (place.index_select(0, (width + number).where(is_sparse, 0)) for place in places)
    width = width.where(~is_sparse, 1)
    long, short = number // width, number % width
    target += row.where(is_sparse, long.where(is_dense, short))
    second += column.where(is_sparse, short.where(is_dense, long))
    return [target, first + number, second]


def evaluate(circuit: Circuit, given: Tensor, weights: Tensor, leaf: Tensor, semiring: Semiring) -> Numbers:
    """Compute all numbers, level by level.

    :param leaf: (leaves, 3) its first two columns are the cell of each leaf and its place in ``weights``.
    """
    numbers = given.new_zeros(circuit.size)
    numbers[: len(given)] = given
    numbers[leaf[:, 0]] = weights[leaf[:, 1]]
    scale = given.real.new_full((circuit.vectors,), SMALLEST_SCALE)
    for level in circuit.levels:
        terms = numbers.index_select(0, level.first).mul_(numbers.index_select(0, level.second))
        add(numbers, level.target, terms, semiring)
        if len(level.vector):
            result = numbers.index_select(0, level.complete)
            scale.scatter_reduce_(0, level.vector, result.real, "amax")
            own = scale.index_select(0, level.vector)
            scale.index_copy_(0, level.vector, own.where(own > SMALLEST_SCALE, 1.0))
            numbers.index_copy_(0, level.complete, result / scale.index_select(0, level.vector))
        if len(level.aligned):
            result = numbers.index_select(0, level.aligned)
            numbers.index_copy_(0, level.aligned, result / scale.index_select(0, level.like))
    return Numbers(numbers, scale)


def has_left_range(circuit: Circuit, values: Numbers) -> bool:
    """Whether a number may have become too small or too large on the way to values of `evaluate`."""
    numbers, scale = values.numbers.real, values.scale
    is_out = ~numbers.isfinite().all() | (scale > LARGE).any()
    for places in zip(circuit.first.split(CHUNK), circuit.second.split(CHUNK), strict=True):
        first, second = (numbers.index_select(0, place) for place in places)
        is_out |= (((first * second).abs() < SMALL) & (first != 0) & (second != 0)).any()
    return bool(is_out)


def reverse(circuit: Circuit, values: Numbers, seeds: Tensor) -> Tensor:
    """The adjoints of all numbers, from those of the results; scales count as constants."""
    numbers, scale = values
    adjoint = torch.zeros_like(numbers)
    adjoint[circuit.results] = seeds
    for level in reversed(circuit.levels):
        for numbers_of, vector in ((level.aligned, level.like), (level.complete, level.vector)):
            flow = adjoint.index_select(0, numbers_of) / scale.index_select(0, vector)
            adjoint.index_copy_(0, numbers_of, flow)
        flow = adjoint.index_select(0, level.target)
        adjoint.index_add_(0, level.first, flow * numbers.index_select(0, level.second))
        adjoint.index_add_(0, level.second, flow * numbers.index_select(0, level.first))
    return adjoint


def derivations(circuit: Circuit, is_possible: Tensor, count: int, weigh: Weigh) -> Tensor:
    """(numbers, count) which numbers each derivation uses, of (R,) results that are possible.

    Each sum takes its term of the greatest weight.
    """
    used = torch.zeros((circuit.size, count), dtype=torch.bool, device=is_possible.device)
    used[circuit.results] = is_possible[:, None]
    for level in reversed(circuit.levels):
        term, derivation = used.index_select(0, level.target).nonzero().unbind(1)
        target, first, second = (column[term].long() for column in level[:3])
        groups, group = torch.unique(target * count + derivation, return_inverse=True)
        chosen = _first_of_greatest(weigh(first, second, group), group, len(groups))
        for factor in (first, second):
            used[factor[chosen], derivation[chosen]] = True
    return used


def _first_of_greatest(weight: Tensor, group: Tensor, groups: int) -> Tensor:
    """The first place of the greatest weight in each group."""
    best = weight.new_zeros(groups).scatter_reduce_(0, group, weight, "amax")
    place = torch.arange(len(weight), device=weight.device).where(weight == best[group], len(weight))
    return place.new_full((groups,), len(weight)).scatter_reduce_(0, group, place, "amin")


def weighing(numbers: Tensor) -> Weigh:
    """The weights of terms."""
    return lambda first, second, group: numbers[first] * numbers[second]


def over_noise(weigh: Weigh, generator: torch.Generator | None = None) -> Weigh:
    """Weights whose greatest is a draw in proportion to them: w_i / e_i for exponential noise e."""

    def noisy(first: Tensor, second: Tensor, group: Tensor) -> Tensor:
        weight = weigh(first, second, group)
        return weight / torch.empty_like(weight).exponential_(generator=generator)

    return noisy
