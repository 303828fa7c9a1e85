"""The scores theta . f(l, r, w) of a log-linear model, and the contexts that have weights, in compiled code.

A feature combines a *context*, such as "its tag is VERB", with the value of a *part* of the pair (l, r), such
as "the left puncteme is a comma". A context has a block of weights, one for each value of one part.
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from pyropunct.inference.compiling import compiled
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.ragged import Array, runs, starts_of
from pyropunct.inference.threads import in_threads, parts_of
from pyropunct.models.attach.attach_model import Contexts
from pyropunct.models.symmetry import CLASSES, symmetry_classes
from pyropunct.text.marks import COMMAS, DASHES

VIEWS_PER_THREAD = 200
"""With fewer views than this, a thread costs more than it saves."""

MANY = 0.2
"""If a larger share of a context's weights is not zero, they are quicker to read as a block."""


class PairPart(IntEnum):
    """The parts of the pair (l, r) of a constituent with relation d: each feature looks at one."""

    PAIR = 0
    """The pair itself, among those in W_d."""
    LEFT = 1
    """The left puncteme l, among those in W_d."""
    RIGHT = 2
    """The right puncteme r, among those in W_d."""
    SYMMETRY = 3
    """The class of symmetry of l and r, see `pyropunct.models.symmetry.CLASSES`."""
    ANY_LEFT = 4
    """The left puncteme, among those of all relations."""
    ANY_RIGHT = 5
    """The right puncteme, among those of all relations."""


PARTS = len(PairPart)
"""The number of parts.  Part p of the *completed* pair has the number p + `PARTS`: if (l, r) is a comma or
dash on one side, its completed pair has this mark on both sides; other pairs are their own."""

OF_RELATION = (PairPart.PAIR, PairPart.LEFT, PairPart.RIGHT)
"""The parts whose values are counted within W_d, so that d must be part of the context."""


class PairParts(NamedTuple):
    """The values of the parts of all pairs of an inventory, numbered from 0, and of their completed pairs.

    :ivar pair_start: (D + 1,) the first row of each relation's pairs, as in the inventory.
    :ivar value: (rows, 2 `PARTS`) the values of each row.
    :ivar sizes: (D, 2 `PARTS`) how many values each part has at a node of each relation.
    """

    pair_start: Array
    value: Array
    sizes: Array
    most: int


def parts_of_pairs(inventory: Inventory, marks: Sequence[str]) -> PairParts:
    """The parts of an inventory's pairs; ``marks`` are its tokens, for their symmetry."""
    relations = inventory.num_relations
    lefts, rights = zip(*inventory.rows, strict=True)
    sizes = np.diff(inventory.pair_start)
    columns = [  # in the order of `PairPart`
        (np.concatenate([np.arange(size) for size in sizes]), sizes),
        _numbered([[left for left, _ in pairs] for pairs in inventory.pairs]),
        _numbered([[right for _, right in pairs] for pairs in inventory.pairs]),
        (np.array(symmetry_classes(inventory, marks)), np.full(relations, len(CLASSES))),
        _numbered([lefts], relations),
        _numbered([rights], relations),
    ]
    values, counts = (np.stack(some, -1) for some in zip(*columns, strict=True))
    table = np.concatenate([counts, counts], -1)
    value = np.concatenate([values, values[_completed(inventory, marks)]], -1)
    return PairParts(inventory.pair_start, value, table, int(table.max()))


def _completed(inventory: Inventory, marks: Sequence[str]) -> Array:
    """The row of the completed pair of each row."""
    delimiters = {(number,) for number, mark in enumerate(marks) if mark in COMMAS or DASHES.issuperset(mark)}
    completed = np.arange(len(inventory.rows))
    for first, pairs in zip(inventory.pair_start.tolist(), inventory.pairs, strict=False):
        row = {pair: first + choice for choice, pair in enumerate(pairs)}
        for (left, right), place in row.items():
            mark = left or right
            if mark in delimiters and () in (left, right):
                completed[place] = row.get((mark, mark), place)
    return completed


def _numbered(groups: Any, repeats: int = 1) -> tuple[Array, Array]:
    """The distinct values of each group, numbered: the numbers of all values, and the sizes of the groups."""
    numbers, sizes = [], []
    for group in groups:
        place = {value: number for number, value in enumerate(sorted(set(group)))}
        numbers += [place[value] for value in group]
        sizes.append(len(place))
    return np.array(numbers, np.int64), np.repeat(sizes, repeats)


class WeightBlocks(NamedTuple):
    """(K,) ``int8`` the `PairPart` of each context's features, and (K + 1,) where its weights start."""

    part: Array
    start: Array


class ContextWeights(NamedTuple):
    """The weights of K contexts: whole blocks, and single weights that are not zero.

    :ivar table: (K, 5) for each context its `PairPart`, whether it has a block, where its weights begin and
        end in ``blocks`` or ``values``, and where they start among all weights.  Memory is slow to find, so
        these stand together.
    :ivar blocks: the blocks, concatenated.
    :ivar values: (F,) the single weights.
    :ivar places: (F,) where these are among all weights.
    """

    table: Array
    blocks: Array
    values: Array
    places: Array


