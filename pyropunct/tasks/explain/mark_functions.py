"""What marks do, so that those of several languages can be compared.

A question mark is ``?``, ``؟`` or, in Greek, ``;``.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from pyropunct.fitted.fitted_story import FittedStory
from pyropunct.models.symmetry import PAIRED
from pyropunct.text.marks import (
    ABBREVIATION_DOT,
    COMMAS,
    DASHES,
    EXCLAMATION_MARKS,
    PERIODS,
    QUESTION_MARKS,
    START,
    STRAIGHT,
    display,
)
from pyropunct.treebank.sentence import Sentence

BRACKET, QUOTE, COMMA, FINAL, DASH, OTHER = "bracket", "quote", "comma", "final", "dash", "other"

BRACKETS = frozenset("()[]{}（）［］【】〔〕<>")
"""The characters of brackets; other marks that come in pairs are quotation marks, also around titles."""

OPENING, CLOSING = ({f"{side}-{kind}" for kind in (BRACKET, QUOTE)} for side in ("opening", "closing"))
"""The functions of marks that come in pairs.  Undirected marks, such as ", are only `BRACKET` or `QUOTE`."""

INVERTED = frozenset("¿¡")
"""Question and exclamation marks in front."""

ENDS = PERIODS | QUESTION_MARKS | EXCLAMATION_MARKS
"""The characters of marks that end sentences; an ellipsis may stand within one."""

CHARACTERS = {
    COMMA: COMMAS,
    FINAL: ENDS | {"…"},
    DASH: DASHES,
    "colon": frozenset(":;：；؛"),
}
"""The characters of marks that do the same whatever side they stand on; ``?!`` and ``--`` have several."""

ALONE = {START: display(START), ABBREVIATION_DOT: display(ABBREVIATION_DOT)}
"""Tokens that are functions of their own: they absorb and are absorbed, but no constituent sprouts them."""

OF_PAIRS = PAIRED.union(STRAIGHT) - {*"¿¡"}
"""Brackets and quotation marks, directed or not."""

EITHER = {BRACKET, QUOTE}
FUNCTIONS = (*sorted(OPENING | CLOSING | EITHER), *CHARACTERS, OTHER, *ALONE.values())
"""What marks do."""

DIRECTED, SEEN = 2 / 3, 5.0
"""A mark expected in `SEEN` pairs opens if more than the share `DIRECTED` of it stands on the left."""


def mark_function(mark: str, left: float = 0.0, right: float = 0.0, *, greek: bool = False) -> str:
    """What a mark does, one of `FUNCTIONS`, given how often paired marks have it on the left and right."""
    if mark in ALONE:
        return ALONE[mark]
    if greek and mark == ";":
        return FINAL
    if mark in OF_PAIRS:
        is_directed = left + right >= SEEN and max(left, right) > DIRECTED * (left + right)
        kind = BRACKET if BRACKETS.issuperset(mark) else QUOTE
        return kind if not is_directed else f"opening-{kind}" if left > right else f"closing-{kind}"
    of_characters = (name for name, characters in CHARACTERS.items() if characters.issuperset(mark))
    return next(of_characters, OTHER)


def asks(mark: str, function: str) -> bool:
    """Whether a mark of some function is a question mark: a ``;`` that ends sentences is the Greek one."""
    return function == FINAL and (not QUESTION_MARKS.isdisjoint(mark) or mark == ";")


def is_greek(sentences: Iterable[Sentence]) -> bool:
    """Whether most words have Greek letters."""
    words = [word for sentence in sentences for word in sentence.tree.forms]
    return 2 * sum(
        any("\u0370" <= one <= "\u03ff" or "\u1f00" <= one <= "\u1fff" for one in word) for word in words
    ) > len(words)


def functions_of(
    model: FittedStory, sentences: Sequence[Sentence], expected: NDArray[np.float64]
) -> dict[str, str]:
    """The function of each token in sentences, given (rows,) expected counts of puncteme pairs."""
    tokens, greek = model.vocabulary.tokens, is_greek(sentences)
    sides = np.zeros((2, len(tokens)))
    of_pairs = {token for token, mark in enumerate(tokens) if mark in OF_PAIRS}
    for row, times in zip(model.vocabulary.inventory.rows, expected, strict=True):
        if not any(of_pairs.isdisjoint(puncteme) for puncteme in row):
            for side, puncteme in zip(sides, row, strict=True):
                np.add.at(side, list(puncteme), times)
    return {mark: mark_function(mark, *sides[:, token], greek=greek) for token, mark in enumerate(tokens)}
