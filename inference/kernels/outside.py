"""The reverse pass of the inside algorithm: each function here undoes one of the inside pass, top-down.

With a prime for adjoints, ``y += a x`` becomes ``a' += y' x`` and ``x' += a y'``.  It is the outside
algorithm of the sum semiring (Li, Wang & Eisner 2019, section 3.2: gradients by automatic differentiation).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.inference.compiling import compiled, inner, spliced
from pyropunct.inference.kernels.inside import SUM, add_multiple, dot, pairs_of, wall
from pyropunct.inference.kernels.structure import (
    LEFT_SIDE,
    RIGHT_SIDE,
    arcs_of,
    child_of,
    ends_of,
    num_children,
    opposite,
    wall_of,
    word_slot_of,
)
from pyropunct.inference.kernels.workspace import entry_of, link_of, place_of, table_of, workspace_of

Array = NDArray[Any]


class Adjoints(NamedTuple):
    """Derivatives in the ``values`` of a tree's workspace, all zeros at first, and in the `Weights`.

    For ``pair`` these are derivatives in log p(l, r | w), and each tree writes those of its nodes.  All trees
    add to the others.
    """

    values: Array
    weights: Any


@spliced
def add_to(target, flow):
    """Add a vector to another."""
    for place in range(len(target)):
        target[place] += flow[place]


@spliced
def unread_token(arcs, flows, before, flow_before, flow_after):
    """Reverse of reading a token; ``flows`` are the adjoints of the arcs' weights."""
    reads, writes, weights = arcs
    for number in range(len(weights)):
        flow = flow_after[writes[number]]
        flows[number] += before[reads[number]] * flow
        flow_before[reads[number]] += weights[number] * flow


@inner
def _unfill_table(structure, work, adjoint, node, side):
    """Reverse of filling a table: the adjoints of all its entries go to their parents."""
    table = table_of(structure, work, node, side)
    for entry in range(table.entries - 1, 0, -1):
        parent, token = structure.numbers[table.parent + entry], structure.numbers[table.token + entry]
        unread_token(
            arcs_of(structure, work.weights.arc, table.slot, token, side),
            arcs_of(structure, adjoint.weights.arc, table.slot, token, side)[2],
            entry_of(work.values, table, parent),
            entry_of(adjoint.values, table, parent),
            entry_of(adjoint.values, table, entry),
        )


@spliced
def _unsum_pairs(structure, work, adjoint, node, enter, leave):
    """Reverse of summing over pairs, from the adjoints of t to those of s and of log p(l, r | w)."""
    place = place_of(work, node)
    s = work.values[place.s : place.s + enter.entries]
    flow_s = adjoint.values[place.s : place.s + enter.entries]
    flow_t = adjoint.values[place.t : place.t + leave.entries]
    weights, entering, leaving = pairs_of(structure, work, work.weights.pair, node, enter, leave)
    results = pairs_of(structure, work, adjoint.weights.pair, node, enter, leave)[0]
    for choice in range(len(weights)):
        x, y = entering[choice], leaving[choice]
        if x < enter.entries and y < leave.entries:
            flow = weights[choice] * flow_t[y]
            results[choice] = flow * s[x]
            flow_s[x] += flow


@inner
def _unapply(structure, work, adjoint, node, toward, out):
    """Reverse of applying a constituent; overwrites the adjoint at ``out`` with that before scaling."""
    values, flows, place = work.values, adjoint.values, place_of(work, node)
    enter, leave = table_of(structure, work, node, opposite(toward)), table_of(structure, work, node, toward)
    flow, inverse = flows[out : out + leave.states], 1 / work.scale[node - work.first]
    for state in range(leave.states):
        flow[state] *= inverse
    for entry in range(leave.entries):
        add_multiple(entry_of(flows, leave, entry), values[place.t + entry], flow, SUM)
        flows[place.t + entry] = dot(flow, entry_of(values, leave, entry), SUM)
    _unsum_pairs(structure, work, adjoint, node, enter, leave)
    vector = values[place.vector : place.vector + enter.states]
    flow_vector = flows[place.vector : place.vector + enter.states]
    for entry in range(enter.entries):
        flow_s = flows[place.s + entry]
        add_multiple(entry_of(flows, enter, entry), flow_s, vector, SUM)
        add_multiple(flow_vector, flow_s, entry_of(values, enter, entry), SUM)


@spliced
def _unchain(structure, work, adjoint, node, side):
    """Reverse of applying the children on one side of a node: the outermost comes first."""
    for number in range(num_children(structure, node, side) - 1, -1, -1):
        child = child_of(structure, node, side, number)
        _unapply(structure, work, adjoint, child, side, link_of(structure, work, node, side, number + 1))
    slot, start = word_slot_of(structure, node, side), link_of(structure, work, node, side, 0)
    ends = ends_of(structure, adjoint.weights, slot, opposite(side))
    add_to(ends, adjoint.values[start : start + len(ends)])


@inner
def _unwall(structure, work, adjoint, tree, side, flow):
    """Reverse of `wall`; ``flow`` is the adjoint of its result."""
    slot, token = wall_of(structure, tree, side)
    ends = ends_of(structure, work.weights, slot, side)
    if token >= 0:
        past, flow, toward = flow, np.zeros_like(ends), opposite(side)
        arcs = arcs_of(structure, work.weights.arc, slot, token, toward)
        unread_token(arcs, arcs_of(structure, adjoint.weights.arc, slot, token, toward)[2], ends, flow, past)
    add_to(ends_of(structure, adjoint.weights, slot, side), flow)


@inner
def _outside_tree(structure, work, adjoint, tree, seed):
    """Reverse of `inside_tree`; ``seed`` is the adjoint of the scaled total weight."""
    start = wall(structure, work, tree, LEFT_SIDE, SUM)
    flow, root = np.empty_like(start), structure.numbers[structure.at.root + tree]
    for state in range(len(start)):
        adjoint.values[work.top + state] = start[state] * seed
        flow[state] = work.values[work.top + state] * seed
    _unwall(structure, work, adjoint, tree, LEFT_SIDE, flow)
    _unapply(structure, work, adjoint, root, LEFT_SIDE, work.top)
    vector, table = place_of(work, root).vector, table_of(structure, work, root, RIGHT_SIDE)
    flow = adjoint.values[vector : vector + table.states]
    _unwall(structure, work, adjoint, tree, RIGHT_SIDE, flow)
    for number in range(len(work.place) - 1, -1, -1):
        node = structure.numbers[structure.at.bottom_up + work.first + number]
        _unfill_table(structure, work, adjoint, node, RIGHT_SIDE)
        _unfill_table(structure, work, adjoint, node, LEFT_SIDE)
        _unchain(structure, work, adjoint, node, LEFT_SIDE)
        _unchain(structure, work, adjoint, node, RIGHT_SIDE)


@compiled
def add_gradients(structure, weights, spaces, last_tree, seeds, gradients):
    """Add to ``gradients`` the derivatives of sum_b seeds[b] log p(x_b | T_b) over some trees.

    :param spaces: the result of `pyropunct.inference.kernels.inside.inside_pass` for the same trees.
    :param gradients: `Weights`; ``pair`` takes derivatives in log p(l, r | w) and must be zero before.
    """
    for tree in range(spaces.first_tree, last_tree):
        total = spaces.total[tree - spaces.first_tree]
        if total.real > 0:
            work = workspace_of(structure, weights, spaces, tree)
            adjoint = Adjoints(np.zeros_like(work.values), gradients)
            _outside_tree(structure, work, adjoint, tree, seeds[tree] / total)
