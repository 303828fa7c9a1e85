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
from torch.nn.functional import logsigmoid, pad

from pyropunct.inference.forest import Forest
from pyropunct.inference.ragged import Array, Ints


class PartPair(NamedTuple):
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

    def part(self, node: int, number: int) -> PartPair | None:
        """The part of a node that a number stands for; None for 0."""
        return PartPair(*map(int, self.columns(number, node))) if number else None

    def columns(self, number: Any, node: Any = slice(None)) -> tuple[Any, Any, Any]:
        """The columns of `PartPair` of numbers other than 0; by default (..., N) those of all nodes."""
        left, right = self.left[node] + 1, self.right[node] + 1
        rest, right_out = (number - 1) // right, (number - 1) % right
        return rest // left, rest % left, right_out


@dataclass(frozen=True)
class Parts:
    """K parts that may explain the page, sorted by nodes; part 0 is always possible.

    :ivar marks: (kinds, 2) the left and the right mark of each kind.
    :ivar node: (K,) the node of each part; ``kind``, ``left_out`` and ``right_out`` as in `PartPair`, and
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
        columns = np.unique(self.node.numpy(), return_index=True, return_counts=True)
        runs = zip(*(column.tolist() for column in columns), strict=True)
        return {node: range(first, first + size) for node, first, size in runs}

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


@dataclass(frozen=True)
class PartScores:
    """Log-probabilities of the parts of N nodes.

    :ivar has_part: (N,) the logit of having a part; ``kind``, (kinds,), the scores of their kinds.
    :ivar left: the logits of staying outside, of the left children of the forest; ``right``, of the right.
    """

    marks: Tensor
    forest: Forest
    has_part: Tensor
    kind: Tensor
    left: Tensor
    right: Tensor

    def log_none(self) -> Tensor:
        """(N,) the log-probability of having no part: a node without dependents has none."""
        shapes = Shapes(self.forest)
        may = ((shapes.left + shapes.right) > 0).to(self.has_part.device)
        return logsigmoid(-self.has_part).where(may, 0.0)

    def log_prob(self, node: Tensor, kind: Tensor, left_out: Tensor, right_out: Tensor) -> Tensor:
        """(K,) log-probabilities of parts of nodes."""
        device = self.has_part.device
        of_kind = logsigmoid(self.has_part[node.to(device)]) + self.kind.log_softmax(-1)[kind.to(device)]
        whole = self._log_outs(node, torch.zeros_like(left_out), torch.zeros_like(right_out))
        return of_kind + self._log_outs(node, left_out, right_out) - torch.log1p(-whole.exp())

    def log_prob_of(self, number: Tensor) -> Tensor:
        """(..., N) log-probabilities of the numbers of parts, 0 for none, of all nodes."""
        has = number > 0
        place = has.nonzero().unbind(1)
        result = self.log_none().expand(number.shape)
        if not len(place[0]):
            return result
        columns = (column[has] for column in Shapes(self.forest).columns(number))
        own = self.log_prob(place[-1], *columns)
        return result.masked_scatter(has.to(result.device), own)

    def _log_outs(self, node: Tensor, left_out: Tensor, right_out: Tensor) -> Tensor:
        """How likely so many of the outermost dependents stay outside, and the next one does not."""
        forest = self.forest
        first, end = (forest.left_child_start[node + more] for more in (0, 1))
        left = self._run(self.left, first, first + left_out, first + left_out, left_out < end - first)
        first, end = (forest.right_child_start[node + more] for more in (0, 1))
        inner = end - right_out
        return left + self._run(self.right, inner, end, inner - 1, right_out < end - first)

    def _run(self, logits: Tensor, begin: Tensor, stop: Tensor, inside: Tensor, is_inside: Tensor) -> Tensor:
        """Children from ``begin`` to ``stop`` are outside; the child ``inside``, if there is one, is not."""
        outs, stays = pad(logsigmoid(logits).cumsum(0), (1, 0)), pad(logsigmoid(-logits), (0, 1))
        begin, stop, inside, is_inside = (
            column.to(logits.device) for column in (begin, stop, inside.clamp(min=0), is_inside)
        )
        return outs[stop] - outs[begin] + stays[inside].where(is_inside, 0.0)


class PartDraws:
    """Draws parts of constituents.

    :param scores: on any device.
    """

    @torch.no_grad()
    def __init__(self, scores: PartScores) -> None:
        self._scores = scores
        self._some = scores.log_none().double().expm1().neg().cpu().numpy()
        self._known: dict[int, tuple[Array, Array]] = {}

    @torch.no_grad()
    def _options(self, node: int) -> tuple[Array, Array]:
        """The parts of a node, (options, 3), and their running sums of probability."""
        if node not in self._known:
            shapes, kinds = Shapes(self._scores.forest), torch.arange(len(self._scores.marks))
            outs = [torch.arange(int(side[node]) + 1) for side in (shapes.left, shapes.right)]
            options = torch.cartesian_prod(kinds, *outs)
            options = options[(options[:, 1:] > 0).any(-1)]
            chances = self._scores.log_prob(torch.full((len(options),), node), *options.T).double().exp()
            self._known[node] = options.numpy(), np.cumsum(chances.cpu().numpy())
        return self._known[node]

    def draw(self, nodes: range, generator: np.random.Generator, parts: Array) -> None:
        """Write parts of some nodes to (3, N, draws), -1 before: kind, left and right dependents outside."""
        chances = generator.random((len(nodes), parts.shape[2]))
        has = chances < self._some[nodes.start : nodes.stop, None]
        for place in np.flatnonzero(has.any(1)).tolist():
            options, sums = self._options(nodes.start + place)
            chosen = np.searchsorted(sums, generator.random(has[place].sum()) * sums[-1], "right")
            parts[:, nodes.start + place, has[place]] = options[np.minimum(chosen, len(sums) - 1)].T
