"""Sums over all trees of packed forests (`pyropunct.inference.packed`), compiled: section 3 of the paper,
with the tree T summed out besides T'.

Algorithm 1 gives each constituent a matrix.  Between the two sides of a head it is an outer product, so the
halves of a head are vectors: L[i, h] a column of N_i numbers, and R[h, k] a row of N_k.  With p(l, r) the
weight of a pair of an item, times that of its arc, and M_i(v) the matrix of a puncteme in slot i::

    R[h, k] += sum over l, r of  p(l, r)  (R[h, m] M_m(l) L[m, d])  R[d, k] M_k(r)
    L[m, h] += sum over l, r of  p(l, r)  (R[d, k] M_k(r) L[k, h])  M_m(l) L[m, d]

The vectors M_m(l) L[m, d] and R[d, k] M_k(r) are the *grown* half of d: all heads h share them.  In an empty
slot only the empty puncteme has a matrix that is not zero, so most items cost a few operations.
"""

import numpy as np

from pyropunct.inference.compiling import compiled, inner, spliced
from pyropunct.inference.kernels.inside import MAX, add_multiple, dot, plus

ITEM = ("word", "head", "left_slot", "right_slot", "near", "far", "source", "target")
"""The columns of an item."""


@inner
def _put(table, row, word, head, left, right, near, far, source, target):
    columns = (word, head, left, right, near, far, source, target)
    for column in range(8):
        table[row, column] = columns[column]


@inner
def _fill(arcs, table, half, fill):
    """List, or only count, the items and the halves of a sentence; see `list_items`."""
    n = len(arcs)
    left, right = np.full((n + 1, n), -1), np.full((n, n + 1), -1)
    for word in range(n):
        left[word, word], right[word, word + 1] = 2 * word, 2 * word + 1
        if fill:
            half[2 * word, 0], half[2 * word, 1] = word, 1
            half[2 * word + 1, 0], half[2 * word + 1, 1] = word + 1, 0
    if fill:
        half[2 * n, 0], half[2 * n, 1], half[2 * n + 1, 0], half[2 * n + 1, 1] = 0, 0, n, 0
    items, halves = 0, 2 * n + 2
    for size in range(1, n):
        for h in range(n):
            k = h + 1 + size
            if k <= n:
                for m in range(h + 1, k):
                    for d in range(m, k):
                        if arcs[d, h + 1] and min(right[h, m], left[m, d], right[d, k]) >= 0:
                            if right[h, k] < 0:
                                right[h, k] = halves
                                if fill:
                                    half[halves, 0], half[halves, 1] = k, 0
                                halves += 1
                            if fill:
                                _put(table, items, d, h, m, k, left[m, d], right[d, k], right[h, m], right[h, k])
                            items += 1
            m = h - size
            if m >= 0:
                for k in range(m + 1, h + 1):
                    for d in range(m, k):
                        if arcs[d, h + 1] and min(left[k, h], left[m, d], right[d, k]) >= 0:
                            if left[m, h] < 0:
                                left[m, h] = halves
                                if fill:
                                    half[halves, 0], half[halves, 1] = m, 1
                                halves += 1
                            if fill:
                                _put(table, items, d, h, m, k, right[d, k], left[m, d], left[k, h], left[m, h])
                            items += 1
    for d in range(n):
        if arcs[d, 0] and left[0, d] >= 0 and right[d, n] >= 0:
            if fill:
                _put(table, items, d, -1, 0, n, left[0, d], right[d, n], 2 * n, 2 * n + 1)
            items += 1
    return items, halves


@compiled
def count_items(arcs):
    """How many items and halves the forest of a sentence has.

    :param arcs: see `list_items`.
    """
    return _fill(arcs, np.empty((0, 8), np.int64), np.empty((0, 2), np.int64), False)


@compiled
def list_items(arcs, table, half):
    """The items and the halves of all projective trees of a sentence, in an order for sums.

    :param arcs: (n, n + 1) whether the arc to [word] from [head] may be, head 0 being the artificial root.
    :param table: (items, 8) is filled with the columns `ITEM`.
    :param half: (halves, 2) is filled with the slot of each half, and whether it is on the left.
    """
    _fill(arcs, table, half, True)


