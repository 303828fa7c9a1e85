"""The shapes of projective trees, flattened to one axis of nodes and one of slots."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import torch
from torch import Tensor


@dataclass(frozen=True)
class Forest:
    """Projective trees of different shapes, side by side.

    A tree of n words has n nodes and n + 1 slots.  Node w stands for the constituent headed by
    word w; slot i lies between words i and i + 1.  Nodes and slots are numbered through the whole
    forest.  B trees, N nodes, S slots; every tensor is ``int64``.

    :ivar node_start: (B + 1,) first node of each tree.
    :ivar slot_start: (B + 1,) first slot of each tree.
    :ivar tree: (N,) the tree of each node.
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
    :ivar closing_height: (S,) the height of the smallest constituent that holds the slot strictly
        inside, for the first and last slot of a tree one more than the root's height: when all
        nodes below that height have their punctemes, the slot's underlying string is complete.
    """

    node_start: Tensor
    slot_start: Tensor
    tree: Tensor
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
    def num_trees(self) -> int:
        """The number B of trees."""
        return len(self.root)

    @property
    def num_nodes(self) -> int:
        """The number N of nodes."""
        return len(self.head)

    @property
    def num_slots(self) -> int:
        """The number S = N + B of slots."""
        return len(self.closing_height)

    def per_tree(self, values: Tensor) -> Tensor:
        """Sum node values of shape (..., N) within each tree, to shape (..., B)."""
        return values.new_zeros((*values.shape[:-1], self.num_trees)).index_add(
            -1, self.tree.to(values.device), values
        )

    def to(self, device: torch.device | str) -> "Forest":
        """The same forest with its tensors on ``device``."""
        return Forest(**{field.name: getattr(self, field.name).to(device) for field in fields(self)})


def forest_of(heads: Sequence[Sequence[int]]) -> Forest:
    """Make a forest of trees given by their heads.

    :param heads: for each tree the head of each of its words, words numbered from 1, 0 for the root.
    :raises ValueError: if some tree has no word, not exactly one root, a cycle, a head out of range, or
        a constituent that is not one span.
    """
    return join_forests([_one_tree(tree) for tree in heads])


def join_forests(forests: Sequence[Forest]) -> Forest:
    """Put forests side by side, in the order given."""
    if len(forests) == 1:
        return forests[0]
    nodes = _starts([forest.num_nodes for forest in forests])
    slots = _starts([forest.num_slots for forest in forests])
    trees = _starts([forest.num_trees for forest in forests])
    left = _starts([len(forest.left_child) for forest in forests])
    right = _starts([len(forest.right_child) for forest in forests])

    def joined(name: str, shifts: Sequence[int] | None = None, open_end: bool = False) -> Tensor:
        parts = [getattr(forest, name) for forest in forests]
        if open_end:
            parts = [part[:-1] for part in parts[:-1]] + [parts[-1]]
        values = torch.cat(parts)
        if shifts is None:
            return values
        lengths = torch.tensor([len(part) for part in parts])
        return values + torch.repeat_interleave(torch.tensor(shifts[: len(parts)]), lengths)

    head = joined("head")
    shift = torch.repeat_interleave(
        torch.tensor(nodes[:-1]), torch.tensor([forest.num_nodes for forest in forests])
    )
    return Forest(
        node_start=joined("node_start", nodes, open_end=True),
        slot_start=joined("slot_start", slots, open_end=True),
        tree=joined("tree", trees),
        head=torch.where(head < 0, head, head + shift),
        root=joined("root", nodes),
        left_slot=joined("left_slot", slots),
        word_slot=joined("word_slot", slots),
        right_slot=joined("right_slot", slots),
        height=joined("height"),
        depth=joined("depth"),
        left_child_start=joined("left_child_start", left, open_end=True),
        left_child=joined("left_child", nodes),
        right_child_start=joined("right_child_start", right, open_end=True),
        right_child=joined("right_child", nodes),
        bottom_up=joined("bottom_up", nodes),
        closing_height=joined("closing_height"),
    )


def _starts(lengths: Sequence[int]) -> list[int]:
    """Where consecutive pieces of these lengths start, and where the last one ends."""
    starts = [0]
    for length in lengths:
        starts.append(starts[-1] + length)
    return starts


def _one_tree(heads: Sequence[int]) -> Forest:
    n = len(heads)
    top_down = _top_down(heads)
    children: list[list[int]] = [[] for _ in range(n)]
    for word, head in enumerate(heads):
        if head:
            children[head - 1].append(word)
    first, last, height, depth = list(range(n)), list(range(n)), [0] * n, [0] * n
    for word in top_down:
        depth[word] = depth[heads[word] - 1] + 1 if heads[word] else 0
    for word in reversed(top_down):
        for child in children[word]:
            first[word], last[word] = min(first[word], first[child]), max(last[word], last[child])
            height[word] = max(height[word], height[child] + 1)
    _check_spans(top_down, children, first, last)
    left = [[child for child in children[word] if child < word] for word in range(n)]
    right = [[child for child in children[word] if child > word] for word in range(n)]
    return Forest(
        node_start=torch.tensor([0, n]),
        slot_start=torch.tensor([0, n + 1]),
        tree=torch.zeros(n, dtype=torch.long),
        head=torch.tensor(heads) - 1,
        root=torch.tensor(top_down[:1]),
        left_slot=torch.tensor(first),
        word_slot=torch.arange(1, n + 1),
        right_slot=torch.tensor(last) + 1,
        height=torch.tensor(height),
        depth=torch.tensor(depth),
        left_child_start=torch.tensor(_starts([len(row) for row in left])),
        left_child=torch.tensor([child for row in left for child in row], dtype=torch.long),
        right_child_start=torch.tensor(_starts([len(row) for row in right])),
        right_child=torch.tensor([child for row in right for child in row], dtype=torch.long),
        bottom_up=torch.tensor(top_down[::-1]),
        closing_height=torch.tensor(_closing_heights(heads, first, last, height)),
    )


def _top_down(heads: Sequence[int]) -> list[int]:
    """The words, counted from 0, every head before its children."""
    n = len(heads)
    roots = [word for word in range(n) if heads[word] == 0]
    if len(roots) != 1:
        raise ValueError(f"a tree needs exactly one root, this one of {n} words has {len(roots)}: {heads}")
    children: list[list[int]] = [[] for _ in range(n)]
    for word, head in enumerate(heads):
        if not 0 <= head <= n:
            raise ValueError(f"word {word + 1} has head {head}, but the tree has {n} words: {heads}")
        if head:
            children[head - 1].append(word)
    order = roots
    for word in order:
        order.extend(children[word])
    if len(order) < n:
        raise ValueError(f"the tree has a cycle: {heads}")
    return order


def _check_spans(top_down: list[int], children: list[list[int]], first: list[int], last: list[int]) -> None:
    size = [1] * len(children)
    for word in reversed(top_down):
        size[word] += sum(size[child] for child in children[word])
        if size[word] != last[word] - first[word] + 1:
            raise ValueError(f"the constituent of word {word + 1} is not one span: lift the tree first")


def _closing_heights(heads: Sequence[int], first: list[int], last: list[int], height: list[int]) -> list[int]:
    """Heights of the smallest constituents that hold each slot strictly inside.

    Between each child and the rest of its head's constituent, on the head's side, lies one slot.
    """
    closing = [max(height) + 1] * (len(heads) + 1)
    for word, head in enumerate(heads):
        if head:
            slot = last[word] + 1 if word < head - 1 else first[word]
            closing[slot] = height[head - 1]
    return closing
