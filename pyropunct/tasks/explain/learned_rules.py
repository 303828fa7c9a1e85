"""What a channel has learned: edits beside Nunberg's rules (Li, Wang & Eisner 2019, section 5.1), or weights.

The rules of several models can be shown side by side.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from operator import attrgetter
from statistics import fmean, stdev
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.errors import MissingPartError
from pyropunct.fitted.fitted_story import FittedStory, merged_edits
from pyropunct.inference.machines.products import EDITS, TokenEdit
from pyropunct.models.learned import learned_scales, learned_values, other_values
from pyropunct.tasks import Advance, RuleSettings
from pyropunct.tasks.explain.nunberg import EQUAL_STRENGTH, MARKS, NunbergRule, nunberg_rules
from pyropunct.text.marks import BOUNDARIES, CLAUSE, COMMAS, START, display
from pyropunct.treebank.sentence import Sentence

DECIDED = 0.5
"""A pair is decided if the model gives one of its outcomes a probability above this."""

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
    """

    before: tuple[str, str]
    outcomes: tuple[PairOutcome, ...]
    listed: bool = False
    rule: NunbergRule | None = None

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
    :ivar page_decides: whether the page taught the model how often constituents have commas on both sides.
    """

    pairs: tuple[LearnedPair, ...]
    nunberg: bool = True
    unlearned: tuple[NunbergRule, ...] = ()
    confidence: float = RuleSettings.confidence
    least: float = RuleSettings.least
    level: float | None = None
    sentences: int | None = None
    shown: Mapping[str, int] = field(default_factory=dict)
    page_decides: bool = False

    def is_assumed(self, pair: LearnedPair) -> bool:
        """Whether only the prior says how often the pair occurs, as no page shows its comma."""
        return not self.page_decides and pair.before[0] == START and pair.before[1] in COMMAS

    @cached_property
    def erased(self) -> frozenset[str]:
        """The marks that are absorbed more often than they stand on the page: most are invented."""
        absorbed = Counter[str]()
        for pair in self.pairs:
            for outcome in pair.outcomes:
                for mark in (Counter(pair.before) - Counter(outcome.after)).elements():
                    absorbed[mark] += outcome.count or 0.0  # type: ignore[assignment]  # expected counts
        del absorbed[CLAUSE]  # which the tree gives, and no page shows
        return frozenset(
            mark for mark, count in absorbed.items() if count > max(self.shown.get(mark, 0), OCCURRING)
        )

    @property
    def ruled(self) -> tuple[LearnedPair, ...]:
        """The pairs that Nunberg has a rule for."""
        return tuple(pair for pair in self.pairs if pair.rule is not None)

    def prominent(self, most: int) -> tuple[LearnedPair, ...]:
        """The most frequent pairs, or without counts the most probably edited; with rules, only his marks."""
        if self.sentences is not None:
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
        """Whether a pair is frequent in the sentences; None without sentences."""
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
        - "decided": some outcome has a probability above `DECIDED`, as in the paper;
        - "edited": an outcome that changes something has;
        - "frequent" and "edited, frequent", if pairs are counted: those for frequent pairs.
        """
        edited = [pair for pair in self.ruled if _exceeded(pair.edits)]
        groups = {
            "all": self.ruled,
            "determined": [pair for pair in self.ruled if pair.rule and pair.rule.schema != EQUAL_STRENGTH],
            "decided": [pair for pair in self.ruled if _exceeded(pair.outcomes)],
            "edited": edited,
        }
        if self.sentences is not None:
            groups["frequent"] = list(filter(self.frequent, self.ruled))
            groups["edited, frequent"] = list(filter(self.frequent, edited))
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
                    **{name: getattr(pair, name) for name in ("rank", "count", "occurs")},
                    "assumed": self.is_assumed(pair),
                    "outcomes": [
                        {**_plain(outcome), "share": pair.share(outcome)} for outcome in pair.outcomes
                    ],
                }
                for pair in self.pairs
            ],
        }


def _exceeded(outcomes: Iterable[PairOutcome]) -> bool:
    return any(outcome.probability > DECIDED for outcome in outcomes)


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


DRAWS = 1000
"""Draws from the posterior, for credible intervals."""

PART = 200
"""The number of sentences whose edits are counted together."""

DASHES = ("-", "—", "–", "--")
"""Forms of Nunberg's dash in treebanks: the first one that a model knows is taken for it."""


def learned_rules(
    model: FittedStory,
    sentences: Sequence[Sentence] | None = None,
    *,
    nunberg: bool = True,
    confidence: float = RuleSettings.confidence,
    least: float = RuleSettings.least,
    level: float = RuleSettings.level,
    seed: int = 0,
    advance: Advance = lambda done: None,
) -> LearnedRules:
    """The learned distribution of each pair of tokens, compared with Nunberg's rules.

    :param sentences: count the edits in them, in expectation under q(T').  The paper counts in the
        training treebank, in the best T'.
    :param level: the probability of the credible intervals, which a model trained with a normal guide has.
    :raises MissingPartError: if the model's channel has no edits.
    """
    table = require_edits(model)
    intervals = _intervals(model, level, seed)
    counts = None if sentences is None else _counts(model, sentences, advance)
    rules, unlearned, listed = _nunberg_in_tokens(model) if nunberg else ({}, (), set[str]())
    # Sums of rounded probabilities may exceed 1.
    probabilities, tokens = merged_edits(table.double()).clamp(max=1), model.vocabulary.tokens
    pairs = []
    for (a, left), (b, right) in product(enumerate(tokens), repeat=2):
        if right in BOUNDARIES:  # which are always on the left
            continue
        before = left, right
        outcomes = []
        # Edits of equal tokens with the same outcome are one, as in merged_edits.
        afters = dict.fromkeys(TokenEdit(a, b, kind).after_of(*before) for kind in range(len(EDITS)))
        for edit, after in enumerate(afters):
            cell = a, b, edit
            interval = None if intervals is None else (float(intervals[0][cell]), float(intervals[1][cell]))
            count = None if counts is None else float(counts[cell])
            outcomes.append(PairOutcome(after, float(probabilities[cell]), interval, count))
        pairs.append(LearnedPair(before, tuple(outcomes), listed.issuperset(before), rules.get(before)))
    pairs.sort(key=lambda pair: -(pair.count or 0))
    surfaces = (model.vocabulary.known_surface(sentence.surface) for sentence in sentences or ())
    shown = Counter(mark for surface in surfaces for slot in surface for mark in slot)
    return LearnedRules(
        tuple(pairs),
        nunberg,
        unlearned,
        confidence,
        least,
        None if intervals is None else level,
        None if sentences is None else len(sentences),
        shown,
        model.recipe.page_decides,
    )


