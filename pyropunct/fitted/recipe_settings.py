"""Settings of a recipe as text, as ``pyropunct fit --set NAME=VALUE`` takes them."""

import math
from collections.abc import Collection
from typing import Any, Literal, get_args, get_origin, get_type_hints

from pyropunct.errors import UserError
from pyropunct.fitted.recipes import KINDS, Recipe
from pyropunct.limits import Limits, Range, limits, listed


class SettingError(UserError, ValueError):
    """A text that is not a valid setting of a recipe."""


def parsed_setting(text: str, elsewhere: Collection[str] = ()) -> tuple[str, Any]:
    """The name and the value of a setting written as ``name=value``.

    :param text: a field of `Recipe` that is a number, a name, or ``true`` or ``false``, and its value.
    :param elsewhere: names of settings that have options of their own.
    :raises SettingError: if there is no such setting, or if the value is not valid for it.
    """
    name, equals, value = (part.strip() for part in text.partition("="))
    settings = {name: limits(hint) for name, hint in get_type_hints(Recipe, include_extras=True).items()}
    known = {name for name, limit in settings.items() if _kind(limit) is not None}
    if not equals:
        raise SettingError(f"{text!r} is not of the form NAME=VALUE")
    if name in elsewhere:
        raise SettingError(f"{name} has an option of its own")
    if name not in known:
        takes = ", ".join(sorted(known - set(elsewhere)))
        raise SettingError(f"no setting is called {name!r}: take {takes}")
    kind = _kind(settings[name])
    assert kind is not None
    parsed = parsed_value(name, value, kind)
    _check(name, settings[name], parsed, value)
    return name, parsed


def _kind(limit: Limits) -> type | None:
    """The type of a plain setting; None for settings that cannot be written as text."""
    kind = str if get_origin(limit.kind) is Literal else limit.kind
    return kind if kind in (int, float, bool, str) and not limit.several else None


def _check(name: str, limit: Limits, parsed: Any, text: str) -> None:
    names = get_args(limit.kind)
    if names and parsed not in names:
        raise SettingError(f"{name} is {' or '.join(names)}, not {text!r}")
    bounds = limit.first(Range)
    if bounds is not None and parsed not in bounds:
        raise SettingError(f"{name} is {bounds}, not {text}")


def parsed_value(name: str, text: str, kind: type) -> Any:
    """The value of a given type that a text stands for.

    :param name: the name of the setting, for the message.
    :param kind: float, int, bool, str, or tuple for texts with commas between them.
    :raises SettingError: if the text stands for no such value.
    """
    if kind is str:
        return text
    if kind is tuple:
        return listed(text)
    read = {"true": True, "false": False}.__getitem__ if kind is bool else kind
    try:
        value = read(text)
    except (KeyError, ValueError):
        raise SettingError(f"{name} is {KINDS[kind]}, not {text!r}") from None
    if kind is float and not math.isfinite(value):
        raise SettingError(f"{name} is a finite number, not {text!r}")
    return value
