"""Draws of surface strings: machines run forward, compiled."""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.inference.compiling import compiled, inner
from pyropunct.inference.machines.moves import END, START, Machine
from pyropunct.inference.machines.transducers import Transducer
from pyropunct.inference.ragged import Array, Floats, Ints, runs, starts_of

NONE = -1

# Constants of splitmix64 (Steele, Lea & Flood 2014, "Fast splittable pseudorandom number generators").
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FACTOR = np.uint64(0xBF58476D1CE4E5B9)
_SECOND_FACTOR = np.uint64(0x94D049BB133111EB)
_SHIFT, _SECOND_SHIFT, _THIRD_SHIFT = np.uint64(30), np.uint64(27), np.uint64(31)
_LOW_BITS = np.uint64(11)


class Sampler(NamedTuple):
    """A `Transducer` with its weights, as arrays.

    A *kind* of moves belongs to a state (of all machines) and a token: `START`, `END`, then the others.

    :ivar branch_total: (branches,) the probability of a branch or one before it.
    :ivar pass_start: (branches + 1,) where the passes of each branch start.
    :ivar begin: (passes,) the kind of each pass's start; ``from_right``, whether it reads from right to left.
    :ivar move_start: (kinds + 1,) the first move of each kind.
    :ivar move_total: (M,) the probability of a move or one before it of the same kind.
    :ivar target: (M,) the kind of token 0 in the state to which a move leads, -1 if it halts.
    :ivar written_start: (M + 1,) where the tokens that a move writes start in ``written``.
    """

    branch_total: Floats
    pass_start: Ints
    begin: Ints
    from_right: NDArray[np.bool_]
    move_start: Ints
    move_total: Floats
    target: Ints
    written_start: Ints
    written: Ints


def sampler(transducer: Transducer, weights: Tensor) -> Sampler:
    """A transducer with its (P,) weights, ready for draws."""
    values = transducer.products.values(weights.detach().cpu().double()).numpy()
    branches, machines = transducer.branches, transducer.machines
    sizes = np.concatenate([np.diff(machine.first) for machine in machines])
    begin = starts_of([len(machine.first) - 1 for machine in machines])
    targets = [
        np.where(machine.target < 0, NONE, first + machine.target * (machine.num_tokens + 2) - START)
        for machine, first in zip(machines, begin, strict=False)
    ]
    sizes_written, written = zip(*map(_written, machines), strict=True)
    return Sampler(
        _shares(values[[branch.product for branch in branches]], np.zeros(len(branches), np.int64)),
        starts_of([len(branch.machines) for branch in branches]),
        begin[:-1],
        np.array([machine.from_right for machine in machines]),
        starts_of(sizes),
        _shares(
            np.concatenate([machine.chances(values) for machine in machines]),
            np.repeat(np.arange(len(sizes)), sizes),
        ),
        np.concatenate(targets),
        starts_of(np.concatenate(sizes_written)),
        np.concatenate(written),
    )


def _written(machine: Machine) -> tuple[Ints, Ints]:
    """How many tokens each move of a machine writes, and the tokens of all moves."""
    lengths = np.array([len(string) for string in machine.strings], np.int64)
    tokens = np.array([token for string in machine.strings for token in string], np.int64)
    sizes = lengths[machine.written]
    return sizes, tokens[runs(starts_of(lengths)[:-1][machine.written], sizes)]


def _shares(chances: Floats, kind: Ints) -> Floats:
    """Cumulative sums of probabilities of the same kind, divided so that each kind's last is exactly 1."""
    totals = np.cumsum(chances)
    first = np.flatnonzero(np.diff(kind, prepend=-1))
    before = np.repeat(totals[first] - chances[first], np.diff(first, append=len(kind)))
    sums = totals - before
    last = np.append(first[1:], len(kind)) - 1
    return sums / np.repeat(sums[last], np.diff(first, append=len(kind)))


@inner
def pick(totals: Array, begin: int, end: int, target: float) -> int:
    """The first place from ``begin`` on whose sum is greater than a number below the last sum."""
    last = end - 1
    while begin < last:
        middle = (begin + last) >> 1
        if totals[middle] > target:
            last = middle
        else:
            begin = middle + 1
    return begin


