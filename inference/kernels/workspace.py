"""Where the numbers of a tree lie while the kernels work on it.

Each tree has one stretch of numbers, ``values``.  For a constituent w between the slots i and k, which have
N_i and N_k states, and where L and R punctemes (or parts of such) have weight, it holds, node after node::

    left      L x N_i         left[l] = M_i(l) Mleft; entry 0, the empty puncteme, is Mleft itself
    right     R x N_k         right[r] = Mright M_k(r); entry 0 is Mright itself
    vector    max(N_i, N_k)   what w is applied to: a column of N_k weights, for a right child a row of N_i
    s         max(L, R)       R sums, for a right child L
    t         max(L, R)       L sums, for a right child R

and behind the nodes N_0 weights, the result of applying the root.

Nodes are visited children first, and every number is written once, before it is read.  When w is visited, its
children are applied from the word outward, which writes their ``vector``, ``s``, ``t`` and result; the result
of the outermost child on a side is entry 0 of that table, from which the other entries follow.  The root is
applied last.

The result of applying a constituent is divided by its greatest weight, its ``scale``, so that no vector
overflows or vanishes.  log p(x | T) is the logarithm of the scaled total weight plus those of all scales.  A
scale of 0 means that the surface string is impossible.

The reverse pass has its *adjoints*, seeded derivatives of log p(x | T), in a second stretch laid out in the
same way, all zeros at first.  It visits nodes in the opposite order, so every adjoint is complete before it
is read.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.inference.compiling import inner, spliced
from pyropunct.inference.kernels.structure import (
    LEFT_SIDE,
    child_of,
    length_of,
    num_children,
    run_of,
    states_of,
)

Array = NDArray[Any]

PLACE = np.dtype(
    (
        np.record,  # whose fields are attributes without numba too
        [(name, np.int64) for name in ("left", "right", "vector", "s", "t", "left_entries", "right_entries")],
    )
)
"""Where the numbers of a node start in its tree's workspace, and how many entries its tables have."""


class Workspace(NamedTuple):
    """One tree at work: its numbers, and the weights of the problem.

    :ivar first: the first node of the tree; it has number 0 in ``place`` and in ``scale``.
    :ivar place: (n,) a `PLACE` for each node.
    :ivar top: where the result of applying the root starts in ``values``.
    :ivar scale: (n,) the greatest weight of the result of applying each node.
    """

    first: int
    place: Array
    values: Array
    top: int
    scale: Array
    weights: Any


class Workspaces(NamedTuple):
    """The workspaces of some consecutive trees, one after another, and their results.

    :ivar start: where the numbers of each tree start in ``values``.
    :ivar top: where the result of applying the root starts in the numbers of each tree.
    :ivar total: the scaled total weight of each tree.
    """

    first_tree: int
    place: Array
    start: Array
    values: Array
    top: Array
    scale: Array
    total: Array


class SumTable(NamedTuple):
    """The table of one side of a node, with the trie of its punctemes.

    :ivar slot: the slot at that side of the constituent.
    :ivar place: where the table starts in the workspace.
    :ivar token: where the tokens of its entries start in the structure's numbers, ``parent`` their parents,
        ``of_pair`` the entries of all pairs; see `pyropunct.inference.inventory.Tries`.
    """

    slot: int
    states: int
    place: int
    entries: int
    token: int
    parent: int
    of_pair: int


@inner
def _num_entries(structure, slot, start, relation):
    """The number of entries of a trie that have weight in a slot: without arcs, only the empty puncteme."""
    numbers, at = structure.numbers, structure.at
    block = numbers[at.slot_automaton + slot] * structure.num_tokens
    if numbers[at.arc_start + block] == numbers[at.arc_start + block + structure.num_tokens]:
        return 1
    return length_of(structure, start, relation)


