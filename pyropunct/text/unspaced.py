"""Words of scripts without spaces, found by packages of the extra ``unspaced``: rjieba and Janome."""

import re
from collections.abc import Callable, Iterable
from functools import cache, partial
from importlib import import_module

from pyropunct.text.marks import space_between_words

KANA = re.compile(r"[\u3040-\u30ff]")
"""Japanese has such letters, Chinese does not."""

SHORTEST, LONGEST = 5, 2000
"""The fewest characters in which words are looked for, since most words are shorter; the most at once."""


def words_without_spaces(text: str) -> list[str]:
    """The words of Chinese or Japanese without spaces.

    Other text is one word, and so is this if the packages are not installed.
    """
    if len(text) < SHORTEST or not is_without_spaces(text):
        return [text]
    cut = _cutter("Japanese" if KANA.search(text) else "Chinese")
    if cut is None:
        return [text]
    return [word for start in range(0, len(text), LONGEST) for word in cut(text[start : start + LONGEST])]


def is_without_spaces(text: str) -> bool:
    """Whether a text begins and ends with letters of a script without spaces."""
    return not (space_between_words(text, "x") or space_between_words("x", text))


@cache
def _cutter(language: str) -> Callable[[str], Iterable[str]] | None:
    """What finds the words of a language; None if its package is not installed."""
    try:
        if language == "Chinese":
            return import_module("rjieba").cut
        return partial(import_module("janome.tokenizer").Tokenizer().tokenize, wakati=True)
    except ImportError:
        return None
