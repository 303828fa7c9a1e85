"""Bounds, choices and help of settings, read from annotations and docstrings.

For example, ``samples: Annotated[int, Range(1)] = 1000`` with ``:ivar samples: the most draws.`` in the
docstring of its class gives the checks and the command-line option.
"""

import inspect
import math
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import import_module
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints


@dataclass(frozen=True)
class Range:
    """Bounds of a finite number: inclusive ``least`` and ``most``, exclusive ``above`` and ``below``."""

    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None

    def __contains__(self, number: float) -> bool:
        return (
            -math.inf < number < math.inf
            and (self.least is None or number >= self.least)
            and (self.most is None or number <= self.most)
            and (self.above is None or number > self.above)
            and (self.below is None or number < self.below)
        )

    def __str__(self) -> str:
        bounds = {
            "{:g} or more": self.least,
            "above {:g}": self.above,
            "at most {:g}": self.most,
            "below {:g}": self.below,
        }
        return " and ".join(text.format(value) for text, value in bounds.items() if value is not None)


@dataclass(frozen=True)
class NamesIn:
    """The keys of a dictionary given as ``module:NAME``; the module is imported when they are needed."""

    registry: str

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The keys."""
        module, _, name = self.registry.partition(":")
        return tuple(getattr(import_module(module), name))


class Help(str):
    """Help text for a setting, instead of a line in the docstring."""


class Placeholder(str):
    """The name of the value in help, such as FILE."""


class Opposite(str):
    """The name of the option that sets a flag to false."""


class Internal:
    """Marks a field that is not an option of a command."""


def listed(text: str) -> tuple[str, ...]:
    """Split a comma-separated text."""
    return tuple(filter(None, (part.strip() for part in text.split(","))))


Count = Annotated[int, Range(1)]
NotNegative = Annotated[int, Range(0)]
Seed = Annotated[int, Range(0, 2**32 - 1), Help("Equal seeds give equal results.")]


class Limits(NamedTuple):
    """A parsed annotation, with annotations of the whole value and of each item of a tuple.

    :ivar kind: the plain type; for a tuple, that of its items.
    :ivar several: whether the value is a tuple of any length.
    """

    kind: Any
    several: bool
    extras: tuple[Any, ...]
    item: tuple[Any, ...] = ()

    def first(self, kind: type) -> Any:
        """The first annotation of a class, or None."""
        return next((extra for extra in (*self.extras, *self.item) if isinstance(extra, kind)), None)


def limits(annotation: Any) -> Limits:
    """Parse an annotation; None is left out of unions."""
    if get_origin(annotation) is Annotated:
        inner = limits(annotation.__origin__)
        return inner._replace(extras=(*annotation.__metadata__, *inner.extras))
    if get_origin(annotation) in (Union, UnionType):
        return limits(next(kind for kind in get_args(annotation) if kind is not NoneType))
    if get_origin(annotation) is tuple and get_args(annotation)[1:] == (...,):
        item = limits(get_args(annotation)[0])
        return Limits(item.kind, True, (), item.extras)
    return Limits(annotation, False, ())


def forbidden(settings: Any) -> str | None:
    """A message about the first field of a dataclass that is out of bounds or not a choice, or None."""
    kind: Any = type(settings)
    for name, (limit, may_be_none) in _limits_of(kind).items():
        value = getattr(settings, name)
        bounds, choices = limit.first(Range), get_args(limit.kind)
        for one in value if limit.several else [value]:
            if one is None and may_be_none:
                continue
            if bounds is not None and one not in bounds:
                both = bounds.least is not None and bounds.most is not None
                reach = f"{bounds.least} to {bounds.most}" if both else bounds
                return f"{name} is {value}: it must be {reach}"
            if choices and one not in choices:
                return f"{name} is {value!r}: it must be one of {', '.join(map(str, choices))}"
    return None


@lru_cache
def _limits_of(settings: Any) -> dict[str, tuple[Limits, bool]]:
    """The fields that have bounds or choices, and whether each may be None."""
    found = {
        name: (limits(hint), NoneType in get_args(hint))
        for name, hint in get_type_hints(settings, include_extras=True).items()
    }
    return {
        name: (limit, may_be_none)
        for name, (limit, may_be_none) in found.items()
        if limit.first(Range) is not None or get_origin(limit.kind) is Literal
    }


FIELD = re.compile(r"^\s*:(?:ivar|param) (\w+): (.*?)(?=^\s*:\w+|^\s*$|\Z)", re.MULTILINE | re.DOTALL)


def meanings(described: Any) -> dict[str, str]:
    """The ``:ivar`` and ``:param`` texts of a class, with its bases, or of a function; each as one line."""
    sources = described.__mro__[::-1] if inspect.isclass(described) else [described]
    return {
        name: " ".join(text.replace("``", "").split())
        for source in sources
        for name, text in FIELD.findall(source.__doc__ or "")
    }
