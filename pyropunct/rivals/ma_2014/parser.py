"""The parser: applied, and taken apart to be saved."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.rivals.ma_2014 import templates
from pyropunct.rivals.ma_2014.oracle import tree_after
from pyropunct.rivals.ma_2014.treatments import (
    MarkedSentence,
    TreatedSentence,
    Treatment,
    treated,
)
from pyropunct.rivals.transitions.arc_standard import ATOMS, LEFT, RIGHT, SHIFT
from pyropunct.rivals.transitions.cells import BEHIND, FIRST_MARK
from pyropunct.rivals.transitions.parser import Action, TransitionParser, check_kinds, moves_of
from pyropunct.rivals.transitions.search import search
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


class Oracle(StrEnum):
    """The transitions that training takes for right."""

    STATIC = "static"
    """One sequence of transitions that leads to the tree of the treebank; with early update."""
    DYNAMIC = "dynamic"
    """All transitions to the best tree that can still be reached; with exploration, and a beam of 1."""


@dataclass(frozen=True)
class ArcStandardRecipe:
    """How a parser is trained.

    :ivar treatment: what becomes of marks.
    :ivar beam: the most states that are kept, in training and afterwards.
    :ivar iterations: how often each sentence is seen.
    :ivar seed: decides the order of sentences, anew in each iteration.
    :ivar oracle: which transitions are right.
    """

    treatment: Treatment = Treatment.ALL
    beam: int = 16
    iterations: int = 25
    seed: int = 0
    oracle: Oracle = Oracle.STATIC

    def __post_init__(self) -> None:
        if self.oracle is Oracle.DYNAMIC and self.beam != 1:
            raise ValueError(f"a dynamic oracle trains parsers with a beam of 1, not of {self.beam}")


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

    def parse(self, sentences: Iterable[MarkedSentence]) -> list[ParsedSentence]:
        """The tree of each sentence: projective, with one root.  Trees of the sentences are not read.

        :raises ValueError: if a sentence has nothing but marks that are not parsed.
        """
        return [self._parse(sentence) for sentence in sentences]

    def _parse(self, sentence: MarkedSentence) -> ParsedSentence:
        kept = treated(sentence, self.recipe.treatment)
        if not kept.tokens:
            raise ValueError("there is no word to parse")
        moves, table, unknown = (
            moves_of(self.actions),
            templates_of(self.recipe.treatment),
            np.zeros(0, np.int64),
        )
        matrix, beam = encoded(kept), self.recipe.beam
        found = search(ARC_STANDARD, matrix, moves, table, self._weights, beam, unknown)
        heads, relations = tree_after((self.actions[action] for action in found), self.root)
        all_heads: list[int | None] = [None] * len(sentence.forms)
        all_relations: list[str | None] = [None] * len(sentence.forms)
        for token, head, relation in zip(kept.tokens, heads, relations, strict=True):
            all_heads[token - 1] = kept.tokens[head - 1] if head else 0
            all_relations[token - 1] = relation
        return ParsedSentence(tuple(all_heads), tuple(all_relations))

    @classmethod
    def scored(cls, actions: Sequence[Action]) -> int:
        """See `TransitionParser.scored`."""
        check_actions(actions)
        return len(actions)


def check_actions(actions: Sequence[Action]) -> None:
    """Make sure that actions are transitions, each there once, with which any sentence can be parsed.

    :raises ValueError: if they are not.
    """
    check_kinds(actions, (SHIFT, LEFT, RIGHT), (SHIFT,), "an arc-standard parser")
    if len(actions) < 2:
        raise ValueError("the actions are not those of an arc-standard parser")


def encoded(tokens: TreatedSentence) -> Array:
    """A sentence as compiled code reads it: see `pyropunct.rivals.transitions.cells.WORD`."""
    matrix = np.zeros((5, len(tokens.forms) + 1 + BEHIND), np.int64)
    matrix[:, 1:-BEHIND] = (
        [number_of(form) for form in tokens.forms],
        [number_of(tag) for tag in tokens.tags],
        tokens.opened,
        tokens.closed,
        [FIRST_MARK + number_of(tag) if tag else 0 for tag in tokens.beside],
    )
    return matrix


@lru_cache(8)
def templates_of(treatment: Treatment) -> Array:
    """The templates for a treatment as compiled code reads them."""
    return compiled_templates(templates_in(TEMPLATES[treatment]), ATOMS)
