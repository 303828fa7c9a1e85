"""The posterior of the noisy channel, exact on a list of right punctuations x_c::

    p(x_c | x_e, words)  is proportional to  sum over T of p(T | words) p(x_c | T) p(x_e | x_c, T)

Only punctuations that differ from x_e by a few likely errors are at all probable, so nothing is sampled:

1. In each slot, take the strings that one error turns into the string of x_e.  Compute their odds against
   that string with the networks, or without these from the heaviest tree with all other slots unchanged.
   Drop strings whose odds are below `LEAST_ODDS`.
2. List x_e and the at most `LONGEST` combinations of these strings with the greatest products of odds.
3. Pool p(x_c | T) with what the networks read, as in restoration: see `pyropunct.restore.pooling.pooled`.
"""

import heapq
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pyropunct.draws import Draws
from pyropunct.fitted.fitted_story import FittedStory
from pyropunct.inference.ragged import Floats
from pyropunct.nets.parser import WeightedTree
from pyropunct.punctuator import Punctuator
from pyropunct.restore.deciding import edges_inside
from pyropunct.restore.pooling import Voice, Voices, voices_of
from pyropunct.tasks.correct.channel import Context, ErrorChannel, contexts
from pyropunct.tasks.correct.learner_errors import String
from pyropunct.text.marks import Surface
from pyropunct.treebank.tree import Tree

RATES = (0.0, 1 / 16, 1 / 8, *(2.0 ** (power / 2) for power in range(-4, 3)), 4.0)
"""Possible error rates of a writer, relative to the rate at which the channel was fitted.  All are equally
probable at first.  From 1/4 to 2, each rate is the square root of 2 times the previous rate."""

FITTED_RATE = 1.0
"""The rate of a writer whose rate is not given."""

LEAST_ODDS = 0.003
"""The least odds of a listed punctuation against x_e, and against the best punctuation of the list."""

LONGEST = 60
"""The greatest number of punctuations in a list."""

NEVER = -1e9
"""The logarithm of odds that count as zero."""


class WritersRate:
    """The distribution of a writer's rate of errors over `RATES`.

    :param known: the rate, if known; between two of `RATES`, it is the mean of a distribution over both.
    :raises ValueError: if the rate is below the first of `RATES` or above the last.
    """

    def __init__(self, known: float | None = None) -> None:
        self._log_weight, self._known = np.zeros(len(RATES)), None
        if known is not None:
            if not RATES[0] <= known <= RATES[-1]:
                raise ValueError(f"the rate {known:g} is not from {RATES[0]:g} to {RATES[-1]:g}")
            self._known = np.array([np.interp(known, RATES, row) for row in np.eye(len(RATES))])

    def learn(self, log_evidence: Floats) -> None:
        """Update the distribution with (sentences, rates) log p(x_e | words)."""
        self._log_weight = self._log_weight + log_evidence.sum(0)

    @property
    def probabilities(self) -> Floats:
        """(rates,) the probability of each rate, given all evidence so far."""
        return _shares(self._log_weight) if self._known is None else self._known


@dataclass(frozen=True)
class Heard:
    """The joint probabilities of a sentence with each listed punctuation x_c; the first is x_e.

    :ivar log_joint: (rates, list) log p(x_c, x_e | words) with each of `RATES`.
    :ivar unlisted: the sum of the odds, at rate 1, of all unlisted changes of one slot.
    """

    surfaces: tuple[Surface, ...]
    log_joint: Floats
    unlisted: float = 0.0
    edges: tuple[tuple[int, int], ...] = ()

    @property
    def log_evidence(self) -> Floats:
        """(rates,) log p(x_e | words): the sum over the list, corrected for unlisted changes.

        Unlisted changes are improbable but many: to first order, each multiplies the sum by 1 + its odds.
        """
        return np.logaddexp.reduce(self.log_joint, 1) + np.array(RATES) * self.unlisted

    def posterior(self, rates: Floats) -> Draws:
        """p(x_c | x_e, words) over the list as weighted draws, given (rates,) probabilities of `RATES`."""
        shares = np.array([_shares(row) for row in self.log_joint])
        number: dict[String, int] = {}
        rows = [
            [number.setdefault(tuple(slot), len(number)) for slot in surface] for surface in self.surfaces
        ]
        return Draws(tuple(number), np.array(rows, np.int32), rates @ shares, self.edges)


