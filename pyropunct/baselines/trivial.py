"""The trivial restorer: the treebank's usual final mark, and nothing else."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pyropunct.treebank.marks import ABBREVIATION_DOT, START, Surface
from pyropunct.treebank.sentence import Sentence


@dataclass(frozen=True)
class Trivial:
    """Ends every sentence in the same string (Li, Wang & Eisner 2019, section 6.1).

    :ivar final: that string, one mark or none.
    """

    final: tuple[str, ...]
    name: str = "trivial"

    def restore(self, sentences: Sequence[Sequence[str]]) -> list[Surface]:
        """Nothing in the slots 0..n-1, the final mark in slot n."""
        return [self._surface(len(words)) for words in sentences]

    def _surface(self, words: int) -> Surface:
        slots: list[tuple[str, ...]] = [()] * words + [self.final]
        return [(START, *slots[0]), *slots[1:]]


def trivial_restorer(train: Iterable[Sentence]) -> Trivial:
    """Learn how sentences end: in the most frequent last token of slot n.

    Of equally frequent tokens it is the first in the order of code points.  An abbreviation dot belongs
    to its word and ends no sentence.  Where no sentence ends in a mark, none is restored.

    :raises ValueError: if there is no sentence.
    """
    ends = [sentence.surface[-1][-1:] for sentence in train]
    if not ends:
        raise ValueError("there is no sentence to learn a final mark from")
    marks = Counter(end for end in ends if end not in ((), (START,), (ABBREVIATION_DOT,)))
    return Trivial(min(marks, key=lambda end: (-marks[end], end), default=()))