def require_edits(model: FittedStory) -> Tensor:
    """(tokens, tokens, 4) the probabilities of a model's edits; raises `MissingPartError` without."""
    table = model.edit_probabilities()
    if table is None:
        raise MissingPartError(
            f"the channel {model.recipe.channel} has no edits, so there are no rules to show"
        )
    return table


def _intervals(model: FittedStory, level: float, seed: int) -> NDArray[Any] | None:
    """(2, tokens, tokens, 4) both ends of the central credible intervals, if the posterior is known."""
    if not model.scales:
        return None
    random = torch.Generator().manual_seed(seed)
    channel = model.story.channel
    scales = learned_scales(channel)
    drawn = {
        name: value + scales[name] * torch.randn(DRAWS, *value.shape, generator=random, dtype=value.dtype)
        for name, value in learned_values(channel).items()
    }
    with torch.no_grad(), other_values(channel, drawn):
        table = channel.edit_table()
    assert table is not None  # as edit_probabilities is not
    tables = merged_edits(table).clamp(max=1).numpy()
    return np.quantile(tables, ((1 - level) / 2, (1 + level) / 2), axis=0)


def _counts(model: FittedStory, sentences: Sequence[Sentence], advance: Advance) -> Tensor:
    """(tokens, tokens, 4) the expected count of each outcome of each pair."""
    counts = part_by_part(model.edit_counts, sentences, advance)
    size = len(model.vocabulary.tokens)
    return merged_edits(torch.zeros(size, size, len(EDITS), dtype=torch.double) if counts is None else counts)


def part_by_part(
    count: Callable[[Sequence[Sentence]], Tensor | None], sentences: Sequence[Sentence], advance: Advance
) -> Tensor | None:
    """The sum of counts over parts of sentences; None without sentences."""
    total: Tensor | None = None
    for start in range(0, len(sentences), PART):
        part = sentences[start : start + PART]
        counts = count(part)
        assert counts is not None  # for the part is not empty, and the channel has what is counted
        total = counts if total is None else total + counts
        advance(len(part))
    return total


def _nunberg_in_tokens(
    model: FittedStory,
) -> tuple[dict[tuple[str, str], NunbergRule], tuple[NunbergRule, ...], set[str]]:
    """Nunberg's rules by their pairs, in the model's tokens; those with a mark that it lacks; its tokens."""
    known = model.vocabulary.token_number
    forms = ((mark, form) for mark in MARKS for form in (reversed(DASHES) if mark in DASHES else (mark,)))
    token = {mark: form for mark, form in forms if form in known}
    rules, unlearned = {}, []
    for rule in nunberg_rules():
        if not token.keys() >= set(rule.before):
            unlearned.append(rule)
            continue
        a, b = (token[mark] for mark in rule.before)
        rules[a, b] = rule._replace(before=(a, b), after=tuple(token[mark] for mark in rule.after))
    return rules, tuple(unlearned), set(token.values())


class LearnedWeight(NamedTuple):
    """A weight in a tensor of `Channel.weights`, at a place in it, with its expected uses in sentences."""

    name: str
    place: tuple[str, ...]
    probability: float
    count: float | None = None  # type: ignore[assignment]  # hides tuple.count, which nobody needs here


def learned_weights(
    model: FittedStory, sentences: Sequence[Sentence] | None = None, advance: Advance = lambda done: None
) -> list[LearnedWeight]:
    """The weights of a channel: most used under q(T'), or without sentences the greatest."""
    channel, tokens = model.story.channel, model.vocabulary.tokens
    with torch.no_grad():
        line = channel.probabilities()
    counts = None if sentences is None else part_by_part(model.weight_counts, sentences, advance)
    places, weights = channel.transducer.products.places, []
    for number, probability in enumerate(line.tolist()):
        name, *index = places.name(number)
        sizes = zip(index, places.shapes[str(name)], strict=True)
        place = tuple(_shown(int(one), size, tokens) for one, size in sizes)
        count = None if counts is None else float(counts[number])
        weights.append(LearnedWeight(str(name), place, probability, count))
    by = "probability" if counts is None else "count"
    return sorted(weights, key=attrgetter(by), reverse=True)


def _shown(number: int, size: int, tokens: Sequence[str]) -> str:
    """A place in a dimension of a tensor: a token, if the dimension has one for each token."""
    return display(tokens[number]) if size >= len(tokens) > number else str(number)


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
