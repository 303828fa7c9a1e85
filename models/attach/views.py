"""What an attach model sees of the surface punctuation: the marks strictly inside a constituent.

The story attaches punctemes bottom-up, so that the choice of a constituent's punctemes may depend on the
"surface punctuation already added to w's subconstituents" (Li, Wang & Eisner 2019, section 2.1, d).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.inference.forest import Forest
from pyropunct.inference.ragged import Ints, runs, starts_of


class Contexts(NamedTuple):
    """The contexts of V views that have weights in a log-linear model, view after view.

    See `pyropunct.models.attach.log_linear.LogLinearAttach`.

    :ivar start: (V + 1,) where each view's contexts start.
    :ivar number: ``int32``, the numbers of the contexts.
    """

    start: Ints
    number: NDArray[np.int32]

    def of(self, views: Ints) -> "Contexts":
        """Those of some views, in the order given."""
        first = self.start[views]
        sizes = self.start[views + 1] - first
        return Contexts(starts_of(sizes), self.number[runs(first, sizes)])


def join_contexts(parts: Sequence[Contexts]) -> Contexts:
    """The contexts of the views of several batches, one batch after the other."""
    sizes = np.concatenate([np.diff(part.start) for part in parts])
    return Contexts(starts_of(sizes), np.concatenate([part.number for part in parts]))


class Views(NamedTuple):
    """V constituents of a batch of trees, each with the surface punctuation strictly inside it.

    A node may come several times, each time with other punctuation, as in several draws.

    :ivar node: (V,) the node of each view.
    :ivar start: (V + 1,) where the marks of each view start.
    :ivar token: (M,) the marks of all views in turn, those of a view from left to right.
    :ivar slot: (M,) the slot of each mark.
    :ivar contexts: what a log-linear model has found in these views, if it has looked before.
    """

    node: Ints
    start: Ints
    token: Ints
    slot: Ints
    contexts: Contexts | None = None

    @property
    def sizes(self) -> Ints:
        """(V,) how many marks each view has."""
        return np.diff(self.start)

    def of(self, marked: Ints) -> "Views":
        """Some of the views in order, among them all that have marks."""
        start = np.append(self.start[marked], self.start[-1])
        return Views(self.node[marked], start, self.token, self.slot)

    @property
    def view(self) -> Ints:
        """(M,) the view of each mark."""
        return np.repeat(np.arange(len(self.node)), self.sizes)


def views_of(forest: Forest, surface: Tensor, nodes: Ints | None = None) -> Views:
    """Nodes of a batch with the marks of one surface string strictly inside their constituents.

    :param surface: (S, L) surface strings, padded with -1.  Only slots strictly inside the constituents are
        read: the others may hold anything.
    :param nodes: the nodes; without them all N.
    """
    strings = surface.cpu().numpy()
    slot, column = np.nonzero(strings >= 0)
    start = np.searchsorted(slot, np.arange(len(strings) + 1))
    node = np.arange(forest.num_nodes) if nodes is None else nodes
    first = start[forest.left_slot.cpu().numpy()[node] + 1]
    sizes = start[forest.right_slot.cpu().numpy()[node]] - first
    marks = runs(first, sizes)
    return Views(node, starts_of(sizes), strings[slot, column][marks], slot[marks])
