"""Decides on the punctuation of sentences, given their trees: draws in rounds, until they suffice.

Slot by slot, the networks' predictions from words are pooled with the story's predictions from trees.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.draws import Draws
from pyropunct.inference.machines.evidence import Evidence
from pyropunct.inference.pyro.posterior import ImpossibleSurfaceError
from pyropunct.nets.labels import Probabilities, SlotVocabulary
from pyropunct.nets.parser import WeightedTree
from pyropunct.restore.decoders import Decision, Decoder, decoder_with
from pyropunct.restore.parses import FittedModel
from pyropunct.restore.posterior import FEW_DRAWS, PosteriorDraws
from pyropunct.restore.rewriting import Rewriting, mixture, without_unknown
from pyropunct.restore.settings import FINAL, THRESHOLD, DecisionSettings, Thresholds
from pyropunct.text.marks import START, Surface

FAINT = 0.02
"""Strings that were not drawn in a slot are left out of its pool if they are read with less probability."""

LEAST = 1e-6
"""Less than this is not read of any string."""

UNSEEN = 0.25
"""As many draws of each string are added to those of the story, since it may be drawn yet."""


FINAL_STRINGS = tuple((mark,) for mark in FINAL)

READ_SHARE = 0.8
"""The least share of a reader that is trusted, in the pool for running text, whose trees are worse."""


TRUSTED = 0.5
"""The least share of a reader (`FittedModel.reader_share`) that is believed about pairs and broken lines."""

BREAKS_OFF, FEW_WORDS = 0.05, 2
"""A line with more words than the second number breaks off ("turn off the") if a trusted reader gives its end
less probability than the first.  So do 28 % of the sentences of EWT dev and GUM dev that are cut anywhere,
and 0.5 % of whole ones."""


class Voice(NamedTuple):
    """A network's predictions for a sentence: (n + 1, labels) probabilities of the labels of a vocabulary.

    :ivar weights: (n + 1,) how much they count in each slot; those of all voices add up to 1.
    """

    vocabulary: SlotVocabulary
    probabilities: Probabilities
    weights: NDArray[np.float64]


class Voices(NamedTuple):
    """What networks predict for a sentence: the tagger, and the reader if it is trusted.

    :ivar share: their weight in the pool with the story.
    :ivar breaks_off: whether the line ends within a sentence, where no mark stands.
    """

    each: tuple[Voice, ...]
    share: float
    breaks_off: bool = False

    def log_probs(self, slots: Sequence[int], strings: Surface) -> NDArray[np.float64]:
        """(slots, strings) the logarithms of the networks' weighted geometric mean, not normalised."""
        each = [
            one.weights[slots, None]
            * np.maximum(one.vocabulary.log_probs(one.probabilities[slots], strings), np.log(LEAST))
            for one in self.each
        ]
        return np.sum(each, 0)

    def log_odds(self, tokens: Sequence[str]) -> Tensor:
        """(n + 1, tokens) the tagger's log-odds, for a story that reads it."""
        tagger = self.each[0]
        return tagger.vocabulary.log_odds(tagger.probabilities, tokens)


