"""Distributions over the orders of a head and its dependents: sums, draws and gradients.

Sources: Wang & Eisner (2016), "The Galactic Dependencies Treebanks", TACL 4; Li, Wang & Eisner (2019, section
6.3).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.inference.compiling import compiled, inner
from pyropunct.inference.ragged import Floats, Ints, starts_of

LEFT, RIGHT = range(2)
BEFORE, NEXT = 0, 2
"""The columns of the scores of pairs: BEFORE + side and NEXT + side."""

COLUMNS = 4

MOST_DRAWN = 16
"""More items than these stay in the order of their numbers: a draw takes O(2^m m^2) steps.  With marks as
dependents, one head in three thousand has more."""

NO_ITEM = -1
"""Pads the orders of nodes that have fewer items than others."""


class Nodes(NamedTuple):
    """N nodes, each with m items to order: the head word, item 0, and the dependents, items 1 .. m - 1.

    :ivar sizes: (N,) m of each node.
    :ivar start: (N + 1,) where the (m + 1) x (m + 1) pairs of each node start.  Item m is the edge: in the
        pair (m, j) item j is the first, in the pair (i, m) item i is the last.
    :ivar pairs: (E,) the kind of each pair, a row of the scores.
    """

    sizes: Ints
    start: Ints
    pairs: Ints


def nodes_of(tables: Sequence[NDArray[np.int64]]) -> Nodes:
    """Nodes from their (m + 1, m + 1) tables of the kinds of pairs."""
    sizes = np.array([len(table) - 1 for table in tables], np.int64)
    pairs = np.concatenate([table.ravel() for table in tables]) if tables else np.zeros(0, np.int64)
    return Nodes(sizes, starts_of((sizes + 1) ** 2), pairs)


def log_prob(nodes: Nodes, scores: Tensor, orders: Tensor) -> Tensor:
    """(N,) the log-probabilities of (N, M) orders of the items of nodes, padded with `NO_ITEM`.

    For an order y_1 .. y_m with the edge at y_0 and y_(m + 1)::

        p(y) ~ exp( sum over a < b <= m    of  before[side(y_b)][y_a, y_b]
                  + sum over 0 <= a <= m   of  next[side(y_(a + 1))][y_a, y_(a + 1)] )

    where side(j) is right if j stands behind the head, and left otherwise.  Sums over all orders are sums
    over the set of items placed so far and the last of them (Held & Karp 1962):  O(2^m m^2) steps instead of
    m!.

    :param scores: (kinds, 4) the scores of each kind of pair: before on the left and right, next on the left
        and right.
    """
    used = torch.from_numpy(_uses(*nodes, orders.numpy()))
    # one row for each pair of each node
    local: Tensor = scores[torch.from_numpy(nodes.pairs)].double()
    owner = torch.from_numpy(np.repeat(np.arange(len(nodes.sizes)), np.diff(nodes.start)))
    score = torch.zeros(len(nodes.sizes), dtype=torch.double).index_add(0, owner, (local * used).sum(1))
    normaliser: Tensor = _LogNormaliser.apply(local, nodes, owner)
    return score - normaliser


def draw_orders(nodes: Nodes, scores: Floats, generator: np.random.Generator) -> Ints:
    """(N, M) a drawn order for each node, padded with `NO_ITEM`; see `log_prob` and `MOST_DRAWN`."""
    longest = int(nodes.sizes.max(initial=0))
    orders = np.full((len(nodes.sizes), longest), NO_ITEM)
    _draw(*nodes, scores, generator.random(orders.shape), orders)
    return orders


class _LogNormaliser(torch.autograd.Function):
    """The logarithm of the sum over all orders; its gradient is the expected number of uses of each score."""

    @staticmethod
    def forward(context: Any, local: Tensor, nodes: Nodes, owner: Tensor) -> Tensor:
        """(N,) the normalisers, from the scores of all pairs, (E, 4)."""
        normalisers, expected = np.zeros(len(nodes.sizes)), np.zeros(tuple(local.shape))
        _sum_orders(nodes.sizes, nodes.start, local.detach().numpy(), normalisers, expected)
        context.save_for_backward(torch.from_numpy(expected), owner)
        return torch.from_numpy(normalisers)

    @staticmethod
    def backward(context: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        """Gradients of the scores."""
        expected, owner = context.saved_tensors
        return expected * gradients[0][owner][:, None], None, None


@inner
def _continuations(local: Floats, odds: Floats, steps: Floats) -> float:
    """The probabilities of the next item after each set of items; returns the log-sum over all orders."""
    size = len(local) - 1
    full = (1 << size) - 1
    _add_before(local, steps)
    rest, unit = np.zeros((1 << size, size + 1)), np.zeros(1 << size)
    for last in range(size):
        rest[full, last] = odds[last, size, RIGHT]
    for placed in range(full, -1, -1):
        side, most, greatest = placed & 1, -np.inf, 0.0  # the head is item 0
        for new in range(size):
            if not placed >> new & 1:
                steps[placed, new] += unit[placed | 1 << new]
                most = max(most, steps[placed, new])
        for new in range(size):
            more = placed | 1 << new
            steps[placed, new] = (
                0.0 if more == placed else np.exp(steps[placed, new] - most) * rest[more, new]
            )
        for last in range(size + 1):
            if (placed >> last & 1) or (placed == 0 and last == size):
                for new in range(size):
                    rest[placed, last] += odds[last, new, side] * steps[placed, new]
                greatest = max(greatest, rest[placed, last])
        for last in range(size + 1):
            rest[placed, last] /= greatest
        unit[placed] = np.log(greatest) + (0.0 if placed == full else most)
    return unit[0]


@inner
def _add_before(local: Floats, steps: Floats) -> None:
    """Fill (2^m, m) with the scores of a new item behind all items of a set."""
    size = len(local) - 1
    highest = 0
    for placed in range(1, 1 << size):
        if placed >> (highest + 1):
            highest += 1
        fewer = placed ^ 1 << highest
        for new in range(size):
            steps[placed, new] = steps[fewer, new] + local[highest, new, BEFORE + (placed & 1)]


@compiled
def _sum_orders(sizes: Ints, start: Ints, local: Floats, normalisers: Floats, expected: Floats) -> None:
    """The log-sum over all orders of each node, and the expected number of uses of each score."""
    for node in range(len(sizes)):
        size = sizes[node]
        shape = (size + 1, size + 1, COLUMNS)
        table = local[start[node] : start[node + 1]].copy().reshape(shape)
        odds, steps = np.exp(table[:, :, NEXT:]), np.zeros((1 << size, size))
        normalisers[node] = _continuations(table, odds, steps)
        _expect(odds, steps, expected[start[node] : start[node + 1]].reshape(shape))


@inner
def _expect(odds: Floats, steps: Floats, uses: Floats) -> None:
    """The expected number of uses of each score in an order, from the empty set up."""
    size = len(odds) - 1
    full = (1 << size) - 1
    chance, mass = np.zeros((1 << size, size + 1)), np.zeros(size)
    chance[0, size] = 1.0
    for placed in range(full):
        side = placed & 1
        mass[:] = 0.0
        for last in range(size + 1):
            if chance[placed, last] > 0:
                total = 0.0
                for new in range(size):
                    total += odds[last, new, side] * steps[placed, new]
                for new in range(size):
                    share = chance[placed, last] * odds[last, new, side] * steps[placed, new] / total
                    uses[last, new, NEXT + side] += share
                    mass[new] += share
        for new in range(size):
            if not placed >> new & 1:
                chance[placed | 1 << new, new] += mass[new]
        for item in range(size):
            if placed >> item & 1:
                for new in range(size):
                    uses[item, new, BEFORE + side] += mass[new]
    for last in range(size):
        uses[last, size, NEXT + RIGHT] += chance[full, last]


@compiled
def _uses(sizes: Ints, start: Ints, pairs: Ints, orders: Ints) -> Floats:
    """(E, 4) how often each score is used in given orders."""
    uses = np.zeros((len(pairs), COLUMNS))
    for node in range(len(sizes)):
        size = sizes[node]
        table = uses[start[node] : start[node + 1]]
        side, last = LEFT, size
        for place in range(size):
            new = orders[node, place]
            for earlier in range(place):
                table[orders[node, earlier] * (size + 1) + new, BEFORE + side] += 1
            table[last * (size + 1) + new, NEXT + side] += 1
            side, last = (RIGHT if new == 0 else side), new
        table[last * (size + 1) + size, NEXT + RIGHT] += 1
    return uses


@compiled
def _draw(sizes: Ints, start: Ints, pairs: Ints, scores: Floats, uniform: Floats, orders: Ints) -> None:
    """Draw the orders of all nodes of at most `MOST_DRAWN` items; others keep the order of their numbers."""
    for node in range(len(sizes)):
        size = sizes[node]
        if size > MOST_DRAWN:
            orders[node, :size] = np.arange(size)
            continue
        table = scores[pairs[start[node] : start[node + 1]]].reshape((size + 1, size + 1, COLUMNS))
        odds, steps = np.exp(table[:, :, NEXT:]), np.zeros((1 << size, size))
        _continuations(table, odds, steps)
        placed, last = 0, size
        for place in range(size):
            shares = odds[last, :size, placed & 1] * steps[placed]
            remaining, chosen = uniform[node, place] * shares.sum(), -1
            for new in range(size):
                if shares[new] > 0 and remaining >= 0:
                    chosen = new
                    remaining -= shares[new]
            orders[node, place] = chosen
            last = chosen
            placed |= 1 << chosen
