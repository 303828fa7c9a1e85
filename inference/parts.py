"""Marks around a part of a constituent: its head with only some of its dependents.

In "I went to the “ special place ”" the quotation marks enclose *special place*, but *the* belongs to the
same constituent (Li, Wang & Eisner 2019, footnote 8). A constituent may sprout one such *part pair*: a mark
at its left and its partner at its right, so that some of its outermost dependents stand outside. A head
separates its two sides, so both marks are read on the way outward, one in each half of the head.

A node of T' chooses a pair (l, r) and a part. One number stands for both: number of the pair + size of W_d x
number of the part. Part 0 is no part; see `Shapes.number`.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from pyropunct.inference.forest import Forest
from pyropunct.inference.ragged import Ints


class Part(NamedTuple):
    """A part pair of a constituent.

    :ivar kind: which pair of marks.
    :ivar left_out: how many dependents on the left stand outside; ``right_out``, on the right.
    """

    kind: int
    left_out: int
    right_out: int


class Shapes:
    """The parts that constituents may have: how many dependents are on each side, and where a mark can stand.

    :ivar left: (N,) how many dependents each node has on its left; ``right``, on its right.
    """

    def __init__(self, forest: Forest) -> None:
        self._forest = forest
        self.left, self.right = (
            start.diff() for start in (forest.left_child_start, forest.right_child_start)
        )

    def number(self, node: Tensor, kind: Tensor, left_out: Tensor, right_out: Tensor) -> Tensor:
        """The number of each part, 1 or more; ``node`` is that of its constituent."""
        left, right = self.left[node] + 1, self.right[node] + 1
        return 1 + (kind * left + left_out) * right + right_out

    def part(self, node: int, number: int) -> Part | None:
        """The part of a node that a number stands for; None for 0."""
        return Part(*map(int, self.columns(number, node))) if number else None

    def columns(self, number: Any, node: Any = slice(None)) -> tuple[Any, Any, Any]:
        """The columns of `Part` of numbers other than 0; by default (..., N) those of all nodes."""
        left, right = self.left[node] + 1, self.right[node] + 1
        rest, right_out = (number - 1) // right, (number - 1) % right
        return rest // left, rest % left, right_out


@dataclass(frozen=True)
class Parts:
    """K parts that may explain the page, sorted by nodes; part 0 is always possible.

    :ivar marks: (kinds, 2) the left and the right mark of each kind.
    :ivar node: (K,) the node of each part; ``kind``, ``left_out`` and ``right_out`` as in `Part`, and
        ``number``, that of `Shapes.number`.
    """

    marks: Tensor
    node: Tensor
    kind: Tensor
    left_out: Tensor
    right_out: Tensor
    number: Tensor

    @cached_property
    def of_node(self) -> dict[int, range]:
        """The parts of each node that has some."""
        nodes, starts = np.unique(self.node.numpy(), return_index=True)
        ends = np.append(starts[1:], len(self.node))[: len(starts)]
        return {
            n: range(a, b) for n, a, b in zip(*map(np.ndarray.tolist, (nodes, starts, ends)), strict=True)
        }

    def counts(self, nodes: int) -> Ints:
        """(N,) how many parts each node has, with part 0."""
        return 1 + np.bincount(self.node.numpy(), minlength=nodes)


def shown_parts(forest: Forest, surface: Tensor, marks: Tensor) -> Parts:
    """The parts of constituents whose two marks the page shows where they would stand.

    :param surface: (S, L) the page, filled up with -1.
    :param marks: (kinds, 2) the marks of part pairs.
    """
    shapes, found = Shapes(forest), list[tuple[int, int, int, int]]()
    shows = (surface[:, None, None, :] == marks[:, :, None].to(surface)).any(-1).cpu()  # (S, kinds, 2)
    bearing = forest.slot_tree[shows.flatten(1).any(1).nonzero()[:, 0]].unique().tolist()
    for tree in bearing:
        for node in forest.nodes(tree):
            if shapes.left[node] or shapes.right[node]:
                at_left, at_right = forest.mark_slots(node)
                ways = shows[at_left, :, 0][:, None] & shows[at_right, :, 1][None]  # (left, right, kinds)
                ways[0, 0] = False  # the whole constituent
                found += [(node, kind, left, right) for left, right, kind in ways.nonzero().tolist()]
    node, kind, left, right = torch.tensor(sorted(found), dtype=torch.long).reshape(-1, 4).T
    return Parts(marks, node, kind, left, right, shapes.number(node, kind, left, right))
