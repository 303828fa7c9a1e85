"""Decides on the punctuation of sentences, given their trees: draws in rounds, until they suffice.

Slot by slot, the networks' predictions from words are pooled with the story's predictions from trees.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
import torch

from pyropunct.draws import Draws
from pyropunct.inference.machines.evidence import Evidence
from pyropunct.inference.pyro.posterior import ImpossibleSurfaceError
from pyropunct.nets.labels import Probabilities
from pyropunct.nets.parser import WeightedTree
from pyropunct.restore.decoders import Decision, Decoder, decoder_with
from pyropunct.restore.parses import FittedModel
from pyropunct.restore.pooling import Voices, pooled, voices_of
from pyropunct.restore.posterior import FEW_DRAWS, PosteriorDraws
from pyropunct.restore.rewriting import Rewriting, mixture, without_unknown
from pyropunct.restore.settings import THRESHOLD, DecisionSettings, RestoreSettings, Thresholds

FIRST_ROUND, FIRST_GIVEN, GROWTH = 150, 50, 3
"""The draws of a sentence in the first round, without and with evidence, and the growth of their number in
each further round.  Draws with evidence take longer, and more of them hardly help."""

MOST_DRAWN = 50_000
"""No further round for a sentence without evidence whose draws have this many slots: a second of work."""

MOST_WEIGHED = 3_000
"""About the most work on the draws of a sentence with evidence: see `Conditioned.weighed`."""

REGRET = 0.001
"""Drawing stops when more draws are expected to save fewer edits in each slot than this."""

DECIDED_AT_ONCE = 100
"""Sentences whose draws are in memory together."""


def decide(
    model: FittedModel,
    parses: Sequence[Sequence[WeightedTree]],
    *,
    decoder: str = DecisionSettings.decoder,
    threshold: Thresholds = THRESHOLD,
    samples: int = RestoreSettings.samples,
    seed: int | None = None,
    rewritings: Sequence[Rewriting] | None = None,
    readings: Sequence[Probabilities | None] | None = None,
) -> Iterator[Decision]:
    """Punctuate sentences, given their trees.

    Several trees form a mixture of p(x | T) (Li, Wang & Eisner 2019, footnote 20).  Parser output is
    punctuated by the story trained on it; if this reads the model's tagger, both are `pooled`.  Draws are
    made in rounds, until more are not expected to save many edits.

    :param parses: for each sentence its trees, with weights that add up to 1.
    :param samples: the most draws of a sentence, spread over its trees; each round may round up by one for
        each tree.
    :param seed: equal seeds give equal results, whatever the other sentences are.
    :param readings: what the model's reader predicts behind the words of each sentence of running text.
    :raises KeyError: if there is no such decoder.
    """
    choose = decoder_with(decoder, threshold)
    if rewritings is None:
        rewritings = [without_unknown] * len(parses)
    if readings is None:
        readings = [None] * len(parses)
    for first in range(0, len(parses), DECIDED_AT_ONCE):
        batch = slice(first, first + DECIDED_AT_ONCE)
        yield from _decided(model, parses[batch], choose, samples, seed, rewritings[batch], readings[batch])


def _decided(
    model: FittedModel,
    parses: Sequence[Sequence[WeightedTree]],
    choose: Decoder,
    samples: int,
    seed: int | None,
    rewritings: Sequence[Rewriting],
    readings: Sequence[Probabilities | None],
) -> list[Decision]:
    """The decisions for a batch of sentences, each from as many rounds of draws as it needs."""
    decisions: dict[int, Decision] = {}
    draws: dict[int, Draws] = {}
    undecided = list(range(len(parses)))
    voices = voices_of(model, parses, readings)
    for number, size in enumerate(_rounds(samples)):
        trees = [parses[place] for place in undecided]
        heard = [voices[place] for place in undecided]
        new = draws_of(model, trees, heard, size, _seed_of_round(seed, number))
        for place, more in zip(undecided, new, strict=True):
            draws[place] = more if number == 0 else _together(draws[place], more)
            spoken = voices[place]
            both = draws[place] if spoken is None else pooled(draws[place], *spoken)
            decisions[place] = choose(rewritings[place](both))
        undecided = [
            place
            for place in undecided
            if not _is_clear(decisions[place]) and draws[place].numbers.size < MOST_DRAWN
        ]
    return [decisions[place] for place in range(len(parses))]


def decide_given(
    model: FittedModel,
    parses: Sequence[Sequence[WeightedTree]],
    evidence: Sequence[Sequence[Evidence]],
    rewritings: Sequence[Rewriting],
    readings: Sequence[Probabilities | None],
    settings: RestoreSettings,
) -> Iterator[Decision]:
    """Punctuate sentences given their trees and evidence, from the posterior.

    If the settings neither keep marks nor have hidden ones, impossible evidence is ignored; the rewriting
    still puts given marks back.  With hidden marks it does not, so networks, which ignore evidence, are not
    pooled.

    :param readings: see `decide`.
    :raises ImpossibleSurfaceError: if the settings keep marks, or have hidden ones, and the evidence of a
        sentence is impossible.
    """
    choose, samples = decoder_with(settings.decoder or "f1", settings.threshold), settings.samples
    alone = settings.hidden is not None
    voices = [None] * len(parses) if alone else voices_of(model, parses, readings)
    for trees, known, rewriting, heard in zip(parses, evidence, rewritings, voices, strict=True):
        draws = posterior_draws(model, trees, known, settings.seed)
        try:
            made = 0
            for size in _rounds(samples, FIRST_GIVEN):
                of_each = draws.weighed / made if made else sum(slot.num_states for slot in known)
                size = min(size, int((MOST_WEIGHED - draws.weighed) / of_each))
                if size < made:
                    break  # as it would hardly change the decision
                posterior = draws.more(max(size, 1))
                made += size
                both = around(trees, posterior.draws)
                both = both if heard is None else pooled(both, *heard)
                decision = choose(rewriting(both))
                if posterior.effective_draws >= FEW_DRAWS and _is_clear(decision):
                    break
        except ImpossibleSurfaceError:
            if settings.keep or alone:
                raise
            yield from _decided(model, [trees], choose, samples, settings.seed, [rewriting], [None])
        else:
            yield decision._replace(effective_draws=posterior.effective_draws)


def _is_clear(decision: Decision) -> bool:
    """Whether more draws are not expected to save many edits."""
    return decision.regret <= REGRET * len(decision.surface)


def posterior_draws(
    model: FittedModel, trees: Sequence[WeightedTree], evidence: Sequence[Evidence], seed: int
) -> PosteriorDraws:
    """The posterior of a sentence, given weighted trees and the evidence about its slots 0..n."""
    return PosteriorDraws(model.fitted_story(trees[0].given), trees, evidence, seed)


def _rounds(samples: int, first: int = FIRST_ROUND) -> list[int]:
    """The number of draws in each round; the total grows by a factor of `GROWTH`."""
    totals = [min(first, samples)]
    while totals[-1] < samples:
        totals.append(min(totals[-1] * GROWTH, samples))
    return [total - before for total, before in zip(totals, [0, *totals], strict=False)]


def _seed_of_round(seed: int | None, number: int) -> int | None:
    if seed is None or number == 0:
        return seed
    return int(np.random.SeedSequence([seed, number]).generate_state(1, np.uint64)[0])


def _together(before: Draws, more: Draws) -> Draws:
    """The draws of two rounds, with equal weights."""
    share = len(more) / (len(before) + len(more))
    return mixture([before, more], [1 - share, share])


def draws_of(
    model: FittedModel,
    parses: Sequence[Sequence[WeightedTree]],
    voices: Sequence[Voices | None],
    samples: int,
    seed: int | None,
) -> Iterator[Draws]:
    """The draws of each sentence: equally many from each of its trees, which share the tree's weight."""
    seed = int(torch.randint(2**63 - 1, ())) if seed is None else seed
    kinds = {given: _of_trees(model, parses, voices, given, samples, seed) for given in (True, False)}
    for trees in parses:
        parts = list(islice(kinds[trees[0].given], len(trees)))
        yield around(trees, mixture(parts, [parse.weight for parse in trees]))


