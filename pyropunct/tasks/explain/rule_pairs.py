"""Pairs of underlying tokens with the outcomes that a model has learned, beside Nunberg's rules.

See Li, Wang & Eisner (2019, section 5.1).
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from pyropunct.tasks import RuleSettings
from pyropunct.tasks.explain.nunberg import EQUAL_STRENGTH, NunbergRule
from pyropunct.text.marks import display

OCCURRING = 0.5
"""The least underlying count of a pair that is said to occur: rounded, it is one."""

COUNTED = 5.0
"""The least underlying count of a pair whose expected shares are compared with its probabilities."""

GAP = 0.25
"""A probability that differs by more than this from its expected share disagrees with it."""


class PairOutcome(NamedTuple):
    """A possible outcome of two neighbouring underlying tokens.

    :ivar probability: p(after | before), summed over edits with the same outcome, such as left and right
        absorption of equal tokens.
    """

    after: tuple[str, ...]
    probability: float
    interval: tuple[float, float] | None = None
    count: float | None = None  # type: ignore[assignment]  # hides tuple.count, which nobody needs here


@dataclass(frozen=True)
class LearnedPair:
    """The learned distribution of the outcomes of two neighbouring underlying tokens a b.

    :ivar outcomes: a b, b, a, b a; for equal tokens a a and a.
    :ivar listed: whether Nunberg considers both marks.
    :ivar rule: his rule, in the model's tokens; a listed pair without a rule is unchanged.
    :ivar trained: how often it was expected in training, without sentences; None if the model does not know.
    """

    before: tuple[str, str]
    outcomes: tuple[PairOutcome, ...]
    listed: bool = False
    rule: NunbergRule | None = None
    trained: float | None = None

    @property
    def frequency(self) -> float | None:
        """Its count in the sentences, or in training."""
        return self.trained if self.count is None else self.count

    @property
    def count(self) -> float | None:
        """The expected underlying count of the pair."""
        counts = [outcome.count for outcome in self.outcomes if outcome.count is not None]
        return math.fsum(counts) if counts else None

    @property
    def occurs(self) -> bool | None:
        """Whether the pair is expected in the sentences, not just in the prior; None without sentences."""
        return None if self.count is None else self.count >= OCCURRING

    def share(self, outcome: PairOutcome) -> float | None:
        """The count of an outcome divided by that of the pair; None if the pair is not expected."""
        return outcome.count / self.count if outcome.count is not None and self.count else None

    def disagrees(self, outcome: PairOutcome) -> bool:
        """Whether a probability differs by over `GAP` from the share, of a pair counted `COUNTED` times."""
        share = self.share(outcome)
        counted = share is not None and (self.count or 0.0) >= COUNTED
        return counted and abs(outcome.probability - (share or 0.0)) > GAP

    @property
    def edits(self) -> tuple[PairOutcome, ...]:
        """The outcomes that change something."""
        return tuple(outcome for outcome in self.outcomes if outcome.after != self.before)

    @property
    def by_nunberg(self) -> tuple[str, ...] | None:
        """The outcome of the pair according to Nunberg, None if he does not consider its marks."""
        if self.rule is not None:
            return self.rule.after
        return self.before if self.listed else None

    @property
    def rank(self) -> float | None:
        """The rank of Nunberg's outcome, from 1; ties share their mean; None without a rule."""
        if self.rule is None:
            return None
        (of_rule,) = (outcome.probability for outcome in self.outcomes if outcome.after == self.rule.after)
        greater = sum(outcome.probability > of_rule for outcome in self.outcomes)
        equal = sum(outcome.probability == of_rule for outcome in self.outcomes)
        return greater + (equal + 1) / 2


class Precision(NamedTuple):
    """The number of confident edits of Nunberg's pairs, and how many of these agree with his rules."""

    edits: int
    listed: int

    @property
    def share(self) -> float | None:
        """Their share; None without edits."""
        return self.listed / self.edits if self.edits else None


class Recall(NamedTuple):
    """The ranks of the outcomes of Nunberg's rules by p(after | before), and the mean of 1 / rank.

    :ivar second: how many have a rank above 1 and up to 2.
    """

    rules: int
    first: int
    second: int
    worse: int
    mean_reciprocal_rank: float | None


