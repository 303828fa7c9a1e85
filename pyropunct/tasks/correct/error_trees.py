"""Trees of wrongly punctuated sentences: T with the underlying tree T'_e of the wrong punctuation.

Correction draws new punctemes for every constituent, given those that it sprouted in the wrong sentence (Li,
Wang & Eisner 2019, section 6.2).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from pyropunct.fitted.model import FittedModel
from pyropunct.fitted.story import BATCH_SIZE, FittedStory, Puncteme
from pyropunct.inference.inside import best_derivation
from pyropunct.inference.pyro.collapse import tree_problem
from pyropunct.models.attach.correcting import ERROR_COLUMNS
from pyropunct.nets.parser import WeightedTree
from pyropunct.treebank.marks import Surface
from pyropunct.treebank.tree import Tree


@dataclass(frozen=True)
class ErrorTree(Tree):
    """A `Tree` of n words with existing punctuation, which may be wrong.

    :ivar punctemes: T'_e: the left and the right puncteme of each word's constituent.
    :ivar wrong: the punctuation tokens of the slots 0..n.
    """

    punctemes: tuple[tuple[Puncteme, Puncteme], ...]
    wrong: tuple[tuple[str, ...], ...]

    def strings(self) -> Mapping[str, Sequence[Sequence[str]]]:
        """The columns `ERROR_COLUMNS`."""
        left, right = zip(*self.punctemes, strict=True)
        return dict(zip(ERROR_COLUMNS, (left, right, self.wrong[:-1], self.wrong[1:]), strict=True))


def read_errors(model: FittedStory, trees: Sequence[Tree], surfaces: Sequence[Surface]) -> list[ErrorTree]:
    """Reconstruct T'_e of sentences: the T' that maximises p(T' | T, x_e).

    :param model: the model of wrong punctuation.
    :param trees: T of each sentence.
    :param surfaces: x_e, its punctuation.
    """
    error_trees = []
    for first in range(0, len(trees), BATCH_SIZE):
        part = slice(first, first + BATCH_SIZE)
        batch = model.encode_trees(trees[part])
        problem = tree_problem(model.story, batch, model.vocabulary.encode_surfaces(surfaces[part]))
        best = model.sprouted(problem, best_derivation(problem))
        for tree, surface, punctemes in zip(trees[part], surfaces[part], best, strict=True):
            given = {field.name: getattr(tree, field.name) for field in fields(Tree)}
            wrong = tuple(map(tuple, surface))
            error_trees.append(ErrorTree(**given, punctemes=tuple(punctemes), wrong=wrong))
    return error_trees


def read_parses(
    model: FittedModel, parses: Sequence[WeightedTree], surfaces: Sequence[Surface]
) -> list[ErrorTree]:
    """`read_errors` for trees that were given, and for trees of a parser.

    :param model: its `FittedModel.for_parsed` reads trees of a parser.
    :param parses: the trees.
    :param surfaces: x_e, the punctuation of each of them.
    """
    by_place: dict[int, ErrorTree] = {}
    for given, reader in ((True, model), (False, model.for_parsed)):
        places = [place for place, parse in enumerate(parses) if parse.given == given]
        trees = [parses[place].tree for place in places]
        read = read_errors(reader, trees, [surfaces[place] for place in places])
        by_place |= dict(zip(places, read, strict=True))
    return [by_place[place] for place in range(len(parses))]
