"""Arc-standard transitions (Nivre 2008, "Algorithms for deterministic incremental dependency parsing"),
compiled.

A configuration is a stack of trees and a buffer of words that wait::

    shift       the next word of the buffer becomes the top of the stack
    left(d)     s1 becomes the leftmost child of s0, with relation d
    right(d)    s0 becomes the rightmost child of s1, with relation d

A sentence of n words starts with an empty stack and ends, after 2 n - 1 transitions, with one tree.

No configuration is ever changed, so those of a beam share what they have in common: a configuration is the
topmost cell of its stack; a cell is a tree and the cell below; a tree is a row of numbers, of which the words
of a sentence have the first.

*Properties.*  A tree has a set of pairs that were opened on its left side and not closed, one of pairs that
were closed on its right side, and a mark.  When an arc is made, what was opened on the left of a left child,
or closed on the right of a right child, is of the head too; pairs in both sets meet and leave both, and if
nothing is left, the mark is `PAIRED`.  The mark of a right child becomes that of the head, unless a pair is
open or closed there (Ma, Zhang & Zhu 2014, section 3).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.inference.compiling import inner
from pyropunct.parsing.arc_standard.templates import ATOMS, ITEM_ATOMS

Array = NDArray[Any]

SHIFT, LEFT, RIGHT = range(3)
"""The kinds of transitions."""

WORD, TAG, OPENED, CLOSED, MARK = range(5)
"""The rows of a sentence, whose columns are the words from 1.  Columns before and behind are zero."""

BEHIND = 4
"""How many columns there are behind the last word."""

OPEN_ONLY, CLOSED_ONLY, OPEN_AND_CLOSED, PAIRED, FIRST_MARK = range(1, 6)
"""The values of a property: pairs are open, closed, both; all met; the least number of another mark."""

FARTHEST, FAR = 10, 5
"""Distances from 5 to 10 are alike, and so are those above 10 (Zhang & Clark 2008)."""

# The columns of a tree: its head; four children, each with its relation; how many there are on each side, and
# the set of their relations as bits; its property, and that of its left child.
_HEAD, _CHILD, _COUNT, _SET, _OPENED, _CLOSED, _MARK, _LEFT_PROPERTY = 0, 1, 9, 11, 13, 14, 15, 16
_TREE = 17
_RELATION_BITS = 63
_ITEM = len(ITEM_ATOMS)
_THIRD, _BUFFER, _DISTANCES = 2 * _ITEM, 2 * _ITEM + 4, len(ATOMS) - 3

TREE, BELOW = range(2)
"""The columns of a cell."""

CELL, NEXT, PREVIOUS, ACTION, SCORE, GOLD = range(6)
"""The columns of a state: its stack, its next word, the state before, the action from there, the score of all
actions, and whether they all are right."""


class Workspace(NamedTuple):
    """Room for some states of one sentence.

    :ivar trees: (T, 17) tree 0 is absent, those of the words follow.
    :ivar cells: (C, 2) cell 0 is the bottom of all stacks.
    :ivar states: (C, 6) the state with the number of a cell has this cell.
    :ivar atoms: the atoms of one state.
    :ivar keys: the keys of its features.
    :ivar scores: (actions,) the scores of its actions.
    """

    trees: Array
    cells: Array
    states: Array
    atoms: Array
    keys: Array
    scores: Array


@inner
def workspace_of(sentence, states, templates, actions):
    """Room for so many states besides the first, which is there."""
    words = sentence.shape[1] - BEHIND
    work = Workspace(
        np.zeros((words + states, _TREE), np.int64),
        np.zeros((1 + states, 2), np.int64),
        np.zeros((1 + states, 6), np.int64),
        np.zeros(len(ATOMS), np.int64),
        np.zeros(templates, np.int64),
        np.zeros(actions, np.int64),
    )
    for word in range(1, words):
        tree = work.trees[word]
        tree[_HEAD] = word
        tree[_OPENED], tree[_CLOSED] = sentence[OPENED, word], sentence[CLOSED, word]
        tree[_MARK] = sentence[MARK, word]
        _meet(tree)
    work.states[0, NEXT], work.states[0, GOLD] = 1, 1
    return work


@inner
def _meet(tree):
    """Let pairs meet that are open and closed."""
    both = tree[_OPENED] & tree[_CLOSED]
    if both:
        tree[_OPENED] ^= both
        tree[_CLOSED] ^= both
        if tree[_OPENED] == 0 and tree[_CLOSED] == 0:
            tree[_MARK] = PAIRED


@inner
def _property(tree):
    """The property of a tree as one number, 0 if it has none."""
    if tree[_OPENED]:
        return OPEN_AND_CLOSED if tree[_CLOSED] else OPEN_ONLY
    return CLOSED_ONLY if tree[_CLOSED] else tree[_MARK]


@inner
def may_shift(work, state, words):
    """Whether a word waits."""
    return work.states[state, NEXT] <= words


@inner
def may_reduce(work, state):
    """Whether there are two trees to join."""
    return work.cells[work.states[state, CELL], BELOW] != 0


@inner
def head_of(work, cell):
    """The word that is the head of the tree in a cell, 0 below the bottom."""
    return work.trees[work.cells[cell, TREE], _HEAD]


@inner
def advance(work, state, kind, relation, new):
    """Write the state that follows one by a transition, with its cell and its tree."""
    cells, states = work.cells, work.states
    top = states[state, CELL]
    states[new, CELL], states[new, NEXT], states[new, PREVIOUS] = new, states[state, NEXT], state
    if kind == SHIFT:
        cells[new, TREE], cells[new, BELOW] = states[state, NEXT], top
        states[new, NEXT] += 1
        return
    second = cells[top, BELOW]
    tree = len(work.trees) - len(cells) + new
    left = kind == LEFT
    head, child = (top, second) if left else (second, top)
    _attach(work.trees, cells[head, TREE], cells[child, TREE], relation, left, tree)
    cells[new, TREE], cells[new, BELOW] = tree, cells[second, BELOW]


@inner
def _attach(trees, head, child, relation, left, new):
    """Write the tree that a head becomes with another outermost child."""
    tree, other, side = trees[new], trees[child], 0 if left else 1
    for column in range(_TREE):  # as one assignment it would take seconds to compile
        tree[column] = trees[head, column]
    outermost = _CHILD + 2 * side
    tree[outermost + 4], tree[outermost + 5] = tree[outermost], tree[outermost + 1]
    tree[outermost], tree[outermost + 1] = other[_HEAD], relation
    tree[_COUNT + side] += 1
    tree[_SET + side] |= 1 << relation % _RELATION_BITS
    if left:
        tree[_OPENED] |= other[_OPENED]
        tree[_LEFT_PROPERTY] = _property(other)
    else:
        tree[_CLOSED] |= other[_CLOSED]
        if _property(other) >= FIRST_MARK and not tree[_OPENED] and not tree[_CLOSED]:
            tree[_MARK] = other[_MARK]
    _meet(tree)


@inner
def write_atoms(work, sentence, state):
    """Write the atoms of a state, in the order of `ATOMS`."""
    atoms, trees, cells, following = work.atoms, work.trees, work.cells, work.states[state, NEXT]
    first = work.states[state, CELL]
    second = cells[first, BELOW]
    third = cells[second, BELOW]
    _write_item(atoms, 0, trees[cells[first, TREE]], sentence)
    _write_item(atoms, _ITEM, trees[cells[second, TREE]], sentence)
    _write_head(atoms, _THIRD, trees[cells[third, TREE]], sentence)
    for place in range(4):
        word, behind = following + place, sentence.shape[1] - BEHIND
        word = word if word < behind else behind
        at = _BUFFER + 3 * place
        atoms[at], atoms[at + 1] = sentence[WORD, word], sentence[TAG, word]
        atoms[at + 2] = _property(trees[word]) if word < behind else 0
    heads = (
        trees[cells[first, TREE], _HEAD],
        trees[cells[second, TREE], _HEAD],
        trees[cells[third, TREE], _HEAD],
    )
    atoms[_DISTANCES] = _distance(heads[1], heads[0])
    atoms[_DISTANCES + 1] = _distance(heads[2], heads[0])
    atoms[_DISTANCES + 2] = _distance(heads[0], following)


@inner
def _write_head(atoms, at, tree, sentence):
    word = tree[_HEAD]
    atoms[at], atoms[at + 1], atoms[at + 2] = sentence[WORD, word], sentence[TAG, word], _property(tree)
    atoms[at + 3] = 0 if word == 0 else 1 if tree[_COUNT] + tree[_COUNT + 1] == 0 else 2


@inner
def _write_item(atoms, at, tree, sentence):
    _write_head(atoms, at, tree, sentence)
    for child in range(4):
        word, place = tree[_CHILD + 2 * child], at + 4 + 3 * child
        atoms[place], atoms[place + 1] = sentence[WORD, word], sentence[TAG, word]
        atoms[place + 2] = tree[_CHILD + 2 * child + 1]
    at += 16
    for side in range(2):
        atoms[at + side] = 0 if tree[_HEAD] == 0 else 1 + tree[_COUNT + side]
        atoms[at + 2 + side] = tree[_SET + side]
    atoms[at + 4] = tree[_LEFT_PROPERTY]


@inner
def _distance(one, other):
    """How far two words are apart, in classes; 0 if the first is absent."""
    if one == 0:
        return 0
    apart = other - one
    return FAR + 1 if apart > FARTHEST else FAR if apart >= FAR else apart