@dataclass(frozen=True)
class LearnedRules:
    """The learned outcomes of pairs of tokens, compared with Nunberg's rules.

    :ivar pairs: every two tokens that can be neighbours; the most frequent first, if they are counted.
    :ivar unlearned: Nunberg's rules with a mark that the model lacks; not in `recall`.
    :ivar shown: how often each mark stands on the page, if sentences are counted.
    :ivar hardly_shown: the pairs that the page of the sentences hardly supports: see
        `pyropunct.tasks.explain.edges.hardly_shown`.
    """

    pairs: tuple[LearnedPair, ...]
    nunberg: bool = True
    unlearned: tuple[NunbergRule, ...] = ()
    confidence: float = RuleSettings.confidence
    least: float = RuleSettings.least
    level: float | None = None
    sentences: int | None = None
    shown: Mapping[str, int] = field(default_factory=dict)
    hardly_shown: frozenset[tuple[str, str]] = frozenset()

    @cached_property
    def erased(self) -> frozenset[str]:
        """The marks that are absorbed more often than they stand on the page: most are invented."""
        absorbed = Counter[str]()
        for pair in self.pairs:
            for outcome in pair.outcomes:
                for mark in (Counter(pair.before) - Counter(outcome.after)).elements():
                    absorbed[mark] += outcome.count or 0.0  # type: ignore[assignment]  # expected counts
        return frozenset(
            mark for mark, count in absorbed.items() if count > max(self.shown.get(mark, 0), OCCURRING)
        )

    @property
    def ruled(self) -> tuple[LearnedPair, ...]:
        """The pairs that Nunberg has a rule for."""
        return tuple(pair for pair in self.pairs if pair.rule is not None)

    def prominent(self, most: int) -> tuple[LearnedPair, ...]:
        """The most frequent pairs, or without counts the most probably edited; with rules, only his marks."""
        if self.sentences is not None or any(pair.trained for pair in self.pairs):
            return self.pairs[:most]
        listed = [pair for pair in self.pairs if pair.listed or not self.nunberg]
        return tuple(sorted(listed, key=lambda pair: -max(edit.probability for edit in pair.edits))[:most])

    @property
    def occurring(self) -> int | None:
        """How many pairs occur in the sentences; None without sentences."""
        return None if self.sentences is None else sum(bool(pair.occurs) for pair in self.pairs)

    @property
    def disagreeing(self) -> int | None:
        """How many outcomes disagree with their shares (`LearnedPair.disagrees`); None without sentences."""
        found = (pair.disagrees(outcome) for pair in self.pairs for outcome in pair.outcomes)
        return None if self.sentences is None else sum(found)

    def frequent(self, pair: LearnedPair) -> bool:
        """Whether a pair is expected `least` times in the sentences; False without sentences."""
        return pair.count is not None and pair.count >= self.least

    @cached_property
    def precision(self) -> Mapping[str, Precision]:
        """The precision of the confident edits: of all pairs, of those that occur, and of frequent ones."""
        of_pairs = {"all": [pair for pair in self.pairs if pair.listed]}
        if self.sentences is not None:
            of_pairs["occurring"] = [pair for pair in of_pairs["all"] if pair.occurs]
            of_pairs["frequent"] = [pair for pair in of_pairs["all"] if self.frequent(pair)]
        return {name: precision(pairs, self.confidence) for name, pairs in of_pairs.items()}

    @cached_property
    def recall(self) -> Mapping[str, Recall]:
        """The ranks of Nunberg's rules in several groups.

        - "all" rules;
        - "determined": without the rules that `pyropunct.tasks.explain.nunberg` had to add;
        - "occurring" and "frequent", if pairs are counted: those of such pairs; of others, which the
          sentences hardly have, the prior decides.
        """
        groups = {
            "all": list(self.ruled),
            "determined": [pair for pair in self.ruled if pair.rule and pair.rule.schema != EQUAL_STRENGTH],
        }
        if self.sentences is not None:
            groups["occurring"] = [pair for pair in self.ruled if pair.occurs]
            groups["frequent"] = list(filter(self.frequent, self.ruled))
        return {name: recall(pairs) for name, pairs in groups.items()}

    def to_json(self) -> dict[str, Any]:
        """A dictionary of plain JSON types; comparisons with Nunberg are None if not requested."""
        compared = {
            "precision": {
                name: {**value._asdict(), "share": value.share} for name, value in self.precision.items()
            },
            "recall": {name: value._asdict() for name, value in self.recall.items()},
            "unlearned": [_plain(rule) for rule in self.unlearned],
        }
        settings = ("sentences", "confidence", "least", "level", "nunberg")
        return {
            **{name: getattr(self, name) for name in settings},
            **(compared if self.nunberg else dict.fromkeys(compared)),
            "erased": sorted(map(display, self.erased)),
            "occurring": self.occurring,
            "disagreeing": self.disagreeing,
            "pairs": [
                {
                    "before": list(map(display, pair.before)),
                    "listed": pair.listed if self.nunberg else None,
                    "rule": None if pair.rule is None else _plain(pair.rule),
                    **{name: getattr(pair, name) for name in ("rank", "count", "trained", "occurs")},
                    "hardly_shown": pair.before in self.hardly_shown,
                    "outcomes": [
                        {**_plain(outcome), "share": pair.share(outcome)} for outcome in pair.outcomes
                    ],
                }
                for pair in self.pairs
            ],
        }


def precision(pairs: Iterable[LearnedPair], confidence: float = RuleSettings.confidence) -> Precision:
    """How many edits of pairs with more than a certain probability agree with Nunberg."""
    edits = ((pair, edit) for pair in pairs for edit in pair.edits if edit.probability > confidence)
    confident = [edit.after == pair.by_nunberg for pair, edit in edits]
    return Precision(len(confident), sum(confident))


def recall(pairs: Iterable[LearnedPair]) -> Recall:
    """The ranks of Nunberg's outcomes of pairs that he has rules for."""
    ranks = [pair.rank for pair in pairs if pair.rank is not None]
    buckets = Counter(min(3, math.ceil(rank)) for rank in ranks)
    mean = math.fsum(1 / rank for rank in ranks) / len(ranks) if ranks else None
    return Recall(len(ranks), buckets[1], buckets[2], buckets[3], mean)


def _plain(row: NunbergRule | PairOutcome) -> dict[str, Any]:
    """The columns of a row; its tokens as a person reads them."""
    plain = row._asdict()
    return plain | {name: list(map(display, plain[name])) for name in ("before", "after") if name in plain}
