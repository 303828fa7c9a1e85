"""Sums over all trees of packed forests (`pyropunct.inference.packed`), compiled: section 3 of the paper,
with the tree T summed out besides T'.

Halves of heads are vectors: L[i, h] a column of N_i numbers, R[h, k] a row of N_k. With p(l, r) the weight of
a pair of an item, times that of its arc, and M_i(v) the matrix of a puncteme in slot i::

    R[h, k] += sum over l, r of  p(l, r)  (R[h, m] M_m(l) L[m, d])  R[d, k] M_k(r)
    L[m, h] += sum over l, r of  p(l, r)  (R[d, k] M_k(r) L[k, h])  M_m(l) L[m, d]

The vectors M_m(l) L[m, d] and R[d, k] M_k(r) are the *grown* half of d: all heads h share them.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.inference.compiling import compiled, inner, spliced
from pyropunct.inference.kernels.inside import MAX, SUM, add_multiple, dot, plus, read_token
from pyropunct.inference.kernels.outside import add_to, unread_token

Array = NDArray[Any]

ITEM = ("word", "head", "left_slot", "right_slot", "near", "far", "source", "target")
"""The columns of an item."""


@inner
def _put(table, row, columns):
    """Write a row, a number at a time (see `pyropunct.inference.compiling`); of no table, nothing."""
    if row < len(table):
        for column in range(len(columns)):
            table[row, column] = columns[column]


@inner
def _fill(arcs, table, half):
    """List the items and the halves of a sentence, or only count them; see `list_items`."""
    n = len(arcs)
    left, right = np.full((n + 1, n), -1), np.full((n, n + 1), -1)
    for word in range(n):
        left[word, word], right[word, word + 1] = 2 * word, 2 * word + 1
        _put(half, 2 * word, (word, 1))
        _put(half, 2 * word + 1, (word + 1, 0))
    _put(half, 2 * n, (0, 0))
    _put(half, 2 * n + 1, (n, 0))
    items, halves = 0, 2 * n + 2
    for size in range(1, n):
        for h in range(n):
            k = h + 1 + size  # R[h, k] from R[h, m] and an item from m to k
            for m in range(h + 1, k if k <= n else 0):
                for d in range(m, k):
                    if arcs[d, h + 1] and min(right[h, m], left[m, d], right[d, k]) >= 0:
                        if right[h, k] < 0:
                            right[h, k] = halves
                            _put(half, halves, (k, 0))
                            halves += 1
                        parts = left[m, d], right[d, k], right[h, m], right[h, k]
                        _put(table, items, (d, h, m, k, *parts))
                        items += 1
            m = h - size  # L[m, h] from L[k, h] and an item from m to k
            for k in range(m + 1, h + 1 if m >= 0 else 0):
                for d in range(m, k):
                    if arcs[d, h + 1] and min(left[k, h], left[m, d], right[d, k]) >= 0:
                        if left[m, h] < 0:
                            left[m, h] = halves
                            _put(half, halves, (m, 1))
                            halves += 1
                        parts = right[d, k], left[m, d], left[k, h], left[m, h]
                        _put(table, items, (d, h, m, k, *parts))
                        items += 1
    for d in range(n):
        if arcs[d, 0] and left[0, d] >= 0 and right[d, n] >= 0:
            _put(table, items, (d, -1, 0, n, left[0, d], right[d, n], 2 * n, 2 * n + 1))
            items += 1
    return items, halves


@compiled
def count_items(arcs):
    """The numbers of items and halves of the forest of a sentence."""
    return _fill(arcs, np.empty((0, 8), np.int64), np.empty((0, 2), np.int64))


@compiled
def list_items(arcs, table, half):
    """Fill (items, 8) ``table`` with the `ITEM` columns of all projective trees, and (halves, 2) ``half``.

    Items are in an order for sums; a half has a slot and a side; arcs: (n, n + 1), head 0 is the root.
    """
    _fill(arcs, table, half)


class Chart(NamedTuple):
    """A packed forest with its automata and punctemes.

    The fields up to ``on_left`` are those of `pyropunct.inference.packed.PackedForest`, those from
    ``state_start`` to ``num_tokens`` those of `pyropunct.inference.machines.automata.Automata`.

    :ivar half_automaton: (H,) the automaton of each half's slot.
    :ivar choice_start: (I + 1,) where the pairs of each item start; ``row_start``, (D + 1,), the rows of each
        relation.
    :ivar entry: (2, R) the entries of the right and the left puncteme of each row, in their tries.
    :ivar token: (2, E) the last token that is read in each entry of either trie, outward.
    :ivar parent: (2, E) the entry of what is read before.
    :ivar value_start: (H + 1,) where the vector of each half starts; ``grown_start``, its vectors behind each
        entry.
    """

    node_start: Array
    item_start: Array
    half_start: Array
    word: Array
    near: Array
    far: Array
    source: Array
    target: Array
    on_left: Array
    half_automaton: Array
    relation: Array
    choice_start: Array
    row_start: Array
    entry: Array
    token: Array
    parent: Array
    value_start: Array
    grown_start: Array
    state_start: Array
    arc_start: Array
    arc_source: Array
    arc_target: Array
    num_tokens: int
    start_token: int
    end_token: int


class Vectors(NamedTuple):
    """The vectors (N_i,) of all halves, or their adjoints.

    :ivar grown: of each half behind each entry, (entries, N_i); ``is_grown`` tells whether these are
        computed.
    """

    value: Array
    grown: Array
    is_grown: Array


# Places


@spliced
def _value(chart, values, half):
    return values[chart.value_start[half] : chart.value_start[half + 1]]


@spliced
def _states(chart, half):
    return chart.value_start[half + 1] - chart.value_start[half]


@spliced
def _entries(chart, half):
    """How many entries are read at a half: all, or in an empty slot the empty puncteme alone."""
    return (chart.grown_start[half + 1] - chart.grown_start[half]) // _states(chart, half)


@spliced
def _entry(chart, grown, half, entry):
    states = _states(chart, half)
    start = chart.grown_start[half] + entry * states
    return grown[start : start + states]


@spliced
def _arcs(chart, arc, automaton, token, leftward):
    """The states that a step reads, those that it writes, and the weights of its arcs."""
    block = automaton * chart.num_tokens + token
    first, last = chart.arc_start[block], chart.arc_start[block + 1]
    sources, targets = chart.arc_source[first:last], chart.arc_target[first:last]
    if leftward:
        return targets, sources, arc[first:last]
    return sources, targets, arc[first:last]


@spliced
def _ends(chart, ends, automaton):
    return ends[chart.state_start[automaton] : chart.state_start[automaton + 1]]


@spliced
def _top(chart, sentence):
    """The half of the artificial word of a sentence, without a root; the next one has a root."""
    return chart.half_start[sentence] + 2 * (chart.node_start[sentence + 1] - chart.node_start[sentence])


# Sums


@inner
def _grow(chart, weights, vectors, half, semiring):
    """The vectors of a half behind each entry, unless they are there."""
    if vectors.is_grown[half]:
        return
    vectors.is_grown[half] = True
    left, automaton = chart.on_left[half], chart.half_automaton[half]
    before, first = _value(chart, vectors.value, half), _entry(chart, vectors.grown, half, 0)
    for state in range(len(before)):
        first[state] = before[state]
    for entry in range(1, _entries(chart, half)):
        arcs = _arcs(chart, weights.arc, automaton, chart.token[left, entry], left)
        shorter = _entry(chart, vectors.grown, half, chart.parent[left, entry])
        read_token(arcs, shorter, _entry(chart, vectors.grown, half, entry), semiring)


@inner
def _wither(chart, weights, vectors, slopes, adjoint, half):
    """The reverse of `_grow`."""
    left, automaton = chart.on_left[half], chart.half_automaton[half]
    for back in range(_entries(chart, half) - 1):
        entry = _entries(chart, half) - 1 - back
        token, parent = chart.token[left, entry], chart.parent[left, entry]
        arcs = _arcs(chart, weights.arc, automaton, token, left)
        of_arcs = _arcs(chart, adjoint.arc, automaton, token, left)[2]
        shorter = _entry(chart, vectors.grown, half, parent)
        of_shorter = _entry(chart, slopes.grown, half, parent)
        unread_token(arcs, of_arcs, shorter, of_shorter, _entry(chart, slopes.grown, half, entry))
    add_to(_value(chart, slopes.value, half), _entry(chart, slopes.grown, half, 0))


@inner
def _plant(chart, weights, vectors, sentence, semiring):
    """The values of halves without dependents: final weights on the left of a word, else initial ones."""
    top = _top(chart, sentence)
    for half in range(chart.half_start[sentence], top + 1):
        ends = weights.final if chart.on_left[half] else weights.initial
        ends = _ends(chart, ends, chart.half_automaton[half])
        value = _value(chart, vectors.value, half)
        if half == top and chart.start_token >= 0:
            arcs = _arcs(chart, weights.arc, chart.half_automaton[half], chart.start_token, False)
            read_token(arcs, ends, value, semiring)
        else:
            for state in range(len(value)):
                value[state] = ends[state]


@inner
def _wall(chart, weights, sentence, semiring):
    """The weights at the right end of a sentence, past the token that stands outside, if any."""
    automaton = chart.half_automaton[_top(chart, sentence) + 1]
    ends = _ends(chart, weights.final, automaton)
    if chart.end_token < 0:
        return ends
    past = np.zeros_like(ends)
    read_token(_arcs(chart, weights.arc, automaton, chart.end_token, True), ends, past, semiring)
    return past


@spliced
def _entries_of(chart, item, row):
    """The entries of a pair at the near and at the far half of an item."""
    on_left = chart.on_left[chart.near[item]]
    return chart.entry[on_left, row], chart.entry[1 - on_left, row]


@inner
def _inside(chart, weights, vectors, sentence, semiring, sums):
    """Fill the vectors of a sentence, and return the total weight of its trees."""
    of_near, of_far = sums
    _plant(chart, weights, vectors, sentence, semiring)
    for item in range(chart.item_start[sentence], chart.item_start[sentence + 1]):
        near, far = chart.near[item], chart.far[item]
        _grow(chart, weights, vectors, near, semiring)
        _grow(chart, weights, vectors, far, semiring)
        nears, fars = _entries(chart, near), _entries(chart, far)
        source = _value(chart, vectors.value, chart.source[item])
        for entry in range(nears):
            of_near[entry] = dot(source, _entry(chart, vectors.grown, near, entry), semiring)
        for entry in range(fars):
            of_far[entry] = 0
        first = chart.row_start[chart.relation[item]] - chart.choice_start[item]
        for choice in range(chart.choice_start[item], chart.choice_start[item + 1]):
            x, y = _entries_of(chart, item, first + choice)
            if x < nears and y < fars:
                of_far[y] = plus(of_far[y], weights.pair[choice] * of_near[x], semiring)
        target = _value(chart, vectors.value, chart.target[item])
        for entry in range(fars):
            if of_far[entry] != 0:
                add_multiple(target, of_far[entry], _entry(chart, vectors.grown, far, entry), semiring)
    ends = _wall(chart, weights, sentence, semiring)
    return dot(_value(chart, vectors.value, _top(chart, sentence) + 1), ends, semiring)


@spliced
def _sums(chart, weights):
    """Room for a number of each entry, for both halves of an item."""
    entries = chart.token.shape[1]
    return np.zeros(entries, weights.pair.dtype), np.zeros(entries, weights.pair.dtype)


@compiled
def inside_packed(chart, weights, vectors, totals, semiring):
    """Fill all vectors, which are zero, and write the total weight of each sentence's trees."""
    sums = _sums(chart, weights)
    for sentence in range(len(totals)):
        totals[sentence] = _inside(chart, weights, vectors, sentence, semiring, sums)


