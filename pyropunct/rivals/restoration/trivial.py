"""The trivial system: every sentence ends in the treebank's most frequent final mark, and has no others."""

from collections import Counter
from collections.abc import Iterable, Sequence

from pyropunct.text.marks import ABBREVIATION_DOT, START, Surface
from pyropunct.treebank.sentence import Sentence


def final_mark(train: Iterable[Sentence]) -> tuple[str, ...]:
    """The most frequent last token of slot n, as a string of one mark (Li, Wang & Eisner 2019, section 6.1).

    Of equally frequent tokens the first in the order of code points is taken.  An abbreviation dot belongs
    to its word and does not count.  The string is empty if no sentence ends in a mark.

    :raises ValueError: if there is no sentence.
    """
    ends = [sentence.surface[-1][-1:] for sentence in train]
    if not ends:
        raise ValueError("there is no sentence to learn a final mark from")
    marks = Counter(end for end in ends if end not in ((), (START,), (ABBREVIATION_DOT,)))
    return min(marks, key=lambda end: (-marks[end], end), default=())


def ended_in(final: tuple[str, ...], sentences: Sequence[Sequence[str]]) -> list[Surface]:
    """For each sentence of n words START in slot 0, nothing in slots 1..n-1, and the final mark in slot n."""
    return [[(START,), *[()] * (len(words) - 1), final] for words in sentences]
