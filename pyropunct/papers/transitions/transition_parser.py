"""Transition-based parsers: actions as numbers, learning and saving."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.files import untrusted
from pyropunct.papers.transitions.perceptron import (
    MOST_ACTIONS,
    PerceptronWeights,
    Rows,
    averaged,
    compiled_templates,
    no_weights,
    templates_in,
    weights_of,
)
from pyropunct.papers.transitions.search import TransitionSystem, learn, search
from pyropunct.tasks import Advance

Array = NDArray[Any]

Action = tuple[int, str]
"""The kind of a transition and its relation, which is empty for a transition without arc."""

UNKNOWN = np.zeros(0, np.int64)
"""The right actions where they are unknown."""


class Rest(NamedTuple):
    """A sentence and everything behind it in its example.

    :ivar words: a matrix of the words, see `pyropunct.papers.transitions.cells.matrix_of`.
    :ivar goal: the right actions.
    :ivar own: how many of them are those of the sentence.
    """

    words: Array
    goal: Sequence[Action]
    own: int


def relation_numbers(actions: Iterable[Action]) -> dict[str, int]:
    """The relations of actions, numbered from 1."""
    relations = sorted({relation for _, relation in actions} - {""})
    return {relation: number for number, relation in enumerate(relations, start=1)}


def system_of(
    kind: int, moves: Iterable[Sequence[int]], templates: str, atoms: Sequence[str]
) -> TransitionSystem:
    """A system in the format of compiled code; ``templates`` are a text, ``atoms`` all names of atoms."""
    table = np.array(list(moves))
    compiled = compiled_templates(templates_in(templates), atoms)
    return TransitionSystem(kind, table, compiled, int(table[:, 2:].max()) + 1)


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
    :cvar kinds: the kinds of transitions of its system.
    :cvar needed: the kinds that are needed to parse every sentence, each with its relation if training shows
        none.
    """

    recipe: Any
    actions: tuple[Action, ...]
    root: str
    rows: Rows = field(repr=False)
    report: Mapping[str, Any] = field(default_factory=dict)
    what: ClassVar[str]
    recipe_kind: ClassVar[Any]
    kinds: ClassVar[range]
    needed: ClassVar[Mapping[int, str]]

    @classmethod
    @abstractmethod
    def system(cls, recipe: Any, actions: Sequence[Action]) -> TransitionSystem:
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
        complete = set(cls.needed) <= kinds <= set(cls.kinds) and len(actions) > 1
        if not complete or weighted >= MOST_ACTIONS:
            raise ValueError(f"the actions are not those of {cls.what}")

    @classmethod
    def learned(
        cls,
        recipe: Any,
        examples: Sequence[Sequence[Rest]],
        roots: Iterable[str],
        report: Mapping[str, Any],
        advance: Advance = lambda done: None,
    ) -> Self:
        """A parser with the averaged weights after all iterations over examples, in a new order each time.

        :param examples: each split into `Rest`, one from each of its sentences on.
        :param roots: the relations of roots.
        :param report: what is known of the examples; the examples that changed weights in each iteration are
            added.
        :raises ValueError: if these are not examples of its system.
        """
        seen = {action for example in examples for rest in example[:1] for action in rest.goal}
        kinds = {kind for kind, _ in seen}
        actions = tuple(sorted(seen | {one for one in cls.needed.items() if one[0] not in kinds}))
        cls.check(actions)
        place_of = {action: place for place, action in enumerate(actions)}
        goals = [
            [np.array([place_of[step] for step in rest.goal]) for rest in example] for example in examples
        ]
        system, weights = cls.system(recipe, actions), no_weights()
        random, number = np.random.default_rng(recipe.seed), 0
        updates: list[int] = []
        for _ in range(recipe.iterations):
            updates.append(0)
            for place in random.permutation(len(examples)):
                changes = _changes(system, examples[place], goals[place], weights, recipe.beam)
                for change in changes:
                    weights = learn(system, change.words, weights, *change[1:], number)
                updates[-1] += bool(changes)
                number += 1
            advance(1)
        [(root, _)] = Counter(roots).most_common(1)
        return cls(recipe, actions, root, averaged(weights, number), {**report, "updates": updates})

    @cached_property
    def _search(self) -> tuple[TransitionSystem, PerceptronWeights]:
        system = self.system(self.recipe, self.actions)
        return system, weights_of(self.rows, system.weighted)

    def best_actions(self, words: Array) -> list[Action]:
        """The transitions that beam search finds; see `Rest.words`."""
        system, weights = self._search
        found = search(system, words, weights, self.recipe.beam, UNKNOWN)
        return [self.actions[action] for action in found]

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """The parser as plain JSON types and tensors, as `pyropunct.fitted.model_file` writes them."""
        vocabulary = {"actions": [list(action) for action in self.actions], "root": self.root}
        plain = {"vocabulary": vocabulary, "recipe": asdict(self.recipe), "report": dict(self.report)}
        return plain, {name: torch.from_numpy(array) for name, array in self.rows._asdict().items()}

    @classmethod
    def from_parts(cls, plain: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Self:
        """The parser that `to_parts` took apart. Raises ValueError if these are not its parts."""
        with untrusted(f"not the parts of {cls.what}"):
            vocabulary = plain["vocabulary"]
            actions = tuple((kind, relation) for kind, relation in vocabulary["actions"])
            if not isinstance(vocabulary["root"], str):
                raise ValueError("the relation of roots is no text")
            cls.check(actions)
            recipe = _recipe_of(cls.recipe_kind, plain["recipe"])
            rows = Rows(**{name: tensor.numpy() for name, tensor in tensors.items()})
            weights_of(rows, cls.system(recipe, actions).weighted)  # checks them
            return cls(recipe, actions, vocabulary["root"], rows, plain["report"])


class _Change(NamedTuple):
    """A change of weights: words, actions, the first state to learn from, and by how much."""

    words: Array
    actions: Array
    first: int
    by: int


def _changes(
    system: TransitionSystem,
    example: Sequence[Rest],
    goals: Sequence[Array],
    weights: PerceptronWeights,
    beam: int,
) -> list[_Change]:
    """The changes by early update."""
    changes: list[_Change] = []
    searched = 0  # so many of the actions from here on
    for (words, _, own), goal in zip(example, goals, strict=True):
        if searched <= 0:
            found = search(system, words, weights, beam, goal)
            searched = len(found)
            right = goal[:searched]
            if len(differences := np.flatnonzero(found != right)):
                first = int(differences[0])  # both are equal before
                changes += [_Change(words, right, first, 1), _Change(words, found, first, -1)]
        searched -= own
    return changes
