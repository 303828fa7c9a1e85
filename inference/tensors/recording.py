"""Algorithm 1 of Li, Wang & Eisner (2019), recorded: the numbers that are multiplied and added, by level.

Each step of `pyropunct.inference.kernels.inside` is recorded as a *group* of terms ::

    values[target + f] += values[first + g] * values[second + h]

over the triples (f, g, h) of a *pattern*: the arcs of a token, the pairs of a relation, or the cells of a
table.  All numbers of all trees lie in one flat vector: leaves, totals, then workspaces. Each group has a
*level*, above the levels of both its factors.
"""

from typing import NamedTuple

from pyropunct.inference.compiling import compiled, inner
from pyropunct.inference.kernels.structure import (
    LEFT_SIDE,
    RIGHT_SIDE,
    child_of,
    num_children,
    opposite,
    run_of,
    states_of,
    wall_of,
    word_slot_of,
)
from pyropunct.inference.kernels.workspace import (
    choices_of,
    link_of,
    place_of,
    table_of,
    workspace_of,
    workspaces_of,
)
from pyropunct.inference.ragged import Ints


class Patterns(NamedTuple):
    """Where the patterns start in the table of triples; its second half has f and h exchanged.

    The arcs come first, those of all automata, so the triple of an arc has its number.

    - An arc has f = target, g = its number, h = source: a row is read; exchanged, a column.
    - A pair has f = its left puncteme, g = its choice, h = its right puncteme: a column passes.
    - A grid of Q states has f = k // Q, g = k, h = k % Q: an inner product for each entry of a table;
      exchanged, a sum of entries.  A table of fewer entries is the beginning of one of more.

    :ivar pair: where the pairs of each relation start, (D,).
    :ivar empty_right: where those with an empty right puncteme start, (D + 1,).
    :ivar grid: where the grid of Q states starts, for each Q.
    :ivar mirror: where the second half starts.
    """

    pair: Ints
    empty_right: Ints
    grid: Ints
    mirror: int


class Base(NamedTuple):
    """Where the blocks of the flat vector start.

    :ivar pair: p(l, r | w); then the leaves ``arc``, ``initial`` and ``final``, as in
        `pyropunct.inference.kernels.structure.Weights`.
    :ivar one: the number 1.
    :ivar total: p(x | T) of each tree but for the scales.
    :ivar wall: the weights at the left end of each tree, past the token that stands outside, if any.
    :ivar tree: the workspaces.
    """

    pair: int
    arc: int
    initial: int
    final: int
    one: int
    total: int
    wall: int
    tree: int


class Tape(NamedTuple):
    """Where everything is and which groups have been recorded.

    :ivar groups: (groups, 6) level, pattern, length, target, first and second of each group.
    :ivar recorded: (1,) the number of groups so far.
    :ivar level: (numbers,) at the start of each vector and table entry, the level that completes it.
    :ivar result: (N,) where the result of applying each node lies; ``states``, (N,), its length.
    """

    base: Base
    patterns: Patterns
    groups: Ints
    recorded: Ints
    level: Ints
    result: Ints
    states: Ints


@inner
def _record(tape, level, pattern, length, target, first, second):
    """Record a group of terms, whose sums are complete after a level."""
    tape.level[target] = level
    if length > 0:
        group = tape.groups[tape.recorded[0]]
        group[0], group[1], group[2] = level, pattern, length
        group[3], group[4], group[5] = target, first, second
        tape.recorded[0] += 1


@inner
def _ends(structure, tape, slot, side):
    """Where the weights at one end of a slot lie: initial ones at its left, final ones at its right."""
    automaton = structure.numbers[structure.at.slot_automaton + slot]
    first = tape.base.initial if side == LEFT_SIDE else tape.base.final
    return first + structure.numbers[structure.at.state_start + automaton]


@inner
def _read(structure, tape, slot, token, toward, before, after):
    """Multiply a vector by the matrix of a token: M_i(token) v leftward, v M_i(token) rightward."""
    block = structure.numbers[structure.at.slot_automaton + slot] * structure.num_tokens + token
    begin, end = run_of(structure, structure.at.arc_start, block)
    pattern = begin + tape.patterns.mirror if toward == LEFT_SIDE else begin
    _record(tape, tape.level[before] + 1, pattern, end - begin, after, tape.base.arc, before)


