"""Training: from a treebank to a parser."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyropunct.compare.progress import Advance
from pyropunct.rivals.ma_2014.oracle import transitions_to
from pyropunct.rivals.ma_2014.parser import ArcStandardParser, ArcStandardRecipe, encoded
from pyropunct.rivals.ma_2014.treatments import MarkedSentence, treated, tree_of
from pyropunct.rivals.transitions.arc_standard import SHIFT
from pyropunct.rivals.transitions.learning import Change, learned, searched
from pyropunct.rivals.transitions.perceptron import Weights

Array = NDArray[Any]

ROOT = "root"
"""The relation of the root if training shows none."""


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

    def changes(example: tuple[Array, Array], weights: Weights) -> list[Change]:
        return searched(known, *example, weights, recipe.beam)

    numbers = {action: number for number, action in enumerate(actions)}
    examples = [
        (encoded(tokens), np.array([numbers[step] for step in goal]))
        for (_, tokens), goal in zip(kept, goals, strict=True)
    ]
    rows, updates = learned(known, examples, changes, recipe.iterations, random, advance)
    report = {
        "sentences": len(trees),
        "lifted_arcs": sum(tree.lifted for tree in trees),
        "lifted_sentences": sum(tree.lifted > 0 for tree in trees),
        "updates": updates,
    }
    return ArcStandardParser(recipe, actions, root, rows, report)
