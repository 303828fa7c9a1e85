"""Weighted draws of surface punctuation, as strings of marks."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pyropunct.models.drawing import Numbers


@dataclass(frozen=True)
class Draws:
    """Weighted draws of the surface punctuation of one sentence of n words.

    :ivar strings: the distinct strings of its slots, in the order in which they first occur.
    :ivar numbers: (draws, n + 1) ``int32``, which of them each slot has in each draw.  That of slot 0
        starts with `pyropunct.text.marks.START`, unless the channel has absorbed or moved it: it may.
    :ivar weights: (draws,) the weight of each draw; they add up to 1.
    :ivar edges: the slots at the left and the right of each constituent inside the sentence, in its most
        probable tree, where one is known.
    """

    strings: tuple[tuple[str, ...], ...]
    numbers: Numbers
    weights: NDArray[np.float64]
    edges: tuple[tuple[int, int], ...] = ()

    def __len__(self) -> int:
        return len(self.numbers)

    def surface(self, draw: int) -> list[tuple[str, ...]]:
        """The punctuation tokens of the slots 0..n in one draw."""
        return [self.strings[number] for number in self.numbers[draw].tolist()]
