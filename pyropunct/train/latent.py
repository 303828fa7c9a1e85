"""Learning from punctuated sentences whose trees are latent, by maximum likelihood (equation 1)::

    log p(x | words) = log sum over T of p(T | words) p(x | T)

A parser gives p(T | words), and stays as it is.  The sum is over all trees that it thinks possible
(`pyropunct.nets.latent`), so no tree has to be chosen, and what the marks say of the tree counts.  The attach
model must be local to an arc (`pyropunct.models.attach.local`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from pyropunct.fitted.story import FittedStory
from pyropunct.inference.inside import log_evidence
from pyropunct.inference.packed import joined
from pyropunct.inference.pyro.collapse import collapse_trees, tree_problem
from pyropunct.models.attach.local import LocalAttach
from pyropunct.models.attach.views import join_contexts
from pyropunct.models.latent import LatentTrees
from pyropunct.nets.latent import Pruning, possible_trees
from pyropunct.nets.parser import BiaffineParser
from pyropunct.train.training import Perplexity, Training
from pyropunct.treebank.sentence import Sentence
from pyropunct.vocabulary import Vocabulary

PRUNING = Pruning(arc=1e-2, item=1e-3, relation=0.1)
"""What is left out in training, which takes time in proportion to the items that are left."""


@torch.no_grad()
def latent_trees(
    parser: BiaffineParser,
    vocabulary: Vocabulary,
    sentences: Sequence[Sequence[str]],
    pruning: Pruning | None = None,
) -> list[LatentTrees]:
    """The possible trees of each sentence.

    :param sentences: their words.
    """
    found: list[LatentTrees] = []
    for words in sentences:
        one = possible_trees(parser, [words], vocabulary.encode_trees, vocabulary.relation_number, pruning)
        found.append(one.trees)
    return found


@torch.no_grad()
def log_prob_over_all_trees(
    fitted: FittedStory, trees: Sequence[LatentTrees], sentences: Sequence[Sentence]
) -> Tensor:
    """(sentences,) log p(x | words) of each, summed over its possible trees.

    :param fitted: whose attach model is local to an arc.
    """
    model = collapse_trees(fitted.story)
    surfaces = (fitted.vocabulary.encode_surface(sentence.surface) for sentence in sentences)
    problems = (tree_problem(model, *one) for one in zip(trees, surfaces, strict=True))
    return torch.cat([log_evidence(problem) for problem in problems])


@dataclass
class LatentTraining(Training):
    """The training of a story on sentences whose trees are latent.

    :ivar parser: what it says of the words of sentences.
    :ivar dev: of which the words and marks are read.
    """

    parser: Any = None

    def __post_init__(self) -> None:
        words = [sentence.tree.forms for sentence in (*self.train, *self.dev)]
        found = latent_trees(self.parser, self.vocabulary, words, PRUNING)
        self._latent, self._of_dev = found[: len(self.train)], found[len(self.train) :]
        super().__post_init__()
        attach = self.story.attach
        assert isinstance(attach, LocalAttach)
        contexts = [attach.contexts_of_arcs(*one) for one in zip(self._latent, self.surfaces, strict=True)]
        self._latent = [replace(one, contexts=of) for one, of in zip(self._latent, contexts, strict=True)]
        attach.count_uses(contexts)

    def batch(self, numbers: Sequence[int]) -> Any:
        """Training sentences in the form that the story reads: latent trees, and surface strings."""
        trees, surface, views = super().batch(numbers)
        if self._latent[0].contexts is None:  # contexts are looked up in the best trees
            return trees, surface, views
        some = [self._latent[number] for number in numbers]
        latent = LatentTrees(
            trees,
            joined([one.forest for one in some]),
            torch.cat([one.relation for one in some]),
            torch.cat([one.log_arcs for one in some]),
            contexts=join_contexts([one.contexts for one in some]),
        )
        return latent, surface

    def measured(self) -> Perplexity:
        """The perplexity per slot of dev, over all possible trees."""
        self._settle(self._current)
        logs = log_prob_over_all_trees(self._punctuator(self._current), self._of_dev, self.dev)
        slots = sum(len(sentence.surface) for sentence in self.dev)
        return Perplexity(float(torch.exp(-logs.sum() / slots)))
