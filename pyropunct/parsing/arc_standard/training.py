"""Training: from a treebank to a parser."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.parsing.arc_standard.exploring import BEST, BEST_RIGHT, FOLLOWED, explore
from pyropunct.parsing.arc_standard.oracle import transitions_to
from pyropunct.parsing.arc_standard.parser import (
    ArcStandardParser,
    ArcStandardRecipe,
    Oracle,
    Transition,
    check_actions,
    encoded,
    moves_of,
    relation_numbers,
    templates_of,
)
from pyropunct.parsing.arc_standard.perceptron import Weights, averaged, no_weights, with_room
from pyropunct.parsing.arc_standard.search import learn, search
from pyropunct.parsing.arc_standard.transitions import SHIFT
from pyropunct.parsing.arc_standard.treatments import MarkedSentence, ProjectiveTree, treated, tree_of

Array = NDArray[Any]

ROOT = "root"
"""The relation of the root if training shows none."""

EXPLORED = 0.9
"""The share of steps at which a dynamic oracle's training goes on with the best action, right or not, from
the second iteration on (Goldberg & Nivre 2012)."""

Watch = Callable[[int, int], None]
"""Gets how many iterations are done, and in how many sentences of the last one something was wrong."""


class _Example(NamedTuple):
    """A sentence to learn from.

    :ivar sentence: as compiled code reads it.
    :ivar gold: the numbers of the right actions.
    :ivar heads: (n + 1,) the right heads, after a zero.
    :ivar relations: (n + 1,) the numbers of their relations.
    """

    sentence: Array
    gold: Array
    heads: Array
    relations: Array


class _Change(NamedTuple):
    """A change of weights: see `pyropunct.parsing.arc_standard.search.learn`."""

    followed: Array
    actions: Array
    first: int
    by: int


def train_arc_standard(
    sentences: Iterable[MarkedSentence],
    recipe: ArcStandardRecipe | None = None,
    *,
    watch: Watch = lambda done, wrong: None,
) -> ArcStandardParser:
    """Train a parser on a treebank, whose trees are made projective.

    :param sentences: the treebank; sentences without words are left out.
    :param recipe: its settings.
    :param watch: called after each iteration.
    :raises ValueError: if there is no sentence of two words or more, or there are thousands of relations.
    """
    recipe = recipe or ArcStandardRecipe()
    kept = [(one, treated(one, recipe.treatment)) for one in sentences]
    kept = [(one, tokens) for one, tokens in kept if tokens.tokens]
    trees = [tree_of(one, tokens.tokens) for one, tokens in kept]
    goals = [transitions_to(tree.heads, tree.relations) for tree in trees]
    actions = ((SHIFT, ""), *sorted({step for goal in goals for step in goal if step[0] != SHIFT}))
    roots = Counter(tree.relations[tree.heads.index(0)] for tree in trees)
    root = max(roots, key=roots.__getitem__, default=ROOT)
    check_actions(actions, root)
    matrices = [encoded(tokens) for _, tokens in kept]
    weights, updates = _learned(_examples(matrices, trees, goals, actions), moves_of(actions), recipe, watch)
    report = {
        "sentences": len(trees),
        "lifted_arcs": sum(tree.lifted for tree in trees),
        "lifted_sentences": sum(tree.lifted > 0 for tree in trees),
        "updates": updates,
    }
    rows = averaged(weights, recipe.iterations * len(trees))
    return ArcStandardParser(recipe, actions, root, rows, report)


def _examples(
    matrices: Iterable[Array],
    trees: Iterable[ProjectiveTree],
    goals: Iterable[Sequence[Transition]],
    actions: Sequence[Transition],
) -> list[_Example]:
    numbers = {action: number for number, action in enumerate(actions)}
    relations = relation_numbers(actions)
    return [
        _Example(
            matrix,
            np.array([numbers[step] for step in goal]),
            np.array([0, *tree.heads]),
            np.array([0, *(relations.get(relation, 0) for relation in tree.relations)]),
        )
        for matrix, tree, goal in zip(matrices, trees, goals, strict=True)
    ]


def _learned(
    examples: Sequence[_Example], moves: Array, recipe: ArcStandardRecipe, watch: Watch
) -> tuple[Weights, list[int]]:
    """The weights after all iterations, and how many sentences changed them in each."""
    weights, table, random = no_weights(), templates_of(recipe.treatment), np.random.default_rng(recipe.seed)
    updates: list[int] = []
    number = 0
    for iteration in range(recipe.iterations):
        updates.append(0)
        if recipe.oracle is Oracle.DYNAMIC:
            changes = partial(_explored, explored=EXPLORED if iteration else 0.0, random=random)
        else:
            changes = partial(_searched, beam=recipe.beam)
        for place in random.permutation(len(examples)):
            example = examples[place]
            found = changes(example, moves, table, weights)
            for followed, actions, first, by in found:
                while first < len(actions):
                    first = learn(
                        example.sentence, moves, table, weights, followed, actions, first, by, number
                    )
                    if first < len(actions):
                        weights = with_room(weights, len(table), len(moves))
            updates[-1] += bool(found)
            number += 1
        watch(iteration + 1, updates[-1])
    return weights, updates


def _searched(example: _Example, moves: Array, table: Array, weights: Weights, *, beam: int) -> list[_Change]:
    """What changes when the right actions have left the beam, or are not the best in the end."""
    found = search(example.sentence, moves, table, weights, beam, example.gold)
    right = example.gold[: len(found)]
    differences = np.flatnonzero(found != right)
    if not len(differences):
        return []
    first = int(differences[0])  # what comes before is the same in both
    return [_Change(right, right, first, 1), _Change(found, found, first, -1)]


def _explored(
    example: _Example,
    moves: Array,
    table: Array,
    weights: Weights,
    *,
    explored: float,
    random: np.random.Generator,
) -> list[_Change]:
    """What changes where the best action on one way through a sentence is not right."""
    follows_best = random.random(len(example.gold)) < explored
    found = explore(example.sentence, moves, table, weights, example.heads, example.relations, follows_best)
    wrong = found[BEST] != found[BEST_RIGHT]
    if not wrong.any():
        return []
    return [
        _Change(found[FOLLOWED], np.where(wrong, found[row], -1), 0, by)
        for row, by in ((BEST_RIGHT, 1), (BEST, -1))
    ]
