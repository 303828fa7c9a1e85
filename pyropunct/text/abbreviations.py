"""Abbreviations of languages, from the lists of the library sentencex.

A treebank shows only some abbreviations of its language: that of the English model has "Mr.", and hardly any
"Sen.".
"""

from collections.abc import Collection, Iterator
from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules

LEAST_SHARED = 3
"""How many abbreviations of a treebank a list must have to be that of its language."""


def abbreviations_like(known: Collection[str]) -> frozenset[str]:
    """The abbreviations of the language of a treebank, lower-cased and without their dots.

    The language is the one whose list shares most with the treebank, relative to the root of its length;
    without `LEAST_SHARED` in common there is none.

    :param known: the abbreviations that the treebank shows.
    """
    shared = [(len(one.intersection(known)), one) for one in _lists()]
    likely = [(count / len(one) ** 0.5, one) for count, one in shared if count >= LEAST_SHARED]
    return max(likely, key=lambda pair: pair[0], default=(0.0, frozenset[str]()))[1]


@lru_cache(1)
def _lists() -> tuple[frozenset[str], ...]:
    """The list of each language, in the order of their names; languages with one list are one here."""
    return tuple(dict.fromkeys(_read()))


def _read() -> Iterator[frozenset[str]]:
    import sentencex.languages  # takes as long as reading a page of text

    for module in iter_modules(sentencex.languages.__path__):
        contents = vars(import_module(f"{sentencex.languages.__name__}.{module.name}"))
        own = (one for one in contents.values() if getattr(one, "__module__", "") == contents["__name__"])
        for language in own:
            yield frozenset(form.lower().rstrip(".") for form in language.abbreviations)
