"""What an attach model sees: constituents with the surface punctuation strictly inside them.

Punctemes are attached bottom-up, so the choice may depend on the "surface punctuation already added to w's
subconstituents" (Li, Wang & Eisner 2019, section 2.1, d).
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from pyropunct.inference.forest import Forest
from pyropunct.inference.packed import PackedForest
from pyropunct.inference.ragged import runs, starts_of


class Views(NamedTuple):
    """V constituents of a batch of trees, each with the surface punctuation strictly inside it.

    A node may occur several times with different punctuation, for example in several draws. ``int64``.

    :ivar start: (V + 1,) where the marks of each view start.
    :ivar token: (M,) the marks, view after view, from left to right; ``slot``, (M,), their slots.
    :ivar contexts: what the attach model has looked up for them: see
        `pyropunct.models.attach.attach_model.Attach.contexts`.
    """

    node: Tensor
    start: Tensor
    token: Tensor
    slot: Tensor
    contexts: Any = None

    @property
    def sizes(self) -> Tensor:
        """(V,) how many marks each view has."""
        return self.start.diff()

    @property
    def view(self) -> Tensor:
        """(M,) the view of each mark."""
        return torch.repeat_interleave(self.sizes)

    def to(self, device: torch.device) -> "Views":
        """The same views on a device."""
        node, start, token, slot = (column.to(device) for column in self[:4])
        return Views(node, start, token, slot, self.contexts)


def join_views(parts: Sequence[Views]) -> Views:
    """Views of the same trees in one line, part after part, without contexts."""
    columns = [(part.node, part.sizes, part.token, part.slot) for part in parts]
    node, sizes, token, slot = map(torch.cat, zip(*columns, strict=True))
    return Views(node, torch.nn.functional.pad(sizes.cumsum(0), (1, 0)), token, slot)


def views_of(
    forest: Forest | PackedForest, surface: Tensor, nodes: Tensor | None = None, skipped: int | None = None
) -> Views:
    """Views of nodes, by default of all; (S, L) surface strings are padded with -1.

    :param skipped: a token that is no mark, `pyropunct.inference.inventory.Inventory.clause_token`.
    """
    nodes = torch.arange(forest.num_nodes) if nodes is None else nodes
    left_slot, right_slot = (slots.cpu()[nodes].numpy() for slots in (forest.left_slot, forest.right_slot))
    strings = surface.cpu().numpy()
    slot, column = np.nonzero(strings >= 0 if skipped is None else (strings >= 0) & (strings != skipped))
    start = np.searchsorted(slot, np.arange(len(strings) + 1))
    first = start[left_slot + 1]
    sizes = start[right_slot] - first
    marks = runs(first, sizes)
    token = strings[slot, column][marks]
    return Views(nodes, *map(torch.from_numpy, (starts_of(sizes), token, slot[marks])))


Scorer = Callable[[Views], Tensor]
"""Gives the scores (*batch, C) of the pairs of views of some trees, view after view."""
