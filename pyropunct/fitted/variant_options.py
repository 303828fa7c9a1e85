"""Settings of a recipe as text, as ``pyropunct fit --set NAME=VALUE`` takes them, and options of variants.

Options of attach models and channels are the parameters of their constructors that a recipe can set.
"""

import inspect
import math
from collections.abc import Collection, Mapping, Sequence
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from pyropunct.errors import UserError
from pyropunct.fitted.recipes import KINDS, OWN_SETTINGS, Recipe
from pyropunct.fitted.registry import ATTACH, CHANNEL, find
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
    kinds = {name: kind for name, limit in settings.items() if (kind := _kind_of_setting(limit))}
    if not equals:
        raise SettingError(f"{text!r} is not of the form NAME=VALUE")
    if name in elsewhere:
        raise SettingError(f"{name} has an option of its own")
    if name not in kinds:
        takes = ", ".join(sorted(kinds.keys() - set(elsewhere)))
        raise SettingError(f"no setting is called {name!r}: take {takes}")
    parsed = parsed_value(name, value, kinds[name])
    names, bounds = get_args(settings[name].kind), settings[name].first(Range)
    if names and parsed not in names:
        raise SettingError(f"{name} is {' or '.join(names)}, not {value!r}")
    if bounds is not None and parsed not in bounds:
        raise SettingError(f"{name} is {bounds}, not {value}")
    return name, parsed


def _kind_of_setting(limit: Limits) -> type | None:
    """The type of a plain setting; None for settings that cannot be written as text."""
    kind = str if get_origin(limit.kind) is Literal else limit.kind
    return kind if kind in (int, float, bool, str) and not limit.several else None


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


VARIANTS: dict[str, Mapping[str, str]] = {"attach": ATTACH, "channel": CHANNEL}
"""The parts of a story that have variants, each with the names of its variants."""

PART_NAMES = {"attach": "attach model", "channel": "channel"}
"""The name of each part in messages."""

NUM_PRETRAINED = "num_pretrained"
"""The parameter for the number of pretrained features of a word: attach models that have it read them."""

GIVEN = {"attach": ("num_forms", "num_tags", "num_relations", NUM_PRETRAINED), "channel": ()}
"""Arguments, after the first two, that a variant gets if its constructor has parameters of these names."""


class VariantOptionError(SettingError):
    """An unknown option of a variant, or an invalid value of one; the message is one line."""


def with_options(recipe: Recipe, texts: Sequence[str]) -> Recipe:
    """A recipe with some options set.

    :param texts: each as ``attach.name=value`` or ``channel.name=value``.
    :raises UnknownVariantError: if there is no such attach model or channel.
    :raises SettingError: if it has no such option, or if the value is not valid for it.
    """
    for text in texts:
        part, _, rest = text.strip().partition(".")
        if part not in VARIANTS:
            raise SettingError(f"no part of a model is called {part!r}: take {' or '.join(VARIANTS)}")
        name, equals, value = (one.strip() for one in rest.partition("="))
        if not equals:
            raise SettingError(f"{text!r} is not of the form {part}.NAME=VALUE")
        kind = _kind_of(part, getattr(recipe, part), name)
        own = OWN_SETTINGS[part].get(name)
        if own is not None and kind is not tuple:
            parsed: Any = parsed_setting(f"{own}={value}")[1]
        else:
            parsed = parsed_value(f"{part}.{name}", value, kind)
        options = dict(getattr(recipe, f"{part}_options")) | {name: parsed}
        recipe = recipe.changed(**{f"{part}_options": options})
    return recipe


def check_of_use(recipe: Recipe, names: Collection[str]) -> None:
    """Check that the recipe's attach model and channel use all chosen settings.

    :param names: the chosen settings; settings that do not belong to a variant are always used.
    :raises UnknownVariantError: if there is no such attach model or channel.
    :raises SettingError: for the first setting that is not used.
    """
    for part, own in OWN_SETTINGS.items():
        variant = getattr(recipe, part)
        options = option_kinds(part, variant)
        for name in sorted(setting for option, setting in own.items() if option not in options):
            if name in names:
                raise SettingError(
                    f"{name} is of no use: the {PART_NAMES[part]} {variant!r} has no such setting"
                )


