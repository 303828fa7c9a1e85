"""Decoding: the best T', or draws of T' from the posterior, top-down from the tables of the inside pass.

Each sum picks its greatest term, or draws a term in proportion. This replaces the derivation semiring of Li,
Wang & Eisner (2019, section 3.1).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.inference.compiling import compiled, inner
from pyropunct.inference.kernels.inside import MAX, inside_tree, pairs_of, wall
from pyropunct.inference.kernels.structure import (
    LEFT_SIDE,
    RIGHT_SIDE,
    arcs_of,
    child_of,
    num_children,
    opposite,
    run_of,
)
from pyropunct.inference.kernels.workspace import entry_of, place_of, table_of, workspace_of, workspaces_of

Array = NDArray[Any]


class Decoded(NamedTuple):
    """The decisions about a tree of n words, and the random numbers behind them.

    :ivar semiring: `MAX` for the best derivation, `SUM` for a draw.
    :ivar choice: (n,) the choice of each node, known once its head's children are decided, with the states at
        its edges, ``left_state`` and ``right_state``.
    :ivar uniform: (n, 3 + twice the longest puncteme) random numbers for each node: for its choice; for the
        state at the edge that its vector enters; for one arc of each token of its left puncteme, then of its
        right one; the root's last, for the state at the start of the sentence.
    :ivar terms: room for the terms of the longest sum.
    """

    semiring: np.bool_
    choice: Array
    left_state: Array
    right_state: Array
    uniform: Array
    terms: Array


@inner
def _pick(decision, count, uniform):
    """The place of the greatest of the first terms, or of a term drawn in proportion to them."""
    terms, best, total = decision.terms, 0, 0.0
    for place in range(count):
        total += terms[place]
        if terms[place] > terms[best]:
            best = place
    if decision.semiring == MAX:
        return best
    threshold = uniform * total
    for place in range(count):
        threshold -= terms[place]
        if threshold < 0:
            return place
    return best


@inner
def _pick_product(decision, x, y, uniform):
    """A term of the inner product of two vectors."""
    for place in range(len(x)):
        decision.terms[place] = x[place] * y[place]
    return _pick(decision, len(x), uniform)


@inner
def _pick_pair(structure, work, decision, node, toward, state):
    """A pair for a node, given the state at the side where its vector leaves."""
    values, place, terms = work.values, place_of(work, node), decision.terms
    enter, leave = table_of(structure, work, node, opposite(toward)), table_of(structure, work, node, toward)
    weights, entering, leaving = pairs_of(structure, work, work.weights.pair, node, enter, leave)
    for choice in range(len(weights)):
        x, y = entering[choice], leaving[choice]
        terms[choice] = 0
        if x < enter.entries and y < leave.entries:
            terms[choice] = weights[choice] * values[place.s + x] * entry_of(values, leave, y)[state]
    return _pick(decision, len(weights), decision.uniform[node - work.first, 0])


@inner
def _entry_chosen(structure, table, node, choice):
    """The entry of a node's chosen puncteme in one of its tables."""
    relation = structure.numbers[structure.at.relation + node]
    return structure.numbers[table.of_pair + structure.numbers[structure.at.pair_start + relation] + choice]


@inner
def _pick_state(structure, work, decision, node, toward, choice):
    """The state at the side where the vector of a node enters, given the node's choice."""
    enter, vector = table_of(structure, work, node, opposite(toward)), place_of(work, node).vector
    chosen = entry_of(work.values, enter, _entry_chosen(structure, enter, node, choice))
    uniform = decision.uniform[node - work.first, 1]
    return _pick_product(decision, chosen, work.values[vector : vector + enter.states], uniform)


@inner
def _walk(decision, arcs, before, state, uniform):
    """Read the outermost token of an entry, from a state at the outer edge; returns the next state."""
    reads, writes, weights = arcs
    for arc in range(len(weights)):
        decision.terms[arc] = weights[arc] * before[reads[arc]] if writes[arc] == state else 0.0
    return reads[_pick(decision, len(weights), uniform)]


@inner
def _decide(structure, work, decision, node, toward, state):
    """Decide a node's pair and both states at its edges; ``state``, where its vector leaves, is known."""
    local = node - work.first
    choice = _pick_pair(structure, work, decision, node, toward, state)
    other = _pick_state(structure, work, decision, node, toward, choice)
    decision.choice[local] = choice
    decision.left_state[local] = state if toward == LEFT_SIDE else other
    decision.right_state[local] = other if toward == LEFT_SIDE else state
    return other


@inner
def _decide_children(structure, work, decision, node, side, column):
    """Walk inward through the chosen puncteme of one side of a node, and decide its children there."""
    local, table = node - work.first, table_of(structure, work, node, side)
    state = decision.left_state[local] if side == LEFT_SIDE else decision.right_state[local]
    entry = _entry_chosen(structure, table, node, decision.choice[local])
    while entry > 0:
        arcs = arcs_of(structure, work.weights.arc, table.slot, structure.numbers[table.token + entry], side)
        entry = structure.numbers[table.parent + entry]
        before = entry_of(work.values, table, entry)
        state = _walk(decision, arcs, before, state, decision.uniform[local, column])
        column += 1
    for number in range(num_children(structure, node, side) - 1, -1, -1):
        child = child_of(structure, node, side, number)
        state = _decide(structure, work, decision, child, side, state)
    return column


@inner
def _decide_tree(structure, work, decision, tree):
    """Decide all nodes of a tree, heads before their children."""
    root = structure.numbers[structure.at.root + tree]
    start = wall(structure, work, tree, LEFT_SIDE, decision.semiring)
    result = work.values[work.top : work.top + len(start)]
    state = _pick_product(decision, start, result, decision.uniform[root - work.first, -1])
    _decide(structure, work, decision, root, LEFT_SIDE, state)
    for number in range(len(work.place) - 1, -1, -1):
        node, column = structure.numbers[structure.at.bottom_up + work.first + number], 2
        for side in (LEFT_SIDE, RIGHT_SIDE):
            column = _decide_children(structure, work, decision, node, side, column)


@compiled
def decode(structure, weights, first_tree, last_tree, semiring, uniform, most, result):
    """Best derivations of some trees (in the semiring max), or draws from the posterior (sum).

    :param uniform: (draws, N, 3 + twice the longest puncteme) uniform random numbers in [0, 1).
    :param most: the length of the longest sum over pairs, arcs or states.
    :param result: (draws, N) takes the choice of every node, -1 where the surface is impossible.
    """
    for tree in range(first_tree, last_tree):
        first, last = run_of(structure, structure.at.node_start, tree)
        spaces = workspaces_of(structure, weights, tree, tree + 1)
        work = workspace_of(structure, weights, spaces, tree)
        if inside_tree(structure, work, tree, semiring) <= 0:
            result[:, first:last] = -1
            continue
        left_state, right_state = np.empty(last - first, np.int64), np.empty(last - first, np.int64)
        terms = np.empty(most)
        for draw in range(len(result)):
            choice, chance = result[draw, first:last], uniform[draw, first:last]
            decision = Decoded(semiring, choice, left_state, right_state, chance, terms)
            _decide_tree(structure, work, decision, tree)
