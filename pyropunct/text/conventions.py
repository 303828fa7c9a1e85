"""How a treebank writes: spaces, quotation marks, abbreviations, capital letters, contractions.

Restored punctuation follows the training treebank, and where that gives no evidence, `pyropunct.text.marks`.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pyropunct.text.marks import COMMON, NO_MARKS, STRAIGHT, WIDE, space_beside_mark, space_between_words
from pyropunct.untrusted import texts, whole_numbers

ALIKE = 2.0
"""The weight of a word's tag, in observations of the word."""

TAGS_ALIKE = 10.0
"""The weight of the rule that proper nouns have a capital letter, in observations of a tag."""

CapitalCounts = Mapping[str, tuple[int, int]]

Splits = Mapping[str, tuple[str, ...]]
"""For each lower-cased written word the words, in small letters too, that it is made of."""


ARABIC = {",": "،", ";": "؛", "?": "؟"}
DEVANAGARI = {".": "।"}
CHINESE = {mark: mark.translate(WIDE) for mark in ",.?!;"}

MARKS_OF_SCRIPTS: dict[str, dict[str, str]] = {
    **dict.fromkeys(("ar", "fa", "ku", "ps", "ug", "ur"), ARABIC),
    "ur": ARABIC | {".": "۔"},
    **dict.fromkeys(("as", "bn", "hi", "ne", "or", "pa", "sa"), DEVANAGARI),
    **dict.fromkeys(("zh", "wuu", "yue"), CHINESE),
    "ja": CHINESE | {",": "、"},
    "am": {",": "፣", ".": "።"},
    "el": {"?": ";", ";": "·"},
    "hy": {".": "։"},
}
"""How languages write marks otherwise than in Latin script, for models that have not learned from them."""


@dataclass(frozen=True)
class Capitals:
    """Which words a treebank capitalises inside sentences.

    A word seen n times, c of them capitalised, is capitalised with probability (c + k r) / (n + k), where k
    is `ALIKE`, and r is the probability for its tag.  For tags the same formula holds with k = `TAGS_ALIKE`,
    and r = 1 for proper nouns and pronouns of one letter, else 0.
    """

    words: CapitalCounts = field(default_factory=dict)
    tags: CapitalCounts = field(default_factory=dict)

    def __add__(self, other: "Capitals") -> "Capitals":
        """The counts of both."""
        return Capitals(_added(self.words, other.words), _added(self.tags, other.tags))

    def to_json(self) -> dict[str, Any]:
        """Plain dictionaries, for `from_json`."""
        return {"words": dict(sorted(self.words.items())), "tags": dict(sorted(self.tags.items()))}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> "Capitals":
        """The counts that `to_json` wrote; raises `ValueError` if they are damaged."""
        columns = (plain[name].items() for name in ("words", "tags"))
        what = "the counts of capital letters"
        return cls(*({key: _two_counts(what, counts) for key, counts in column} for column in columns))

    def inside(self, form: str, tag: str) -> str:
        """The first word of a sentence as written inside one; acronyms stay."""
        # A pronoun of one letter, such as English "I", is treated as a proper noun.
        rule = float(tag == "PROPN" or (tag == "PRON" and len(form) == 1))
        by_tag = _smoothed(self.tags.get(tag, (0, 0)), rule, TAGS_ALIKE)
        has_capital = _smoothed(self.words.get(form.lower(), (0, 0)), by_tag, ALIKE) > 0.5
        return form if has_capital or any(map(str.isupper, form[1:])) else form[:1].lower() + form[1:]


def _added(some: CapitalCounts, others: CapitalCounts) -> CapitalCounts:
    both = dict(some)
    for key, (capital, seen) in others.items():
        before = both.get(key, (0, 0))
        both[key] = before[0] + capital, before[1] + seen
    return both


def at_the_beginning(form: str) -> str:
    """A word as written at the beginning of a sentence; "iPhone" stays, as do "ß" and "ﬁ"."""
    first, capital = form[:1], form[:1].title()
    goes_back = len(capital) == 1 and capital.lower() == first
    return capital + form[1:] if goes_back and not any(map(str.isupper, form)) else form


