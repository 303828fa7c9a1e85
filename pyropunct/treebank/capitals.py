"""Capital letters: which words have one inside sentences, and how the first word of a sentence is written."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyropunct.files import whole_numbers
from pyropunct.treebank.sentence import Sentence

ALIKE = 2.0
"""The weight of a word's tag, in observations of the word."""

TAGS_ALIKE = 10.0
"""The weight of the rule that proper nouns have a capital letter, in observations of a tag."""

Counts = Mapping[str, tuple[int, int]]


@dataclass(frozen=True)
class Capitals:
    """Which words a treebank writes with a capital letter inside sentences.

    A word that was seen n times, c of them with a capital letter, has one with probability
    (c + k r) / (n + k).  Here k is `ALIKE`, and r is the probability for its tag.  That is given by the same
    formula with the counts of the tag, where k is `TAGS_ALIKE`, and r is 1 for proper nouns and for pronouns
    of one letter, 0 for all others.

    :ivar words: for each lower-cased word its (c, n).
    :ivar tags: for each universal tag its (c, n).
    """

    words: Counts = field(default_factory=dict)
    tags: Counts = field(default_factory=dict)

    @classmethod
    def learn(cls, sentences: Iterable[Sentence]) -> "Capitals":
        """Count capital letters of words that can have one.

        The first word of a sentence and words that follow a mark are not counted.
        """
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
        """The counts that `to_json` wrote.

        :raises ValueError: if the input holds anything but counts.
        """

        def shares(counts: Mapping[str, Any]) -> dict[str, tuple[int, int]]:
            pairs = {
                key: whole_numbers("the counts of capital letters", pair) for key, pair in counts.items()
            }
            return {key: (capital, seen) for key, (capital, seen) in pairs.items()}

        return cls(shares(plain["words"]), shares(plain["tags"]))

    def has_capital(self, form: str, tag: str) -> bool:
        """Whether a word is written with a capital letter inside sentences."""
        # A pronoun of one letter, such as English "I", is treated as a proper noun.
        rule = float(tag == "PROPN" or (tag == "PRON" and len(form) == 1))
        by_tag = _smoothed(self.tags.get(tag, (0, 0)), rule, TAGS_ALIKE)
        return _smoothed(self.words.get(form.lower(), (0, 0)), by_tag, ALIKE) > 0.5

    def inside(self, form: str, tag: str) -> str:
        """How the first word of a sentence is written inside one; acronyms stay as they are."""
        if self.has_capital(form, tag) or any(map(str.isupper, form[1:])):
            return form
        return form[:1].lower() + form[1:]


def at_the_beginning(form: str) -> str:
    """How a word is written at the beginning of a sentence; one with capital letters, as "iPhone", stays."""
    return form if any(map(str.isupper, form)) else form[:1].title() + form[1:]


def _shares(counts: Counter[tuple[str, bool]]) -> dict[str, tuple[int, int]]:
    keys = {key for key, _ in counts}
    return {key: (counts[key, True], counts[key, True] + counts[key, False]) for key in keys}


def _smoothed(counts: tuple[int, int], prior: float, weight: float) -> float:
    capital, seen = counts
    return (capital + weight * prior) / (seen + weight)
