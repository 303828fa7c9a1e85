"""The learned rules of several models side by side: other seeds, other periods, other languages."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from pyropunct.tasks.explain.rules import LearnedPair, LearnedRules, Outcome

Place = tuple[LearnedPair, Outcome]
"""An outcome of a pair in one of the models."""


@dataclass(frozen=True)
class SeveralOutcomes:
    """One outcome of a pair of neighbouring underlying tokens in several models.

    :ivar before: the pair.
    :ivar after: the tokens that it becomes.
    :ivar places: the outcome in each model; None for a model that lacks one of the tokens.
    """

    before: tuple[str, str]
    after: tuple[str, ...]
    places: tuple[Place | None, ...]

    @property
    def probabilities(self) -> list[float]:
        """The probabilities in the models that have the tokens."""
        return [place[1].probability for place in self.places if place is not None]

    @property
    def mean(self) -> float:
        """Their mean."""
        return fmean(self.probabilities)

    @property
    def spread(self) -> float | None:
        """Their standard deviation (n - 1), if there are two."""
        return stdev(self.probabilities) if len(self.probabilities) > 1 else None

    @property
    def count(self) -> float | None:
        """The mean expected count of the pair, if it is counted."""
        counts = [place[0].count for place in self.places if place is not None]
        known = [count for count in counts if count is not None]
        return fmean(known) if known else None


def side_by_side(several: Sequence[LearnedRules]) -> list[SeveralOutcomes]:
    """All outcomes of all pairs of some models, those of a pair together.

    First come the most frequent pairs, or if nothing is counted those with the most probable edits.
    """
    by_pair = [{pair.before: pair for pair in rules.pairs} for rules in several]
    known = dict.fromkeys(before for pairs in by_pair for before in pairs)
    rows = {before: [pairs.get(before) for pairs in by_pair] for before in known}
    ranked = sorted(known, key=lambda before: -_rank(rows[before]))
    return [outcome for before in ranked for outcome in _of(rows[before])]


def _rank(pairs: Sequence[LearnedPair | None]) -> float:
    """What pairs are sorted by: counts, or the greatest probability of an edit."""
    there = [pair for pair in pairs if pair is not None]
    if any(pair.count is not None for pair in there):
        return math.fsum(pair.count or 0.0 for pair in there)
    return max(edit.probability for pair in there for edit in pair.edits)


def _of(pairs: Sequence[LearnedPair | None]) -> Iterator[SeveralOutcomes]:
    """The outcomes of one pair."""
    known = next(pair for pair in pairs if pair is not None)
    for number, outcome in enumerate(known.outcomes):
        places = (None if pair is None else (pair, pair.outcomes[number]) for pair in pairs)
        yield SeveralOutcomes(known.before, outcome.after, tuple(places))