@inner
def _outside(chart, weights, vectors, slopes, adjoint, sentence, seed, sums, slopes_of_sums):
    of_near, of_far = sums
    slope_near, slope_far = slopes_of_sums
    top = _top(chart, sentence)
    value, of_value = _value(chart, vectors.value, top + 1), _value(chart, slopes.value, top + 1)
    ends, of_ends = _wall(chart, weights, sentence, SUM), np.zeros_like(value)
    for state in range(len(value)):
        of_value[state] += seed * ends[state]
        of_ends[state] = seed * value[state]
    automaton = chart.half_automaton[top + 1]
    finals, of_finals = _ends(chart, weights.final, automaton), _ends(chart, adjoint.final, automaton)
    if chart.end_token >= 0:
        arcs = _arcs(chart, weights.arc, automaton, chart.end_token, True)
        of_arcs = _arcs(chart, adjoint.arc, automaton, chart.end_token, True)[2]
        unread_token(arcs, of_arcs, finals, of_finals, of_ends)
    else:
        add_to(of_finals, of_ends)
    for back in range(chart.item_start[sentence + 1] - chart.item_start[sentence]):
        item = chart.item_start[sentence + 1] - 1 - back
        near, far, target = chart.near[item], chart.far[item], chart.target[item]
        if vectors.is_grown[target] and not slopes.is_grown[target]:
            slopes.is_grown[target] = True  # all that it is part of has been done
            _wither(chart, weights, vectors, slopes, adjoint, target)
        nears, fars = _entries(chart, near), _entries(chart, far)
        source = _value(chart, vectors.value, chart.source[item])
        of_source = _value(chart, slopes.value, chart.source[item])
        of_target = _value(chart, slopes.value, target)
        for entry in range(nears):
            of_near[entry] = dot(source, _entry(chart, vectors.grown, near, entry), SUM)
            slope_near[entry] = 0
        for entry in range(fars):
            of_far[entry] = 0
            slope_far[entry] = dot(of_target, _entry(chart, vectors.grown, far, entry), SUM)
        first = chart.row_start[chart.relation[item]] - chart.choice_start[item]
        for choice in range(chart.choice_start[item], chart.choice_start[item + 1]):
            x, y = _entries_of(chart, item, first + choice)
            if x < nears and y < fars:
                adjoint.pair[choice] += of_near[x] * slope_far[y]
                slope_near[x] += weights.pair[choice] * slope_far[y]
                of_far[y] += weights.pair[choice] * of_near[x]
        for entry in range(nears):
            if slope_near[entry] != 0:
                add_multiple(of_source, slope_near[entry], _entry(chart, vectors.grown, near, entry), SUM)
                add_multiple(_entry(chart, slopes.grown, near, entry), slope_near[entry], source, SUM)
        for entry in range(fars):
            if of_far[entry] != 0:
                add_multiple(_entry(chart, slopes.grown, far, entry), of_far[entry], of_target, SUM)
    for half in range(chart.half_start[sentence], top + 1):
        if vectors.is_grown[half]:
            _wither(chart, weights, vectors, slopes, adjoint, half)
        _uproot(chart, weights, slopes, adjoint, half, half == top)


