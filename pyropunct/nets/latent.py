"""All trees that a parser thinks possible, for sums over them: p(T | words) as a packed forest.

The network gives each word a distribution over heads, and each arc one over relations.  Their product,
restricted to projective trees with one root, is a distribution over trees.  Arcs, constituents and relations
that are improbable under it are left out of the forest, but not out of the normaliser.  So a sum over the
forest is a lower bound of the sum over all trees, and lacks at most the probability that is left out,
1 - `Found.kept`, since p(x | T) is at most 1.
"""

from collections.abc import Callable, Sequence
from itertools import filterfalse
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.inference.inside import log_evidence
from pyropunct.inference.packed import PackedForest, joined, packed_forest
from pyropunct.inference.packed_solver import without_marks
from pyropunct.models.latent import LatentTrees
from pyropunct.models.trees import TreeBatch
from pyropunct.nets.biaffine import ROOT
from pyropunct.nets.eisner import arc_marginals, best_tree, log_total
from pyropunct.nets.parser import BiaffineParser
from pyropunct.nets.words import is_mark
from pyropunct.treebank.tree import Tree

Array = NDArray[Any]

LEAST_ARC, LEAST_ITEM, LEAST_RELATION = 1e-3, 1e-4, 0.03
"""Arcs, constituents, and relations of an arc that are less probable are left out."""


class Pruning(NamedTuple):
    """What is left out: all that is less probable.

    :ivar arc: arcs.
    :ivar item: constituents, each of a span, a head word and the head of that.
    :ivar relation: relations of an arc.
    """

    arc: float = LEAST_ARC
    item: float = LEAST_ITEM
    relation: float = LEAST_RELATION


class Found(NamedTuple):
    """The trees of sentences that a parser thinks possible.

    :ivar trees: all of them.
    :ivar best: the most probable tree of each sentence.
    :ivar kept: (B,) the share of the probability that the forest holds.
    """

    trees: LatentTrees
    best: list[Tree]
    kept: Tensor


def possible_trees(
    parser: BiaffineParser,
    sentences: Sequence[Sequence[str]],
    encode: Callable[[Sequence[Tree]], TreeBatch],
    relation_number: Callable[[str], int],
    pruning: Pruning | None = None,
) -> Found:
    """The trees of sentences of words.  Gradients flow into the parser's network.

    :param parser: of words alone.
    :param sentences: the words of each.
    :param encode: encodes trees as the story reads them.
    :param relation_number: the number of a relation, likewise.
    :param pruning: what is left out.
    """
    pruning, network = pruning or Pruning(), parser.network
    batch = parser.encode(sentences)
    contexts = network.contexts(batch)
    lengths = batch.unmarked.count_nonzero(1)
    scores = network.scores(contexts, lengths)
    log_arcs = scores.arcs.log_softmax(-1).double()
    tables = [row[:size, : size + 1] for row, size in zip(log_arcs, lengths.tolist(), strict=True)]
    forests, heads = zip(*(_forest(table.detach().cpu().numpy(), pruning) for table in tables), strict=True)
    forest = joined(forests)
    start = forest.node_start
    row, word = forest.tree, forest.word - start[forest.tree]
    head = torch.where(forest.head < 0, 0, forest.head - start[forest.tree] + 1)
    longest = log_arcs.shape[1]
    arcs, arc_of_item = torch.unique(
        torch.cat([(row * longest + word) * (longest + 1) + head, _arcs_of(heads, longest)]),
        return_inverse=True,
    )
    places = torch.div(arcs, longest + 1, rounding_mode="floor")
    of_words = scores.dependents.flatten(0, 1)[places]
    at_head = places // longest * (longest + 1) + arcs % (longest + 1)
    log_relations = network.relations(of_words, scores.heads.flatten(0, 1)[at_head]).log_softmax(-1).double()
    names = [*parser.vocabulary.relations, ROOT]
    is_root = arcs % (longest + 1) == 0
    log_relations = torch.cat([log_relations, log_relations.new_full((len(arcs), 1), -torch.inf)], -1)
    root_row = log_relations.new_full((len(names),), -torch.inf)
    root_row[-1] = 0.0
    log_relations = torch.where(is_root[:, None], root_row, log_relations)
    best_relation = log_relations.argmax(-1)
    probable = log_relations.detach() > np.log(pruning.relation)
    probable[torch.arange(len(arcs)), best_relation] = True
    items = forest.num_nodes
    item, relation = probable[arc_of_item[:items]].nonzero(as_tuple=True)
    numbers = torch.tensor([relation_number(name) for name in names])
    log_items = log_arcs.flatten(0, 1)[(row * longest + word)[item], head[item]]
    log_items = log_items + log_relations[arc_of_item[:items][item], relation]
    totals = torch.stack([_LogTotal.apply(table) for table in tables])
    forest = forest.items(item)
    log_items = log_items - torch.where(forest.head < 0, totals[forest.tree], 0.0)  # every tree has one root
    best = _named(
        parser, sentences, heads, [names[r] for r in best_relation[arc_of_item[items:]].tolist()], scores.tags
    )
    trees = LatentTrees(encode(best), forest, numbers[relation], log_items)
    return Found(trees, best, weighed(forest, log_items.detach())[0].exp())


