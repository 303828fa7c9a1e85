"""Scores of restored commas (Shieber & Tao 2003, section 2 and Table 1)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

HUMAN = 0.86
"""The sentence accuracy of people, according to other people (Beeferman et al. 1998)."""

RIGHT, RESTORED, GOLD, DECISIONS, WRONG, CORRECT = range(6)
"""The columns of counts: rightly restored commas, restored commas, and true commas; positions behind words,
and positions with a wrong decision; and 1 for a sentence in which all is right."""


def counts(restored: NDArray[np.bool_], gold: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(6,) the counts of one sentence, from (n + 1,) commas; one before the first word is gold, but not
    decided.
    """
    wrong = int((restored != gold)[1:].sum())
    right = int((restored & gold).sum())
    return np.array(
        [right, restored.sum(), gold.sum(), len(gold) - 1, wrong, (restored == gold).all()], np.int64
    )


@dataclass(frozen=True)
class CommaScores:
    """Counts of commas: (sentences, 6), a row for each sentence."""

    table: NDArray[np.int64]

    @classmethod
    def of(cls, restored: Iterable[NDArray[np.bool_]], gold: Sequence[NDArray[np.bool_]]) -> "CommaScores":
        """The scores of sentences, given (n + 1,) restored and gold commas of each."""
        pairs = zip(restored, gold, strict=True)
        return cls(np.array([counts(one, other) for one, other in pairs], np.int64).reshape(-1, 6))

    @property
    def precision(self) -> float | None:
        """The share of restored commas that are right; None if there are none."""
        return _share(self._total(RIGHT), self._total(RESTORED))

    @property
    def recall(self) -> float | None:
        """The share of commas that were restored; None if there are none."""
        return _share(self._total(RIGHT), self._total(GOLD))

    @property
    def f(self) -> float | None:
        """2 P R / (P + R), which is 2 right / (restored + gold); None if there are neither."""
        return _share(2 * self._total(RIGHT), self._total(RESTORED) + self._total(GOLD))

    @property
    def token_accuracy(self) -> float | None:
        """The share of positions behind words with the right decision; None if there are none."""
        return _share(self._total(DECISIONS) - self._total(WRONG), self._total(DECISIONS))

    @property
    def sentence_accuracy(self) -> float | None:
        """The share of sentences with all commas right and no others; None without sentences."""
        return _share(self._total(CORRECT), len(self.table))

    def error_reduction(self, baseline: "CommaScores") -> float | None:
        """The share of the avoidable sentence errors of a baseline that are avoided::

            (s - b) / (.86 - b)

        where s and b are sentence accuracies and .86 is that of people.  With b = .470, that of model 1 on
        section 23, it is the last column of Table 1.  None if one accuracy is, or if b is .86 or more.
        """
        reached, start = self.sentence_accuracy, baseline.sentence_accuracy
        if reached is None or start is None or start >= HUMAN:
            return None
        return (reached - start) / (HUMAN - start)

    def _total(self, column: int) -> int:
        return int(self.table[:, column].sum())


class CommaResult(NamedTuple):
    """The result of a model; ``title``: what it uses.

    :ivar trees: the source of its constituents: ``gold`` or ``parsed``, empty if it uses none.
    """

    name: str
    title: str
    trees: str
    scores: CommaScores


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
