"""Punctuation tokens that are not on the page: sentence start, abbreviation dot, unknown.

A CoNLL-U form never contains a tab, so a token that starts with one cannot be mistaken for a
mark that somebody wrote.
"""

from collections.abc import Iterable, Sequence

Surface = Sequence[Sequence[str]]
"""The punctuation tokens of each of the n + 1 slots of a sentence of n words."""

START = "\t^"
"""The sentence start: the first token of slot 0 of every sentence.  It can absorb an initial comma
(Li, Wang & Eisner 2019, section 4)."""

ABBREVIATION_DOT = "\tabbr."
"""The dot of a word such as "etc.": it belongs to the word and not to a constituent."""

UNKNOWN = "\tUNK"
"""Any mark too rare in training to be a type of its own."""


def marks_of(slot: Sequence[str]) -> tuple[str, ...]:
    """The tokens of a slot without the sentence start."""
    return tuple(token for token in slot if token != START)


def display(token: str) -> str:
    """The token as a person reads it: ``^``, ``abbr.``, ``UNK``, or the mark itself."""
    return token.removeprefix("\t")


def displayed_string(tokens: Iterable[str]) -> str:
    """Tokens side by side, each as a person reads it."""
    return " ".join(map(display, tokens))


def displayed(slot: Sequence[str]) -> list[str]:
    """The tokens of a slot as a person reads them, without the sentence start."""
    return [display(token) for token in marks_of(slot)]
