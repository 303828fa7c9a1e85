"""Decides whether a line has several sentences and, if so, where they end.

Many small probabilities of an end can together make an end probable.  If a
`pyropunct.nets.reader.RunningReader` gives an end behind word i of a stretch the probability p_i, the stretch
is one sentence with probability prod (1 - p_i).
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from pyropunct.restore.running import INNER, LONGEST_MARKED, ends_sentence, touch
from pyropunct.text.marks import ABBREVIATION_DOT
from pyropunct.text.raw_sentence import RawSentence

OMITTING, OMITTED = 0.2, 0.5
"""The prior probability that a line lacks marks at ends of sentences, and that a stretch of such a line has
ends inside.  So a line of one stretch is one sentence with a prior probability of 0.9."""

UNMARKED, AMONG_MARKS = 0.25, 0.5
"""The probability above which a sentence ends inside a stretch of several sentences: in a line without marks
that end sentences, and in a line with such marks, where a wrong end costs as much as a missed one."""

LEAST = 1e-300
"""The least probability that a stretch is one sentence."""


def ends_shown(line: RawSentence) -> list[int]:
    """The words of a line, counted from 1, behind which marks end a sentence."""
    behind = (*line.words[1:], "")
    slots = enumerate(zip(line.surface[1:], behind, strict=True), 1)
    return [number for number, (slot, word) in slots if ends_sentence(slot, word)]


def hidden_ends(line: RawSentence, ends: Sequence[float], lost: bool) -> dict[int, bool]:
    """Whether a sentence ends behind words of a line, counted from 1, where no mark ends one.

    In a line with marks that end sentences, places at dots of abbreviations, and in stretches of more than
    `LONGEST_MARKED` words, are undecided and missing here.

    :param ends: the reader's probability of an end behind each word.
    :param lost: whether the case of the line is lost, so that a small letter tells nothing.
    """
    shown = ends_shown(line)
    borders = sorted({0, *shown, len(line.words)})
    stretches: list[Sequence[int]] = [range(first + 1, last) for first, last in pairwise(borders)]
    among_marks = len(stretches) > 1
    if among_marks:
        stretches = [
            [place for place in stretch if ABBREVIATION_DOT not in line.surface[place]]
            for stretch in stretches
            if len(stretch) < LONGEST_MARKED
        ]
    inside = set(line.inside)
    found = [[ends[n - 1] * (n not in inside and _may_end(line, n, lost)) for n in row] for row in stretches]
    several = are_several([float(np.prod(1 - np.array(row))) for row in found])
    least = AMONG_MARKS if shown else UNMARKED
    return {
        place: bool(is_several) and end > least
        for stretch, row, is_several in zip(stretches, found, several, strict=True)
        for place, end in zip(stretch, row, strict=True)
    }


def are_several(one: Sequence[float]) -> Sequence[bool]:
    """Whether each stretch of a line probably has several sentences.

    The other stretches tell whether the line leaves out ends (`OMITTING`): only then a stretch has several.

    :param one: for each stretch the reader's probability that it is one sentence.
    """
    single = np.maximum(np.array(one, float), LEAST)
    several = 1 - single
    mixed = OMITTED * several + (1 - OMITTED) * single
    logit = np.log(OMITTING / (1 - OMITTING)) + np.log(mixed / single).sum()
    omits = np.exp(-np.logaddexp(0, -logit))
    return (omits * OMITTED * several / mixed > 0.5).tolist()


def _may_end(line: RawSentence, place: int, lost: bool) -> bool:
    """Whether a sentence may end behind a word, going by its marks and spaces, where no mark ends one."""
    slot, left, right = line.slots[place], line.words[place - 1], line.words[place]
    if touch(slot, left, right) or not INNER.isdisjoint(slot.tokens):
        return False
    return lost or ABBREVIATION_DOT not in slot.tokens or not right[:1].islower()
