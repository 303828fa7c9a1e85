"""The inside algorithm without matrices, its reverse pass and its decoding, compiled.

Li, Wang & Eisner (2019, Algorithm 1) give every constituent w an N_i x N_k matrix::

    IN(w) = sum_(l, r) p(l, r | w) M_i(l) (Mleft 1 Mright) M_k(r)

The matrix in the middle is a column times a row, and a head only ever multiplies the matrix of a
child by a vector.  So a constituent keeps two small tables instead::

    left[l] = M_i(l) Mleft        for each left puncteme l:   a column of N_i weights
    right[r] = Mright M_k(r)      for each right puncteme r:  a row of N_k weights

and *applying* it to a column v (when it is a left child or the root) means::

    s[r] = right[r] . v      t[l] = sum_r p(l, r | w) s[r]      IN(w) v = sum_l t[l] left[l]

or, for a right child and a row v, the same with the sides exchanged.  Punctemes that share a part
share the work of reading it (`pyropunct.inference.inventory.Tries`).  In a slot without surface
punctuation only the empty puncteme has any weight, so most tables have one entry of one state.

Everything is written once for two semirings (sum, max) and for real or complex weights.  Complex
weights serve as dual numbers: an imaginary part of 1e-20 is carried along to full precision while
its square vanishes, so one pass also yields an exact directional derivative.

All functions work on one tree at a time, in a workspace of their own, and hold no lock.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.inference.compiling import compiled, inner

Array = NDArray[Any]


class Structure(NamedTuple):
    """Everything about a problem that has no weight: trees, surface strings, inventories."""

    node_start: Array
    slot_start: Array
    root: Array
    bottom_up: Array
    left_slot: Array
    word_slot: Array
    right_slot: Array
    left_child_start: Array
    left_child: Array
    right_child_start: Array
    right_child: Array
    relation: Array
    slot_automaton: Array
    state_start: Array
    arc_start: Array
    source: Array
    target: Array
    num_tokens: int
    start_token: int
    end_token: int
    left_start: Array
    left_token: Array
    left_parent: Array
    left_of_pair: Array
    right_start: Array
    right_token: Array
    right_parent: Array
    right_of_pair: Array
    pair_start: Array
    empty_left: Array
    choice_start: Array


class Weights(NamedTuple):
    """The numbers of a problem; also the shape of their adjoints."""

    pair: Array
    arc: Array
    initial: Array
    final: Array


class Place(NamedTuple):
    """Where the quantities of each node lie in the workspace, and how large they are."""

    left: Array
    right: Array
    vector: Array
    s: Array
    t: Array
    left_entries: Array
    right_entries: Array


class InsidePass(NamedTuple):
    """What an inside pass over some trees leaves behind, for the reverse pass.

    The places, workspaces and scales of these trees' nodes, tree after tree; where each tree's workspace
    starts and its result lies in it; and the scaled total weight of each tree.
    """

    place: Place
    values: Array
    scale: Array
    start: Array
    top: Array
    total: Array


class Side(NamedTuple):
    """One side of a node: its slot, the table of its punctemes, and their trie."""

    slot: int
    states: int
    table: int
    entries: int
    start: int
    token: Array
    parent: Array
    of_pair: Array


# NumPy's booleans: of a function that is called with Python's, numba compiles one version for each.
LEFT, RIGHT = np.bool_(True), np.bool_(False)
SUM = np.bool_(False)


@inner
def _states(structure, slot):
    automaton = structure.slot_automaton[slot]
    return structure.state_start[automaton + 1] - structure.state_start[automaton]


@inner
def _entries(structure, slot, start, relation):
    """How many entries of a trie have weight at this slot: without arcs, only the empty puncteme."""
    block = structure.slot_automaton[slot] * structure.num_tokens
    if structure.arc_start[block] == structure.arc_start[block + structure.num_tokens]:
        return 1
    return start[relation + 1] - start[relation]


@inner
def _places(n):
    """Places of n nodes, to be filled by `_lay_out`."""
    return Place(
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
    )


@inner
def _places_of(place, first, last):
    """The places of some of the nodes."""
    return Place(
        place.left[first:last],
        place.right[first:last],
        place.vector[first:last],
        place.s[first:last],
        place.t[first:last],
        place.left_entries[first:last],
        place.right_entries[first:last],
    )


@inner
def _lay_out(structure, tree, place):
    """Assign workspace to the nodes of one tree.

    :param place: the `Place` of these nodes.
    :returns: where the result of applying the root lies, and the size of the workspace.
    """
    first = structure.node_start[tree]
    size = 0
    for local in range(structure.node_start[tree + 1] - first):
        node = first + local
        relation = structure.relation[node]
        left, right = structure.left_slot[node], structure.right_slot[node]
        num_left = _entries(structure, left, structure.left_start, relation)
        num_right = _entries(structure, right, structure.right_start, relation)
        place.left_entries[local] = num_left
        place.right_entries[local] = num_right
        place.left[local] = size
        size += num_left * _states(structure, left)
        place.right[local] = size
        size += num_right * _states(structure, right)
        place.vector[local] = size
        size += max(_states(structure, left), _states(structure, right))
        place.s[local] = size
        size += max(num_left, num_right)
        place.t[local] = size
        size += max(num_left, num_right)
    top = size
    size += _states(structure, structure.slot_start[tree])
    return top, size


@inner
def _plus(x, y, maximise):
    if maximise:
        return y if y.real > x.real else x
    return x + y


@inner
def _arcs(structure, arc, slot, token):
    """Sources, targets and weights of a token's arcs: slices, whose loops compile to better code."""
    block = structure.slot_automaton[slot] * structure.num_tokens + token
    begin, end = structure.arc_start[block], structure.arc_start[block + 1]
    return structure.source[begin:end], structure.target[begin:end], arc[begin:end]


