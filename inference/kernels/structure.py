"""What the inside algorithm is given: trees, automata and punctemes, without and with their weights."""

from typing import Any, Generic, NamedTuple, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from pyropunct.inference.compiling import spliced
from pyropunct.inference.ragged import starts_of

Array = NDArray[Any]
Numbers = TypeVar("Numbers")
"""A column of numbers: an array, or a tensor."""

# The two sides of a constituent, or the direction of a step.  NumPy's booleans, as for semirings.
LEFT_SIDE, RIGHT_SIDE = np.bool_(True), np.bool_(False)


class Structure(NamedTuple):
    """Everything about a problem that has no weight: trees, surface strings, inventories.

    The fields up to ``right_child`` are those of `pyropunct.inference.forest.Forest`, those from
    ``state_start`` to ``num_tokens`` those of `pyropunct.inference.machines.automata.Automata`; then come
    those of the `pyropunct.inference.inventory.Inventory`, its tries by side.

    :ivar slot_automaton: (S,) which automaton belongs to each slot.
    :ivar choice_start: (N + 1,) where each node's part of `Weights.pair` starts.
    """

    node_start: Array
    slot_start: Array
    root: Array
    bottom_up: Array
    left_slot: Array
    word_slot: Array
    right_slot: Array
    left_child_start: Array
    left_child: Array
    right_child_start: Array
    right_child: Array
    relation: Array
    slot_automaton: Array
    state_start: Array
    arc_start: Array
    source: Array
    target: Array
    num_tokens: int
    start_token: int
    end_token: int
    left_start: Array
    left_token: Array
    left_parent: Array
    left_of_pair: Array
    right_start: Array
    right_token: Array
    right_parent: Array
    right_of_pair: Array
    pair_start: Array
    empty_left: Array
    choice_start: Array


PLACES = np.dtype(
    (
        np.record,  # whose fields are attributes without numba too
        [(name, np.int64) for name, kind in get_type_hints(Structure).items() if kind is not int],
    )
)
"""Where each array of a `Structure` starts in a `FlatStructure`."""


class FlatStructure(NamedTuple):
    """A `Structure` with all its arrays in one, ``numbers``; ``at`` has the `PLACES` where these start.

    Numba passes each array as seven numbers: thirty arrays take twice as long to compile.
    """

    numbers: Array
    at: np.record
    num_tokens: int
    start_token: int
    end_token: int


def flattened(structure: Structure) -> FlatStructure:
    """A structure as the kernels read it."""
    arrays = [getattr(structure, name) for name in PLACES.names or ()]
    at = np.array([tuple(starts_of([len(array) for array in arrays])[:-1])], PLACES)[0]
    return FlatStructure(
        np.concatenate(arrays),
        at,
        structure.num_tokens,
        structure.start_token,
        structure.end_token,
    )


class Weights(NamedTuple, Generic[Numbers]):
    """The numbers of a problem, all real or all complex; also the shape of their adjoints.

    :ivar pair: p(l, r | w), for each node in turn one number for each pair of its relation.
    :ivar arc: the weights of the arcs of all automata: the elements of the matrices M_i.
    :ivar initial: the vectors lambda_i; ``final``, the vectors rho_i.
    """

    pair: Numbers
    arc: Numbers
    initial: Numbers
    final: Numbers


@spliced
def opposite(side):
    """The other side."""
    return not side


@spliced
def run_of(structure, start, number):
    """The start of a run and of the next; ``start`` is one of the `PLACES` of starts."""
    return structure.numbers[start + number], structure.numbers[start + number + 1]


@spliced
def length_of(structure, start, number):
    """The length of a run, likewise."""
    return structure.numbers[start + number + 1] - structure.numbers[start + number]


@spliced
def states_of(structure, slot):
    """How many states the automaton of a slot has: N_i."""
    automaton = structure.numbers[structure.at.slot_automaton + slot]
    return length_of(structure, structure.at.state_start, automaton)


@spliced
def ends_of(structure, weights, slot, side):
    """The weights at one end of a slot, (N_i,): initial ones at its left, final ones at its right."""
    ends = weights.initial if side == LEFT_SIDE else weights.final
    automaton = structure.numbers[structure.at.slot_automaton + slot]
    first = structure.numbers[structure.at.state_start + automaton]
    return ends[first : first + states_of(structure, slot)]


@spliced
def arcs_of(structure, arc, slot, token, toward):
    """The arcs of a token in a slot: states that a step reads, states that it writes, and weights.

    A step leftward multiplies a column by M_i(token): it reads at the target of each arc and writes at its
    source.  A step rightward multiplies a row.  All three are slices, whose loops compile to better code.
    """
    block = structure.numbers[structure.at.slot_automaton + slot] * structure.num_tokens + token
    begin, end = run_of(structure, structure.at.arc_start, block)
    source, target = structure.at.source, structure.at.target
    sources = structure.numbers[source + begin : source + end]
    targets = structure.numbers[target + begin : target + end]
    if toward == LEFT_SIDE:
        return targets, sources, arc[begin:end]
    return sources, targets, arc[begin:end]


@spliced
def num_children(structure, node, side):
    """How many children a node has on one side."""
    start = structure.at.left_child_start if side == LEFT_SIDE else structure.at.right_child_start
    return length_of(structure, start, node)


@spliced
def child_of(structure, node, side, number):
    """A child of a node on one side: number 0 is next to the word."""
    numbers, at = structure.numbers, structure.at
    if side == LEFT_SIDE:
        return numbers[at.left_child + numbers[at.left_child_start + node + 1] - 1 - number]
    return numbers[at.right_child + numbers[at.right_child_start + node] + number]


@spliced
def word_slot_of(structure, node, side):
    """The slot beside a node's word: j - 1 at its left, j at its right."""
    return structure.numbers[structure.at.word_slot + node] - (1 if side == LEFT_SIDE else 0)


@spliced
def wall_of(structure, tree, side):
    """Where a tree ends on one side: the slot there, and the token outside, -1 for none."""
    if side == LEFT_SIDE:
        return structure.numbers[structure.at.slot_start + tree], structure.start_token
    return structure.numbers[structure.at.slot_start + tree + 1] - 1, structure.end_token
