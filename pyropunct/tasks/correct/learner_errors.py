"""Where learners make punctuation errors in right sentences with trees, and how often.

No treebank of learners' text is free, so `pyropunct fit-correction` learns from simulated errors.  The tree
determines where an error may happen: its *occasions*.  `ErrorRates` holds the probability of each error at
its occasions; ``docs/reference/correction.md`` gives the sources of the rates.
"""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import NamedTuple

from pyropunct.text.marks import ABBREVIATION_DOT, DOUBLE, SINGLE, START, Surface, real_marks
from pyropunct.treebank.tree import Tree, base

String = tuple[str, ...]

LEARNERS_LANGUAGE = "en"
"""The language of the learners whose error rates are published."""

COMMA = ","
SEPARATORS = frozenset({";", ":", "-", "–", "—", "--"})
"""Marks between clauses that learners replace by a comma (comma splice) or omit (fused sentence)."""

INSTEAD = {".": COMMA, "?": ".", "!": ".", "。": COMMA, "？": "。", "！": "。"}
"""Final marks, and the mark that replaces each."""

QUOTES = frozenset(DOUBLE + SINGLE)
CLOSING_QUOTES = frozenset({DOUBLE[1], SINGLE[1]})
SWAPPED = frozenset({COMMA, *INSTEAD})
"""Marks that may change places with a closing quotation mark."""

NONRESTRICTIVE = frozenset({"appos", "acl", "parataxis", "vocative"})
COORDINATE = frozenset({"conj", "cc"})
RESTRICTIVE = frozenset({"acl", "ccomp", "advcl"})
SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "csubjpass"})
"""Relations, without subtypes, of constituents at whose edges learners put wrong commas."""


@dataclass(frozen=True)
class ErrorRates:
    """The probability of each kind of error at each of its occasions.

    :ivar introductory: the comma after a constituent that precedes its head is missing.
    :ivar compound: a comma before a coordinate clause is missing.
    :ivar series: a comma before another conjunct is missing.
    :ivar nonrestrictive: all commas at the edges of an apposition, a relative clause or a parenthesis are
        missing.
    :ivar unbalanced: one of two such commas is missing, either with half of this probability.
    :ivar other_comma: any other comma is missing.
    :ivar moved: a comma before a conjunction is one word late, any other comma one word early.
    :ivar unnecessary: a comma is between subject and verb, or before a restrictive clause.
    :ivar splice: a comma replaces a semicolon, colon or dash.
    :ivar fused: a semicolon, colon or dash is missing.
    :ivar quote_order: a final mark or comma and a closing quotation mark are swapped.
    :ivar quote_missing: a quotation mark is missing.
    :ivar final_missing: the final mark is missing.
    :ivar final_wrong: a comma replaces the final period.
    :ivar question_wrong: a period replaces a final question or exclamation mark.
    :ivar final_doubled: the final mark is doubled.
    :raises ValueError: if a rate is no probability, or the rates of errors that exclude each other exceed 1.
    """

    introductory: float = 0.45
    compound: float = 0.5
    series: float = 0.15
    nonrestrictive: float = 0.2
    unbalanced: float = 0.2
    other_comma: float = 0.1
    moved: float = 0.03
    unnecessary: float = 0.04
    splice: float = 0.14
    fused: float = 0.14
    quote_order: float = 0.4
    quote_missing: float = 0.1
    final_missing: float = 0.02
    final_wrong: float = 0.01
    question_wrong: float = 0.1
    final_doubled: float = 0.01

    def __post_init__(self) -> None:
        for name, rate in asdict(self).items():
            if not 0 <= rate <= 1:
                raise ValueError(f"the error rate {name} is {rate}, which is no probability")
        for names in EXCLUSIVE:
            if sum(getattr(self, name) for name in names) > 1:
                raise ValueError(f"the error rates {', '.join(names)} add up to more than 1")

    def times(self, factor: float) -> "ErrorRates":
        """All rates multiplied by a factor; raises `ValueError` if they become too large."""
        return replace(self, **{field.name: factor * getattr(self, field.name) for field in fields(self)})

    def capped(self, factor: float) -> "ErrorRates":
        """All rates multiplied by a factor from 0, and reduced where they would be too large."""
        rates = {name: factor * rate for name, rate in asdict(self).items()}
        for names in EXCLUSIVE:
            share = 1 / max(1.0, sum(rates[name] for name in names) + ROUNDING)
            rates |= {name: rates[name] * share for name in names}
        return replace(self, **{name: min(1.0, rate) for name, rate in rates.items()})