def _arcs_of(heads: Sequence[Array], longest: int) -> Tensor:
    words = [(row * longest + np.arange(len(one))) * (longest + 1) + one for row, one in enumerate(heads)]
    return torch.from_numpy(np.concatenate(words))


def _named(
    parser: BiaffineParser,
    sentences: Sequence[Sequence[str]],
    heads: Sequence[Array],
    relations: list[str],
    tags: Tensor,
) -> list[Tree]:
    trees, at = [], 0
    for forms, some, row in zip(sentences, heads, tags.argmax(-1).tolist(), strict=True):
        unmarked = tuple(filterfalse(is_mark, forms))
        names = tuple(relations[at : at + len(some)])
        at += len(some)
        tagged = tuple(parser.vocabulary.tags[tag] for tag in row[: len(some)])
        trees.append(Tree(tuple(some.tolist()), names, tagged, unmarked))
    return trees


def _forest(log_arcs: Array, pruning: Pruning) -> tuple[PackedForest, Array]:
    """The forest of a sentence, and the heads of its best tree."""
    best = best_tree(log_arcs)
    arcs = arc_marginals(log_arcs) > pruning.arc
    arcs[np.arange(len(best)), best] = True
    forest = packed_forest([arcs])
    weights = torch.from_numpy(log_arcs[forest.word.numpy(), forest.head.numpy() + 1])
    _, marginals = weighed(forest, weights)
    is_best = torch.from_numpy(best[forest.word.numpy()] == forest.head.numpy() + 1)
    chosen = marginals > pruning.item
    if not bool(chosen.any()):
        chosen = is_best
    return forest.items(chosen.nonzero()[:, 0]), best


def weighed(forest: PackedForest, log_weights: Tensor) -> tuple[Tensor, Tensor]:
    """The logarithm of the total weight of each sentence's trees, (B,), and the share of each item, (I,).

    :param log_weights: (I,) the logarithm of the weight of each item.
    """
    with torch.enable_grad():
        leaf = log_weights.detach().requires_grad_()
        total = log_evidence(without_marks(forest, leaf))
        (shares,) = torch.autograd.grad(total.sum(), leaf)
    return total.detach(), shares


class _LogTotal(torch.autograd.Function):
    """The logarithm of the sum over all projective trees, whose derivatives are the marginals of arcs."""

    @staticmethod
    def forward(ctx: Any, log_arcs: Tensor) -> Tensor:
        ctx.save_for_backward(log_arcs)
        return log_arcs.new_tensor(log_total(log_arcs.detach().cpu().numpy()))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        (log_arcs,) = ctx.saved_tensors
        return gradient * torch.from_numpy(arc_marginals(log_arcs.numpy()))
