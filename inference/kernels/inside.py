"""Algorithm 1 of Li, Wang & Eisner (2019): the total weight of all T', or of the best, bottom-up.

It is written once for two semirings: sums of products, or greatest products.  Both multiply as numbers do.
A dual number is as great as its real part.
"""

import numpy as np

from pyropunct.inference.compiling import compiled, inner, spliced
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
from pyropunct.inference.kernels.workspace import (
    choices_of,
    entry_of,
    link_of,
    place_of,
    table_of,
    workspace_of,
    workspaces_of,
)

# NumPy's booleans: of a function that is called with Python's, numba compiles one version for each.
SUM, MAX = np.bool_(False), np.bool_(True)


@spliced
def plus(x, y, semiring):
    """What the semiring adds x and y up to; of two equals, max takes the first."""
    if semiring == MAX:
        return y if y.real > x.real else x
    return x + y


@spliced
def dot(x, y, semiring):
    """The inner product of two vectors of the same length, which is not 0."""
    total = x[0] * y[0]
    for place in range(1, len(x)):
        total = plus(total, x[place] * y[place], semiring)
    return total


@spliced
def add_multiple(target, factor, vector, semiring):
    """Add a multiple of a vector to another."""
    for place in range(len(target)):
        target[place] = plus(target[place], factor * vector[place], semiring)


@spliced
def read_token(arcs, before, after, semiring):
    """Multiply a vector by the matrix of a token: M_i(token) v leftward, v M_i(token) rightward."""
    reads, writes, weights = arcs
    after[:] = 0
    for number in range(len(weights)):
        product = before[reads[number]] * weights[number]
        after[writes[number]] = plus(after[writes[number]], product, semiring)


@inner
def _fill_table(structure, work, node, side, semiring):
    """Fill the table left[l] or right[r] of a node from its entry 0."""
    table = table_of(structure, work, node, side)
    for entry in range(1, table.entries):
        before = entry_of(work.values, table, structure.numbers[table.parent + entry])
        arcs = arcs_of(structure, work.weights.arc, table.slot, structure.numbers[table.token + entry], side)
        read_token(arcs, before, entry_of(work.values, table, entry), semiring)


@spliced
def pairs_of(structure, work, pair, node, enter, leave):
    """The pairs of a node that may have weight: p(l, r | w), and their entries in the tables at both sides.

    A pair has weight only if both tables have its entries. The node's vector enters at ``enter``.
    """
    row, choices = choices_of(structure, work, node)
    start = structure.numbers[structure.at.choice_start + node]
    entering, leaving = enter.of_pair + row, leave.of_pair + row
    return (
        pair[start : start + choices],
        structure.numbers[entering : entering + choices],
        structure.numbers[leaving : leaving + choices],
    )


@spliced
def _sum_pairs(structure, work, node, enter, leave, semiring):
    """t[y] = sum_x p(x, y | w) s[x] for punctemes x at the entering side and y at the leaving side."""
    place = place_of(work, node)
    s = work.values[place.s : place.s + enter.entries]
    t = work.values[place.t : place.t + leave.entries]
    weights, entering, leaving = pairs_of(structure, work, work.weights.pair, node, enter, leave)
    t[:] = 0
    for choice in range(len(weights)):
        x, y = entering[choice], leaving[choice]
        if x < enter.entries and y < leave.entries:
            t[y] = plus(t[y], weights[choice] * s[x], semiring)


@spliced
def _rescale(vector):
    """Divide a vector by its greatest weight, and return that."""
    scale = 0.0
    for state in range(len(vector)):
        scale = max(scale, vector[state].real)
    if scale > 0:
        for state in range(len(vector)):
            vector[state] /= scale
    return scale


@inner
def _apply(structure, work, node, toward, out, semiring):
    """Apply a constituent to its vector: IN(w) v leftward, v IN(w) rightward."""
    values, place = work.values, place_of(work, node)
    enter, leave = table_of(structure, work, node, opposite(toward)), table_of(structure, work, node, toward)
    vector = values[place.vector : place.vector + enter.states]
    for entry in range(enter.entries):
        values[place.s + entry] = dot(entry_of(values, enter, entry), vector, semiring)
    _sum_pairs(structure, work, node, enter, leave, semiring)
    result = values[out : out + leave.states]
    result[:] = 0
    for entry in range(leave.entries):
        add_multiple(result, values[place.t + entry], entry_of(values, leave, entry), semiring)
    work.scale[node - work.first] = _rescale(result)


@spliced
def _chain(structure, work, node, side, semiring):
    """Mleft or Mright of a node: apply its children on one side, from the word outward."""
    slot, start = word_slot_of(structure, node, side), link_of(structure, work, node, side, 0)
    ends = ends_of(structure, work.weights, slot, opposite(side))
    for state in range(len(ends)):
        work.values[start + state] = ends[state]
    for number in range(num_children(structure, node, side)):
        child = child_of(structure, node, side, number)
        _apply(structure, work, child, side, link_of(structure, work, node, side, number + 1), semiring)


@inner
def wall(structure, work, tree, side, semiring):
    """The weights at one end of a tree, (N_i,), past the token that stands outside, if any."""
    slot, token = wall_of(structure, tree, side)
    ends = ends_of(structure, work.weights, slot, side)
    past = np.zeros_like(ends)
    if token >= 0:
        read_token(arcs_of(structure, work.weights.arc, slot, token, opposite(side)), ends, past, semiring)
    else:
        for state in range(len(ends)):
            past[state] = ends[state]
    return past


@inner
def inside_tree(structure, work, tree, semiring):
    """Fill a workspace, and return the scaled total weight of its tree."""
    values = work.values
    for number in range(len(work.place)):
        node = structure.numbers[structure.at.bottom_up + work.first + number]
        _chain(structure, work, node, LEFT_SIDE, semiring)
        _chain(structure, work, node, RIGHT_SIDE, semiring)
        _fill_table(structure, work, node, LEFT_SIDE, semiring)
        _fill_table(structure, work, node, RIGHT_SIDE, semiring)
    root = structure.numbers[structure.at.root + tree]
    end = wall(structure, work, tree, RIGHT_SIDE, semiring)
    vector = place_of(work, root).vector
    for state in range(len(end)):
        values[vector + state] = end[state]
    _apply(structure, work, root, LEFT_SIDE, work.top, semiring)
    start = wall(structure, work, tree, LEFT_SIDE, semiring)
    return dot(start, values[work.top : work.top + len(start)], semiring)


@inner
def _log_total(total, scale):
    if total.real <= 0:
        return np.log(abs(total) * 0)  # which has no slope
    result = np.log(total)
    for number in range(len(scale)):
        result += np.log(scale[number])
    return result


@compiled
def inside_pass(structure, weights, first_tree, last_tree, result):
    """Write log p(x | T) of some trees to ``result``, and return the workspaces for the reverse pass."""
    spaces = workspaces_of(structure, weights, first_tree, last_tree)
    for tree in range(first_tree, last_tree):
        work, number = workspace_of(structure, weights, spaces, tree), tree - first_tree
        spaces.total[number] = inside_tree(structure, work, tree, SUM)
        result[tree] = _log_total(spaces.total[number], work.scale)
    return spaces
