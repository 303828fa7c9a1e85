"""Two papers about punctuation in transition-based parsing, with a perceptron and beam search.

Ma, Zhang & Zhu (2014, "Punctuation Processing for Projective Dependency Parsing") make marks properties of
the words beside them, instead of words that need a head::

    from pyropunct import read_treebank
    from pyropunct.papers.transitions.arc_standard_parser import train_arc_standard
    from pyropunct.papers.transitions.marked_sentences import marked_sentences
    from pyropunct.papers.transitions.parser import Recipe

    recipe = Recipe("all", beam=8, iterations=25)
    parser = train_arc_standard(marked_sentences(read_treebank("train.conllu")), recipe)
    [first, *others] = parser.parse(marked_sentences(read_treebank("dev.conllu")))

Zhang, Wu, Yang & Li (2013, "Punctuation Prediction with Transition-based Parsing") read words as a speech
recogniser writes them, in lower case, without punctuation or ends of sentences, and find trees, marks and
ends together::

    from pyropunct.papers.transitions.arc_eager_parser import train_arc_eager
    from pyropunct.papers.transitions.streams import streams

    parser = train_arc_eager(streams(read_treebank("train.conllu")), Recipe("unified", beam=5, iterations=15))
    [first, *others] = parser.parse(streams(read_treebank("dev.conllu")))

Both parsers run on one `machine`, compiled by numba, which caches compiled code on disk: read
`pyropunct.inference.compiling` before you change compiled functions in this folder.
"""

from pathlib import Path

from pyropunct.inference.compiling import forget_outdated

forget_outdated(Path(__file__).parent)  # before any compiled code is loaded