def _shares(log_weight: Floats) -> Floats:
    """Normalised weights from their logarithms; if all are zero, the first becomes 1."""
    greatest = log_weight.max()
    if greatest == -np.inf:
        return np.eye(1, len(log_weight))[0]
    weight = np.exp(log_weight - greatest)
    return weight / weight.sum()


class WrongSentence(NamedTuple):
    """A sentence to correct: trees T with weights that add up to 1, x_e, and slots whose marks stay."""

    trees: Sequence[WeightedTree]
    wrong: tuple[String, ...]
    closed: Collection[int] = ()


def wrong_sentences(
    parses: Iterable[Sequence[WeightedTree]], surfaces: Iterable[Surface]
) -> list[WrongSentence]:
    """Sentences to correct, from their trees and punctuation."""
    pairs = zip(parses, surfaces, strict=True)
    return [WrongSentence(trees, tuple(map(tuple, surface))) for trees, surface in pairs]


def hear(model: Punctuator, channel: ErrorChannel, sentences: Sequence[WrongSentence]) -> list[Heard]:
    """The joint probabilities for each sentence."""
    voices = voices_of(model, [sentence.trees for sentence in sentences])
    if model.tagger is not None:
        unheard = [place for place, voice in enumerate(voices) if voice is None]
        read = model.tagger.read([sentences[place].trees[0].tree.forms for place in unheard])
        for place, row in zip(unheard, read, strict=True):
            voices[place] = Voices((Voice(model.tagger.vocabulary, row, np.ones(len(row))),), 0.0)
    heard = []
    for sentence, voice in zip(sentences, voices, strict=True):
        is_parsed = not sentence.trees[0].given
        story = model.for_parsed if is_parsed else model
        where = [contexts(parse.tree) for parse in sentence.trees]
        odds, unlisted = _log_odds(story, channel, sentence, where[0], voice)
        listed = _combinations(odds)
        surfaces = tuple(_changed(sentence.wrong, changes) for changes in listed)
        log_prob = log_probs(story, [parse.tree for parse in sentence.trees], surfaces)
        if voice is not None and voice.share:
            read_prob = _log_probs_read(voice, surfaces)
            log_prob = (1 - voice.share) * log_prob + voice.share * read_prob
        log_weight = np.log([parse.weight for parse in sentence.trees])
        log_error = np.stack([_log_errors(channel, sentence.wrong, listed, context) for context in where])
        joint = np.logaddexp.reduce((log_weight[:, None] + log_prob)[:, None] + log_error)
        heard.append(Heard(surfaces, joint, unlisted, edges_inside(sentence.trees)))
    return heard


def log_probs(model: FittedStory, trees: Sequence[Tree], surfaces: Sequence[Surface]) -> Floats:
    """(trees, surfaces) log p(x | T) of punctuations of one sentence, in natural logarithms."""
    each_tree = [tree for tree in trees for _ in surfaces]
    log_prob = model.log_prob_of_marks(each_tree, [*surfaces] * len(trees))
    return log_prob.numpy().reshape(len(trees), len(surfaces))


def _log_probs_read(voices: Voices, surfaces: Sequence[Surface]) -> Floats:
    """(surfaces,) the logarithm of the product over slots of what networks give to the strings."""
    total = np.zeros(len(surfaces))
    for slot, strings in enumerate(zip(*surfaces, strict=True)):
        known = tuple(dict.fromkeys(strings))
        logs = dict(zip(known, voices.log_probs([slot], known)[0].tolist(), strict=True))
        total += [logs[string] for string in strings]
    return total