@inner
def _read_into(structure, arc, slot, token, values, source, target, backward, maximise):
    """Multiply a vector by the matrix of a token, M v or (backward) v M, into zeroed space."""
    rows, columns, weights = _arcs(structure, arc, slot, token)
    reads, writes = (rows, columns) if backward else (columns, rows)
    states = _states(structure, slot)
    before, after = values[source : source + states], values[target : target + states]
    for number in range(len(weights)):
        product = before[reads[number]] * weights[number]
        after[writes[number]] = _plus(after[writes[number]], product, maximise)


@inner
def _side(structure, place, node, local, on_left):
    """The left or the right side of a node."""
    relation = structure.relation[node]
    if on_left:
        slot = structure.left_slot[node]
        return Side(
            slot,
            _states(structure, slot),
            place.left[local],
            place.left_entries[local],
            structure.left_start[relation],
            structure.left_token,
            structure.left_parent,
            structure.left_of_pair,
        )
    slot = structure.right_slot[node]
    return Side(
        slot,
        _states(structure, slot),
        place.right[local],
        place.right_entries[local],
        structure.right_start[relation],
        structure.right_token,
        structure.right_parent,
        structure.right_of_pair,
    )


@inner
def _read_trie(structure, arc, place, values, first, node, on_left, maximise):
    """Fill the table left[l] or right[r] of a node from its empty entry."""
    side = _side(structure, place, node, node - first, on_left)
    for entry in range(1, side.entries):
        parent = side.table + side.parent[side.start + entry] * side.states
        token = side.token[side.start + entry]
        at = side.table + entry * side.states
        values[at : at + side.states] = 0
        _read_into(structure, arc, side.slot, token, values, parent, at, not on_left, maximise)


@inner
def _choices(structure, place, node, local):
    """The row of a node's first choice, and how many choices need a look."""
    relation = structure.relation[node]
    row = structure.pair_start[relation]
    if place.left_entries[local] > 1:
        return row, structure.pair_start[relation + 1] - row
    if place.right_entries[local] > 1:
        return row, structure.empty_left[relation]
    return row, np.int64(1)


