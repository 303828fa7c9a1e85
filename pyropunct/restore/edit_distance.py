"""The distance of restored punctuation from the truth in edits (Li, Wang & Eisner 2019, section 6.1)."""

from collections.abc import Sequence

from rapidfuzz.distance import Levenshtein

from pyropunct.treebank.marks import Surface, marks_of


def slot_distance(found: Sequence[str], wanted: Sequence[str]) -> int:
    """The least number of tokens to insert, delete or replace to turn one slot string into the other.

    The sentence start `pyropunct.treebank.marks.START` is given and does not count.
    """
    return int(Levenshtein.distance(marks_of(found), marks_of(wanted)))


def surface_distance(found: Surface, wanted: Surface) -> int:
    """The sum of `slot_distance` over the slots of one sentence.

    :raises ValueError: if one has more slots than the other.
    """
    if len(found) != len(wanted):
        raise ValueError(f"the edit distance of {len(found)} slots from {len(wanted)} is not defined")
    return sum(map(slot_distance, found, wanted))


def average_edit_distance(found: Sequence[Surface], wanted: Sequence[Surface]) -> float:
    """AED: the total edit distance of some sentences, divided by the number of their slots.

    :raises ValueError: if there is no sentence, or if the numbers of sentences or of slots differ.
    """
    if len(found) != len(wanted):
        raise ValueError(f"{len(found)} sentences cannot be compared with {len(wanted)}")
    if not wanted:
        raise ValueError("the average edit distance of no sentence is not defined")
    return sum(map(surface_distance, found, wanted)) / sum(map(len, wanted))
