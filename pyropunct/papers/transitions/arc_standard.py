"""Arc-standard transitions (Nivre 2008, "Algorithms for deterministic incremental dependency parsing").

A configuration is a stack of trees and a buffer of waiting words::

    shift       the next word of the buffer becomes the top of the stack
    left(d)     s1 becomes the leftmost child of s0, with relation d
    right(d)    s0 becomes the rightmost child of s1, with relation d

A sentence of n words starts with an empty stack and ends, after 2 n - 1 transitions, with one tree. Compiled.
"""

from pyropunct.inference.compiling import inner
from pyropunct.papers.transitions.cells import (
    BELOW,
    CELL,
    NEXT,
    TREE,
    atoms_of,
    attach,
    copy_tree,
    copy_words,
    distance,
    head_of,
)

SHIFT, LEFT, RIGHT = KINDS = range(3)
"""The kinds of transitions."""

ITEMS, DISTANCES = ("s0", "s1", "s2", "b0", "b1", "b2", "b3"), ("d10", "d20", "d0b")
"""The three topmost trees of the stack and the next four words; and the distances between the heads of s1 and
s0, of s2 and s0, and of s0 and b0."""

ATOMS = atoms_of(ITEMS, DISTANCES)
"""All atoms of a state, in this order."""


@inner
def kinds_allowed(work, state, words):
    """The kinds of transitions that are possible in a state, as bits."""
    kinds = 1 << SHIFT if work.states[state, NEXT] <= words else 0  # a word waits
    if work.cells[work.states[state, CELL], BELOW] != 0:  # there are two trees to join
        kinds |= 1 << LEFT | 1 << RIGHT
    return kinds


@inner
def advance(work, state, kind, relation, new):
    """Write the state that follows a state by a transition, with its cell and its tree."""
    cells, states = work.cells, work.states
    top = states[state, CELL]
    states[new, CELL], states[new, NEXT] = new, states[state, NEXT]
    if kind == SHIFT:
        cells[new, TREE], cells[new, BELOW] = states[state, NEXT], top
        states[new, NEXT] += 1
        return
    second = cells[top, BELOW]
    left = kind == LEFT
    head, child = (top, second) if left else (second, top)
    cells[new, TREE] = attach(work, cells[head, TREE], cells[child, TREE], relation, left, new)
    cells[new, BELOW] = cells[second, BELOW]


@inner
def write_atoms(work, state):
    """Write the atoms of a state, in the order of `ATOMS`."""
    cells, following = work.cells, work.states[state, NEXT]
    first = work.states[state, CELL]
    second = cells[first, BELOW]
    third = cells[second, BELOW]
    for item, cell in enumerate((first, second, third)):
        copy_tree(work, item, cells[cell, TREE])
    copy_words(work, 3, following, 4)
    head, distances = head_of(work, first), len(ATOMS) - len(DISTANCES)
    work.atoms[distances] = distance(head_of(work, second), head)
    work.atoms[distances + 1] = distance(head_of(work, third), head)
    work.atoms[distances + 2] = distance(head, following)
