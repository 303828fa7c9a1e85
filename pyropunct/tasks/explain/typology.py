"""Punctuation of several languages side by side: marks are aligned by what they do, not by their characters.

Each model counts in a treebank of its language, in expectation under q(T').  Compared are the outcomes
of neighbouring marks and what each relation sprouts.

A model of several languages needs no treebank.  Its channel has a posterior over what all languages have in
common and over each of them (`pyropunct.models.channel.languages`), and its report has the counts of its
training treebanks.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from statistics import NormalDist, fmean, stdev
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.errors import MissingPartError, ModelFileError
from pyropunct.files import untrusted
from pyropunct.fitted.fitted_story import FittedStory, merged_edits
from pyropunct.fitted.languages import in_language, levels_of
from pyropunct.inference.machines.products import EDITS, TokenEdit
from pyropunct.models.channel.languages import COMMON, Languages
from pyropunct.models.symmetry import PAIRED
from pyropunct.punctuator import Punctuator
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
) -> LanguageCounts:
    """Count what happens to neighbouring marks, and what relations sprout, under q(T').

    :param advance: gets each sentence twice.
    :raises MissingPartError: if the model's channel has no edits.
    """
    require_edits(model)
    expected, constituents = expected_pairs(model, sentences, advance)
    known = _functions(model, expected)
    edits = part_by_part(model.edit_counts, sentences, advance)
    assert edits is not None  # for there are sentences
    functions = [*known.values()]
    return LanguageCounts(
        known,
        _of_neighbours(functions, edits) | _of_relations(model, functions, expected, constituents),
    )


def _functions(model: FittedStory, expected: NDArray[np.float64]) -> dict[str, str]:
    """The function of each token, given (rows,) expected counts of puncteme pairs."""
    tokens = model.vocabulary.tokens
    sides = np.zeros((2, len(tokens)))
    of_pairs = {token for token, mark in enumerate(tokens) if mark in OF_PAIRS}
    for row, times in zip(model.vocabulary.inventory.rows, expected, strict=True):
        if not any(of_pairs.isdisjoint(puncteme) for puncteme in row):
            for side, puncteme in zip(sides, row, strict=True):
                np.add.at(side, list(puncteme), times)
    return {mark: mark_function(mark, *sides[:, token]) for token, mark in enumerate(tokens)}


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
    :ivar first: 1 if the first share is that of all languages.
    """

    table: str
    of: str
    outcome: str
    shares: tuple[Share | None, ...]
    first: int = 0

    @property
    def known(self) -> list[Share]:
        """The shares of the languages that have one."""
        return [share for share in self.shares if share is not None]

    @property
    def differs(self) -> bool:
        """Whether the intervals of two languages do not overlap."""
        known = [share for share in self.shares[self.first :] if share is not None]
        return bool(known) and max(share.low for share in known) > min(share.high for share in known)


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
    return _rows(languages, least, 1 - (1 - level) / len(languages))


def _rows(languages: Sequence[LanguageCounts], least: float, of_one: float) -> list[Comparison]:
    """`side_by_side`, given the level of one interval."""
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


# A model of several languages

ALL = "all"
"""The name of what all languages have in common."""

IN_REPORT = "languages"
"""The name, in the report of a model, of what is counted in the treebank of each language."""

RARE, MOST_COUNTED = 0.1, 1000
"""Pairs that are expected less often in a treebank are not kept; the most sentences of a language, from all
over its treebank, that are counted."""


def with_counts(
    model: Punctuator, sentences: Sequence[Sentence], advance: Advance = lambda done: None
) -> Punctuator:
    """A model of several languages with the counts of the treebanks that it was trained on, for `of_model`.

    :param sentences: of all languages, named as in training.
    """
    counts: dict[str, Any] = {}
    for code in model.languages:
        own, some = in_language(model, code), [one for one in sentences if one.tree.treebank == code]
        some = some[:: max(1, -(-len(some) // MOST_COUNTED))]
        expected, constituents = expected_pairs(own, some, advance)
        functions = [*_functions(own, expected).values()]
        edits = part_by_part(own.edit_counts, some, advance)
        assert edits is not None  # for each language has sentences
        total = edits.sum(-1)
        marks = list(map(display, own.vocabulary.tokens))
        counts[code] = {
            "sentences": len(some),
            "pairs": {
                f"{marks[a]} {marks[b]}": round(float(total[a, b]), 2)
                for a, b in (total >= RARE).nonzero().tolist()
            },
            "tallies": [
                [*key, round(one.total, 2), {name: round(times, 2) for name, times in one.outcomes.items()}]
                for key, one in _of_relations(own, functions, expected, constituents).items()
            ],
        }
    return replace(model, report={**model.report, IN_REPORT: counts})


def of_model(
    model: Punctuator,
    *,
    least: float = TypologySettings.least,
    level: float = TypologySettings.level,
) -> list[Comparison]:
    """What all languages of a model have in common, first, and each of them: see `side_by_side`.

    Shares of outcomes are means of the posterior, with credible intervals.  What relations sprout is counted;
    for all, it is the mean over languages with a normal interval.

    :raises MissingPartError: if the model has no languages, counts or posterior.
    """
    counts, levels = model.report.get(IN_REPORT), levels_of(model)
    if levels is None or not model.languages or not counts or not model.scales:
        raise MissingPartError(
            "it is no model of several languages with a posterior: fit one to CODE=FILE of each language, or "
            "give each MODEL a FILE"
        )
    with untrusted("the counts of the languages in the model are damaged", ModelFileError):
        counts = {code: counts[code] for code in model.languages}
        pairs = {code: dict[str, float](kept["pairs"]) for code, kept in counts.items()}
        languages = [
            LanguageCounts({}, {(table, of): Tally(total, outcomes) for table, of, total, outcomes in kept})
            for kept in (counts[code]["tallies"] for code in counts)
        ]
        of_one = 1 - (1 - level) / (len(languages) + 1)
        compared = [
            replace(one, shares=(_mean(one, of_one), *one.shares), first=1)
            for one in _rows(languages, least, of_one)
        ]
        found = [*_outcomes(model, levels, pairs, least, of_one), *compared]
    return found


def _mean(one: Comparison, level: float) -> Share | None:
    """The mean of the shares of languages; None for fewer than three."""
    values = [share.value for share in one.known]
    if len(values) < 3:
        return None
    middle, total = fmean(values), math.fsum(share.total for share in one.known)
    spread = NormalDist().inv_cdf((1 + level) / 2) * stdev(values) / math.sqrt(len(values))
    return Share(middle * total, total, max(0.0, middle - spread), min(1.0, middle + spread))


def _outcomes(
    model: Punctuator,
    levels: Languages,
    counts: Mapping[str, Mapping[str, float]],
    least: float,
    level: float,
) -> list[Comparison]:
    """The outcomes of pairs that the languages together expect so often; the commonest pairs first."""
    total: defaultdict[str, float] = defaultdict(float)
    for pairs in counts.values():
        for pair, number in pairs.items():
            total[pair] += number
    known = sorted((pair for pair in total if total[pair] >= least), key=lambda pair: -total[pair])
    tokens = {display(token): number for number, token in enumerate(model.vocabulary.tokens)}
    places = torch.tensor([[tokens[mark] for mark in pair.split(" ")] for pair in known]).reshape(-1, 2)
    numbered = model.vocabulary.treebanks.index
    drawn = [_drawn(levels, language, places) for language in (COMMON, *map(numbered, counts))]
    compared = []
    for place, pair in enumerate(known):
        (a, b), (first, second) = places[place].tolist(), pair.split(" ")
        outcomes: defaultdict[str, list[int]] = defaultdict(list)
        for kind in range(len(EDITS)):
            outcomes[" ".join(TokenEdit(a, b, kind).after_of(first, second))].append(kind)
        numbers = [total[pair], *(pairs.get(pair, 0.0) for pairs in counts.values())]
        for outcome, kinds in outcomes.items():
            shares = (
                _interval(draws[:, place, kinds].sum(-1), number, level) if number >= least else None
                for draws, number in zip(drawn, numbers, strict=True)
            )
            compared.append(Comparison(PAIRS, pair, outcome, tuple(shares), first=1))
    return compared


DRAWS = 4000
"""Draws from the posterior of the edits of a language."""


def _drawn(levels: Languages, language: int, places: Tensor) -> Tensor:
    """(draws, pairs, 4) probabilities of the edits of pairs of tokens, (pairs, 2), in a language."""
    a, b = places.unbind(-1)
    mean, scale = (of(language)[a, b].detach().cpu() for of in (levels.logits_of, levels.scales_of))
    noise = torch.randn(DRAWS, *mean.shape, generator=torch.Generator().manual_seed(0), dtype=mean.dtype)
    return (mean + scale * noise).softmax(-1)


def _interval(draws: Tensor, number: float, level: float) -> Share:
    """The mean and the central interval of draws of a share of a number."""
    low, high = np.quantile(draws.numpy(), ((1 - level) / 2, (1 + level) / 2))
    return Share(float(draws.mean()) * number, number, float(low), float(high))
