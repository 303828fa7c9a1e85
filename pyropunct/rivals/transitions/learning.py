"""Learning of weights, from one example after the other."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from pyropunct.compare.progress import Advance
from pyropunct.rivals.transitions.parser import Actions
from pyropunct.rivals.transitions.perceptron import Rows, Weights, averaged, no_weights, with_room
from pyropunct.rivals.transitions.search import learn, search

Array = NDArray[Any]

Example = TypeVar("Example")


class Change(NamedTuple):
    """A change of weights: see `pyropunct.rivals.transitions.search.learn`."""

    sentence: Array
    actions: Array
    first: int
    by: int


Changes = Callable[[Example, Weights], list[Change]]
"""Computes the changes of weights after an example."""


def searched(known: Actions, sentence: Array, gold: Array, weights: Weights, beam: int) -> list[Change]:
    """The changes after a search in which the right actions left the beam, or lost in the end.

    :param gold: the numbers of the right actions.
    """
    system, moves, table = known
    found = search(system, sentence, moves, table, weights, beam, gold)
    right = gold[: len(found)]
    differences = np.flatnonzero(found != right)
    if not len(differences):
        return []
    first = int(differences[0])  # both are equal before
    return [Change(sentence, right, first, 1), Change(sentence, found, first, -1)]


def learned(
    known: Actions,
    examples: Sequence[Example],
    changes: Changes[Example],
    iterations: int,
    random: np.random.Generator,
    advance: Advance = lambda done: None,
) -> tuple[Rows, list[int]]:
    """The averaged weights after all iterations, and the number of examples that changed them in each.

    :param known: the actions that have weights.
    :param iterations: how often each example is seen.
    :param random: orders the examples, anew in each iteration.
    :param advance: called after each iteration with 1.
    """
    weights, number = no_weights(), 0
    updates: list[int] = []
    for _ in range(iterations):
        updates.append(0)
        for place in random.permutation(len(examples)):
            found = changes(examples[place], weights)
            for change in found:
                weights = _changed(weights, known, change, number)
            updates[-1] += bool(found)
            number += 1
        advance(1)
    return averaged(weights, number), updates


def _changed(weights: Weights, known: Actions, change: Change, number: int) -> Weights:
    system, moves, table = known
    sentence, actions, first, by = change
    while first < len(actions):
        first = learn(system, sentence, moves, table, weights, actions, first, by, number)
        if first < len(actions):
            weights = with_room(weights, 2 * len(table), known.weighted)
    return weights
