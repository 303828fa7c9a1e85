"""Settings of a recipe as text: what ``pyropunct fit --set NAME=VALUE`` understands."""

import math
from collections.abc import Collection
from typing import Any, get_type_hints

from pyropunct.training.recipes import Recipe

POSITIVE = {
    "least",
    "prior_scale",
    "edit_prior_scale",
    "epochs",
    "batch_size",
    "sparse_learning_rate",
    "learning_rate",
    "edit_learning_rate",
    "network_learning_rate",
}
"""Settings that must be above zero."""

SHARES = {"network_share"}
"""Settings that must be below one."""

OF_EITHER_SIGN = {"prior_keep"}
"""Settings that may be below zero; all other numbers are zero or more."""

CHOICES = {"guide": ("map", "normal"), "optimiser": ("adagrad", "adam")}
"""Settings that are one of a few names."""


class SettingError(ValueError):
    """A text that is no setting of a recipe."""


def parsed_setting(text: str, elsewhere: Collection[str] = ()) -> tuple[str, Any]:
    """The name and the value of a setting written as ``name=value``.

    :param text: a field of `Recipe` that is a number, a name, or ``true`` or ``false``, and its value.
    :param elsewhere: names that are set in another way.
    :raises SettingError: if there is no such setting, or if this cannot be its value.
    """
    name, equals, value = (part.strip() for part in text.partition("="))
    types = {name: kind for name, kind in get_type_hints(Recipe).items() if kind in (int, float, bool, str)}
    if not equals:
        raise SettingError(f"{text!r} is not of the form NAME=VALUE")
    if name in elsewhere:
        raise SettingError(f"{name} has an option of its own")
    if name not in types:
        known = ", ".join(sorted(set(types) - set(elsewhere)))
        raise SettingError(f"no setting is called {name!r}: take {known}")
    if types[name] is str:
        return name, _choice(name, value)
    return name, _truth(name, value) if types[name] is bool else _number(name, value, types[name])


def _choice(name: str, value: str) -> str:
    if value not in CHOICES.get(name, (value,)):
        raise SettingError(f"{name} is {' or '.join(CHOICES[name])}, not {value!r}")
    return value


def _truth(name: str, value: str) -> bool:
    if value not in ("true", "false"):
        raise SettingError(f"{name} is true or false, not {value!r}")
    return value == "true"


def _number(name: str, value: str, kind: type[int] | type[float]) -> int | float:
    try:
        number = kind(value)
    except ValueError:
        wanted = "a whole number" if kind is int else "a number"
        raise SettingError(f"{name} is {wanted}, not {value!r}") from None
    if isinstance(number, float) and not math.isfinite(number):
        raise SettingError(f"{name} is a finite number, not {value!r}")
    if name in POSITIVE and number <= 0:
        raise SettingError(f"{name} is above zero, not {value}")
    if name in SHARES and number >= 1:
        raise SettingError(f"{name} is below one, not {value}")
    if number < 0 and name not in OF_EITHER_SIGN:
        raise SettingError(f"{name} is zero or more, not {value}")
    return number
