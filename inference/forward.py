"""Many forward runs of the story at once, compiled.

Draws with equal strings inside a constituent form a *group*: the attach model is called once for each group.
`DrawTables` hold all random numbers, so results depend on neither the order of work nor the number of
threads.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.inference.compiling import compiled, inner
from pyropunct.inference.forest import Forest, Sprouting
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.machines.sampling import NONE, Sampler, doubled, pick, rewritten
from pyropunct.inference.ragged import Array, Floats, Ints, starts_of

_SPREAD = np.uint64(0x9E3779B97F4A7C15)
"""Spreads keys over a table: 2^64 over the golden ratio."""


class TreeArrays(NamedTuple):
    """A forest of N nodes and S slots as compiled loops see it: see `pyropunct.inference.forest.Forest`."""

    left_slot: Ints
    right_slot: Ints
    left_child_start: Ints
    left_child: Ints
    right_child_start: Ints
    right_child: Ints
    is_first: NDArray[np.bool_]
    is_last: NDArray[np.bool_]
    begins: NDArray[np.bool_]
    sprouting: Sprouting


def trees_of(forest: Forest, has_parts: bool = False, begins: NDArray[np.bool_] | None = None) -> TreeArrays:
    """A forest as the compiled loops see it; ``begins``, (S,), says in which slots a clause begins."""
    names = TreeArrays._fields[:-4]
    columns = {name: np.ascontiguousarray(getattr(forest, name).cpu().numpy()) for name in names}
    is_first, is_last = np.zeros((2, forest.num_slots), np.bool_)
    start = forest.slot_start.cpu().numpy()
    is_first[start[:-1]], is_last[start[1:] - 1] = True, True
    sprouting = forest.sprouting_with_parts if has_parts else forest.sprouting
    begins = np.zeros(forest.num_slots, np.bool_) if begins is None else begins
    return TreeArrays(**columns, is_first=is_first, is_last=is_last, begins=begins, sprouting=sprouting)


class DrawTables(NamedTuple):
    """The decisions at N nodes and S slots, with a column for each draw; see `tables_for`.

    :ivar node_draws: (N,) the number of draws of each node, (S,) ``slot_draws`` of each slot; further columns
        are unused.
    :ivar uniform: (N, draws) random numbers in [0, 1); ``bits``, (S, draws) random bits.
    :ivar rows: (N, draws) the inventory's rows of the puncteme pairs, which `choose` draws.
    :ivar numbers: (S, draws) the numbers of the surface strings.
    :ivar parts: (3, N, draws) the kinds of drawn parts (`pyropunct.inference.parts`), -1 for none, and how
        many dependents are outside on the left and on the right; empty where there are no parts.
    :ivar groups: (N, draws) the group of each draw, numbered by their first draws; see `group_draws`.
    :ivar group_sizes: (N,) the number of groups of each node.
    """

    node_draws: Ints
    slot_draws: Ints
    uniform: Floats
    bits: Array
    rows: Array
    numbers: Array
    parts: Array
    groups: Array
    group_sizes: Ints


NO_PARTS = np.zeros((3, 0, 0), np.int32)
"""`DrawTables.parts` of a story without marks around parts."""


def tables_for(
    node_draws: Ints, slot_draws: Ints, uniform: Floats, bits: Array, parts: Array = NO_PARTS
) -> DrawTables:
    """DrawTables before other decisions: all draws of a node are in one group."""
    rows, numbers, groups = (np.zeros(table.shape, np.int32) for table in (uniform, bits, uniform))
    group_sizes = np.ones(len(uniform), np.int64)
    return DrawTables(node_draws, slot_draws, uniform, bits, rows, numbers, parts, groups, group_sizes)


class Punctemes(NamedTuple):
    """The left and right punctemes of the pairs of an inventory, row after row.

    :ivar left_start: (rows + 1,) where the tokens of each left puncteme start in ``left``.
    :ivar right_start: (rows + 1,) where the tokens of each right puncteme start in ``right``.
    :ivar marks: (kinds, 2) the marks of parts.
    :ivar longest: the number of tokens in the longest puncteme.
    :ivar start_token: the token at the left of the first slot of a tree, or -1.
    :ivar end_token: the token at the right of the last slot of a tree, or -1.
    :ivar clause_token: the token at the left of a slot where a clause begins, or -1.
    """

    left_start: Ints
    left: Ints
    right_start: Ints
    right: Ints
    marks: Ints
    longest: int
    start_token: int
    end_token: int
    clause_token: int


NO_MARKS = np.zeros((0, 2), np.int64)
"""`Punctemes.marks` of a story without marks around parts."""


def punctemes_of(inventory: Inventory, marks: Ints = NO_MARKS) -> Punctemes:
    """The punctemes of an inventory, and (kinds, 2) the marks of parts."""
    left, right = inventory.padded_rows
    walls = inventory.start_token, inventory.end_token, inventory.clause_token
    return Punctemes(
        starts_of((left >= 0).sum(-1)),
        left[left >= 0],
        starts_of((right >= 0).sum(-1)),
        right[right >= 0],
        marks,
        inventory.longest,
        *(NONE if token is None else token for token in walls),
    )


# Groups


@inner
def _refine(group: Array, other: Array, keys: Array, values: Array) -> int:
    """Split groups of draws that differ in a column; returns the number of groups."""
    keys[:] = NONE
    size, last = 0, len(keys) - 1
    for draw in range(len(group)):
        key = (np.int64(group[draw]) << 32) | np.int64(other[draw])
        place = np.int64((np.uint64(key) * _SPREAD) >> np.uint64(32)) & last
        while keys[place] != NONE and keys[place] != key:
            place = (place + 1) & last
        if keys[place] == NONE:
            keys[place], values[place] = key, size
            size += 1
        group[draw] = values[place]
    return size


@compiled
def group_draws(trees: TreeArrays, tables: DrawTables, nodes: Ints) -> None:
    """Group draws by the strings strictly inside nodes; slots are drawn and children grouped before."""
    groups, sizes, numbers = tables.groups, tables.group_sizes, tables.numbers
    capacity = 2
    while capacity < 2 * groups.shape[1]:
        capacity *= 2
    keys, values = np.empty(capacity, np.int64), np.empty(capacity, np.int32)
    for node in nodes:
        group = groups[node, : tables.node_draws[node]]
        group[:] = 0
        size = 1
        for child in trees.left_child[trees.left_child_start[node] : trees.left_child_start[node + 1]]:
            if sizes[child] > 1:
                size = _refine(group, groups[child], keys, values)
            size = _refine(group, numbers[trees.right_slot[child]], keys, values)
        for child in trees.right_child[trees.right_child_start[node] : trees.right_child_start[node + 1]]:
            size = _refine(group, numbers[trees.left_slot[child]], keys, values)
            if sizes[child] > 1:
                size = _refine(group, groups[child], keys, values)
        sizes[node] = size


@compiled
def first_draws(tables: DrawTables, nodes: Ints) -> Ints:
    """The first draw of each group of the given nodes, node after node."""
    total = 0
    for node in nodes:
        total += tables.group_sizes[node]
    result, filled = np.empty(total, np.int64), 0
    for node in nodes:
        group, draw = 0, 0
        while group < tables.group_sizes[node]:
            if tables.groups[node, draw] == group:
                result[filled] = draw
                group, filled = group + 1, filled + 1
            draw += 1
    return result


# Punctemes


class Scores(NamedTuple):
    """Unnormalised log p(l, r | w) of each pair, for each group of draws of the given nodes in turn.

    :ivar score: (scores,) the scores of all groups; `choose` overwrites them.
    :ivar start: (groups + 1,) where those of each group start.
    :ivar group_start: (nodes + 1,) where the groups of each node start.
    :ivar first_row: (N,) the inventory's first row of the pairs of each node of the forest.
    """

    score: Array
    start: Ints
    group_start: Ints
    first_row: Ints


@compiled
def choose(tables: DrawTables, scores: Scores, nodes: Ints) -> None:
    """Draw the puncteme pairs of the given nodes."""
    for place in range(len(nodes)):
        node = nodes[place]
        for group in range(scores.group_start[place], scores.group_start[place + 1]):
            _accumulate(scores.score[scores.start[group] : scores.start[group + 1]])
        for draw in range(tables.node_draws[node]):
            group = scores.group_start[place] + tables.groups[node, draw]
            begin, end = scores.start[group], scores.start[group + 1]
            threshold = tables.uniform[node, draw] * scores.score[end - 1]
            chosen = pick(scores.score, begin, end, threshold)
            tables.rows[node, draw] = scores.first_row[node] + chosen - begin


@inner
def _accumulate(scores: Array) -> None:
    """Replace log-weights by running sums of weights, whose greatest is taken to be 1."""
    best, total = scores[0], 0.0
    for place in range(1, len(scores)):
        best = max(best, scores[place])
    for place in range(len(scores)):
        total += np.exp(scores[place] - best)
        scores[place] = total


# Slots


@inner
def _underlying(
    trees: TreeArrays, punctemes: Punctemes, rows: Array, parts: Array, slot: int, draw: int, string: Array
) -> int:
    """Write the underlying string of a slot; returns its length."""
    start, nodes, on_left, outside = trees.sprouting
    length = 0
    if trees.begins[slot]:
        string[0], length = punctemes.clause_token, 1
    elif trees.is_first[slot] and punctemes.start_token >= 0:
        string[0], length = punctemes.start_token, 1
    for number in range(start[slot], start[slot + 1]):
        node, side = nodes[number], 0 if on_left[number] else 1
        if outside[number] >= 0:
            kind = parts[0, node, draw]
            if kind >= 0 and parts[1 + side, node, draw] == outside[number]:
                string[length] = punctemes.marks[kind, side]
                length += 1
            continue
        starts = punctemes.right_start if side else punctemes.left_start
        tokens = punctemes.right if side else punctemes.left
        for place in range(starts[rows[node, draw]], starts[rows[node, draw] + 1]):
            string[length] = tokens[place]
            length += 1
    if trees.is_last[slot] and punctemes.end_token >= 0:
        string[length] = punctemes.end_token
        length += 1
    return length


def width_of(trees: TreeArrays, punctemes: Punctemes) -> int:
    """How many tokens underlying strings may have."""
    return int(np.diff(trees.sprouting.start).max()) * max(1, punctemes.longest) + 2


@compiled
def underlying(
    trees: TreeArrays, punctemes: Punctemes, rows: Array, parts: Array, slots: Ints, strings: Array
) -> None:
    """Write the underlying strings of slots into (draws, slots, width) ``strings``, -1 before."""
    for draw in range(rows.shape[1]):
        for place in range(len(slots)):
            _underlying(trees, punctemes, rows, parts, slots[place], draw, strings[draw, place])


@compiled
def rewrite(
    trees: TreeArrays, punctemes: Punctemes, machine: Sampler, tables: DrawTables, slots: Ints
) -> tuple[Array, Array]:
    """Draw the surface strings of slots whose punctemes are known.

    :returns: the lengths, each slot's draws in turn, 0 in unused columns; and the tokens of all strings.
    """
    columns = tables.rows.shape[1]
    lengths, out, size = np.zeros(len(slots) * columns, np.int64), np.empty(1024, np.int32), 0
    for place in range(len(slots)):
        slot = slots[place]
        begin, end = trees.sprouting.start[slot], trees.sprouting.start[slot + 1]
        string = np.empty((end - begin) * max(1, punctemes.longest) + 2, np.int64)
        for draw in range(tables.slot_draws[slot]):
            length = _underlying(trees, punctemes, tables.rows, tables.parts, slot, draw, string)
            bits = tables.bits[slot, draw]
            written = rewritten(machine, string, 0, length, bits, out, size)
            while written < 0:
                out = doubled(out)
                written = rewritten(machine, string, 0, length, bits, out, size)
            lengths[place * columns + draw] = written - size
            size = written
    return lengths, out[:size]
