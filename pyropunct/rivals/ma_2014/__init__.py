"""Shift-reduce parsers with a perceptron and beam search, for sentences with their punctuation.

Ma, Zhang & Zhu (2014, "Punctuation Processing for Projective Dependency Parsing") make marks properties of
the words beside them, instead of words that need a head::

    from pyropunct import read_treebank
    from pyropunct.rivals.ma_2014.parser import ArcStandardRecipe
    from pyropunct.rivals.ma_2014.treatments import marked_sentences
    from pyropunct.rivals.ma_2014.training import train_arc_standard

    parser = train_arc_standard(marked_sentences(read_treebank("train.conllu")), ArcStandardRecipe(beam=8))
    [first, *others] = parser.parse(marked_sentences(read_treebank("dev.conllu")))

- `pyropunct.rivals.ma_2014.treatments`: sentences with marks, and four ways to treat them.
- `pyropunct.rivals.ma_2014.oracle`: the transitions that lead to a tree.
- `pyropunct.rivals.ma_2014.templates`: the templates of features.
- `pyropunct.rivals.ma_2014.parser` and `pyropunct.rivals.ma_2014.training`: the parser.

Transitions, perceptron and search are in `pyropunct.rivals.transitions`.
"""