def around(trees: Sequence[WeightedTree], draws: Draws) -> Draws:
    """The draws, with the edges of constituents."""
    return replace(draws, edges=edges_inside(trees))


def edges_inside(trees: Sequence[WeightedTree]) -> tuple[tuple[int, int], ...]:
    """The slots left and right of each constituent inside the most probable tree."""
    tree = max(trees, key=lambda parse: parse.weight).tree
    return tuple(sorted({(first - 1, last) for first, last in tree.spans if first > 1 and last < len(tree)}))


def _of_trees(
    model: FittedModel,
    parses: Sequence[Sequence[WeightedTree]],
    voices: Sequence[Voices | None],
    given: bool,
    samples: int,
    seed: int,
) -> Iterator[Draws]:
    """The draws for the sentences with given trees, or for those that were parsed."""
    chosen = [(trees, heard) for trees, heard in zip(parses, voices, strict=True) if trees[0].given == given]
    story = model.fitted_story(given)
    odds = [heard.log_odds(story.vocabulary.tokens) for _, heard in chosen if heard is not None]
    return story.draws(
        [parse.tree for trees, _ in chosen for parse in trees],
        [-(-samples // len(trees)) for trees, _ in chosen for _ in trees],
        seed,
        alike=True,  # so that it makes no difference which sentences are restored together
        read=[row for (trees, _), row in zip(chosen, odds, strict=True) for _ in trees] if odds else None,
    )
