"""A tagger's distribution of the marks of a sentence, given evidence about them: p(x | words, evidence).

Given the words the slots are independent, so each is conditioned by itself::

    q(x_i | words, evidence)  is proportional to  q(x_i | words) weight_i(x_i)

Strings with a label are tried one by one.  Evidence may allow infinitely many strings without a label.  Their
sum needs only the state of the evidence and the last mark: with V(state, mark) for the sum over all
continuations, ::

    V(s, m) = q(stop | m) final(s)  +  sum over steps s -> t that read m' of q(m' | m) weight V(t, m')

is computed by adding a mark at a time, and V also gives the probabilities for drawing strings.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from pyropunct.draws import Draws
from pyropunct.inference.machines.evidence import Evidence
from pyropunct.inference.ragged import Floats
from pyropunct.nets.labels import Probabilities, SlotString
from pyropunct.nets.tagger import SlotTagger, generator_for
from pyropunct.text.marks import START
from pyropunct.vocabulary import Vocabulary

NEGLIGIBLE = 1e-12
"""A smaller share of a sum is a rounding error of zero."""


class _Known(NamedTuple):
    """The evidence about the strings of a slot.

    :ivar weights: (labels,) the factor of the probability of each label.
    :ivar log_scale: the logarithm of a factor of all labels.
    :ivar spell: draws a string without a label, given the evidence.
    """

    weights: Floats
    log_scale: float
    spell: Callable[[np.random.Generator], SlotString]


class GivenSlots:
    """p(x | words, evidence) of one sentence: see `TaggerConditioner.given`.

    :ivar log_evidence: log p(evidence | words), in natural logarithms; minus infinity if it is impossible.
    """

    def __init__(
        self, tagger: SlotTagger, words: Sequence[str], probabilities: Probabilities, known: Sequence[_Known]
    ) -> None:
        self._tagger, self._words, self._known = tagger, words, known
        rows = probabilities * np.stack([slot.weights for slot in known])
        total = rows.sum(1)
        with np.errstate(divide="ignore"):
            self.log_evidence = math.fsum([*np.log(total), *(slot.log_scale for slot in known)])
        self._rows = rows / np.where(total, total, 1)[:, None]

    def draw(self, samples: int, seed: int) -> Draws:
        """Draws from it; equal seeds give equal ones."""

        def spell(slot: int, generator: np.random.Generator) -> SlotString:
            return self._known[slot].spell(generator)

        return self._tagger.vocabulary.draw(self._rows, samples, generator_for(self._words, seed), spell)


class TaggerConditioner:
    """A tagger, to be conditioned on evidence about slots.

    :param tagger: the tagger.
    :param vocabulary: numbers the tokens that evidence reads.
    """

    def __init__(self, tagger: SlotTagger, vocabulary: Vocabulary) -> None:
        self._tagger, self._vocabulary = tagger, vocabulary
        self._labels, self._spelling = tagger.vocabulary.labels, tagger.vocabulary.spelling
        self._seen: dict[tuple[Evidence, bool], _Known] = {}

    def given(
        self, words: Sequence[str], probabilities: Probabilities, evidence: Sequence[Evidence]
    ) -> GivenSlots:
        """The distribution of a sentence of n words.

        :param probabilities: those of `SlotTagger.read`.
        :param evidence: about each of the slots 0..n; that of slot 0 begins with the sentence start.
        :raises ValueError: if a weight of evidence is negative or not finite.
        """
        known = [self._of_slot(of_slot, slot == 0) for slot, of_slot in enumerate(evidence)]
        return GivenSlots(self._tagger, words, probabilities, known)

    def _of_slot(self, evidence: Evidence, is_first: bool) -> _Known:
        key = evidence, is_first
        if key not in self._seen:
            start = [START] * is_first
            self._seen[key] = (
                self._of_open(evidence, start)
                if evidence.string is None
                else self._of_string(self._vocabulary.decode_string(evidence.string), start)
            )
        return self._seen[key]

    def _of_string(self, string: Sequence[str], start: Sequence[str]) -> _Known:
        """The evidence that the slot has this string."""
        marks = tuple(string[len(start) :])
        possible = list(string[: len(start)]) == start and START not in marks
        [label] = self._labels.encode([marks])
        weights = np.zeros(self._labels.unknown + 1)
        weights[label] = possible
        is_spelt = possible and label == self._labels.unknown
        return _Known(weights, self._spelling.log_prob(marks) if is_spelt else 0.0, lambda _: marks)

    def _of_open(self, evidence: Evidence, start: Sequence[str]) -> _Known:
        evidence.check()
        encode = self._vocabulary.encode_string
        labelled = [evidence.weight(encode([*start, *string])) for string in self._labels.strings]
        spelt = _Spelt(self._tagger, evidence, self._vocabulary, start)
        return _Known(np.array([*labelled, spelt.total(labelled)]), 0.0, spelt.draw)


class _Spelt:
    """Strings without a label that evidence allows.

    :param start: the tokens of the slot before its marks.
    """

    def __init__(
        self, tagger: SlotTagger, evidence: Evidence, vocabulary: Vocabulary, start: Sequence[str]
    ) -> None:
        self._labels, self._spelling = tagger.vocabulary.labels, tagger.vocabulary.spelling
        self._stop = len(self._labels.marks)
        self._next = self._spelling.bigrams.numpy()
        place = {vocabulary.token_number[mark]: place for place, mark in enumerate(self._labels.marks)}
        reads = [(place[step.token], *step[1:]) for step in evidence.steps if step.token in place]
        marks, source, target, weight = zip(*reads, strict=True) if reads else ((),) * 4
        self._mark, self._source, self._target = (
            np.array(numbers, np.int64) for numbers in (marks, source, target)
        )
        self._weight = np.array(weight, np.float64)
        self._initial, self._final = np.zeros(evidence.num_states), np.zeros(evidence.num_states)
        for state, chance in evidence.final:
            self._final[state] += chance
        for state, chance in evidence.behind(vocabulary.encode_string(start)).items():
            self._initial[state] = chance
        self._ahead = self._solved()

    def _solved(self) -> Floats:
        """(states, marks + 1) V of each state and last mark; in the last column there is no mark yet.

        Each round adds the strings with one more mark, until they add nothing.
        """
        ends = np.outer(self._final, self._next[:, self._stop])
        ahead, before = ends, np.zeros_like(ends)
        while not np.allclose(ahead, before, rtol=NEGLIGIBLE, atol=0):
            before, ahead = ahead, ends.copy()
            one_more = self._weight * before[self._target, self._mark]
            np.add.at(ahead, self._source, one_more[:, None] * self._next[:, self._mark].T)
        return ahead

    def total(self, labelled: Sequence[float]) -> float:
        """The sum over all strings without a label of q(string | no label) times the weight of the string.

        :param labelled: the weights of the strings that have a label; the empty one is first.
        """
        of_all = float(self._initial @ self._ahead[:, self._stop])
        others = zip(self._labels.strings[1:], labelled[1:], strict=True)
        rest = of_all - math.fsum(self._spelling.prob_of_any(string) * weight for string, weight in others)
        return rest / self._spelling.unlabelled if rest > NEGLIGIBLE * of_all else 0.0

    def draw(self, generator: np.random.Generator) -> SlotString:
        """A string without a label."""
        return self._labels.without_label(partial(self._draw_any, generator))

    def _draw_any(self, generator: np.random.Generator) -> SlotString:
        last, string = self._stop, list[str]()
        state = _one_of(self._initial * self._ahead[:, last], generator)
        while True:
            steps = np.flatnonzero(self._source == state)
            marks, targets = self._mark[steps], self._target[steps]
            further = self._next[last, marks] * self._weight[steps] * self._ahead[targets, marks]
            chosen = _one_of(np.append(further, self._next[last, self._stop] * self._final[state]), generator)
            if chosen == len(steps):
                return tuple(string)
            last, state = marks[chosen], targets[chosen]
            string.append(self._labels.marks[last])


def _one_of(weights: Floats, generator: np.random.Generator) -> int:
    """A number, drawn in proportion to its weight."""
    bounds = np.maximum(weights, 0).cumsum()
    return int(np.searchsorted(bounds, generator.random() * bounds[-1], side="right"))
