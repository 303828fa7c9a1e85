"""Draws of surface punctuation, rewritten to what is to be printed before a decoder sees them.

Marks that are not wanted go, marks that are given stay.  A rewriting maps slot strings to slot strings, so
rewritten draws are draws from the distribution that p(x | T) turns into, and a decoder minimises the risk
under that one.  It does not condition on what is given: the other slots are as if nothing were known.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from pyropunct.treebank.marks import ABBREVIATION_DOT, START, UNKNOWN, Surface

if TYPE_CHECKING:
    from pyropunct.draws import Draws

String = tuple[str, ...]
Rewriting = Callable[["Draws"], "Draws"]


def mixture(parts: "Sequence[Draws]", weights: Sequence[float]) -> "Draws":
    """The draws of several distributions over the same slots as draws of their mixture.

    :param weights: of the distributions; they add up to 1.
    """
    if len(parts) == 1:
        return parts[0]
    numbers, strings = [], dict[String, int]()
    for part in parts:
        place = np.array([strings.setdefault(string, len(strings)) for string in part.strings], np.int32)
        numbers.append(place[part.numbers])
    shares = [weight * part.weights for weight, part in zip(weights, parts, strict=True)]
    return replace(
        parts[0], strings=tuple(strings), numbers=np.concatenate(numbers), weights=np.concatenate(shares)
    )


def rewritten(
    draws: "Draws", rewrite: Callable[[String], String], slots: Sequence[int] | None = None
) -> "Draws":
    """The draws with other strings in some slots.

    :param rewrite: the new string for an old one.
    :param slots: where, by default in all.
    """
    strings = {string: number for number, string in enumerate(draws.strings)}
    place = [strings.setdefault(rewrite(string), len(strings)) for string in draws.strings]
    numbers, new = draws.numbers.copy(), np.array(place, draws.numbers.dtype)
    where = slice(None) if slots is None else list(slots)
    numbers[:, where] = new[numbers[:, where]]
    return replace(draws, strings=tuple(strings), numbers=numbers)


def without_unknown(draws: "Draws") -> "Draws":
    """The draws without unknown marks, which cannot be printed."""
    return rewritten(draws, lambda string: tuple(token for token in string if token != UNKNOWN))


def with_marks_only(draws: "Draws", marks: Collection[str]) -> "Draws":
    """The draws without any but the given marks.

    The rest of a slot stays: where ``. ”`` was drawn and only the period is wanted, a period is left.
    An abbreviation dot is a period here.
    """
    wanted = {START, *marks}
    if "." in marks:
        wanted.add(ABBREVIATION_DOT)
    return rewritten(draws, lambda string: tuple(token for token in string if token in wanted))


def with_given(draws: "Draws", given: Surface) -> "Draws":
    """The draws with the given marks in all slots that have some, and what was drawn in the others."""
    for slot, marks in enumerate(given):
        if any(token != START for token in marks):
            draws = rewritten(draws, _constant(tuple(marks)), [slot])
    return draws


def _constant(string: String) -> Callable[[String], String]:
    return lambda _: string


def with_abbreviation_dots(draws: "Draws", given: Surface) -> "Draws":
    """The draws with an abbreviation dot wherever there is a given one, beside what else was drawn."""
    slots = [slot for slot, marks in enumerate(given) if ABBREVIATION_DOT in marks]
    return rewritten(draws, _with_dot, slots) if slots else draws


def _with_dot(string: String) -> String:
    return string if ABBREVIATION_DOT in string else (ABBREVIATION_DOT, *string)
