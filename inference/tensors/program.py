"""What the inside algorithm does, as sums of products, level by level: a program for tensor operations.

The mathematics is that of `pyropunct.inference.kernels`, which see; the order is another.  All numbers
of all trees lie in one flat vector: the leaves (weights of arcs and ends, p(l, r | w)), then the
tables, vectors, s and t of every constituent.  Whatever the algorithm does is then a sum of products

    values[target] += values[first] * values[second]

- reading an entry of a trie: ``left[l][source] += arc * left[parent][target]`` over the arcs of a token;
- applying a constituent: ``s[r] += right[r][state] * v[state]``, then ``t[l] += p(l, r | w) * s[r]``,
  then ``out[state] += left[l][state] * t[l]``, or all this with the sides exchanged;
- starting a chain of children, and ending a tree: products with initial and final weights.

Each of them has a *level*, above those of all that it needs, and a level of all trees is done at once.
So the number of calls to torch depends on how deep and how broad the trees are, not on how many there
are, and nothing is padded.

The index triples of such a group of terms are a stretch of a short table, a *pattern*, shifted to where
the group's numbers lie: arcs of a token, pairs of a relation, or entries by states.  The groups are
found on the CPU, in numpy; they grow into terms on the device.

Source: Li, Wang & Eisner (2019, section 3.1).
"""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.inference.compiling import compiled, inner
from pyropunct.inference.inventory import Inventory, Tries
from pyropunct.inference.kernels.structure import Structure
from pyropunct.inference.problem import Problem
from pyropunct.inference.ragged import Ints, runs, starts_of

PHASES = 3
"""An apply takes three levels: s, t, result.  All applies keep step, so that one rescaling serves many."""


# How the trees hang together.


class Chains(NamedTuple):
    """In which order constituents are applied.

    :ivar leftward: (N,) whether a node leaves its vector on its left: left children and roots do.
    :ivar inner: (N,) the sibling whose result a node is applied to, -1 where a chain starts.
    :ivar outer_left: (N,) each node's leftmost left child, -1 if none.
    :ivar outer_right: (N,) each node's rightmost right child, -1 if none.
    """

    leftward: NDArray[np.bool_]
    inner: Ints
    outer_left: Ints
    outer_right: Ints


def _chains(structure: Structure) -> Chains:
    nodes = len(structure.relation)
    num_left, num_right = np.diff(structure.left_child_start), np.diff(structure.right_child_start)
    left, right = structure.left_child, structure.right_child
    inner, leftward = np.full(nodes, -1), np.ones(nodes, bool)
    leftward[right] = False
    same = np.diff(np.repeat(np.arange(nodes), num_left)) == 0
    inner[left[:-1][same]] = left[1:][same]
    same = np.diff(np.repeat(np.arange(nodes), num_right)) == 0
    inner[right[1:][same]] = right[:-1][same]
    outer_left, outer_right = np.full(nodes, -1), np.full(nodes, -1)
    outer_left[num_left > 0] = left[structure.left_child_start[:-1][num_left > 0]]
    outer_right[num_right > 0] = right[structure.right_child_start[1:][num_right > 0] - 1]
    return Chains(leftward, inner, outer_left, outer_right)


class Side(NamedTuple):
    """One side of every node, (N,) each: its slot, the states there, its table and how many entries it has.

    :ivar depth: the number of tokens in the longest puncteme of the table.
    """

    slot: Ints
    states: Ints
    entries: Ints
    depth: Ints
    table: Ints


def _side(structure: Structure, slot: Ints, tries: Tries) -> Side:
    """One side of every node, its table not yet laid out."""
    automaton = structure.slot_automaton[slot]
    # Without arcs, only the empty puncteme has any weight.
    arcs = np.diff(structure.arc_start[:: structure.num_tokens])[automaton]
    longest = np.maximum.reduceat(_depths(tries), tries.start[:-1])[structure.relation]
    return Side(
        slot,
        np.diff(structure.state_start)[automaton],
        np.where(arcs > 0, np.diff(tries.start)[structure.relation], 1),
        np.where(arcs > 0, longest, 0),
        np.zeros_like(slot),
    )


def _depths(tries: Tries) -> Ints:
    """The number of tokens in the puncteme of each entry of a trie."""
    parent = tries.parent + np.repeat(tries.start[:-1], np.diff(tries.start))
    depth = np.zeros_like(parent)
    while True:
        longer = np.where(tries.token < 0, 0, depth[parent] + 1)
        if (longer == depth).all():
            return depth
        depth = longer