@inner
def _uproot(chart, weights, slopes, adjoint, half, is_top):
    """The reverse of `_plant`."""
    automaton, of_value = chart.half_automaton[half], _value(chart, slopes.value, half)
    of_ends = _ends(chart, adjoint.final if chart.on_left[half] else adjoint.initial, automaton)
    if is_top and chart.start_token >= 0:
        arcs = _arcs(chart, weights.arc, automaton, chart.start_token, False)
        of_arcs = _arcs(chart, adjoint.arc, automaton, chart.start_token, False)[2]
        unread_token(arcs, of_arcs, _ends(chart, weights.initial, automaton), of_ends, of_value)
    else:
        add_to(of_ends, of_value)


@compiled
def outside_packed(chart, weights, vectors, slopes, adjoint, seeds):
    """Add to ``adjoint`` the derivatives of the sum of totals, seeded by (B,), by reverse differentiation.

    ``vectors`` are those of `inside_packed` with sums; their adjoints ``slopes`` are zero before.
    """
    sums, slopes_of_sums = _sums(chart, weights), _sums(chart, weights)
    for sentence in range(len(seeds)):
        if seeds[sentence] != 0:
            _outside(
                chart, weights, vectors, slopes, adjoint, sentence, seeds[sentence], sums, slopes_of_sums
            )


