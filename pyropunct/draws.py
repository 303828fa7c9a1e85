"""Many draws of surface punctuation for trees: the story of section 2 of the paper, told forward.

`pyropunct.models.story.Story` tells it once at a time, in Python.  Here all draws of a tree go up together;
`pyropunct.inference.forward` says how.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.inference import forward
from pyropunct.inference.ragged import Ints, starts_of
from pyropunct.inference.sampling import sampler
from pyropunct.inference.threads import in_threads, parts_of
from pyropunct.models.attach.views import Views
from pyropunct.models.story import Story
from pyropunct.models.trees import TreeBatch
from pyropunct.treebank.tree import Tree
from pyropunct.vocabulary import Vocabulary

DRAWS_AT_ONCE = 1000
"""Draws of a tree that go up together."""

WORDS_AT_ONCE = 4000
"""Words of trees that go up together; a longer tree goes up alone."""

PLACES_AT_ONCE = 250_000
"""Words times draws that go up together: this bounds the memory."""

PLACES_PER_THREAD = 10_000
"""With fewer nodes or slots times draws than this, a thread costs more than it saves."""

Numbers = NDArray[np.int32]


@dataclass(frozen=True)
class Draws:
    """Weighted draws of the surface punctuation of one sentence of n words.

    :ivar strings: the distinct strings of its slots, in the order in which they first occur.
    :ivar numbers: (draws, n + 1) ``int32``, which of them each slot has in each draw.  That of slot 0
        starts with `pyropunct.treebank.marks.START`, unless the channel has absorbed or moved it: it may.
    :ivar weights: (draws,) the weight of each draw; they add up to 1.
    """

    strings: tuple[tuple[str, ...], ...]
    numbers: Numbers
    weights: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.numbers)

    def surface(self, draw: int) -> list[tuple[str, ...]]:
        """The punctuation tokens of the slots 0..n in one draw."""
        return [self.strings[number] for number in self.numbers[draw].tolist()]


def draw_surfaces(
    story: Story,
    vocabulary: Vocabulary,
    trees: Sequence[Tree],
    samples: int,
    seed: int,
) -> Iterator[Draws]:
    """Draw from p(x | T) for each of some trees; see `pyropunct.Punctuator.draws`.

    :param story: a fitted one.
    """
    learned, generators = _Learned(story), _generators(trees, seed)
    blocks = [min(DRAWS_AT_ONCE, samples - done) for done in range(0, samples, DRAWS_AT_ONCE)]
    for some in _parts([len(tree) for tree in trees], blocks[0]):
        batch, strings = vocabulary.encode_trees(trees[some]), forward.Strings()
        run = _Run(learned, batch, strings, list(islice(generators, len(batch))))
        numbers = np.concatenate([run.draw(size) for size in blocks], 1)
        for first, last in pairwise(batch.forest.slot_start.tolist()):
            own, distinct = forward.renumber(numbers[first:last], len(strings))
            shown = [vocabulary.decode_string(strings.tokens(number)) for number in distinct.tolist()]
            yield Draws(tuple(shown), own, np.full(samples, 1 / samples))


def _parts(sizes: Sequence[int], draws: int) -> Iterator[slice]:
    """Split trees of some sizes into parts that go up together."""
    most, first, words = min(WORDS_AT_ONCE, PLACES_AT_ONCE // draws), 0, 0
    for tree, size in enumerate(sizes):
        if tree > first and words + size > most:
            yield slice(first, tree)
            first, words = tree, 0
        words += size
    if sizes:
        yield slice(first, len(sizes))


def _generators(trees: Sequence[Tree], seed: int) -> Iterator[np.random.Generator]:
    """Random numbers for each tree, which depend on the tree, and on how many equal ones come before it."""
    seen: Counter[Tree] = Counter()
    for tree in trees:
        digest = hashlib.sha256(repr(tree).encode()).digest()
        yield np.random.default_rng([seed, seen[tree], int.from_bytes(digest)])
        seen[tree] += 1


class _Learned:
    """What is asked of a fitted story.

    :param story: the story.
    """

    @torch.no_grad()
    def __init__(self, story: Story) -> None:
        self.inventory, self.channel = story.inventory, story.channel
        self.reads_surface = story.attach.reads_surface
        self._attach = story.attach
        self.weights: Tensor = self.channel.probabilities()
        self.machine = sampler(self.channel.transducer, self.weights)
        self.punctemes = forward.punctemes_of(self.inventory)

    @torch.no_grad()
    def scorer(self, trees: TreeBatch) -> Callable[[Views], NDArray[np.float64]]:
        """The scores that the attach model gives to views of some trees."""
        scorer = self._attach.scorer(trees)

        @torch.no_grad()
        def scores(views: Views) -> NDArray[np.float64]:
            return np.array(scorer(views).cpu().numpy(), np.float64)  # a copy: `forward.choose` overwrites it

        return scores


class _Tables(NamedTuple):
    """What happens at N nodes and S slots in some draws, a column for each draw.

    :ivar uniform: (N, draws) random numbers in [0, 1).
    :ivar bits: (S, draws) random bits.
    :ivar rows: (N, draws) the inventory's rows of the puncteme pairs.
    :ivar numbers: (S, draws) the numbers of the surface strings.
    :ivar groups: (N, draws) draws with equal surface strings inside a node are in one group.
    :ivar group_sizes: (N,) the number of groups of each node.
    """

    uniform: NDArray[np.float64]
    bits: NDArray[np.uint64]
    rows: Numbers
    numbers: Numbers
    groups: Numbers
    group_sizes: Ints


class _Run:
    """The story of some trees, told many times at once.

    :param learned: the story.
    :param trees: the trees.
    :param strings: takes the surface strings.
    :param generators: random numbers for each tree.
    """

    def __init__(
        self,
        learned: _Learned,
        trees: TreeBatch,
        strings: forward.Strings,
        generators: Sequence[np.random.Generator],
    ) -> None:
        self._learned, self._trees, self._strings, self._generators = learned, trees, strings, generators
        self._scores, self._shape = learned.scorer(trees), forward.trees_of(trees.forest)
        pair_start, relation = learned.inventory.pair_start, trees.relation.numpy()
        self._first_row, self._num_pairs = pair_start[relation], np.diff(pair_start)[relation]

    def draw(self, draws: int) -> Numbers:
        """The numbers of the surface strings of all slots in some draws, (S, draws)."""
        tables = self._tables(draws)
        height, closing = self._trees.forest.height.numpy(), self._trees.forest.closing_height.numpy()
        for level in range(int(closing.max()) + 1):
            slots, nodes = np.flatnonzero(closing == level), np.flatnonzero(height == level)
            if len(slots):
                tables.numbers[slots] = self._shown(tables, slots)
            if len(nodes):
                self._sprout(tables, nodes)
        return tables.numbers

    def _tables(self, draws: int) -> _Tables:
        sizes = self._trees.forest.node_start.diff().tolist()
        some = list(zip(self._generators, sizes, strict=True))
        nodes, slots = self._trees.forest.num_nodes, self._trees.forest.num_slots
        return _Tables(
            np.concatenate([one.random((size, draws)) for one, size in some]),
            np.concatenate(
                [one.integers(1 << 64, size=(size + 1, draws), dtype=np.uint64) for one, size in some]
            ),
            np.zeros((nodes, draws), np.int32),
            np.zeros((slots, draws), np.int32),
            np.zeros((nodes, draws), np.int32),
            np.ones(nodes, np.int64),
        )

    def _sprout(self, tables: _Tables, nodes: Ints) -> None:
        """Draw the puncteme pairs of the nodes of one height."""
        _, _, _, numbers, groups, sizes = tables
        borders = _borders(nodes, groups)

        def group(first: int, last: int) -> None:
            forward.group_draws(self._shape, numbers, nodes, first, last, groups, sizes)

        if self._learned.reads_surface:
            in_threads(group, borders)
        # One view for each group, its first draw's.
        node, draw = np.repeat(nodes, sizes[nodes]), forward.first_draws(groups, sizes, nodes)
        start, token, slot = self._strings.marks(self._shape, numbers, node, draw)
        scores = self._scores(Views(node, start, token, slot))
        score_start, view_start = starts_of(self._num_pairs[node]), starts_of(sizes[nodes])

        def choose(first: int, last: int) -> None:
            forward.choose(
                scores,
                score_start,
                view_start,
                nodes,
                self._first_row,
                groups,
                tables.uniform,
                first,
                last,
                tables.rows,
            )

        in_threads(choose, borders)

    def _shown(self, tables: _Tables, slots: Ints) -> Numbers:
        """Draw the numbers of the surface strings of some slots, (slots, draws)."""
        machine, punctemes = self._learned.machine, self._learned.punctemes

        def work(first: int, last: int) -> tuple[Ints, Numbers]:
            return forward.rewrite(
                self._shape, punctemes, machine, tables.rows, tables.bits, slots, first, last
            )

        drawn = in_threads(work, _borders(slots, tables.numbers))
        return np.concatenate([self._strings.number(*some) for some in drawn]).reshape(len(slots), -1)


def _borders(places: Ints, table: Numbers) -> list[int]:
    """The borders of each thread's part of some nodes or slots, the rows of a table."""
    return parts_of(len(places), max(1, PLACES_PER_THREAD // table.shape[1]))
