"""The language of a text, by the library py3langid."""

import math
from collections.abc import Collection
from functools import cache
from threading import Lock
from typing import Any

from pyropunct.errors import SettingError

MOST_LETTERS = 20_000
"""The characters of a text that are read; more do not change its language."""

OWN_LETTERS, OWN_PROBABILITY = 100, 0.99
"""A text with so many letters, and this sure, may be in a language that is not known."""

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


def language_of(text: str, languages: Collection[str] | None = None) -> tuple[str, float]:
    """The most probable one of some languages, by default of all known ones, and its probability.

    A text without letters may be in any of them: the first one by name is given.

    :param languages: ISO 639-1 codes; unknown ones are left out.
    :raises SettingError: if none of them is known.
    """
    text = text[:MOST_LETTERS]
    ranked = _identifier().rank(text)
    scores = dict[str, float]()
    for code, score in ranked:
        scores.setdefault(NORWEGIAN.get(code, code), score)  # the best form comes first
    languages = scores if languages is None else languages
    own = {NORWEGIAN.get(code, code): code for code in sorted(languages, reverse=True)}
    known = sorted(own.keys() & scores.keys())
    if not known:
        raise SettingError(f"no known language is among {', '.join(sorted(languages)) or 'none'}")
    best = max(known, key=scores.__getitem__)
    # As in py3langid: scores are sums over bytes that depend on each other.
    heat = math.sqrt(max(1, len(text.encode(errors="surrogatepass"))))
    return own[best], 1 / sum(math.exp((scores[code] - scores[best]) / heat) for code in known)


def likely_language(text: str, known: Collection[str]) -> str:
    """The language of a text: one of the known ones, unless a long text is surely in another one."""
    letters = sum(map(str.isalpha, text[:MOST_LETTERS]))
    best, probability = language_of(text)
    names = {NORWEGIAN.get(code, code): code for code in known}
    if best in names:
        return names[best]
    if letters >= OWN_LETTERS and probability > OWN_PROBABILITY:
        return best
    return language_of(text, known)[0]
