"""Kinds of constituents that are compared: of relations, with and without subtypes, split by features."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pyropunct.treebank.conllu_block import FEATS
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import base

PLACE, LENGTH, FINITE = "place", "length", "finite"
"""What rows can be split by, besides features of the head word such as ``VerbForm``."""

LENGTHS = ((1, "1 word"), (3, "2–3 words"), (6, "4–6 words"), (10, "7–10 words"))
"""The most words of constituents that are called so."""

LONG = "over 10 words"

UNKNOWN_FINITE = "finite or not is unknown"
"""What constituents are like in a treebank without ``VerbForm=Fin``."""

NO_SUBTYPE = " (no subtype)"

PREDICATE = {"aux", "cop"}
"""Dependents that belong to a predicate, and may be finite in its place."""


class Tally(NamedTuple):
    """The expected number of times that something happens, in total and for each outcome."""

    total: float
    outcomes: Mapping[str, float]


Key = tuple[str, str]
"""What is compared, and of what."""


class Tallies:
    """Tallies that grow."""

    def __init__(self) -> None:
        self.totals: defaultdict[Key, float] = defaultdict(float)
        self.outcomes: defaultdict[Key, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))

    def add(self, key: Key, has: Mapping[str, bool], times: float = 1) -> None:
        """Count something that happens so many times, and the outcomes that it has."""
        self.totals[key] += times
        for outcome, happens in has.items():
            self.outcomes[key][outcome] += times * happens

    def found(self, digits: int | None = None) -> dict[Key, Tally]:
        """All tallies, rounded; constituents without a subtype apart only where others have one."""
        return {
            key: Tally(
                round(total, digits),
                {name: round(times, digits) for name, times in self.outcomes[key].items()},
            )
            for key, total in self.totals.items()
            if NO_SUBTYPE not in key[1] or total != self.totals[key[0], key[1].replace(NO_SUBTYPE, "")]
        }


def features(sentence: Sentence, word: int) -> dict[str, str]:
    """The column FEATS of a word."""
    column = sentence.layout.block.tokens[sentence.layout.words[word - 1] - 1].columns[FEATS]
    return dict(one.split("=", 1) for one in column.split("|") if "=" in one)


def likenesses(sentences: Sequence[Sentence], by: Sequence[str]) -> list[list[str]]:
    """What each constituent is like, such as ", behind its head, 2–3 words"; "" if nothing is asked for."""
    has_finite = FINITE in by and any(
        features(one, word).get("VerbForm") == "Fin"
        for one in sentences
        for word in range(1, len(one.tree) + 1)
    )
    known = [UNKNOWN_FINITE if one == FINITE and not has_finite else one for one in by]
    return [
        ["".join(f", {_like(one, word, name)}" for name in known) for word in range(1, len(one.tree) + 1)]
        for one in sentences
    ]


def _like(sentence: Sentence, word: int, by: str) -> str:
    tree = sentence.tree
    if by == PLACE:
        head = tree.heads[word - 1]
        return "root" if not head else "before its head" if word < head else "behind its head"
    if by == LENGTH:
        first, last = tree.spans[word - 1]
        return next((name for most, name in LENGTHS if last - first < most), LONG)
    if by == FINITE:
        predicate = [one for one in tree.children[word] if base(tree.relations[one - 1]) in PREDICATE]
        is_finite = any(features(sentence, one).get("VerbForm") == "Fin" for one in (word, *predicate))
        return "finite" if is_finite else "not finite"
    if by == UNKNOWN_FINITE:
        return UNKNOWN_FINITE
    return f"{by}={features(sentence, word).get(by, 'none')}"


def rows_of(relation: str, like: str) -> Iterator[str]:
    """The rows in which a constituent is counted: of its relation, and with or without the subtype."""
    general = base(relation)
    yield general + like
    yield (relation + NO_SUBTYPE if general == relation else relation) + like
