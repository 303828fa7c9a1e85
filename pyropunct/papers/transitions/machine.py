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
from pyropunct.papers.transitions.cells import HEAD, TREE_ATOMS, attach, distance

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
    here = work.states[state]
    top, more = work.cells[here["cell"]], here["next"] < words
    if here["closing"]:
        return 1 << REDUCE
    kinds = 1 << PUSH if here["next"] <= words else 0
    if here["cell"] == 0:
        return kinds | (_ANY if more else _FULL) << SHIFT
    if top["below"] != 0:
        kinds |= 1 << JOIN_LEFT | 1 << JOIN_RIGHT
    kinds |= 1 << (REDUCE if top["relation"] else LEFT)
    if more:
        kinds |= _INNER << SHIFT | _INNER << RIGHT
    if top["headless"] == 1:
        kinds |= _FULL << RIGHT
    return kinds


@inner
def advance(work, state, kind, relation, new):
    """Write the state that follows a state by a transition, with its cell and its tree."""
    cells, states = work.cells, work.states
    states[new] = states[state]
    after, front, number = states[new], states[state]["front"], states[state]["cell"]
    top, below, cell = cells[number], cells[number]["below"], cells[new]
    after["cell"] = new
    if kind in (JOIN_LEFT, JOIN_RIGHT):
        left, second = kind == JOIN_LEFT, cells[below]["tree"]
        head, child = (top["tree"], second) if left else (second, top["tree"])
        cell["tree"] = attach(work, head, child, relation, left, new)
        cell["below"] = cells[below]["below"]
    elif kind >= LEFT:
        if kind == LEFT:
            after["front"] = attach(work, front, top["tree"], relation, True, new)
        cells[new] = cells[below]
        cell["tree"] = top["under"]
        if below == 0:
            after["cell"] = after["closing"] = 0
    else:
        arc = kind >= RIGHT
        cell["under"] = attach(work, top["tree"], front, relation, False, new) if arc else top["tree"]
        cell["tree"], cell["below"], cell["relation"] = front, number, relation
        cell["headless"] = top["headless"] + (0 if arc else 1)
        after["next"] += 1
        after["front"] = after["next"] if after["next"] <= len(work.trees) - len(cells) else 0
        after["closing"] = 1 if kind in (SHIFT + FULL, RIGHT + FULL) else 0


@inner
def write_atoms(work, state):
    """Write the atoms of a state, in the order of `ATOMS`."""
    cells, trees, atoms, words = work.cells, work.trees, work.atoms, len(work.trees) - len(work.cells)
    here = work.states[state]
    first, front, following = here["cell"], here["front"], here["next"]
    second = cells[first]["below"]
    third = cells[second]["below"]
    head = second if cells[first]["relation"] else 0
    other = cells[head]["below"] if cells[head]["relation"] else 0
    for item, cell in enumerate((first, second, third, head, other)):
        _copy_tree(work, item, cells[cell]["tree"])
    _copy_tree(work, len(STACK), front)
    for place in range(1, len(BUFFER)):
        _copy_tree(work, len(STACK) + place, following + place if following + place <= words else 0)
    word, others = trees[cells[first]["tree"], HEAD], len(ATOMS) - len(OTHERS)
    atoms[others] = distance(trees[cells[second]["tree"], HEAD], word)
    atoms[others + 1] = distance(trees[cells[third]["tree"], HEAD], word)
    atoms[others + 2] = distance(word, following)
    atoms[others + 3] = distance(word, trees[front, HEAD]) if front else 0
    atoms[others + 4], atoms[others + 5] = cells[first]["relation"], cells[head]["relation"]


@inner
def _copy_tree(work, item, tree):
    """Copy the atoms of a tree to those of an item of the state."""
    for column in range(len(TREE_ATOMS)):
        work.atoms[item * len(TREE_ATOMS) + column] = work.trees[tree, column]
