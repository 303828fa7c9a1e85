"""Trees of training sentences by parsers that have not seen them.

A parser does much better on its own training sentences than elsewhere.  To parse these, k-fold jackknifing
deals them out to k folds, and parses each fold by a parser trained on the others: see `jackknifed`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import TypeVar

import torch

from pyropunct.nets.biaffine import ParserRecipe
from pyropunct.nets.parser import Parser, WeightedTree, as_read, train_parser
from pyropunct.nets.pretrained import Pretrained, with_cache
from pyropunct.nets.trainer import AnyCheckpoint, Progress
from pyropunct.treebank.sentence import Sentence

Item = TypeVar("Item")


FOLDS = 4
"""The usual number of folds."""


def folds_of(sentences: Sequence[Item], folds: int = FOLDS) -> list[Sequence[Item]]:
    """Every k-th sentence for each of k folds; raises `ValueError` for fewer than 2 folds or sentences."""
    number = min(folds, len(sentences))
    if number < 2:
        raise ValueError(
            f"{len(sentences)} sentences in {folds} folds: parsing each fold by what is learned "
            "from the others takes two of both"
        )
    return [sentences[fold::number] for fold in range(number)]


def others_of(parts: Sequence[Sequence[Item]], fold: int) -> tuple[Item, ...]:
    """The sentences of all folds but one."""
    return tuple(chain.from_iterable(part for number, part in enumerate(parts) if number != fold))


def in_order(parts: Sequence[Sequence[Item]]) -> list[Item]:
    """The inverse of `folds_of`: the items of all folds in their original order."""
    number = len(parts)
    return [parts[place % number][place // number] for place in range(sum(map(len, parts)))]


def parse_folds(
    parts: Sequence[Sequence[Sentence]], parsers: Iterable[Parser], trees: int = 1, *, marks: bool = False
) -> list[list[WeightedTree]]:
    """The trees of all sentences, in their original order; each fold is parsed by its own parser.

    :param marks: whether the parsers read marks too: see `pyropunct.nets.parser.train_parser`.
    """
    pairs = zip(parts, parsers, strict=True)
    return in_order(
        [parser.parse([as_read(one, marks=marks) for one in part], trees) for part, parser in pairs]
    )


def fold_recipe(recipe: ParserRecipe) -> ParserRecipe:
    """The settings for the parser of a fold: half of the epochs, five sixths of the least steps."""
    return replace(recipe, epochs=-(-recipe.epochs // 2), least_steps=recipe.least_steps * 5 // 6)


def jackknifed(
    sentences: Iterable[Sentence],
    recipe: ParserRecipe | None = None,
    *,
    folds: int = FOLDS,
    trees: int = 1,
    pretrained: Pretrained | None = None,
    seed: int = 0,
    device: torch.device | str = "cpu",
    checkpoints: Callable[[int], AnyCheckpoint | None] | None = None,
    watch: Callable[[int, Progress], None] | None = None,
) -> list[list[WeightedTree]]:
    """Parse each sentence with a parser that has not seen it; each sentence's trees come heaviest first.

    :param trees: trees drawn for a sentence; 1 for the best tree: see `BiaffineParser.parse`.
    :param checkpoints: gives the checkpoint for each fold, counted from 0.
    :param watch: called with the fold and its progress.
    """
    recipe = fold_recipe(ParserRecipe()) if recipe is None else recipe
    parts, pretrained = folds_of(tuple(sentences), folds), with_cache(pretrained)
    parsers = (
        train_parser(
            others_of(parts, fold),
            recipe=recipe,
            pretrained=pretrained,
            seed=seed,
            device=device,
            checkpoint=None if checkpoints is None else checkpoints(fold),
            watch=None if watch is None else partial(watch, fold),
        )
        for fold in range(len(parts))
    )
    return parse_folds(parts, parsers, trees)


def with_trees(sentences: Iterable[Sentence], parses: Iterable[Sequence[WeightedTree]]) -> list[Sentence]:
    """Each sentence with its first parse as its tree; punctuation and treebank name stay."""
    return [
        replace(sentence, tree=replace(trees[0].tree, treebank=sentence.tree.treebank))
        for sentence, trees in zip(sentences, parses, strict=True)
    ]
