"""What systems that restore punctuation have in common."""

from collections.abc import Sequence
from typing import Protocol

from pyropunct.treebank.marks import Surface


class Restorer(Protocol):
    """Restores the punctuation of raw words."""

    @property
    def name(self) -> str:
        """Its name in tables."""
        ...

    def restore(self, sentences: Sequence[Sequence[str]]) -> list[Surface]:
        """The punctuation tokens of the slots 0..n of each sentence of n words, START in slot 0."""
        ...
