"""Slips of typing that rules mend with certainty, before a model looks at a line.

====== ============================ ================
rule   what it mends                example
====== ============================ ================
twice  a mark that stands twice     ``,,`` ``..`` ``!!``
before a space before a mark        ``home , and``
behind no space behind a mark       ``Hello,my``
====== ============================ ================

Dots of omission, "?!", numbers, addresses, code and emoticons stay.  So do spaces that the language writes,
as French before “!”.
"""

import re
from collections.abc import Collection
from difflib import SequenceMatcher

from pyropunct.text.conventions import Conventions, Written
from pyropunct.text.prose import ADDRESS, CODE

RULES = ("twice", "before", "behind")
"""The names of the rules, in the order in which they are applied."""

_TWICE = re.compile(r"(?<![.,;:!?])(?:([,;:])\1+|([!?])\2+|(\.)\.)(?![.,;:!?\w])")
_BEFORE = re.compile(r"(?<=[^\W\d_])[ \t]+(?P<mark>[,;:.!?])(?=\s|$)")
_BEHIND = re.compile(r"(?<=[^\W\d_]{2})([,;]|[!?](?=[^\W\d_][^\W\d_]))(?=[^\W\d_]{2})")


def mended(text: str, conventions: Conventions, rules: Collection[str] = RULES) -> str:
    """A line without typing errors.

    :param rules: those of `RULES` that are applied.
    """
    if "twice" in rules:
        text = _TWICE.sub(lambda found: found.group(found.lastindex or 0), text)
    if "before" in rules:
        text = _BEFORE.sub(lambda found: _closed_up(found, conventions), text)
    if "behind" in rules:
        text = re.sub(r"\S+", _opened, text)
    return text


def typing_errors(typed: str, new: str) -> list[tuple[str, str]]:
    """What was typed, and what is written for it, word by word."""
    words, others = typed.split(), new.split()
    found = SequenceMatcher(None, words, others, autojunk=False).get_opcodes()
    return [(" ".join(words[a:b]), " ".join(others[c:d])) for tag, a, b, c, d in found if tag != "equal"]


def _closed_up(found: re.Match[str], conventions: Conventions) -> str:
    mark = found["mark"]
    spaced = conventions.spacing.space(Written("word"), conventions.written(mark)._replace(mark=mark))
    return found.group() if spaced else mark


def _opened(found: re.Match[str]) -> str:
    token = found.group()
    return token if ADDRESS.has(token) or CODE.has(token) else _BEHIND.sub(r"\1 ", token)
