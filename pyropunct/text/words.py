"""Contractions, such as French "du", and abbreviations."""

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules

SHOWN = 40
"""Characters of a string that an error shows."""


def require_words(words: object) -> None:
    """Raise `TypeError` if the words of a sentence are one string."""
    if isinstance(words, str):
        start = words if len(words) <= SHOWN else words[:SHOWN] + "..."
        raise TypeError(f"{start!r} is a string: a sequence of words is needed, such as its split()")


LONGEST_WRITTEN = 200
"""The most characters of a written word that is taken apart."""

Splits = Mapping[str, tuple[str, ...]]
"""For each lower-cased written word the words, in small letters too, that it is made of."""


def split_word(text: str, splits: Splits, proclitics: Iterable[str], enclitics: Iterable[str]) -> list[str]:
    """The words of a written word; itself if it is one word, or longer than `LONGEST_WRITTEN`.

    :param proclitics: words split off at the beginning, and ``enclitics`` at the end; longest first.
    """
    if len(text) > LONGEST_WRITTEN:
        return [text]
    folded = _folded(text)
    if folded in splits:
        return _cased(text, splits[folded])
    for clitic in proclitics:
        if folded.startswith(clitic) and folded[len(clitic) :][:1].isalnum():
            rest = split_word(text[len(clitic) :], splits, proclitics, enclitics)
            return [text[: len(clitic)], *rest]
    for clitic in enclitics:
        if folded.endswith(clitic) and folded[: -len(clitic)][-1:].isalnum():
            return [*split_word(text[: -len(clitic)], splits, (), enclitics), text[-len(clitic) :]]
    return [text]


def _folded(text: str) -> str:
    return text.lower().replace("’", "'") if len(text.lower()) == len(text) else text


def _cased(text: str, words: tuple[str, ...]) -> list[str]:
    """The words with the capital letters of the written word."""
    if sum(map(len, words)) == len(text) and "".join(words) == _folded(text):
        cased, start = [], 0
        for word in words:
            cased.append(text[start : start + len(word)])
            start += len(word)
        return cased
    if len(text) > 1 and text.isupper():
        return [word.upper() for word in words]
    return [words[0][:1].upper() + words[0][1:] if text[:1].isupper() else words[0], *words[1:]]


LEAST_SHARED = 3
"""How many abbreviations of a treebank a list must have to be that of its language."""


def abbreviations_like(known: Collection[str]) -> frozenset[str]:
    """The abbreviations of a treebank's language, lower-cased and without dots, from the library sentencex.

    The language is the one whose list shares most with ``known``, relative to the root of its length; with
    fewer than `LEAST_SHARED` in common there is none.
    """
    shared = [(len(one.intersection(known)), one) for one in _lists()]
    likely = [(count / len(one) ** 0.5, one) for count, one in shared if count >= LEAST_SHARED]
    return max(likely, key=lambda pair: pair[0], default=(0.0, frozenset[str]()))[1]


@lru_cache(1)
def _lists() -> tuple[frozenset[str], ...]:
    """The list of each language, in the order of their names; equal lists count once."""
    import sentencex.languages  # importing it takes as long as reading a page of text

    lists: dict[frozenset[str], None] = {}
    for module in iter_modules(sentencex.languages.__path__):
        contents = vars(import_module(f"{sentencex.languages.__name__}.{module.name}"))
        own = (one for one in contents.values() if getattr(one, "__module__", "") == contents["__name__"])
        for language in own:
            lists[frozenset(form.lower().rstrip(".") for form in language.abbreviations)] = None
    return tuple(lists)
