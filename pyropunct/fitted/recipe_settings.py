"""Settings of a recipe as text: what ``pyropunct fit --set NAME=VALUE`` understands."""

import math
from collections.abc import Collection
from typing import Any, get_type_hints

from pyropunct.errors import UserError
from pyropunct.fitted.recipes import Recipe

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

CHOICES = {"guide": ("map", "channel", "normal"), "optimiser": ("adagrad", "adam")}
"""Settings that are one of a few names."""


class SettingError(UserError, ValueError):
    """A text that is not a valid setting of a recipe."""


def parsed_setting(text: str, elsewhere: Collection[str] = ()) -> tuple[str, Any]:
    """The name and the value of a setting written as ``name=value``.

    :param text: a field of `Recipe` that is a number, a name, or ``true`` or ``false``, and its value.
    :param elsewhere: names of settings that have options of their own.
    :raises SettingError: if there is no such setting, or if the value is not valid for it.
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
    parsed = parsed_value(name, value, types[name])
    if types[name] is str:
        _check_choice(name, value)
    elif types[name] is not bool:
        _check_limits(name, parsed, value)
    return name, parsed


def parsed_value(name: str, text: str, kind: type) -> Any:
    """The value of a given type that a text stands for.

    :param name: the name of the setting, for the message.
    :param kind: float, int, bool, str, or tuple for texts with commas between them.
    :raises SettingError: if the text stands for no such value.
    """
    if kind is str:
        return text
    if kind is tuple:
        return tuple(filter(None, (part.strip() for part in text.split(","))))
    return _truth(name, text) if kind is bool else _number(name, text, kind)


def _check_choice(name: str, value: str) -> None:
    if value not in CHOICES.get(name, (value,)):
        raise SettingError(f"{name} is {' or '.join(CHOICES[name])}, not {value!r}")


def _truth(name: str, value: str) -> bool:
    if value not in ("true", "false"):
        raise SettingError(f"{name} is true or false, not {value!r}")
    return value == "true"


def _number(name: str, value: str, kind: type) -> int | float:
    try:
        number: int | float = kind(value)
    except ValueError:
        wanted = "a whole number" if kind is int else "a number"
        raise SettingError(f"{name} is {wanted}, not {value!r}") from None
    if isinstance(number, float) and not math.isfinite(number):
        raise SettingError(f"{name} is a finite number, not {value!r}")
    return number


def _check_limits(name: str, number: float, text: str) -> None:
    if name in POSITIVE and number <= 0:
        raise SettingError(f"{name} is above zero, not {text}")
    if name in SHARES and number >= 1:
        raise SettingError(f"{name} is below one, not {text}")
    if number < 0 and name not in OF_EITHER_SIGN:
        raise SettingError(f"{name} is zero or more, not {text}")
