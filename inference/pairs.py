"""Choices from sets of different sizes: each node chooses a pair of punctemes from its relation's W_d.

Numbers of all pairs of all nodes stand in one line, (..., C), node after node.  ``start``, (N + 1,), says
where those of each node start; ``start[N]`` is C.  A choice is the place of a pair within its node's set.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pyro.ops.provenance import extract_provenance, track_provenance
from torch import Tensor

Array = NDArray[Any]


def log_probabilities(scores: Tensor, start: Tensor) -> Tensor:
    """log p(l, r | w), normalised over each node's set (Li, Wang & Eisner 2019, equations 3 and 4)."""
    if scores.device.type == "cpu":  # by NumPy, which does not pass on the sites that the scores depend on
        values, sites = extract_provenance(scores)
        return track_provenance(_LogSoftmax.apply(values, start), sites)
    return _by_tensors(scores, start)


def _by_tensors(scores: Tensor, start: Tensor) -> Tensor:
    """`log_probabilities` for numbers on another device."""
    node = _nodes(start, scores.device)
    best = _maxima(scores.detach(), node, start)
    scaled = (scores - best[..., node]).exp()
    totals = torch.zeros_like(best).index_add(-1, node, scaled)
    return scores - (totals.log() + best)[..., node]


def of_choices(values: Tensor, choices: Tensor, start: Tensor) -> Tensor:
    """(..., N) the value of each node's choice, from (..., C); dimensions on the left broadcast.

    :raises ValueError: if a choice is outside of its node's set.
    """
    index = choices + start[:-1]
    if (choices < 0).any() or (index >= start[1:]).any():
        raise ValueError(f"a choice is outside of the pairs that its node may sprout: {choices.tolist()}")
    index = index.to(values.device)
    batch = np.broadcast_shapes(index.shape[:-1], values.shape[:-1])
    return values.expand(*batch, -1).gather(-1, index.expand(*batch, -1))


def _nodes(start: Tensor, device: torch.device) -> Tensor:
    """(C,) the node of each pair."""
    return torch.repeat_interleave(start.diff().to(device))


def _maxima(values: Tensor, node: Tensor, start: Tensor) -> Tensor:
    best = values.new_full((*values.shape[:-1], len(start) - 1), -torch.inf)
    return best.scatter_reduce(-1, node.expand(values.shape), values, "amax")


class _LogSoftmax(torch.autograd.Function):
    """A log-softmax of neighbouring numbers, set by set."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, start: Tensor) -> Tensor:
        ctx.start, values = start, scores.detach().numpy()
        best = np.maximum.reduceat(values, _firsts(start), -1)
        shifted = values - _repeated(best, start)
        chances = np.exp(shifted)
        totals = np.add.reduceat(chances, _firsts(start), -1)
        chances /= _repeated(totals, start)
        result = torch.from_numpy(shifted - _repeated(np.log(totals), start))
        ctx.save_for_backward(torch.from_numpy(chances), result)
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        chances, result = ctx.saved_tensors
        if torch.is_grad_enabled():  # derivatives of this may be wanted
            node = _nodes(ctx.start, gradient.device)
            sums = gradient.new_zeros((*gradient.shape[:-1], len(ctx.start) - 1))
            return gradient - result.exp() * sums.index_add(-1, node, gradient)[..., node], None
        flows = gradient.contiguous().numpy()
        totals = np.add.reduceat(flows, _firsts(ctx.start), -1)
        slopes = flows - chances.numpy() * _repeated(totals, ctx.start)
        return torch.from_numpy(slopes), None


def _firsts(start: Tensor) -> Array:
    """Where each set starts; NumPy sums from each start to the next."""
    return start[:-1].numpy()


def _repeated(values: Array, start: Tensor) -> Array:
    """The number of each node at each of its pairs."""
    return np.repeat(values, np.diff(start.numpy()), -1)
