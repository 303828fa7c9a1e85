"""Transition-based parsers: actions as numbers, saving and learning."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.compare.experiment import Advance
from pyropunct.rivals.transitions.cells import BEHIND, TAG, WORD
from pyropunct.rivals.transitions.perceptron import (
    MOST_ACTIONS,
    PerceptronWeights,
    Rows,
    averaged,
    no_weights,
    number_of,
    weights_of,
)
from pyropunct.rivals.transitions.search import learn, search

Array = NDArray[Any]

Action = tuple[int, str]
"""The kind of a transition and its relation, which is empty for a transition without arc."""

UNKNOWN = np.zeros(0, np.int64)
"""The right actions where they are unknown."""


class Actions(NamedTuple):
    """The moves and templates of a system, as `pyropunct.rivals.transitions.search.search` reads them."""

    system: int
    moves: Array
    table: Array

    @property
    def weighted(self) -> int:
        """The number of actions and parts of actions that have weights."""
        return int(self.moves[:, 2:].max()) + 1


def moves_of(actions: Sequence[Action]) -> Array:
    """(actions, 4) actions for `pyropunct.rivals.transitions.search.search`, with their own weights."""
    numbers = relation_numbers(actions)
    rows = enumerate(actions)
    return np.array([(kind, numbers.get(relation, 0), place, -1) for place, (kind, relation) in rows])


def relation_numbers(actions: Iterable[Action]) -> dict[str, int]:
    """The relations of actions, numbered from 1."""
    relations = sorted({relation for _, relation in actions} - {""})
    return {relation: number for number, relation in enumerate(relations, start=1)}


def matrix_of(forms: Sequence[str], tags: Sequence[str], rows: Mapping[int, Sequence[int]]) -> Array:
    """(5, n + 5) a sentence with further rows, see `pyropunct.rivals.transitions.cells.WORD`."""
    matrix = np.zeros((5, len(forms) + 1 + BEHIND), np.int64)
    texts = {WORD: list(map(number_of, forms)), TAG: list(map(number_of, tags))}
    for row, values in {**texts, **rows}.items():
        matrix[row, 1:-BEHIND] = values
    return matrix


def _recipe_of(kind: type[Any], plain: Mapping[str, Any]) -> Any:
    """A recipe, a dataclass with default settings, from plain types."""
    settings = {}
    for name, default in vars(kind()).items():
        value, expected = plain[name], type(default)
        if issubclass(expected, int) and (type(value) is not expected or value < (name == "beam")):
            raise ValueError(f"{name} is {value!r}")
        settings[name] = expected(value)
    return kind(**settings)


@dataclass(frozen=True)
class TransitionParser(ABC):
    """A trained parser with transitions and averaged perceptron weights, ``rows``.

    :ivar root: the relation of roots.
    :ivar report: what happened in training, in plain JSON types.
    :cvar what: its name in messages.
    :cvar recipe_kind: the class of its recipe.
    :cvar kinds: the kinds of transitions of its system; ``needed`` are needed to parse every sentence.
    """

    recipe: Any
    actions: tuple[Action, ...]
    root: str
    rows: Rows = field(repr=False)
    report: Mapping[str, Any] = field(default_factory=dict)
    what: ClassVar[str]
    recipe_kind: ClassVar[Any]
    kinds: ClassVar[frozenset[int]]
    needed: ClassVar[frozenset[int]]

    @classmethod
    @abstractmethod
    def encoded_actions(cls, recipe: Any, actions: Sequence[Action]) -> Actions:
        """Actions and templates in the format of compiled code."""

    @classmethod
    def check(cls, actions: Sequence[Action]) -> None:
        """Raises ValueError unless actions are distinct transitions with which any sentence can be parsed."""
        right = all(type(kind) is int and isinstance(relation, str) for kind, relation in actions)
        if not right or len(set(actions)) < len(actions):
            raise ValueError("an action is not a transition, or is there twice")
        kinds = {kind for kind, _ in actions}
        # Kinds, and each relation on either side, may have weights instead of whole actions.
        weighted = max(len(actions), len(cls.kinds) + 2 * len(relation_numbers(actions)))
        if not cls.needed <= kinds <= cls.kinds or len(actions) < 2 or weighted >= MOST_ACTIONS:
            raise ValueError(f"the actions are not those of {cls.what}")

    @cached_property
    def _search(self) -> tuple[Actions, PerceptronWeights]:
        known = self.encoded_actions(self.recipe, self.actions)
        return known, weights_of(self.rows, known.weighted)

    def best_actions(self, sentence: Array) -> list[Action]:
        """The transitions that beam search finds; see `matrix_of` for the sentence."""
        (system, moves, table), weights = self._search
        found = search(system, sentence, moves, table, weights, self.recipe.beam, UNKNOWN)
        return [self.actions[action] for action in found]

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """The parser as plain JSON types and tensors, as `pyropunct.fitted.model_file` writes them."""
        vocabulary = {"actions": [list(action) for action in self.actions], "root": self.root}
        plain = {"vocabulary": vocabulary, "recipe": asdict(self.recipe), "report": dict(self.report)}
        return plain, {name: torch.from_numpy(array) for name, array in self.rows._asdict().items()}

    @classmethod
    def from_parts(cls, plain: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Self:
        """The parser that `to_parts` took apart. Raises ValueError if these are not its parts."""
        try:
            vocabulary = plain["vocabulary"]
            actions = tuple((kind, relation) for kind, relation in vocabulary["actions"])
            if not isinstance(vocabulary["root"], str):
                raise ValueError("the relation of roots is no text")
            cls.check(actions)
            recipe = _recipe_of(cls.recipe_kind, plain["recipe"])
            rows = Rows(**{name: tensor.numpy() for name, tensor in tensors.items()})
            weights_of(rows, cls.encoded_actions(recipe, actions).weighted)  # checks them
            return cls(recipe, actions, vocabulary["root"], rows, plain["report"])
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            raise ValueError(f"not the parts of {cls.what}: {reason}") from error


class Rest(NamedTuple):
    """A sentence and everything behind it in its example: `matrix_of` words, gold actions, ``own`` ones."""

    words: Array
    gold: Array
    own: int


def learned(
    known: Actions, examples: Sequence[Sequence[Rest]], recipe: Any, advance: Advance = lambda done: None
) -> tuple[Rows, list[int]]:
    """The averaged weights after all iterations, and the number of examples that changed them in each.

    :param examples: each split into `Rest`, one from each of its sentences on; in a new order each time.
    """
    system, moves, table = known
    weights, random, number = no_weights(), np.random.default_rng(recipe.seed), 0
    updates: list[int] = []
    for _ in range(recipe.iterations):
        updates.append(0)
        for place in random.permutation(len(examples)):
            changes = _changes(known, examples[place], weights, recipe.beam)
            for words, actions, first, by in changes:
                weights = learn(system, words, moves, table, weights, actions, first, by, number)
            updates[-1] += bool(changes)
            number += 1
        advance(1)
    return averaged(weights, number), updates


def _changes(
    known: Actions, example: Sequence[Rest], weights: PerceptronWeights, beam: int
) -> list[tuple[Array, Array, int, int]]:
    """The changes by early update: words, actions, the first state to learn from, and by how much."""
    system, moves, table = known
    changes: list[tuple[Array, Array, int, int]] = []
    searched = 0  # so many of the actions from here on
    for words, gold, own in example:
        if searched <= 0:
            found = search(system, words, moves, table, weights, beam, gold)
            searched = len(found)
            right = gold[:searched]
            if len(differences := np.flatnonzero(found != right)):
                first = int(differences[0])  # both are equal before
                changes += [(words, right, first, 1), (words, found, first, -1)]
        searched -= own
    return changes
