"""The trivial restorer: every sentence gets the treebank's most frequent final mark and no other marks."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pyropunct.treebank.marks import ABBREVIATION_DOT, START, Surface
from pyropunct.treebank.sentence import Sentence


@dataclass(frozen=True)
class Trivial:
    """Ends every sentence in the same string (Li, Wang & Eisner 2019, section 6.1).

    :ivar final: that string, of at most one mark.
    """

    final: tuple[str, ...]
    name: str = "trivial"

    def restore(self, sentences: Sequence[Sequence[str]]) -> list[Surface]:
        """No marks in the slots 0..n-1, and the final mark in slot n."""
        return [self._surface(len(words)) for words in sentences]

    def _surface(self, words: int) -> Surface:
        slots: list[tuple[str, ...]] = [()] * words + [self.final]
        return [(START, *slots[0]), *slots[1:]]


def trivial_restorer(train: Iterable[Sentence]) -> Trivial:
    """Learn the final mark: the most frequent last token of slot n.

    Among equally frequent tokens it takes the first in the order of code points.  An abbreviation dot belongs
    to its word and does not count.  If no sentence ends in a mark, the final string is empty.

    :raises ValueError: if there is no sentence.
    """
    ends = [sentence.surface[-1][-1:] for sentence in train]
    if not ends:
        raise ValueError("there is no sentence to learn a final mark from")
    marks = Counter(end for end in ends if end not in ((), (START,), (ABBREVIATION_DOT,)))
    return Trivial(min(marks, key=lambda end: (-marks[end], end), default=()))
