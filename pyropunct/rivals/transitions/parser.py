"""Trained parsers with transitions, their actions as numbers, and their parts in a model file."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.rivals.transitions.perceptron import MOST_ACTIONS, Rows, Weights, weights_of

Array = NDArray[Any]

Action = tuple[int, str]
"""The kind of a transition and its relation, which is empty for one that makes no arc."""


@lru_cache(8)
def moves_of(actions: Sequence[Action]) -> Array:
    """(actions, 4) actions as `pyropunct.rivals.transitions.search.search` reads them: each has weights of
    its own."""
    numbers = relation_numbers(actions)
    rows = enumerate(actions)
    return np.array([(kind, numbers.get(relation, 0), place, -1) for place, (kind, relation) in rows])


def relation_numbers(actions: Iterable[Action]) -> dict[str, int]:
    """The relations of actions, numbered from 1."""
    relations = sorted({relation for _, relation in actions} - {""})
    return {relation: number for number, relation in enumerate(relations, start=1)}


def check_kinds(actions: Sequence[Action], known: Iterable[int], needed: Iterable[int], what: str) -> None:
    """Make sure that actions are transitions, each there once, with which any sentence can be parsed.

    :param known: the kinds of transitions of a system.
    :param needed: the kinds without which some sentence cannot be parsed.
    :param what: the name of its parser.
    :raises ValueError: if they are not.
    """
    right = all(type(kind) is int and isinstance(relation, str) for kind, relation in actions)
    if not right or len(set(actions)) < len(actions):
        raise ValueError("an action is not a transition, or is there twice")
    kinds = {kind for kind, _ in actions}
    if not set(needed) <= kinds <= set(known) or len(actions) >= MOST_ACTIONS:
        raise ValueError(f"the actions are not those of {what}")


def tensors_of(rows: Rows) -> dict[str, Tensor]:
    """Weights as `pyropunct.fitted.model_file` writes them."""
    return {name: torch.from_numpy(array) for name, array in rows._asdict().items()}


def rows_of(tensors: Mapping[str, Tensor], actions: int) -> Rows:
    """The weights that `tensors_of` took apart.

    :param actions: how many actions there are.
    :raises ValueError: if these are no weights of such actions.
    :raises LookupError: if something is missing.
    """
    rows = Rows(**{name: _whole_numbers(name, tensors[name]) for name in Rows._fields})
    if set(tensors) != set(Rows._fields) or (len(rows.actions) and rows.actions.max() >= actions):
        raise ValueError("there are weights of actions that it does not know")
    weights_of(rows)  # checks them
    return rows


def _whole_numbers(name: str, tensor: Tensor) -> Array:
    if tensor.dtype != torch.long or tensor.dim() != 1:
        raise ValueError(f"{name} is no vector of whole numbers")
    return tensor.numpy()


def recipe_of(kind: type[Any], plain: Mapping[str, Any]) -> Any:
    """The recipe of a kind, a dataclass with default settings, that was written as plain types.

    :raises ValueError: if a setting has the wrong type, a number is negative, or the beam is 0.
    """
    settings = {}
    for name, default in vars(kind()).items():
        value, expected = plain[name], type(default)
        if issubclass(expected, int) and (type(value) is not expected or value < (name == "beam")):
            raise ValueError(f"{name} is {value!r}")
        settings[name] = expected(value)
    return kind(**settings)


@dataclass(frozen=True)
class TransitionParser:
    """A trained parser with transitions and a perceptron.

    :ivar recipe: how it was trained.
    :ivar actions: the transitions that it knows.
    :ivar root: the relation of roots.
    :ivar rows: the averaged weights.
    :ivar report: what happened in training, in plain JSON types.
    :cvar what: its name in messages.
    :cvar recipe_kind: the class of its recipe.
    """

    recipe: Any
    actions: tuple[Action, ...]
    root: str
    rows: Rows = field(repr=False)
    report: Mapping[str, Any] = field(default_factory=dict)
    what: ClassVar[str]
    recipe_kind: ClassVar[Any]

    @cached_property
    def _weights(self) -> Weights:
        return weights_of(self.rows)

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """The parser as plain JSON types and tensors, as `pyropunct.fitted.model_file` writes them."""
        plain = {
            "vocabulary": {"actions": [list(action) for action in self.actions], "root": self.root},
            "recipe": asdict(self.recipe),
            "report": dict(self.report),
        }
        return plain, tensors_of(self.rows)

    @classmethod
    def from_parts(cls, plain: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Self:
        """The parser that `to_parts` took apart.

        :raises ValueError: if these are not the parts of such a parser.
        """
        try:
            vocabulary = plain["vocabulary"]
            actions = tuple((kind, relation) for kind, relation in vocabulary["actions"])
            if not isinstance(vocabulary["root"], str):
                raise ValueError("the relation of roots is no text")
            rows = rows_of(tensors, cls.scored(actions))
            recipe = recipe_of(cls.recipe_kind, plain["recipe"])
            return cls(recipe, actions, vocabulary["root"], rows, plain["report"])
        except (LookupError, TypeError, ValueError, AttributeError) as error:
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            raise ValueError(f"not the parts of {cls.what}: {reason}") from error

    @classmethod
    def scored(cls, actions: Sequence[Action]) -> int:
        """How many actions and parts of actions have weights, if these are the actions.

        :raises ValueError: if a sentence cannot be parsed with these actions.
        """
        raise NotImplementedError