def _log_odds(
    model: FittedStory,
    channel: ErrorChannel,
    noisy: WrongSentence,
    where: Sequence[Context],
    voice: Voices | None,
) -> tuple[list[list[tuple[String, float]]], float]:
    """For each slot, the likely intended strings, with their log-odds against the string of x_e."""
    tried = [
        (slot, string)
        for slot, wrong in enumerate(noisy.wrong)
        if slot not in noisy.closed
        for string in channel.sources(wrong)[1:]
    ]
    if voice is None:
        surfaces = [noisy.wrong, *(_changed(noisy.wrong, {slot: string}) for slot, string in tried)]
        log_prob = np.maximum(log_probs(model, [noisy.trees[0].tree], surfaces)[0], NEVER)
        of_words = (log_prob[1:] - log_prob[0]).tolist()
    else:
        of_slot: dict[int, list[float]] = {}
        for wrong in {noisy.wrong[slot] for slot, _ in tried}:  # slots with the same marks are tried together
            slots = [slot for slot, marks in enumerate(noisy.wrong) if marks == wrong]
            log_prob = voice.log_probs(slots, channel.sources(wrong))
            of_slot |= zip(slots, (log_prob[:, 1:] - log_prob[:, :1]).tolist(), strict=True)
        of_words = [odds for slot in dict.fromkeys(slot for slot, _ in tried) for odds in of_slot[slot]]
    listed, unlisted = [list[tuple[String, float]]() for _ in noisy.wrong], 0.0
    for (slot, string), ratio in zip(tried, of_words, strict=True):
        wrong = noisy.wrong[slot]
        error = channel.log_prob(wrong, string, where[slot]) - channel.log_prob(wrong, wrong, where[slot])
        if ratio + error >= math.log(LEAST_ODDS):
            listed[slot].append((string, ratio + error))
        else:
            unlisted += math.exp(ratio + error)
    return listed, unlisted


def _changed(surface: tuple[String, ...], changes: Mapping[int, String]) -> tuple[String, ...]:
    return tuple(changes.get(slot, string) for slot, string in enumerate(surface))


def _combinations(odds: Sequence[Sequence[tuple[String, float]]]) -> list[dict[int, String]]:
    """The most probable combinations of changes if slots were independent; no change comes first."""
    best: list[tuple[float, tuple[tuple[int, String], ...]]] = [(0.0, ())]
    for slot, strings in enumerate(odds):
        if strings:
            more = [(score + log_odds, (*made, (slot, s))) for score, made in best for s, log_odds in strings]
            best = heapq.nlargest(LONGEST, best + more, key=lambda combination: combination[0])
    enough = best[0][0] + math.log(LEAST_ODDS)
    return [{}, *(dict(made) for score, made in best if made and score >= enough)]


def _log_errors(
    channel: ErrorChannel,
    wrong: Sequence[String],
    listed: Sequence[Mapping[int, String]],
    where: Sequence[Context],
) -> Floats:
    """(rates, list) log p(x_e | x_c, T) for each of `RATES`."""
    rates = np.array(RATES)
    with np.errstate(divide="ignore"):
        log_rates = np.log(rates)
    odds_of_wrong = [
        sum(channel.odds(string, context).values()) for string, context in zip(wrong, where, strict=True)
    ]
    log_none = -np.log1p(np.outer(rates, odds_of_wrong))
    log_errors = np.tile(log_none.sum(1)[:, None], len(listed))
    for number, changed in enumerate(listed):
        for slot, string in changed.items():
            odds = channel.odds(string, where[slot])
            total = sum(odds.values())
            log_errors[:, number] += (
                log_rates + math.log(odds[wrong[slot]]) - np.log1p(rates * total) - log_none[:, slot]
            )
    return log_errors