def _exchange(leftward: NDArray[np.bool_], left: Side, right: Side) -> tuple[Side, Side]:
    """The sides where vectors enter the nodes, and those where they leave them."""
    pairs = list(zip(left, right, strict=True))
    enter = Side(*(np.where(leftward, second, first) for first, second in pairs))
    leave = Side(*(np.where(leftward, first, second) for first, second in pairs))
    return enter, leave


# When everything happens.


class Schedule(NamedTuple):
    """At which level each quantity of each node is known, (N,) each; leaves are known before level 0.

    :ivar left: the empty entry of the left table.
    :ivar right: the empty entry of the right table.
    :ivar s: the vector s; t follows at the next level.
    :ivar out: the result of applying the node.
    """

    left: Ints
    right: Ints
    s: Ints
    out: Ints


@inner
def _schedule_apply(s, out, node, before, enter, leave):  # type: ignore[no-untyped-def]
    """Let a node be applied as soon as its vector and its tables are known."""
    s[node] = (max(before, enter) + PHASES - 1) // PHASES * PHASES + 1
    out[node] = (max(s[node] + 1, leave) + PHASES) // PHASES * PHASES
    return out[node]


@compiled
def _schedule(structure, left_depth, right_depth):  # type: ignore[no-untyped-def]
    """The fields of `Schedule`; children come before their heads."""
    left, right = np.zeros_like(left_depth), np.zeros_like(left_depth)
    s, out = np.zeros_like(left_depth), np.zeros_like(left_depth)
    for node in structure.bottom_up:
        for number in range(
            structure.left_child_start[node + 1] - 1, structure.left_child_start[node] - 1, -1
        ):
            child = structure.left_child[number]
            enter, leave = right[child] + right_depth[child], left[child] + left_depth[child]
            left[node] = _schedule_apply(s, out, child, left[node], enter, leave)
        for number in range(structure.right_child_start[node], structure.right_child_start[node + 1]):
            child = structure.right_child[number]
            enter, leave = left[child] + left_depth[child], right[child] + right_depth[child]
            right[node] = _schedule_apply(s, out, child, right[node], enter, leave)
    for root in structure.root:
        enter, leave = right[root] + right_depth[root], left[root] + left_depth[root]
        _schedule_apply(s, out, root, 0, enter, leave)
    return left, right, s, out


# Where everything lies.


class Offsets(NamedTuple):
    """Where the numbers of a batch start in the flat vector.

    ``vector``, ``s`` and ``t`` are (N,), as in the kernels; ``top``, the results of the roots, ``wall``,
    what stands at the left end of a tree, and ``total``, p(x | T) but for the scales, are (B,).

    :ivar one: where the number 1 lies; before it lie the leaves, by which one may differentiate.
    """

    arc: int
    pair: int
    initial: int
    final: int
    one: int
    vector: Ints
    s: Ints
    t: Ints
    top: Ints
    wall: Ints
    total: Ints
    size: int

    @property
    def totals(self) -> slice:
        """Where the totals of all trees lie, one after the other."""
        return slice(int(self.total[0]), int(self.total[-1]) + 1)


class Shape(NamedTuple):
    """Trees, their order and their place: all that the groups of terms are made of."""

    structure: Structure
    inventory: Inventory
    chains: Chains
    left: Side
    right: Side
    enter: Side
    leave: Side
    at: Offsets
    level: Schedule


def shape_of(problem: Problem) -> Shape:
    """Work out order and place of everything in a problem."""
    structure, inventory = problem.structure, problem.inventory
    left = _side(structure, structure.left_slot, inventory.left_tries)
    right = _side(structure, structure.right_slot, inventory.right_tries)
    chains = _chains(structure)
    left, right, at = _lay_out(structure, chains, left, right)
    return Shape(
        structure,
        inventory,
        chains,
        left,
        right,
        *_exchange(chains.leftward, left, right),
        at,
        Schedule(*_schedule(structure, left.depth, right.depth)),
    )