def pooled(draws: Draws, voices: Sequence[Voice], weight: float, breaks_off: bool = False) -> Draws:
    """The draws with pooled `Draws.shares` and `Draws.spread`.

    The story gives p(x_i | T) for the string of each slot, as shares of draws; the networks give
    q(x_i | words).  Their pool is logarithmic (Hinton 1999, "Products of experts")::

        in proportion to   q(x_i | words)^w  p(x_i | T)^(1 - w)

    Only p is estimated.  To first order, an error e of log p(s) changes the pool P(s) by (1 - w) P(s) e,
    before renormalisation.  With m draws, log p(s) has variance 1 / (m p(s)).  So by the delta method the
    mean of a(s) over the pool has the variance ::

        sum over strings s of   (1 - w)^2  P(s)^2 / p(s)  (a(s) - mean)^2 / m

    Trees do not tell “.”, “?” and “!” behind a sentence apart: among these, w is 1.

    :param voices: at least one; their weighted geometric mean is taken.
    :param weight: w.
    :param breaks_off: see `Voices`.
    """
    strings = dict.fromkeys([*draws.strings, *[()] * breaks_off])
    for vocabulary, probabilities, weights in voices:
        slots, labels = np.nonzero((probabilities[:, :-1] > FAINT) & (weights > 0)[:, None])
        for slot, label in zip(slots.tolist(), labels.tolist(), strict=True):
            string = vocabulary.labels.strings[label]
            strings.setdefault((START, *string) if slot == 0 else string)
    known = tuple(strings)
    drawn = np.zeros((draws.numbers.shape[1], len(known)))
    for slot, numbers in enumerate(draws.numbers.T):
        drawn[slot, : len(draws.strings)] = np.bincount(numbers, draws.weights, len(draws.strings))
    read = Voices(tuple(voices), weight).log_probs(range(len(drawn)), known)
    possible = (drawn > 0) | (read > np.log(FAINT))
    possible &= np.array([START in string for string in known]) == (np.arange(len(drawn)) == 0)[:, None]
    seen = drawn + UNSEEN / len(draws.numbers)
    pool = np.where(possible, np.exp(weight * read + (1 - weight) * np.log(seen)), 0)
    total = pool.sum(1, keepdims=True)
    shares = np.where(total > 0, pool / np.where(total > 0, total, 1), drawn)
    final = [
        column for column, string in enumerate(known) if string in FINAL_STRINGS and possible[-1, column]
    ]
    likely = np.exp(read[-1, final])
    shares[-1, final] = shares[-1, final].sum() * likely / likely.sum()
    if breaks_off:
        shares[-1] = [string == () for string in known]
    is_read = len(voices) > 1 and bool(voices[-1].weights[1:-1].max(initial=0) >= TRUSTED)
    spread = (1 - weight) ** 2 * shares**2 / seen
    return replace(draws, strings=known, shares=shares, spread=spread, is_read=is_read)


FIRST_ROUND, FIRST_GIVEN, GROWTH = 150, 50, 3
"""The draws of a sentence in the first round, without evidence and given some, and the factor by which more
rounds multiply them.  Those given evidence take longer, and more of them hardly help."""

MOST_DRAWN = 50_000
"""A sentence without evidence gets no further round once its draws have so many slots: a second."""

MOST_WEIGHED = 3_000
"""The most work on the draws of a sentence given evidence, about: see `Conditioned.weighed`."""

REGRET = 0.001
"""No more draws are made once they are expected to save fewer edits a slot."""

DECIDED_AT_ONCE = 100
"""Sentences whose draws are in memory together."""


def decide(
    model: FittedModel,
    parses: Sequence[Sequence[WeightedTree]],
    *,
    decoder: str = DecisionSettings.decoder,
    threshold: Thresholds = THRESHOLD,
    samples: int = DecisionSettings.samples,
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
    *,
    decoder: str = DecisionSettings.decoder,
    threshold: Thresholds = THRESHOLD,
    samples: int = DecisionSettings.samples,
    seed: int = 0,
    strict: bool = True,
    alone: bool = True,
    readings: Sequence[Probabilities | None] | None = None,
) -> Iterator[Decision]:
    """Punctuate sentences given their trees and evidence, from the posterior.

    :param strict: raise an error if the evidence is impossible; otherwise it is dropped, except for what the
        rewriting keeps.
    :param alone: do not pool networks, which know no evidence: the rewriting must put it in again.
    :param readings: see `decide`.
    :raises ImpossibleSurfaceError: if the evidence of a sentence is impossible.
    """
    choose = decoder_with(decoder, threshold)
    posteriors = Posteriors(model)
    voices = [None] * len(parses) if alone else voices_of(model, parses, readings)
    for trees, known, rewriting, heard in zip(parses, evidence, rewritings, voices, strict=True):
        draws = posteriors.of(trees, known, seed)
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
            if strict:
                raise
            yield from _decided(model, [trees], choose, samples, seed, [rewriting], [None])
        else:
            yield decision._replace(effective_draws=posterior.effective_draws)


