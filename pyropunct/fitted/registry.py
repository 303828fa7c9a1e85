"""Attach and channel variants by name."""

import importlib
from collections.abc import Collection, Mapping
from pkgutil import resolve_name
from types import ModuleType
from typing import Any

from pyropunct.errors import UserError

ATTACH: dict[str, str] = {
    "log-linear": "pyropunct.models.attach.log_linear:LogLinearAttach",
    "neural": "pyropunct.models.attach.neural:NeuralAttach",
}
"""Names of attach models: classes called with (inventory, marks, **options)."""

CHANNEL: dict[str, str] = {
    "sliding-window": "pyropunct.models.channel.window:SlidingWindow",
    "identity": "pyropunct.models.channel.identity:Identity",
    "strength": "pyropunct.models.channel.strength:Strength",
    "pooled": "pyropunct.models.channel.pooled:Pooled",
    "two-passes": "pyropunct.models.channel.two_passes:TwoPasses",
    "inserting": "pyropunct.models.channel.inserting:Inserting",
}
"""Names of channels: classes called with (num_tokens, direction, **options)."""


BASES = ((ATTACH, "pyropunct.models.attach.base:Attach"), (CHANNEL, "pyropunct.models.channel.base:Channel"))
"""The base class of each kind of variant."""


OWN = "pyropunct.models."
"""The prefix of the names of the package's own modules of variants."""

Trusted = Collection[str] | bool
"""Names of variants outside the package that may be imported because a model names them; True for any.
"""


class UnknownVariantError(UserError, ValueError):
    """An unknown name of a variant, or a class that cannot be imported."""


class UntrustedVariantError(UnknownVariantError):
    """A variant outside the package that a model names, but nobody trusts."""


def find(name: str, known: Mapping[str, str]) -> Any:
    """The class of a known name, or of ``module:Class``.

    Importing a module runs its code: see `require_trusted` for names that come from models.  Only subclasses
    of the variants' base class are accepted, and nothing else in a module is ever called.

    :raises UnknownVariantError: if there is no such class.
    """
    module, _, attribute = known.get(name, name).partition(":")
    if not module or not attribute:
        raise UnknownVariantError(
            f"no variant is called {name!r}: take {', '.join(sorted(known))}, or module:Class"
        )
    variant = getattr(_imported(module, name), attribute, None)
    if variant is None:
        raise UnknownVariantError(f"the module {module!r} has no class {attribute!r}")
    (base,) = (base for names, base in BASES if names is known)
    if not isinstance(variant, type) or not issubclass(variant, resolve_name(base)):
        raise UnknownVariantError(f"{name!r} is no variant: it is not a subclass of {base.replace(':', '.')}")
    return variant


def is_own(name: str, known: Mapping[str, str]) -> bool:
    """Whether a variant is the package's."""
    return name in known or name.startswith(OWN)


def require_trusted(path: object, names: Mapping[str, object], trusted: Trusted) -> None:
    """Refuse variants that a model names, unless they are part of the package or trusted.

    Nothing is imported here.

    :param path: where the names come from, for the message.
    :param names: the name of the variant of each part of the model.
    :raises UntrustedVariantError: for the first variant that is neither.
    """
    for part, name in ((part, str(name)) for part, name in names.items()):
        module, is_class, _ = name.partition(":")
        if is_class and not is_own(name, {}) and not _is_trusted(name, trusted):
            raise UntrustedVariantError(
                f"{path}: its {part} is {name!r}, no part of pyropunct, so to load it would run the code "
                f"of the module {module!r}: if you trust that, load it with --trust-variants, or in Python "
                f"with variants=[{name!r}]"
            )


def _is_trusted(name: str, trusted: Trusted) -> bool:
    if isinstance(trusted, bool):
        return trusted
    return name == trusted if isinstance(trusted, str) else name in trusted


def _imported(module: str, name: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except Exception as error:  # importing a module can raise anything
        raise UnknownVariantError(
            f"cannot import {module!r} for the variant {name!r}: {error} (is its folder in PYTHONPATH?)"
        ) from error