@inner
def _apply(structure, pair, place, values, first, node, out, on_left, maximise):
    """Apply a constituent to its vector, into ``out``, scaled to a greatest weight of 1.

    A column enters a left child on the right and leaves it on the left; a row the other way round.

    :returns: the scale, 0 if the surface string is impossible.
    """
    local = node - first
    enter = _side(structure, place, node, local, not on_left)
    leave = _side(structure, place, node, local, on_left)
    v, s, t = place.vector[local], place.s[local], place.t[local]
    vector, sums = values[v : v + enter.states], values[s : s + enter.entries]
    for entry in range(enter.entries):
        column = values[enter.table + entry * enter.states : enter.table + (entry + 1) * enter.states]
        total = column[0] * vector[0]
        for state in range(1, enter.states):
            total = _plus(total, column[state] * vector[state], maximise)
        sums[entry] = total
    totals = values[t : t + leave.entries]
    totals[:] = 0
    row, choices = _choices(structure, place, node, local)
    start = structure.choice_start[node]
    weights = pair[start : start + choices]
    into, onto = enter.of_pair[row : row + choices], leave.of_pair[row : row + choices]
    for choice in range(choices):
        x, y = into[choice], onto[choice]
        if x < enter.entries and y < leave.entries:
            totals[y] = _plus(totals[y], weights[choice] * sums[x], maximise)
    result = values[out : out + leave.states]
    result[:] = 0
    for entry in range(leave.entries):
        weight = totals[entry]
        column = values[leave.table + entry * leave.states : leave.table + (entry + 1) * leave.states]
        for state in range(leave.states):
            result[state] = _plus(result[state], weight * column[state], maximise)
    scale = 0.0
    for state in range(leave.states):
        scale = max(scale, result[state].real)
    if scale > 0:
        for state in range(leave.states):
            result[state] /= scale
    return scale


@inner
def _load_ends(structure, weights, place, values, first, node):
    """Put initial and final weights where the chain of children starts, on both sides of the word."""
    local = node - first
    after = structure.word_slot[node]
    before = after - 1
    begin, end = structure.left_child_start[node], structure.left_child_start[node + 1]
    target = place.vector[structure.left_child[end - 1] - first] if end > begin else place.left[local]
    state = structure.state_start[structure.slot_automaton[before]]
    for number in range(_states(structure, before)):
        values[target + number] = weights.final[state + number]
    begin, end = structure.right_child_start[node], structure.right_child_start[node + 1]
    target = place.vector[structure.right_child[begin] - first] if end > begin else place.right[local]
    state = structure.state_start[structure.slot_automaton[after]]
    for number in range(_states(structure, after)):
        values[target + number] = weights.initial[state + number]


@inner
def _inside_node(structure, weights, place, values, scale, first, node, maximise):
    """Mleft, Mright and the tables of one node; its children are ready."""
    local = node - first
    _load_ends(structure, weights, place, values, first, node)
    begin, end = structure.left_child_start[node], structure.left_child_start[node + 1]
    for number in range(end - 1, begin - 1, -1):
        child = structure.left_child[number]
        out = place.vector[structure.left_child[number - 1] - first] if number > begin else place.left[local]
        scale[child - first] = _apply(
            structure, weights.pair, place, values, first, child, out, LEFT, maximise
        )
    begin, end = structure.right_child_start[node], structure.right_child_start[node + 1]
    for number in range(begin, end):
        child = structure.right_child[number]
        last = number == end - 1
        out = place.right[local] if last else place.vector[structure.right_child[number + 1] - first]
        scale[child - first] = _apply(
            structure, weights.pair, place, values, first, child, out, RIGHT, maximise
        )
    _read_trie(structure, weights.arc, place, values, first, node, LEFT, maximise)
    _read_trie(structure, weights.arc, place, values, first, node, RIGHT, maximise)


@inner
def _end(structure, weights, tree, on_left):
    """One end of a tree: slot, token outside, all weights of such ends, and where those of the slot start."""
    if on_left:
        slot, token, ends = structure.slot_start[tree], structure.start_token, weights.initial
    else:
        slot, token, ends = structure.slot_start[tree + 1] - 1, structure.end_token, weights.final
    return slot, token, ends, structure.state_start[structure.slot_automaton[slot]]


@inner
def _wall(structure, weights, tree, on_left, maximise):
    """Initial weights at the left end of a tree, or final ones at its right: plain, then past the token."""
    slot, token, ends, first_state = _end(structure, weights, tree, on_left)
    size = _states(structure, slot)
    wall = np.zeros(2 * size, ends.dtype)
    for state in range(size):
        wall[state] = ends[first_state + state]
        if token < 0:
            wall[size + state] = wall[state]
    if token >= 0:
        _read_into(structure, weights.arc, slot, token, wall, 0, size, on_left, maximise)
    return wall


