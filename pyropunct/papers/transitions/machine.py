"""The transitions of both parsers, compiled; each parser uses its own kinds.

A configuration is a stack of trees and a buffer of waiting words.  s0 is the top of the stack, s1 the tree
below, b0 the first word of the buffer.  *Arc-standard* transitions (Nivre 2008, "Algorithms for deterministic
incremental dependency parsing") join trees of the stack::

    push            b0 becomes the top of the stack
    join left(d)    s1 becomes the leftmost child of s0, with relation d
    join right(d)   s0 becomes the rightmost child of s1, with relation d

A sentence of n words takes 2 n - 1 of them and ends with one tree.  *Arc-eager* transitions (Nivre 2003)
join s0 and b0, which may have dependents on its left, and predict punctuation (Zhang, Wu, Yang & Li 2013)::

    shift(m)        b0 becomes the top of the stack
    right(m, d)     b0 becomes the rightmost child of s0, with relation d, and the top of the stack
    left(d)         s0, which has no head yet, becomes the leftmost child of b0, and leaves the stack
    reduce          s0, which has a head, leaves the stack

Shifts and right arcs predict the mark m behind b0: no mark (`NONE`), a pause in the `MIDDLE` of a sentence,
or a `FULL` stop.  A full stop ends the sentence, empties the stack, and is possible only if exactly one word
of the stack then has no head.  The last word must have a full stop.  So n words take 2 n transitions, however
they are divided into sentences.
"""

from pyropunct.inference.compiling import inner
from pyropunct.papers.transitions.cells import (
    BELOW,
    CELL,
    CLOSING,
    FRONT,
    HEAD,
    HEADLESS,
    NEXT,
    RELATION,
    TREE,
    TREE_ATOMS,
    UNDER,
    attach,
    distance,
)

NONE, MIDDLE, FULL = range(3)
"""The marks that can be predicted."""

PUSH, JOIN_LEFT, JOIN_RIGHT, SHIFT, RIGHT, LEFT, REDUCE = 0, 1, 2, 3, 6, 9, 10
"""The kinds of transitions.  A shift or a right arc that predicts a mark has this kind plus the mark."""

STACK, BUFFER = ("s0", "s1", "s2", "h", "h2"), ("b0", "b1", "b2", "b3")
"""The three topmost trees of the stack; the head of s0 if it has one already, and the head's own head; and
the next words."""

OTHERS = ("d10", "d20", "d0b", "d", "s0.d", "h.d")
"""The distances between the heads of s1 and s0, of s2 and s0, of s0 and b0 or the end, and of s0 and b0; and
the relations of s0 and h to their heads."""

ATOMS = (*(f"{item}.{atom}" for item in STACK + BUFFER for atom in TREE_ATOMS), *OTHERS)
"""All atoms of a state, in this order."""

_ANY, _INNER, _FULL = 0b111, 0b011, 0b100


@inner
def kinds_allowed(work, state, words):
    """The kinds of transitions that are possible in a state, as bits."""
    top, following = work.states[state, CELL], work.states[state, NEXT]
    if work.states[state, CLOSING]:
        return 1 << REDUCE
    kinds = 1 << PUSH if following <= words else 0
    if top == 0:
        return kinds | (_ANY if following < words else _FULL) << SHIFT
    if work.cells[top, BELOW] != 0:
        kinds |= 1 << JOIN_LEFT | 1 << JOIN_RIGHT
    kinds |= 1 << (REDUCE if work.cells[top, RELATION] else LEFT)
    if following < words:
        kinds |= _INNER << SHIFT | _INNER << RIGHT
    if work.cells[top, HEADLESS] == 1:
        kinds |= _FULL << RIGHT
    return kinds


@inner
def advance(work, state, kind, relation, new):
    """Write the state that follows a state by a transition, with its cell and its tree."""
    cells, states = work.cells, work.states
    top, front = states[state, CELL], states[state, FRONT]
    for column in (NEXT, FRONT, CLOSING):
        states[new, column] = states[state, column]
    states[new, CELL] = new
    if kind in (JOIN_LEFT, JOIN_RIGHT):
        second, left = cells[top, BELOW], kind == JOIN_LEFT
        head, child = (top, second) if left else (second, top)
        cells[new, TREE] = attach(work, cells[head, TREE], cells[child, TREE], relation, left, new)
        cells[new, BELOW] = cells[second, BELOW]
    elif kind >= LEFT:
        if kind == LEFT:
            states[new, FRONT] = attach(work, front, cells[top, TREE], relation, True, new)
        below = cells[top, BELOW]
        cells[new, TREE] = cells[top, UNDER]
        for column in (BELOW, UNDER, RELATION, HEADLESS):
            cells[new, column] = cells[below, column]
        if below == 0:
            states[new, CELL] = states[new, CLOSING] = 0
    else:
        arc = kind >= RIGHT
        cells[new, UNDER] = cells[top, TREE]
        if arc:
            cells[new, UNDER] = attach(work, cells[top, TREE], front, relation, False, new)
        cells[new, TREE], cells[new, BELOW], cells[new, RELATION] = front, top, relation
        cells[new, HEADLESS] = cells[top, HEADLESS] + (0 if arc else 1)
        states[new, NEXT] += 1
        states[new, FRONT] = states[new, NEXT] if states[new, NEXT] <= len(work.trees) - len(cells) else 0
        states[new, CLOSING] = 1 if kind in (SHIFT + FULL, RIGHT + FULL) else 0


@inner
def write_atoms(work, state):
    """Write the atoms of a state, in the order of `ATOMS`."""
    cells, trees, atoms, words = work.cells, work.trees, work.atoms, len(work.trees) - len(work.cells)
    first, front, following = work.states[state, CELL], work.states[state, FRONT], work.states[state, NEXT]
    second = cells[first, BELOW]
    third = cells[second, BELOW]
    head = second if cells[first, RELATION] else 0
    other = cells[head, BELOW] if cells[head, RELATION] else 0
    for item, cell in enumerate((first, second, third, head, other)):
        _copy_tree(work, item, cells[cell, TREE])
    _copy_tree(work, len(STACK), front)
    for place in range(1, len(BUFFER)):
        _copy_tree(work, len(STACK) + place, following + place if following + place <= words else 0)
    word, others = trees[cells[first, TREE], HEAD], len(ATOMS) - len(OTHERS)
    atoms[others] = distance(trees[cells[second, TREE], HEAD], word)
    atoms[others + 1] = distance(trees[cells[third, TREE], HEAD], word)
    atoms[others + 2] = distance(word, following)
    atoms[others + 3] = distance(word, trees[front, HEAD]) if front else 0
    atoms[others + 4], atoms[others + 5] = cells[first, RELATION], cells[head, RELATION]


@inner
def _copy_tree(work, item, tree):
    """Copy the atoms of a tree to those of an item of the state."""
    for column in range(len(TREE_ATOMS)):
        work.atoms[item * len(TREE_ATOMS) + column] = work.trees[tree, column]