@inner
def _fill_table(structure, tape, work, node, side):
    """Fill the table left[l] or right[r] of a node from its entry 0."""
    table = table_of(structure, work, node, side)
    for entry in range(1, table.entries):
        before = table.place + structure.numbers[table.parent + entry] * table.states
        after, token = table.place + entry * table.states, structure.numbers[table.token + entry]
        _read(structure, tape, table.slot, token, side, before, after)


@inner
def _level_of(tape, table):
    """The level that completes a table."""
    level = 0
    for entry in range(table.entries):
        level = max(level, tape.level[table.place + entry * table.states])
    return level


@inner
def _pairs_of(structure, tape, work, node, toward):
    """The pattern of the pairs of a node that may have weight, and their number."""
    place, relation = place_of(work, node), structure.numbers[structure.at.relation + node]
    pattern, choices = tape.patterns.pair[relation], choices_of(structure, work, node)[1]
    if place.left_entries > 1 and place.right_entries == 1:
        pattern = tape.patterns.empty_right[relation]
        choices = tape.patterns.empty_right[relation + 1] - pattern
    return pattern if toward == LEFT_SIDE else pattern + tape.patterns.mirror, choices


@inner
def _apply(structure, tape, work, node, toward, vector, out):
    """Apply a constituent to a vector: IN(w) v leftward, v IN(w) rightward."""
    enter, leave = table_of(structure, work, node, opposite(toward)), table_of(structure, work, node, toward)
    place, grid = place_of(work, node), tape.patterns.grid
    level = max(_level_of(tape, enter), tape.level[vector]) + 1
    size = enter.entries * enter.states
    _record(tape, level, grid[enter.states], size, place.s, enter.place, vector)
    pattern, choices = _pairs_of(structure, tape, work, node, toward)
    pair = tape.base.pair + structure.numbers[structure.at.choice_start + node]
    _record(tape, level + 1, pattern, choices, place.t, pair, place.s)
    level = max(level + 1, _level_of(tape, leave)) + 1
    pattern, size = grid[leave.states] + tape.patterns.mirror, leave.entries * leave.states
    _record(tape, level, pattern, size, out, leave.place, place.t)
    tape.result[node], tape.states[node] = out, leave.states


@inner
def _chain(structure, tape, work, node, side):
    """Mleft or Mright of a node: apply its children on one side, from the word outward."""
    slot, children = word_slot_of(structure, node, side), num_children(structure, node, side)
    vector, states = _ends(structure, tape, slot, opposite(side)), states_of(structure, slot)
    for number in range(children):
        out = link_of(structure, work, node, side, number + 1)
        _apply(structure, tape, work, child_of(structure, node, side, number), side, vector, out)
        vector = out
    if children == 0:
        pattern = tape.patterns.grid[states] + tape.patterns.mirror
        table = table_of(structure, work, node, side).place
        _record(tape, 1, pattern, states, table, vector, tape.base.one)


@inner
def _wall(structure, tape, tree, side, past):
    """Where the weights at one end of a tree lie, past the token that stands outside, if any."""
    slot, token = wall_of(structure, tree, side)
    ends = _ends(structure, tape, slot, side)
    if token < 0:
        return ends
    _read(structure, tape, slot, token, opposite(side), ends, past)
    return past


@inner
def _record_tree(structure, tape, work, tree, wall):
    """Record Algorithm 1 for a tree."""
    for number in range(len(work.place)):
        node = structure.numbers[structure.at.bottom_up + work.first + number]
        for side in (LEFT_SIDE, RIGHT_SIDE):
            _chain(structure, tape, work, node, side)
            _fill_table(structure, tape, work, node, side)
    root = structure.numbers[structure.at.root + tree]
    end = _wall(structure, tape, tree, RIGHT_SIDE, place_of(work, root).vector)
    _apply(structure, tape, work, root, LEFT_SIDE, end, work.top)
    start = _wall(structure, tape, tree, LEFT_SIDE, wall)
    states = table_of(structure, work, root, LEFT_SIDE).states
    level = max(tape.level[work.top], tape.level[start]) + 1
    _record(tape, level, tape.patterns.grid[states], states, tape.base.total + tree, work.top, start)


@compiled
def lay_out(structure, weights, trees):
    """The workspaces of all trees."""
    return workspaces_of(structure, weights, 0, trees)


@compiled
def record(structure, tape, weights, spaces, walls):
    """Record Algorithm 1 for all trees, with workspaces placed in the flat vector.

    :param walls: (B,) where there is room for the weights at the left end of each tree.
    """
    for tree in range(len(walls)):
        work = workspace_of(structure, weights, spaces, tree)
        _record_tree(structure, tape, work, tree, walls[tree])
