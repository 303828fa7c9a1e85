"""Training: from streams to a parser."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.compare.experiment import Advance
from pyropunct.rivals.transitions.arc_eager import LEFT
from pyropunct.rivals.transitions.parser import Action, Change, learned, searched
from pyropunct.rivals.transitions.perceptron import Weights
from pyropunct.rivals.zhang_2013.parser import (
    NEEDED,
    ArcEagerParser,
    ArcEagerRecipe,
    Marks,
    encoded,
    transitions_to,
)
from pyropunct.rivals.zhang_2013.streams import Stream

Array = NDArray[Any]

UNSPECIFIED = "dep"
"""The relation of left arcs if training shows none (Universal Dependencies)."""


class _Rest(NamedTuple):
    """A sentence of a stream, and all sentences behind it.

    :ivar words: as compiled code reads them.
    :ivar gold: the numbers of the right actions.
    :ivar own: how many of these actions are those of the first sentence.
    """

    words: Array
    gold: Array
    own: int


def train_arc_eager(
    some: Sequence[Stream],
    recipe: ArcEagerRecipe | None = None,
    *,
    found: Sequence[Marks] | None = None,
    advance: Advance = lambda done: None,
) -> ArcEagerParser:
    """Train a parser on streams.

    Where the right transitions leave the beam, the rest of a sentence is not learned from; but since with a
    full stop all begins anew, the search goes on with the next sentence of the stream.

    :param recipe: the settings of training.
    :param found: the marks of each stream that another system predicted, if the parser reads them.
    :param advance: called after each iteration with 1.
    :raises ValueError: if there is no sentence, or there are thousands of relations.
    """
    recipe = recipe or ArcEagerRecipe(reads_marks=found is not None)
    if not any(one.sizes for one in some):
        raise ValueError("there is no sentence to learn from")
    goals = [list(_goals(one)) for one in some]
    actions = _actions(step for goal in goals for steps in goal for step in steps)
    roots = Counter(
        relation for one in some for head, relation in zip(one.heads, one.relations, strict=True) if not head
    )
    given = [()] * len(some) if found is None else found
    numbers = {action: number for number, action in enumerate(actions)}
    examples = [
        list(_rests(one, marks, [[numbers[step] for step in steps] for steps in goal]))
        for one, marks, goal in zip(some, given, goals, strict=True)
    ]
    known, random = ArcEagerParser.encoded_actions(recipe, actions), np.random.default_rng(recipe.seed)

    def changes(example: Sequence[_Rest], weights: Weights) -> list[Change]:
        """The changes by early update, sentence by sentence."""
        found: list[Change] = []
        searched_through = 0  # so many of the actions from here on
        for rest in example:
            if searched_through <= 0:
                new = searched(known, rest.words, rest.gold, weights, recipe.beam)
                searched_through = len(new[0].actions) if new else len(rest.gold)
                found += new
            searched_through -= rest.own
        return found

    rows, updates = learned(known, examples, changes, recipe.iterations, random, advance)
    report = {
        "streams": len(some),
        "sentences": sum(len(one.sizes) for one in some),
        "lifted_arcs": sum(one.lifted for one in some),
        "updates": updates,
    }
    return ArcEagerParser(recipe, actions, max(roots, key=roots.__getitem__), rows, report)


def _goals(stream: Stream) -> Iterator[list[Action]]:
    """For each sentence the transitions that lead to it."""
    first = 0
    for size in stream.sizes:
        own = slice(first, first + size)
        heads = [head and head - first for head in stream.heads[own]]
        yield transitions_to(heads, stream.relations[own], stream.targets[own])
        first += size


def _rests(stream: Stream, found: Marks, goals: Sequence[Sequence[int]]) -> Iterator[_Rest]:
    """The rest of a stream from each sentence on."""
    first, gold = 0, np.array([step for steps in goals for step in steps])
    for size, steps in zip(stream.sizes, goals, strict=True):
        yield _Rest(encoded(stream, found, first), gold[2 * first :], len(steps))
        first += size


def _actions(steps: Iterable[Action]) -> tuple[Action, ...]:
    """The actions of transitions, with the actions that are needed to parse every stream.

    :raises ValueError: if there are too many.
    """
    seen = {*steps, *((kind, "") for kind in NEEDED if kind != LEFT)}
    if all(kind != LEFT for kind, _ in seen):
        seen.add((LEFT, UNSPECIFIED))
    actions = tuple(sorted(seen))
    ArcEagerParser.check(actions)
    return actions
