"""The items and halves of given trees, and of all projective trees of a sentence, listed; compiled.

`pyropunct.inference.packed` says what an item and a half are.
"""

import numpy as np

from pyropunct.inference.compiling import compiled, inner

ITEM = ("word", "head", "left_slot", "right_slot", "near", "far", "source", "target", "meeting")
"""The columns of an item."""


@inner
def _put(table, row, columns):
    """Write a row, a number at a time (see `pyropunct.inference.compiling`); ignore rows beyond the table."""
    if row < len(table):
        for column in range(len(columns)):
            table[row, column] = columns[column]


@inner
def _fill(arcs, table, half):
    """List the items and the halves of a sentence, or only count them; see `list_items`."""
    n = len(arcs)
    known = np.full((2, n, n + 1), -1)  # the halves R[h, k], then L[m, h]: by side, word and slot
    met, meetings = np.full((n, n + 1, n), -1), 0
    for word in range(n):
        known[1, word, word], known[0, word, word + 1] = 2 * word, 2 * word + 1
        _put(half, 2 * word, (word, 1))
        _put(half, 2 * word + 1, (word + 1, 0))
    _put(half, 2 * n, (0, 0))
    _put(half, 2 * n + 1, (n, 0))
    items, halves = 0, 2 * n + 2
    for size in range(1, n):
        for h in range(n):
            for side in range(2):  # a half up to one slot, and an item from there to another, make a half
                end = h - size if side else h + 1 + size
                first, last = (end + 1, h + 1) if side else (h + 1, end)
                for begin in range(first, last if 0 <= end <= n else first):
                    m, k = (end, begin) if side else (begin, end)
                    for d in range(m, k):
                        if not arcs[d, h + 1]:
                            continue
                        near, far, source = (
                            known[1 - side, d, begin],
                            known[side, d, end],
                            known[side, h, begin],
                        )
                        if min(near, far, source) < 0:
                            continue
                        if known[side, h, end] < 0:
                            known[side, h, end] = halves
                            _put(half, halves, (end, side))
                            halves += 1
                        if met[h, begin, d] < 0:
                            met[h, begin, d] = meetings
                            meetings += 1
                        parts = near, far, source, known[side, h, end], met[h, begin, d]
                        _put(table, items, (d, h, m, k, *parts))
                        items += 1
    for d in range(n):
        near, far = known[1, d, 0], known[0, d, n]
        if arcs[d, 0] and near >= 0 and far >= 0:
            _put(table, items, (d, -1, 0, n, near, far, 2 * n, 2 * n + 1, meetings))
            meetings += 1
            items += 1
    return items, halves


@compiled
def count_items(arcs):
    """The numbers of items and halves of the forest of a sentence."""
    return _fill(arcs, np.empty((0, len(ITEM)), np.int64), np.empty((0, 2), np.int64))


@compiled
def list_items(arcs, table, half):
    """Fill (items, 9) ``table`` with the `ITEM` columns of all projective trees, and (halves, 2) ``half``.

    Items are in an order for sums; a half has a slot and a side; arcs: (n, n + 1), head 0 is the root.
    """
    _fill(arcs, table, half)


OF_FOREST = (
    "left_child_start",
    "left_child",
    "right_child_start",
    "right_child",
    "bottom_up",
    "word_slot",
    "slot_start",
)
"""The columns of a forest that `list_halves` takes."""


@compiled
def list_halves(forest, start, half_start, relation, items, halves):
    """Fill the columns of items and halves of given trees, in the order of the nodes, children first.

    :param forest: the columns `OF_FOREST` of a `pyropunct.inference.forest.Forest`.
    """
    left_start, left, right_start, right, bottom_up, word_slot, slot_start = forest
    near, far, source, target, meeting, of_node = items
    half_slot, on_left, trie = halves
    last = np.empty((2, len(word_slot)), np.int64)
    item = 0
    for tree in range(len(start) - 1):
        first, half = half_start[tree], half_start[tree] + 2 * (start[tree + 1] - start[tree]) + 2
        for number in range(start[tree], start[tree + 1]):
            for side in range(2):
                own = first + 2 * (number - start[tree]) + side
                half_slot[own], on_left[own], trie[own] = word_slot[number] - side, side, -1
        for top in range(half - 2, half):
            half_slot[top], on_left[top], trie[top] = slot_start[tree], 0, -1
        half_slot[half - 1] = slot_start[tree + 1] - 1
        for place in range(start[tree], start[tree + 1]):
            node = bottom_up[place]
            for side in range(2):
                begin, end = (left_start if side else right_start)[node : node + 2]
                grown = first + 2 * (node - start[tree]) + side
                for number in range(end - begin):
                    child = left[end - 1 - number] if side else right[begin + number]
                    near[item], far[item] = last[1 - side, child], last[side, child]
                    source[item], target[item], meeting[item], of_node[item] = grown, half, item, child
                    half_slot[half], on_left[half], trie[half] = half_slot[far[item]], side, -1
                    grown = half
                    half, item = half + 1, item + 1
                last[side, node] = grown
                trie[grown] = relation[node]
        root, outside = bottom_up[start[tree + 1] - 1], first + 2 * (start[tree + 1] - start[tree])
        near[item], far[item], source[item], target[item] = last[1, root], last[0, root], outside, outside + 1
        meeting[item], of_node[item] = item, root
        item += 1
