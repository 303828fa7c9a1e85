"""Attach models and channels by name, and their constructor options that a recipe can set."""

import importlib
import inspect
from collections.abc import Collection, Mapping, Sequence
from pkgutil import resolve_name
from types import NoneType
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

from pyropunct.errors import SettingError, VariantError
from pyropunct.fitted.recipes import KINDS, OWN_SETTINGS, Recipe, parsed_setting, parsed_value

ATTACH: dict[str, str] = {
    "log-linear": "pyropunct.models.attach.log_linear:LogLinearAttach",
    "local": "pyropunct.models.attach.local:LocalAttach",
}
"""Names of attach models: classes called with (inventory, marks, **options)."""

CHANNEL: dict[str, str] = {
    "sliding-window": "pyropunct.models.channel.window:SlidingWindow",
    "identity": "pyropunct.models.channel.noisy_channel:Identity",
    "strength": "pyropunct.models.channel.window:Strength",
    "pooled": "pyropunct.models.channel.window:Pooled",
    "two-passes": "pyropunct.models.channel.composed:TwoPasses",
    "inserting": "pyropunct.models.channel.composed:Inserting",
    "languages": "pyropunct.models.channel.languages:Languages",
}
"""Names of channels: classes called with (num_tokens, direction, **options)."""

OWN = "pyropunct.models."
"""The prefix of the package's own modules of variants."""

SIZES = ("num_forms", "num_tags", "num_relations")
"""The sizes of a vocabulary that an attach model may take."""


class StoryPart(NamedTuple):
    """A part of a story that has variants.

    :ivar title: its name in messages.
    :ivar variants: the names of its variants.
    :ivar base: their base class.
    :ivar given: arguments, after the first two, that a variant gets if its constructor has parameters of
        these names.
    """

    title: str
    variants: Mapping[str, str]
    base: str
    given: tuple[str, ...]


STORY_PARTS = {
    "attach": StoryPart("attach model", ATTACH, f"{OWN}attach.attach_model:Attach", SIZES),
    "channel": StoryPart(
        "channel", CHANNEL, f"{OWN}channel.noisy_channel:Channel", ("functions", "marks", "treebanks")
    ),
}


MOVED = {
    "pyropunct.models.attach.frequencies": "pyropunct.models.attach.attach_model",
}
"""Old modules of variants, which models of earlier versions name, and their new modules."""

Trusted = Collection[str] | bool
"""Names of variants outside the package that a model may import; True for any."""


def find(part: str, name: str) -> Any:
    """The class of a variant by its name, or ``module:Class``; raises `VariantError` if it does not exist.

    Importing runs code: see `require_trusted` for names from models.  Only subclasses of the base class are
    accepted.
    """
    _, known, base, _ = STORY_PARTS[part]
    module, _, attribute = known.get(name, name).partition(":")
    module = MOVED.get(module, module)
    if not module or not attribute:
        raise VariantError(f"no variant is called {name!r}: take {', '.join(sorted(known))}, or module:Class")
    try:
        imported = importlib.import_module(module)
    except Exception as error:  # importing a module can raise anything
        raise VariantError(
            f"cannot import {module!r} for the variant {name!r}: {error} (is its folder in PYTHONPATH?)"
        ) from error
    variant = getattr(imported, attribute, None)
    if variant is None:
        raise VariantError(f"the module {module!r} has no class {attribute!r}")
    if not isinstance(variant, type) or not issubclass(variant, resolve_name(base)):
        raise VariantError(f"{name!r} is no variant: it is not a subclass of {base.replace(':', '.')}")
    return variant


def is_own(name: str) -> bool:
    """Whether a variant is the package's: its name is no ``module:Class``, or the module is a variant's."""
    return ":" not in name or name.startswith(OWN)


def require_trusted(path: object, names: Mapping[str, object], trusted: Trusted) -> None:
    """Reject untrusted variants outside the package (`VariantError`); imports nothing."""
    if trusted is True:
        return
    known = {trusted} if isinstance(trusted, str) else set(trusted or ())
    for part, name in ((part, str(name)) for part, name in names.items()):
        if not is_own(name) and name not in known:
            raise VariantError(
                f"{path}: its {part} is {name!r}, no part of pyropunct, so to load it would run the code "
                f"of the module {name.partition(':')[0]!r}: if you trust that, load it with "
                f"--trust-variants, or in Python with variants=[{name!r}]"
            )


def with_options(recipe: Recipe, texts: Sequence[str]) -> Recipe:
    """A recipe with options such as ``attach.name=value``; raises `SettingError`."""
    for text in texts:
        part, _, rest = text.strip().partition(".")
        if part not in STORY_PARTS:
            raise SettingError(f"no part of a model is called {part!r}: take {' or '.join(STORY_PARTS)}")
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
    """Raise `SettingError` if the recipe's attach model or channel do not use a chosen setting."""
    for part, own in OWN_SETTINGS.items():
        variant = getattr(recipe, part)
        options = option_kinds(part, variant)
        for name in sorted(setting for option, setting in own.items() if option not in options):
            if name in names:
                raise SettingError(
                    f"{name} is of no use: the {STORY_PARTS[part].title} {variant!r} has no such setting"
                )


def made(part: str, recipe: Recipe, *first: Any, **given: Any) -> Any:
    """Construct the variant of a part ("attach", "channel") that a recipe names, with its options.

    :param given: passed on if its constructor has parameters of these names, as are the recipe's settings.
    :raises VariantError: if there is no such variant.
    :raises SettingError: for an unknown option, a value of the wrong type, or a missing value.
    """
    variant, options = find(part, getattr(recipe, part)), dict(getattr(recipe, f"{part}_options"))
    for name, value in options.items():
        kind = _kind_of(part, getattr(recipe, part), name)
        if not _fits(value, kind):
            raise SettingError(f"{part}.{name} is {KINDS[kind]}, not {value!r}")
        options[name] = float(value) if kind is float else value
    offered = {name: getattr(recipe, own) for name, own in OWN_SETTINGS[part].items()} | given | options
    parameters = inspect.signature(variant).parameters
    arguments = {name: value for name, value in offered.items() if name in parameters}
    for name, one in list(parameters.items())[len(first) :]:
        named = one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
        if named and name not in arguments and one.default is one.empty:
            raise SettingError(f"{getattr(recipe, part)} needs a value: --set {part}.{name}=VALUE")
    return variant(*first, **arguments)


def option_kinds(part: str, name: str) -> dict[str, type | None]:
    """The types of a variant's options: float, int, bool, str, tuple of texts; None if it cannot be set."""
    variant = find(part, name)
    try:
        hints = get_type_hints(variant.__init__)
    except Exception:  # annotations of a foreign class can raise anything
        hints = {}
    parameters = list(inspect.signature(variant).parameters.values())
    return {
        one.name: _kind(hints.get(one.name), one.default)
        for one in parameters[2:]
        if one.name not in STORY_PARTS[part].given
        and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
    }


def _kind_of(part: str, variant: str, name: str) -> type:
    """The type of an option that can be set."""
    kinds = option_kinds(part, variant)
    if name not in kinds:
        known = ", ".join(sorted(one for one, kind in kinds.items() if kind is not None)) or "none"
        raise SettingError(f"{variant} has no option {name!r}; it has: {known}")
    kind = kinds[name]
    if kind is None:
        raise SettingError(f"{part}.{name} cannot be set: it is no number, truth value or text")
    return kind


def _kind(hint: Any, default: Any) -> type | None:
    """The plain type of a parameter, by its annotation or else its default."""
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