def made(part: str, recipe: Recipe, *first: Any, **given: Any) -> Any:
    """The variant of a part that a recipe names, with its options.

    :param part: "attach" or "channel".
    :param first: the first arguments of its constructor.
    :param given: arguments that it gets if it has parameters of these names.  It gets the recipe's settings
        for this part in the same way.
    :raises UnknownVariantError: if there is no such variant.
    :raises VariantOptionError: if it lacks an option of the recipe, if a value has the wrong type, or if a
        required parameter has no value.
    """
    variant, options = find(getattr(recipe, part), VARIANTS[part]), dict(getattr(recipe, f"{part}_options"))
    for name, value in options.items():
        kind = _kind_of(part, getattr(recipe, part), name)
        if not _fits(value, kind):
            raise VariantOptionError(f"{part}.{name} is {KINDS[kind]}, not {value!r}")
        options[name] = float(value) if kind is float else value
    offered = {name: getattr(recipe, own) for name, own in OWN_SETTINGS[part].items()} | given | options
    parameters = inspect.signature(variant).parameters
    arguments = {name: value for name, value in offered.items() if name in parameters}
    for name in list(parameters)[len(first) :]:
        if name not in arguments and _is_needed(parameters[name]):
            raise VariantOptionError(f"{getattr(recipe, part)} needs a value: --set {part}.{name}=VALUE")
    return variant(*first, **arguments)


def reads_pretrained(recipe: Recipe) -> bool:
    """Whether the attach model that a recipe names reads pretrained features of words.

    :raises UnknownVariantError: if there is no such attach model.
    """
    return NUM_PRETRAINED in inspect.signature(find(recipe.attach, ATTACH)).parameters


def option_kinds(part: str, name: str) -> dict[str, type | None]:
    """The options of a variant, each with its type: float, int, bool, str, or tuple for several texts.

    :param part: "attach" or "channel".
    :param name: the variant's.
    :returns: the type of each option; None for a parameter of any other type, which cannot be set.
    :raises UnknownVariantError: if there is no such variant.
    """
    variant = find(name, VARIANTS[part])
    try:
        hints = get_type_hints(variant.__init__)
    except Exception:  # annotations of a foreign class can raise anything
        hints = {}
    parameters = list(inspect.signature(variant).parameters.values())
    return {
        one.name: _kind(hints.get(one.name), one.default)
        for one in parameters[2:]
        if one.name not in GIVEN[part] and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
    }


def _kind_of(part: str, variant: str, name: str) -> type:
    """The type of an option that can be set."""
    kinds = option_kinds(part, variant)
    if name not in kinds:
        known = ", ".join(sorted(one for one, kind in kinds.items() if kind is not None)) or "none"
        raise VariantOptionError(f"{variant} has no option {name!r}; it has: {known}")
    kind = kinds[name]
    if kind is None:
        raise VariantOptionError(f"{part}.{name} cannot be set: it is no number, truth value or text")
    return kind


def _kind(hint: Any, default: Any) -> type | None:
    """The plain type of a parameter, by its annotation or else by its default."""
    plain = [one for one in (get_args(hint) or ()) if one is not NoneType]
    if NoneType in get_args(hint) and len(plain) == 1:
        hint = plain[0]
    if hint in (float, int, bool, str):
        return hint
    if hint is not None:
        several = get_origin(hint) in (tuple, list, Sequence) and set(get_args(hint)) <= {str, ...}
        return tuple if several and get_args(hint) else None
    return type(default) if type(default) in (float, int, bool, str, tuple) else None


def _fits(value: Any, kind: type) -> bool:
    if kind is tuple:
        return isinstance(value, tuple) and all(isinstance(one, str) for one in value)
    if kind is float:
        return isinstance(value, float | int) and not isinstance(value, bool)
    return type(value) is kind


def _is_needed(parameter: inspect.Parameter) -> bool:
    """Whether a constructor cannot be called without a parameter."""
    named = parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    return named and parameter.default is parameter.empty
