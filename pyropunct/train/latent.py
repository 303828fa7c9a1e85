"""Learning from punctuated sentences whose trees are latent, by maximum likelihood (equation 1)::

    log p(x | words) = log sum over T of p(T | words) p(x | T)

A parser gives p(T | words) and is not changed.  The sum is over all its probable trees
(`pyropunct.nets.latent`), so that marks are evidence about the tree.  The attach model must be local to an
arc (`pyropunct.models.attach.local`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pyropunct.fitted.evaluation import Evaluation
from pyropunct.fitted.story import FittedStory
from pyropunct.inference.inside import log_evidence
from pyropunct.inference.packed import joined, packed_forest
from pyropunct.inference.pyro.collapse import collapse_trees, tree_problem
from pyropunct.models.attach.attach_model import join_contexts, views_of
from pyropunct.models.attach.local import LocalAttach
from pyropunct.models.trees import LatentTrees
from pyropunct.nets.latent import Pruning, possible_trees
from pyropunct.nets.parser import BiaffineParser
from pyropunct.punctuator import Punctuator
from pyropunct.train.training import Training
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree
from pyropunct.vocabulary import Vocabulary

PRUNING = Pruning(arc=1e-2, item=1e-3, relation=0.1)
"""What is left out in training, which takes time in proportion to the items that are left."""


@torch.no_grad()
def latent_trees(
    parser: BiaffineParser,
    vocabulary: Vocabulary,
    sentences: Iterable[Sequence[str]],
    pruning: Pruning | None = None,
) -> list[LatentTrees]:
    """The probable trees of each sentence, given its words."""
    return [possible_trees(parser, vocabulary, [words], pruning).trees for words in sentences]


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
        found = [*known, *latent_trees(self.parser, self.vocabulary, words, PRUNING)]
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
