"""Mixtures over the trees of a sentence, for text without trees: an effect handler around a model.

The tree T of a sentence is latent in text.  A parser finds a few trees T_k of its words, and weights w_k:
p(T_k | words) of the best trees, or 1 / K of K draws.  Under `mix_trees` the factor of the sentence is::

    log p(x | words) = log sum_k w_k p(x | T_k)

in place of one factor log p(x | T_k) for each tree.  Each tree then counts in gradients by its share of the
sum, the posterior p(T_k | words, x).

Example::

    elbo = TreeTrace_ELBO()
    # trees 0 and 1 of the batch are of the first sentence, trees 2, 3 and 4 of the second
    weights = torch.tensor([0.6, 0.4, 0.5, 0.3, 0.2])
    loss = elbo.differentiable_loss(mix_trees(story, [2, 3], weights.log()), guide, trees, surface)
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from pyro.ops.provenance import detach_provenance
from pyro.poutine.runtime import effectful
from torch import Tensor

from pyropunct.inference.forest import Forest


class Mixture(NamedTuple):
    """Which trees of a batch are of the same sentence, and their weights.

    :ivar sizes: how many trees each sentence has; they stand one after another in the batch.
    :ivar log_weights: (..., B) log w_k of each tree.
    """

    sizes: Sequence[int]
    log_weights: Tensor

    def log_evidence(self, evidence: Tensor) -> Tensor:
        """log p(x | words) of each sentence, (..., sentences).

        :param evidence: (..., B) log p(x | T_k) of each tree.
        """
        weighted = evidence + detach_provenance(self.log_weights).to(evidence)
        return torch.stack([trees.logsumexp(-1) for trees in weighted.split(list(self.sizes), -1)], -1)

    def check(self, forest: Forest, scale: Any) -> None:
        """Refuse trees that the mixture is not of.

        :param scale: of the sites of the trees.
        :raises ValueError: if there are more or fewer trees, a sentence has no tree, or its trees have
            different numbers of words.
        :raises NotImplementedError: if the trees have a scale each.
        """
        trees = forest.num_trees
        if min(self.sizes, default=0) < 1 or not sum(self.sizes) == trees == self.log_weights.shape[-1]:
            raise ValueError(
                f"mix_trees is given sentences of {list(self.sizes)} trees and log-weights of shape "
                f"{tuple(self.log_weights.shape)}, but the batch has {trees} trees: each sentence needs one "
                "or more, and each tree one weight"
            )
        lengths = forest.slot_start.diff().split(list(self.sizes))
        for sentence, slots in enumerate(lengths):
            if (slots != slots[0]).any():
                raise ValueError(
                    f"the trees of sentence {sentence} in mix_trees have {slots.tolist()} slots, so they are "
                    "not of the same words: put the trees of a sentence next to each other"
                )
        if torch.as_tensor(scale).numel() > 1:
            raise NotImplementedError(
                "the sites have a scale for each tree, but in mix_trees several trees make one factor: use "
                "one scale for all of them"
            )


@effectful(type="tree_mixture")
def _mixture(mixture: Mixture) -> None:
    raise ValueError(
        "mix_trees(model, ...) needs collapse_trees, or an ELBO that sums over trees, directly around it: it "
        "makes a likelihood of trees that are summed out, and neither draws nor decodes"
    )


def mix_trees(model: Callable[..., Any], sizes: Sequence[int], log_weights: Tensor) -> Callable[..., Any]:
    """The model of sentences whose trees are latent: log sum_k w_k p(x | T_k) for each sentence.

    For `pyropunct.inference.pyro.collapse.collapse_trees` and the ELBOs of `pyropunct.inference.pyro.elbo`,
    which go around it.  The model is called with all trees of all sentences, and the same surface for each
    tree of a sentence.  Scales multiply the logarithm of the sum.

    :param sizes: how many trees each sentence has; they stand one after another in the batch.
    :param log_weights: (B,) log w_k of each tree, or (..., B) in plates or with values of enumerated sites.
        The weights of a sentence need not add up to 1.  Gradients flow into them.
    :raises ValueError: when called, if the trees do not fit, or nothing sums them out.
    :raises NotImplementedError: when called, if the model asks for a `tree_expectation`, which is of each
        tree alone, or each tree has a scale of its own.
    """

    def mixed(*args: Any, **kwargs: Any) -> Any:
        _mixture(Mixture(sizes, log_weights))
        return model(*args, **kwargs)

    return mixed
