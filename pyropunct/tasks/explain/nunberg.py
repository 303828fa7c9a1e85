"""Nunberg's rules of English punctuation (Nunberg 1990; Li, Wang & Eisner 2019, Table 1 and section 5.1).

Of two neighbouring marks the weaker one is deleted (caption of Table 1), in the order of strength

    { ?, !, and all brackets and quotation marks }  >  .  >  { ;, : }  >  -  >  ,

except that a bracket does not absorb marks outside of the material that it encloses.  Also, a comma or a
period moves inside closing quotation marks.

The paper says that there are 192 rules for 16 types of marks, but prints neither.  This module reconstructs
them.  Eleven marks are in the caption, the abbreviation dot is in the table, and square brackets and single
quotation marks make sixteen.  They determine 112 rules: 60 for two points, 4 for quote transposition, and 48
for a bracket and a weaker point inside of it.  The other 80 rules must be for pairs in which neither mark is
weaker, and exactly 80 such pairs have a bracket and no point outside of it.  They are taken to have rules too
(`EQUAL_STRENGTH`): the bracket absorbs the point, and one of two brackets absorbs the other.  64 pairs are
unchanged: a point beside the outside of a bracket (60), and the different points of equal strength ``?!``,
``!?``, ``;:``, ``:;``.
"""

from collections.abc import Collection
from itertools import product
from typing import NamedTuple

from pyropunct.text.marks import ABBREVIATION_DOT

STRENGTHS: tuple[tuple[str, ...], ...] = (
    (",",),
    ("-",),
    (";", ":"),
    (".",),
    (ABBREVIATION_DOT,),
    ("?", "!", "(", ")", "[", "]", "“", "”", "‘", "’"),
)
"""The 16 marks in groups of equal strength, the weakest first."""

MARKS: tuple[str, ...] = tuple(mark for equals in STRENGTHS for mark in equals)
"""The 16 marks."""

_COMMON = """
the of and to a in is that it was for on with he as his at by this had not are but from or have they which you
would were her she there been their we when who will more if no out so
"""

ENGLISH_WORDS = frozenset(_COMMON.split())
"""The commonest words of English text.  Text in other languages has some of them, in names and titles."""

_STRENGTH = {mark: strength for strength, equals in enumerate(STRENGTHS) for mark in equals}
_OPENING, _CLOSING = {"(", "[", "“", "‘"}, {")", "]", "”", "’"}
_CLOSING_QUOTES = {"”", "’"}
_TRANSPOSED = {",", "."}

POINT_ABSORPTION = "point absorption"
PERIOD_ABSORPTION = "period absorption"
QUOTE_TRANSPOSITION = "quote transposition"
BRACKET_ABSORPTION = "bracket absorption"
EQUAL_STRENGTH = "equal strength"

SCHEMATA = (
    POINT_ABSORPTION,
    QUOTE_TRANSPOSITION,
    PERIOD_ABSORPTION,
    BRACKET_ABSORPTION,
    EQUAL_STRENGTH,
)
"""The schemata of Table 1 in its order of priority, and one for the pairs that it leaves open."""


class NunbergRule(NamedTuple):
    """The outcome of two neighbouring underlying marks, as on the page, by one of `SCHEMATA`."""

    before: tuple[str, str]
    after: tuple[str, ...]
    schema: str


def nunberg_rules() -> tuple[NunbergRule, ...]:
    """All rules; a pair of `MARKS` without a rule is unchanged."""
    rules = (_rule(a, b) for a, b in product(MARKS, repeat=2))
    return tuple(rule for rule in rules if rule is not None)


def _rule(a: str, b: str) -> NunbergRule | None:
    if a in _CLOSING_QUOTES and b in _TRANSPOSED:
        return NunbergRule((a, b), (b, a), QUOTE_TRANSPOSITION)
    if not (_is_bracket(a) or _is_bracket(b)):
        return _of_points(a, b)
    remaining = _absorbing_bracket(a, b)
    if remaining is None:
        return None
    schema = EQUAL_STRENGTH if _STRENGTH[a] == _STRENGTH[b] else BRACKET_ABSORPTION
    return NunbergRule((a, b), (remaining,), schema)


def _is_bracket(mark: str) -> bool:
    return mark in _OPENING or mark in _CLOSING


def _of_points(a: str, b: str) -> NunbergRule | None:
    """The weaker of two points is absorbed, and so is one of two equal points."""
    if a != b and _STRENGTH[a] == _STRENGTH[b]:
        return None
    schema = (
        PERIOD_ABSORPTION
        if "." in (a, b) and max(_STRENGTH[a], _STRENGTH[b]) > _STRENGTH["."]
        else (POINT_ABSORPTION)
    )
    return NunbergRule((a, b), (max(a, b, key=_STRENGTH.__getitem__),), schema)


def _absorbing_bracket(a: str, b: str) -> str | None:
    """The bracket that absorbs the other of two neighbours, if one does."""
    if _is_bracket(a) and _is_bracket(b):
        return b if a in _CLOSING and b in _CLOSING else a
    if a in _OPENING:
        return a
    return b if b in _CLOSING else None


def is_english(words: Collection[str]) -> bool:
    """Whether the frequent words of a text, in lower case, include at least half of `ENGLISH_WORDS`."""
    return 2 * len(ENGLISH_WORDS.intersection(words)) >= len(ENGLISH_WORDS)
