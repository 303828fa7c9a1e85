"""All probable trees of a sentence: sums over them, and learning from sentences whose trees are latent.

A parser gives p(T | words) as a packed forest, and is not changed.  The distribution is the product of its
distributions over heads and relations, restricted to projective trees with one root.  Improbable arcs,
constituents and relations are pruned from the forest, but not from the normaliser.  So a sum over the forest
is a lower bound of the sum over all trees: since p(x | T) is at most 1, it lacks at most
1 - `PossibleTrees.covered`.

A story is learned from punctuated sentences by maximum likelihood (equation 1)::

    log p(x | words) = log sum over T of p(T | words) p(x | T)

so that marks are evidence about the tree.  Its attach model must be local to an arc
(`pyropunct.models.attach.local`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import filterfalse
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from pyropunct.fitted.evaluation import Evaluation
from pyropunct.fitted.fitted_story import FittedStory
from pyropunct.inference.forest import forest_of
from pyropunct.inference.inside import log_evidence, posterior_pairs
from pyropunct.inference.packed import PackedForest, joined, packed_forest, without_marks
from pyropunct.inference.pyro.collapse import collapse_trees, tree_problem
from pyropunct.inference.ragged import Array
from pyropunct.inference.views import views_of
from pyropunct.models.attach.attach_model import join_contexts
from pyropunct.models.attach.local import LocalAttach
from pyropunct.models.trees import LatentTrees
from pyropunct.nets.biaffine import ROOT
from pyropunct.nets.eisner import arc_marginals, best_tree, log_total
from pyropunct.nets.parser import BiaffineParser, Scored, log_relations
from pyropunct.nets.word_batches import is_mark_token
from pyropunct.punctuator import Punctuator
from pyropunct.train.story_training import Training
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree
from pyropunct.vocabulary import Vocabulary


class Pruning(NamedTuple):
    """Probabilities below which arcs, items or relations are pruned; a sentence's best tree always stays."""

    arc: float = 1e-3
    item: float = 1e-4
    relation: float = 0.03


class PossibleTrees(NamedTuple):
    """The probable trees of B sentences.

    :ivar covered: (B,) the share of the probability that the forest holds.
    """

    trees: LatentTrees
    relations: list[str]
    best: list[Tree]
    covered: Tensor


def possible_trees(
    parser: BiaffineParser,
    vocabulary: Vocabulary,
    sentences: Sequence[Sequence[str]],
    pruning: Pruning | None = None,
) -> PossibleTrees:
    """The probable trees of sentences, relations numbered as in the vocabulary, with gradients."""
    pruning = Pruning() if pruning is None else pruning
    unmarked = [tuple(filterfalse(is_mark_token, words)) for words in sentences]
    scored = parser.scored(list(map(tuple, sentences)), unmarked)
    sizes = map(len, unmarked)
    tables = [table[:size, : size + 1] for table, size in zip(scored.arcs, sizes, strict=True)]
    forests, heads = zip(*(_forest(table.detach().numpy(), pruning) for table in tables), strict=True)
    forest = joined(forests)
    arcs = _Arcs(forest, scored)
    item, relation = arcs.probable(pruning.relation).nonzero(as_tuple=True)
    log_items = arcs.log_arcs[item] + arcs.log_relations[arcs.of_item[item], relation]
    relations = [(*parser.vocabulary.relations, ROOT)[number] for number in relation.tolist()]
    numbers = torch.tensor(list(map(vocabulary.relation_number, relations)))
    forest = forest.items(item)
    totals = torch.stack([_LogTotal.apply(table) for table in tables])
    log_items = log_items - torch.where(forest.head < 0, totals[forest.tree], 0.0)  # each tree has one root
    with torch.no_grad():
        best = [
            tree for [tree] in parser.trees_of(scored, unmarked, [[tuple(row.tolist())] for row in heads])
        ]
    trees = LatentTrees(vocabulary.encode_trees(best), forest, numbers, log_items)
    return PossibleTrees(
        trees, relations, best, log_evidence(without_marks(forest, log_items.detach())).exp()
    )


def _forest(log_arcs: Array, pruning: Pruning) -> tuple[PackedForest, Array]:
    """The forest of a sentence, and the heads of its best tree."""
    best = best_tree(log_arcs)
    arcs = arc_marginals(log_arcs) > pruning.arc
    arcs[np.arange(len(best)), best] = True
    forest = packed_forest([arcs])
    word, head = forest.word.numpy(), forest.head.numpy() + 1
    weights = torch.from_numpy(log_arcs[word, head])
    probable = posterior_pairs(without_marks(forest, weights)) > pruning.item
    shape = forest_of([best.tolist()])
    of_best = torch.from_numpy(best[word] == head)
    of_best &= (forest.left_slot == shape.left_slot[word]) & (forest.right_slot == shape.right_slot[word])
    return forest.items((probable | of_best).nonzero()[:, 0]), best


