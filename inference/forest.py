"""The shapes of projective trees, flattened to one axis of nodes and one of slots."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.inference.ragged import Ints, runs, starts_of


class Sprouting(NamedTuple):
    """The punctemes of the underlying string of each slot, in the order of u(T').

    :ivar start: (S + 1,) where those of each slot start.
    :ivar node: (2N,) the constituents, once for each of their punctemes; ``on_left`` tells which.
    :ivar outside: -1; or, for a place where the mark of a part of the constituent may stand
        (`pyropunct.inference.parts`), how many dependents are then outside of it.
    """

    start: Ints
    node: Ints
    on_left: NDArray[np.bool_]
    outside: Ints


@dataclass(frozen=True)
class SideBySide:
    """Trees, or sentences, whose nodes and slots are numbered through; every tensor is ``int64``.

    :ivar node_start: (B + 1,) first word of each tree; ``slot_start``, its first slot.
    :ivar tree: (N,) the tree of each node.
    """

    node_start: Tensor
    slot_start: Tensor
    tree: Tensor

    @property
    def num_trees(self) -> int:
        """The number B of trees."""
        return len(self.node_start) - 1

    @cached_property
    def slot_tree(self) -> Tensor:
        """(S,) the tree of each slot."""
        return torch.repeat_interleave(self.slot_start.diff())

    def per_tree(self, values: Tensor) -> Tensor:
        """Sum node values of shape (..., N) within each tree, to shape (..., B)."""
        return values.new_zeros((*values.shape[:-1], self.num_trees)).index_add(
            -1, self.tree.to(values.device), values
        )

    def slots(self, tree: int) -> range:
        """The slots 0..n of a tree of n words."""
        return range(*self.slot_start[tree : tree + 2].tolist())


@dataclass(frozen=True)
class Forest(SideBySide):
    """Projective trees of different shapes, side by side.

    A tree of n words has n nodes and n + 1 slots. Node w stands for the constituent headed by word w; slot i
    lies between words i and i + 1. Nodes and slots are numbered through the whole forest. B trees, N nodes, S
    slots; every tensor is ``int64``.

    :ivar head: (N,) the head of each node, -1 for a root.
    :ivar root: (B,) the root of each tree.
    :ivar left_slot: (N,) the slot i at the left edge of the constituent.
    :ivar word_slot: (N,) the slot j at the right of the constituent's head word.
    :ivar right_slot: (N,) the slot k at the right edge of the constituent.
    :ivar height: (N,) 0 for a leaf, else 1 + the greatest height of a child.
    :ivar depth: (N,) 0 for a root, else 1 + the head's depth.
    :ivar left_child_start: (N + 1,) where each node's part of ``left_child`` starts.
    :ivar left_child: left children of all nodes, each node's from left to right.
    :ivar right_child_start: (N + 1,) where each node's part of ``right_child`` starts.
    :ivar right_child: right children of all nodes, each node's from left to right.
    :ivar bottom_up: (N,) the nodes tree by tree, every child before its head.
    :ivar closing_height: (S,) the height of the smallest constituent that holds the slot strictly inside, for
        the first and last slot of a tree one more than the root's height: when all nodes below that height
        have their punctemes, the slot's underlying string is complete.
    """

    head: Tensor
    root: Tensor
    left_slot: Tensor
    word_slot: Tensor
    right_slot: Tensor
    height: Tensor
    depth: Tensor
    left_child_start: Tensor
    left_child: Tensor
    right_child_start: Tensor
    right_child: Tensor
    bottom_up: Tensor
    closing_height: Tensor

    @property
    def num_nodes(self) -> int:
        """The number N of nodes."""
        return len(self.head)

    @property
    def num_slots(self) -> int:
        """The number S = N + B of slots."""
        return len(self.closing_height)

    @cached_property
    def sprouting(self) -> Sprouting:
        """The order of u(T') (Li, Wang & Eisner 2019, section 2.1).

        First the right punctemes of constituents that end in a slot, inner ones first; then the left ones,
        outer first.
        """
        slot = np.concatenate([self.right_slot.cpu().numpy(), self.left_slot.cpu().numpy()])
        on_left, nodes = np.repeat([False, True], self.num_nodes), np.tile(np.arange(self.num_nodes), 2)
        return self._in_order(slot, nodes, on_left, np.full(len(nodes), -1))

    @cached_property
    def sprouting_with_parts(self) -> Sprouting:
        """The same with all places where marks of parts may stand, within the punctemes of their nodes."""
        own, places = self.sprouting, list[tuple[int, int, bool, int]]()
        for node in range(self.num_nodes):
            at_left, at_right = self.mark_slots(node)
            if len(at_left) + len(at_right) > 2:
                places += [(slot, node, True, number) for number, slot in enumerate(at_left)]
                places += [(slot, node, False, number) for number, slot in enumerate(at_right)]
        more = np.array(places, dtype=np.int64).reshape(-1, 4).T
        first = np.repeat(np.arange(self.num_slots), np.diff(own.start)), own.node, own.on_left, own.outside
        slot, nodes, on_left, outside = (np.concatenate(both) for both in zip(first, more, strict=True))
        return self._in_order(slot, nodes, on_left.astype(np.bool_), outside)

    def mark_slots(self, node: int) -> tuple[list[int], list[int]]:
        """Where a mark can stand with 0, 1, ... dependents of a node outside: on the left, on the right."""
        first, last = self._edges
        at_left = [first[node], *(last[child] for child in self.left_children(node))]
        return at_left, [last[node], *(first[child] for child in self.right_children(node)[::-1])]

    @cached_property
    def _edges(self) -> tuple[list[int], list[int]]:
        return self.left_slot.tolist(), self.right_slot.tolist()

    def _in_order(self, slot: Ints, node: Ints, on_left: NDArray[np.bool_], outside: Ints) -> Sprouting:
        """Right marks of inner constituents first, then left ones of outer constituents first."""
        depth = 2 * self.depth.cpu().numpy()[node] + (outside >= 0)  # a part lies within its constituent
        order = np.lexsort((np.where(on_left, depth, -depth), on_left, slot))
        start = starts_of(np.bincount(slot, minlength=self.num_slots))
        return Sprouting(start, node[order], on_left[order], outside[order])

    def heights(self) -> Iterator[tuple[Tensor, Tensor]]:
        """The nodes of each height, bottom-up, and the slots whose punctemes are all known after them."""
        for height in range(int(self.height.max()) + 1):
            nodes = (self.height == height).nonzero()[:, 0]
            yield nodes, (self.closing_height == height + 1).nonzero()[:, 0]

    def to(self, device: torch.device | str) -> "Forest":
        """The same forest with its tensors on ``device``."""
        return Forest(**{field.name: getattr(self, field.name).to(device) for field in fields(self)})

    def nodes(self, tree: int) -> range:
        """The nodes of a tree: its words from left to right."""
        return range(*self.node_start[tree : tree + 2].tolist())

    def left_children(self, node: int) -> list[int]:
        """The children v of a node w with v < w, from left to right."""
        first, last = self.left_child_start[node : node + 2].tolist()
        return self.left_child[first:last].tolist()

    def right_children(self, node: int) -> list[int]:
        """The children v of a node w with v > w, from left to right."""
        first, last = self.right_child_start[node : node + 2].tolist()
        return self.right_child[first:last].tolist()

    def nodes_of(self, trees: Sequence[int]) -> Ints:
        """The nodes of some trees, tree after tree."""
        start, chosen = self.node_start.cpu().numpy(), np.asarray(trees, np.int64)
        return runs(start[chosen], start[chosen + 1] - start[chosen])

    def pick(self, trees: Sequence[int]) -> "Forest":
        """A forest of some of the trees, in the order given; a tree may be taken twice."""
        nodes, start = self.nodes_of(trees), self.node_start.cpu().numpy()
        head, tree = self.head.cpu().numpy()[nodes], self.tree.cpu().numpy()[nodes]
        within = np.where(head < 0, -1, head - start[tree])
        return _shaped(within, np.diff(start)[np.asarray(trees, np.int64)])


def forest_of(heads: Sequence[Sequence[int]]) -> Forest:
    """Make a forest of trees; ``heads`` are numbered from 1, 0 is the root.

    :raises ValueError: if a tree has no word, not exactly one root, a cycle, a head out of range, or a
        constituent that is not one span.
    """
    sizes = np.array([len(tree) for tree in heads], np.int64)
    flat = np.array([head for tree in heads for head in tree], np.int64) - 1
    tree = np.repeat(np.arange(len(heads)), sizes)
    odd = np.bincount(tree[flat == -1], minlength=len(heads)) != 1
    odd[tree[(flat < -1) | (flat >= sizes[tree])]] = True
    if odd.any():
        _complain(heads[int(odd.argmax())])
    return _shaped(flat, sizes)


def _complain(heads: Sequence[int]) -> None:
    n, roots = len(heads), sum(head == 0 for head in heads)
    if roots != 1:
        raise ValueError(f"a tree needs exactly one root, this one of {n} words has {roots}: {heads}")
    word, head = next((word, head) for word, head in enumerate(heads, 1) if not 0 <= head <= n)
    raise ValueError(f"word {word} has head {head}, but the tree has {n} words: {heads}")


def _shaped(local_head: Ints, sizes: Ints) -> Forest:
    """Work out the shapes of trees of given sizes from the heads of their nodes, counted from 0."""
    node_start = starts_of(sizes)
    tree = np.repeat(np.arange(len(sizes)), sizes)
    head = np.where(local_head < 0, -1, local_head + node_start[tree])
    depth = _depths(head, tree)
    nodes = np.arange(len(head))
    bottom_up = np.lexsort((-depth, tree))
    first, last, height = _spans(head, depth, tree)
    left_child_start, left_child = _children(head, (head >= 0) & (nodes < head))
    right_child_start, right_child = _children(head, nodes > np.where(head < 0, len(head), head))
    root = np.flatnonzero(head < 0)
    closing_height = np.repeat(height[root] + 1, sizes + 1)
    # Between each child and the rest of its head's constituent, on the head's side, lies one slot.
    child = np.flatnonzero(head >= 0)
    closed = np.where(child < head[child], last[child] + 1, first[child]) + tree[child]
    closing_height[closed] = height[head[child]]
    # Every tree has one slot more than it has nodes.
    columns = {
        "node_start": node_start,
        "slot_start": node_start + np.arange(len(node_start)),
        "tree": tree,
        "head": head,
        "root": root,
        "left_slot": first + tree,
        "word_slot": nodes + tree + 1,
        "right_slot": last + tree + 1,
        "height": height,
        "depth": depth,
        "left_child_start": left_child_start,
        "left_child": left_child,
        "right_child_start": right_child_start,
        "right_child": right_child,
        "bottom_up": bottom_up,
        "closing_height": closing_height,
    }
    return Forest(**{name: torch.from_numpy(column) for name, column in columns.items()})


def _depths(head: Ints, tree: Ints) -> Ints:
    """How far each node is from its root: every round doubles the length of the leap to an ancestor."""
    depth, ancestor = (head >= 0).astype(np.int64), head
    for _ in range(len(head).bit_length()):
        leaps = ancestor >= 0
        if not leaps.any():
            break
        depth = depth + np.where(leaps, depth[ancestor], 0)
        ancestor = np.where(leaps, ancestor[ancestor], -1)
    if (ancestor >= 0).any():
        nodes = np.flatnonzero(tree == tree[(ancestor >= 0).argmax()])
        heads = np.where(head[nodes] < 0, 0, head[nodes] - nodes[0] + 1).tolist()
        raise ValueError(f"the tree has a cycle: {heads}")
    return depth


def _spans(head: Ints, depth: Ints, tree: Ints) -> tuple[Ints, Ints, Ints]:
    """The first and last word of each constituent, and its height; deepest constituents first."""
    nodes = np.arange(len(head))
    first, last, height, size = nodes.copy(), nodes.copy(), np.zeros_like(nodes), np.ones_like(nodes)
    by_depth = np.argsort(-depth, kind="stable")
    levels = np.split(by_depth, np.flatnonzero(np.diff(depth[by_depth])) + 1)
    for level in levels[:-1]:
        above = head[level]
        np.minimum.at(first, above, first[level])
        np.maximum.at(last, above, last[level])
        np.maximum.at(height, above, height[level] + 1)
        np.add.at(size, above, size[level])
    broken = by_depth[(size != last - first + 1)[by_depth]]
    if len(broken):
        word = broken[0] - int((tree < tree[broken[0]]).sum()) + 1
        raise ValueError(f"the constituent of word {word} is not one span: lift the tree first")
    return first, last, height


def _children(head: Ints, chosen: NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """Where each node's children start, and some children, grouped by their head, from left to right."""
    child = np.flatnonzero(chosen)
    child = child[np.argsort(head[child], kind="stable")]
    return np.searchsorted(head[child], np.arange(len(head) + 1)), child
