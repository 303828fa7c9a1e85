"""How well sentence ends and cases are found."""

from collections.abc import Sequence
from typing import NamedTuple


class ReaderScores(NamedTuple):
    """How well running text is read.

    :ivar words: how many there are.
    :ivar f1: of the sentence ends inside documents, in per cent, in words as they are written.
    :ivar lower_f1: the same in lower-cased words.
    :ivar case: the percentage of lower-cased words whose case is right, of those that can have one.
    """

    words: int
    f1: float
    lower_f1: float
    case: float


class Counts(NamedTuple):
    """Things that were found.

    :ivar gold: how many there are.
    :ivar found: how many were found.
    :ivar right: how many were found where they are.
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
    """Sentence ends inside documents: behind the last word of each, one is anyway.

    :param found: for each document and each of its words whether a sentence was found to end behind it.
    :param gold: the same, as it is.
    """
    pairs = [
        pair
        for ends, right in zip(found, gold, strict=True)
        for pair in zip(ends[:-1], right[:-1], strict=True)
    ]
    both = sum(end and right for end, right in pairs)
    return Counts(sum(right for _, right in pairs), sum(end for end, _ in pairs), both)