def _lay_out(structure: Structure, chains: Chains, left: Side, right: Side) -> tuple[Side, Side, Offsets]:
    """Give everything its place, the tables of both sides included."""
    enter, leave = _exchange(chains.leftward, left, right)
    states, root = int(structure.state_start[-1]), structure.root
    leaves = [len(structure.source), int(structure.choice_start[-1]), states, states, 1]
    blocks = [
        *(np.array([size]) for size in leaves),
        left.entries * left.states,
        right.entries * right.states,
        enter.states,
        enter.entries,
        leave.entries,
        left.states[root],
        left.states[root],
        np.ones_like(root),
    ]
    start = starts_of(np.concatenate(blocks))
    parts = np.split(start[:-1], np.cumsum([len(block) for block in blocks])[:-1])
    arc, pair, initial, final, one = (int(part[0]) for part in parts[:5])
    left_table, right_table, vector, s, t, top, wall, total = parts[5:]
    at = Offsets(arc, pair, initial, final, one, vector, s, t, top, wall, total, int(start[-1]))
    return left._replace(table=left_table), right._replace(table=right_table), at


# What is done: groups of terms, each a shifted stretch of a pattern.


class Patterns(NamedTuple):
    """Triples (f, g, h) of shifts, in one long table; its second half has f and h exchanged.

    - An arc has f = target, g = its number, h = source: a row is read; exchanged, a column.
    - A pair has f = its left puncteme, g = its choice, h = its right puncteme: a column passes.
    - A grid of Q states has f = k // Q, g = k, h = k % Q: an inner product for each entry; exchanged,
      a sum of entries.  A table of fewer entries is the beginning of one of more.

    :ivar pair: where the pairs of each relation start, (D,).
    :ivar empty_right: where those with an empty right puncteme start, (D + 1,).
    :ivar grid: where the grid of Q states starts, for each Q.
    :ivar mirror: where the second half starts.
    """

    triples: Ints
    pair: Ints
    empty_right: Ints
    grid: Ints
    mirror: int


def patterns_of(shape: Shape) -> Patterns:
    """The patterns of all groups of terms that trees of this shape need."""
    structure, inventory = shape.structure, shape.inventory
    arcs = np.stack([structure.target, np.arange(len(structure.source)), structure.source])
    relation = np.repeat(np.arange(inventory.num_relations), np.diff(inventory.pair_start))
    choice = np.arange(len(relation)) - inventory.pair_start[relation]
    pairs = np.stack([structure.left_of_pair, choice, structure.right_of_pair])
    bare = np.flatnonzero(structure.right_of_pair == 0)
    grids, grid = _grids(shape)
    triples = np.concatenate([arcs, pairs, pairs[:, bare], grids], axis=1)
    first_pair = arcs.shape[1]
    first_bare = first_pair + pairs.shape[1]
    return Patterns(
        np.concatenate([triples, triples[::-1]], axis=1),
        first_pair + inventory.pair_start[:-1],
        first_bare + np.searchsorted(relation[bare], np.arange(inventory.num_relations + 1)),
        first_bare + len(bare) + grid,
        triples.shape[1],
    )


