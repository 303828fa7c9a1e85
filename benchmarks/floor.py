"""Counts the multiply-adds that a training step needs, and measures this core; used by `speed.py`."""

import time
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from pyropunct.inference.chart import chart_of, recorded
from pyropunct.inference.circuit.tape import RESCALE, SPARSE
from pyropunct.inference.problem import Problem
from pyropunct.models.attach.feature_weights import Features

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
    - Inside: one for each product of a step of Algorithm 1.  The reverse pass takes twice as many: 3 in all.
    """
    return Arithmetic(2 * _weights_read(features), 3 * _inside_pass(problem))


def _weights_read(features: Features) -> int:
    relation = np.repeat(features.relation, np.diff(features.contexts.start))
    part = features.blocks.part[features.contexts.number]
    return int(features.parts.sizes[relation, part].sum())


def _inside_pass(problem: Problem) -> int:
    steps = recorded(problem, chart_of(problem), 0, problem.forest.num_trees).tape.steps.astype(np.int64)
    kind, count, width = steps[:, 0], steps[:, 1], steps[:, 2]
    terms = np.where(kind == SPARSE, count, count * width)
    return int(terms[kind < RESCALE].sum())


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
