"""Transitions of either system, compiled: both have the same search and learning."""

from pyropunct.inference.compiling import inner
from pyropunct.rivals.transitions import arc_eager, arc_standard
from pyropunct.rivals.transitions.cells import workspace_of

ARC_STANDARD, ARC_EAGER = range(2)
"""The numbers of the systems."""

_ATOMS = max(len(arc_standard.ATOMS), len(arc_eager.ATOMS))


@inner
def transitions_of(system, words):
    """The number of transitions for so many words."""
    return 2 * words - 1 if system == ARC_STANDARD else 2 * words


@inner
def room_for(sentence, states, templates, numbers):
    """Room for a number of states and for the first state, which is written."""
    return workspace_of(sentence, states, _ATOMS, templates, numbers)


@inner
def kinds_allowed(system, work, state, words):
    """The possible kinds of transitions in a state, as bits."""
    if system == ARC_STANDARD:
        return arc_standard.kinds_allowed(work, state, words)
    return arc_eager.kinds_allowed(work, state, words)


@inner
def advance(system, work, state, kind, relation, new):
    """Write the state that follows a state by a transition, with its cell and its tree."""
    if system == ARC_STANDARD:
        arc_standard.advance(work, state, kind, relation, new)
    else:
        arc_eager.advance(work, state, kind, relation, new)


@inner
def write_atoms(system, work, sentence, state):
    """Write the atoms of a state."""
    if system == ARC_STANDARD:
        arc_standard.write_atoms(work, sentence, state)
    else:
        arc_eager.write_atoms(work, sentence, state)
