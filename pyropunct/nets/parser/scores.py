"""How close trees are to those of a treebank."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pyropunct.treebank.tree import Tree


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
        pairs = [
            pair
            for tree, right in zip(parsed, gold, strict=True)
            for pair in zip(of(tree), of(right), strict=True)
        ]
        return 100 * sum(answer == right for answer, right in pairs) / words

    return AttachmentScores(
        words,
        uas=share(lambda tree: tree.heads),
        las=share(lambda tree: list(zip(tree.heads, tree.relations, strict=True))),
        upos=share(lambda tree: tree.tags),
    )
