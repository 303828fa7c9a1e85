"""Parsers of unpunctuated words (Li, Wang & Eisner 2019, section 6.1).

Example::

    from pyropunct import read_treebank
    from pyropunct.parsing import train_parser

    parser = train_parser(read_treebank("train.conllu"), read_treebank("dev.conllu"))
    [[best]] = parser.parse([["Her", "mother", "prepared", "four", "things"]])
    print(best.tree.heads, best.tree.relations)
"""

from pyropunct.parsing.jackknife import FOLDS, JackknifeWatch, fold_recipe, jackknifed, with_trees
from pyropunct.parsing.parser import BiaffineParser
from pyropunct.parsing.protocol import Parser, WeightedTree
from pyropunct.parsing.recipes import ParserRecipe
from pyropunct.parsing.scores import AttachmentScores, attachment_scores
from pyropunct.parsing.training import ParserEpoch, ParserProgress, ParserWatch, train_parser

__all__ = [
    "FOLDS",
    "AttachmentScores",
    "BiaffineParser",
    "JackknifeWatch",
    "Parser",
    "ParserEpoch",
    "ParserProgress",
    "ParserRecipe",
    "ParserWatch",
    "WeightedTree",
    "attachment_scores",
    "fold_recipe",
    "jackknifed",
    "train_parser",
    "with_trees",
]
