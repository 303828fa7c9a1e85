"""Learners' sentences with their corrections, and the scores of edits against corrections.

Sentences are in files of JSON lines, or in two treebanks.  Scores are precision, recall and F0.5 of edits
over a corpus (Dahlmeier & Ng 2012; Ng et al. 2014).
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from rapidfuzz.distance import Levenshtein

from pyropunct.errors import InputError
from pyropunct.tasks.correct.learner_errors import String
from pyropunct.text.marks import START, STRAIGHT, Surface, direct_quotes, marks_of
from pyropunct.treebank.reading import read_treebank


@dataclass(frozen=True)
class Corrected:
    """A numbered sentence of a learner with one correction: its words, x_e and x_c."""

    sentence: str
    words: tuple[str, ...]
    wrong: tuple[String, ...]
    right: tuple[String, ...]


def read_learners(path: str | Path) -> list[Corrected]:
    """The sentences of a file with one JSON object a line.

    ``words`` are those of a correction; ``wrong`` and ``right`` are the marks of its n + 1 slots; ``id`` is
    that of the sentence, with the number of the correction after a last hyphen.  Straight quotation marks
    become directed.

    :raises InputError: if a line is not such an object, or if the file has no line.
    """
    try:
        lines = Path(path).read_bytes().splitlines()
    except OSError as error:
        reason = "there is no such file" if isinstance(error, FileNotFoundError) else str(error.strerror)
        raise InputError(f"{path}: {reason}") from error
    corrections = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            corrections.append(_corrected(json.loads(line)))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            reason = f"lacks {error}" if isinstance(error, KeyError) else str(error)
            raise InputError(f"{path}:{number}: is no corrected sentence: {reason}") from error
    if not corrections:
        raise InputError(f"{path}: there is no sentence in the file")
    return corrections


def read_learner_treebanks(wrong: str | Path, right: str | Path) -> list[Corrected]:
    """The sentences of two CoNLL-U files: as learners wrote them, and corrected, as in UD English-ESL.

    Sentences match if they have the same ``sent_id``, or without ids by their order.  Sentences whose trees
    differ without punctuation are left out; relations and words may differ (Li, Wang & Eisner 2019, section
    6.2).

    :raises InputError: if no sentence is left.
    :raises TreebankError: if a file is not CoNLL-U.
    """
    corrections = {one.identifier: one for one in read_treebank(right)}
    found = []
    for one in read_treebank(wrong):
        other = corrections.get(one.identifier)
        if other is not None and one.tree.heads == other.tree.heads:
            marks = ([[m for m in slot if m != START] for slot in each.surface] for each in (one, other))
            found.append(Corrected(one.identifier, tuple(other.tree.forms), *map(_directed, marks)))
    if not found:
        raise InputError(f"{wrong}: no sentence has the identifier and the tree of one in {right}")
    return found


def _corrected(plain: Any) -> Corrected:
    if not isinstance(plain, dict):
        raise ValueError("it is no object")
    words = _texts("words", plain["words"])
    if not words:
        raise ValueError("it has no word")
    slots = {}
    for name in ("wrong", "right"):
        surface = [_texts(name, slot) for slot in plain[name]]
        if len(surface) != len(words) + 1:
            raise ValueError(f"{len(words)} words have {len(words) + 1} slots, not {len(surface)}")
        slots[name] = _directed(surface)
    return Corrected(str(plain["id"]).rpartition("-")[0], words, **slots)


def _texts(name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(text, str) and text.strip() for text in value):
        raise ValueError(f"{name!r} is no list of texts")
    return tuple(value)


def _directed(surface: Surface) -> tuple[String, ...]:
    """A surface with directed quotation marks, and the sentence start."""
    flat = [mark for slot in surface for mark in slot]
    tags = [mark if mark in ("``", "''") else "" for mark in flat]  # these show their direction
    marks = direct_quotes(flat, tags)
    # A mark that is left without a partner opens, like the first of two.
    opened = (STRAIGHT.get(mark, (mark,))[0] for mark in marks)
    slots = [tuple(next(opened) for _ in slot) for slot in surface]
    return ((START, *slots[0]), *slots[1:])


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

    This is the MaxMatch of Dahlmeier & Ng (2012): of all shortest ways from the wrong to the new string, take
    one that shares most edits with the gold ones and, of these, one with the fewest edits.  Adjacent edits of
    a system are one edit, unless one of them is a gold edit.
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