# Sums


@spliced
def _grow(work, half, semiring):
    """The vectors of a half behind each puncteme that is possible at its slot."""
    automaton = work.half_automaton[half]
    first, states = work.possible_start[automaton], work.states[automaton]
    vector = work.value[half]
    for number in range(work.possible_start[automaton + 1] - first):
        matrix = work.matrix[first + number]
        grown = work.grown[work.grown_start[half] + number]
        for state in range(states):
            total = 0.0
            for other in range(states):
                step = matrix[state, other] if work.on_left[half] else matrix[other, state]
                total = plus(total, step * vector[other], semiring)
            grown[state] = total


@spliced
def _sides(work, item, row):
    """The places of a pair's punctemes among the grown vectors of the near and the far half, -1 for none."""
    near, far = work.near[item], work.far[item]
    of_near, of_far = work.row_left[row], work.row_right[row]
    if not work.on_left[near]:
        of_near, of_far = of_far, of_near
    at_near = work.place[work.half_automaton[near], of_near]
    at_far = work.place[work.half_automaton[far], of_far]
    return at_near, at_far


@inner
def _inside(work, sentence, semiring):
    """Fill the values of a sentence, and return the total weight of its trees."""
    value, grown = work.value, work.grown
    inner_sums, outer_sums = np.zeros(work.most), np.zeros(work.most)
    for item in range(work.item_start[sentence], work.item_start[sentence + 1]):
        near, far, source, target = work.near[item], work.far[item], work.source[item], work.target[item]
        for half in (near, far):
            if not work.is_grown[half]:
                _grow(work, half, semiring)
                work.is_grown[half] = True
        at_near, at_far = work.grown_start[near], work.grown_start[far]
        nears, fars = work.grown_start[near + 1] - at_near, work.grown_start[far + 1] - at_far
        states = work.states[work.half_automaton[source]]
        for number in range(nears):
            inner_sums[number] = dot(value[source][:states], grown[at_near + number][:states], semiring)
        for number in range(fars):
            outer_sums[number] = 0.0
        first = work.row_start[work.relation[item]] - work.choice_start[item]
        for choice in range(work.choice_start[item], work.choice_start[item + 1]):
            x, y = _sides(work, item, first + choice)
            if x >= 0 and y >= 0:
                outer_sums[y] = plus(outer_sums[y], work.pair[choice] * inner_sums[x], semiring)
        states = work.states[work.half_automaton[target]]
        for number in range(fars):
            add_multiple(value[target][:states], outer_sums[number], grown[at_far + number][:states], semiring)
    top = work.half_start[sentence] + 2 * (work.node_start[sentence + 1] - work.node_start[sentence]) + 1
    states = work.states[work.half_automaton[top]]
    return dot(value[top][:states], work.end[sentence][:states], semiring)


@compiled
def inside_packed(work, totals, semiring):
    """Fill the values of all halves, and write the total weight of each sentence's trees."""
    for sentence in range(len(totals)):
        totals[sentence] = _inside(work, sentence, semiring)


@inner
def _wither(work, adjoint, half):
    """The reverse of `_grow`: pass what the grown vectors are worth on to the half and to the matrices."""
    automaton = work.half_automaton[half]
    first, states = work.possible_start[automaton], work.states[automaton]
    for number in range(work.possible_start[automaton + 1] - first):
        slope = adjoint.grown[work.grown_start[half] + number]
        for state in range(states):
            if slope[state] != 0:
                for other in range(states):
                    row, column = (state, other) if work.on_left[half] else (other, state)
                    step = work.matrix[first + number, row, column]
                    adjoint.value[half, other] += slope[state] * step
                    adjoint.matrix[first + number, row, column] += slope[state] * work.value[half, other]


