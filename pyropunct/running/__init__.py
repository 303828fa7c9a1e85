"""Readers of running text: where sentences end in words without punctuation, and how the words are written.

Example::

    from pyropunct import read_treebank
    from pyropunct.running import train_reader

    reader = train_reader(read_treebank("train.conllu"), read_treebank("dev.conllu"))
    print(reader.sentences("she left he stayed in paris".split()))
"""

from pyropunct.running.reader import RunningReader
from pyropunct.running.recipes import ReaderRecipe
from pyropunct.running.scores import ReaderScores
from pyropunct.running.training import ReaderEpoch, ReaderProgress, ReaderWatch, train_reader

__all__ = [
    "ReaderEpoch",
    "ReaderProgress",
    "ReaderRecipe",
    "ReaderScores",
    "ReaderWatch",
    "RunningReader",
    "train_reader",
]
