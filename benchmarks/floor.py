"""Counts the multiply-adds that a training step needs, and measures this core; used by `speed.py`."""

import time
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pyropunct.inference.problem import Problem
from pyropunct.models.attach.scores import Features

IN_CACHE = 1024
"""Numbers in each of two arrays that stay in the innermost cache: 8 KiB each."""

IN_MEMORY = 1 << 25
"""Numbers in each of two arrays that no cache holds: 256 MiB each."""


class Arithmetic(NamedTuple):
    """Multiply-adds of one training step: of the attach scores and of the inside pass, with gradients."""

    attach: int
    inside: int


def arithmetic(problem: Problem, features: Features) -> Arithmetic:
    """Count the multiply-adds that a training step on a batch needs at least, as a lower bound.

    - Attach: each weight of each context of each node is added to a score, and gets a part of the gradient:
      2.
    - Inside: one for each arc that is read for an entry of a trie, each number of a table, and each possible
      pair of a node.  The reverse pass takes twice as many: 3 in all.
    """
    return Arithmetic(2 * _weights_read(features), 3 * _inside_pass(problem))


def _weights_read(features: Features) -> int:
    relation = np.repeat(features.relation, np.diff(features.contexts.start))
    part = features.blocks.part[features.contexts.number]
    return int(features.parts.sizes[relation, part].sum())


def _inside_pass(problem: Problem) -> int:
    one = problem.structure
    arcs = np.diff(one.arc_start).reshape(-1, one.num_tokens)
    states = np.diff(one.state_start)
    total = 0
    for node, relation in enumerate(one.relation):
        open_sides = []
        for slot, start, token in (
            (one.left_slot[node], one.left_start, one.left_token),
            (one.right_slot[node], one.right_start, one.right_token),
        ):
            automaton = one.slot_automaton[slot]
            first, last = start[relation], start[relation + 1]
            open_sides.append(arcs[automaton].any())
            entries = last - first if open_sides[-1] else 1
            total += entries * states[automaton]
            total += arcs[automaton, token[first + 1 : last]].sum()
        total += _possible_pairs(problem, relation, *open_sides)
    return int(total)


def _possible_pairs(problem: Problem, relation: int, left_open: bool, right_open: bool) -> int:
    """How many pairs are empty on every side where nothing stands in the slot."""
    pairs = problem.inventory.pairs[relation]
    return sum((left_open or not left) and (right_open or not right) for left, right in pairs)


@njit(error_model="numpy")
def _multiply_add(x: NDArray[np.float64], y: NDArray[np.float64], factor: float, rounds: int) -> None:
    for _ in range(rounds):
        for place in range(len(x)):
            y[place] += factor * x[place]


def multiply_adds_per_second(size: int, rounds: int, repeats: int = 5) -> float:
    """How many y[i] += a x[i] this core does in a second, in double precision; the best of some trials."""
    x, y = np.ones(size), np.zeros(size)
    _multiply_add(x, y, 0.5, 1)
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        _multiply_add(x, y, 0.5, rounds)
        times.append(time.perf_counter() - began)
    return size * rounds / min(times)


def speed_in_cache() -> float:
    """Multiply-adds a second on arrays that stay in the innermost cache."""
    return multiply_adds_per_second(IN_CACHE, 100_000)


def speed_in_memory() -> float:
    """Multiply-adds a second on arrays that stream from memory."""
    return multiply_adds_per_second(IN_MEMORY, 1)
