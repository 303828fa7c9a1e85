"""Sums of weight vectors over the contexts of each node, compiled: the inner loop of a log-linear model.

A *context* is something true of a node, say "its tag is VERB"; it owns a run of consecutive weights, one
for each *target*: for each pair of the node's relation, or for each left puncteme, and so on.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.inference.compiling import compiled
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.ragged import runs, starts_of
from pyropunct.inference.threads import in_threads, parts_of

Array = NDArray[Any]

PAIR, LEFT, RIGHT, SYMMETRY, ANY_LEFT, ANY_RIGHT = range(6)
"""What a context's weights are about: the pairs of a relation, its left or right punctemes, the classes
of symmetry, or left and right punctemes whatever the relation."""

NODES_PER_THREAD, KEYS_PER_THREAD = 200, 20_000
"""With fewer nodes, or keys to find, than this, a thread costs more than it saves."""


class Layout(NamedTuple):
    """Which weights of a context bear on which pairs.

    :ivar pair_start: (D + 1,) the first row of each relation's pairs, as in the inventory.
    :ivar target: (rows, 6) for each pair, which of the weights of a context of each kind.
    :ivar widths: (D, 6) how many weights a context of each kind has at a node of each relation.
    :ivar widest: the greatest of these.
    """

    pair_start: Array
    target: Array
    widths: Array
    widest: int


def lay_out_pairs(inventory: Inventory, symmetry: Array, num_classes: int) -> Layout:
    """The layout of an inventory's pairs.

    :param symmetry: the class of symmetry of each row.
    :param num_classes: the number of classes.
    """
    relations = inventory.num_relations
    lefts, rights = zip(*inventory.rows, strict=True)
    sizes = np.diff(inventory.pair_start)
    every = [np.arange(size) for size in sizes]
    columns = [
        (np.concatenate(every), sizes),
        _numbered([[pair[0] for pair in some] for some in inventory.pairs]),
        _numbered([[pair[1] for pair in some] for some in inventory.pairs]),
        (symmetry, np.full(relations, num_classes)),
        _numbered([lefts], relations),
        _numbered([rights], relations),
    ]
    targets, widths = zip(*columns, strict=True)
    table = np.stack(widths, -1)
    return Layout(inventory.pair_start, np.stack(targets, -1), table, int(table.max()))


def _numbered(groups: Any, repeats: int = 1) -> tuple[Array, Array]:
    """Number the distinct values of each group; return the numbers of all groups, and how many each has."""
    numbers, sizes = [], []
    for group in groups:
        place = {value: number for number, value in enumerate(sorted(set(group)))}
        numbers += [place[value] for value in group]
        sizes.append(len(place))
    return np.array(numbers, np.int64), np.repeat(sizes, repeats)


class Contexts(NamedTuple):
    """The contexts of N nodes that have weights, node after node.

    :ivar node_start: (N + 1,) where each node's contexts start.
    :ivar number: ``int32``, the contexts, as their `Book` numbers them.
    """

    node_start: Array
    number: Array

    def of_nodes(self, nodes: Array) -> "Contexts":
        """Those of some nodes, in the order given."""
        first = self.node_start[nodes]
        sizes = self.node_start[nodes + 1] - first
        return Contexts(starts_of(sizes), self.number[runs(first, sizes)])


def join_contexts(parts: Sequence[Contexts]) -> Contexts:
    """The contexts of several batches, side by side."""
    sizes = np.concatenate([np.diff(part.node_start) for part in parts])
    return Contexts(starts_of(sizes), np.concatenate([part.number for part in parts]))


def gather_contexts(node: Array, number: Array, nodes: int) -> Contexts:
    """The contexts of some nodes, given in any order; -1 is none, and is left out.

    :param node: of each context, the node that has it.
    :param number: ``int32``, the contexts.
    :param nodes: how many nodes there are.
    """
    return Contexts(*_gathered(node, number, nodes))


@compiled
def _gathered(node, number, nodes):
    start = np.zeros(nodes + 1, np.int64)
    for use in range(len(node)):
        start[node[use] + 1] += number[use] >= 0
    for one in range(nodes):
        start[one + 1] += start[one]
    result, end = np.empty(start[nodes], number.dtype), start[:nodes].copy()
    for use in range(len(node)):
        if number[use] >= 0:
            result[end[node[use]]] = number[use]
            end[node[use]] += 1
    return start, result


class Index(NamedTuple):
    """Where sorted keys, spread evenly over all 64-bit numbers, begin with the same bits.

    :ivar keys: the keys, as the model keeps them.
    :ivar known: the same as unsigned numbers.
    :ivar first: for each beginning the first key that has it or a greater one.
    :ivar shift: by how many bits to shift a key to leave its beginning.
    """

    keys: Tensor
    known: Array
    first: Array
    shift: int

    def find(self, keys: Array) -> Array:
        """The places of some keys among those known, ``int32``, -1 for the others."""
        result = np.empty(len(keys), np.int32)

        def work(first: int, last: int) -> None:
            _find(self.known, self.first, np.uint64(self.shift), keys[first:last], result[first:last])

        in_threads(work, parts_of(len(keys), KEYS_PER_THREAD))
        return result


def index_of(keys: Tensor) -> Index:
    """Index sorted 64-bit keys by about as many beginnings as there are keys."""
    known = keys.cpu().numpy().view(np.uint64)
    bits = max(1, len(known).bit_length())
    beginnings = np.arange(1 << bits, dtype=np.uint64) << np.uint64(64 - bits)
    first = np.append(np.searchsorted(known, beginnings), len(known))
    return Index(keys, known, first, 64 - bits)


@compiled
def _find(known, first, shift, keys, result):
    for number in range(len(keys)):
        key = keys[number]
        beginning = np.int64(key >> shift)
        at, end = first[beginning], first[beginning + 1]
        while at < end and known[at] < key:
            at += 1
        result[number] = at if at < end and known[at] == key else -1


class Book(NamedTuple):
    """Where the weights of K contexts are.

    :ivar kinds: (K,) ``int8``, what a context's weights are about, `PAIR` to `ANY_RIGHT`.
    :ivar starts: (K + 1,) where its weights start in the flat tensor of all weights.
    """

    kinds: Array
    starts: Array


class Excerpt:
    """The weights of those contexts alone that some nodes have, side by side.

    A batch of sentences touches a few percent of all weights; reading and updating only these, a
    training step does not depend on how many there are.

    :param book: where the weights of all contexts are.
    :param contexts: the contexts of the nodes.

    :ivar context: (U,) the contexts in use, in order.
    :ivar uses: (U,) how many nodes have each.
    :ivar sizes: (U,) how many weights each has.
    :ivar starts: (U,) where they start among all weights.
    :ivar places: (M,) the places of the excerpt's weights among all weights, in order.
    :ivar book: where the weights of the contexts in use are in the excerpt, these contexts numbered anew.
    :ivar contexts: the contexts of the nodes, so numbered.
    """

    def __init__(self, book: Book, contexts: Contexts) -> None:
        self.context, self.uses, number = _in_use(contexts.number, len(book.kinds))
        self.starts = book.starts[self.context]
        self.sizes = book.starts[self.context + 1] - self.starts
        self.book = Book(book.kinds[self.context], starts_of(self.sizes))
        self.contexts = Contexts(contexts.node_start, number)
        self.places = torch.from_numpy(runs(self.starts, self.sizes))
        self._latest: tuple[Tensor, Tensor] | None = None

    def of(self, weights: Tensor) -> Tensor:
        """(M,) the excerpt from all weights, whose gradient through it is sparse.

        Asked twice about one tensor, it gives the same answer, so that all gradients of the excerpt
        have been added up when they get to the tensor.
        """
        if self._latest is None or self._latest[0] is not weights:
            self._latest = weights, _Excerpt.apply(weights, self)
        return self._latest[1]


@compiled
def _in_use(number, size):
    """The distinct numbers below ``size``, in order, how often each is there, and which of them each is."""
    uses = np.zeros(size, np.int32)
    for use in number:
        uses[use] += 1
    distinct = np.flatnonzero(uses)
    counts = uses[distinct]
    place = uses  # no longer needed as it is
    for new in range(len(distinct)):
        place[distinct[new]] = new
    return distinct, counts, place[number]


class _Excerpt(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weights: Tensor, excerpt: Excerpt) -> Tensor:
        ctx.shape, ctx.places = weights.shape, excerpt.places.to(weights.device)
        if weights.device.type != "cpu":
            return weights[ctx.places]
        result = torch.empty(len(ctx.places), dtype=weights.dtype)
        _copy_runs(weights.detach().numpy(), excerpt.starts, excerpt.sizes, result.numpy())
        return result

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return sparse_vector(ctx.places, gradient, ctx.shape), None


def sparse_vector(places: Tensor, values: Tensor, shape: torch.Size) -> Tensor:
    """A vector that is zero but at some places, given in order."""
    return torch.sparse_coo_tensor(places[None], values, shape, check_invariants=False, is_coalesced=True)


@compiled
def _copy_runs(source, starts, sizes, target):
    """Copy what is at those places: much quicker than to look up each by itself."""
    end = 0
    for run in range(len(starts)):
        block, own = target[end : end + sizes[run]], source[starts[run] : starts[run] + sizes[run]]
        for offset in range(len(block)):
            block[offset] = own[offset]
        end += len(block)


class Weighing(NamedTuple):
    """Which contexts bear on which choices of N nodes.

    :ivar layout: which weights of a context bear on which pairs.
    :ivar book: where a context's weights are.
    :ivar relation: (N,) the relation of each node.
    :ivar choice_start: (N + 1,) where each node's pairs start in the scores.
    :ivar contexts: the contexts of each node.
    """

    layout: Layout
    book: Book
    relation: Array
    choice_start: Array
    contexts: Contexts


@compiled
def _add_scores(weighing, weights, first, last, scores):
    """The scores of the choices of some nodes."""
    layout, book, relation, choice_start, contexts = weighing
    sums = np.zeros((6, layout.widest), weights.dtype)
    for node in range(first, last):
        d = relation[node]
        sums[:] = 0
        for use in range(contexts.node_start[node], contexts.node_start[node + 1]):
            context = contexts.number[use]
            kind, start = book.kinds[context], book.starts[context]
            width = layout.widths[d, kind]
            total, own = sums[kind], weights[start : start + width]
            for target in range(width):
                total[target] += own[target]
        row = layout.pair_start[d] - choice_start[node]
        for choice in range(choice_start[node], choice_start[node + 1]):
            for kind in range(6):
                scores[choice] += sums[kind, layout.target[row + choice, kind]]


@compiled
def _add_gradients(weighing, gradient, first, last, weight_gradient):
    """Reverse of `_add_scores`."""
    layout, book, relation, choice_start, contexts = weighing
    sums = np.zeros((6, layout.widest), weight_gradient.dtype)
    for node in range(first, last):
        d = relation[node]
        sums[:] = 0
        row = layout.pair_start[d] - choice_start[node]
        for choice in range(choice_start[node], choice_start[node + 1]):
            for kind in range(6):
                sums[kind, layout.target[row + choice, kind]] += gradient[choice]
        for use in range(contexts.node_start[node], contexts.node_start[node + 1]):
            context = contexts.number[use]
            kind, start = book.kinds[context], book.starts[context]
            width = layout.widths[d, kind]
            total, own = sums[kind], weight_gradient[start : start + width]
            for target in range(width):
                own[target] += total[target]


class _Scores(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weights: Tensor, weighing: Weighing) -> Tensor:
        ctx.weighing = weighing
        ctx.weights = weights.shape, weights.dtype, weights.device
        scores, values = np.zeros(int(weighing.choice_start[-1])), weights.detach().cpu().numpy()

        def work(first: int, last: int) -> None:
            _add_scores(weighing, values, first, last, scores)

        in_threads(work, parts_of(len(weighing.relation), NODES_PER_THREAD))
        return torch.from_numpy(scores).to(weights.device)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        shape, dtype, device = ctx.weights
        flows = gradient.cpu().contiguous().numpy()

        def work(first: int, last: int) -> Tensor:
            result = torch.zeros(shape, dtype=dtype)
            _add_gradients(ctx.weighing, flows, first, last, result.numpy())
            return result

        parts = parts_of(len(ctx.weighing.relation), NODES_PER_THREAD)
        total, *others = in_threads(work, parts)
        for other in others:
            total += other
        return total.to(device), None


def pair_scores(weights: Tensor, weighing: Weighing) -> Tensor:
    """The score theta . f(l, r, w) of each pair at each node, (C,), in double precision.

    :param weights: (P,) all weights theta, or the excerpt that the book is about.
    :param weighing: which of them bear on which pairs.
    """
    return _Scores.apply(weights, weighing)
