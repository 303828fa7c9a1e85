"""What systems that restore punctuation have in common."""

from collections.abc import Sequence
from typing import Protocol

from torch import Tensor

from pyropunct.treebank.marks import Surface
from pyropunct.treebank.sentence import Sentence


class Restorer(Protocol):
    """Punctuates raw words."""

    @property
    def name(self) -> str:
        """What tables call it."""
        ...

    def restore(self, sentences: Sequence[Sequence[str]]) -> list[Surface]:
        """The punctuation tokens of the slots 0..n of each sentence of n words, START in slot 0."""
        ...


class PunctuationModel(Restorer, Protocol):
    """A restorer that also has a probability for every punctuation."""

    def log_prob(self, sentences: Sequence[Sentence]) -> Tensor:
        """(sentences,) log p(x | words), in natural logarithms."""
        ...
