"""The edits that models have learned (Li, Wang & Eisner 2019, section 5.1), or other weights of a channel."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from operator import attrgetter
from statistics import fmean, stdev
from typing import Any, NamedTuple

import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.errors import MissingPartError, ModelFileError
from pyropunct.fitted.fitted_story import FittedStory, merged_edits
from pyropunct.inference.machines.products import EDITS, TokenEdit
from pyropunct.models.learned import learned_scales, learned_values, other_values
from pyropunct.tasks import Advance, RuleSettings
from pyropunct.tasks.explain.edges import hardly_shown
from pyropunct.tasks.explain.nunberg import MARKS, NunbergRule, nunberg_rules
from pyropunct.tasks.explain.rule_pairs import LearnedPair, LearnedRules, PairOutcome
from pyropunct.tasks.explain.tallies import central_interval
from pyropunct.text.marks import BOUNDARIES, display, displayed_string
from pyropunct.treebank.sentence import Sentence
from pyropunct.untrusted import untrusted

DRAWS = 1000
"""Draws from the posterior, for credible intervals."""

PART = 200
"""The number of sentences whose edits are counted together."""

DASH_FORMS = ("-", "—", "–", "--")
"""Forms of Nunberg's dash in treebanks: his rules are about the first form that a model knows."""


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
    trained = _trained_pairs(model) if sentences is None else {}
    pairs = []
    for before, outcomes in _outcomes(tokens, probabilities, intervals, counts):
        often = trained.get(displayed_string(before), 0.0) if trained else None
        pairs.append(LearnedPair(before, outcomes, listed.issuperset(before), rules.get(before), often))
    pairs.sort(key=lambda pair: -(pair.frequency or 0))
    surfaces = (model.vocabulary.known_surface(sentence.surface) for sentence in sentences or ())
    return LearnedRules(
        tuple(pairs),
        nunberg,
        unlearned,
        confidence,
        least,
        level=None if intervals is None else level,
        sentences=None if sentences is None else len(sentences),
        shown=Counter(mark for surface in surfaces for slot in surface for mark in slot),
        hardly_shown=hardly_shown(sentences or (), model.vocabulary),
    )


def _outcomes(
    tokens: Sequence[str], probabilities: Tensor, intervals: NDArray[Any] | None, counts: Tensor | None
) -> Iterator[tuple[tuple[str, str], tuple[PairOutcome, ...]]]:
    """All pairs of tokens that can be neighbours, each with its outcomes."""
    for (a, left), (b, right) in product(enumerate(tokens), repeat=2):
        if right in BOUNDARIES:  # which are always on the left
            continue
        outcomes = []
        # Edits of equal tokens with the same outcome are one, as in merged_edits.
        afters = dict.fromkeys(TokenEdit(a, b, kind).after_of(left, right) for kind in range(len(EDITS)))
        for edit, after in enumerate(afters):
            cell = a, b, edit
            interval = None if intervals is None else (float(intervals[0][cell]), float(intervals[1][cell]))
            count = None if counts is None else float(counts[cell])
            outcomes.append(PairOutcome(after, float(probabilities[cell]), interval, count))
        yield (left, right), tuple(outcomes)


def _trained_pairs(model: FittedStory) -> dict[str, float]:
    """How often pairs were expected in training, by their names; empty if the model does not know."""
    counts = model.report.get("trained_pairs")
    with untrusted("the counts of pairs in the model are damaged", ModelFileError):
        return {str(pair): float(often) for pair, often in dict[str, float](counts or {}).items()}


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
    return central_interval(tables, level)


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
    """Nunberg's rules by their pairs, in the model's tokens.

    Also returns the rules with a mark that the model lacks, and the model's tokens for Nunberg's marks.
    """
    known = model.vocabulary.token_number
    forms = (
        (mark, form) for mark in MARKS for form in (reversed(DASH_FORMS) if mark in DASH_FORMS else (mark,))
    )
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


def several_outcomes(several: Sequence[LearnedRules]) -> list[SeveralOutcomes]:
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
    """The key by which pairs are sorted: counts, or the greatest probability of an edit."""
    there = [pair for pair in pairs if pair is not None]
    if any(pair.frequency is not None for pair in there):
        return math.fsum(pair.frequency or 0.0 for pair in there)
    return max(edit.probability for pair in there for edit in pair.edits)
