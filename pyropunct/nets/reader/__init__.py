"""Readers of running text: where sentences end in words without punctuation, and how the words are written.

Example::

    from pyropunct import read_treebank
    from pyropunct.nets.reader import train_reader

    reader = train_reader(read_treebank("train.conllu"), read_treebank("dev.conllu"))
    print(reader.sentences("she left he stayed in paris".split()))
"""

from pyropunct.nets.reader.reader import RunningReader
from pyropunct.nets.reader.scores import ReaderScores
from pyropunct.nets.reader.training import train_reader
from pyropunct.nets.recipes import ReaderRecipe

__all__ = ["ReaderRecipe", "ReaderScores", "RunningReader", "train_reader"]
