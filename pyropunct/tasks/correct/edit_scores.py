"""The scores of edits against gold corrections: MaxMatch (Dahlmeier & Ng 2012; Ng et al. 2014).

They are precision, recall and F0.5 of edits over a corpus.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from pyropunct.text.marks import Surface, marks_of


class MarkEdit(NamedTuple):
    """``marks`` replace the marks start .. end - 1 of a string; an insertion has ``end == start``."""

    start: int
    end: int
    marks: tuple[str, ...]


class EditScores(NamedTuple):
    """Counts of edits: of the system, of the gold correction, and of both."""

    right: int = 0
    proposed: int = 0
    gold: int = 0

    @property
    def precision(self) -> float:
        """The share of proposed edits that are right; 1 without edits."""
        return self.right / self.proposed if self.proposed else 1.0

    @property
    def recall(self) -> float:
        """The share of gold edits that were proposed; 1 without edits."""
        return self.right / self.gold if self.gold else 1.0

    def f(self, beta: float = 0.5) -> float:
        """F_beta = (1 + beta^2) P R / (beta^2 P + R): recall matters beta times as much as precision."""
        below = beta**2 * self.precision + self.recall
        return (1 + beta**2) * self.precision * self.recall / below if below else 0.0


def edit_scores(source: Iterable[Surface], found: Iterable[Surface], wanted: Iterable[Surface]) -> EditScores:
    """Counts of the edits ``found`` and ``wanted``; raises `ValueError` if slots differ in number."""
    of_slots = [
        shared_edits(*map(marks_of, slot))
        for sentence in zip(source, found, wanted, strict=True)
        for slot in zip(*sentence, strict=True)
    ]
    return EditScores(*map(sum, zip(*of_slots, strict=True)))


def gold_edits(wrong: Sequence[str], right: Sequence[str]) -> list[MarkEdit]:
    """The fewest edits that turn one string into the other; adjacent changes are one edit."""
    edits: list[MarkEdit] = []
    for step in Levenshtein.opcodes(wrong, right):
        if step.tag == "equal":
            continue
        marks = tuple(right[step.dest_start : step.dest_end])
        if edits and edits[-1].end == step.src_start:
            last = edits.pop()
            edits.append(MarkEdit(last.start, step.src_end, last.marks + marks))
        else:
            edits.append(MarkEdit(step.src_start, step.src_end, marks))
    return edits


def shared_edits(wrong: Sequence[str], new: Sequence[str], right: Sequence[str]) -> EditScores:
    """Compare the edits of a system in one slot with the gold edits there.

    This is the MaxMatch of Dahlmeier & Ng (2012).  Among the shortest ways from the wrong to the new string,
    take one that shares most edits with the gold edits; among these, one with the fewest edits.  Adjacent
    edits of a system are one edit, unless one of them is a gold edit.
    """
    gold = gold_edits(wrong, right)
    # For each place the most edits shared on a way there, and then the fewest edits in all, negated.
    best: dict[Waypoint, tuple[int, int]] = {Waypoint(0, 0, False): (0, 0)}
    for cell in product(range(len(wrong) + 1), range(len(new) + 1), (True, False)):
        place = Waypoint(*cell)
        if place in best:
            for after, shared, edits in _steps(wrong, new, gold, place):
                value = (best[place][0] + shared, best[place][1] - edits)
                best[after] = max(best.get(after, value), value)
    ends = (Waypoint(len(wrong), len(new), going_on) for going_on in (True, False))
    shared, edits = max(best[end] for end in ends if end in best)
    return EditScores(shared, -edits, len(gold))


class Waypoint(NamedTuple):
    """How many marks of two strings have been read, and whether the last step was a change."""

    read: int
    written: int
    going_on: bool


def _steps(
    wrong: Sequence[str], new: Sequence[str], gold: Sequence[MarkEdit], place: Waypoint
) -> Iterator[tuple[Waypoint, int, int]]:
    """Yields the steps on shortest ways: the next place, the new gold edits, and the new edits."""
    i, j, going_on = place
    left = _distance(wrong, new, i, j)
    if i < len(wrong) and j < len(new) and wrong[i] == new[j] and _distance(wrong, new, i + 1, j + 1) == left:
        yield Waypoint(i + 1, j + 1, False), 0, 0
    for read, written in ((i + 1, j), (i, j + 1), (i + 1, j + 1)):
        within = read <= len(wrong) and written <= len(new)
        if within and _distance(wrong, new, read, written) == left - 1:
            yield Waypoint(read, written, True), 0, 0 if going_on else 1
    for edit in gold:
        written = j + len(edit.marks)
        if edit.start == i and tuple(new[j:written]) == edit.marks:
            done = Levenshtein.distance(wrong[i : edit.end], edit.marks)
            if _distance(wrong, new, edit.end, written) == left - done:
                yield Waypoint(edit.end, written, False), 1, 1


def _distance(wrong: Sequence[str], new: Sequence[str], read: int, written: int) -> int:
    return int(Levenshtein.distance(wrong[read:], new[written:]))
