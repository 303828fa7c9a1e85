"""Attach and channel variants by name."""

import importlib
from collections.abc import Mapping
from typing import Any

ATTACH: dict[str, str] = {
    "log-linear": "pyropunct.models.attach:LogLinearAttach",
}
"""Names of attach models: classes called with (inventory, marks, **options)."""

CHANNEL: dict[str, str] = {
    "sliding-window": "pyropunct.models.channel:SlidingWindow",
    "identity": "pyropunct.models.channel:Identity",
}
"""Names of channels: classes called with (num_tokens, direction, **options)."""


class UnknownVariantError(ValueError):
    """A name that is no variant's, or a class that cannot be imported."""


def find(name: str, known: Mapping[str, str]) -> Any:
    """The class of a known name, or of ``module:Class``.

    :raises UnknownVariantError: if there is none.
    """
    path = known.get(name, name)
    module, colon, attribute = path.partition(":")
    if not colon:
        raise UnknownVariantError(
            f"no variant is called {name!r}: take {', '.join(sorted(known))}, or module:Class"
        )
    try:
        return getattr(importlib.import_module(module), attribute)
    except ImportError as error:
        raise UnknownVariantError(f"cannot import {module!r} for the variant {name!r}: {error}") from error
    except AttributeError:
        raise UnknownVariantError(f"the module {module!r} has no class {attribute!r}") from None