def _two_counts(name: str, plain: Any) -> tuple[int, int]:
    first, second = whole_numbers(name, plain)
    return first, second


def _two_texts(name: str, plain: Any) -> tuple[str, str]:
    first, second = texts(name, plain)
    return first, second


def _smoothed(counts: tuple[int, int], prior: float, weight: float) -> float:
    capital, seen = counts
    return (capital + weight * prior) / (seen + weight)


WORD, UNSPACED_WORD = "\tword", "\tunspaced word"
"""The two kinds of words: ordinary ones, and those that begin or end in a script without spaces, such as
Chinese."""

BESIDE_MARKS, BETWEEN_WORDS = 2, 10
"""The weight of the rules, in observations: beside a mark, and between two words."""


class Written(NamedTuple):
    """A token as printed: its form, and the directed mark, empty for a word."""

    form: str
    mark: str = ""


Counts = Mapping[tuple[str, str], tuple[int, int]]


@dataclass(frozen=True)
class SpacingStatistics:
    """Where a treebank puts spaces.

    The probability of a space between two neighbours a and b is (spaces + k r) / (pairs + k).  Here ``pairs``
    counts a b in the treebank, and ``spaces`` those with a space between.  The prior r is 1 or 0 by the rules
    of `pyropunct.text.marks`; between words of different kinds it is that of the commoner kind.  Its weight k
    is `BESIDE_MARKS` or `BETWEEN_WORDS`.  A mark counts as itself, a word as `WORD` or `UNSPACED_WORD`.
    Between two marks, r is the smaller probability of a space between a and a word, or a word and b.

    :ivar counts: (spaces, pairs) of each pair; empty without spaces in the treebank.
    :ivar enclitics: lower-cased words mostly written together with the word before, such as "n't".
    :ivar proclitics: lower-cased words mostly written together with the next word, such as "$".
    :ivar joined: pairs of other words mostly written together, such as "can" and "not".
    """

    counts: Counts = field(default_factory=dict)
    enclitics: frozenset[str] = frozenset()
    proclitics: frozenset[str] = frozenset()
    joined: frozenset[tuple[str, str]] = frozenset()

    def space(self, left: Written, right: Written) -> bool:
        """Whether a space stands between two neighbours."""
        if not left.mark and not right.mark:
            first, second = folded(left.form), folded(right.form)
            if second in self.enclitics or first in self.proclitics or (first, second) in self.joined:
                return False
        return self.probability(left, right) > 0.5

    def probability(self, left: Written, right: Written) -> float:
        """The probability of a space between two neighbours; a word counts only by its kind."""
        spaces, pairs = self.counts.get(kinds_of(left, right), (0, 0))
        weight = BESIDE_MARKS if left.mark or right.mark else BETWEEN_WORDS
        return (spaces + weight * self._prior(left, right)) / (pairs + weight)

    def _prior(self, left: Written, right: Written) -> float:
        if not left.mark and not right.mark:
            kinds = set(kinds_of(left, right))
            if len(kinds) == 1:
                return float(kinds == {WORD})
            # If most words of the treebank are ordinary ones, a Chinese one has spaces around it.
            ordinary, unspaced = (self.counts.get((kind, kind), (0, 0))[1] for kind in (WORD, UNSPACED_WORD))
            return float(ordinary > unspaced)
        if left.mark and right.mark and self.counts:
            as_words = Written(left.form), Written(right.form)
            return min(self.probability(left, as_words[1]), self.probability(as_words[0], right))
        marks = bool(left.mark), bool(right.mark)
        return float(space_beside_mark(left.mark or left.form, right.mark or right.form, *marks))

    def to_json(self) -> dict[str, Any]:
        """Plain lists, for `from_json`."""
        return {
            "counts": [[*pair, *counts] for pair, counts in sorted(self.counts.items())],
            "enclitics": sorted(self.enclitics),
            "proclitics": sorted(self.proclitics),
            "joined": sorted(map(list, self.joined)),
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> "SpacingStatistics":
        """The statistics that `to_json` wrote; raises `ValueError` if they are damaged."""
        counts = {
            _two_texts("a pair of tokens", [left, right]): _two_counts(
                "the counts of a pair of tokens", of_pair
            )
            for left, right, *of_pair in plain["counts"]
        }
        enclitics, proclitics = (
            frozenset(texts(f"the list of {name}", plain[name])) for name in ("enclitics", "proclitics")
        )
        joined = frozenset(_two_texts("a pair of words", pair) for pair in plain["joined"])
        return cls(counts, enclitics, proclitics, joined)


MOST_CAUTION = 100
"""The greatest factor of thresholds that is read from a file."""


@dataclass(frozen=True)
class Conventions:
    """How a treebank writes; the defaults are the usual rules.

    :ivar quotes: the form of each mark that it writes differently, mostly straight quotation marks.
    :ivar abbreviations: lower-cased words that mostly have an abbreviation dot, without it.
    :ivar caution: a factor for the thresholds of restored marks inside sentences.
    :ivar ends: the threshold for the probability that a sentence of running text ends; None for the reader's
        own threshold.
    """

    spacing: SpacingStatistics = SpacingStatistics()
    quotes: Mapping[str, str] = field(default_factory=dict)
    abbreviations: frozenset[str] = frozenset()
    capitals: Capitals = field(default_factory=Capitals)
    splits: Splits = field(default_factory=dict)
    caution: float = 1.0
    ends: float | None = None

    def written(self, mark: str) -> Written:
        """A mark as this treebank writes it."""
        return Written(self.quotes.get(mark, mark), mark)

    def meant(self, tokens: Collection[str]) -> dict[str, str]:
        """The model's token for each mark that this treebank, or another language, writes instead of it."""
        wide = {mark.translate(WIDE): mark for mark in tokens if mark not in NO_MARKS}
        others = {form: mark for form, mark in (wide | COMMON).items() if form not in tokens}
        own = {form: mark for mark, form in self.quotes.items() if form not in STRAIGHT}
        return {form: mark for form, mark in (others | own).items() if mark in tokens}

    def to_json(self) -> dict[str, Any]:
        """Plain lists and dictionaries, for `from_json`."""
        return {
            "spacing": self.spacing.to_json(),
            "quotes": dict(self.quotes),
            "abbreviations": sorted(self.abbreviations),
            "capitals": self.capitals.to_json(),
            "splits": {text: list(words) for text, words in sorted(self.splits.items())},
            "caution": self.caution,
            "ends": self.ends,
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> "Conventions":
        """The conventions that `to_json` wrote, capitals and all after them optional; raises `ValueError` if
        damaged.
        """
        spacing = SpacingStatistics.from_json(plain["spacing"])
        capitals = Capitals.from_json(plain["capitals"]) if "capitals" in plain else Capitals()
        splits = {text: texts("a split", words) for text, words in plain.get("splits", {}).items()}
        forms = texts("the quotation marks", [*plain["quotes"].values()])
        quotes = dict(zip(plain["quotes"], forms, strict=True))
        abbreviations = frozenset(texts("the list of abbreviations", plain["abbreviations"]))
        caution, ends = plain.get("caution", 1.0), plain.get("ends")
        if not all(type(one) in (int, float) and 0 <= one <= MOST_CAUTION for one in (caution, ends or 0)):
            raise ValueError("the thresholds of a language are no numbers")
        return cls(spacing, quotes, abbreviations, capitals, splits, caution, ends)


def folded(form: str) -> str:
    """A word in lower case; a single letter stays, so that an initial "M" differs from the "m" of "I'm"."""
    return form if len(form) == 1 else form.lower()


def kinds_of(left: Written, right: Written) -> tuple[str, str]:
    """The keys of two neighbours in the counts: a mark counts as itself, a word as its kind."""
    first = left.mark or (WORD if space_between_words(left.form, "x") else UNSPACED_WORD)
    return first, right.mark or (WORD if space_between_words("x", right.form) else UNSPACED_WORD)
