"""Arc-standard transitions (Nivre 2008, "Algorithms for deterministic incremental dependency parsing").

A configuration is a stack of trees and a buffer of waiting words::

    shift       the next word of the buffer becomes the top of the stack
    left(d)     s1 becomes the leftmost child of s0, with relation d
    right(d)    s0 becomes the rightmost child of s1, with relation d

A sentence of n words starts with an empty stack and ends, after 2 n - 1 transitions, with one tree. Compiled.
"""

from pyropunct.inference.compiling import inner
from pyropunct.rivals.transitions.cells import (
    BELOW,
    CELL,
    NEXT,
    PREVIOUS,
    TREE,
    attach,
    distance,
    head_of,
    write_buffer,
    write_head,
    write_item,
)
from pyropunct.rivals.transitions.perceptron import ITEM_ATOMS

SHIFT, LEFT, RIGHT = range(3)
"""The kinds of transitions."""

ATOMS = (
    *(f"{item}.{atom}" for item in ("s0", "s1") for atom in ITEM_ATOMS),
    *(f"s2.{atom}" for atom in ITEM_ATOMS[:4]),
    *(f"b{place}.{atom}" for place in range(4) for atom in "wtp"),
    *("d10", "d20", "d0b"),
)
"""All atoms, in this order: the atoms of the two topmost trees of the stack, ``s0`` and ``s1``; the first
four atoms of the third tree, ``s2``; the atoms of the next four words of the buffer, ``b0`` to ``b3``; and
the distances between the heads of s1 and s0, of s2 and s0, and of s0 and b0."""

_ITEM = len(ITEM_ATOMS)
_THIRD, _BUFFER, _DISTANCES = 2 * _ITEM, 2 * _ITEM + 4, len(ATOMS) - 3


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
    states[new, CELL], states[new, NEXT], states[new, PREVIOUS] = new, states[state, NEXT], state
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
def write_atoms(work, sentence, state):
    """Write the atoms of a state, in the order of `ATOMS`."""
    atoms, trees, cells, following = work.atoms, work.trees, work.cells, work.states[state, NEXT]
    first = work.states[state, CELL]
    second = cells[first, BELOW]
    third = cells[second, BELOW]
    write_item(atoms, 0, trees[cells[first, TREE]], sentence)
    write_item(atoms, _ITEM, trees[cells[second, TREE]], sentence)
    write_head(atoms, _THIRD, trees[cells[third, TREE]], sentence)
    write_buffer(atoms, _BUFFER, trees, sentence, following, 4)
    head = head_of(work, first)
    atoms[_DISTANCES] = distance(head_of(work, second), head)
    atoms[_DISTANCES + 1] = distance(head_of(work, third), head)
    atoms[_DISTANCES + 2] = distance(head, following)