def all_weights(weights: Tensor, blocks: WeightBlocks) -> ContextWeights:
    """All weights as blocks."""
    values, start = weights.detach().cpu().numpy(), blocks.start
    table = _table(blocks, np.ones_like(blocks.part), start[:-1], start[1:])
    return ContextWeights(table, values, values[:0], np.zeros(0, np.int64))


def sparse_weights(weights: Tensor, blocks: WeightBlocks) -> ContextWeights:
    """The weights of a sparse tensor; contexts with many of them get blocks, which are faster to read."""
    places, values = weights._indices()[0].cpu().numpy(), weights._values().detach().cpu().numpy()
    first, sizes = np.searchsorted(places, blocks.start), np.diff(blocks.start)
    singles = np.diff(first)
    in_block = singles > MANY * sizes
    ends = np.cumsum(sizes * in_block)
    begins = np.where(in_block, ends - sizes, first[:-1])
    moved, shifts = np.repeat(in_block, singles), (begins - blocks.start[:-1])[in_block]
    of_blocks = np.zeros(ends[-1] if len(ends) else 0, values.dtype)
    of_blocks[places[moved] + np.repeat(shifts, singles[in_block])] = values[moved]
    table = _table(blocks, in_block, begins, np.where(in_block, ends, first[1:]))
    return ContextWeights(table, of_blocks, values, places)


def _table(blocks: WeightBlocks, has_block: Array, begins: Array, ends: Array) -> Array:
    """`ContextWeights.table`; small numbers are read faster."""
    table = np.empty((len(begins), 5), np.int32 if blocks.start[-1] < 2**31 else np.int64)
    for place, column in enumerate((blocks.part, has_block, begins, ends, blocks.start[:-1])):
        table[:, place] = column
    return table


class Features(NamedTuple):
    """The features of the pairs of V views.

    :ivar score_start: (V + 1,) where each view's pairs start in the scores.
    """

    parts: PairParts
    blocks: WeightBlocks
    relation: Array
    score_start: Array
    contexts: Contexts


def features_of(parts: PairParts, blocks: WeightBlocks, relation: Array, contexts: Contexts) -> Features:
    """The features of the pairs of V views with these relations and contexts."""
    sizes = np.diff(parts.pair_start)[relation]
    return Features(parts, blocks, relation, starts_of(sizes), contexts)


def linear_scores(weights: Tensor | ContextWeights, features: Features) -> Tensor:
    """(C,) the score theta . f(l, r, w) of each pair of each view, in double precision."""
    if isinstance(weights, ContextWeights):
        return torch.from_numpy(_scores(weights, features))
    return _LinearScores.apply(weights, features)


def _scores(weights: ContextWeights, features: Features) -> Array:
    scores = np.zeros(int(features.score_start[-1]))

    def work(first: int, last: int) -> None:
        sums = np.empty((2 * PARTS, features.parts.most), weights.blocks.dtype)
        _add_scores(features, weights, first, last, sums, scores)

    in_threads(work, parts_of(len(features.relation), VIEWS_PER_THREAD))
    return scores


class _LinearScores(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weights: Tensor, features: Features) -> Tensor:
        ctx.features = features
        ctx.weights = weights.shape, weights.dtype, weights.device
        scores = _scores(all_weights(weights, features.blocks), features)
        return torch.from_numpy(scores).to(weights.device)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        shape, dtype, device = ctx.weights
        flows = gradient.cpu().contiguous().numpy()

        def work(first: int, last: int) -> Tensor:
            result = torch.zeros(shape, dtype=dtype)
            sums = np.empty((2 * PARTS, ctx.features.parts.most), result.numpy().dtype)
            _add_gradients(ctx.features, flows, first, last, sums, result.numpy())
            return result

        total, *others = in_threads(work, parts_of(len(ctx.features.relation), VIEWS_PER_THREAD))
        for other in others:
            total += other
        return total.to(device), None


@compiled
def _add_scores(features, weights, first, last, sums, scores):
    """Add the scores of the views ``first`` to ``last``: block sums per part, then all parts of each pair."""
    parts, _, relation, score_start, contexts = features
    for view in range(first, last):
        if contexts.start[view] == contexts.start[view + 1]:
            continue
        d, most = relation[view], PARTS
        sums[:] = 0
        for use in range(contexts.start[view], contexts.start[view + 1]):
            part, has_block, begin, end, start = weights.table[contexts.number[use]]
            most = most if part < PARTS else 2 * PARTS
            size, total = parts.sizes[d, part], sums[part]
            if has_block:
                # A damaged file may give a context fewer weights than its relation has values.
                block = weights.blocks[begin : min(begin + size, end)]
                for value in range(len(block)):
                    total[value] += block[value]
            else:
                places, values = weights.places[begin:end], weights.values[begin:end]
                for number in range(len(places)):
                    value = places[number] - start
                    if value < size:
                        total[value] += values[number]
        row = parts.pair_start[d] - score_start[view]
        for place in range(score_start[view], score_start[view + 1]):
            for part in range(most):
                scores[place] += sums[part, parts.value[row + place, part]]


