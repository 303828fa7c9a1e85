"""Shift-reduce parsers with a perceptron and beam search, for sentences with their punctuation.

Ma, Zhang & Zhu (2014, "Punctuation Processing for Projective Dependency Parsing") make marks properties of
the words beside them, instead of words that need a head::

    from pyropunct import read_treebank
    from pyropunct.parsing.arc_standard import ArcStandardRecipe, marked_sentences, train_arc_standard

    parser = train_arc_standard(marked_sentences(read_treebank("train.conllu")), ArcStandardRecipe(beam=8))
    [first, *others] = parser.parse(marked_sentences(read_treebank("dev.conllu")))

- `pyropunct.parsing.arc_standard.treatments`: sentences with marks, and four ways to treat them.
- `pyropunct.parsing.arc_standard.oracle`: the transitions that lead to a tree.
- `pyropunct.parsing.arc_standard.templates`: the templates of features.
- `pyropunct.parsing.arc_standard.exploring`: a dynamic oracle with exploration, compiled.
- `pyropunct.parsing.arc_standard.parser` and `pyropunct.parsing.arc_standard.training`: the parser.
- `pyropunct.parsing.arc_standard.tagging` and `pyropunct.parsing.arc_standard.tagger`: a tagger.

Transitions, perceptron and search are in `pyropunct.parsing.transitions`.
"""

from pyropunct.parsing.arc_standard.parser import (
    ArcStandardParser,
    ArcStandardRecipe,
    Oracle,
    ParsedSentence,
)
from pyropunct.parsing.arc_standard.tagger import (
    PerceptronTagger,
    train_perceptron_tagger,
    with_jackknifed_tags,
    with_tags,
)
from pyropunct.parsing.arc_standard.training import train_arc_standard
from pyropunct.parsing.arc_standard.treatments import (
    MarkedSentence,
    Treatment,
    have_language_tags,
    marked_sentences,
)

__all__ = [
    "ArcStandardParser",
    "ArcStandardRecipe",
    "MarkedSentence",
    "Oracle",
    "ParsedSentence",
    "PerceptronTagger",
    "Treatment",
    "have_language_tags",
    "marked_sentences",
    "train_arc_standard",
    "train_perceptron_tagger",
    "with_jackknifed_tags",
    "with_tags",
]
