"""What the program writes and reads again: JSON that every reader of JSON understands, and its parts."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

NOT_FINITE = "not_finite"
"""The entry of an object that lists where a number is missing because it is infinite or none."""


LARGEST_SETTING = 1_000_000
"""No number of layers, features or epochs comes near this."""


def json_text(value: Mapping[str, Any], indent: int | None = None) -> str:
    """An object as JSON.

    JSON has no infinite numbers, and none for "not a number".  In their places is null, and `NOT_FINITE`
    lists these places, such as ``epochs/0/perplexity``.
    """
    try:
        return json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    except ValueError:
        plain = json.loads(json.dumps(value))
        told = {**_without(plain), NOT_FINITE: ["/".join(place) for place in _places(plain)]}
        return json.dumps(told, ensure_ascii=False, indent=indent, allow_nan=False)


def _places(value: Any) -> Iterator[tuple[str, ...]]:
    """The places of the numbers that are not finite."""
    if isinstance(value, float) and not math.isfinite(value):
        yield ()
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in parts:
        for place in _places(part):
            yield str(name), *place


def _without(value: Any) -> Any:
    """The same with null in these places."""
    if isinstance(value, dict):
        return {name: _without(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_without(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def texts(name: str, value: Any) -> tuple[str, ...]:
    """A list of texts that somebody else has written.

    :raises ValueError: if it is anything else; the message names it.
    """
    if not isinstance(value, list | tuple) or not all(isinstance(text, str) for text in value):
        raise ValueError(f"{name} is no list of texts")
    return tuple(value)


def types(name: str, value: Any, first: Sequence[str] = ()) -> tuple[str, ...]:
    """`texts` that are numbered by their places: each is there once.

    :param first: those with which it begins.
    :raises ValueError: if it is anything else; the message names it.
    """
    found = texts(name, value)
    if len(set(found)) < len(found) or found[: len(first)] != tuple(first):
        raise ValueError(f"{name} has a text twice, or does not begin with {list(first)}")
    return found


def whole_numbers(name: str, value: Any, below: int = 1 << 53) -> tuple[int, ...]:
    """A list of whole numbers from 0 that somebody else has written.

    :param below: each is less than this.
    :raises ValueError: if it is anything else; the message names it.
    """
    if not isinstance(value, list | tuple) or not all(type(one) is int and 0 <= one < below for one in value):
        raise ValueError(f"{name} is no list of whole numbers from 0 to {below - 1}")
    return tuple(value)


def numbers_like(usual: Mapping[str, int | float], value: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that somebody else has written, all of them numbers.

    :param usual: names, and numbers of the same types.
    :raises ValueError: if one has another type, or is negative or above `LARGEST_SETTING`.
    """
    for name, number in usual.items():
        kinds = (int,) if type(number) is int else (int, float)
        if type(value[name]) not in kinds or not 0 <= value[name] <= LARGEST_SETTING:
            raise ValueError(f"the setting {name} is {value[name]!r}")
    return {name: value[name] for name in usual}