def _grids(shape: Shape) -> tuple[Ints, Ints]:
    """The grids of all numbers of states that there are, and where each starts."""
    states = np.concatenate([shape.left.states, shape.right.states])
    entries = np.zeros(states.max() + 1, np.int64)
    np.maximum.at(entries, states, np.concatenate([shape.left.entries, shape.right.entries]))
    sizes = entries * np.arange(len(entries))
    number, width = runs(np.zeros_like(sizes), sizes), np.repeat(np.arange(len(sizes)), sizes)
    return np.stack([number // width, number, number % width]), starts_of(sizes)[:-1]


class _Groups(NamedTuple):
    """Groups of terms, one for each entry of the arrays.

    At its level, a group does ``values[target + f] += values[first + g] * values[second + h]`` for
    ``length`` triples from ``pattern`` on.
    """

    level: Ints
    pattern: Ints
    length: Ints
    target: Ints
    first: Ints
    second: Ints


def _groups(shape: Shape, patterns: Patterns) -> _Groups:
    """All that there is to do, sorted by level."""
    parts = [
        *_starts(shape, patterns),
        *_walls(shape, patterns),
        _reads(shape, patterns, True),
        _reads(shape, patterns, False),
        *_applies(shape, patterns),
        _totals(shape, patterns),
    ]
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    return _Groups(*(column[order] for column in columns))


def _group(*columns: Ints | int) -> _Groups:
    """Groups of terms from columns that are the same for all groups, or not."""
    return _Groups(*np.broadcast_arrays(*columns))


def _copies(shape: Shape, patterns: Patterns, target: Ints, leaf: Ints | int, slot: Ints) -> _Groups:
    """Start vectors as weights of the ends of their slot: ``leaf`` says of which end."""
    automaton = shape.structure.slot_automaton[slot]
    first = shape.structure.state_start[automaton]
    states = shape.structure.state_start[automaton + 1] - first
    return _group(0, patterns.grid[states] + patterns.mirror, states, target, leaf + first, shape.at.one)


def _starts(shape: Shape, patterns: Patterns) -> list[_Groups]:
    """On both sides of a word: final weights before it, initial ones after it, where the chain starts."""
    at, chains = shape.at, shape.chains
    starts = chains.inner < 0
    starts[shape.structure.root] = False
    leaf = np.where(chains.leftward, at.final, at.initial)[starts]
    left, right = chains.outer_left < 0, chains.outer_right < 0
    return [
        _copies(shape, patterns, at.vector[starts], leaf, shape.enter.slot[starts]),
        _copies(shape, patterns, shape.left.table[left], at.final, shape.left.slot[left]),
        _copies(shape, patterns, shape.right.table[right], at.initial, shape.right.slot[right]),
    ]


def _walls(shape: Shape, patterns: Patterns) -> list[_Groups]:
    """At both ends of a tree, past the tokens that stand outside, if any."""
    structure, at, root = shape.structure, shape.at, shape.structure.root
    return [
        _wall(shape, patterns, at.wall, at.initial, shape.left.slot[root], structure.start_token, 0),
        _wall(
            shape,
            patterns,
            at.vector[root],
            at.final,
            shape.right.slot[root],
            structure.end_token,
            patterns.mirror,
        ),
    ]


def _wall(
    shape: Shape, patterns: Patterns, target: Ints, leaf: int, slot: Ints, token: int, mirror: int
) -> _Groups:
    if token < 0:
        return _copies(shape, patterns, target, leaf, slot)
    automaton = shape.structure.slot_automaton[slot]
    first, count = _arcs(shape.structure, automaton, token)
    second = leaf + shape.structure.state_start[automaton]
    return _group(0, first + mirror, count, target, shape.at.arc, second)


def _arcs(structure: Structure, automaton: Ints, token: Ints | int) -> tuple[Ints, Ints]:
    """The first arc of some automata and tokens, and how many there are."""
    block = automaton * structure.num_tokens + token
    first = structure.arc_start[block]
    return first, structure.arc_start[block + 1] - first


def _reads(shape: Shape, patterns: Patterns, on_left: bool) -> _Groups:
    """All entries of all tables of one side but the empty ones, each from its parent."""
    structure, inventory = shape.structure, shape.inventory
    if on_left:
        side, known, tries, mirror = shape.left, shape.level.left, inventory.left_tries, patterns.mirror
    else:
        side, known, tries, mirror = shape.right, shape.level.right, inventory.right_tries, 0
    more = side.entries - 1
    node, entry = np.repeat(np.arange(len(more)), more), runs(np.ones_like(more), more)
    place = tries.start[structure.relation[node]] + entry
    automaton = structure.slot_automaton[side.slot[node]]
    first, count = _arcs(structure, automaton, tries.token[place])
    table, states = side.table[node], side.states[node]
    return _group(
        known[node] + _depths(tries)[place],
        first + mirror,
        count,
        table + entry * states,
        shape.at.arc,
        table + tries.parent[place] * states,
    )


def _applies(shape: Shape, patterns: Patterns) -> list[_Groups]:
    """s, t and the results of all nodes."""
    at, enter, leave, level = shape.at, shape.enter, shape.leave, shape.level
    first, count = choices_of(shape, patterns)
    pair = at.pair + shape.structure.choice_start[:-1]
    inner, outer = patterns.grid[enter.states], patterns.grid[leave.states] + patterns.mirror
    return [
        _group(level.s, inner, enter.entries * enter.states, at.s, enter.table, at.vector),
        _group(level.s + 1, first, count, at.t, pair, at.s),
        _group(level.out, outer, leave.entries * leave.states, _results(shape), leave.table, at.t),
    ]


def choices_of(shape: Shape, patterns: Patterns) -> tuple[Ints, Ints]:
    """The pairs of each node whose punctemes have entries in its tables: where they start, how many.

    Their triples have f = the entry at the side where a vector leaves the node, h = that where it enters.
    """
    relation, inventory = shape.structure.relation, shape.inventory
    left, right = shape.left.entries > 1, shape.right.entries > 1
    first = np.where(left & ~right, patterns.empty_right[relation], patterns.pair[relation])
    first = first + np.where(shape.chains.leftward, 0, patterns.mirror)
    counts = [np.diff(inventory.pair_start), np.diff(patterns.empty_right), inventory.empty_left]
    return first, np.select([left & right, left, right], [count[relation] for count in counts], 1)


def _results(shape: Shape) -> Ints:
    """Where the result of applying each node goes: to the next of its chain, to its head, or to the top."""
    at, chains = shape.at, shape.chains
    place = np.empty_like(at.vector)
    later = np.flatnonzero(chains.inner >= 0)
    place[chains.inner[later]] = at.vector[later]
    for outer, side in ((chains.outer_left, shape.left), (chains.outer_right, shape.right)):
        place[outer[outer >= 0]] = side.table[outer >= 0]
    place[shape.structure.root] = at.top
    return place


def _totals(shape: Shape, patterns: Patterns) -> _Groups:
    """p(x | T), but for the scales: what stands at the left end times what comes out of the root."""
    at, root = shape.at, shape.structure.root
    states = shape.left.states[root]
    return _group(shape.level.out[root] + 1, patterns.grid[states], states, at.total, at.top, at.wall)


# The program: all terms of all levels, on the device.


class Rescaled(NamedTuple):
    """Numbers to be rescaled.

    :ivar place: where they lie.
    :ivar node: the node to which each of them belongs.
    """

    place: Tensor
    node: Tensor


class Level(NamedTuple):
    """What is done at one level: terms, and then numbers to be rescaled, some vectors s or some results.

    :ivar target: where each term is added.
    :ivar first: where its first factor lies.
    :ivar second: where its second factor lies.
    """

    target: Tensor
    first: Tensor
    second: Tensor
    sums: Rescaled
    results: Rescaled


class Program(NamedTuple):
    """All that has to be done for a batch, level by level, and where its numbers lie."""

    levels: list[Level]
    at: Offsets


def program_of(shape: Shape, patterns: Patterns, device: torch.device) -> Program:
    """Everything to be done, sorted by level, with its indices on the device."""
    groups = _groups(shape, patterns)
    borders = np.arange(groups.level[-1] + 2)
    terms = _split(_terms(groups, patterns, shape.at.size, device), groups.level, groups.length, borders)
    sums = _rescaled(shape.level.s, shape.at.s, shape.enter.entries, borders, device)
    results = _rescaled(shape.level.out, _results(shape), shape.leave.states, borders, device)
    factors = zip(*terms, strict=True)
    return Program([Level(*level) for level in zip(*factors, sums, results, strict=True)], shape.at)


def _rescaled(level: Ints, first: Ints, size: Ints, borders: Ints, device: torch.device) -> list[Rescaled]:
    """What is to be rescaled at each level, if ``size`` numbers of each node are at its ``level``."""
    node = np.argsort(level, kind="stable")
    size = size[node]
    columns = torch.from_numpy(np.stack([runs(first[node], size), np.repeat(node, size)])).to(device)
    return [Rescaled(*part) for part in _split(list(columns), level[node], size, borders)]


def _terms(groups: _Groups, patterns: Patterns, size: int, device: torch.device) -> list[Tensor]:
    """Targets, first and second factors of all terms, (terms,) each."""
    start = starts_of(groups.length)
    short = max(size, start[-1], patterns.triples.shape[1]) < 2**31
    kind = torch.int32 if short else torch.int64
    columns = np.stack([groups.pattern - start[:-1], groups.target, groups.first, groups.second])
    shifts = torch.from_numpy(columns).to(device, kind)
    triples = torch.from_numpy(patterns.triples).to(device, kind)
    count = torch.from_numpy(groups.length).to(device)
    group = torch.repeat_interleave(count, output_size=int(start[-1])).to(kind)
    triple = torch.arange(len(group), dtype=kind, device=device) + shifts[0].index_select(0, group)
    return [
        shift.index_select(0, group).add_(column.index_select(0, triple))
        for shift, column in zip(shifts[1:], triples, strict=True)
    ]


def _split(columns: list[Tensor], level: Ints, count: Ints, borders: Ints) -> list[tuple[Tensor, ...]]:
    """Cut columns into levels; they come in runs of ``count``, sorted by ``level``."""
    sizes = np.diff(starts_of(count)[np.searchsorted(level, borders)]).tolist()
    return list(zip(*(column.split(sizes) for column in columns), strict=True))
