"""Trees of wrongly punctuated sentences: T with the underlying tree T'_e of the wrong punctuation.

Correction decides anew about every constituent, looking at what it has sprouted in the wrong sentence
(Li, Wang & Eisner 2019, section 6.2).
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import cast

import torch
from torch import Tensor

from pyropunct.inference.inside import best_derivation
from pyropunct.inference.pyro.handlers import tree_problem
from pyropunct.models.attach.correcting import ERROR_COLUMNS, string_number
from pyropunct.models.trees import TreeBatch
from pyropunct.punctuator import BATCH_SIZE, Puncteme, Punctuator
from pyropunct.treebank.marks import UNKNOWN, Surface
from pyropunct.treebank.tree import Tree
from pyropunct.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class ErrorTree(Tree):
    """A `Tree` of n words that somebody has punctuated, perhaps wrongly.

    :ivar punctemes: T'_e: the left and the right puncteme of each word's constituent.
    :ivar wrong: the punctuation tokens of the slots 0..n.
    """

    punctemes: tuple[tuple[Puncteme, Puncteme], ...]
    wrong: tuple[tuple[str, ...], ...]


def read_errors(model: Punctuator, trees: Sequence[Tree], surfaces: Sequence[Surface]) -> list[ErrorTree]:
    """Reconstruct T'_e of some sentences: the T' that maximises p(T' | T, x_e).

    :param model: knows how wrong sentences are punctuated.
    :param trees: T of each sentence.
    :param surfaces: x_e, its punctuation.
    """
    found = []
    for first in range(0, len(trees), BATCH_SIZE):
        part = slice(first, first + BATCH_SIZE)
        for tree, surface, punctemes in zip(
            trees[part], surfaces[part], _best(model, trees[part], surfaces[part]), strict=True
        ):
            given = {field.name: getattr(tree, field.name) for field in fields(Tree)}
            found.append(ErrorTree(**given, punctemes=punctemes, wrong=tuple(map(tuple, surface))))
    return found


def _best(
    model: Punctuator, trees: Sequence[Tree], surfaces: Sequence[Surface]
) -> list[tuple[tuple[Puncteme, Puncteme], ...]]:
    """The best derivation of each sentence of a batch."""
    vocabulary = model.vocabulary
    batch = vocabulary.encode_trees(trees)
    problem = tree_problem(model.model, batch, vocabulary.encode_surfaces(surfaces))
    pairs = problem.inventory.pairs
    chosen = [
        pairs[relation][choice]
        for relation, choice in zip(problem.relation.tolist(), best_derivation(problem).tolist(), strict=True)
    ]
    decoded = [(vocabulary.decode_string(left), vocabulary.decode_string(right)) for left, right in chosen]
    start = batch.forest.node_start.tolist()
    return [tuple(decoded[first:last]) for first, last in pairwise(start)]


class ErrorVocabulary(Vocabulary):
    """A `Vocabulary` whose batches of `ErrorTree` have the columns `ERROR_COLUMNS`."""

    @classmethod
    def like(cls, vocabulary: Vocabulary) -> "ErrorVocabulary":
        """The same types."""
        return cls(**{field.name: getattr(vocabulary, field.name) for field in fields(Vocabulary)})

    def encode_trees(self, trees: Sequence[Tree]) -> TreeBatch:
        """A batch of trees, each of which is an `ErrorTree`."""
        some = cast(Sequence[ErrorTree], trees)
        strings = (
            [left for tree in some for left, _ in tree.punctemes],
            [right for tree in some for _, right in tree.punctemes],
            [string for tree in some for string in tree.wrong[:-1]],
            [string for tree in some for string in tree.wrong[1:]],
        )
        more = {name: self._numbers_of(column) for name, column in zip(ERROR_COLUMNS, strings, strict=True)}
        return replace(super().encode_trees(trees), more=more)

    def _numbers_of(self, strings: Sequence[Sequence[str]]) -> Tensor:
        """The `string_number` of each string."""
        known, unknown = self.token_number, self.token_number[UNKNOWN]
        distinct = {tuple(string) for string in strings}
        numbers = {
            string: string_number([known.get(mark, unknown) for mark in string]) for string in distinct
        }
        return torch.tensor([numbers[tuple(string)] for string in strings])
