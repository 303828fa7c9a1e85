"""Checks of plain types that come from files, which anybody may have written or damaged."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from pyropunct.errors import MissingPartError, ModelFileError, VariantError


@contextmanager
def untrusted(what: str, kind: type[Exception] = ValueError) -> Iterator[None]:
    """Turn whatever the plain types and tensors of a file can raise inside a block into one error.

    Those who read them check texts, numbers, names and shapes before use.  But any type can be in any place,
    such as a list in place of an object.  Errors that tell what to do about a file stay as they are.

    :param what: how the error begins; then follows what is wrong.
    :param kind: its class.
    """
    try:
        yield
    except (ModelFileError, VariantError, MissingPartError):
        raise
    except (LookupError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise kind(f"{what}: {type(error).__name__}: {reason}") from error


def texts(name: str, value: Any) -> tuple[str, ...]:
    """Check a list of strings from an untrusted file; anything else raises a ValueError with ``name``."""
    if not isinstance(value, list | tuple) or not all(isinstance(text, str) for text in value):
        raise ValueError(f"{name} is no list of texts")
    try:
        "".join(value).encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{name} has half of a character, which cannot be written") from error
    return tuple(value)


def types(name: str, value: Any, first: Sequence[str] = ()) -> tuple[str, ...]:
    """Check a list of distinct strings that begins with ``first``; see `texts`."""
    found = texts(name, value)
    if len(set(found)) < len(found) or found[: len(first)] != tuple(first):
        raise ValueError(f"{name} has a text twice, or does not begin with {list(first)}")
    return found


def whole_numbers(name: str, value: Any, below: int = 1 << 53) -> tuple[int, ...]:
    """Check integers below ``below`` from an untrusted file; others raise a ValueError with ``name``."""
    right = isinstance(value, list | tuple) and set(map(type, value)) <= {int}
    if not right or (value and not 0 <= min(value) <= max(value) < below):
        raise ValueError(f"{name} is no list of whole numbers from 0 to {below - 1}")
    return tuple(value)
