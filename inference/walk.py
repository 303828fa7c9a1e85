"""Draws of T' and x: a walk through the trees, bottom-up, one height of constituents at a time, compiled.

So a choice may depend on the marks inside (Li, Wang & Eisner 2019, section 2.1, d).
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.inference import forward
from pyropunct.inference.machines.evidence import EMPTY, as_wide, padded
from pyropunct.inference.machines.sampling import Sampler, sampler
from pyropunct.inference.machines.transducers import Transducer
from pyropunct.inference.numbering import Strings
from pyropunct.inference.parts import PartDraws, Shapes
from pyropunct.inference.ragged import Ints, starts_of
from pyropunct.inference.story_inputs import StoryInputs, row_at
from pyropunct.inference.strings import arrays_of, sprouted
from pyropunct.inference.threads import in_threads, parts_of
from pyropunct.inference.views import Views, views_of

PLACES_PER_THREAD = 10_000
"""With fewer nodes or slots times draws than this, a thread costs more than it saves."""

Numbers = NDArray[np.int32]


class Walk:
    """Many draws for the same trees, each with its own random generator.

    :param batch: the shape of further dimensions of scores and weights.
    :param index: the place in this batch of the scores and weights to draw with.
    :ivar strings: the surface strings of all draws so far, by their numbers.
    """

    @torch.no_grad()
    def __init__(
        self,
        inputs: StoryInputs,
        generators: Sequence[np.random.Generator],
        batch: torch.Size = torch.Size(),  # noqa: B008
        index: tuple[int, ...] = (),
    ) -> None:
        self._inputs, self._generators, self._at = inputs, generators, (batch, index)
        self.strings = Strings(inputs.inventory.clause_token)
        marks = None if inputs.parts is None else inputs.parts.marks
        self._shape, self._punctemes = arrays_of(inputs.forest, inputs.inventory, marks, inputs.clause)
        self._parts = None if inputs.parts is None else PartDraws(inputs.parts)
        self._machines = machines(inputs, batch, index)
        pair_start, relation = inputs.inventory.pair_start, inputs.trees.relation.cpu().numpy()
        self._first_row, self._num_pairs = pair_start[relation], np.diff(pair_start)[relation]

    @torch.no_grad()
    def draw(self, draws: Ints) -> forward.DrawTables:
        """(B,) numbers of draws of each tree.  A draw is a column of the tables; unused columns are last."""
        tables = self._tables(draws)
        for nodes, slots in self._inputs.forest.heights():
            self._sprout(tables, nodes.numpy())
            self._rewrite(tables, slots.numpy())
        return tables

    @torch.no_grad()
    def rewrite(self, choices: Tensor) -> forward.DrawTables:
        """Draw x given (draws, N) T'."""
        tables = self._tables(np.full(len(self._generators), len(choices)))
        inputs, has_parts = self._inputs, self._parts is not None
        rows, parts = sprouted(inputs.forest, inputs.inventory, inputs.trees.relation, choices, has_parts)
        tables = tables._replace(rows=rows, parts=parts)
        self._rewrite(tables, np.arange(inputs.forest.num_slots))
        return tables

    def choices(self, tables: forward.DrawTables) -> Tensor:
        """(draws, N) T'."""
        chosen = torch.from_numpy(tables.rows - self._first_row[:, None]).long().T
        if self._parts is not None:
            kind, *outside = torch.from_numpy(tables.parts).long().transpose(1, 2)
            number = Shapes(self._inputs.forest).number(torch.arange(chosen.shape[-1]), kind, *outside)
            chosen = chosen + number.where(kind >= 0, 0) * torch.from_numpy(self._num_pairs)
        return chosen

    def surfaces(self, tables: forward.DrawTables) -> Tensor:
        """(draws, S, L) x, as wide as underlying strings may be, wider only for a long slip."""
        distinct, place = np.unique(tables.numbers.T, return_inverse=True)
        strings = [self.strings.tokens(number) for number in distinct.tolist()]
        table = padded(strings, least=forward.width_of(self._shape, self._punctemes))
        return table[torch.from_numpy(place.reshape(tables.numbers.T.shape))]

    def _tables(self, draws: Ints) -> forward.DrawTables:
        forest, columns = self._inputs.forest, int(draws.max())
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

        if self._inputs.looks_inside:
            in_threads(group, borders)
        # One view for each group: that of its first draw.
        node, draw = np.repeat(nodes, sizes[nodes]), forward.first_draws(tables, nodes)
        start, token, slot = self.strings.marks(self._shape, tables.numbers, node, draw)
        views = Views(*map(torch.from_numpy, (node, start, token, slot)))
        scores = row_at(self._inputs.pair_scores(views), *self._at).cpu().numpy()
        scores = np.array(scores, np.float64)  # a copy, which `forward.choose` overwrites
        score_start, view_start = starts_of(self._num_pairs[node]), starts_of(sizes[nodes])

        def choose(first: int, last: int) -> None:
            part = forward.Scores(scores, score_start, view_start[first : last + 1], self._first_row)
            forward.choose(tables, part, nodes[first:last])

        in_threads(choose, borders)

    def _rewrite(self, tables: forward.DrawTables, slots: Ints) -> None:
        """NOISYCHANNEL: draw the surface strings of some slots (section 2.2)."""
        for machine, own in self._machines:
            some = slots if len(self._machines) == 1 else np.intersect1d(slots, own)
            if not len(some):
                continue

            def work(
                first: int, last: int, machine: Sampler = machine, some: Ints = some
            ) -> tuple[Ints, Numbers]:
                return forward.rewrite(self._shape, self._punctemes, machine, tables, some[first:last])

            drawn = in_threads(work, _borders(some, tables.numbers))
            numbers = np.concatenate([self.strings.number(*strings) for strings in drawn])
            tables.numbers[some] = numbers.reshape(len(some), -1)


