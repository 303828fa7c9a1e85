"""Constituents from a dependency parser, instead of those of the treebank.

Shieber & Tao (2003, section 3) give their models 5 to 7 the constituents of a parser's trees.  Here the
parser is one of dependency trees, which sees the words alone, without any mark.  Each of its subtrees of more
than one word is a constituent, and so is each word or mark by itself.  The tags of words are the parser's.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pyropunct.nets.parser import Parser
from pyropunct.rivals.shieber_tao_2003.sentences import CommaSentence
from pyropunct.treebank.phrase_trees import as_printed, universal_tag
from pyropunct.treebank.tree import Tree, spans


def parsed(sentences: Sequence[CommaSentence], parser: Parser) -> list[CommaSentence]:
    """Sentences with the constituents and tags of the parser's best trees.

    A sentence of marks alone keeps its tags, and only its marks are constituents.
    """
    places = [_places_of_words(sentence) for sentence in sentences]
    forms = [_forms(one, words) for one, words in zip(sentences, places, strict=True) if words]
    trees = iter(parser.parse(forms))
    return [
        _with_constituents(sentence, words, next(trees)[0].tree if words else None)
        for sentence, words in zip(sentences, places, strict=True)
    ]


def _places_of_words(sentence: CommaSentence) -> list[int]:
    """The positions before the words that are no marks."""
    return [place for place, tag in enumerate(sentence.tags) if universal_tag(tag) != "PUNCT"]


def _forms(sentence: CommaSentence, places: Sequence[int]) -> list[str]:
    """Words as parsers expect them: as they are on the page, but abbreviations without their dot."""
    printed = (as_printed(sentence.words[place], sentence.tags[place]) for place in places)
    return [form.rstrip(".") or form for form in printed]


def _with_constituents(sentence: CommaSentence, places: Sequence[int], tree: Tree | None) -> CommaSentence:
    each = np.ones(len(sentence.words), np.int64)
    starts, ends = np.append(each, 0), np.append(0, each)
    tags = list(sentence.tags)
    if tree is not None:
        for first, last, size in spans(tree.heads):
            if size > 1:
                starts[places[first - 1]] += 1
                ends[places[last - 1] + 1] += 1
        for place, tag in zip(places, tree.tags, strict=True):
            tags[place] = tag
    return replace(sentence, tags=tuple(tags), starts=starts, ends=ends)