def _is_clear(decision: Decision) -> bool:
    """Whether more draws are not expected to save many edits."""
    return decision.regret <= REGRET * len(decision.surface)


class Posteriors:
    """Makes posteriors of sentences, conditioning the stories of ``model`` on evidence."""

    def __init__(self, model: FittedModel) -> None:
        self._model = model

    def of(self, trees: Sequence[WeightedTree], evidence: Sequence[Evidence], seed: int) -> PosteriorDraws:
        """The posterior of a sentence, given weighted trees and the evidence about its slots 0..n."""
        return PosteriorDraws(self._model.fitted_story(trees[0].given), trees, evidence, seed)


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


def voices_of(
    model: FittedModel,
    parses: Sequence[Sequence[WeightedTree]],
    readings: Sequence[Probabilities | None] | None = None,
) -> list[Voices | None]:
    """What the model's networks predict for each parsed sentence; None for others.

    The reader learns from more text than the tagger, but only what stands behind the words of running text.
    So a trusted reader (`FittedModel.reader_share`) speaks in the slots between words, and alone in running
    text.  The tagger speaks in front of a sentence and, since lines may have no final mark, behind a line;
    but whether that is “.”, “?” or “!”, the reader knows better.

    :param readings: of the sentences of running text, see `decide`; other sentences are read alone.
    """
    voices: list[Voices | None] = [None] * len(parses)
    parsed = [number for number, trees in enumerate(parses) if not trees[0].given]
    tagger, reader = model.tagger, model.reader
    if tagger is None or model.for_parsed.story.reading is None or not parsed:
        return voices
    words = [parses[number][0].tree.forms for number in parsed]
    found = [None if readings is None else readings[number] for number in parsed]
    alone = {number for number, reading in enumerate(found) if reading is None}
    broken = set[int]()
    if reader is not None and model.reader_share > 0 and alone:
        of_alone = reader.read_all([words[number] for number in alone])
        for number, reading in zip(alone, of_alone, strict=True):
            ends = [*[False] * (len(words[number]) - 1), True]
            found[number] = reader.mark_probabilities(reading.marks, ends)
            trusted = model.reader_share >= TRUSTED and len(ends) > FEW_WORDS
            if trusted and float(reading.ends[-1]) < BREAKS_OFF:
                broken.add(number)
    for place, row, marks in zip(range(len(parsed)), tagger.read(words), found, strict=True):
        weights, share = np.zeros(len(row)), model.share
        if place not in alone:
            weights[1:] = 1.0 if model.reader_share > 0 else 0.5
            share = max(share, READ_SHARE) if model.reader_share > 0 else share
        elif reader is not None and marks is not None:
            weights[1:-1] = model.reader_share
            _retell(row[-1], tagger.vocabulary, marks[-1], reader.vocabulary.slots, model.reader_share)
        each = [Voice(tagger.vocabulary, row, 1 - weights)]
        if reader is not None and marks is not None:
            start = np.eye(1, marks.shape[1])
            each.append(Voice(reader.vocabulary.slots, np.vstack([start, marks]), weights))
        voices[parsed[place]] = Voices(tuple(each), share, place in broken)
    return voices


def _retell(
    told: NDArray[Any], own: SlotVocabulary, read: NDArray[Any], other: SlotVocabulary, weight: float
) -> None:
    """Share out the probability of final marks in one slot anew, by two networks.

    :param weight: how much the other network counts, from 0 to 1.
    """
    both = {*own.labels.strings}.intersection(other.labels.strings)
    known = [string for string in FINAL_STRINGS if string in both]
    numbers = own.labels.encode(known)
    likely = told[numbers] ** (1 - weight) * read[other.labels.encode(known)] ** weight
    told[numbers] = told[numbers].sum() * likely / likely.sum()


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
