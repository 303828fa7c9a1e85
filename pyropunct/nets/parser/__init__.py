"""Parsers of unpunctuated words (Li, Wang & Eisner 2019, section 6.1).

Example::

    from pyropunct import read_treebank
    from pyropunct.nets.parser import train_parser

    parser = train_parser(read_treebank("train.conllu"), read_treebank("dev.conllu"))
    [[best]] = parser.parse([["Her", "mother", "prepared", "four", "things"]])
    print(best.tree.heads, best.tree.relations)
"""

from pyropunct.nets.parser.jackknife import FOLDS, fold_recipe, jackknifed, with_trees
from pyropunct.nets.parser.parser import BiaffineParser
from pyropunct.nets.parser.protocol import AttachmentScores, Parser, WeightedTree, attachment_scores
from pyropunct.nets.parser.training import train_parser
from pyropunct.nets.recipes import ParserRecipe

__all__ = [
    "FOLDS",
    "AttachmentScores",
    "BiaffineParser",
    "Parser",
    "ParserRecipe",
    "WeightedTree",
    "attachment_scores",
    "fold_recipe",
    "jackknifed",
    "train_parser",
    "with_trees",
]
