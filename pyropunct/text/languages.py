"""The language of a text, by the library py3langid."""

import math
from collections.abc import Collection, Sequence
from functools import cache
from threading import Lock
from typing import Any

from pyropunct.errors import SettingError

MOST_LETTERS = 20_000
"""The characters of a text that are read; more do not change its language."""

OWN_LETTERS, OWN_PROBABILITY = 30, 0.99
"""A line with so many letters, and this sure, may have another language than its text."""

NORWEGIAN = {"nb": "no", "nn": "no"}
"""Written forms, which are not told apart."""

_LOADING = Lock()


@cache
def _loaded() -> Any:
    from py3langid.langid import (
        MODEL_FILE,
        LanguageIdentifier,
    )  # of its own: others may restrict the shared one

    return LanguageIdentifier.from_model_file(MODEL_FILE)


def _identifier() -> Any:
    with _LOADING:
        return _loaded()


def language_of(text: str, languages: Collection[str]) -> tuple[str, float]:
    """The most probable one of some languages, and its probability among them.

    A text without letters may be in any of them: the first one by name is given.

    :param languages: ISO 639-1 codes; unknown ones are left out.
    :raises SettingError: if none of them is known.
    """
    text = text[:MOST_LETTERS]
    ranked = _identifier().rank(text)
    scores = dict[str, float]()
    for code, score in ranked:
        scores.setdefault(NORWEGIAN.get(code, code), score)  # the best form comes first
    own = {NORWEGIAN.get(code, code): code for code in sorted(languages, reverse=True)}
    known = sorted(own.keys() & scores.keys())
    if not known:
        raise SettingError(f"no known language is among {', '.join(sorted(languages)) or 'none'}")
    best = max(known, key=scores.__getitem__)
    # As in py3langid: scores are sums over bytes that depend on each other.
    heat = math.sqrt(max(1, len(text.encode(errors="surrogatepass"))))
    return own[best], 1 / sum(math.exp((scores[code] - scores[best]) / heat) for code in known)


def languages_of_lines(lines: Sequence[str], languages: Collection[str]) -> list[str]:
    """The language of each line: that of the whole text, unless a long line is surely in another one."""
    of_text, _ = language_of("\n".join(lines), languages)
    return [_own(line, languages) or of_text for line in lines]


def _own(line: str, languages: Collection[str]) -> str | None:
    """The language that a line is surely in, if it is long enough to tell."""
    if sum(map(str.isalpha, line)) < OWN_LETTERS:
        return None
    language, probability = language_of(line, languages)
    return language if probability > OWN_PROBABILITY else None
