"""Strings of tokens as numbers, so that compiled loops compare and store surface strings as integers."""

from typing import NamedTuple

import numpy as np

from pyropunct.inference.compiling import compiled
from pyropunct.inference.forward import TreeArrays
from pyropunct.inference.machines.sampling import NONE
from pyropunct.inference.ragged import Array, Ints, starts_of


class _Trie(NamedTuple):
    """Strings as nodes of a trie: parent, last token, length, first child and next sibling, -1 for none.

    The length is a number of marks: it leaves out the token that is skipped.
    """

    parent: Array
    token: Array
    length: Array
    child: Array
    sibling: Array


class Strings:
    """Numbers strings of tokens: the empty string is 0, and only equal strings have equal numbers.

    :param skipped: a token that is no mark, `pyropunct.inference.inventory.Inventory.clause_token`.
    """

    def __init__(self, skipped: int | None = None) -> None:
        self._skipped = NONE if skipped is None else skipped
        self._size, self._trie = 1, _Trie(*np.full((5, 1), NONE, np.int32))
        self._trie.length[0] = 0

    def __len__(self) -> int:
        """One more than the greatest number; beginnings of strings have numbers too."""
        return self._size

    def number(self, lengths: Array, tokens: Array) -> Array:
        """(R,) ``int32`` numbers of R strings, whose tokens are concatenated."""
        lacking = self._size + len(tokens) - len(self._trie.token)
        if lacking > 0:
            room = np.full(max(lacking, self._size), NONE, np.int32)
            self._trie = _Trie(*(np.concatenate([column, room]) for column in self._trie))
        numbers = np.empty(len(lengths), np.int32)
        self._size = _number_strings(lengths, tokens, self._trie, self._size, numbers, self._skipped)
        return numbers

    def tokens(self, number: int) -> tuple[int, ...]:
        """The string of a number."""
        string = []
        while number:
            string.append(int(self._trie.token[number]))
            number = int(self._trie.parent[number])
        return tuple(string[::-1])

    def lengths(self, numbers: Array) -> Array:
        """How many marks the strings have, of any shape."""
        return self._trie.length[numbers]

    def marks(self, trees: TreeArrays, numbers: Array, node: Array, draw: Array) -> tuple[Ints, Ints, Ints]:
        """The marks strictly inside V constituents, each in one draw; ``numbers``: (S, draws) strings of
        slots.

        :returns: (V + 1,) where the marks of each start, the marks from left to right, and their slots.
        """
        start = starts_of(_count_marks(trees, numbers, node, draw, self._trie))
        return start, *_fill_marks(trees, numbers, node, draw, self._trie, start, self._skipped)


@compiled
def _number_strings(
    lengths: Array, tokens: Array, trie: _Trie, size: int, numbers: Array, skipped: int
) -> int:
    at = 0
    for string in range(len(lengths)):
        here = 0
        for token in tokens[at : at + lengths[string]]:
            below, before = trie.child[here], NONE
            while below != NONE and trie.token[below] != token:
                below, before = trie.sibling[below], below
            if below == NONE:
                below, size = size, size + 1
                trie.parent[below], trie.token[below] = here, token
                trie.length[below] = trie.length[here] + (token != skipped)
                if before == NONE:
                    trie.child[here] = below
                else:
                    trie.sibling[before] = below
            here = below
        at += lengths[string]
        numbers[string] = here
    return size


@compiled
def _count_marks(trees: TreeArrays, numbers: Array, node: Array, draw: Array, trie: _Trie) -> Ints:
    sizes = np.zeros(len(node), np.int64)
    for view in range(len(node)):
        for slot in range(trees.left_slot[node[view]] + 1, trees.right_slot[node[view]]):
            sizes[view] += trie.length[numbers[slot, draw[view]]]
    return sizes


@compiled
def _fill_marks(
    trees: TreeArrays, numbers: Array, node: Array, draw: Array, trie: _Trie, start: Ints, skipped: int
) -> tuple[Ints, Ints]:
    tokens, slots = np.empty(start[-1], np.int64), np.empty(start[-1], np.int64)
    for view in range(len(node)):
        at = start[view + 1]
        # A number leads to its string's last token first.
        for slot in range(trees.right_slot[node[view]] - 1, trees.left_slot[node[view]], -1):
            string = numbers[slot, draw[view]]
            while string:
                if trie.token[string] != skipped:
                    at -= 1
                    tokens[at], slots[at] = trie.token[string], slot
                string = trie.parent[string]
    return tokens, slots


@compiled
def renumber(numbers: Array, most: int) -> tuple[Array, Array]:
    """(draws, slots) ``int32`` numbers by first occurrence, draw after draw; and the old number of each."""
    new, old, size = np.full(most, NONE, np.int32), np.empty(most, np.int64), 0
    slots, draws = numbers.shape
    result = np.empty((draws, slots), np.int32)
    for draw in range(draws):
        for slot in range(slots):
            number = numbers[slot, draw]
            if new[number] == NONE:
                new[number], old[size] = size, number
                size += 1
            result[draw, slot] = new[number]
    return result, old[:size].copy()
