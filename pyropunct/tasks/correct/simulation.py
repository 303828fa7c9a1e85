"""Simulates errors of learners in right sentences that have trees."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pyropunct.nets.parser import Parser
from pyropunct.tasks.correct.learner_errors import ErrorRates, Option, String, occasions
from pyropunct.text.marks import Surface
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree


class WrongSurface(NamedTuple):
    """Wrong punctuation of the slots 0..n, and the errors in it."""

    surface: tuple[String, ...]
    errors: tuple[Option, ...]


def make_errors(
    tree: Tree, surface: Surface, rates: ErrorRates, generator: np.random.Generator
) -> WrongSurface:
    """Punctuate a sentence as a learner might, given its right punctuation."""
    wrong, errors = [tuple(slot) for slot in surface], []
    for occasion in occasions(tree, surface, rates):
        chance = generator.random()
        for error in occasion:
            chance -= error.rate
            if chance < 0:
                errors.append(error)
                for slot, string in error.changes.items():
                    wrong[slot] = string
                break
    return WrongSurface(tuple(wrong), tuple(errors))


def wrong_surfaces(
    sentences: Iterable[Sentence], rates: ErrorRates | None = None, seed: int = 0
) -> Iterator[WrongSurface]:
    """Wrong punctuation for each sentence of a treebank; ``rates`` are ``ErrorRates()`` by default."""
    rates = ErrorRates() if rates is None else rates
    generator = np.random.default_rng(seed)
    for sentence in sentences:
        yield make_errors(sentence.tree, sentence.surface, rates, generator)


def wrong_copies(
    sentences: Iterable[Sentence],
    rates: ErrorRates | None = None,
    copies: int = 1,
    seed: int = 0,
    parser: Parser | None = None,
) -> list[tuple[Sentence, WrongSurface]]:
    """Sentences with several wrong punctuations; copy k has seed + 2 k, and seed + 1 is for evaluation.

    A parser draws the trees of every second copy.  Trained only on right trees, a corrector takes right
    punctuation of a wrong tree for an error.  Draws resemble the parser's trees of new sentences more than
    its best trees of training sentences do.
    """
    sentences = parsed = tuple(sentences)
    if parser is not None and copies > 1:
        parses = parser.parse([right.tree.forms for right in sentences], trees=2)
        both = zip(sentences, parses, strict=True)
        parsed = tuple(replace(right, tree=trees[-1].tree) for right, trees in both)
    return [
        pair
        for copy in range(copies)
        for pair in zip(
            parsed if copy % 2 else sentences,
            wrong_surfaces(sentences, rates, seed + 2 * copy),
            strict=True,
        )
    ]
