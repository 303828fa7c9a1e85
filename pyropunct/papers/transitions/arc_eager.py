"""Arc-eager transitions (Nivre 2003) that predict punctuation (Zhang, Wu, Yang & Li 2013), compiled.

A configuration is a stack of words, each with the tree of its dependents so far, and a buffer of waiting
words, whose first word, b0, may have dependents on its left::

    shift(m)        b0 becomes the top of the stack, s0
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
    UNDER,
    atoms_of,
    attach,
    copy_tree,
    copy_words,
    distance,
    head_of,
)

NONE, MIDDLE, FULL = range(3)
"""The marks that can be predicted."""

KINDS = range(8)
SHIFT, RIGHT, LEFT, REDUCE = 0, 3, 6, 7
"""The kinds of transitions.  A shift or a right arc that predicts a mark has this kind plus the mark."""

ITEMS, OTHERS = ("s0", "b0", "h", "h2", "b1", "b2"), ("s0.d", "h.d", "d")
"""The top of the stack, the next word, the head of s0 if it has one already, the head's own head, and the two
words after b0; and the relations of s0 and h to their heads, and the distance between s0 and b0."""

ATOMS = atoms_of(ITEMS, OTHERS)
"""All atoms of a state, in this order."""

_ANY, _INNER, _FULL = 0b111, 0b011, 0b100


@inner
def kinds_allowed(work, state, words):
    """The kinds of transitions that are possible in a state, as bits."""
    top, following = work.states[state, CELL], work.states[state, NEXT]
    if work.states[state, CLOSING]:
        return 1 << REDUCE
    if top == 0:
        return (_ANY if following < words else _FULL) << SHIFT
    kinds = 1 << (REDUCE if work.cells[top, RELATION] else LEFT)
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
    if kind == REDUCE:
        _pop(work, top, new)
        if states[new, CELL] == 0:
            states[new, CLOSING] = 0
    elif kind == LEFT:
        states[new, FRONT] = attach(work, front, cells[top, TREE], relation, True, new)
        _pop(work, top, new)
    else:
        arc = kind >= RIGHT
        under = attach(work, cells[top, TREE], front, relation, False, new) if arc else cells[top, TREE]
        cells[new, TREE], cells[new, BELOW], cells[new, UNDER] = front, top, under
        cells[new, RELATION] = relation
        cells[new, HEADLESS] = cells[top, HEADLESS] + (0 if arc else 1)
        following = states[state, NEXT] + 1
        states[new, CELL], states[new, NEXT] = new, following
        states[new, FRONT] = following if following <= len(work.trees) - len(cells) else 0
        states[new, CLOSING] = 1 if kind % (FULL + 1) == FULL else 0


@inner
def _pop(work, top, new):
    """Take the topmost cell off the stack of a new state."""
    cells, below = work.cells, work.cells[top, BELOW]
    if below == 0:
        work.states[new, CELL] = 0
        return
    work.states[new, CELL] = new
    cells[new, TREE] = cells[top, UNDER]
    for column in (BELOW, UNDER, RELATION, HEADLESS):
        cells[new, column] = cells[below, column]


@inner
def write_atoms(work, state):
    """Write the atoms of a state, in the order of `ATOMS`."""
    cells, top, front = work.cells, work.states[state, CELL], work.states[state, FRONT]
    head = cells[top, BELOW] if cells[top, RELATION] else 0
    other = cells[head, BELOW] if cells[head, RELATION] else 0
    for item, tree in enumerate((cells[top, TREE], front, cells[head, TREE], cells[other, TREE])):
        copy_tree(work, item, tree)
    copy_words(work, 4, work.states[state, NEXT] + 1, 2)
    others = len(ATOMS) - len(OTHERS)
    work.atoms[others], work.atoms[others + 1] = cells[top, RELATION], cells[head, RELATION]
    work.atoms[others + 2] = distance(head_of(work, top), work.trees[front, HEAD]) if front else 0