ROUNDING = 1e-9
"""A bound on the rounding errors of sums of probabilities."""

EXCLUSIVE = (
    ("introductory", "moved"),
    ("compound", "moved"),
    ("series", "moved"),
    ("other_comma", "moved"),
    ("nonrestrictive", "unbalanced", "moved"),
    ("splice", "fused"),
    ("quote_order", "quote_missing", "final_missing", "final_wrong", "question_wrong", "final_doubled"),
)
"""Groups of kinds of errors that exclude each other: at most one happens at an occasion."""


class Option(NamedTuple):
    """A possible error: its name in `ErrorRates`, its probability, the new strings of changed slots."""

    kind: str
    rate: float
    changes: Mapping[int, String]


Occasion = tuple[Option, ...]
"""Errors that exclude each other.  Different occasions have different slots."""


def occasions(tree: Tree, surface: Surface, rates: ErrorRates) -> list[Occasion]:
    """The possible errors in a sentence with n + 1 right slots; each occasion has its own slots."""
    if len(surface) != len(tree) + 1:
        raise ValueError(f"{len(tree)} words have {len(tree) + 1} slots, not {len(surface)}")
    return list(_Occasions(tree, surface, rates).find())


class _Occasions:
    """Finds the occasions of one sentence.  No two occasions share a slot."""

    def __init__(self, tree: Tree, surface: Surface, rates: ErrorRates) -> None:
        self._tree, self._rates = tree, rates
        self._surface = [tuple(slot) for slot in surface]
        self._relations = [base(relation) for relation in tree.relations]
        self._left = [first - 1 for first, _ in tree.spans]
        self._right = [last for _, last in tree.spans]
        self._claimed: set[int] = set()

    def find(self) -> Iterator[Occasion]:
        """All occasions."""
        yield from self._parentheses()
        for slot in range(1, len(self._tree)):
            if slot not in self._claimed and real_marks(self._surface[slot]) == (COMMA,):
                yield self._single_comma(slot)
        for slot in range(len(self._surface)):
            if slot not in self._claimed:
                yield from filter(None, [self._other_mark(slot)])
        for slot in sorted(self._tempting()):
            if slot not in self._claimed and not self._surface[slot]:
                yield (self._option("unnecessary", {slot: (COMMA,)}),)

    def _option(self, kind: str, changes: Mapping[int, String], share: float = 1.0) -> Option:
        return Option(kind, share * getattr(self._rates, kind), changes)

    def _with(self, marks: String, *slots: int) -> dict[int, String]:
        """The changes that give slots other marks; what is part of a word stays."""
        of_words = (START, ABBREVIATION_DOT)
        return {slot: (*(own for own in self._surface[slot] if own in of_words), *marks) for slot in slots}

    def _parentheses(self) -> Iterator[Occasion]:
        """Constituents between two commas."""
        inner = range(1, len(self._tree))
        for word in self._headed_by(NONRESTRICTIVE):
            edges = left, right = self._left[word], self._right[word]
            free = all(slot in inner and slot not in self._claimed for slot in edges)
            if free and real_marks(self._surface[left]) == real_marks(self._surface[right]) == (COMMA,):
                self._claimed.update(edges)
                yield (
                    self._option("nonrestrictive", self._with((), left, right)),
                    self._option("unbalanced", self._with((), left), 0.5),
                    self._option("unbalanced", self._with((), right), 0.5),
                )

    def _headed_by(self, relations: frozenset[str]) -> Iterator[int]:
        return (word for word, relation in enumerate(self._relations) if relation in relations)

    def _single_comma(self, slot: int) -> Occasion:
        self._claimed.add(slot)
        options = [self._option(self._kind_of_comma(slot), self._with((), slot))]
        target = slot + 1 if self._relations[slot] in ("cc", "mark") else slot - 1
        if 0 < target < len(self._tree) and target not in self._claimed and not self._surface[target]:
            self._claimed.add(target)
            options.append(self._option("moved", {**self._with((), slot), target: (COMMA,)}))
        return tuple(options)

    def _kind_of_comma(self, slot: int) -> str:
        """The kind of error if the comma in a slot is missing."""
        begins = {word for word, left in enumerate(self._left) if left == slot}
        ends = {word for word, right in enumerate(self._right) if right == slot}
        if any(self._relations[word] in NONRESTRICTIVE for word in begins | ends):
            return "nonrestrictive"
        if any(self._relations[word] in COORDINATE for word in begins):
            return "compound" if self._joins_clauses(begins) else "series"
        if any(word + 1 < self._tree.heads[word] for word in ends):
            return "introductory"
        return "other_comma"

    def _joins_clauses(self, words: set[int]) -> bool:
        """Whether one of these words heads a clause, or is a conjunction that introduces a clause."""
        after = {word + 1 for word in words if self._relations[word] == "cc" and word + 1 < len(self._tree)}
        starts = {self._left[word] for word in words | after}
        conjuncts = (word for word in self._headed_by(frozenset({"conj"})) if self._left[word] in starts)
        inside = (child for word in conjuncts for child in self._tree.children[word + 1])
        return any(self._relations[child - 1] in SUBJECTS for child in inside)

    def _other_mark(self, slot: int) -> Occasion:
        """The occasion of a slot with marks other than a comma."""
        marks = real_marks(self._surface[slot])
        if 0 < slot < len(self._tree) and len(marks) == 1 and marks[0] in SEPARATORS:
            self._claimed.add(slot)
            return (
                self._option("splice", self._with((COMMA,), slot)),
                self._option("fused", self._with((), slot)),
            )
        options = tuple(self._of_quotes(slot, marks))
        if slot == len(self._tree):
            options += tuple(self._of_final_mark(slot, marks))
        if options:
            self._claimed.add(slot)
        return options

    def _of_quotes(self, slot: int, marks: String) -> Iterator[Option]:
        quotes = [place for place, mark in enumerate(marks) if mark in QUOTES]
        for place in quotes:
            without = marks[:place] + marks[place + 1 :]
            yield self._option("quote_missing", self._with(without, slot), 1 / len(quotes))
        for place in range(len(marks) - 1):
            first, second = marks[place : place + 2]
            if (first in SWAPPED and second in CLOSING_QUOTES) or (
                first in CLOSING_QUOTES and second in SWAPPED
            ):
                swapped = (*marks[:place], second, first, *marks[place + 2 :])
                yield self._option("quote_order", self._with(swapped, slot))
                return

    def _of_final_mark(self, slot: int, marks: String) -> Iterator[Option]:
        final = [place for place, mark in enumerate(marks) if mark in INSTEAD]
        if final:
            before, mark, after = marks[: final[-1]], marks[final[-1]], marks[final[-1] + 1 :]
            yield self._option("final_missing", self._with(before + after, slot))
            wrong = "final_wrong" if INSTEAD[mark] == COMMA else "question_wrong"
            yield self._option(wrong, self._with((*before, INSTEAD[mark], *after), slot))
            yield self._option("final_doubled", self._with((*before, mark, mark, *after), slot))

    def _tempting(self) -> set[int]:
        """Slots in which learners put unnecessary commas."""
        clauses = {
            self._left[word]
            for word in self._headed_by(RESTRICTIVE)
            if word + 1 > self._tree.heads[word] and self._left[word] > 0
        }
        subjects = {
            self._right[word]
            for word in self._headed_by(SUBJECTS)
            if word + 1 < self._tree.heads[word] and self._right[word] - self._left[word] > 1
        }
        return clauses | subjects
