"""Which constituent sprouts a mark that a correction puts in: the best underlying tree T' of x_c."""

from collections.abc import Sequence
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from pyropunct.fitted.story import FittedStory
from pyropunct.tasks.correct.error_trees import read_errors
from pyropunct.tasks.correct.system import Change
from pyropunct.tasks.explain.derivations import Derivations, SlotDerivation
from pyropunct.text.marks import START, Surface
from pyropunct.treebank.tree import Tree


class Sprout(NamedTuple):
    """A mark that is put in, and where it comes from.

    :ivar mark: the mark.
    :ivar relation: the relation of the constituent that sprouts it.
    :ivar words: the words of that constituent.
    """

    mark: str
    relation: str
    words: tuple[str, ...]


class Explainer:
    """Explains changes by best underlying trees.

    :param model: the model of right text, for trees of the kind that are to be explained.
    """

    def __init__(self, model: FittedStory) -> None:
        self._model, self._derivations = model, Derivations(model)

    def explain(self, tree: Tree, surface: Surface, changes: Sequence[Change]) -> list[list[Sprout]]:
        """For each change the marks that it puts in and that some constituent sprouts.

        :param tree: of the sentence.
        :param surface: x_c, its punctuation after the changes.
        """
        if not changes:
            return []
        [read] = read_errors(self._model, [tree], [surface])
        slots = self._derivations.of_surface(tree, surface, read.punctemes)
        return [_sprouts(tree, change, slots[change.slot]) for change in changes]


def _sprouts(tree: Tree, change: Change, derivation: SlotDerivation) -> list[Sprout]:
    starts = derivation.surface[:1] == (START,)
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
