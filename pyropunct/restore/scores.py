"""Scores of restored punctuation: edits per slot (Li, Wang & Eisner 2019, section 6.1), and by mark."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rapidfuzz.distance import Levenshtein

from pyropunct.text.marks import START, Surface, marks_of


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
