"""Many draws of the story at once, for the same trees (Li, Wang & Eisner 2019, section 2), compiled.

The distribution is that of the Pyro model `Story`; the random numbers differ.
"""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from pyropunct.inference import forward
from pyropunct.inference.machines.sampling import sampler
from pyropunct.inference.parts import PartDraws
from pyropunct.inference.ragged import Ints, starts_of
from pyropunct.inference.threads import in_threads, parts_of
from pyropunct.models.attach.attach_model import Views
from pyropunct.models.story import Story
from pyropunct.models.trees import TreeBatch

PLACES_PER_THREAD = 10_000
"""With fewer nodes or slots times draws than this, a thread costs more than it saves."""

Numbers = NDArray[np.int32]


class ManyDraws:
    """The parts of many draws that do not depend on trees."""

    @torch.no_grad()
    def __init__(self, story: Story) -> None:
        self.inventory, self.reads_surface = story.inventory, story.attach.reads_surface
        marks = forward.NO_MARKS if story.parts is None else story.parts.marks.cpu().numpy()
        self.punctemes, self.has_parts = forward.punctemes_of(self.inventory, marks), len(marks) > 0
        self.machine = sampler(story.channel.transducer, story.channel.probabilities())
        self.scorer, self.parts = story.scorer, story.parts


class DrawsOfTrees:
    """Many draws for the same trees, each with its own random generator.

    :ivar strings: the surface strings of all draws so far, by their numbers.
    """

    @torch.no_grad()
    def __init__(self, story: ManyDraws, trees: TreeBatch, generators: Sequence[np.random.Generator]) -> None:
        self._story, self._trees, self._generators = story, trees, generators
        self.strings = forward.Strings()
        self._scorer, self._shape = story.scorer(trees), forward.trees_of(trees.forest, story.has_parts)
        self._parts = None if story.parts is None else PartDraws(story.parts.scores(trees))
        pair_start, relation = story.inventory.pair_start, trees.relation.numpy()
        self._first_row, self._num_pairs = pair_start[relation], np.diff(pair_start)[relation]

    @torch.no_grad()
    def draw(self, draws: Ints) -> Numbers:
        """(S, columns) the numbers of the surface strings, a column for each draw; unused columns are the
        last.
        """
        tables = self._tables(draws)
        for nodes, slots in self._trees.forest.heights():
            self._sprout(tables, nodes.numpy())
            tables.numbers[slots.numpy()] = self._rewrite(tables, slots.numpy())
        return tables.numbers

    def _tables(self, draws: Ints) -> forward.DrawTables:
        forest, columns = self._trees.forest, int(draws.max())
        nodes, slots, start = forest.num_nodes, forest.num_slots, forest.node_start.numpy()
        uniform, bits = np.empty((nodes, columns)), np.empty((slots, columns), np.uint64)
        for tree, (generator, count) in enumerate(zip(self._generators, draws.tolist(), strict=True)):
            first, last = start[tree], start[tree + 1]
            uniform[first:last, :count] = generator.random((last - first, count))
            bits[first + tree : last + tree + 1, :count] = generator.bit_generator.random_raw(
                (last - first + 1, count)
            )
        parts = forward.NO_PARTS
        if self._parts is not None:
            parts = np.full((3, nodes, columns), -1, np.int32)
            for tree, (generator, count) in enumerate(zip(self._generators, draws.tolist(), strict=True)):
                self._parts.draw(range(start[tree], start[tree + 1]), generator, parts[:, :, :count])
        sizes = np.repeat(draws, np.diff(start)), np.repeat(draws, np.diff(start) + 1)
        return forward.tables_for(*sizes, uniform, bits, parts)

    def _sprout(self, tables: forward.DrawTables, nodes: Ints) -> None:
        """ATTACH: draw the puncteme pairs of the nodes of one height (section 2.1)."""
        sizes, borders = tables.group_sizes, _borders(nodes, tables.groups)

        def group(first: int, last: int) -> None:
            forward.group_draws(self._shape, tables, nodes[first:last])

        if self._story.reads_surface:
            in_threads(group, borders)
        # One view for each group: that of its first draw.
        node, draw = np.repeat(nodes, sizes[nodes]), forward.first_draws(tables, nodes)
        start, token, slot = self.strings.marks(self._shape, tables.numbers, node, draw)
        views = Views(*map(torch.from_numpy, (node, start, token, slot)))  # type: ignore[arg-type]
        scores = np.array(self._scorer(views).cpu().numpy(), np.float64)  # `forward.choose` overwrites it
        score_start, view_start = starts_of(self._num_pairs[node]), starts_of(sizes[nodes])

        def choose(first: int, last: int) -> None:
            part = forward.Scores(scores, score_start, view_start[first : last + 1], self._first_row)
            forward.choose(tables, part, nodes[first:last])

        in_threads(choose, borders)

    def _rewrite(self, tables: forward.DrawTables, slots: Ints) -> Numbers:
        """NOISYCHANNEL: draw the numbers of the surface strings of some slots, (slots, draws)."""
        machine, punctemes = self._story.machine, self._story.punctemes

        def work(first: int, last: int) -> tuple[Ints, Numbers]:
            return forward.rewrite(self._shape, punctemes, machine, tables, slots[first:last])

        drawn = in_threads(work, _borders(slots, tables.numbers))
        return np.concatenate([self.strings.number(*strings) for strings in drawn]).reshape(len(slots), -1)


def _borders(places: Ints, table: Numbers) -> list[int]:
    """The borders between the threads' parts of nodes or slots, which are rows of a table."""
    return parts_of(len(places), max(1, PLACES_PER_THREAD // table.shape[1]))
