"""Which constituents sprout the marks that a correction inserts (`Explainer`)."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from pyropunct.fitted.fitted_story import BATCH_SIZE, FittedStory
from pyropunct.inference.inside import best_derivation
from pyropunct.inference.pyro.collapse import tree_problem
from pyropunct.tasks.correct.learner_errors import String
from pyropunct.tasks.explain.derivations import Derivations, SlotDerivation
from pyropunct.text.marks import Surface, marks_of
from pyropunct.treebank.sentence import Sprouts
from pyropunct.treebank.tree import Tree


def best_punctemes(
    model: FittedStory, trees: Sequence[Tree], surfaces: Sequence[Surface]
) -> Iterator[list[Sprouts]]:
    """What every word's constituent sprouts in the best T' of each sentence, whose marks may be wrong."""
    for first in range(0, len(trees), BATCH_SIZE):
        part = slice(first, first + BATCH_SIZE)
        encoded = model.vocabulary.encode_surfaces(surfaces[part], trees[part])
        problem = tree_problem(model.story, model.encode_trees(trees[part]), encoded, regularised=True)
        yield from model.sprouted(problem, best_derivation(problem))


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
    """An inserted mark, with the relation, words and head word (from 1) of the constituent that sprouts it.

    :ivar side: the side of the constituent, "Left" or "Right".
    """

    mark: str
    relation: str
    words: tuple[str, ...]
    head: int
    side: str


class Explainer:
    """Explains changes by best underlying trees of the model of right text."""

    def __init__(self, model: FittedStory) -> None:
        self._model, self._derivations = model, Derivations(model)

    def explain(self, tree: Tree, surface: Surface, changes: Sequence[SlotChange]) -> list[list[Sprout]]:
        """For each change the inserted marks that some constituent sprouts; ``surface`` is x_c."""
        if not changes:
            return []
        [punctemes] = best_punctemes(self._model, [tree], [surface])
        slots = self._derivations.of_surface(tree, surface, tuple(punctemes))
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
                side = "Left" if change.slot < first else "Right"
                sprouts.append(Sprout(change.after[place], tree.relations[word - 1], words, word, side))
    return sprouts
