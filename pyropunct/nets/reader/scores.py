"""Scores of sentence ends, marks and cases."""

from collections.abc import Sequence
from typing import NamedTuple


class ReaderScores(NamedTuple):
    """Scores of a reading of running text.

    :ivar words: the number of words.
    :ivar f1: of the sentence ends inside documents, in per cent, in words as they are written.
    :ivar lower_f1: the same in lower-cased words.
    :ivar case: the percentage of lower-cased words whose case is right, of those that can have one.
    :ivar lower_marks: the F1 of the strings of marks behind lower-cased words, in per cent.
    """

    words: int
    f1: float
    lower_f1: float
    case: float
    lower_marks: float

    @property
    def merit(self) -> float:
        """The sum of the four percentages, by which the best epoch is chosen."""
        return self.f1 + self.lower_f1 + self.case + self.lower_marks


class Counts(NamedTuple):
    """Numbers of things that were looked for.

    :ivar gold: in the treebank.
    :ivar found: in the answers.
    :ivar right: in both.
    """

    gold: int
    found: int
    right: int

    @property
    def precision(self) -> float:
        """In per cent, 100 if nothing was found."""
        return 100 * self.right / self.found if self.found else 100.0

    @property
    def recall(self) -> float:
        """In per cent, 100 if there is nothing."""
        return 100 * self.right / self.gold if self.gold else 100.0

    @property
    def f1(self) -> float:
        """The harmonic mean of both, 100 if there is nothing and nothing was found."""
        both = self.gold + self.found
        return 200 * self.right / both if both else 100.0


def count(found: Sequence[Sequence[bool]], gold: Sequence[Sequence[bool]]) -> Counts:
    """Sentence ends inside documents; the end of a document does not count.

    :param found: for each document and each of its words whether the reader ends a sentence behind it.
    :param gold: the same in the treebank.
    """
    pairs = [
        pair
        for ends, right in zip(found, gold, strict=True)
        for pair in zip(ends[:-1], right[:-1], strict=True)
    ]
    both = sum(end and right for end, right in pairs)
    return Counts(sum(right for _, right in pairs), sum(end for end, _ in pairs), both)


def count_marks(found: Sequence[int], gold: Sequence[int]) -> Counts:
    """Strings of marks behind words; the empty string, label 0, does not count.

    :param found: the label behind each word.
    :param gold: the same in the treebank.
    """
    right = sum(one == other > 0 for one, other in zip(found, gold, strict=True))
    return Counts(sum(map(bool, gold)), sum(map(bool, found)), right)