@compiled
def outside_packed(work, adjoint, seeds):
    """The derivatives of the seeded sum of totals, by reverse differentiation.

    :param work: after `inside_packed` with sums.
    :param adjoint: what is derived by: ``pair``, ``value``, ``grown``, ``matrix`` and ``end``, all zero.  In
        the end ``value`` has the derivatives of the halves without dependents.
    :param seeds: (B,).
    """
    for sentence in range(len(seeds)):
        _outside(work, adjoint, sentence, seeds[sentence])


@inner
def _outside(work, adjoint, sentence, seed):
    value, grown = work.value, work.grown
    inner_sums, outer_sums = np.zeros(work.most), np.zeros(work.most)
    inner_slopes, outer_slopes = np.zeros(work.most), np.zeros(work.most)
    halves = work.half_start[sentence + 1] - work.half_start[sentence]
    is_withered = np.zeros(halves, np.bool_)
    leaves = 2 * (work.node_start[sentence + 1] - work.node_start[sentence])
    top = work.half_start[sentence] + leaves + 1
    for state in range(work.states[work.half_automaton[top]]):
        adjoint.value[top, state] += seed * work.end[sentence, state]
        adjoint.end[sentence, state] += seed * value[top, state]
    for back in range(work.item_start[sentence + 1] - work.item_start[sentence]):
        item = work.item_start[sentence + 1] - 1 - back
        near, far, source, target = work.near[item], work.far[item], work.source[item], work.target[item]
        if not is_withered[target - work.half_start[sentence]]:
            is_withered[target - work.half_start[sentence]] = True
            if work.is_grown[target]:
                _wither(work, adjoint, target)
        at_near, at_far = work.grown_start[near], work.grown_start[far]
        nears, fars = work.grown_start[near + 1] - at_near, work.grown_start[far + 1] - at_far
        before = work.states[work.half_automaton[source]]
        after = work.states[work.half_automaton[target]]
        for number in range(nears):
            inner_sums[number], inner_slopes[number] = 0.0, 0.0
            for state in range(before):
                inner_sums[number] += value[source, state] * grown[at_near + number, state]
        for number in range(fars):
            outer_sums[number], outer_slopes[number] = 0.0, 0.0
            for state in range(after):
                outer_slopes[number] += adjoint.value[target, state] * grown[at_far + number, state]
        first = work.row_start[work.relation[item]] - work.choice_start[item]
        for choice in range(work.choice_start[item], work.choice_start[item + 1]):
            x, y = _sides(work, item, first + choice)
            if x >= 0 and y >= 0:
                weight = work.pair[choice]
                adjoint.pair[choice] += inner_sums[x] * outer_slopes[y]
                inner_slopes[x] += weight * outer_slopes[y]
                outer_sums[y] += weight * inner_sums[x]
        for number in range(nears):
            for state in range(before):
                adjoint.value[source, state] += inner_slopes[number] * grown[at_near + number, state]
                adjoint.grown[at_near + number, state] += inner_slopes[number] * value[source, state]
        for number in range(fars):
            for state in range(after):
                adjoint.grown[at_far + number, state] += outer_sums[number] * adjoint.value[target, state]
    for half in range(work.half_start[sentence], work.half_start[sentence] + leaves):
        if work.is_grown[half]:
            _wither(work, adjoint, half)


# Draws, and the best


@inner
def _choose_state(first, second, states, chance, semiring):
    """A state in proportion to the product of two vectors, or the best one."""
    total, chosen = 0.0, 0
    for state in range(states):
        product = first[state] * second[state]
        if semiring == MAX:
            if product > total:
                total, chosen = product, state
        else:
            total += product
    if semiring == MAX:
        return chosen
    rest = chance * total
    for state in range(states):
        product = first[state] * second[state]
        if product > 0:
            chosen = state
            rest -= product
            if rest < 0:
                break
    return chosen


@inner
def _behind(work, half, number, state):
    """The column, or the row, of a puncteme's matrix from which a state of a grown half comes."""
    matrix = work.matrix[work.possible_start[work.half_automaton[half]] + number]
    states = work.states[work.half_automaton[half]]
    vector = np.empty(states)
    for other in range(states):
        vector[other] = matrix[state, other] if work.on_left[half] else matrix[other, state]
    return vector


