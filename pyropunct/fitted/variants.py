"""Attach models and channels by name, and their constructor options that a recipe can set."""

import importlib
import inspect
from collections.abc import Collection, Mapping, Sequence
from pkgutil import resolve_name
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

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
}
"""Names of channels: classes called with (num_tokens, direction, **options)."""


BASES = (
    (ATTACH, "pyropunct.models.attach.attach_model:Attach"),
    (CHANNEL, "pyropunct.models.channel.noisy_channel:Channel"),
)
"""The base class of each kind of variant."""


OWN = "pyropunct.models."
"""The prefix of the names of the package's own modules of variants."""

MOVED = {
    "pyropunct.models.attach.correcting": "pyropunct.models.attach.correcting_attach",
    "pyropunct.models.attach.frequencies": "pyropunct.models.attach.attach_model",
    "pyropunct.models.channel.centred": "pyropunct.models.channel.window",
}
"""Modules of variants that models of earlier versions name, and where these variants are now."""

Trusted = Collection[str] | bool
"""Names of variants outside the package that may be imported because a model names them; True for any.
"""


def find(name: str, known: Mapping[str, str]) -> Any:
    """The class of a known name, or of ``module:Class``; raises `VariantError` if it does not exist.

    Importing runs code: see `require_trusted` for names from models.  Only subclasses of the base class are
    accepted.
    """
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
    (base,) = (base for names, base in BASES if names is known)
    if not isinstance(variant, type) or not issubclass(variant, resolve_name(base)):
        raise VariantError(f"{name!r} is no variant: it is not a subclass of {base.replace(':', '.')}")
    return variant


def is_own(name: str, known: Mapping[str, str]) -> bool:
    """Whether a variant is the package's."""
    return name in known or name.startswith(OWN)


def require_trusted(path: object, names: Mapping[str, object], trusted: Trusted) -> None:
    """Reject untrusted variants outside the package (`VariantError`); imports nothing."""
    if trusted is True:
        return
    known = {trusted} if isinstance(trusted, str) else set(trusted or ())
    for part, name in ((part, str(name)) for part, name in names.items()):
        module, is_class, _ = name.partition(":")
        if is_class and not is_own(name, {}) and name not in known:
            raise VariantError(
                f"{path}: its {part} is {name!r}, no part of pyropunct, so to load it would run the code "
                f"of the module {module!r}: if you trust that, load it with --trust-variants, or in Python "
                f"with variants=[{name!r}]"
            )


VARIANTS: dict[str, Mapping[str, str]] = {"attach": ATTACH, "channel": CHANNEL}
"""The parts of a story that have variants, each with the names of its variants."""

PART_NAMES = {"attach": "attach model", "channel": "channel"}
"""The name of each part in messages."""

GIVEN = {"attach": ("num_forms", "num_tags", "num_relations"), "channel": ()}
"""Arguments, after the first two, that a variant gets if its constructor has parameters of these names."""


def with_options(recipe: Recipe, texts: Sequence[str]) -> Recipe:
    """A recipe with options such as ``attach.name=value``; raises `SettingError`."""
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
    """Raise `SettingError` if the recipe's attach model or channel do not use a chosen setting."""
    for part, own in OWN_SETTINGS.items():
        variant = getattr(recipe, part)
        options = option_kinds(part, variant)
        for name in sorted(setting for option, setting in own.items() if option not in options):
            if name in names:
                raise SettingError(
                    f"{name} is of no use: the {PART_NAMES[part]} {variant!r} has no such setting"
                )


def made(part: str, recipe: Recipe, *first: Any, **given: Any) -> Any:
    """Construct the variant of a part ("attach", "channel") that a recipe names, with its options.

    :param given: passed on if its constructor has parameters of these names, as are the recipe's settings.
    :raises VariantError: if there is no such variant.
    :raises SettingError: for an unknown option, a value of the wrong type, or a missing value.
    """
    variant, options = find(getattr(recipe, part), VARIANTS[part]), dict(getattr(recipe, f"{part}_options"))
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
