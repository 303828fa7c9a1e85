"""Punctuation of several languages side by side: marks are aligned by what they do, not by their characters.

Each model counts in a treebank of its language, in expectation under q(T').  Compared are what constituents
sprout (`pyropunct.tasks.explain.sprouted`) and the outcomes of neighbouring marks.

A model of several languages needs no treebank: see `pyropunct.tasks.explain.typology_of_model`.
"""

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from typing import Any, NamedTuple

import torch
from torch import Tensor

from pyropunct.fitted.fitted_story import FittedStory, merged_edits
from pyropunct.inference.machines.products import TokenEdit
from pyropunct.tasks import Advance, TypologySettings
from pyropunct.tasks.explain.kinds import NO_SUBTYPE
from pyropunct.tasks.explain.learned_rules import part_by_part
from pyropunct.tasks.explain.mark_functions import FUNCTIONS
from pyropunct.tasks.explain.rule_pairs import OCCURRING
from pyropunct.tasks.explain.sprouted import (
    IN_CLAUSE,
    ON_PAGE,
    PAGE,
    PUNCTEMES,
    RELATIONS,
    SYMMETRIC,
    marks_beside,
    sprouted_in,
)
from pyropunct.tasks.explain.tallies import Key, Share, Tally, share_of
from pyropunct.treebank.sentence import Sentence

PAIRS = "pairs"
"""The table of outcomes of neighbouring marks."""

OF_RELATIONS = (RELATIONS, PUNCTEMES, PAGE)
"""The tables whose rows are relations."""


class LanguageCounts(NamedTuple):
    """What a model expects in a treebank: the function of each mark, and tallies by comparison and pair."""

    functions: Mapping[str, str]
    tallies: Mapping[tuple[str, str], Tally]


def language_counts(
    model: FittedStory,
    sentences: Sequence[Sentence],
    advance: Advance = lambda done: None,
    by: Sequence[str] = (),
) -> LanguageCounts:
    """Count what relations sprout and what happens to neighbouring marks, under q(T'), and marks on the page.

    A channel without edits has no neighbouring marks to count.

    :param advance: gets each sentence twice.
    :param by: what relations are split by; see `pyropunct.tasks.explain.kinds`.
    """
    known, sprouted = sprouted_in(model, sentences, advance, by)
    tallies = sprouted | marks_beside(sentences, by)
    if model.edit_probabilities() is not None:
        edits = part_by_part(model.edit_counts, sentences, advance)
        assert edits is not None  # for there are sentences
        tallies |= _of_neighbours([*known.values()], edits)
    return LanguageCounts(known, tallies)


def page_counts(sentences: Sequence[Sentence], by: Sequence[str] = ()) -> LanguageCounts:
    """What stands on the page beside the constituents of each relation, without a model."""
    return LanguageCounts({}, marks_beside(sentences, by))


def _of_neighbours(functions: Sequence[str], edits: Tensor) -> dict[Key, Tally]:
    does = torch.tensor([[function == name for name in FUNCTIONS] for function in functions]).double()
    counts = merged_edits(torch.einsum("ta,ub,tue->abe", does, does, edits.double().cpu()))
    tallies = {}
    for (a, first), (b, second) in product(enumerate(FUNCTIONS), repeat=2):
        outcomes: defaultdict[str, float] = defaultdict(float)
        for kind, times in enumerate(counts[a, b].tolist()):
            outcomes[" ".join(TokenEdit(a, b, kind).after_of(first, second))] += times
        tallies[PAIRS, f"{first} {second}"] = Tally(float(counts[a, b].sum()), outcomes)
    return tallies


