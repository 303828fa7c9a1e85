"""Finds trees of punctuated sentences with a parser of words and the generative story.

A parser that reads words alone gives p(T | words); the story gives p(x | T).  By Bayes' rule, with strength s
= 1::

    p(T | words, x)  =  p(T | words) p(x | T)^s / sum over T' of p(T' | words) p(x | T')^s

If the attach model is local to an arc and s = 1, the sum runs over all trees that the parser thinks possible,
see `pyropunct.train.all_trees`.  Otherwise it runs over trees drawn by the parser.

If the model also has a parser that reads marks, p(T | words) is replaced by the p(T | words, x) of that
parser times the square root of p(T | words), normalised.  Marks then count twice, which is not Bayes' rule,
but makes trees better.

The loss of a tree is its number of wrong heads.  The expected loss adds up over arcs, so the tree of least
risk has the greatest sum of posterior probabilities of arcs: see `least_risk_tree`.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch

from pyropunct.inference.inside import log_evidence, posterior_items
from pyropunct.inference.pyro.collapse import collapse_trees, tree_problem
from pyropunct.nets.eisner import best_tree
from pyropunct.nets.parser import BiaffineParser, WeightedTree
from pyropunct.nets.word_batches import with_marks
from pyropunct.punctuator import Punctuator
from pyropunct.restore.parses import LONGEST_PARSED, weighted_trees
from pyropunct.text.marks import Surface
from pyropunct.train.all_trees import possible_trees
from pyropunct.treebank.tree import Tree

DRAWS = 200
"""Trees of the parser that are drawn for each sentence."""

LONGEST_SUMMED = 120
"""The most words of a sentence over all of whose trees is summed."""


class LeastRisk(NamedTuple):
    """The tree of least risk, the expected number of wrong heads, among projective trees with one root."""

    tree: Tree
    risk: float


def trees_given_marks(
    model: Punctuator,
    sentences: Sequence[tuple[Sequence[str], Surface]],
    draws: int = DRAWS,
    strength: float = 1.0,
) -> Iterator[list[WeightedTree]]:
    """The trees of words and punctuated slots with weights p(T | words, x), the heaviest first.

    The story for trees of a parser weighs them, see `Punctuator.for_parsed`.  If it gives all trees
    probability zero, they keep the parser's weights.

    :param draws: trees that the parser draws for each sentence.
    :param strength: s, from 0 (ignore the story) to 1 (Bayes' rule).
    :raises MissingPartError: if the model has no parser.
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
    """The trees of each sentence by parsers alone; very long sentences use the parser of words."""
    parser = _parser_of_marks(model)
    short = [parser is not None and len(words) <= LONGEST_PARSED for words, _ in sentences]
    pairs = list(zip(sentences, short, strict=True))
    others = iter(weighted_trees(model, [words for (words, _), marked in pairs if not marked], draws))
    if parser is None:
        return list(others)
    read = iter(parser.parse([with_marks(*one) for one, marked in pairs if marked], draws))
    return [next(read if marked else others) for marked in short]


def _parser_of_marks(model: Punctuator) -> BiaffineParser | None:
    """The parser that reads marks, beside that of words if they have the same relations."""
    parser, beside = model.mark_parser, model.parser
    if parser is None or not isinstance(beside, BiaffineParser):
        return parser
    alike = beside.vocabulary.relations == parser.vocabulary.relations
    return replace(parser, beside=beside) if alike else parser


def least_risk_trees(
    model: Punctuator,
    sentences: Sequence[tuple[Sequence[str], Surface]],
    draws: int = DRAWS,
    strength: float = 1.0,
) -> Iterator[LeastRisk]:
    """The tree of least risk of each punctuated sentence; see `trees_given_marks` for the parameters."""
    story = model.for_parsed.story
    if strength != 1 or not story.attach.is_local or not isinstance(model.parser, BiaffineParser):
        yield from map(least_risk_tree, trees_given_marks(model, sentences, draws, strength))
        return
    for words, surface in sentences:
        found = None if len(words) > LONGEST_SUMMED else _posterior(model, words, surface)
        if found is None:
            found = least_risk_tree(next(trees_given_marks(model, [(words, surface)], draws)))
        yield found


def _posterior(model: Punctuator, words: Sequence[str], surface: Surface) -> LeastRisk | None:
    """The tree of least risk among all trees, None if none of them explains the marks."""
    fitted, of_marks = model.for_parsed, _parser_of_marks(model)
    parser = model.parser if of_marks is None else of_marks
    assert isinstance(parser, BiaffineParser)
    with torch.no_grad():
        read = words if of_marks is None else with_marks(words, surface)
        found = possible_trees(parser, fitted.vocabulary, [read])
        trees, encoded = found.trees, fitted.vocabulary.encode_surface(surface)
        if fitted.story.reading is not None and fitted.tagger is not None:
            [heard] = fitted.tagger.log_odds([words], fitted.vocabulary.tokens)
            trees = trees.with_reading(heard)
        problem = tree_problem(collapse_trees(fitted.story), trees, encoded)
    if not bool(log_evidence(problem).isfinite()):
        return None
    forest, shares = found.trees.forest, posterior_items(problem).tolist()
    arcs = zip(forest.word.tolist(), (forest.head + 1).tolist(), found.relations, shares, strict=True)
    return _least_risk(found.best[0], arcs)


def least_risk_tree(trees: Sequence[WeightedTree]) -> LeastRisk:
    """The tree with the fewest expected wrong heads, made of arcs of the given trees (weights add up to
    1).
    """
    weighted = (
        (word, head, relation, weight)
        for tree, weight, _ in trees
        for word, (head, relation) in enumerate(zip(tree.heads, tree.relations, strict=True))
    )
    return _least_risk(trees[0].tree, weighted)


def _least_risk(first: Tree, weighted: Iterable[tuple[int, int, str, float]]) -> LeastRisk:
    arcs = np.zeros((len(first), len(first) + 1))
    relations: defaultdict[tuple[int, int], defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    for word, head, relation, weight in weighted:
        arcs[word, head] += weight
        relations[word, head][relation] += weight
    heads = best_tree(np.where(arcs > 0, arcs, -len(first))).tolist()
    chosen = [relations[arc] for arc in enumerate(heads)]
    named = tuple(max(of_arc, key=of_arc.__getitem__) for of_arc in chosen)
    risk = len(first) - float(arcs[np.arange(len(first)), heads].sum())
    return LeastRisk(replace(first, heads=tuple(heads), relations=named), max(risk, 0.0))
