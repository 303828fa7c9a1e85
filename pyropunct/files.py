"""What the program writes: JSON that every reader of JSON understands."""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

NOT_FINITE = "not_finite"
"""The entry of an object that lists where a number is missing because it is infinite or none."""


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