def _borders(places: Ints, table: Numbers) -> list[int]:
    """The borders between the threads' parts of nodes or slots, which are rows of a table."""
    return parts_of(len(places), max(1, PLACES_PER_THREAD // table.shape[1]))


def machines(
    inputs: StoryInputs,
    batch: torch.Size = torch.Size(),  # noqa: B008
    index: tuple[int, ...] = (),
) -> list[tuple[Sampler, Ints]]:
    """The channel, ready for draws: a machine for each distinct row of weights, with its slots."""
    weights = inputs.weights.detach().cpu().double()
    tree = np.zeros(inputs.forest.num_slots, np.int64)
    if inputs.is_by_tree:
        by_tree = weights.transpose(0, -2) if weights.dim() == 2 else weights.movedim(-2, 0)
        rows, number = torch.unique(
            torch.stack([row_at(own, batch, index) for own in by_tree]), dim=0, return_inverse=True
        )
        tree = number[inputs.forest.slot_tree].numpy()
    else:
        rows = row_at(weights.squeeze(-2) if weights.dim() > 1 else weights, batch, index)[None]
    return [
        (_machine(inputs.transducer, row.numpy().tobytes()), np.flatnonzero(tree == place))
        for place, row in enumerate(rows)
    ]


@lru_cache(maxsize=32)
def _machine(transducer: Transducer, weights: bytes) -> Sampler:
    return sampler(transducer, torch.from_numpy(np.frombuffer(weights).copy()))


@torch.no_grad()
def walk(inputs: StoryInputs, batch: torch.Size, choices: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """(*batch, N) T' and (*batch, S, L) x, for each element of plates; or x alone, given (..., N) T'.

    Random numbers are those of torch.
    """
    generator = np.random.default_rng(int(torch.randint(2**63 - 1, ())))
    generators, nodes = [generator] * inputs.forest.num_trees, inputs.forest.num_nodes
    if choices is not None:
        choices = choices.expand(*batch, nodes).reshape(-1, nodes).cpu()
    drawn = []
    for index in np.ndindex(*batch) if _vary(inputs, batch) else [()]:
        row = int(np.ravel_multi_index(index, batch)) if index else 0
        own = slice(row, row + 1) if index else slice(None)
        way = Walk(inputs, generators, batch if index else torch.Size(), index)
        if choices is None:
            tables = way.draw(np.full(len(generators), 1 if index else batch.numel()))
            drawn.append((way.choices(tables), way.surfaces(tables)))
        else:
            drawn.append((choices[own], way.surfaces(way.rewrite(choices[own]))))
    pairs, pages = zip(*drawn, strict=True)
    surface = torch.cat(as_wide(pages))
    return torch.cat(pairs).reshape(*batch, -1), surface.reshape(*batch, *surface.shape[1:])


def _vary(inputs: StoryInputs, batch: torch.Size) -> bool:
    """Whether elements of plates have scores or weights of their own."""
    if not batch:
        return False
    leaves, _ = next(inputs.forest.heights())
    nothing = torch.full((inputs.forest.num_slots, 1), EMPTY)
    scores = inputs.pair_scores(views_of(inputs.forest, nothing, leaves))
    return scores.dim() > 1 or inputs.weights.dim() > 1 + inputs.is_by_tree
