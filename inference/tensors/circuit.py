"""Algorithm 1 of Li, Wang & Eisner (2019) as a circuit of sums of products, for tensor operations.

All groups of a level of `pyropunct.inference.tensors.recording` in all trees are computed at once, in any
semiring, so the number of calls to torch depends on the depth and breadth of trees, not on their number.
"""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from pyropunct.inference.kernels.structure import Weights
from pyropunct.inference.kernels.workspace import Workspaces
from pyropunct.inference.problem import Problem
from pyropunct.inference.ragged import Ints, runs, starts_of
from pyropunct.inference.tensors.recording import Base, Patterns, Tape, lay_out, record


class Level(NamedTuple):
    """Terms, first times second, added to their targets; and the results then complete, to be rescaled.

    :ivar result: the numbers of results that are now complete; ``node``, to which node each belongs.
    """

    target: Tensor
    first: Tensor
    second: Tensor
    result: Tensor
    node: Tensor


class Circuit(NamedTuple):
    """Algorithm 1 for all trees of a problem, level by level.

    :ivar leaves: how many numbers each field of `Weights` has; they come first, and after them the number 1.
    :ivar totals: where the totals of all trees lie.
    :ivar size: how many numbers there are.
    """

    levels: list[Level]
    leaves: list[int]
    totals: slice
    size: int
    nodes: int


def circuit_of(problem: Problem, device: torch.device) -> Circuit:
    """Record Algorithm 1 for a problem."""
    structure, trees = problem.structure, problem.forest.num_trees
    no_weights = Weights(*[np.empty(0)] * 4)
    spaces = lay_out(problem.flat_structure, no_weights, trees)
    leaves = [structure.choice_start[-1], len(structure.source), *[structure.state_start[-1]] * 2]
    first_states = np.diff(structure.state_start)[structure.slot_automaton[structure.slot_start[:-1]]]
    walls = starts_of(first_states)
    blocks = starts_of([*leaves, 1, trees, walls[-1], spaces.start[-1]]).tolist()
    base, size = Base(*blocks[:-1]), blocks[-1]
    _move(spaces, np.diff(structure.node_start), base.tree)
    patterns, triples = _patterns(problem, spaces)
    tape = _empty_tape(base, patterns, spaces, size)
    record(problem.flat_structure, tape, no_weights, spaces, base.wall + walls[:-1])
    return Circuit(
        _levels(tape, triples, device),
        [int(length) for length in leaves],
        slice(base.total, base.wall),
        size,
        len(tape.result),
    )


def _move(spaces: Workspaces, nodes: Ints, start: int) -> None:
    """Let the places of all trees be those in the flat vector."""
    starts = start + spaces.start[:-1]
    for name in ("left", "right", "vector", "s", "t"):
        spaces.place[name] += np.repeat(starts, nodes)
    spaces.top[:] += starts


def _empty_tape(base: Base, patterns: Patterns, spaces: Workspaces, size: int) -> Tape:
    nodes, trees = len(spaces.place), len(spaces.top)
    # A group for each entry of a table, three to apply a node, three to end a tree.
    most = int((spaces.place["left_entries"] + spaces.place["right_entries"]).sum()) + 3 * nodes + 3 * trees
    return Tape(
        base,
        patterns,
        np.empty((most, 6), np.int64),
        np.zeros(1, np.int64),
        np.zeros(size, np.int64),
        *np.empty((2, nodes), np.int64),
    )


def _levels(tape: Tape, triples: Ints, device: torch.device) -> list[Level]:
    """Grow the groups into terms, and the nodes into the numbers of their results, sorted by level."""
    groups = tape.groups[: tape.recorded[0]]
    groups = groups[np.argsort(groups[:, 0], kind="stable")]
    known = tape.level[tape.result]
    node = np.argsort(known, kind="stable")
    states = tape.states[node]
    results = np.stack([runs(tape.result[node], states), np.repeat(node, states)])
    last = np.arange(1, groups[-1, 0] + 1)
    columns = [
        *_split(_terms(groups, triples, len(tape.level), device), groups[:, 0], groups[:, 2], last),
        *_split(list(torch.from_numpy(results).to(device)), known[node], states, last),
    ]
    return [Level(*level) for level in zip(*columns, strict=True)]


def _split(columns: list[Tensor], level: Ints, length: Ints, last: Ints) -> list[tuple[Tensor, ...]]:
    """Cut columns into levels; they come in runs of a length and of a level each."""
    ends = starts_of(length)[np.searchsorted(level, last, "right")]
    return [column.split(np.diff(ends, prepend=0).tolist()) for column in columns]


def _terms(groups: Ints, triples: Ints, size: int, device: torch.device) -> list[Tensor]:
    """Targets, first and second factors of all terms, (terms,) each."""
    start = starts_of(groups[:, 2])
    kind = torch.int32 if max(size, start[-1], triples.shape[1]) < 2**31 else torch.int64
    columns = np.stack([groups[:, 1] - start[:-1], groups[:, 3], groups[:, 4], groups[:, 5]])
    shifts = torch.from_numpy(columns).to(device, kind)
    pattern = torch.from_numpy(triples).to(device, kind)
    count = torch.from_numpy(groups[:, 2].copy()).to(device)
    group = torch.repeat_interleave(count, output_size=int(start[-1])).to(kind)
    triple = torch.arange(len(group), dtype=kind, device=device) + shifts[0].index_select(0, group)
    return [
        shift.index_select(0, group).add_(column.index_select(0, triple))
        for shift, column in zip(shifts[1:], pattern, strict=True)
    ]


def _patterns(problem: Problem, spaces: Workspaces) -> tuple[Patterns, Ints]:
    """The patterns of all groups, and the table of triples, (3, triples)."""
    structure, inventory = problem.structure, problem.inventory
    arcs = np.stack([structure.target, np.arange(len(structure.source)), structure.source])
    relation = np.repeat(np.arange(inventory.num_relations), np.diff(inventory.pair_start))
    choice = np.arange(len(relation)) - inventory.pair_start[relation]
    pairs = np.stack([structure.left_of_pair, choice, structure.right_of_pair])
    empty = np.flatnonzero(structure.right_of_pair == 0)
    sizes = _grid_sizes(problem, spaces)
    cell, states = runs(np.zeros_like(sizes), sizes), np.repeat(np.arange(len(sizes)), sizes)
    grids = np.stack([cell // states, cell, cell % states])
    triples = np.concatenate([arcs, pairs, pairs[:, empty], grids], axis=1)
    first_pair = arcs.shape[1]
    first_empty = first_pair + pairs.shape[1]
    patterns = Patterns(
        first_pair + inventory.pair_start[:-1],
        first_empty + np.searchsorted(relation[empty], np.arange(inventory.num_relations + 1)),
        first_empty + len(empty) + starts_of(sizes)[:-1],
        triples.shape[1],
    )
    return patterns, np.concatenate([triples, triples[::-1]], axis=1)


def _grid_sizes(problem: Problem, spaces: Workspaces) -> Ints:
    """For each number of states the size of the largest table."""
    structure = problem.structure
    slots = np.concatenate([structure.left_slot, structure.right_slot])
    entries = np.concatenate([spaces.place["left_entries"], spaces.place["right_entries"]])
    states = np.diff(structure.state_start)[structure.slot_automaton[slots]]
    sizes = np.zeros(states.max() + 1, np.int64)
    np.maximum.at(sizes, states, entries * states)
    return sizes