@compiled
def _add_gradients(features, gradient, first, last, sums, weight_gradient):
    """The gradient of `_add_scores`."""
    parts, blocks, relation, score_start, contexts = features
    for view in range(first, last):
        d, most = relation[view], PARTS
        sums[:] = 0
        for use in range(contexts.start[view], contexts.start[view + 1]):
            most = most if blocks.part[contexts.number[use]] < PARTS else 2 * PARTS
        row = parts.pair_start[d] - score_start[view]
        for place in range(score_start[view], score_start[view + 1]):
            for part in range(most):
                sums[part, parts.value[row + place, part]] += gradient[place]
        for use in range(contexts.start[view], contexts.start[view + 1]):
            context = contexts.number[use]
            part, start = blocks.part[context], blocks.start[context]
            size = parts.sizes[d, part]
            total, block = sums[part], weight_gradient[start : start + size]
            for value in range(size):
                block[value] += total[value]


class WeightsInUse:
    """The weights of the U contexts of a batch of views, side by side.

    A training step reads and updates only these, a few percent of all weights.

    :ivar context: (U,) the contexts in use, sorted.
    :ivar uses: (U,) the number of views that have each.
    :ivar sizes: (U,) the number of weights of each.
    :ivar starts: (U,) where they start among all weights.
    :ivar places: (M,) the places of the weights in use among all weights, sorted.
    :ivar blocks: the blocks of the contexts in use, renumbered.
    :ivar contexts: the contexts of the views, renumbered.
    """

    def __init__(self, blocks: WeightBlocks, contexts: Contexts) -> None:
        self.context, self.uses, number = _in_use(contexts.number, len(blocks.part))
        self.starts = blocks.start[self.context]
        self.sizes = blocks.start[self.context + 1] - self.starts
        self.blocks = WeightBlocks(blocks.part[self.context], starts_of(self.sizes))
        self.contexts = Contexts(contexts.start, number)
        self.places = torch.from_numpy(runs(self.starts, self.sizes))
        self._latest: tuple[Tensor, Tensor] | None = None

    def pick(self, weights: Tensor) -> Tensor:
        """(M,) the weights in use; the gradient in all weights is sparse.

        Repeated calls with the same tensor return the same result, so that gradients of all uses add up
        first.
        """
        if self._latest is None or self._latest[0] is not weights:
            self._latest = weights, _Pick.apply(weights, self)
        return self._latest[1]


def _in_use(number: Array, size: int) -> tuple[Array, Array, Array]:
    """The distinct numbers below ``size`` in order, how often each occurs, and the place of each number."""
    uses = np.zeros(size, np.int32)
    _count(number, uses)
    distinct = np.flatnonzero(uses)
    counts = uses[distinct]
    uses[distinct] = np.arange(len(distinct))  # from now on, the place of each number
    return distinct, counts, uses[number]


@compiled
def _count(number, uses):
    for use in number:
        uses[use] += 1


class _Pick(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weights: Tensor, in_use: WeightsInUse) -> Tensor:
        ctx.shape, ctx.places = weights.shape, in_use.places.to(weights.device)
        if weights.device.type != "cpu":
            return weights[ctx.places]
        result = torch.empty(len(ctx.places), dtype=weights.dtype)
        _copy_runs(weights.detach().numpy(), in_use.starts, in_use.sizes, result.numpy())
        return result

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        places, shape = ctx.places[None], ctx.shape  # in order
        return torch.sparse_coo_tensor(
            places, gradient, shape, check_invariants=False, is_coalesced=True
        ), None


@compiled
def _copy_runs(source, starts, sizes, target):
    """Copy runs of numbers: much quicker than to look up each number by itself."""
    end = 0
    for run in range(len(starts)):
        block, values = target[end : end + sizes[run]], source[starts[run] : starts[run] + sizes[run]]
        for offset in range(len(block)):
            block[offset] = values[offset]
        end += len(block)


def gather_contexts(view: Array, number: Array, views: int) -> Contexts:
    """Sort ``int32`` contexts by view; contexts numbered -1 are removed."""
    sizes = np.zeros(views, np.int64)
    _count_known(view, number, sizes)
    start = starts_of(sizes)
    result = np.empty(start[-1], number.dtype)
    _gather(view, number, start[:-1].copy(), result)
    return Contexts(start, result)


@compiled
def _count_known(view: Array, number: Array, sizes: Array) -> None:
    for use in range(len(view)):
        sizes[view[use]] += number[use] >= 0


@compiled
def _gather(view: Array, number: Array, end: Array, result: Array) -> None:
    for use in range(len(view)):
        if number[use] >= 0:
            result[end[view[use]]] = number[use]
            end[view[use]] += 1
