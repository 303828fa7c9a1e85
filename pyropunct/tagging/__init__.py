"""Taggers of slots: punctuation predicted from words, by what a parser's network makes of them.

Example::

    from pyropunct import read_treebank
    from pyropunct.parsing import train_parser
    from pyropunct.tagging import train_slot_tagger

    train, dev = read_treebank("train.conllu"), read_treebank("dev.conllu")
    tagger = train_slot_tagger(train_parser(train, dev), train, dev)
    [probabilities] = tagger.read([["where", "is", "it"]])
"""

from pyropunct.tagging.recipes import SlotTaggerRecipe
from pyropunct.tagging.tagger import SlotTagger
from pyropunct.tagging.training import SlotTaggerProgress, SlotTaggerWatch, TaggerScores, train_slot_tagger

__all__ = [
    "SlotTagger",
    "SlotTaggerProgress",
    "SlotTaggerRecipe",
    "SlotTaggerWatch",
    "TaggerScores",
    "train_slot_tagger",
]
