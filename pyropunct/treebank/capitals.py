"""Capital letters at the beginning of a sentence, which go to whatever word comes to stand there."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyropunct.treebank.sentence import Sentence

ALIKE = 2.0
"""How many observations of a word its tag is worth."""

TAGS_ALIKE = 10.0
"""How many observations of a tag the rule is worth that proper nouns have a capital letter."""

Counts = Mapping[str, tuple[int, int]]


@dataclass(frozen=True)
class Capitals:
    """Which words a treebank writes with a capital letter inside sentences.

    The probability of a capital letter is (c + k r) / (n + k) for a word that was seen n times, c of them
    with a capital; r is the same for its tag, and for a tag it is 1 for proper nouns and 0 for others.

    :ivar words: for each lower-cased word its (c, n).
    :ivar tags: for each universal tag its (c, n).
    """

    words: Counts = field(default_factory=dict)
    tags: Counts = field(default_factory=dict)

    @classmethod
    def learn(cls, sentences: Iterable[Sentence]) -> "Capitals":
        """Count the words inside sentences that can have a capital letter, where no mark stands before."""
        words: Counter[tuple[str, bool]] = Counter()
        tags: Counter[tuple[str, bool]] = Counter()
        for sentence in sentences:
            tree = sentence.tree
            inside = list(zip(tree.forms, tree.tags, sentence.surface, strict=False))[1:]
            for form, tag, marks in inside:
                if not marks and form[:1].lower() != form[:1].upper():
                    words[form.lower(), form[:1].isupper()] += 1
                    tags[tag, form[:1].isupper()] += 1
        return cls(_shares(words), _shares(tags))

    def to_json(self) -> dict[str, Any]:
        """Plain dictionaries, from which `from_json` makes equal counts."""
        return {"words": dict(sorted(self.words.items())), "tags": dict(sorted(self.tags.items()))}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> "Capitals":
        """The counts that `to_json` wrote."""
        return cls(*({key: (c, n) for key, (c, n) in plain[name].items()} for name in ("words", "tags")))

    def has_capital(self, form: str, tag: str) -> bool:
        """Whether a word is written with a capital letter inside sentences."""
        # A pronoun of one letter, as English "I", is as good as a name.
        rule = float(tag == "PROPN" or (tag == "PRON" and len(form) == 1))
        by_tag = _smoothed(self.tags.get(tag, (0, 0)), rule, TAGS_ALIKE)
        return _smoothed(self.words.get(form.lower(), (0, 0)), by_tag, ALIKE) > 0.5

    def inside(self, form: str, tag: str) -> str:
        """A word from the beginning of a sentence as it is written inside; acronyms stay as they are."""
        if self.has_capital(form, tag) or any(map(str.isupper, form[1:])):
            return form
        return form[:1].lower() + form[1:]


def at_the_beginning(form: str) -> str:
    """A word as it is at the beginning of a sentence; one with capitals inside, as "iPhone", stays."""
    return form if any(map(str.isupper, form)) else form[:1].title() + form[1:]


def _shares(counts: Counter[tuple[str, bool]]) -> dict[str, tuple[int, int]]:
    keys = {key for key, _ in counts}
    return {key: (counts[key, True], counts[key, True] + counts[key, False]) for key in keys}


def _smoothed(counts: tuple[int, int], prior: float, weight: float) -> float:
    capital, seen = counts
    return (capital + weight * prior) / (seen + weight)
