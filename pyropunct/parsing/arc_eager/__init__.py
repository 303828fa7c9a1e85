"""Parsers of running words that predict their punctuation, with a perceptron and beam search.

Zhang, Wu, Yang & Li (2013, "Punctuation Prediction with Transition-based Parsing") read words as a speech
recogniser writes them, in lower case, without punctuation or ends of sentences, and find trees, marks and
ends together::

    from pyropunct import read_treebank
    from pyropunct.parsing.arc_eager import ArcEagerRecipe, streams, train_arc_eager

    parser = train_arc_eager(streams(read_treebank("train.conllu")), ArcEagerRecipe(beam=5))
    [first, *others] = parser.parse(streams(read_treebank("dev.conllu")))

- `pyropunct.parsing.arc_eager.streams`: sentences of a document as running words, and their marks.
- `pyropunct.parsing.arc_eager.oracle`: the transitions that lead to trees and marks.
- `pyropunct.parsing.arc_eager.templates`: the templates of features.
- `pyropunct.parsing.arc_eager.parser` and `pyropunct.parsing.arc_eager.training`: the parser.

Transitions, perceptron and search are in `pyropunct.parsing.transitions`.
"""

from pyropunct.parsing.arc_eager.oracle import ParsedStream
from pyropunct.parsing.arc_eager.parser import ArcEagerParser, ArcEagerRecipe
from pyropunct.parsing.arc_eager.streams import Stream, marks_in, streams
from pyropunct.parsing.arc_eager.training import train_arc_eager

__all__ = [
    "ArcEagerParser",
    "ArcEagerRecipe",
    "ParsedStream",
    "Stream",
    "marks_in",
    "streams",
    "train_arc_eager",
]
