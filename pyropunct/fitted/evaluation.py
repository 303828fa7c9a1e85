"""How well a model predicts and restores punctuation.

Predictions are compared with those of a unigram model of slots (`SlotStrings`).  Restored punctuation has
scores by edits per slot (Li, Wang & Eisner 2019, section 6.1), and by mark.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import torch
from rapidfuzz.distance import Levenshtein
from torch import Tensor

from pyropunct.text.marks import START, Surface, marks_of
from pyropunct.treebank.sentence import Sentence
from pyropunct.untrusted import texts, whole_numbers


class Evaluation(NamedTuple):
    """How well a model predicts the punctuation of sentences, given their trees.

    :ivar log_likelihood: the sum of log p(x | T), in natural logarithms.
    """

    sentences: int
    slots: int
    log_likelihood: float

    @classmethod
    def of(cls, sentences: Sequence[Sentence], log_prob: Tensor) -> "Evaluation":
        """From the log-probabilities (sentences,) of the punctuation."""
        slots = sum(len(sentence.surface) for sentence in sentences)
        return cls(len(sentences), slots, float(log_prob.sum()))

    @property
    def perplexity(self) -> float:
        """exp(- log-likelihood per slot): Li, Wang & Eisner (2019, section 4)."""
        return float(torch.tensor(-self.log_likelihood / self.slots, dtype=torch.double).exp())


class SlotEvaluations(NamedTuple):
    """The evaluation of all slots, of last slots, where the final mark stands, and of all others."""

    all: Evaluation
    last: Evaluation
    others: Evaluation

    @classmethod
    def of(cls, sentences: int, slots: int, whole: float, others: float) -> "SlotEvaluations":
        """From the numbers of sentences and slots, and the log-likelihoods of all and of other slots."""
        return cls(
            Evaluation(sentences, slots, whole),
            Evaluation(sentences, sentences, whole - others),
            Evaluation(sentences, slots - sentences, others),
        )


class Balance(NamedTuple):
    """Constituents that sprout a bracket or quotation mark, and those without its partner (section 2.3).

    :ivar bearing: the constituents that sprout such a mark in the best T'.
    :ivar expected: the expected number of unmatched constituents, under q(T').
    """

    bearing: int
    unmatched: int
    expected: float


class WholeEvaluation(NamedTuple):
    """How well a model predicts last slots, other slots, and trees with their punctuation.

    :ivar with_trees: log p(T, x), with heads, relations and tags as T; None without a model of trees.
    """

    own: SlotEvaluations
    unigram: SlotEvaluations | None
    with_trees: Evaluation | None
    balance: Balance


class EvaluationSums(dict[str, float]):
    """The sums of `FittedStory.evaluation_sums`, by name; those of parts of a treebank can be added.

    They are "sentences" and "slots"; the numbers of a `Balance`; and log-likelihoods: "whole" for
    log p(x | T), "others" for the same without last slots, "trees" for log p(T), "unigram_last" and
    "unigram_others" for the unigram model.
    """

    def add(self, sums: Mapping[str, float]) -> None:
        """Add further sums."""
        for name, number in sums.items():
            self[name] = self.get(name, 0) + number

    def evaluation(self) -> WholeEvaluation:
        """The evaluation that follows from the sums."""
        sentences, slots = int(self["sentences"]), int(self["slots"])
        own = SlotEvaluations.of(sentences, slots, self["whole"], self["others"])
        unigram = joint = None
        if "unigram_last" in self:
            whole = self["unigram_last"] + self["unigram_others"]
            unigram = SlotEvaluations.of(sentences, slots, whole, self["unigram_others"])
        if "trees" in self:
            joint = Evaluation(sentences, slots, self["whole"] + self["trees"])
        balance = Balance(int(self["bearing"]), int(self["unmatched"]), self["expected"])
        return WholeEvaluation(own, unigram, joint, balance)


String = tuple[str, ...]


@dataclass(frozen=True)
class SlotCounts:
    """Counts of slot strings of ``num_tokens`` types of tokens, without the sentence start."""

    counts: Mapping[String, int]
    num_tokens: int

    def log_prob(self, string: String) -> float:
        """The logarithm of the smoothed probability of a string (Witten & Bell 1991, method C).

        With c(x) the count of x, N the sum of all counts and D the number of distinct strings::

            p(x) = (c(x) + D q(x)) / (N + D)        q(x) = s(x_1) ... s(x_m) s(stop)

        In q each token is drawn independently: s(t) = (c(t) + 1) / (number of all tokens and stops + number
        of their types).
        """
        tokens, stops = self._symbols
        total = tokens.total() + stops + self.num_tokens + 1
        drawn = [tokens[token] + 1 for token in string]
        distinct, count = max(1, len(self.counts)), self.counts.get(string, 0)
        # In logarithms, because D q(x) of a long string may underflow.
        fresh = math.log(distinct) + math.fsum(math.log(number / total) for number in (*drawn, stops + 1))
        found = fresh if count == 0 else math.log(count + math.exp(fresh))
        return found - math.log(stops + distinct)

    @cached_property
    def _symbols(self) -> tuple[Counter[str], int]:
        """The count of each token, and the number of strings."""
        tokens: Counter[str] = Counter()
        for string, count in self.counts.items():
            for token in string:
                tokens[token] += count
        return tokens, sum(self.counts.values())


@dataclass(frozen=True)
class SlotStrings:
    """A unigram model of slots, independent of the tree; the last slot has its own distribution."""

    last: SlotCounts
    others: SlotCounts

    @classmethod
    def count(cls, surfaces: Iterable[Surface], num_tokens: int) -> "SlotStrings":
        """The counts in a treebank; ``num_tokens`` as of `SlotCounts`."""
        last: Counter[String] = Counter()
        others: Counter[String] = Counter()
        for surface in surfaces:
            *rest, final = map(marks_of, surface)
            others.update(rest)
            last[final] += 1
        return cls(SlotCounts(dict(last), num_tokens), SlotCounts(dict(others), num_tokens))

    def log_probs(self, surface: Surface) -> tuple[float, float]:
        """The log-probabilities of a sentence's last slot and of all its others, in natural logarithms."""
        *rest, final = map(marks_of, surface)
        return self.last.log_prob(final), math.fsum(map(self.others.log_prob, rest))

    def to_json(self) -> dict[str, Any]:
        """Plain JSON types, for `from_json`."""

        def rows(counts: Mapping[String, int]) -> list[list[Any]]:
            return [[list(string), count] for string, count in counts.items()]

        return {
            "num_tokens": self.last.num_tokens,
            "last": rows(self.last.counts),
            "others": rows(self.others.counts),
        }

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> "SlotStrings":
        """The model that `to_json` wrote; raises `ValueError` if it is damaged."""
        (num_tokens,) = whole_numbers("the number of tokens", [plain["num_tokens"]])

        def counts(rows: Sequence[Any]) -> SlotCounts:
            strings = [texts("the string of a slot", string) for string, _ in rows]
            numbers = whole_numbers("the list of counts", [count for _, count in rows])
            return SlotCounts(dict(zip(strings, numbers, strict=True)), num_tokens)

        return cls(counts(plain["last"]), counts(plain["others"]))


def slot_distance(restored: Sequence[str], gold: Sequence[str]) -> int:
    """The edit distance of two slot strings, without the sentence start `pyropunct.text.marks.START`."""
    return int(Levenshtein.distance(marks_of(restored), marks_of(gold)))


def surface_distance(restored: Surface, gold: Surface) -> int:
    """The sum of `slot_distance` over a sentence; raises `ValueError` if the numbers of slots differ."""
    if len(restored) != len(gold):
        raise ValueError(f"the edit distance of {len(restored)} slots from {len(gold)} is not defined")
    return sum(map(slot_distance, restored, gold))


def average_edit_distance(restored: Sequence[Surface], gold: Sequence[Surface]) -> float:
    """AED: the total edit distance by the number of slots; raises `ValueError` if slots differ."""
    if len(restored) != len(gold):
        raise ValueError(f"{len(restored)} sentences cannot be compared with {len(gold)}")
    if not gold:
        raise ValueError("the average edit distance of no sentence is not defined")
    return sum(map(surface_distance, restored, gold)) / sum(map(len, gold))


class MarkScore(NamedTuple):
    """Counts of a mark: in the truth, restored, and restored in the right slot."""

    gold: int
    restored: int
    right: int

    @property
    def precision(self) -> float | None:
        """The share of restored marks that are right; None if there are none."""
        return self.right / self.restored if self.restored else None

    @property
    def recall(self) -> float | None:
        """The share of true marks that were restored; None if there are none."""
        return self.right / self.gold if self.gold else None

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall: 2 right / (gold + restored); None without marks."""
        return 2 * self.right / (self.gold + self.restored) if self.gold + self.restored else None

    def to_json(self) -> dict[str, Any]:
        """The counts and the scores in plain JSON types."""
        return {**self._asdict(), "precision": self.precision, "recall": self.recall, "f1": self.f1}


@dataclass
class RestorationScores:
    """Counts over sentences, which `add` updates.

    Counts of marks ignore the order within a slot: of g true and r restored marks, min(g, r) are right.  The
    edit distance depends on the order.

    :ivar slots: n + 1 for each sentence of n words.
    """

    sentences: int = 0
    right_sentences: int = 0
    slots: int = 0
    edits: int = 0
    gold: Counter[str] = field(default_factory=Counter)
    restored: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)

    def add(self, restored: Surface, gold: Surface) -> None:
        """Count one sentence; raises `ValueError` if the numbers of slots differ."""
        edits = surface_distance(restored, gold)
        self.edits += edits
        self.right_sentences += edits == 0
        self.sentences += 1
        self.slots += len(gold)
        for restored_string, gold_string in zip(restored, gold, strict=True):
            here, there = Counter(restored_string), Counter(gold_string)
            self.restored += here
            self.gold += there
            self.right += here & there
        for counts in (self.restored, self.gold, self.right):
            del counts[START]

    @property
    def average_edit_distance(self) -> float | None:
        """AED: edits per slot (Li, Wang & Eisner 2019, section 6.1); None if there is no slot."""
        return self.edits / self.slots if self.slots else None

    def of_marks(self) -> dict[str, MarkScore]:
        """The score of each true or restored mark, the most frequent first."""
        marks = sorted(
            self.gold | self.restored, key=lambda mark: (-self.gold[mark], -self.restored[mark], mark)
        )
        return {mark: MarkScore(self.gold[mark], self.restored[mark], self.right[mark]) for mark in marks}

    def overall(self) -> MarkScore:
        """The micro-averaged score of all marks."""
        return MarkScore(self.gold.total(), self.restored.total(), self.right.total())