# Draws, and the best


@inner
def _choose_state(first, second, chance, semiring):
    """A state in proportion to the product of two vectors, or the best one."""
    total, best, chosen = 0.0, 0.0, 0
    for state in range(len(first)):
        product = first[state] * second[state]
        total += product
        if product > best:
            best, chosen = product, state
    if semiring == MAX:
        return chosen
    rest = chance * total
    for state in range(len(first)):
        product = first[state] * second[state]
        if product > 0:
            rest -= product
            if rest < 0:
                return state
    return chosen  # after rounding, a little may remain


@inner
def _behind(chart, weights, half, entry, state, semiring):
    """From which states of a half its grown vector has come into a state, with their weights."""
    left, automaton = chart.on_left[half], chart.half_automaton[half]
    vector = np.zeros(_states(chart, half))
    vector[state] = 1
    while entry:
        arcs = _arcs(chart, weights.arc, automaton, chart.token[left, entry], not left)
        further = np.zeros_like(vector)
        read_token(arcs, vector, further, semiring)
        vector, entry = further, chart.parent[left, entry]
    return vector


@inner
def _choose_item(chart, weights, vectors, state, incoming, chance, semiring):
    """An item and a pair by which a half has come into a state."""
    total, best, chosen_item, chosen = 0.0, 0.0, -1, -1
    for sweep in range(1 if semiring == MAX else 2):
        rest = chance * total
        for item in incoming:
            near, far = chart.near[item], chart.far[item]
            nears, fars = _entries(chart, near), _entries(chart, far)
            source = _value(chart, vectors.value, chart.source[item])
            first = chart.row_start[chart.relation[item]] - chart.choice_start[item]
            for choice in range(chart.choice_start[item], chart.choice_start[item + 1]):
                x, y = _entries_of(chart, item, first + choice)
                if x >= nears or y >= fars or _entry(chart, vectors.grown, far, y)[state] == 0:
                    continue
                weight = weights.pair[choice] * _entry(chart, vectors.grown, far, y)[state]
                weight *= dot(source, _entry(chart, vectors.grown, near, x), semiring)
                if sweep == 0:
                    total += weight
                    if weight > best:
                        best, chosen_item, chosen = weight, item, choice
                else:
                    rest -= weight
                    if rest < 0:
                        return item, choice
    return chosen_item, chosen


