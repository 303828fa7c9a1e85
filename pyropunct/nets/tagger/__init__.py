"""Taggers of slots: punctuation predicted from words, by the states of a parser's network.

Example::

    from pyropunct import read_treebank
    from pyropunct.nets.parser import train_parser
    from pyropunct.nets.tagger import train_slot_tagger

    train, dev = read_treebank("train.conllu"), read_treebank("dev.conllu")
    tagger = train_slot_tagger(train_parser(train, dev), train, dev)
    [probabilities] = tagger.read([["where", "is", "it"]])
"""

from pyropunct.nets.recipes import SlotTaggerRecipe
from pyropunct.nets.tagger.scores import SlotScores
from pyropunct.nets.tagger.tagger import SlotTagger
from pyropunct.nets.tagger.training import train_slot_tagger

__all__ = ["SlotScores", "SlotTagger", "SlotTaggerRecipe", "train_slot_tagger"]