@compiled
def decode_packed(work, totals, incoming_start, incoming, chances, semiring, items, choices):
    """Trees T with their T': drawn from their posterior, or the best of each sentence.

    :param work: after `inside_packed` with the same semiring.
    :param incoming_start: (H + 1,) where the items of each half start.
    :param incoming: (I,) the items by their target.
    :param chances: (draws, words, 5) draws from [0, 1).
    :param items: (draws, words) is filled with the item of each word, -1 in impossible sentences.
    :param choices: (draws, words) is filled with the choice of each word's constituent, likewise.
    """
    for draw in range(len(items)):
        for sentence in range(len(totals)):
            _decode(
                work, totals[sentence], sentence, incoming_start, incoming, chances[draw], semiring,
                items[draw], choices[draw],
            )


@inner
def _decode(work, total, sentence, incoming_start, incoming, chances, semiring, items, choices):
    first_word, end_word = work.node_start[sentence], work.node_start[sentence + 1]
    for word in range(first_word, end_word):
        items[word] = choices[word] = -1
    if not total > 0:
        return
    words = end_word - first_word
    top = work.half_start[sentence] + 2 * words + 1
    stack = np.empty((3 * words + 3, 2), np.int64)
    states = work.states[work.half_automaton[top]]
    used = first_word
    stack[0, 0] = top
    stack[0, 1] = _choose_state(work.value[top], work.end[sentence], states, chances[used, 4], semiring)
    height = 1
    while height:
        height -= 1
        half, state = stack[height, 0], stack[height, 1]
        begin, end = incoming_start[half], incoming_start[half + 1]
        if begin == end:
            continue
        chance = chances[used]
        used = min(used + 1, end_word - 1)
        item, choice = _choose_item(work, half, state, incoming[begin:end], chance[0], semiring)
        items[work.word[item]], choices[work.word[item]] = item, choice - work.choice_start[item]
        near, far, source = work.near[item], work.far[item], work.source[item]
        x, y = _sides(work, item, work.row_start[work.relation[item]] + choice - work.choice_start[item])
        states = work.states[work.half_automaton[source]]
        between = _choose_state(
            work.value[source], work.grown[work.grown_start[near] + x], states, chance[1], semiring
        )
        behind_near, behind_far = _behind(work, near, x, between), _behind(work, far, y, state)
        inside_near = _choose_state(behind_near, work.value[near], len(behind_near), chance[2], semiring)
        inside_far = _choose_state(behind_far, work.value[far], len(behind_far), chance[3], semiring)
        stack[height, 0], stack[height, 1] = source, between
        stack[height + 1, 0], stack[height + 1, 1] = near, inside_near
        stack[height + 2, 0], stack[height + 2, 1] = far, inside_far
        height += 3


@inner
def _choose_item(work, half, state, incoming, chance, semiring):
    """An item and a pair by which a half has come into a state."""
    total, best, chosen_item, chosen = 0.0, 0.0, -1, -1
    for sweep in range(2):
        rest = chance * total
        for item in incoming:
            near, far, source = work.near[item], work.far[item], work.source[item]
            states = work.states[work.half_automaton[source]]
            first = work.row_start[work.relation[item]] - work.choice_start[item]
            for choice in range(work.choice_start[item], work.choice_start[item + 1]):
                x, y = _sides(work, item, first + choice)
                if x < 0 or y < 0:
                    continue
                outer = work.grown[work.grown_start[far] + y, state]
                if outer == 0:
                    continue
                joined = dot(
                    work.value[source][:states], work.grown[work.grown_start[near] + x][:states], semiring
                )
                weight = work.pair[choice] * joined * outer
                if semiring == MAX:
                    if weight > best:
                        best, chosen_item, chosen = weight, item, choice
                elif sweep == 0:
                    total += weight
                elif weight > 0:
                    chosen_item, chosen = item, choice
                    rest -= weight
                    if rest < 0:
                        return chosen_item, chosen
        if semiring == MAX:
            break
    return chosen_item, chosen
