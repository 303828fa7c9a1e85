"""The underlying tree T'_e of a sentence whose punctuation may be wrong.

The corrector of Li, Wang & Eisner (2019, section 6.2) is given it.  Of a corrected sentence it tells
which constituent sprouts an inserted mark (`Explainer`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from pyropunct.fitted.fitted_story import BATCH_SIZE, FittedStory
from pyropunct.inference.inside import best_derivation
from pyropunct.inference.pyro.collapse import tree_problem
from pyropunct.models.attach.correcting_attach import ERROR_COLUMNS
from pyropunct.nets.parser import WeightedTree
from pyropunct.punctuator import Punctuator
from pyropunct.tasks.correct.learner_errors import String
from pyropunct.tasks.explain.derivations import Derivations, SlotDerivation
from pyropunct.text.marks import Surface, marks_of
from pyropunct.treebank.sentence import Puncteme
from pyropunct.treebank.tree import Tree


@dataclass(frozen=True)
class ErrorTree(Tree):
    """A `Tree` with perhaps wrong punctuation x_e, and T'_e, the punctemes of each word's constituent."""

    punctemes: tuple[tuple[Puncteme, Puncteme], ...]
    wrong: tuple[tuple[str, ...], ...]

    def strings(self) -> Mapping[str, Sequence[Sequence[str]]]:
        """The columns `ERROR_COLUMNS`."""
        left, right = zip(*self.punctemes, strict=True)
        return dict(zip(ERROR_COLUMNS, (left, right, self.wrong[:-1], self.wrong[1:]), strict=True))


def read_errors(model: FittedStory, trees: Sequence[Tree], surfaces: Sequence[Surface]) -> list[ErrorTree]:
    """Reconstruct T'_e of sentences: the best T' given x_e, under a model of wrong punctuation."""
    error_trees = []
    for first in range(0, len(trees), BATCH_SIZE):
        part = slice(first, first + BATCH_SIZE)
        batch = model.encode_trees(trees[part])
        encoded = model.vocabulary.encode_surfaces(surfaces[part], trees[part])
        problem = tree_problem(model.story, batch, encoded, regularised=True)
        best = model.sprouted(problem, best_derivation(problem))
        for tree, surface, punctemes in zip(trees[part], surfaces[part], best, strict=True):
            given = {field.name: getattr(tree, field.name) for field in fields(Tree)}
            wrong = tuple(map(tuple, surface))
            error_trees.append(ErrorTree(**given, punctemes=tuple(punctemes), wrong=wrong))
    return error_trees


def read_parses(
    model: Punctuator, parses: Sequence[WeightedTree], surfaces: Sequence[Surface]
) -> list[ErrorTree]:
    """`read_errors` for given trees and trees of a parser, which `Punctuator.for_parsed` reads."""
    by_place: dict[int, ErrorTree] = {}
    for given, reader in ((True, model), (False, model.for_parsed)):
        places = [place for place, parse in enumerate(parses) if parse.given == given]
        trees = [parses[place].tree for place in places]
        read = read_errors(reader, trees, [surfaces[place] for place in places])
        by_place |= dict(zip(places, read, strict=True))
    return [by_place[place] for place in range(len(parses))]


class SlotChange(NamedTuple):
    """The marks of a slot, counted from 0, before and after a correction."""

    slot: int
    before: String
    after: String


def changes(wrong: Surface, right: Surface) -> list[SlotChange]:
    """The changes of a sentence's punctuation; raises `ValueError` if slots differ in number."""
    pairs = enumerate(zip(wrong, right, strict=True))
    both = ((slot, marks_of(before), marks_of(after)) for slot, (before, after) in pairs)
    return [SlotChange(slot, before, after) for slot, before, after in both if before != after]


class Sprout(NamedTuple):
    """An inserted mark, with the relation and the words of the constituent that sprouts it."""

    mark: str
    relation: str
    words: tuple[str, ...]


class Explainer:
    """Explains changes by best underlying trees of the model of right text."""

    def __init__(self, model: FittedStory) -> None:
        self._model, self._derivations = model, Derivations(model)

    def explain(self, tree: Tree, surface: Surface, changes: Sequence[SlotChange]) -> list[list[Sprout]]:
        """For each change the inserted marks that some constituent sprouts; ``surface`` is x_c."""
        if not changes:
            return []
        [read] = read_errors(self._model, [tree], [surface])
        slots = self._derivations.of_surface(tree, surface, read.punctemes)
        return [_sprouts(tree, change, slots[change.slot]) for change in changes]


def _sprouts(tree: Tree, change: SlotChange, derivation: SlotDerivation) -> list[Sprout]:
    starts = len(derivation.surface) - len(marks_of(derivation.surface))
    sprouts = []
    for step in Levenshtein.opcodes(change.before, change.after):
        for place in range(step.dest_start, step.dest_end) if step.tag != "equal" else ():
            origin = derivation.origins[place + starts]
            word = 0 if origin is None else derivation.underlying[origin].word
            if word:
                first, last = tree.spans[word - 1]
                words = tree.forms[first - 1 : last]
                sprouts.append(Sprout(change.after[place], tree.relations[word - 1], words))
    return sprouts
