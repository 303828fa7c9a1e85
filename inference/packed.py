"""Packed forests: all projective trees of some sentences that consist of given arcs, in at most O(n^4) items.

A tree is a choice among alternatives that share parts (Billot & Lang 1989, "The structure of shared forests
in ambiguous parsing").  A head separates the words on its two sides, so its constituent has two *halves*::

    L[i, h]   all trees of what the head h has on its left, from slot i on
    R[h, k]   all trees of what it has on its right, up to slot k

An *item* (h, d, m, k) adds the constituent of a dependent d from slot m to slot k, L[m, d] and R[d, k]::

    R[h, k]  from  R[h, m]  and the item (h, d, m, k)      dependents on the right
    L[m, h]  from  L[k, h]  and the item (h, d, m, k)      dependents on the left

Each tree has one item for each word, and is found once.  The root is a right dependent of an artificial word
before the first.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.inference.forest import SideBySide
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.items import ITEM, count_items, list_items
from pyropunct.inference.machines.automata import Automata
from pyropunct.inference.problem import Problem
from pyropunct.inference.ragged import starts_of


@dataclass(frozen=True)
class PackedForest(SideBySide):
    """B sentences with S slots, I items and H halves: items are its nodes.

    The halves of a sentence come one after the other: two without dependents for each of its words, those of
    the artificial word before the first slot, without dependents and with a root, then all others.  Every
    half is complete before an item has it as a part.

    :ivar node_start: (B + 1,) the first word of each sentence; likewise ``slot_start``, ``item_start`` and
        ``half_start``.
    :ivar tree: (I,) the sentence of each item.
    :ivar word: (I,) the head word d of each item's constituent, between the slots m and k.
    :ivar head: (I,) the word h to which it attaches, -1 for the root.
    :ivar near: (I,) the half of d on the side of h; ``far``, on the other side.
    :ivar source: (I,) the half of h that grows; ``target``, the half that it becomes.
    :ivar meeting: (I,) items with the same source and near half have the same number.
    :ivar half_slot: (H,) the slot where each half ends.
    :ivar on_left: (H,) 1 for a half on the left of its word.
    """

    item_start: Tensor
    half_start: Tensor
    word: Tensor
    head: Tensor
    left_slot: Tensor
    right_slot: Tensor
    near: Tensor
    far: Tensor
    source: Tensor
    target: Tensor
    meeting: Tensor
    half_slot: Tensor
    on_left: Tensor

    @property
    def num_nodes(self) -> int:
        """The number I of items."""
        return len(self.word)

    @property
    def num_slots(self) -> int:
        """The number S of slots."""
        return int(self.slot_start[-1])

    def items(self, chosen: Tensor) -> "PackedForest":
        """The forest with the chosen items only, each as often as it is chosen."""
        sizes = torch.bincount(self.tree[chosen], minlength=self.num_trees)
        columns = {name: getattr(self, name)[chosen] for name in ITEM}
        start = torch.nn.functional.pad(sizes.cumsum(0), (1, 0))
        return replace(self, item_start=start, tree=self.tree[chosen], **columns)


def packed_forest(arcs: Sequence[NDArray[np.bool_]]) -> PackedForest:
    """All projective trees with one root that consist of allowed arcs.

    :param arcs: for each sentence, (n, n + 1): whether the arc to [word] from [head] is allowed; head 0 is
        the root.
    """
    return joined([_of_sentence(one) for one in arcs])


def _of_sentence(arcs: NDArray[np.bool_]) -> PackedForest:
    n = len(arcs)
    if not n or arcs.shape != (n, n + 1):
        raise ValueError(f"arcs have shape {arcs.shape}: it needs (n, n + 1), for a sentence of n words")
    items, halves = count_items(np.ascontiguousarray(arcs))
    table, half = np.empty((items, len(ITEM)), np.int64), np.empty((halves, 2), np.int64)
    list_items(np.ascontiguousarray(arcs), table, half)
    columns = {name: torch.from_numpy(np.ascontiguousarray(table[:, at])) for at, name in enumerate(ITEM)}
    half_slot, on_left = (torch.from_numpy(np.ascontiguousarray(column)) for column in half.T)
    sizes = {"node_start": n, "slot_start": n + 1, "item_start": items, "half_start": halves}
    starts = {name: torch.tensor([0, size]) for name, size in sizes.items()}
    tree = torch.zeros(items, dtype=torch.long)
    return PackedForest(**starts, tree=tree, **columns, half_slot=half_slot, on_left=on_left)


COUNTED = {
    "word": "node_start",
    "head": "node_start",
    "left_slot": "slot_start",
    "right_slot": "slot_start",
    "near": "half_start",
    "far": "half_start",
    "source": "half_start",
    "target": "half_start",
    "meeting": "item_start",
    "half_slot": "slot_start",
}
"""The columns that hold numbers, each with the column that says where these start."""


def joined(forests: Sequence[PackedForest]) -> PackedForest:
    """The sentences of several forests, one forest after the other."""
    columns: dict[str, Tensor] = {}
    for name in (field.name for field in fields(PackedForest)):
        parts = [getattr(forest, name) for forest in forests]
        if name.endswith("_start"):
            sizes = torch.cat([part.diff() for part in parts])
            columns[name] = torch.nn.functional.pad(sizes.cumsum(0), (1, 0))
        else:
            shifts = starts_of([_end(forest, name) for forest in forests]).tolist()
            moved = (torch.where(part < 0, part, part + by) for part, by in zip(parts, shifts, strict=False))
            columns[name] = torch.cat(list(moved))
    return PackedForest(**columns)


def _end(forest: PackedForest, name: str) -> int:
    """How many words, slots, ... there are that a column has the numbers of."""
    if name == "tree":
        return forest.num_trees
    return int(getattr(forest, COUNTED[name])[-1]) if name in COUNTED else 0


def without_marks(forest: PackedForest, log_weights: Tensor) -> Problem:
    """The problem of trees alone, without punctuation, given (I,) log weights of items."""
    one, states = torch.ones(1, dtype=torch.double), np.array([0, 1])
    nothing = Automata(1, states, states * 0, states[:0], states[:0], one[:0], one, one, np.zeros(1))
    items, slots = (torch.zeros(size, dtype=torch.long) for size in (forest.num_nodes, forest.num_slots))
    return Problem(forest, Inventory(1, [[((), ())]]), items, log_weights, nothing, slots)
