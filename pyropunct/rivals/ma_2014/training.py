"""Training: from a treebank to a parser."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.compare.progress import Advance
from pyropunct.rivals.ma_2014.exploring import BEST, BEST_RIGHT, FOLLOWED, explore
from pyropunct.rivals.ma_2014.oracle import transitions_to
from pyropunct.rivals.ma_2014.parser import ArcStandardParser, ArcStandardRecipe, Oracle, encoded
from pyropunct.rivals.ma_2014.treatments import MarkedSentence, ProjectiveTree, treated, tree_of
from pyropunct.rivals.transitions.arc_standard import SHIFT
from pyropunct.rivals.transitions.learning import Change, learned, searched
from pyropunct.rivals.transitions.parser import Action, Actions, relation_numbers
from pyropunct.rivals.transitions.perceptron import Weights

Array = NDArray[Any]

ROOT = "root"
"""The relation of the root if training shows none."""

EXPLORED = 0.9
"""The share of steps at which a dynamic oracle's training goes on with the best action, right or not, from
the second iteration on (Goldberg & Nivre 2012)."""


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


def train_arc_standard(
    sentences: Iterable[MarkedSentence],
    recipe: ArcStandardRecipe | None = None,
    *,
    advance: Advance = lambda done: None,
) -> ArcStandardParser:
    """Train a parser on a treebank, whose trees are made projective.

    :param sentences: the treebank; sentences without words are left out.
    :param recipe: the settings of training.
    :param advance: called after each iteration with 1.
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
    ArcStandardParser.check(actions)
    known, random = ArcStandardParser.encoded_actions(recipe, actions), np.random.default_rng(recipe.seed)

    def changes(example: _Example, weights: Weights, iteration: int) -> list[Change]:
        if recipe.oracle is Oracle.STATIC:
            return searched(known, example.sentence, example.gold, weights, recipe.beam)
        follows_best = random.random(len(example.gold)) < (EXPLORED if iteration else 0.0)
        return _explored(known, example, weights, follows_best)

    examples = list(_examples([encoded(tokens) for _, tokens in kept], trees, goals, actions))
    rows, updates = learned(known, examples, changes, recipe.iterations, random, advance)
    report = {
        "sentences": len(trees),
        "lifted_arcs": sum(tree.lifted for tree in trees),
        "lifted_sentences": sum(tree.lifted > 0 for tree in trees),
        "updates": updates,
    }
    return ArcStandardParser(recipe, actions, root, rows, report)


def _examples(
    matrices: Iterable[Array],
    trees: Iterable[ProjectiveTree],
    goals: Iterable[Sequence[Action]],
    actions: Sequence[Action],
) -> Iterator[_Example]:
    numbers = {action: number for number, action in enumerate(actions)}
    relations = relation_numbers(actions)
    for matrix, tree, goal in zip(matrices, trees, goals, strict=True):
        steps = np.array([numbers[step] for step in goal])
        own = [relations.get(relation, 0) for relation in tree.relations]
        yield _Example(matrix, steps, np.array([0, *tree.heads]), np.array([0, *own]))


def _explored(known: Actions, example: _Example, weights: Weights, follows_best: Array) -> list[Change]:
    """The changes where the best action on a way through a sentence is wrong."""
    sentence, _, heads, relations = example
    found = explore(sentence, known.moves, known.table, weights, heads, relations, follows_best)
    wrong = found[BEST] != found[BEST_RIGHT]
    if not wrong.any():
        return []
    return [
        Change(sentence, found[FOLLOWED], np.where(wrong, found[row], -1), 0, by)
        for row, by in ((BEST_RIGHT, 1), (BEST, -1))
    ]
