"""The parser: applied, and taken apart to be saved."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.parsing.arc_standard import templates
from pyropunct.parsing.arc_standard.oracle import tree_after
from pyropunct.parsing.arc_standard.treatments import (
    MarkedSentence,
    TreatedSentence,
    Treatment,
    treated,
)
from pyropunct.parsing.transitions.actions import Action, check_kinds, moves_of, rows_of, tensors_of
from pyropunct.parsing.transitions.arc_standard import ATOMS, LEFT, RIGHT, SHIFT
from pyropunct.parsing.transitions.cells import BEHIND, FIRST_MARK
from pyropunct.parsing.transitions.perceptron import Rows, Weights, weights_of
from pyropunct.parsing.transitions.search import search
from pyropunct.parsing.transitions.systems import ARC_STANDARD
from pyropunct.parsing.transitions.templates import compiled_templates, number_of, templates_in

Array = NDArray[Any]

TEMPLATES: Mapping[Treatment, str] = {
    Treatment.TOKENS: templates.WORDS,
    Treatment.AWAY: templates.WORDS,
    Treatment.PAIRED: templates.WORDS + templates.PAIRED,
    Treatment.ALL: templates.WORDS + templates.PAIRED + templates.UNPAIRED,
}
"""The templates for each treatment of marks."""


class Oracle(StrEnum):
    """Which transitions training takes for right."""

    STATIC = "static"
    """Those of one sequence that leads to the tree of the treebank; with early update."""
    DYNAMIC = "dynamic"
    """All that lead to the best tree that can still be reached; with exploration, and a beam of 1."""


@dataclass(frozen=True)
class ArcStandardRecipe:
    """How a parser is trained.

    :ivar treatment: what becomes of marks.
    :ivar beam: the most states that are kept, in training and afterwards.
    :ivar iterations: how often each sentence is seen.
    :ivar seed: of the order of sentences, another one in each iteration.
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

    def to_json(self) -> dict[str, Any]:
        """Plain types, from which `from_json` makes an equal recipe."""
        return asdict(self)

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """The recipe that `to_json` wrote.

        :raises ValueError: if it is none.
        """
        numbers = [plain[name] for name in ("beam", "iterations", "seed")]
        if not all(type(number) is int and number >= 0 for number in numbers) or not plain["beam"]:
            raise ValueError(f"beam, iterations and seed are {numbers}")
        beam, iterations, seed = numbers
        return cls(Treatment(plain["treatment"]), beam, iterations, seed, Oracle(plain["oracle"]))


class ParsedSentence(NamedTuple):
    """What a parser makes of the m tokens of a sentence.

    :ivar heads: the head of each token from 1, 0 for the root, None for a mark that is not parsed.
    :ivar relations: likewise.
    """

    heads: tuple[int | None, ...]
    relations: tuple[str | None, ...]


@dataclass(frozen=True)
class ArcStandardParser:
    """A shift-reduce parser with a perceptron, trained by
    `pyropunct.parsing.arc_standard.train_arc_standard`.

    :ivar recipe: how it was trained.
    :ivar actions: the transitions that it knows.
    :ivar root: the relation of the root.
    :ivar rows: the averaged weights.
    :ivar report: what happened in training, in plain JSON types.
    """

    recipe: ArcStandardRecipe
    actions: tuple[Action, ...]
    root: str
    rows: Rows = field(repr=False)
    report: Mapping[str, Any] = field(default_factory=dict)

    def parse(self, sentences: Iterable[MarkedSentence]) -> list[ParsedSentence]:
        """The tree of each sentence: projective, with one root.  The trees that they have are not read.

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

    @cached_property
    def _weights(self) -> Weights:
        return weights_of(self.rows)

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """It as plain JSON types and tensors, as `pyropunct.training.model_folder` writes them."""
        plain = {
            "vocabulary": {"actions": [list(action) for action in self.actions], "root": self.root},
            "recipe": self.recipe.to_json(),
            "report": dict(self.report),
        }
        return plain, tensors_of(self.rows)

    @classmethod
    def from_parts(cls, plain: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Self:
        """What `to_parts` took apart.

        :raises ValueError: if these are not the parts of such a parser.
        """
        try:
            vocabulary = plain["vocabulary"]
            actions = tuple((kind, relation) for kind, relation in vocabulary["actions"])
            check_actions(actions, vocabulary["root"])
            rows, recipe = rows_of(tensors, len(actions)), ArcStandardRecipe.from_json(plain["recipe"])
            return cls(recipe, actions, vocabulary["root"], rows, plain["report"])
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            raise ValueError(f"not the parts of an arc-standard parser: {reason}") from error


def check_actions(actions: Sequence[Action], root: str) -> None:
    """Make sure that actions are transitions, each there once, with which any sentence can be parsed.

    :raises ValueError: if they are not.
    """
    if not isinstance(root, str):
        raise ValueError("the relation of the root is no text")
    check_kinds(actions, (SHIFT, LEFT, RIGHT), (SHIFT,), "an arc-standard parser")
    if len(actions) < 2:
        raise ValueError("the actions are not those of an arc-standard parser")


def encoded(tokens: TreatedSentence) -> Array:
    """A sentence as compiled code reads it: see `pyropunct.parsing.transitions.cells.WORD`."""
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
