"""The interface of parsers, so that others can be plugged in."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from pyropunct.treebank.tree import Tree


class WeightedTree(NamedTuple):
    """A tree of a sentence with its share of the probability.

    :ivar tree: projective, with one root, universal tags, and relations with their subtypes.
    :ivar weight: its share of the sentence; the weights of all trees of one sentence add up to 1.
    :ivar given: whether it came with the sentence; otherwise a parser has found it.
    """

    tree: Tree
    weight: float
    given: bool = False


class Parser(Protocol):
    """From unpunctuated words to tagged trees (Li, Wang & Eisner 2019, section 6.1)."""

    def parse(self, sentences: Sequence[Sequence[str]], trees: int = 1) -> list[list[WeightedTree]]:
        """The trees of each sentence, the heaviest first.

        :param sentences: the words of each; as in `pyropunct.treebank.tree.Tree`, an abbreviation has lost
            its dot.
        :param trees: 1 for the best tree; a greater number for at most that many, weighted by the parser's
            confidence in each (footnote 20 of the paper).
        :raises ValueError: if a sentence has no word, or ``trees`` is less than 1.
        """
        ...
