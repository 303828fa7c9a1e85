"""Scores of punctuation that is predicted slot by slot."""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from torch import Tensor

from pyropunct.treebank.marks import Surface


class SlotScores(NamedTuple):
    """How well punctuation is predicted from words.

    :ivar slots: the number of slots.
    :ivar perplexity: per slot.
    """

    slots: int
    perplexity: float

    @classmethod
    def of(cls, log_prob: Tensor, surfaces: Sequence[Surface]) -> Self:
        """The scores of sentences.

        :param log_prob: (sentences,) log p(x | words), in natural logarithms.
        :param surfaces: their punctuation.
        """
        slots = sum(map(len, surfaces))
        return cls(slots, float(np.exp(-float(log_prob.sum()) / slots)))

    @property
    def merit(self) -> float:
        """The geometric mean of the probabilities of slots, by which the best epoch is chosen."""
        return 1 / self.perplexity
