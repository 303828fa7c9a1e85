"""Pools what networks read in a sentence with what a story draws, slot by slot."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.draws import Draws
from pyropunct.nets.labels import Probabilities, SlotVocabulary
from pyropunct.nets.parser import WeightedTree
from pyropunct.restore.parses import FittedModel
from pyropunct.restore.settings import FINAL
from pyropunct.text.marks import START, Surface

FAINT = 0.02
"""A string that was not drawn in a slot is left out of its pool if the networks find it less probable."""

LEAST = 1e-6
"""The least probability that a network gives to a string."""

UNSEEN = 0.25
"""Draws added to the story's draws of each string, since a string without draws is not impossible."""


FINAL_STRINGS = tuple((mark,) for mark in FINAL)

READ_SHARE = 0.8
"""The least weight of networks in the pool for running text, whose trees are worse."""


TRUSTED = 0.5
"""From this share on (`FittedModel.reader_share`), a reader decides on pairs and on lines that break off."""

BREAKS_OFF, FEW_WORDS = 0.05, 2
"""A line with more words than the second number breaks off ("turn off the") if a trusted reader gives its end
less probability than the first.  It finds that 28 % of the sentences of EWT dev and GUM dev break off if they
are cut at a random place, and 0.5 % of whole ones."""


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
    in_text = [None if readings is None else readings[number] for number in parsed]
    alone = [place for place, reading in enumerate(in_text) if reading is None]
    lines = dict(zip(alone, _read_lines(model, [words[place] for place in alone]), strict=True))
    for place, (number, row) in enumerate(zip(parsed, tagger.read(words), strict=True)):
        marks, breaks_off = lines.get(place, (in_text[place], False))
        weights, share, tagged = np.zeros(len(row)), model.share, row
        if place not in lines:
            weights[1:] = 1.0 if model.reader_share > 0 else 0.5
            share = max(share, READ_SHARE) if model.reader_share > 0 else share
        elif reader is not None and marks is not None:
            weights[1:-1] = model.reader_share
            final = row[-1], tagger.vocabulary, marks[-1], reader.vocabulary.slots
            tagged = np.vstack([row[:-1], _retold(*final, model.reader_share)])
        each = [Voice(tagger.vocabulary, tagged, 1 - weights)]
        if reader is not None and marks is not None:
            start = np.eye(1, marks.shape[1])
            each.append(Voice(reader.vocabulary.slots, np.vstack([start, marks]), weights))
        voices[number] = Voices(tuple(each), share, breaks_off)
    return voices


def _read_lines(
    model: FittedModel, lines: Sequence[Sequence[str]]
) -> list[tuple[Probabilities | None, bool]]:
    """What a reader predicts behind the words of lines that stand alone, and whether each line breaks off.

    Without a reader that counts there is no prediction.
    """
    reader = model.reader
    if reader is None or model.reader_share <= 0 or not lines:
        return [(None, False)] * len(lines)
    found: list[tuple[Probabilities | None, bool]] = []
    for words, reading in zip(lines, reader.read_all(lines), strict=True):
        ends = [*[False] * (len(words) - 1), True]
        is_trusted = model.reader_share >= TRUSTED and len(words) > FEW_WORDS
        breaks_off = is_trusted and float(reading.ends[-1]) < BREAKS_OFF
        found.append((reader.mark_probabilities(reading.marks, ends), breaks_off))
    return found


def _retold(
    told: NDArray[Any], own: SlotVocabulary, read: NDArray[Any], other: SlotVocabulary, weight: float
) -> NDArray[Any]:
    """The probabilities in one slot, with that of final marks shared out anew by two networks.

    :param weight: how much the other network counts, from 0 to 1.
    """
    both = {*own.labels.strings}.intersection(other.labels.strings)
    known = [string for string in FINAL_STRINGS if string in both]
    numbers = own.labels.encode(known)
    likely = told[numbers] ** (1 - weight) * read[other.labels.encode(known)] ** weight
    retold = told.copy()
    retold[numbers] = told[numbers].sum() * likely / likely.sum()
    return retold
