"""The error channel p(x_e | x_c): how punctuation goes wrong.

At most one error happens in a slot: a mark is dropped, inserted, replaced, or swapped with its neighbour.
Each error that can happen to the string of a slot has the odds ``rate * exp(sum of the weights of its
features)``, so its probability is its odds divided by 1 + the sum of all odds.  Features are the error, the
marks beside it, and the place of the slot in the tree (`contexts`).  The rate belongs to the writer; the
weights are fitted to errors with rate 1.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

from pyropunct.tasks.correct.learner_errors import SUBJECTS, String
from pyropunct.text.marks import ABBREVIATION_DOT, START, display
from pyropunct.treebank.tree import Tree, base
from pyropunct.untrusted import texts

KINDS = ("drop", "insert", "replace", "swap")
"""The kinds of errors."""

GREATEST = 100.0
"""No weight is farther from 0 than this."""

REMEMBERED, REMEMBERED_MARKS = 20_000, 3
"""The most strings in their contexts whose odds are cached, and the most marks of such a string: the memory
that the outcomes of a string take is quadratic in its length."""

MOST_MARKS = 20
"""The most marks of a slot that is corrected: time is cubic in their number."""

NONE = "none"
"""Stands for the mark beside an error if there is no mark."""


class Error(NamedTuple):
    """An error, one of `KINDS`, in a slot.

    :ivar mark: the mark that is dropped, inserted or replaced, or the first of two that are swapped.
    :ivar other: the replacement, or the second of two that are swapped; otherwise empty.
    """

    kind: str
    mark: str
    other: str = ""

    @property
    def name(self) -> str:
        """The error for a person to read."""
        return " ".join(filter(None, (self.kind, display(self.mark), display(self.other))))

    @property
    def rewriting(self) -> tuple[String, String]:
        """The neighbouring marks that go wrong, and their replacement."""
        mark, other = (self.mark,), (self.other,)
        both = {"drop": (mark, ()), "insert": ((), mark), "replace": (mark, other)}
        return both.get(self.kind, (mark + other, other + mark))


class Spoiled(NamedTuple):
    """A string after an error, and the marks on both sides of it, or `NONE`."""

    error: Error
    string: String
    before: str
    after: str


Context = frozenset[str]
"""The place of a slot in the tree: see `contexts`."""


def contexts(tree: Tree) -> list[Context]:
    """The context of each of the slots 0..n: where it stands in the tree.

    A context has the relations of the constituents that begin or end at the slot (``begins conj``; ``ends
    advcl <`` before its head; ``begins conj +`` with a subject), the relations of the words beside it (``word
    cc``, ``after cc``), and whether the slot is first or last.
    """
    places: list[set[str]] = [set() for _ in range(len(tree) + 1)]
    relations = [base(relation) for relation in tree.relations]
    for word, (first, last) in enumerate(tree.spans, 1):
        relation, head = relations[word - 1], tree.heads[word - 1]
        if not head:
            continue
        subject = any(relations[child - 1] in SUBJECTS for child in tree.children[word])
        places[first - 1].add(f"begins {relation}{' +' * subject}")
        places[last].add(f"ends {relation}{' <' * (word < head)}")
    for slot, relation in enumerate(relations):
        places[slot].add(f"word {relation}")
        places[slot + 1].add(f"after {relation}")
    places[0].add("first")
    places[-1].add("last")
    return list(map(frozenset, places))


@dataclass(frozen=True)
class ErrorChannel:
    """A fitted error channel; features without a weight have weight 0."""

    errors: tuple[Error, ...]
    weights: Mapping[str, float]

    def outcomes(self, string: String) -> Iterator[Spoiled]:
        """Yields the outcomes of single errors; starts, abbreviation dots and unknown marks stay."""
        first = _first_mark(string)
        for place in range(first, len(string) + 1):
            before = display(string[place - 1]) if place > first else NONE
            for error, old, new in self._rewritings:
                behind = place + len(old)
                if string[place:behind] == old:
                    after = display(string[behind]) if behind < len(string) else NONE
                    yield Spoiled(error, (*string[:place], *new, *string[behind:]), before, after)

    def sources(self, wrong: String) -> list[String]:
        """The right strings that at most one error turns into a wrong string; itself first."""
        sources = {wrong: None}
        for place in range(_first_mark(wrong), len(wrong) + 1):
            for _, old, new in self._rewritings:
                if wrong[place : place + len(new)] == new:
                    sources[(*wrong[:place], *old, *wrong[place + len(new) :])] = None
        return list(sources)

    def odds(self, string: String, context: Context) -> Mapping[String, float]:
        """The odds, at rate 1, of each string that an error makes of a right string."""
        key = string, context
        odds = self._cache.get(key, {})
        if not odds:
            for outcome in self.outcomes(string):
                score = sum(self.weights.get(name, 0.0) for name in features(outcome, context))
                odds[outcome.string] = odds.get(outcome.string, 0.0) + math.exp(score)
            if len(self._cache) == REMEMBERED:
                self._cache.clear()
            if len(string) <= REMEMBERED_MARKS:
                self._cache[key] = odds
        return odds

    def log_prob(self, wrong: String, right: String, context: Context, rate: float = 1.0) -> float:
        """log p(x_e | x_c) of one slot, natural logarithm; minus infinity if no single error leads there."""
        odds = self.odds(right, context)
        odds_of_wrong = 1.0 if wrong == right else rate * odds.get(wrong, 0.0)
        return math.log(odds_of_wrong) - math.log1p(rate * sum(odds.values())) if odds_of_wrong else -math.inf

    @cached_property
    def _cache(self) -> dict[tuple[String, Context], dict[String, float]]:
        return {}

    @cached_property
    def _rewritings(self) -> list[tuple[Error, String, String]]:
        """The errors with their rewritings, those that insert marks first."""
        rows = ((error, *error.rewriting) for error in self.errors)
        return sorted(rows, key=lambda row: row[0].kind != "insert")

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary for `from_json`."""
        return {"errors": [list(error) for error in self.errors], "weights": dict(self.weights)}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """The channel that `to_json` wrote; raises `ValueError`."""
        errors = tuple(Error(*texts("an error", error)) for error in plain["errors"])
        if unknown := [error.kind for error in errors if error.kind not in KINDS]:
            raise ValueError(f"there is no error of the kind {unknown[0]!r}, there are {', '.join(KINDS)}")
        weights = plain["weights"]
        for name, weight in weights.items():
            if type(weight) not in (int, float) or not abs(weight) <= GREATEST:
                raise ValueError(
                    f"the weight of {name!r} is {weight!r}, not a number of at most {GREATEST:g}"
                )
        return cls(errors, dict(weights))


def features(outcome: Spoiled, context: Context) -> list[str]:
    """The names of the features of an error at a place; the first is the error itself."""
    name = outcome.error.name
    beside = [f"{name} / behind {outcome.before}", f"{name} / before {outcome.after}"]
    return [name, *beside, *(f"{name} / {place}" for place in sorted(context))]


def _first_mark(string: String) -> int:
    """The place of the first mark behind the sentence start and abbreviation dots."""
    return next(
        (place for place, mark in enumerate(string) if mark not in (START, ABBREVIATION_DOT)), len(string)
    )
