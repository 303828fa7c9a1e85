"""The distance of restored punctuation from the truth in edits (Li, Wang & Eisner 2019, section 6.1)."""

from collections.abc import Sequence

from rapidfuzz.distance import Levenshtein

from pyropunct.text.marks import Surface, marks_of


def slot_distance(restored: Sequence[str], gold: Sequence[str]) -> int:
    """The least number of tokens to insert, delete or replace to turn one slot string into the other.

    The sentence start `pyropunct.text.marks.START` is given and does not count.
    """
    return int(Levenshtein.distance(marks_of(restored), marks_of(gold)))


def surface_distance(restored: Surface, gold: Surface) -> int:
    """The sum of `slot_distance` over the slots of one sentence.

    :raises ValueError: if the numbers of slots differ.
    """
    if len(restored) != len(gold):
        raise ValueError(f"the edit distance of {len(restored)} slots from {len(gold)} is not defined")
    return sum(map(slot_distance, restored, gold))


def average_edit_distance(restored: Sequence[Surface], gold: Sequence[Surface]) -> float:
    """AED: the total edit distance of sentences, divided by the number of their slots.

    :raises ValueError: if there is no sentence, or if the numbers of sentences or of slots differ.
    """
    if len(restored) != len(gold):
        raise ValueError(f"{len(restored)} sentences cannot be compared with {len(gold)}")
    if not gold:
        raise ValueError("the average edit distance of no sentence is not defined")
    return sum(map(surface_distance, restored, gold)) / sum(map(len, gold))