@inner
def _inside_tree(structure, weights, tree, place, top, values, scale, maximise):
    """The scaled total weight of one tree: its logarithm plus those of all scales is log p(x | T)."""
    first = structure.node_start[tree]
    for number in range(structure.node_start[tree], structure.node_start[tree + 1]):
        node = structure.bottom_up[number]
        _inside_node(structure, weights, place, values, scale, first, node, maximise)
    start, end = (
        _wall(structure, weights, tree, LEFT, maximise),
        _wall(structure, weights, tree, RIGHT, maximise),
    )
    root = structure.root[tree]
    vector, size = place.vector[root - first], len(end) // 2
    for state in range(size):
        values[vector + state] = end[size + state]
    scale[root - first] = _apply(structure, weights.pair, place, values, first, root, top, LEFT, maximise)
    total, size = values[top] * 0, len(start) // 2
    for state in range(size):
        total = _plus(total, start[size + state] * values[top + state], maximise)
    return total


@inner
def _log_total(total, scale):
    if total.real <= 0:
        return np.log(total * 0)
    result = np.log(total)
    for number in range(len(scale)):
        result += np.log(scale[number])
    return result


@compiled
def log_totals(structure, weights, first_tree, last_tree, maximise, result):
    """Write log p(x | T) of some trees, or the log weight of their best derivation, to ``result``."""
    for tree in range(first_tree, last_tree):
        n = structure.node_start[tree + 1] - structure.node_start[tree]
        place, scale = _places(n), np.ones(n)
        top, size = _lay_out(structure, tree, place)
        values = np.empty(size, weights.pair.dtype)
        total = _inside_tree(structure, weights, tree, place, top, values, scale, maximise)
        result[tree] = _log_total(total, scale)


@compiled
def inside_pass(structure, weights, first_tree, last_tree, result):
    """Write log p(x | T) of some trees to ``result``, and keep all that the reverse pass will read."""
    trees, first = last_tree - first_tree, structure.node_start[first_tree]
    n = structure.node_start[last_tree] - first
    place, scale = _places(n), np.ones(n)
    start, top = np.zeros(trees + 1, np.int64), np.empty(trees, np.int64)
    for tree in range(first_tree, last_tree):
        begin, end = structure.node_start[tree] - first, structure.node_start[tree + 1] - first
        number = tree - first_tree
        top[number], size = _lay_out(structure, tree, _places_of(place, begin, end))
        start[number + 1] = start[number] + size
    values, total = np.empty(start[trees], weights.pair.dtype), np.empty(trees, weights.pair.dtype)
    for tree in range(first_tree, last_tree):
        begin, end = structure.node_start[tree] - first, structure.node_start[tree + 1] - first
        number = tree - first_tree
        own, scales = values[start[number] : start[number + 1]], scale[begin:end]
        places = _places_of(place, begin, end)
        total[number] = _inside_tree(structure, weights, tree, places, top[number], own, scales, SUM)
        result[tree] = _log_total(total[number], scales)
    return InsidePass(place, values, scale, start, top, total)


@inner
def _unapply(structure, pair, place, values, adjoint, scale, first, node, out, on_left, pair_adjoint):
    """Reverse of `_apply`: from the adjoint of its result to those of all that it read."""
    local = node - first
    enter = _side(structure, place, node, local, not on_left)
    leave = _side(structure, place, node, local, on_left)
    v, s, t = place.vector[local], place.s[local], place.t[local]
    inverse = 1 / scale[local]
    seeds = adjoint[out : out + leave.states]
    for state in range(leave.states):
        seeds[state] *= inverse
    for entry in range(leave.entries):
        begin, end = leave.table + entry * leave.states, leave.table + (entry + 1) * leave.states
        column, flows, weight = values[begin:end], adjoint[begin:end], values[t + entry]
        total = seeds[0] * column[0]
        for state in range(1, leave.states):
            total += seeds[state] * column[state]
        for state in range(leave.states):
            flows[state] += seeds[state] * weight
        adjoint[t + entry] = total
    row, choices = _choices(structure, place, node, local)
    start = structure.choice_start[node]
    weights, results = pair[start : start + choices], pair_adjoint[start : start + choices]
    into, onto = enter.of_pair[row : row + choices], leave.of_pair[row : row + choices]
    sums, sum_flows = values[s : s + enter.entries], adjoint[s : s + enter.entries]
    total_flows = adjoint[t : t + leave.entries]
    for choice in range(choices):
        x, y = into[choice], onto[choice]
        if x < enter.entries and y < leave.entries:
            flow = weights[choice] * total_flows[y]
            results[choice] = flow * sums[x]
            sum_flows[x] += flow
    vector, vector_flows = values[v : v + enter.states], adjoint[v : v + enter.states]
    for entry in range(enter.entries):
        begin, end = enter.table + entry * enter.states, enter.table + (entry + 1) * enter.states
        column, flows, seed = values[begin:end], adjoint[begin:end], adjoint[s + entry]
        for state in range(enter.states):
            flows[state] += seed * vector[state]
            vector_flows[state] += seed * column[state]