@inner
def _decode(chart, weights, vectors, sentence, incoming_start, incoming, chances, semiring, choices):
    words, top = chart.node_start[sentence + 1] - chart.node_start[sentence], _top(chart, sentence) + 1
    stack, used = np.empty((2 * words + 3, 2), np.int64), chart.node_start[sentence]
    ends = _wall(chart, weights, sentence, semiring)
    stack[0, 0] = top
    stack[0, 1] = _choose_state(_value(chart, vectors.value, top), ends, chances[used, 4], semiring)
    height = 1
    while height:
        height -= 1
        half, state = stack[height, 0], stack[height, 1]
        begin, end = incoming_start[half], incoming_start[half + 1]
        if begin == end:
            continue
        chance, used = chances[used], used + 1
        item, choice = _choose_item(chart, weights, vectors, state, incoming[begin:end], chance[0], semiring)
        choices[item] = choice - chart.choice_start[item]
        near, far, source = chart.near[item], chart.far[item], chart.source[item]
        x, y = _entries_of(chart, item, chart.row_start[chart.relation[item]] + choices[item])
        between = _choose_state(
            _value(chart, vectors.value, source), _entry(chart, vectors.grown, near, x), chance[1], semiring
        )
        at_near = _behind(chart, weights, near, x, between, semiring)
        at_far = _behind(chart, weights, far, y, state, semiring)
        parts = (source, near, far)
        states = (
            between,
            _choose_state(at_near, _value(chart, vectors.value, near), chance[2], semiring),
            _choose_state(at_far, _value(chart, vectors.value, far), chance[3], semiring),
        )
        for part in range(3):
            stack[height, 0], stack[height, 1] = parts[part], states[part]
            height += 1


@compiled
def decode_packed(chart, weights, vectors, totals, incoming_start, incoming, chances, semiring, choices):
    """Trees T with their T': drawn from their posterior, or the best of each sentence.

    :param incoming: (I,) the items by their target; ``incoming_start``, (H + 1,), where those of a half
        start.
    :param chances: (draws, words, 5) draws from [0, 1).
    :param choices: (draws, I), -1 before, is filled with the choices of the items of each T.
    """
    for draw in range(len(choices)):
        for sentence in range(len(totals)):
            if totals[sentence] > 0:
                _decode(
                    chart,
                    weights,
                    vectors,
                    sentence,
                    incoming_start,
                    incoming,
                    chances[draw],
                    semiring,
                    choices[draw],
                )
