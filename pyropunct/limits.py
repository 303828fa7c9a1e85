"""Bounds, choices and help of settings, read from annotations and docstrings.

A field such as ``samples: Annotated[int, Range(1)] = 1000``, with ``:ivar samples: the most draws.`` in the
docstring of its class, is everything that checks and the command line need to know about it.
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
    """Bounds of a number, which is finite.

    :ivar least: the smallest.
    :ivar most: the greatest.
    :ivar above: every number is greater.
    :ivar below: every number is smaller.
    """

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
    """The keys of a dictionary, whose module is imported only when they are needed.

    :ivar registry: ``module:NAME`` of the dictionary.
    """

    registry: str

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names."""
        module, _, name = self.registry.partition(":")
        return tuple(getattr(import_module(module), name))


class Help(str):
    """The meaning of a setting that several docstrings would have to repeat."""


class Placeholder(str):
    """What stands for the value in help, such as FILE."""


class Opposite(str):
    """The name of the option that sets a flag to false, if it has one of its own."""


class Internal:
    """Marks a field that is no option of a command."""


def listed(text: str) -> tuple[str, ...]:
    """The parts of a text between commas."""
    return tuple(filter(None, (part.strip() for part in text.split(","))))


Count = Annotated[int, Range(1)]
NotNegative = Annotated[int, Range(0)]
Seed = Annotated[int, Range(0, 2**32 - 1), Help("Equal seeds give equal results.")]


class Limits(NamedTuple):
    """An annotation, taken apart.

    :ivar kind: the plain type; that of the items of a tuple.
    :ivar several: whether the value is a tuple of any length.
    :ivar extras: what is said of the whole value.
    :ivar item: what is said of each item of a tuple.
    """

    kind: Any
    several: bool
    extras: tuple[Any, ...]
    item: tuple[Any, ...] = ()

    def first(self, kind: type) -> Any:
        """The first remark of a class, None without any."""
        return next((extra for extra in (*self.extras, *self.item) if isinstance(extra, kind)), None)


def limits(annotation: Any) -> Limits:
    """What an annotation says; None is left out of unions."""
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
    """What is wrong with the first field of a dataclass whose value is out of bounds or no choice, if any."""
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
    """The fields of a dataclass that have bounds or choices, and whether each may be None."""
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
    """The meanings of the fields of a class and its bases, or of the parameters of a function, by name.

    They are the ``:ivar`` and ``:param`` of docstrings, each as one line.
    """
    sources = described.__mro__[::-1] if inspect.isclass(described) else [described]
    return {
        name: " ".join(text.replace("``", "").split())
        for source in sources
        for name, text in FIELD.findall(source.__doc__ or "")
    }
