"""Tells the dot of an abbreviation from a period."""

from collections.abc import Collection
from functools import cached_property, lru_cache
from importlib import import_module
from pkgutil import iter_modules

from pyropunct.text.conventions import Conventions

LEAST_ORDINARY = 5
"""An abbreviation is an ordinary word too if the treebank has it this often in small letters without dot."""

_NEVER_WORDS = frozenset(["etc"])
"""Abbreviations that are no words in any language, but that treebanks often have without their dot."""

_ENDING = frozenset(".?!…:”’\"'")
"""A sentence may begin behind these characters."""


class Abbreviations:
    """The abbreviations of a treebank and of its language."""

    def __init__(self, conventions: Conventions) -> None:
        self._conventions = conventions

    def has(self, word: str) -> bool:
        """Whether a dot behind a word belongs to it, whatever is beside it."""
        parts = word.split(".")
        if len(parts) > 1 and all(part.isalpha() and len(part) <= 2 for part in parts):
            return True
        folded = word.lower()
        return (
            (len(word) == 1 and word.isupper())
            or folded in self._conventions.abbreviations
            or (folded in self._of_language and not self._is_ordinary(folded))
        )

    def has_between(self, word: str, before: str, behind: str, has_capitals: bool) -> bool:
        """Whether an ordinary word with a dot is an abbreviation between its neighbours."""
        if word.lower() not in self._of_language:
            return False
        inside = bool(before) and before[-1] not in _ENDING
        small = behind[:1].islower() and has_capitals
        if (before.lower(), word.lower()) == ("et", "al"):
            return True
        return behind[:1].isdigit() or small or (word[0].isupper() and inside)

    def _is_ordinary(self, word: str) -> bool:
        """Whether an abbreviation is an ordinary word of the treebank too."""
        capital, seen = self._conventions.capitals.words.get(word, (0, 0))
        return seen - capital >= LEAST_ORDINARY and word not in _NEVER_WORDS

    @cached_property
    def _of_language(self) -> frozenset[str]:
        return abbreviations_like(self._conventions.abbreviations)


LEAST_SHARED = 3
"""The list of a treebank's language has at least this many of its abbreviations."""


def abbreviations_like(known: Collection[str]) -> frozenset[str]:
    """The abbreviations of a treebank's language, lower-cased and without dots, from the library sentencex.

    The language is the one whose list shares most with ``known``, relative to the root of its length; with
    fewer than `LEAST_SHARED` in common there is none.
    """
    shared = [(len(forms.intersection(known)), forms) for forms in _lists()]
    likely = [(count / len(forms) ** 0.5, forms) for count, forms in shared if count >= LEAST_SHARED]
    return max(likely, key=lambda pair: pair[0], default=(0.0, frozenset[str]()))[1]


@lru_cache(1)
def _lists() -> tuple[frozenset[str], ...]:
    """The list of each language, in the order of their names; equal lists count once."""
    import sentencex.languages  # importing it takes as long as reading a page of text

    lists: dict[frozenset[str], None] = {}
    for module in iter_modules(sentencex.languages.__path__):
        contents = vars(import_module(f"{sentencex.languages.__name__}.{module.name}"))
        for language in contents.values():
            if getattr(language, "__module__", "") == contents["__name__"]:
                lists[frozenset(form.lower().rstrip(".") for form in language.abbreviations)] = None
    return tuple(lists)
