"""Choices from sets of different sizes: each node chooses a pair of punctemes from its relation's W_d.

Numbers of all pairs of all nodes stand in one line, (..., C), node after node.  ``start``, (N + 1,), says
where those of each node start; ``start[N]`` is C.  A choice is the place of a pair within its node's set.
"""

import numpy as np
import torch
from torch import Tensor


def log_probabilities(scores: Tensor, start: Tensor) -> Tensor:
    """log p(l, r | w), normalised over each node's set (Li, Wang & Eisner 2019, equations 3 and 4)."""
    node = torch.repeat_interleave(start.diff().to(scores.device), output_size=int(start[-1]))
    best = scores.new_full((*scores.shape[:-1], len(start) - 1), -torch.inf)
    best = best.scatter_reduce(-1, node.expand(scores.shape), scores.detach(), "amax")
    shifted = scores - best.index_select(-1, node)
    totals = torch.zeros_like(best).index_add(-1, node, shifted.exp())
    return shifted - totals.log().index_select(-1, node)


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
