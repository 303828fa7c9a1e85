"""Trees from punctuation: the generative story turned around.

A parser that reads words alone says how probable their trees are.  The story says how probable the marks on
the page are, given each tree.  By Bayes' rule::

    p(T | words, x)  =  p(T | words) p(x | T)^s / sum over T' of p(T' | words) p(x | T')^s

with strength s = 1.  The sum runs over the trees that the parser has drawn, for which it is exact; the more
there are, the nearer it comes to the sum over all trees.

If the model has a parser that reads marks too, its p(T | words, x) takes the place of p(T | words), times the
square root of p(T | words), made to add up to 1.  Marks count twice then, which is not Bayes' rule, but makes
trees better.

The loss of a tree is the number of its words with a wrong head.  Its expectation adds up over the arcs, so
the tree of least risk has the greatest sum of the posterior probabilities of its arcs: see `least_risk_tree`.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pyropunct.nets.eisner import best_tree
from pyropunct.nets.parser import BiaffineParser, WeightedTree
from pyropunct.nets.words import with_marks
from pyropunct.punctuator import Punctuator
from pyropunct.restore.parses import LONGEST_PARSED, weighted_trees
from pyropunct.text.marks import Surface
from pyropunct.treebank.tree import Tree

DRAWS = 200
"""Trees of the parser that are drawn for each sentence."""


class LeastRisk(NamedTuple):
    """A tree, chosen among all that are projective and have one root.

    :ivar tree: the tree.
    :ivar risk: how many of its words can be expected to have a wrong head.
    """

    tree: Tree
    risk: float


def trees_given_marks(
    model: Punctuator,
    sentences: Sequence[tuple[Sequence[str], Surface]],
    draws: int = DRAWS,
    strength: float = 1.0,
) -> Iterator[list[WeightedTree]]:
    """The trees of punctuated sentences, with p(T | words, x) as their weights, the heaviest first.

    The story fitted to trees of a parser weighs them, see `Punctuator.for_parsed`.  If it gives
    none of the trees any probability, they keep the parser's weights.

    :param sentences: the words of each, and the punctuation tokens of its slots 0..n.
    :param draws: how many trees the parser draws for each, equal ones counted.
    :param strength: s, from 0, where the story does not count; at 1 it counts as in Bayes' rule.
    :raises NoParserError: if the model has no parser.
    """
    parses = _drawn_trees(model, sentences, draws)
    surfaces = [surface for _, surface in sentences]
    trees = [parse.tree for of_words in parses for parse in of_words]
    given = [surface for of_words, surface in zip(parses, surfaces, strict=True) for _ in of_words]
    of_marks = iter(model.for_parsed.log_prob_of_marks(trees, given).tolist() if trees else ())
    for of_words in parses:
        logs = np.array([next(of_marks) for _ in of_words])
        counts = strength > 0 and bool(np.isfinite(logs).any())
        logs = strength * logs if counts else np.zeros(len(of_words))
        weights = np.array([parse.weight for parse in of_words]) * np.exp(logs - logs.max())
        shares = (weights / weights.sum()).tolist()
        weighed = [parse._replace(weight=share) for parse, share in zip(of_words, shares, strict=True)]
        yield sorted(weighed, key=lambda parse: -parse.weight)


def _drawn_trees(
    model: Punctuator, sentences: Sequence[tuple[Sequence[str], Surface]], draws: int
) -> list[list[WeightedTree]]:
    """The trees of each sentence by parsers alone; those of very long ones by the parser of words."""
    parser, beside = model.mark_parser, model.parser
    short = [parser is not None and len(words) <= LONGEST_PARSED for words, _ in sentences]
    pairs = list(zip(sentences, short, strict=True))
    others = iter(weighted_trees(model, [words for (words, _), marked in pairs if not marked], draws))
    if parser is None:
        return list(others)
    if isinstance(beside, BiaffineParser) and beside.vocabulary.relations == parser.vocabulary.relations:
        parser = replace(parser, beside=beside)
    read = iter(parser.parse([with_marks(*one) for one, marked in pairs if marked], draws))
    return [next(read if marked else others) for marked in short]


def least_risk_tree(trees: Sequence[WeightedTree]) -> LeastRisk:
    """The tree of the least expected number of wrong heads: minimum Bayes risk over arcs.

    It has arcs of the given trees, each with its most probable relation, but may differ from all of them.

    :param trees: of one sentence of n words, with weights that add up to 1.
    """
    first = trees[0].tree
    arcs = np.zeros((len(first), len(first) + 1))
    relations: defaultdict[tuple[int, int], defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    for tree, weight, _ in trees:
        for word, (head, relation) in enumerate(zip(tree.heads, tree.relations, strict=True)):
            arcs[word, head] += weight
            relations[word, head][relation] += weight
    heads = best_tree(np.where(arcs > 0, arcs, -len(first))).tolist()
    chosen = [relations[arc] for arc in enumerate(heads)]
    named = tuple(max(of_arc, key=of_arc.__getitem__) for of_arc in chosen)
    risk = len(first) - float(arcs[np.arange(len(first)), heads].sum())
    return LeastRisk(replace(first, heads=tuple(heads), relations=named), max(risk, 0.0))
