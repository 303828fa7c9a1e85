"""Transition-based parsers: actions as numbers, learning and saving."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import torch
from torch import Tensor

from pyropunct.papers.transitions.machine import JOIN_LEFT, JOIN_RIGHT, LEFT, REDUCE, RIGHT, SHIFT
from pyropunct.papers.transitions.perceptron import (
    MOST_ACTIONS,
    Array,
    PerceptronWeights,
    Rows,
    averaged,
    no_weights,
    weights_of,
)
from pyropunct.papers.transitions.search import TransitionSystem, learn, search
from pyropunct.papers.transitions.templates import TEMPLATES, compiled_templates
from pyropunct.tasks import Advance
from pyropunct.untrusted import untrusted

Action = tuple[int, str]
"""The kind of a transition and its relation, which is empty for a transition without arc."""

UNKNOWN = np.zeros(0, np.int64)
"""The right actions where they are unknown."""


@dataclass(frozen=True)
class Recipe:
    """How a parser is trained.

    :ivar features: what it sees: a key of `pyropunct.papers.transitions.templates.TEMPLATES`.
    :ivar beam: the most states that are kept, in training and afterwards.
    :ivar iterations: passes over the examples.
    :ivar seed: of the order of examples, which changes in each iteration.
    """

    features: str
    beam: int
    iterations: int
    seed: int = 0


class Example(NamedTuple):
    """Sentences to learn from.

    :ivar words: a matrix of the words, see `pyropunct.papers.transitions.cells.matrix_of`.
    :ivar goal: the right actions, two for each word; a sentence alone may do with fewer.
    :ivar sizes: how many words each sentence has.
    """

    words: Array
    goal: Sequence[Action]
    sizes: Sequence[int]


@dataclass(frozen=True)
class TransitionParser(ABC):
    """A trained parser with transitions and averaged perceptron weights, ``rows``.

    :ivar root: the relation of roots.
    :ivar report: what happened in training, in plain JSON types.
    :cvar what: its name in messages.
    :cvar needed: the kinds of transitions that are needed to parse every sentence, each with its relation if
        training shows none.
    """

    recipe: Recipe
    actions: tuple[Action, ...]
    root: str
    rows: Rows = field(repr=False)
    report: Mapping[str, Any] = field(default_factory=dict)
    what: ClassVar[str]
    needed: ClassVar[Mapping[int, str]]

    @classmethod
    @abstractmethod
    def weight_numbers(cls, place: int, kind: int, relation: int, relations: int) -> tuple[int, int]:
        """The one or two numbers of the weights of an action, see `TransitionSystem`.

        :param place: of the action among all.
        :param relation: its number from 1, 0 for none.
        """

    @classmethod
    def system(cls, recipe: Recipe, actions: Sequence[Action]) -> TransitionSystem:
        """Actions and templates in the format of compiled code; ValueError for thousands of relations."""
        names = sorted({"", *(name for _, name in actions)})
        numbered = [(kind, names.index(name)) for kind, name in actions]
        moves = np.array(
            [(*one, *cls.weight_numbers(place, *one, len(names) - 1)) for place, one in enumerate(numbered)]
        )
        weighted = int(moves[:, 2:].max()) + 1
        if weighted >= MOST_ACTIONS:
            raise ValueError(f"there are too many relations for {cls.what}")
        return TransitionSystem(moves, compiled_templates(TEMPLATES[recipe.features]), weighted)

    @classmethod
    def learned(
        cls,
        recipe: Recipe,
        examples: Sequence[Example],
        roots: Iterable[str],
        report: Mapping[str, Any],
        advance: Advance = lambda done: None,
    ) -> Self:
        """A parser with the averaged weights after all iterations over examples, in a new order each time.

        :param roots: the relations of roots.
        :param report: what is known of the examples; the number of them that changed weights is added for
            each iteration.
        :raises ValueError: if there is nothing to learn, or there are thousands of relations.
        """
        seen = {action for example in examples for action in example.goal}
        if len(seen) < 2:
            raise ValueError(f"there is nothing to learn for {cls.what}")
        kinds = {kind for kind, _ in seen}
        actions = tuple(sorted(seen | {one for one in cls.needed.items() if one[0] not in kinds}))
        place_of = {action: place for place, action in enumerate(actions)}
        goals = [np.array([place_of[step] for step in example.goal], np.int64) for example in examples]
        system, weights = cls.system(recipe, actions), no_weights()
        random, number = np.random.default_rng(recipe.seed), 0
        updates: list[int] = []
        for _ in range(recipe.iterations):
            updates.append(0)
            for place in random.permutation(len(examples)):
                errors = _errors(system, weights, examples[place], goals[place], recipe.beam)
                for error in errors:
                    weights = learn(system, weights, *error, number)
                updates[-1] += bool(errors)
                number += 1
            advance(1)
        [(root, _)] = Counter(roots).most_common(1)
        return cls(recipe, actions, root, averaged(weights, number), {**report, "updates": updates})

    @cached_property
    def _search(self) -> tuple[TransitionSystem, PerceptronWeights]:
        system = self.system(self.recipe, self.actions)
        return system, weights_of(self.rows, system.weighted)

    def reading(self, words: Array) -> tuple[tuple[int, ...], tuple[int, ...], tuple[str, ...]]:
        """The marks, heads and relations that beam search finds; see `Example.words` and `reading_after`."""
        system, weights = self._search
        found = search(system, words, weights, self.recipe.beam, UNKNOWN)
        return reading_after((self.actions[action] for action in found), self.root)

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """The parser as plain JSON types and tensors, as `pyropunct.fitted.model_file` writes them."""
        plain = {
            "what": self.what,
            "recipe": asdict(self.recipe),
            "actions": list(map(list, self.actions)),
            "root": self.root,
            "report": dict(self.report),
        }
        return plain, {name: torch.from_numpy(array) for name, array in self.rows._asdict().items()}

    @classmethod
    def from_parts(cls, plain: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Self:
        """The parser that `to_parts` took apart. Raises ValueError if these are not its parts."""
        with untrusted(f"not the parts of {cls.what}"):
            if plain["what"] != cls.what:
                raise ValueError("it is another parser")
            actions = tuple((kind, relation) for kind, relation in plain["actions"])
            rows = Rows(**{name: tensor.numpy() for name, tensor in tensors.items()})
            parser = cls(Recipe(**plain["recipe"]), actions, plain["root"], rows, plain["report"])
            _ = parser._search  # checks the weights
            return parser


def _errors(
    system: TransitionSystem, weights: PerceptronWeights, example: Example, actions: Array, beam: int
) -> list[tuple[Array, Array, Array, int]]:
    """What `learn` needs by early update: words, right and found actions, and the first that differ.

    After an error, the search goes on with the sentence behind.
    """
    errors = []
    first = searched = 0  # words, and actions
    for size in example.sizes:
        if searched <= 2 * first:
            words, goal = np.ascontiguousarray(example.words[:, first:]), actions[2 * first :]
            found = search(system, words, weights, beam, goal)
            right = goal[: len(found)]
            if len(differences := np.flatnonzero(found != right)):
                errors.append((words, right, found, int(differences[0])))
            searched = 2 * first + len(found)
        first += size
    return errors


def reading_after(
    actions: Iterable[Action], root: str
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[str, ...]]:
    """The marks behind n words, their heads from 1, 0 for roots, and relations to which transitions lead.

    :param root: the relation of roots.
    """
    marks: list[int] = []
    heads: list[int] = []
    relations: list[str] = []
    stack: list[int] = []
    for kind, relation in actions:
        if kind == REDUCE:
            stack.pop()
        elif kind in (LEFT, JOIN_LEFT, JOIN_RIGHT):
            child = stack.pop(-2 if kind == JOIN_LEFT else -1)
            heads[child - 1] = len(heads) + 1 if kind == LEFT else stack[-1]
            relations[child - 1] = relation
        else:
            arc = kind >= RIGHT
            marks.append(kind % SHIFT)
            heads.append(stack[-1] if arc else 0)
            relations.append(relation if arc else root)
            stack.append(len(heads))
    return tuple(marks), tuple(heads), tuple(relations)
