"""Trained parsers with transitions, and their parts in a model file."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

from torch import Tensor

from pyropunct.rivals.transitions.actions import Action, rows_of, tensors_of
from pyropunct.rivals.transitions.perceptron import Rows, Weights, weights_of


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
