"""Constituents of a dependency parser's trees."""

from collections.abc import Sequence

import numpy as np

from pyropunct.nets.parser import WeightedTree
from pyropunct.papers.shieber_tao_2003.comma_experiment import KnownTrees
from pyropunct.papers.shieber_tao_2003.sentences import CommaSentence, parsed
from pyropunct.treebank.tree import Tree


class RightBranching:
    """Each word is the head of the next; keeps what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def parse(self, sentences: Sequence[Sequence[str]], trees: int = 1) -> list[list[WeightedTree]]:
        self.asked += [list(words) for words in sentences]
        return [[WeightedTree(self._tree(words), 1.0)] for words in sentences]

    def _tree(self, words: Sequence[str]) -> Tree:
        number = len(words)
        return Tree(tuple(range(number)), ("dep",) * number, ("NOUN",) * number, tuple(words))


def sentence(text: str, tags: str) -> CommaSentence:
    words = text.split()
    nothing = np.zeros(len(words) + 1, np.int64)
    return CommaSentence(tuple(words), tuple(tags.split()), nothing > 0, nothing, nothing)


def test_subtrees_and_single_words_are_constituents_and_marks_belong_to_none() -> None:
    parser = RightBranching()
    given = [
        sentence("`` Mr. A : saw\\/b -LRB- it .", "`` NNP NNP : VBD -LRB- PRP ."),
        sentence("? !", ". ."),
    ]
    found, marks = parsed(given, parser)
    assert parser.asked == [["Mr", "A", "saw/b", "it"]]
    assert found.tags == ("``", "NOUN", "NOUN", ":", "NOUN", "-LRB-", "NOUN", ".")
    assert found.starts.tolist() == [1, 2, 2, 1, 2, 1, 1, 1, 0]  # the last word is no subtree of several
    assert found.ends.tolist() == [0, 1, 1, 1, 1, 1, 1, 4, 1]
    assert (marks.tags, marks.starts.tolist(), marks.ends.tolist()) == ((".", "."), [1, 1, 0], [0, 1, 1])


def test_known_trees_come_before_those_of_the_parser() -> None:
    parser, known = RightBranching(), [WeightedTree(Tree((0,), ("root",), ("X",), ("a",)), 1.0)]
    found = KnownTrees({("a",): known}, parser).parse([["a"], ["a", "b"]])
    assert (found[0], found[1][0].tree.heads, parser.asked) == (known, (0, 1), [["a", "b"]])