@inner
def _lay_out(structure, tree, places):
    """Lay out the numbers of a tree; returns the start of the root's result, and the end of all numbers."""
    numbers, at = structure.numbers, structure.at
    size, first = 0, numbers[at.node_start + tree]
    for local in range(len(places)):
        node, place = first + local, places[local]
        relation = numbers[at.relation + node]
        left, right = numbers[at.left_slot + node], numbers[at.right_slot + node]
        left_states, right_states = states_of(structure, left), states_of(structure, right)
        place.left_entries = _num_entries(structure, left, at.left_start, relation)
        place.right_entries = _num_entries(structure, right, at.right_start, relation)
        most = max(place.left_entries, place.right_entries)
        place.left = size
        place.right = place.left + place.left_entries * left_states
        place.vector = place.right + place.right_entries * right_states
        place.s = place.vector + max(left_states, right_states)
        place.t = place.s + most
        size = place.t + most
    return size, size + states_of(structure, numbers[at.slot_start + tree])


@inner
def workspaces_of(structure, weights, first_tree, last_tree):
    """Workspaces for some trees, laid out but neither filled nor cleared: numbers are written before they are
    read.
    """
    trees, first = last_tree - first_tree, structure.numbers[structure.at.node_start + first_tree]
    nodes = structure.numbers[structure.at.node_start + last_tree] - first
    place, start, top = np.empty(nodes, PLACE), np.zeros(trees + 1, np.int64), np.empty(trees, np.int64)
    for number in range(trees):
        tree = first_tree + number
        begin, end = run_of(structure, structure.at.node_start, tree)
        top[number], size = _lay_out(structure, tree, place[begin - first : end - first])
        start[number + 1] = start[number] + size
    kind = weights.pair.dtype
    return Workspaces(
        first_tree, place, start, np.empty(start[trees], kind), top, np.empty(nodes), np.empty(trees, kind)
    )


@inner
def workspace_of(structure, weights, spaces, tree):
    """The workspace of one of the trees."""
    number, first = tree - spaces.first_tree, structure.numbers[structure.at.node_start + spaces.first_tree]
    begin, end = run_of(structure, structure.at.node_start, tree)
    return Workspace(
        begin,
        spaces.place[begin - first : end - first],
        spaces.values[spaces.start[number] : spaces.start[number + 1]],
        spaces.top[number],
        spaces.scale[begin - first : end - first],
        weights,
    )


@spliced
def place_of(work, node):
    """The `PLACE` of a node."""
    return work.place[node - work.first]


@spliced
def table_of(structure, work, node, side):
    """The left or the right table of a node."""
    place, at, left = place_of(work, node), structure.at, side == LEFT_SIDE
    slot = structure.numbers[(at.left_slot if left else at.right_slot) + node]
    start = at.left_start if left else at.right_start
    first = structure.numbers[start + structure.numbers[at.relation + node]]
    return SumTable(
        slot,
        states_of(structure, slot),
        place.left if left else place.right,
        place.left_entries if left else place.right_entries,
        (at.left_token if left else at.right_token) + first,
        (at.left_parent if left else at.right_parent) + first,
        at.left_of_pair if left else at.right_of_pair,
    )


@spliced
def entry_of(values, table, entry):
    """An entry of a table: left[l] or right[r], or its adjoint."""
    begin = table.place + entry * table.states
    return values[begin : begin + table.states]


@spliced
def link_of(structure, work, node, side, number):
    """Where a node's chain of children on one side is before the child of that number is applied.

    From child 0, next to the word, it goes outward by vectors, and ends in entry 0 of that side's table.
    """
    if number < num_children(structure, node, side):
        return place_of(work, child_of(structure, node, side, number)).vector
    place = place_of(work, node)
    return place.left if side == LEFT_SIDE else place.right


@spliced
def choices_of(structure, work, node):
    """The first row of a node's pairs in the inventory, and the number of pairs that may have weight."""
    place = place_of(work, node)
    relation = structure.numbers[structure.at.relation + node]
    row = structure.numbers[structure.at.pair_start + relation]
    if place.left_entries > 1:
        return row, length_of(structure, structure.at.pair_start, relation)
    if place.right_entries > 1:
        return row, structure.numbers[structure.at.empty_left + relation]
    return row, np.int64(1)
