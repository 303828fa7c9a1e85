"""What the languages of one model have in common, and how each of them punctuates.

Such a model needs no treebank.  Its channel has a posterior over what all languages have in common and over
each of them (`pyropunct.models.channel.languages`), and its report has the counts of its training treebanks.
"""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import NormalDist, fmean, stdev
from typing import Any

import torch
from torch import Tensor

from pyropunct.errors import MissingPartError, ModelFileError
from pyropunct.fitted.stories import in_language, levels_of
from pyropunct.inference.machines.products import EDITS, TokenEdit
from pyropunct.models.channel.languages import COMMON, Languages
from pyropunct.punctuator import Punctuator
from pyropunct.tasks import Advance, TypologySettings
from pyropunct.tasks.explain.learned_rules import part_by_part
from pyropunct.tasks.explain.sprouted import PUNCTEMES, sprouted_in
from pyropunct.tasks.explain.tallies import Share, Tally, central_interval
from pyropunct.tasks.explain.typology import PAIRS, Comparison, LanguageCounts, rows_of_languages
from pyropunct.text.marks import display
from pyropunct.treebank.sentence import Sentence
from pyropunct.untrusted import untrusted

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
        _, sprouted = sprouted_in(own, some, advance)
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
                for key, one in sprouted.items()
                if key[0] != PUNCTEMES
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
            replace(
                one,
                shares=(_mean(one, of_one), *one.shares),
                first=1,
                unused=frozenset(place + 1 for place in one.unused),
            )
            for one in rows_of_languages(languages, least, of_one)
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
    """The outcomes of the pairs that all languages together expect ``least`` times; commonest pairs first."""
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
            compared.append(Comparison(PAIRS, pair, outcome, tuple(shares), first=1, seed=SEED))
    return compared


DRAWS, SEED = 4000, 0
"""Draws from the posterior of the edits of a language, and their seed."""


def _drawn(levels: Languages, language: int, places: Tensor) -> Tensor:
    """(draws, pairs, 4) probabilities of the edits of pairs of tokens, (pairs, 2), in a language."""
    a, b = places.unbind(-1)
    mean, scale = (of(language)[a, b].detach().cpu() for of in (levels.logits_of, levels.scales_of))
    noise = torch.randn(DRAWS, *mean.shape, generator=torch.Generator().manual_seed(SEED), dtype=mean.dtype)
    return (mean + scale * noise).softmax(-1)


def _interval(draws: Tensor, number: float, level: float) -> Share:
    """The mean and the central interval of draws of a share, of so many pairs."""
    low, high = central_interval(draws.numpy(), level)
    return Share(float(draws.mean()) * number, number, float(low), float(high))
