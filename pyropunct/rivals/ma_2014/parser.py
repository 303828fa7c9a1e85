"""The parser: applied, and taken apart to be saved."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from numpy.typing import NDArray

from pyropunct.rivals.ma_2014 import templates
from pyropunct.rivals.ma_2014.oracle import tree_after
from pyropunct.rivals.ma_2014.treatments import MarkedSentence, TreatedSentence, Treatment, treated
from pyropunct.rivals.transitions.arc_standard import ATOMS, LEFT, RIGHT, SHIFT
from pyropunct.rivals.transitions.cells import CLOSED, FIRST_MARK, MARK, OPENED
from pyropunct.rivals.transitions.parser import Action, Actions, TransitionParser, matrix_of, moves_of
from pyropunct.rivals.transitions.systems import ARC_STANDARD
from pyropunct.rivals.transitions.templates import compiled_templates, number_of, templates_in

Array = NDArray[Any]

TEMPLATES: Mapping[Treatment, str] = {
    Treatment.TOKENS: templates.WORDS,
    Treatment.AWAY: templates.WORDS,
    Treatment.PAIRED: templates.WORDS + templates.PAIRED,
    Treatment.ALL: templates.WORDS + templates.PAIRED + templates.UNPAIRED,
}
"""The templates for each treatment of marks."""


@dataclass(frozen=True)
class ArcStandardRecipe:
    """How a parser is trained.

    :ivar treatment: what becomes of marks.
    :ivar beam: the most states that are kept, in training and afterwards.
    :ivar iterations: how often each sentence is seen.
    :ivar seed: decides the order of sentences, anew in each iteration.
    """

    treatment: Treatment = Treatment.ALL
    beam: int = 16
    iterations: int = 25
    seed: int = 0


class ParsedSentence(NamedTuple):
    """The m tokens of a sentence with a tree from a parser.

    :ivar heads: the head of each token from 1, 0 for the root, None for a mark that is not parsed.
    :ivar relations: the relation of each token to its head, None for a mark that is not parsed.
    """

    heads: tuple[int | None, ...]
    relations: tuple[str | None, ...]


class ArcStandardParser(TransitionParser):
    """A shift-reduce parser with a perceptron, trained by
    `pyropunct.rivals.ma_2014.training.train_arc_standard`."""

    recipe: ArcStandardRecipe
    what = "an arc-standard parser"
    recipe_kind = ArcStandardRecipe
    kinds, needed = frozenset({SHIFT, LEFT, RIGHT}), frozenset({SHIFT})

    @classmethod
    def encoded_actions(cls, recipe: ArcStandardRecipe, actions: Sequence[Action]) -> Actions:
        """Each action has weights of its own."""
        return Actions(ARC_STANDARD, moves_of(actions), templates_of(recipe.treatment))

    def parse(self, sentences: Iterable[MarkedSentence]) -> list[ParsedSentence]:
        """The tree of each sentence: projective, with one root.  Trees of the sentences are not read.

        :raises ValueError: if a sentence has no token to parse.
        """
        return [self._parse(sentence) for sentence in sentences]

    def _parse(self, sentence: MarkedSentence) -> ParsedSentence:
        kept = treated(sentence, self.recipe.treatment)
        if not kept.tokens:
            raise ValueError("there is no word to parse")
        heads, relations = tree_after(self.best_actions(encoded(kept)), self.root)
        numbers, tokens = (0, *kept.tokens), range(1, len(sentence.forms) + 1)
        head_of = dict(zip(kept.tokens, (numbers[head] for head in heads), strict=True))
        relation_of = dict(zip(kept.tokens, relations, strict=True))
        return ParsedSentence(tuple(map(head_of.get, tokens)), tuple(map(relation_of.get, tokens)))


def encoded(tokens: TreatedSentence) -> Array:
    """A sentence as compiled code reads it."""
    beside = [FIRST_MARK + number_of(tag) if tag else 0 for tag in tokens.beside]
    rows = {OPENED: tokens.opened, CLOSED: tokens.closed, MARK: beside}
    return matrix_of(tokens.forms, tokens.tags, rows)


def templates_of(treatment: Treatment) -> Array:
    """The templates for a treatment as compiled code reads them."""
    return compiled_templates(templates_in(TEMPLATES[treatment]), ATOMS)
