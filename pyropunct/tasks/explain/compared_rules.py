"""The outcomes of pairs of underlying tokens in several models, side by side."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from pyropunct.tasks.explain.rule_pairs import LearnedPair, LearnedRules, PairOutcome

Place = tuple[LearnedPair, PairOutcome]
"""An outcome of a pair in one of the models."""


@dataclass(frozen=True)
class SeveralOutcomes:
    """One outcome of a pair of underlying tokens in several models, None in those that lack a token.

    :ivar disputed: whether models that expect the pair disagree on its most probable outcome.
    """

    before: tuple[str, str]
    after: tuple[str, ...]
    places: tuple[Place | None, ...]
    disputed: bool

    @property
    def probabilities(self) -> list[float]:
        """The probabilities in the models that have the tokens."""
        return [place[1].probability for place in self.places if place is not None]

    @property
    def mean(self) -> float:
        """The mean probability."""
        return fmean(self.probabilities)

    @property
    def spread(self) -> float | None:
        """The standard deviation (n - 1) of the probabilities; None for a single one."""
        return stdev(self.probabilities) if len(self.probabilities) > 1 else None

    @property
    def count(self) -> float | None:
        """The mean expected count of the pair, if it is counted."""
        counts = [place[0].count for place in self.places if place is not None]
        known = [count for count in counts if count is not None]
        return fmean(known) if known else None


def side_by_side(several: Sequence[LearnedRules]) -> list[SeveralOutcomes]:
    """All outcomes of all pairs of several models: frequent pairs first, or those with probable edits."""
    by_pair = [{pair.before: pair for pair in rules.pairs} for rules in several]
    known = dict.fromkeys(before for pairs in by_pair for before in pairs)
    rows = [[pairs.get(before) for pairs in by_pair] for before in known]
    outcomes = []
    for row in sorted(rows, key=lambda row: -_rank(row)):
        there = [pair for pair in row if pair is not None]
        one, expecting = there[0], [pair for pair in there if pair.occurs is not False]
        disputed = (
            len({max(pair.outcomes, key=lambda outcome: outcome.probability).after for pair in expecting}) > 1
        )
        for number, outcome in enumerate(one.outcomes):
            places = (None if pair is None else (pair, pair.outcomes[number]) for pair in row)
            outcomes.append(SeveralOutcomes(one.before, outcome.after, tuple(places), disputed))
    return outcomes


def _rank(pairs: Sequence[LearnedPair | None]) -> float:
    """What pairs are sorted by: counts, or the greatest probability of an edit."""
    there = [pair for pair in pairs if pair is not None]
    if any(pair.count is not None for pair in there):
        return math.fsum(pair.count or 0.0 for pair in there)
    return max(edit.probability for pair in there for edit in pair.edits)
