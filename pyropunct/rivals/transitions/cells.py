"""Trees and stacks that the states of a beam share, compiled.

A configuration is the topmost cell of its stack; a cell is a tree and the cell below; a tree is a row of
numbers, and the words of a sentence have the first rows.

*Properties* (Ma, Zhang & Zhu 2014, section 3): a tree has pairs opened on its left, pairs closed on its
right, and a mark.  The head of an arc inherits those of a child on that side.  Pairs in both sets leave both;
if both are then empty, the mark becomes `PAIRED`.  An open or a closed pair excludes the mark.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.inference.compiling import inner

Array = NDArray[Any]

WORD, TAG, OPENED, CLOSED, MARK = range(5)
"""The rows of a sentence, whose columns are the words from 1.  Columns before and behind are zero."""

BEHIND = 4
"""The number of columns behind the last word."""

OPEN_ONLY, CLOSED_ONLY, OPEN_AND_CLOSED, PAIRED, FIRST_MARK = range(1, 6)
"""The values of a property: open pairs, closed pairs, or both; matched pairs; the least other mark."""

FARTHEST, FAR = 10, 5
"""Distances from 5 to 10 are one class, and distances above 10 another (Zhang & Clark 2008)."""

# The columns of a tree: its head; four children, each with its relation; the number of children on each side;
# the set of their relations on each side, as bits; open pairs, closed pairs and mark; and the property of the
# left child.
HEAD, _CHILD, _COUNT, _SET, _OPENED, _CLOSED, _MARK, _LEFT_PROPERTY = 0, 1, 9, 11, 13, 14, 15, 16
_TREE = 17
_RELATION_BITS = 63

TREE, BELOW, UNDER, RELATION, HEADLESS = range(5)
"""The columns of a cell: its tree, and the cell below.  Only arc-eager transitions use the others: the tree
that the cell below has by now; the relation of its word to the word below, 0 if it has no head yet; and
the number of words without head from here down."""

CELL, NEXT, PREVIOUS, ACTION, SCORE, GOLD, FRONT, CLOSING = range(8)
"""The columns of a state: its stack, its next word, the state before, the action from there, the score of all
actions, and whether all actions are right.  Only arc-eager transitions use the others: the tree of the next
word, and whether the words of a finished sentence are still on the stack."""


class ParserWorkspace(NamedTuple):
    """Room for the states of a sentence.

    :ivar trees: (T, 17) tree 0 is absent, the trees of the words follow.
    :ivar cells: (C, 5) cell 0 is the bottom of all stacks.
    :ivar states: (C, 8) the cell with the number of a state is new in it.
    :ivar atoms: of one state; ``keys`` are those of its features, ``scores`` those of its actions or their
        parts.
    """

    trees: Array
    cells: Array
    states: Array
    atoms: Array
    keys: Array
    scores: Array


@inner
def workspace_of(sentence, states, atoms, templates, numbers):
    """Room for a number of states and for the first state, which is written."""
    words = sentence.shape[1] - BEHIND
    work = ParserWorkspace(
        np.zeros((words + states, _TREE), np.int64),
        np.zeros((1 + states, 5), np.int64),
        np.zeros((1 + states, 8), np.int64),
        np.zeros(atoms, np.int64),
        np.zeros(templates, np.int64),
        np.zeros(numbers, np.int64),
    )
    for word in range(1, words):
        tree = work.trees[word]
        tree[HEAD] = word
        tree[_OPENED], tree[_CLOSED] = sentence[OPENED, word], sentence[CLOSED, word]
        tree[_MARK] = sentence[MARK, word]
        _meet(tree)
    work.states[0, NEXT], work.states[0, GOLD], work.states[0, FRONT] = 1, 1, 1
    return work


@inner
def _meet(tree):
    """Remove pairs that are both open and closed."""
    both = tree[_OPENED] & tree[_CLOSED]
    if both:
        tree[_OPENED] ^= both
        tree[_CLOSED] ^= both
        if tree[_OPENED] == 0 and tree[_CLOSED] == 0:
            tree[_MARK] = PAIRED


@inner
def property_of(tree):
    """The property of a tree as one number, 0 if it has none."""
    if tree[_OPENED]:
        return OPEN_AND_CLOSED if tree[_CLOSED] else OPEN_ONLY
    return CLOSED_ONLY if tree[_CLOSED] else tree[_MARK]


@inner
def head_of(work, cell):
    """The word that is the head of the tree in a cell, 0 below the bottom."""
    return work.trees[work.cells[cell, TREE], HEAD]


@inner
def attach(work, head, child, relation, left, new):
    """Write the tree of a head with a new outermost child in a new state; return the tree's number."""
    trees = work.trees
    number = len(trees) - len(work.cells) + new
    tree, other, side = trees[number], trees[child], 0 if left else 1
    for column in range(_TREE):  # as one assignment it would take seconds to compile
        tree[column] = trees[head, column]
    outermost = _CHILD + 2 * side
    tree[outermost + 4], tree[outermost + 5] = tree[outermost], tree[outermost + 1]
    tree[outermost], tree[outermost + 1] = other[HEAD], relation
    tree[_COUNT + side] += 1
    tree[_SET + side] |= 1 << relation % _RELATION_BITS
    if left:
        tree[_OPENED] |= other[_OPENED]
        tree[_LEFT_PROPERTY] = property_of(other)
    else:
        tree[_CLOSED] |= other[_CLOSED]
        if property_of(other) >= FIRST_MARK and not tree[_OPENED] and not tree[_CLOSED]:
            tree[_MARK] = other[_MARK]
    _meet(tree)
    return number


@inner
def write_head(atoms, at, tree, sentence):
    """Write the first four of `ITEM_ATOMS`."""
    word = tree[HEAD]
    atoms[at], atoms[at + 1], atoms[at + 2] = sentence[WORD, word], sentence[TAG, word], property_of(tree)
    atoms[at + 3] = 0 if word == 0 else 1 if tree[_COUNT] + tree[_COUNT + 1] == 0 else 2


@inner
def write_item(atoms, at, tree, sentence):
    """Write all of `ITEM_ATOMS`."""
    write_head(atoms, at, tree, sentence)
    for child in range(4):
        word, place = tree[_CHILD + 2 * child], at + 4 + 3 * child
        atoms[place], atoms[place + 1] = sentence[WORD, word], sentence[TAG, word]
        atoms[place + 2] = tree[_CHILD + 2 * child + 1]
    at += 16
    for side in range(2):
        atoms[at + side] = 0 if tree[HEAD] == 0 else 1 + tree[_COUNT + side]
        atoms[at + 2 + side] = tree[_SET + side]
    atoms[at + 4] = tree[_LEFT_PROPERTY]


@inner
def write_buffer(atoms, at, trees, sentence, first, words):
    """Write word, tag and property of the next words of the buffer."""
    for place in range(words):
        word, behind = first + place, sentence.shape[1] - BEHIND
        word = word if word < behind else behind
        atoms[at], atoms[at + 1] = sentence[WORD, word], sentence[TAG, word]
        atoms[at + 2] = property_of(trees[word]) if word < behind else 0
        at += 3


@inner
def distance(one, other):
    """The distance between two words in classes; 0 if the first is absent."""
    if one == 0:
        return 0
    apart = other - one
    return FAR + 1 if apart > FARTHEST else FAR if apart >= FAR else apart
