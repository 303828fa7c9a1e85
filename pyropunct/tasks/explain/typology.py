"""Punctuation of several languages side by side: marks are aligned by what they do, not by their characters.

Each model counts in a treebank of its language, in expectation under q(T').  Compared are the outcomes
of neighbouring marks and what each relation sprouts.

Outcomes of neighbouring marks can be partially pooled: a language with few examples of a pair borrows
from the others, the more the less they differ.  For language l, pair of functions p and outcome k::

    mean[p, k]     ~ Normal(0, MEAN_SCALE)
    spread[p]      ~ HalfNormal(SPREAD_SCALE)
    logit[l, p, k] ~ Normal(mean[p, k], spread[p])

and expected counts c[l, p, k] have the log-likelihood sum_k c[l, p, k] log softmax_k logit[l, p].
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import pyro
import torch
from numpy.typing import NDArray
from pyro import poutine
from pyro.distributions import HalfNormal, Normal
from pyro.infer import SVI, Predictive, Trace_ELBO
from pyro.infer.autoguide import AutoNormal
from pyro.infer.reparam import LocScaleReparam
from pyro.optim import ClippedAdam
from torch import Tensor

from pyropunct.fitted.fitted_story import FittedStory, merged_edits
from pyropunct.inference.machines.products import EDITS, TokenEdit
from pyropunct.models.symmetry import PAIRED
from pyropunct.tasks import Advance, TypologySettings
from pyropunct.tasks.explain.learned_rules import part_by_part, require_edits
from pyropunct.tasks.explain.relations import expected_pairs
from pyropunct.text.marks import ABBREVIATION_DOT, START, STRAIGHT, display
from pyropunct.treebank.sentence import Sentence

BRACKET, QUOTE, COMMA, FINAL, OTHER = "bracket", "quote", "comma", "final", "other"

BRACKETS = frozenset("()[]{}（）［］【】〔〕<>")
"""Their characters; other marks that come in pairs are quotation marks, as those of titles are."""

OPENING, CLOSING = ({f"{side}-{kind}" for kind in (BRACKET, QUOTE)} for side in ("opening", "closing"))
"""What marks of pairs do.  Those that do either are called `BRACKET` and `QUOTE`, such as a straight one."""

CHARACTERS = {
    COMMA: frozenset(",،、，"),
    FINAL: frozenset(".。।॥۔?!؟？！…．"),
    "dash": frozenset("-‐‑–—―−"),
    "colon": frozenset(":;：；؛"),
}
"""The characters of marks that do the same whatever side they stand on; ``?!`` and ``--`` have several."""

ALONE = {START: display(START), ABBREVIATION_DOT: display(ABBREVIATION_DOT)}
"""Tokens that are functions of their own: they absorb and are absorbed, but no constituent sprouts them."""

OF_PAIRS = PAIRED.union(STRAIGHT) - {*"¿¡"}
"""Brackets and quotation marks, directed or not."""

EITHER = {BRACKET, QUOTE}
FUNCTIONS = (*sorted(OPENING | CLOSING | EITHER), *CHARACTERS, OTHER, *ALONE.values())
"""What marks do."""

DIRECTED, SEEN = 2 / 3, 5.0
"""A mark that is expected in so many pairs opens if more than this share of it is left, closes if right."""

PAIRS, RELATIONS, ROOTS = "pairs", "relations", "final marks"
"""What is compared: outcomes of neighbours, what relations sprout, and where final marks are sprouted."""

SPROUTED = ("commas on both sides", "a comma on one side", "brackets or quotation marks")
"""What constituents of a relation may sprout."""


class Tally(NamedTuple):
    """The expected number of times that something happens, in total and for each outcome."""

    total: float
    outcomes: Mapping[str, float]


class LanguageCounts(NamedTuple):
    """What a model expects in a treebank: the function of each mark, and tallies by comparison and pair."""

    functions: Mapping[str, str]
    tallies: Mapping[tuple[str, str], Tally]


def mark_function(mark: str, left: float = 0.0, right: float = 0.0) -> str:
    """What a mark does, one of `FUNCTIONS`, given how often paired marks have it on the left and right."""
    if mark in ALONE:
        return ALONE[mark]
    if mark in OF_PAIRS:
        is_directed = left + right >= SEEN and max(left, right) > DIRECTED * (left + right)
        kind = BRACKET if BRACKETS.issuperset(mark) else QUOTE
        return kind if not is_directed else f"opening-{kind}" if left > right else f"closing-{kind}"
    of_characters = (name for name, characters in CHARACTERS.items() if characters.issuperset(mark))
    return next(of_characters, OTHER)


def language_counts(
    model: FittedStory,
    sentences: Sequence[Sentence],
    advance: Advance = lambda done: None,
    known: Mapping[str, str] | None = None,
) -> LanguageCounts:
    """Count what happens to neighbouring marks, and what relations sprout, under q(T').

    :param advance: gets each sentence twice.
    :raises MissingPartError: if the model's channel has no edits.
    """
    require_edits(model)
    inventory, tokens = model.vocabulary.inventory, model.vocabulary.tokens
    expected, constituents = expected_pairs(model, sentences, advance)
    if known is None:
        sides = np.zeros((2, len(tokens)))
        of_pairs = {token for token, mark in enumerate(tokens) if mark in OF_PAIRS}
        for row, times in zip(inventory.rows, expected, strict=True):
            if not any(of_pairs.isdisjoint(puncteme) for puncteme in row):
                for side, puncteme in zip(sides, row, strict=True):
                    np.add.at(side, list(puncteme), times)
        known = {mark: mark_function(mark, *sides[:, token]) for token, mark in enumerate(tokens)}
    functions = [known[mark] for mark in tokens]
    edits = part_by_part(model.edit_counts, sentences, advance)
    assert edits is not None  # for there are sentences
    return LanguageCounts(
        known,
        _of_neighbours(functions, edits) | _of_relations(model, functions, expected, constituents),
    )


def _of_neighbours(functions: Sequence[str], edits: Tensor) -> dict[tuple[str, str], Tally]:
    does = torch.tensor([[function == name for name in FUNCTIONS] for function in functions]).double()
    counts = merged_edits(torch.einsum("ta,ub,tue->abe", does, does, edits.double().cpu()))
    tallies = {}
    for (a, first), (b, second) in product(enumerate(FUNCTIONS), repeat=2):
        outcomes: defaultdict[str, float] = defaultdict(float)
        for kind, times in enumerate(counts[a, b].tolist()):
            outcomes[" ".join(TokenEdit(a, b, kind).after_of(first, second))] += times
        tallies[PAIRS, f"{first} {second}"] = Tally(float(counts[a, b].sum()), outcomes)
    return tallies


def _of_relations(
    model: FittedStory,
    functions: Sequence[str],
    expected: NDArray[np.float64],
    constituents: NDArray[np.int64],
) -> dict[tuple[str, str], Tally]:
    """What relations without their subtypes sprout, and how many final marks roots do."""
    inventory = model.vocabulary.inventory
    totals: defaultdict[str, int] = defaultdict(int)
    sprouted: defaultdict[str, NDArray[np.float64]] = defaultdict(lambda: np.zeros(len(SPROUTED) + 1))
    starts = pairwise(inventory.pair_start)
    for name, number, rows in zip(model.vocabulary.relations, constituents, starts, strict=True):
        relation = name.partition(":")[0] or "(other)"
        totals[relation] += int(number)
        for row in range(*rows):
            left, right = ([functions[token] for token in side] for side in inventory.rows[row])
            commas = (COMMA in left) + (COMMA in right)
            enclosed = not (OPENING | EITHER).isdisjoint(left) and not (CLOSING | EITHER).isdisjoint(right)
            kinds = commas == 2, commas == 1, enclosed, (left + right).count(FINAL)
            sprouted[relation] += expected[row] * np.array(kinds)
    tallies = {
        (RELATIONS, name): Tally(total, dict(zip(SPROUTED, sprouted[name].tolist(), strict=False)))
        for name, total in totals.items()
    }
    finals = math.fsum(kinds[-1] for kinds in sprouted.values())
    return tallies | {(ROOTS, "final mark"): Tally(finals, {"root": float(sprouted["root"][-1])})}


class Share(NamedTuple):
    """The share of an outcome: its expected number, that of all outcomes, and an interval."""

    expected: float
    total: float
    low: float
    high: float

    @property
    def value(self) -> float:
        """The share, from 0 to 1."""
        return self.expected / self.total


def share_of(expected: float, total: float, level: float) -> Share:
    """A share with Wilson's interval at a level; it is near Jeffreys' and allows fractional counts."""
    z = NormalDist().inv_cdf((1 + level) / 2)
    middle, spread = expected + z * z / 2, z * math.sqrt(expected * (1 - expected / total) + z * z / 4)
    low, high = ((middle + sign * spread) / (total + z * z) for sign in (-1, 1))
    return Share(expected, total, max(0.0, low), min(1.0, high))


@dataclass(frozen=True)
class Comparison:
    """The shares of one outcome in several languages.

    :ivar table: `PAIRS`, `RELATIONS` or `ROOTS`.
    :ivar of: a pair of functions, a relation, or "final mark".
    :ivar outcome: what becomes of the pair, or is sprouted.
    :ivar shares: by language; None where there are too few.
    """

    table: str
    of: str
    outcome: str
    shares: tuple[Share | None, ...]

    @property
    def known(self) -> list[Share]:
        """The shares of the languages that have one."""
        return [share for share in self.shares if share is not None]

    @property
    def differs(self) -> bool:
        """Whether the intervals of two languages do not overlap."""
        return max(share.low for share in self.known) > min(share.high for share in self.known)


def side_by_side(
    languages: Sequence[LanguageCounts],
    *,
    least: float = TypologySettings.least,
    level: float = TypologySettings.level,
) -> list[Comparison]:
    """The outcomes in several languages: pairs and relations known in most languages come first.

    :param least: leave out pairs, and relations, that are expected less often in a language.
    :param level: the probability that all intervals of a row cover their shares, so that languages with the
        same share have disjoint intervals with a probability of at most 1 - level.
    """
    of_one = 1 - (1 - level) / len(languages)
    found = []
    for table, of in dict.fromkeys(key for language in languages for key in language.tallies):
        tallies = [language.tallies.get((table, of), Tally(0.0, {})) for language in languages]
        for outcome in dict.fromkeys(outcome for tally in tallies for outcome in tally.outcomes):
            shares = (
                share_of(tally.outcomes[outcome], tally.total, of_one) if tally.total >= least else None
                for tally in tallies
            )
            found.append(Comparison(table, of, outcome, tuple(shares)))
    some = [one for one in found if one.known]
    return sorted(some, key=lambda one: (-len(one.known), -math.fsum(share.total for share in one.known)))


MEAN_SCALE, SPREAD_SCALE = 3.0, 2.0
"""Scales of the priors: a logit of 3 is a share of 95 %."""

STEPS, LEARNING_RATE, DRAWS = 2000, 0.03, 500
"""Steps of stochastic variational inference, the rate of the first one (a tenth in the last), draws."""

SMOOTHING = 0.5
"""Added to each count where nothing is pooled, as Jeffreys' prior does, so that no outcome is impossible."""


def pooled_outcomes(counts: Tensor, possible: Tensor) -> None:
    """The Pyro model, of (languages, pairs, 4) counts and (pairs, 4) possible outcomes."""
    languages = pyro.plate("languages", counts.shape[0], dim=-3)
    pairs = pyro.plate("pairs", counts.shape[1], dim=-2)
    outcomes = pyro.plate("outcomes", counts.shape[2], dim=-1)
    with pairs:
        spread = pyro.sample("spread", HalfNormal(counts.new_tensor(SPREAD_SCALE)))
        with outcomes:
            mean = pyro.sample("mean", Normal(counts.new_zeros(()), MEAN_SCALE))
            with languages:
                logit = pyro.sample("logit", Normal(mean, spread))
    with pairs, languages:
        pyro.factor("counts", (counts * log_shares(logit, possible)).sum(-1, keepdim=True))


def log_shares(logit: Tensor, possible: Tensor) -> Tensor:
    """Log-shares of the outcomes; 0 for those that a pair does not have."""
    found = logit.masked_fill(~possible, -torch.inf).log_softmax(-1)
    return found.masked_fill(~possible, 0.0)


@dataclass(frozen=True)
class PooledShares:
    """The shares of the outcomes of each pair of functions; all (languages, pairs, 4).

    :ivar counts: their expected counts.
    :ivar own: the shares in the language alone, with `SMOOTHING`.
    :ivar pooled: the posterior means of the shares.
    """

    outcomes: dict[str, tuple[str, ...]]
    counts: Tensor
    own: Tensor
    pooled: Tensor


def pool(languages: Sequence[LanguageCounts], *, seed: int = 0) -> PooledShares:
    """Fit `pooled_outcomes` to counts by stochastic variational inference with a normal guide."""
    counts, outcomes = pair_counts(languages)
    numbers = torch.tensor([len(of_pair) for of_pair in outcomes.values()])
    possible = torch.arange(len(EDITS)) < numbers[:, None]
    model = poutine.reparam(pooled_outcomes, {"logit": LocScaleReparam(centered=0.0)})
    optimiser = ClippedAdam({"lr": LEARNING_RATE, "lrd": 0.1 ** (1 / STEPS)})
    with pyro.settings.context(module_local_params=True), poutine.seed(rng_seed=seed):
        guide = AutoNormal(model)
        inference = SVI(model, guide, optimiser, Trace_ELBO())
        for _ in range(STEPS):
            inference.step(counts, possible)
        with torch.no_grad():
            posterior = Predictive(
                model, guide=guide, num_samples=DRAWS, return_sites=["logit"], parallel=True
            )
            logits = posterior(counts, possible)["logit"]
    pooled = (log_shares(logits, possible).exp() * possible).mean(0)
    smoothed = (counts + SMOOTHING) * possible
    return PooledShares(outcomes, counts, smoothed / smoothed.sum(-1, keepdim=True), pooled)


def pair_counts(languages: Sequence[LanguageCounts]) -> tuple[Tensor, dict[str, tuple[str, ...]]]:
    """(languages, pairs, 4) the counts of outcomes of pairs, and for each pair its outcomes."""
    tallies = languages[0].tallies
    outcomes = {of: tuple(tally.outcomes) for (table, of), tally in tallies.items() if table == PAIRS}
    counts = torch.zeros(len(languages), len(outcomes), len(EDITS))
    for language, of_language in zip(languages, counts, strict=True):
        for of_pair, pair in zip(of_language, outcomes, strict=True):
            numbers = list(language.tallies[PAIRS, pair].outcomes.values())
            of_pair[: len(numbers)] = torch.tensor(numbers)
    return counts, outcomes


def perplexities(shares: Tensor, counts: Tensor) -> list[float]:
    """For each language the perplexity per pair, of (languages, pairs, 4) shares on other counts."""
    log_likelihood = torch.xlogy(counts, shares).sum((-1, -2))
    return [math.exp(one) for one in (-log_likelihood / counts.sum((-1, -2))).tolist()]
