"""The interface of parsers, so that others can be plugged in, and the scores of their trees."""

from collections.abc import Callable, Sequence
from itertools import chain
from operator import eq
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


class AttachmentScores(NamedTuple):
    """Shares of all words, in percent.

    :ivar words: the number of words.
    :ivar uas: words with the right head, the unlabelled attachment score.
    :ivar las: words with the right head and the right relation, subtype included.
    :ivar upos: words with the right universal tag.
    """

    words: int
    uas: float
    las: float
    upos: float

    @property
    def merit(self) -> float:
        """The LAS, by which the best epoch is chosen."""
        return self.las


def attachment_scores(parsed: Sequence[Tree], gold: Sequence[Tree]) -> AttachmentScores:
    """Compare trees word by word.

    :param parsed: the parser's trees.
    :param gold: the trees of the same sentences in the treebank.
    :raises ValueError: if there is no word, or the two are not of the same words.
    """
    if [tree.forms for tree in parsed] != [tree.forms for tree in gold]:
        raise ValueError("the trees to compare are not of the same words")
    words = sum(map(len, gold))
    if not words:
        raise ValueError("there is no word to compare")

    def share(of: Callable[[Tree], Sequence[object]]) -> float:
        answers, right = (chain.from_iterable(map(of, trees)) for trees in (parsed, gold))
        return 100 * sum(map(eq, answers, right)) / words

    return AttachmentScores(
        words,
        uas=share(lambda tree: tree.heads),
        las=share(lambda tree: list(zip(tree.heads, tree.relations, strict=True))),
        upos=share(lambda tree: tree.tags),
    )
