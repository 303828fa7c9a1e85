"""Attach and channel variants by name."""

import importlib
from collections.abc import Mapping
from types import ModuleType
from typing import Any

ATTACH: dict[str, str] = {
    "log-linear": "pyropunct.models.attach.log_linear:LogLinearAttach",
    "neural": "pyropunct.models.attach.neural:NeuralAttach",
}
"""Names of attach models: classes called with (inventory, marks, **options)."""

CHANNEL: dict[str, str] = {
    "sliding-window": "pyropunct.models.channel.window:SlidingWindow",
    "identity": "pyropunct.models.channel.window:Identity",
    "strength": "pyropunct.models.channel.strength:Strength",
    "pooled": "pyropunct.models.channel.pooled:Pooled",
    "two-passes": "pyropunct.models.channel.two_passes:TwoPasses",
    "inserting": "pyropunct.models.channel.inserting:Inserting",
}
"""Names of channels: classes called with (num_tokens, direction, **options)."""


class UnknownVariantError(ValueError):
    """A name that is no variant's, or a class that cannot be imported."""


def find(name: str, known: Mapping[str, str]) -> Any:
    """The class of a known name, or of ``module:Class``.

    Names also come from model folders, which may be anybody's.  So only a subclass of `torch.nn.Module`
    will do: no other thing that a module happens to hold is ever called.

    :raises UnknownVariantError: if there is none.
    """
    from torch import nn  # here, so that names are known before torch is imported

    module, _, attribute = known.get(name, name).partition(":")
    if not module or not attribute:
        raise UnknownVariantError(
            f"no variant is called {name!r}: take {', '.join(sorted(known))}, or module:Class"
        )
    variant = getattr(_imported(module, name), attribute, None)
    if variant is None:
        raise UnknownVariantError(f"the module {module!r} has no class {attribute!r}")
    if not isinstance(variant, type) or not issubclass(variant, nn.Module):
        raise UnknownVariantError(f"{name!r} is no variant: it is not a subclass of torch.nn.Module")
    return variant


def _imported(module: str, name: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except Exception as error:  # whatever a module may raise while it is imported
        raise UnknownVariantError(
            f"cannot import {module!r} for the variant {name!r}: {error} (is its folder in PYTHONPATH?)"
        ) from error