@dataclass(frozen=True)
class Comparison:
    """The shares of one outcome in several languages.

    :ivar table: `PAIRS`, or one of those of `pyropunct.tasks.explain.sprouted`.
    :ivar of: a pair of functions or marks, a relation, or what else is counted.
    :ivar outcome: what becomes of the pair, or is sprouted.
    :ivar shares: by language; None where there are too few.
    :ivar first: 1 if the first share is of all languages together, else 0.
    :ivar unused: the places of languages whose treebank never uses the relation.
    :ivar seed: the seed of the draws that the shares come from.
    """

    table: str
    of: str
    outcome: str
    shares: tuple[Share | None, ...]
    first: int = 0
    unused: frozenset[int] = frozenset()
    seed: int | None = None

    @property
    def name(self) -> str:
        """The row for a person to read."""
        return f"{self.of}{' → ' if self.table == PAIRS else ': '}{self.outcome}"

    @property
    def own(self) -> list[Share]:
        """The shares of single languages that have one."""
        return [share for share in self.shares[self.first :] if share is not None]

    @property
    def is_sparse(self) -> bool:
        """Whether fewer than half of the languages have enough of it."""
        return 2 * len(self.own) < len(self.shares) - self.first

    @property
    def known(self) -> list[Share]:
        """The shares of the languages that have one."""
        return [share for share in self.shares if share is not None]

    @property
    def differs(self) -> bool:
        """Whether the intervals of two languages do not overlap."""
        own = self.own
        return bool(own) and max(share.low for share in own) > min(share.high for share in own)


def side_by_side(
    languages: Sequence[LanguageCounts],
    *,
    least: float = TypologySettings.least,
    level: float = TypologySettings.level,
) -> list[Comparison]:
    """The outcomes in several languages: pairs and relations known in most languages come first.

    Pairs of punctemes come last, those of the relations with the most symmetric pairs first.

    :param least: leave out pairs, and relations, that are expected less often in a language.
    :param level: the probability that all intervals of a row cover their shares, so that languages with the
        same share have disjoint intervals with a probability of at most 1 - level.
    """
    return rows_of_languages(languages, least, 1 - (1 - level) / len(languages))


def rows_of_languages(languages: Sequence[LanguageCounts], least: float, of_one: float) -> list[Comparison]:
    """`side_by_side`, given the level of one interval."""
    found = []
    used = [
        {
            _relation(of)
            for (table, of), one in language.tallies.items()
            if table in OF_RELATIONS and one.total
        }
        for language in languages
    ]
    for table, of in dict.fromkeys(key for language in languages for key in language.tallies):
        tallies = [language.tallies.get((table, of), Tally(0.0, {})) for language in languages]
        outcomes = chain.from_iterable(tally.outcomes.items() for tally in tallies)
        often = (outcome for outcome, times in outcomes if table != PUNCTEMES or times >= OCCURRING)
        for outcome in dict.fromkeys(often):
            shares = (
                share_of(tally.outcomes.get(outcome, 0.0), tally.total, of_one)
                if tally.total >= least
                else None
                for tally in tallies
            )
            is_known = table not in OF_RELATIONS
            unused = (place for place, there in enumerate(used) if not (is_known or _relation(of) in there))
            found.append(Comparison(table, of, outcome, tuple(shares), unused=frozenset(unused)))

    some = [one for one in found if one.known]
    symmetric = {one.of: max(share.value for share in one.known) for one in some if one.outcome == SYMMETRIC}

    def order(one: Comparison) -> tuple[Any, ...]:
        if one.table == PUNCTEMES:  # behind all others; T' before the page
            row = one.of.removeprefix(ON_PAGE)
            often = -math.fsum(share.expected for share in one.known)
            return 1, -symmetric.get(row, symmetric.get(one.of, 0.0)), row, one.of != row, often
        often = -math.fsum(share.total for share in one.known)
        return (0, 0, 0) if one.table == IN_CLAUSE else (0, -len(one.known), often)

    return sorted(some, key=order)


def _relation(of: str) -> str:
    """The relation of a row such as "on both sides of acl (no subtype), finite"."""
    return of.partition(", ")[0].removesuffix(NO_SUBTYPE).rpartition(" ")[2]


def chosen(compared: Sequence[Comparison], places: Sequence[int], match: str | None) -> list[Comparison]:
    """The rows whose name has a match of a regular expression, with the shares at some places alone.

    Intervals stay as wide as they are: they hold at once in all languages, and so in some.
    """
    rows = (
        replace(
            one,
            shares=tuple(one.shares[place] for place in places),
            unused=frozenset(new for new, old in enumerate(places) if old in one.unused),
        )
        for one in compared
        if match is None or re.search(match, one.name)
    )
    return [one for one in rows if one.known]
