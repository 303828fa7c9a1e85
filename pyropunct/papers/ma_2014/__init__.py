"""Shift-reduce parsers with a perceptron and beam search, for sentences with their punctuation.

Ma, Zhang & Zhu (2014, "Punctuation Processing for Projective Dependency Parsing") make marks properties of
the words beside them, instead of words that need a head::

    from pyropunct import read_treebank
    from pyropunct.papers.ma_2014.arc_standard_parser import ArcStandardRecipe, train_arc_standard
    from pyropunct.papers.ma_2014.treatments import marked_sentences

    parser = train_arc_standard(marked_sentences(read_treebank("train.conllu")), ArcStandardRecipe(beam=8))
    [first, *others] = parser.parse(marked_sentences(read_treebank("dev.conllu")))

Transitions, perceptron and search are in `pyropunct.papers.transitions`.
"""
