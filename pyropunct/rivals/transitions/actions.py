"""Actions as numbers, and weights as they are saved."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.rivals.transitions.perceptron import MOST_ACTIONS, Rows, weights_of

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