@inner
def _unread_into(structure, arc, slot, token, values, adjoint, source, target, backward, arc_adjoint):
    """Reverse of `_read_into`."""
    rows, columns, weights = _arcs(structure, arc, slot, token)
    flows = _arcs(structure, arc_adjoint, slot, token)[2]
    reads, writes = (rows, columns) if backward else (columns, rows)
    states = _states(structure, slot)
    before, flow_before = values[source : source + states], adjoint[source : source + states]
    flow_after = adjoint[target : target + states]
    for number in range(len(weights)):
        flow = flow_after[writes[number]]
        flows[number] += before[reads[number]] * flow
        flow_before[reads[number]] += weights[number] * flow


@inner
def _unread_trie(structure, arc, place, values, adjoint, first, node, on_left, arc_adjoint):
    """Reverse of `_read_trie`."""
    side = _side(structure, place, node, node - first, on_left)
    for entry in range(side.entries - 1, 0, -1):
        parent = side.table + side.parent[side.start + entry] * side.states
        token = side.token[side.start + entry]
        at = side.table + entry * side.states
        _unread_into(structure, arc, side.slot, token, values, adjoint, parent, at, not on_left, arc_adjoint)


@inner
def _outside_node(structure, weights, place, values, adjoint, scale, first, node, result):
    """Reverse of `_inside_node`."""
    local = node - first
    _unread_trie(structure, weights.arc, place, values, adjoint, first, node, RIGHT, result.arc)
    _unread_trie(structure, weights.arc, place, values, adjoint, first, node, LEFT, result.arc)
    after = structure.word_slot[node]
    before = after - 1
    out = place.left[local]
    for number in range(structure.left_child_start[node], structure.left_child_start[node + 1]):
        child = structure.left_child[number]
        _unapply(structure, weights.pair, place, values, adjoint, scale, first, child, out, LEFT, result.pair)
        out = place.vector[child - first]
    state = structure.state_start[structure.slot_automaton[before]]
    for number in range(_states(structure, before)):
        result.final[state + number] += adjoint[out + number]
    out = place.right[local]
    begin, end = structure.right_child_start[node], structure.right_child_start[node + 1]
    for number in range(end - 1, begin - 1, -1):
        child = structure.right_child[number]
        _unapply(
            structure, weights.pair, place, values, adjoint, scale, first, child, out, RIGHT, result.pair
        )
        out = place.vector[child - first]
    state = structure.state_start[structure.slot_automaton[after]]
    for number in range(_states(structure, after)):
        result.initial[state + number] += adjoint[out + number]


@inner
def _unwall(structure, weights, tree, on_left, wall, flow, result):
    """Reverse of `_wall`; ``flow`` is the adjoint of the weights behind the token."""
    slot, token, _, _ = _end(structure, weights, tree, on_left)
    _, _, ends, first_state = _end(structure, result, tree, on_left)
    adjoint, size = np.zeros(len(wall), wall.dtype), len(flow)
    for state in range(size):
        adjoint[state + (size if token >= 0 else 0)] = flow[state]
    if token >= 0:
        _unread_into(structure, weights.arc, slot, token, wall, adjoint, 0, size, on_left, result.arc)
    for state in range(size):
        ends[first_state + state] += adjoint[state]