@inner
def _uniform(bits: np.uint64) -> float:
    """The random number in [0, 1) of a state of splitmix64, whose next state is one `_STEP` further."""
    mixed = (bits ^ (bits >> _SHIFT)) * _FACTOR
    mixed = (mixed ^ (mixed >> _SECOND_SHIFT)) * _SECOND_FACTOR
    return ((mixed ^ (mixed >> _THIRD_SHIFT)) >> _LOW_BITS) * 2.0**-53


@inner
def doubled(array: Array) -> Array:
    """The same array with as much room again."""
    result = np.empty(2 * len(array), array.dtype)
    for place in range(len(array)):
        result[place] = array[place]
    return result


@inner
def _run(
    machine: Sampler,
    number: int,
    string: Array,
    first: int,
    last: int,
    bits: np.uint64,
    out: Array,
    begin: int,
) -> tuple[int, np.uint64]:
    """Write what a pass makes of ``string[first:last]`` into ``out`` from ``begin`` on."""
    size, read, kind = begin, -1, machine.begin[number]
    from_right = machine.from_right[number]
    while True:
        move, end = machine.move_start[kind], machine.move_start[kind + 1]
        if end - move > 1:
            bits += _STEP
            move = pick(machine.move_total, move, end, _uniform(bits))
        for place in range(machine.written_start[move], machine.written_start[move + 1]):
            if size == len(out):
                return NONE, bits
            out[size] = machine.written[place]
            size += 1
        if machine.target[move] < 0:
            break
        read += 1
        token = END
        if read < last - first:
            token = string[last - 1 - read if from_right else first + read]
        kind = machine.target[move] + token
    if from_right:
        left, right = begin, size - 1
        while left < right:
            out[left], out[right] = out[right], out[left]
            left, right = left + 1, right - 1
    return size, bits


@inner
def rewritten(
    machine: Sampler, string: Array, first: int, last: int, bits: np.uint64, out: Array, begin: int
) -> int:
    """Write a surface string of ``string[first:last]`` into ``out`` from ``begin``; its end, -1 if there is
    no room.
    """
    branch = 0
    if len(machine.branch_total) > 1:
        bits += _STEP
        branch = pick(machine.branch_total, 0, len(machine.branch_total), _uniform(bits))
    final = machine.pass_start[branch + 1] - 1
    for number in range(machine.pass_start[branch], final):
        between = np.empty(len(out), np.int64)
        size, bits = _run(machine, number, string, first, last, bits, between, 0)
        if size < 0:
            return size
        string, first, last = between, 0, size
    return _run(machine, final, string, first, last, bits, out, begin)[0]


@compiled
def rewrite_all(machine: Sampler, strings: Array, bits: Array) -> tuple[Array, Array]:
    """The lengths and tokens of a surface string drawn for each of (S, U) token ids; negative ids are left
    out.

    :param bits: (S,) ``uint64`` random bits.
    """
    lengths, out, size = np.empty(len(strings), np.int64), np.empty(1024, np.int64), 0
    for number in range(len(strings)):
        string, last = strings[number], 0
        # The tokens of a row need not stand at its left end.
        compact = np.empty(len(string), np.int64)
        for token in string:
            if token >= 0:
                compact[last] = token
                last += 1
        end = rewritten(machine, compact, 0, last, bits[number], out, size)
        while end < 0:
            out = doubled(out)
            end = rewritten(machine, compact, 0, last, bits[number], out, size)
        lengths[number], size = end - size, end
    return lengths, out[:size]


def draw_strings(machine: Sampler, underlying: Tensor) -> list[list[int]]:
    """Draw a surface string for each of (S, U) token ids by torch's generator; negative ids are skipped."""
    bits = torch.randint(-(2**63), 2**63 - 1, (len(underlying),)).numpy().view(np.uint64)
    lengths, tokens = rewrite_all(machine, np.ascontiguousarray(underlying.numpy()), bits)
    return [part.tolist() for part in np.split(tokens, np.cumsum(lengths)[:-1])]
