"""Trees and stacks that the states of a beam share, compiled.

A configuration is the topmost cell of its stack; a cell is a tree and the cell below; a tree is a row of
numbers, and the words of a sentence have the first rows.  A row begins with the atoms of a tree, so the atoms
of a state are copies of rows.

*Properties* (Ma, Zhang & Zhu 2014, section 3): a tree has pairs opened on its left, pairs closed on its
right, and a mark.  The head of an arc inherits those of a child on that side.  Pairs in both sets leave both;
if both are then empty, the mark becomes `PAIRED`.  An open or a closed pair excludes the mark.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from pyropunct.inference.compiling import inner
from pyropunct.papers.transitions.perceptron import Array, number_of

WORD, TAG, OPENED, CLOSED, MARK = range(5)
"""The rows of a sentence, whose columns are the words from 1; column 0 is zero."""

OPEN_ONLY, CLOSED_ONLY, OPEN_AND_CLOSED, PAIRED, FIRST_MARK = range(1, 6)
"""The values of a property: open pairs, closed pairs, or both; matched pairs; the least other mark."""

FARTHEST, FAR = 10, 5
"""Distances from 5 to 10 are one class, and distances above 10 another (Zhang & Clark 2008)."""

TREE_ATOMS = (
    *("w", "t", "p", "leaf"),
    *(f"{child}.{part}" for child in ("l", "l2", "r", "r2") for part in "wtd"),
    *("vl", "vr", "sl", "sr", "l.p"),
)
"""The atoms of a tree, all 0 if there is none: word, tag and property of its head; 1 for a leaf, else 2; the
words, tags and relations of the two outermost children on each side; on each side 1 + the number of children,
and the set of their relations as bits; and the property of the left child."""

# The columns of a tree: its atoms, its head, and the open pairs, closed pairs and mark behind its property.
_WORD, _TAG, _PROPERTY, _LEAF, _CHILD, _COUNT, _SET, _LEFT_PROPERTY = 0, 1, 2, 3, 4, 16, 18, 20
_ATOMS = len(TREE_ATOMS)
HEAD, _OPENED, _CLOSED, _MARK = range(_ATOMS, _ATOMS + 4)
_TREE = _ATOMS + 4
_RELATION_BITS = 63

CELL = np.dtype([(name, np.int64) for name in ("tree", "below", "under", "relation", "headless")])
"""A cell: its tree, and the cell below.  Only arc-eager transitions use the others: the tree that the cell
below has by now; the relation of its word to the word below, 0 if it has no head yet; and the number of words
without head from here down."""

_COLUMNS = ("cell", "next", "previous", "action", "score", "gold", "front", "closing")
STATE = np.dtype([(name, np.int64) for name in _COLUMNS])
"""A state: its stack, its next word, the state before, the action from there, the score of all actions, and
whether all actions are right; the tree of the next word, and whether the words of a finished sentence are
still on the stack."""


class ParserWorkspace(NamedTuple):
    """Room for the states of a sentence.

    :ivar trees: (T, 25) tree 0 is absent, the trees of the words follow.
    :ivar cells: (C,) cell 0 is the bottom of all stacks.
    :ivar states: (C,) the cell with the number of a state is new in it.
    :ivar atoms: of one state; ``keys`` are those of its features, ``scores`` those of its actions or their
        parts.
    """

    trees: Array
    cells: Array
    states: Array
    atoms: Array
    keys: Array
    scores: Array


def matrix_of(
    forms: Iterable[str],
    tags: Sequence[str],
    marks: Sequence[int] | int = 0,
    opened: Sequence[int] | int = 0,
    closed: Sequence[int] | int = 0,
) -> Array:
    """(5, n + 1) a sentence of n words with their properties, see `WORD`."""
    matrix = np.zeros((5, len(tags) + 1), np.int64)
    words = list(map(number_of, forms)), list(map(number_of, tags))
    for row, values in enumerate((*words, opened, closed, marks)):
        matrix[row, 1:] = values
    return matrix


@inner
def workspace_of(sentence, states, atoms, templates, numbers):
    """Room for a number of states and for the first state, which is written."""
    words = sentence.shape[1]
    work = ParserWorkspace(
        np.zeros((words + states, _TREE), np.int64),
        np.zeros(1 + states, CELL),
        np.zeros(1 + states, STATE),
        np.zeros(atoms, np.int64),
        np.zeros(templates, np.int64),
        np.zeros(numbers, np.int64),
    )
    for word in range(1, words):
        tree = work.trees[word]
        tree[_WORD], tree[_TAG], tree[HEAD] = sentence[WORD, word], sentence[TAG, word], word
        tree[_LEAF] = tree[_COUNT] = tree[_COUNT + 1] = 1
        tree[_OPENED], tree[_CLOSED] = sentence[OPENED, word], sentence[CLOSED, word]
        tree[_MARK] = sentence[MARK, word]
        _set_property(tree)
    first = work.states[0]
    first["next"], first["gold"], first["front"] = 1, 1, 1
    return work


@inner
def _set_property(tree):
    """Remove pairs that are both open and closed, and write the property of a tree, 0 if it has none."""
    both = tree[_OPENED] & tree[_CLOSED]
    if both:
        tree[_OPENED] ^= both
        tree[_CLOSED] ^= both
        if tree[_OPENED] == 0 and tree[_CLOSED] == 0:
            tree[_MARK] = PAIRED
    if tree[_OPENED]:
        tree[_PROPERTY] = OPEN_AND_CLOSED if tree[_CLOSED] else OPEN_ONLY
    else:
        tree[_PROPERTY] = CLOSED_ONLY if tree[_CLOSED] else tree[_MARK]


@inner
def attach(work, head, child, relation, left, new):
    """Write the tree of a head with a new outermost child in a new state; return the tree's number."""
    trees = work.trees
    number = len(trees) - len(work.cells) + new
    tree, other, side = trees[number], trees[child], 0 if left else 1
    for column in range(_TREE):  # as one assignment it would take seconds to compile
        tree[column] = trees[head, column]
    outermost = _CHILD + 6 * side
    for column in range(outermost, outermost + 3):
        tree[column + 3] = tree[column]
    tree[outermost], tree[outermost + 1], tree[outermost + 2] = other[_WORD], other[_TAG], relation
    tree[_LEAF] = 2
    tree[_COUNT + side] += 1
    tree[_SET + side] |= 1 << relation % _RELATION_BITS
    if left:
        tree[_OPENED] |= other[_OPENED]
        tree[_LEFT_PROPERTY] = other[_PROPERTY]
    else:
        tree[_CLOSED] |= other[_CLOSED]
        if other[_PROPERTY] >= FIRST_MARK and not tree[_OPENED] and not tree[_CLOSED]:
            tree[_MARK] = other[_MARK]
    _set_property(tree)
    return number


@inner
def distance(one, other):
    """The distance between two words in classes; 0 if the first is absent."""
    if one == 0:
        return 0
    apart = other - one
    return FAR + 1 if apart > FARTHEST else FAR if apart >= FAR else apart