@inner
def _outside_tree(structure, weights, tree, place, top, values, adjoint, scale, seed, result):
    """Reverse of `_inside_tree`; ``seed`` is the adjoint of the scaled total weight."""
    first, root = structure.node_start[tree], structure.root[tree]
    start, end = _wall(structure, weights, tree, LEFT, SUM), _wall(structure, weights, tree, RIGHT, SUM)
    size = len(start) // 2
    flow = np.empty(size, values.dtype)
    for state in range(size):
        adjoint[top + state] = start[size + state] * seed
        flow[state] = values[top + state] * seed
    _unwall(structure, weights, tree, LEFT, start, flow, result)
    _unapply(structure, weights.pair, place, values, adjoint, scale, first, root, top, LEFT, result.pair)
    vector = place.vector[root - first]
    _unwall(structure, weights, tree, RIGHT, end, adjoint[vector : vector + len(end) // 2], result)
    for number in range(structure.node_start[tree + 1] - 1, structure.node_start[tree] - 1, -1):
        node = structure.bottom_up[number]
        _outside_node(structure, weights, place, values, adjoint, scale, first, node, result)


@compiled
def add_gradients(structure, weights, passed, first_tree, last_tree, seeds, gradients):
    """Add to ``gradients`` the derivatives of sum_b seeds[b] log p(x_b | T_b) over some trees.

    :param passed: what `inside_pass` returned for the same trees.
    :param seeds: (B,) of the weights' own kind of number.
    :param gradients: `Weights`; ``pair`` takes derivatives with respect to log p(l, r | w) and must be
        zero before, the others those with respect to the weights themselves.
    """
    first = structure.node_start[first_tree]
    for tree in range(first_tree, last_tree):
        number = tree - first_tree
        total = passed.total[number]
        if total.real > 0:
            begin, end = structure.node_start[tree] - first, structure.node_start[tree + 1] - first
            values = passed.values[passed.start[number] : passed.start[number + 1]]
            place, scale = _places_of(passed.place, begin, end), passed.scale[begin:end]
            adjoint, top = np.zeros_like(values), passed.top[number]
            seed = seeds[tree] / total
            _outside_tree(structure, weights, tree, place, top, values, adjoint, scale, seed, gradients)


@inner
def _pick(weights, size, uniform, maximise):
    """An index with the greatest weight, or one drawn in proportion to the weights."""
    best, total = 0, 0.0
    for index in range(size):
        total += weights[index]
        if weights[index] > weights[best]:
            best = index
    if maximise:
        return best
    threshold = uniform * total
    for index in range(size):
        threshold -= weights[index]
        if threshold < 0 and weights[index] > 0:
            return index
    return best


@inner
def _pick_choice(structure, pair, place, values, first, node, state, on_left, uniform, scratch, maximise):
    """A choice for a node whose applied vector is left in a given state.

    The state is the one at the side that the vector leaves: the left edge of a left child, the
    right edge of a right child.
    """
    local = node - first
    enter = _side(structure, place, node, local, not on_left)
    leave = _side(structure, place, node, local, on_left)
    s = place.s[local]
    row, choices = _choices(structure, place, node, local)
    start = structure.choice_start[node]
    for choice in range(choices):
        x, y = enter.of_pair[row + choice], leave.of_pair[row + choice]
        scratch[choice] = 0
        if x < enter.entries and y < leave.entries:
            at = leave.table + y * leave.states + state
            scratch[choice] = pair[start + choice] * values[s + x] * values[at]
    return _pick(scratch, choices, uniform, maximise)


@inner
def _pick_state(structure, place, values, first, node, choice, on_left, uniform, scratch, maximise):
    """The state at the side where the vector of a node enters, given the node's choice."""
    local = node - first
    enter = _side(structure, place, node, local, not on_left)
    row = structure.pair_start[structure.relation[node]] + choice
    at, v = enter.table + enter.of_pair[row] * enter.states, place.vector[local]
    for state in range(enter.states):
        scratch[state] = values[at + state] * values[v + state]
    return _pick(scratch, enter.states, uniform, maximise)


@inner
def _walk(structure, arc, slot, token, values, vector, state, backward, uniform, scratch, maximise):
    """One arc of a token from (or, backward, to) a state; returns the state at its other end."""
    block = structure.slot_automaton[slot] * structure.num_tokens + token
    begin, end = structure.arc_start[block], structure.arc_start[block + 1]
    for number in range(begin, end):
        here = structure.target[number] if backward else structure.source[number]
        there = structure.source[number] if backward else structure.target[number]
        scratch[number - begin] = arc[number] * values[vector + there] if here == state else 0.0
    number = begin + _pick(scratch, end - begin, uniform, maximise)
    return structure.source[number] if backward else structure.target[number]


@inner
def _decode_child(structure, pair, place, values, first, child, state, on_left, uniform, found, maximise):
    """Decide a child's choice and both states at its edges; ``state`` is the one already known."""
    choices, left_state, right_state, scratch = found
    local = child - first
    choice = _pick_choice(
        structure, pair, place, values, first, child, state, on_left, uniform[local, 0], scratch, maximise
    )
    other = _pick_state(
        structure, place, values, first, child, choice, on_left, uniform[local, 1], scratch, maximise
    )
    choices[local] = choice
    left_state[local] = state if on_left else other
    right_state[local] = other if on_left else state
    return other


@inner
def _decode_side(structure, weights, place, values, first, node, on_left, column, uniform, found, maximise):
    """Walk through the punctemes of one side of a node and decide its children there.

    :param column: the first uniform number of the node that has not been used.
    :returns: the next such column.
    """
    choices, left_state, right_state, scratch = found
    local = node - first
    side = _side(structure, place, node, local, on_left)
    state = left_state[local] if on_left else right_state[local]
    entry = side.of_pair[structure.pair_start[structure.relation[node]] + choices[local]]
    while entry > 0:
        token, entry = side.token[side.start + entry], side.parent[side.start + entry]
        vector, u = side.table + entry * side.states, uniform[local, column]
        state = _walk(
            structure, weights.arc, side.slot, token, values, vector, state, not on_left, u, scratch, maximise
        )
        column += 1
    starts = structure.left_child_start if on_left else structure.right_child_start
    children = structure.left_child if on_left else structure.right_child
    begin, end = starts[node], starts[node + 1]
    for number in range(end - begin):
        child = children[begin + number] if on_left else children[end - 1 - number]
        state = _decode_child(
            structure, weights.pair, place, values, first, child, state, on_left, uniform, found, maximise
        )
    return column


@inner
def _scratch_size(structure, first, last):
    size = 1
    for relation in structure.relation[first:last]:
        size = max(size, structure.pair_start[relation + 1] - structure.pair_start[relation])
    for block in range(len(structure.arc_start) - 1):
        size = max(size, structure.arc_start[block + 1] - structure.arc_start[block])
    for automaton in range(len(structure.state_start) - 1):
        size = max(size, structure.state_start[automaton + 1] - structure.state_start[automaton])
    return size


@compiled
def decode(structure, weights, first_tree, last_tree, maximise, uniform, result):
    """Best derivations of some trees, or draws from the posterior.

    :param uniform: (draws, N, 3 + twice the longest puncteme) uniform random numbers in [0, 1).
    :param result: (draws, N) takes the choice of every node, -1 where the surface is impossible.
    """
    for tree in range(first_tree, last_tree):
        first, last = structure.node_start[tree], structure.node_start[tree + 1]
        place, scale = _places(last - first), np.ones(last - first)
        top, size = _lay_out(structure, tree, place)
        values = np.empty(size, weights.pair.dtype)
        total = _inside_tree(structure, weights, tree, place, top, values, scale, maximise)
        if total <= 0:
            result[:, first:last] = -1
            continue
        scratch = np.zeros(_scratch_size(structure, first, last))
        start = _wall(structure, weights, tree, LEFT, maximise)
        states = len(start) // 2
        left_state, right_state = np.empty(last - first, np.int64), np.empty(last - first, np.int64)
        root = structure.root[tree]
        for draw in range(len(result)):
            chance = uniform[draw, first:last]
            found = (result[draw, first:last], left_state, right_state, scratch)
            for state in range(states):
                scratch[state] = start[states + state] * values[top + state]
            state = _pick(scratch, states, chance[root - first, -1], maximise)
            _decode_child(
                structure, weights.pair, place, values, first, root, state, LEFT, chance, found, maximise
            )
            for number in range(last - 1, first - 1, -1):
                node, column = structure.bottom_up[number], 2
                for on_left in (LEFT, RIGHT):
                    column = _decode_side(
                        structure,
                        weights,
                        place,
                        values,
                        first,
                        node,
                        on_left,
                        column,
                        chance,
                        found,
                        maximise,
                    )