class _Arcs:
    """The arcs of a packed forest of I items; each is scored once."""

    def __init__(self, forest: PackedForest, scored: Scored) -> None:
        longest = scored.arcs.shape[1]
        first = forest.node_start[forest.tree]
        head = torch.where(forest.head < 0, 0, forest.head - first + 1)
        word = forest.tree * longest + forest.word - first
        arcs, self.of_item = torch.unique(word * (longest + 1) + head, return_inverse=True)
        self.log_arcs = scored.arcs.flatten(0, 1)[word, head]
        of_word, of_head = arcs // (longest + 1), arcs % (longest + 1)
        at_head = of_word // longest * (longest + 1) + of_head
        logits = log_relations(scored.parts, of_word, at_head).double()
        never = logits.new_full((len(arcs), 1), -torch.inf)
        of_root = torch.cat([torch.full_like(logits, -torch.inf), torch.zeros_like(never)], -1)
        others = torch.cat([logits.log_softmax(-1), never], -1)
        self.log_relations = torch.where((of_head == 0)[:, None], of_root, others)

    def probable(self, least: float) -> Tensor:
        """(I, relations + 1) which relations are probable; the best of each arc always is."""
        logs = self.log_relations.detach()
        probable = logs.exp() > least
        probable[torch.arange(len(logs)), logs.argmax(-1)] = True
        return probable[self.of_item]


class _LogTotal(torch.autograd.Function):
    """The log total of all projective trees; its gradients are the marginals of arcs."""

    @staticmethod
    def forward(ctx: Any, log_arcs: Tensor) -> Tensor:
        ctx.save_for_backward(log_arcs)
        return log_arcs.new_tensor(log_total(log_arcs.detach().numpy()))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        (log_arcs,) = ctx.saved_tensors
        return gradient * torch.from_numpy(arc_marginals(log_arcs.numpy()))


PRUNING = Pruning(arc=1e-2, item=1e-3, relation=0.1)
"""Stronger pruning for training, whose time is proportional to the number of items."""


def certain_trees(vocabulary: Vocabulary, trees: Iterable[Tree]) -> list[LatentTrees]:
    """Known trees, in the form of latent ones."""
    found = []
    for tree in trees:
        arcs = np.zeros((len(tree), len(tree) + 1), np.bool_)
        arcs[np.arange(len(tree)), tree.heads] = True
        forest, words = packed_forest([arcs]), vocabulary.encode_trees([tree])
        sure = torch.zeros(forest.num_nodes, dtype=torch.double)
        found.append(LatentTrees(words, forest, words.relation[forest.word], sure))
    return found


@torch.no_grad()
def log_prob_over_all_trees(
    fitted: FittedStory, trees: Sequence[LatentTrees], sentences: Sequence[Sentence]
) -> Tensor:
    """(sentences,) log p(x | words), summed over trees; the attach model of ``fitted`` is local to an arc."""
    model = collapse_trees(fitted.story)
    surfaces = (fitted.vocabulary.encode_surface(sentence.surface) for sentence in sentences)
    problems = (tree_problem(model, *one) for one in zip(trees, surfaces, strict=True))
    return torch.cat([log_evidence(problem) for problem in problems])


@dataclass
class LatentTraining(Training):
    """The training of a story on ``known`` trees, then sentences with latent ones; dev trees are ignored."""

    parser: Any = None
    known: int = 0

    def __post_init__(self) -> None:
        self._latent: list[LatentTrees] = []  # until the contexts of the best trees are learned
        super().__post_init__()
        attach = self.story.attach
        assert isinstance(attach, LocalAttach)
        words = [sentence.tree.forms for sentence in (*self.train[self.known :], *self.dev)]
        known = certain_trees(self.vocabulary, (sentence.tree for sentence in self.train[: self.known]))
        with torch.no_grad():
            probable = (possible_trees(self.parser, self.vocabulary, [one], PRUNING) for one in words)
            found = [*known, *(possible.trees for possible in probable)]
        self._of_dev = found[len(self.train) :]
        self._latent = found[: len(self.train)]
        self._contexts_of_items = [
            attach.contexts(trees, views_of(trees.forest, surface))
            for trees, surface in zip(self._latent, self.surfaces, strict=True)
        ]
        attach.count_uses(self._contexts_of_items)

    def batch(self, numbers: Sequence[int]) -> Any:
        """Training sentences as the story reads them: latent trees, surface strings, and views of items."""
        trees, surface, views = super().batch(numbers)
        if not self._latent:
            return trees, surface, views
        some = [self._latent[number] for number in numbers]
        latent = LatentTrees(
            trees,
            joined([one.forest for one in some]),
            torch.cat([one.relation for one in some]),
            torch.cat([one.log_arcs for one in some]),
        )
        contexts = join_contexts([self._contexts_of_items[number] for number in numbers])
        return latent, surface, views_of(latent.forest, surface)._replace(contexts=contexts)

    def perplexity_of(self, model: Punctuator) -> float:
        """The perplexity per slot of dev, over all probable trees."""
        return Evaluation.of(self.dev, log_prob_over_all_trees(model, self._of_dev, self.dev)).perplexity
