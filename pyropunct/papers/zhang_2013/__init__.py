"""Parsers of running words that predict their punctuation, with a perceptron and beam search.

Zhang, Wu, Yang & Li (2013, "Punctuation Prediction with Transition-based Parsing") read words as a speech
recogniser writes them, in lower case, without punctuation or ends of sentences, and find trees, marks and
ends together::

    from pyropunct import read_treebank
    from pyropunct.papers.zhang_2013.arc_eager_parser import ArcEagerRecipe, streams, train_arc_eager

    parser = train_arc_eager(streams(read_treebank("train.conllu")), ArcEagerRecipe(beam=5))
    [first, *others] = parser.parse(streams(read_treebank("dev.conllu")))

Transitions, perceptron and search are in `pyropunct.papers.transitions`.
"""
