"""The log-linear model without what hardly matters.

In each context every pair of W_d has exactly one weight.  So a number that is added to all weights of a
context changes no probability.  Most of its weights belong to pairs that were never seen in it, which
training pushes down alike: where these are zero, few are left that are far from it.
"""

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.inference.compiling import compiled, inner
from pyropunct.models.attach.log_linear import LogLinearAttach

Array = NDArray[Any]

LEAST = 2.0**-11
"""Weights nearer to zero are left out.  A number of half precision, so that pruning twice is pruning once."""


STEP = 2.0**-7
"""Of what a small model keeps, weights are multiples of this."""

KEY_BITS = 40
"""Of what a small model keeps, keys of contexts have so many bits: a context that has no weights is taken for
one of K that have some with a probability of K / 2^40."""


class Pruned(NamedTuple):
    """What is left of a model: tensors of a `LogLinearAttach`, by their names there.

    :ivar keys: (K,) the contexts that are left, in the order that they had.
    :ivar kinds: (K,) what their weights are about.
    :ivar starts: (K + 1,) where the weights of each start.
    :ivar weights: their weights, none but zero nearer to zero than the least.
    """

    keys: Tensor
    kinds: Tensor
    starts: Tensor
    weights: Tensor


def pruned(attach: LogLinearAttach, least: float = LEAST) -> Pruned:
    """A fitted log-linear model without weights near zero, nor contexts of which no weight is left.

    First, the weights of each context are moved together, so that as many as possible are near zero.  The
    others are rounded to half precision, by at most a 2048th of themselves.

    :param least: weights nearer to zero are left out.
    """
    left = _without_the_least(attach, least)
    return _with_weights(left, left.weights.half().to(left.weights.dtype))


def rounded(attach: LogLinearAttach, step: float = STEP) -> Pruned:
    """`pruned`, but with weights that are multiples of a step, and with shorter keys: the last bits are zero.

    Keys have the first `KEY_BITS` bits, or as many more as no two of them share.

    :param step: a power of two; weights nearer to zero than half of it are left out.
    """
    left = _without_the_least(attach, step / 2)
    rough = _with_weights(left, (left.weights / step).round() * step)
    return rough._replace(keys=_shortened(rough.keys))


def _shortened(keys: Tensor) -> Tensor:
    """64-bit keys without some of their last bits."""
    for bits in range(KEY_BITS, 64):
        short = keys >> (64 - bits) << (64 - bits)
        if bool((short[1:] != short[:-1]).all()):
            return short
    return keys


def _without_the_least(attach: LogLinearAttach, least: float) -> Pruned:
    """All contexts, with what is left of their weights after they were moved."""
    weights, starts = attach.weights.detach().cpu().numpy(), attach.starts.cpu().numpy()
    moved = np.zeros_like(weights)
    _move(weights, starts, least, np.empty(int(np.diff(starts).max(initial=0)), weights.dtype), moved)
    return Pruned(attach.keys, attach.kinds, attach.starts, torch.from_numpy(moved).to(attach.weights))


def _with_weights(some: Pruned, weights: Tensor) -> Pruned:
    """Contexts with other weights, those of them that have any."""
    widths = some.starts.diff()
    places = weights.nonzero()[:, 0]
    kept = torch.zeros(len(widths), dtype=torch.bool, device=weights.device)
    kept[torch.searchsorted(some.starts, places, right=True) - 1] = True
    starts = torch.nn.functional.pad(widths[kept].cumsum(0), (1, 0))
    return Pruned(some.keys[kept], some.kinds[kept], starts, weights[torch.repeat_interleave(kept, widths)])


@compiled
def _move(weights: Array, starts: Array, least: float, room: Array, result: Array) -> None:
    """The weights of each context less the mean of the greatest number that are alike; these are zero.

    Alike are numbers at most twice the least apart.  Those that come to be nearer to zero than the least
    are zero, too.  A context with a zero, and no other number nearer to it than the least, stays as it is.

    :param room: for the weights of a context, in order.
    :param result: zeros, takes the weights.
    """
    for context in range(len(starts) - 1):
        given = weights[starts[context] : starts[context + 1]]
        moved = result[starts[context] : starts[context + 1]]
        low, centre, high = 0.0, 0.0, 0.0
        zeros, near = 0, 0
        for number in range(len(given)):
            zeros += given[number] == 0
            near += abs(given[number]) < least
        if zeros == 0 or near > zeros:
            low, centre, high = _alike(_ascending(given, room), 2 * least)
        for number in range(len(given)):
            away = given[number] - centre
            if not low <= given[number] <= high and abs(away) >= least:
                moved[number] = away


@inner
def _ascending(numbers: Array, room: Array) -> Array:
    """The same in order.  These are few: to compile numpy's sort would take longer than it could save."""
    result = room[: len(numbers)]
    for place in range(len(numbers)):
        number, before = numbers[place], place - 1
        while before >= 0 and result[before] > number:
            result[before + 1] = result[before]
            before -= 1
        result[before + 1] = number
    return result


@inner
def _alike(ascending: Array, apart: float) -> tuple[float, float, float]:
    """The smallest, the mean and the greatest of most numbers that are at most so far apart."""
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
