"""The log-linear model without weights near zero.

Adding a number to all weights of a context changes no probability, since each pair of W_d has one of them. So
the weights of unseen pairs can be moved to zero together.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from pyropunct.inference.compiling import compiled, inner
from pyropunct.inference.ragged import Array
from pyropunct.models.attach.log_linear import LogLinearAttach

LEAST = 2.0**-11
"""Weights nearer to zero are left out.  Exact in half precision, so that pruning again changes nothing."""

STEP = 2.0**-6
"""The weights of a small model are multiples of this."""

KEY_BITS = 40
"""The bits of a key in a small model.  A context without weights is mistaken for one of the K contexts that
have weights with a probability of K / 2^40."""


class Pruned(NamedTuple):
    """The K remaining contexts and their weights in a `LogLinearAttach`, by their names there.

    :ivar kinds: (K,) the part of the pair that the weights of each context are about.
    :ivar starts: (K + 1,) where the weights of each context start.
    """

    keys: Tensor
    kinds: Tensor
    starts: Tensor
    weights: Tensor


def pruned(attach: LogLinearAttach, least: float = LEAST) -> Pruned:
    """Removes weights below ``least`` in absolute value, and contexts that have no other weights.

    First shifts the weights of each context so that as many as possible are near zero. Then rounds the others
    to half precision, a relative change of 1 / 2048 at most.
    """
    moved = _without_the_least(attach, least)
    return _with_weights(moved, moved.weights.half().to(moved.weights.dtype))


def rounded(attach: LogLinearAttach, step: float = STEP) -> Pruned:
    """`pruned`, but weights are multiples of ``step``, a power of two; weights below half of it are removed.

    Keys keep their first `KEY_BITS` bits, and more if two of them would otherwise be equal; other bits are
    zero.
    """
    moved = _without_the_least(attach, step / 2)
    multiples = (moved.weights / step).round() * step
    rough = _with_weights(moved, multiples.half().to(multiples.dtype))
    return rough._replace(keys=_shortened(rough.keys))


def _shortened(keys: Tensor) -> Tensor:
    """64-bit keys, in order, with as few of their first bits as tell them apart, but `KEY_BITS` or more."""
    for bits in range(KEY_BITS, 64):
        short = keys >> (64 - bits) << (64 - bits)
        if bool((short[1:] != short[:-1]).all()):
            return short
    return keys


def _without_the_least(attach: LogLinearAttach, least: float) -> Pruned:
    """All contexts, with their weights moved, and zero where they are then near zero."""
    weights, starts = attach.weights.detach().to_dense().cpu().numpy(), attach.starts.cpu().numpy()
    moved = np.zeros_like(weights)
    _move(weights, starts, least, np.empty(int(np.diff(starts).max(initial=0)), weights.dtype), moved)
    return Pruned(attach.keys, attach.kinds, attach.starts, torch.from_numpy(moved).to(attach.weights))


def _with_weights(contexts: Pruned, weights: Tensor) -> Pruned:
    """Contexts with other weights, without contexts whose weights are all zero."""
    widths = contexts.starts.diff()
    places = weights.nonzero()[:, 0]
    kept = torch.zeros(len(widths), dtype=torch.bool, device=weights.device)
    kept[torch.searchsorted(contexts.starts, places, right=True) - 1] = True
    starts = torch.nn.functional.pad(widths[kept].cumsum(0), (1, 0))
    return Pruned(
        contexts.keys[kept], contexts.kinds[kept], starts, weights[torch.repeat_interleave(kept, widths)]
    )


@compiled
def _move(weights: Array, starts: Array, least: float, room: Array, result: Array) -> None:
    """Subtract, in each context, the mean of its largest cluster of weights (``2 * least`` wide at most).

    Cluster and weights then below ``least`` become zero. A context with a zero and no other such weight
    stays.
    """
    for context in range(len(starts) - 1):
        given = weights[starts[context] : starts[context + 1]]
        moved = result[starts[context] : starts[context + 1]]
        low, centre, high = 0.0, 0.0, 0.0
        zeros, near = 0, 0
        for place in range(len(given)):
            zeros += given[place] == 0
            near += abs(given[place]) < least
        if zeros == 0 or near > zeros:
            low, centre, high = _cluster(_ascending(given, room), 2 * least)
        for place in range(len(given)):
            away = given[place] - centre
            if not low <= given[place] <= high and abs(away) >= least:
                moved[place] = away


@inner
def _ascending(numbers: Array, room: Array) -> Array:
    """The numbers in order.  They are few: compiling numpy's sort would take longer than it could save."""
    result = room[: len(numbers)]
    for place in range(len(numbers)):
        number, before = numbers[place], place - 1
        while before >= 0 and result[before] > number:
            result[before + 1] = result[before]
            before -= 1
        result[before + 1] = number
    return result


@inner
def _cluster(ascending: Array, apart: float) -> tuple[float, float, float]:
    """The minimum, mean and maximum of the largest set of numbers at most ``apart`` from each other."""
    best, start, first = 0, 0, 0
    for last in range(len(ascending)):
        while ascending[last] - ascending[first] > apart:
            first += 1
        if last + 1 - first > best:
            best, start = last + 1 - first, first
    total = ascending[start]
    for place in range(start + 1, start + best):
        total += ascending[place]
    return ascending[start], total / best, ascending[start + best - 1]
