"""Sums of weight vectors over the contexts of each node, compiled: the inner loop of a log-linear model."""

from typing import Any, NamedTuple

import numpy as np
import torch
from numba import njit
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.inference.inventory import Inventory

Array = NDArray[Any]

PAIR, LEFT, RIGHT, SYMMETRY, ANY_LEFT, ANY_RIGHT = range(6)
"""What a context's weights are about: the pairs of a relation, its left or right punctemes, the classes
of symmetry, or left and right punctemes whatever the relation."""


class Layout(NamedTuple):
    """Which weights bear on which pairs.

    :ivar pair_start: (D + 1,) the first row of each relation in the arrays below.
    :ivar left: left puncteme of each row, counted within the relation.
    :ivar right: right puncteme of each row, counted within the relation.
    :ivar symmetry: class of each row.
    :ivar any_left: left puncteme of each row, counted over all relations.
    :ivar any_right: right puncteme of each row, counted over all relations.
    :ivar widths: (6, D) how many weights a context of each kind has.
    """

    pair_start: Array
    left: Array
    right: Array
    symmetry: Array
    any_left: Array
    any_right: Array
    widths: Array


def lay_out_pairs(inventory: Inventory, symmetry: Array, num_classes: int) -> Layout:
    """The layout of an inventory's pairs.

    :param symmetry: the class of symmetry of each row.
    :param num_classes: the number of classes.
    """
    lefts, rights = zip(*inventory.rows, strict=True)
    any_left, num_left = _numbered([lefts])
    any_right, num_right = _numbered([rights])
    left, left_widths = _numbered([[pair[0] for pair in some] for some in inventory.pairs])
    right, right_widths = _numbered([[pair[1] for pair in some] for some in inventory.pairs])
    sizes = np.diff(inventory.pair_start)
    relations = inventory.num_relations
    widths = np.stack(
        [
            sizes,
            left_widths,
            right_widths,
            np.full(relations, num_classes),
            np.repeat(num_left, relations),
            np.repeat(num_right, relations),
        ]
    )
    return Layout(inventory.pair_start, left, right, symmetry, any_left, any_right, widths)


def _numbered(groups: Any) -> tuple[Array, Array]:
    """Number the distinct values of each group; return the numbers of all groups, and how many each has."""
    numbers, sizes = [], []
    for group in groups:
        place = {value: number for number, value in enumerate(sorted(set(group)))}
        numbers += [place[value] for value in group]
        sizes.append(len(place))
    return np.array(numbers, np.int64), np.array(sizes, np.int64)


@njit(cache=True, nogil=True, error_model="numpy")
def _add_scores(layout, relation, choice_start, node, kind, start, weights, scores):
    sums = np.zeros((6, layout.widths.max()), scores.dtype)
    context = 0
    for one in range(len(relation)):
        d = relation[one]
        row, size = layout.pair_start[d], choice_start[one + 1] - choice_start[one]
        sums[:] = 0
        while context < len(node) and node[context] == one:
            k, at = kind[context], start[context]
            for number in range(layout.widths[k, d]):
                sums[k, number] += weights[at + number]
            context += 1
        out = choice_start[one]
        for choice in range(size):
            scores[out + choice] = (
                sums[PAIR, choice]
                + sums[LEFT, layout.left[row + choice]]
                + sums[RIGHT, layout.right[row + choice]]
                + sums[SYMMETRY, layout.symmetry[row + choice]]
                + sums[ANY_LEFT, layout.any_left[row + choice]]
                + sums[ANY_RIGHT, layout.any_right[row + choice]]
            )


@njit(cache=True, nogil=True, error_model="numpy")
def _add_gradients(layout, relation, choice_start, node, kind, start, gradient, weight_gradient):
    sums = np.zeros((6, layout.widths.max()), gradient.dtype)
    context = 0
    for one in range(len(relation)):
        d = relation[one]
        row, size = layout.pair_start[d], choice_start[one + 1] - choice_start[one]
        sums[:] = 0
        out = choice_start[one]
        for choice in range(size):
            flow = gradient[out + choice]
            sums[PAIR, choice] += flow
            sums[LEFT, layout.left[row + choice]] += flow
            sums[RIGHT, layout.right[row + choice]] += flow
            sums[SYMMETRY, layout.symmetry[row + choice]] += flow
            sums[ANY_LEFT, layout.any_left[row + choice]] += flow
            sums[ANY_RIGHT, layout.any_right[row + choice]] += flow
        while context < len(node) and node[context] == one:
            k, at = kind[context], start[context]
            for number in range(layout.widths[k, d]):
                weight_gradient[at + number] += sums[k, number]
            context += 1


class Contexts(NamedTuple):
    """Which weights are active at which nodes, sorted by node.

    :ivar node: the node of each active context.
    :ivar kind: what its weights are about, `PAIR` to `ANY_RIGHT`.
    :ivar start: where its weights start in the flat tensor of all weights.
    """

    node: Array
    kind: Array
    start: Array


class _Scores(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, weights: Tensor, layout: Layout, relation: Array, choice_start: Array, contexts: Contexts
    ) -> Tensor:
        ctx.arguments = layout, relation, choice_start, contexts
        ctx.weights = weights.shape, weights.dtype, weights.device
        scores = np.empty(int(choice_start[-1]))
        _add_scores(layout, relation, choice_start, *contexts, weights.detach().cpu().numpy(), scores)
        return torch.from_numpy(scores).to(weights.device)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        layout, relation, choice_start, contexts = ctx.arguments
        shape, dtype, device = ctx.weights
        result = torch.zeros(shape, dtype=dtype)
        values = gradient.cpu().contiguous().numpy()
        _add_gradients(layout, relation, choice_start, *contexts, values, result.numpy())
        return result.to(device), None, None, None, None


def pair_scores(
    weights: Tensor, layout: Layout, relation: Array, choice_start: Array, contexts: Contexts
) -> Tensor:
    """The score theta . f(l, r, w) of each pair at each node, (C,), in double precision.

    :param weights: (P,) all weights theta.
    :param relation: (N,) the relation of each node.
    :param choice_start: (N + 1,) where each node's pairs start in the result.
    """
    return _Scores.apply(weights, layout, relation, choice_start, contexts)
