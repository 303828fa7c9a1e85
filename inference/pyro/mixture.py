"""Mixtures over a few trees T_k of a sentence with weights w_k, for text without trees.

Under `mix_trees`, around a collapsed model, the site "surface" has for each sentence::

    log p(x | words) = log sum_k w_k p(x | T_k)

so each tree counts in gradients by its posterior p(T_k | words, x).  Example::

    # trees 0 and 1 of the batch are of the first sentence, trees 2, 3 and 4 of the second
    weights = torch.tensor([0.6, 0.4, 0.5, 0.3, 0.2])
    model = mix_trees(collapse_trees(story), [2, 3], weights.log())
    loss = Trace_ELBO().differentiable_loss(model, guide, trees, surface)
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch
from pyro.ops.provenance import detach_provenance, get_provenance, track_provenance
from pyro.poutine.indep_messenger import CondIndepStackFrame
from pyro.poutine.messenger import Messenger
from torch import Tensor

from pyropunct.inference.machines.evidence import evidence_of
from pyropunct.inference.pyro.collapse import Summed
from pyropunct.inference.pyro.telling import TreeSite
from pyropunct.inference.pyro.told import Surface, Told


class Mixed(TreeSite):
    """x of sentences whose trees are summed out, with (..., B) log w_k of each tree: batch shape (...,
    sentences).
    """

    def __init__(self, told: Told, log_weights: Tensor) -> None:
        super().__init__(told)
        self._log_weights = log_weights

    def log_prob(self, value: Surface) -> Tensor:
        """log p(x | words) of each sentence, (..., sentences)."""
        self.check(value)
        evidence, weights = self.told.sum.log_evidence, self._log_weights
        weighted = detach_provenance(evidence) + detach_provenance(weights).to(evidence)
        of_sentences = [trees.logsumexp(-1) for trees in weighted.split(list(self.told.sentences or ()), -1)]
        return track_provenance(
            self.of_trees(torch.stack(of_sentences, -1)), get_provenance([evidence, weights])
        )


class MixMessenger(Messenger):
    """Puts `Mixed` in the place of `Summed`, and a plate "sentences" in the place of that of the trees."""

    def __init__(self, sizes: Sequence[int], log_weights: Tensor) -> None:
        super().__init__()
        self._sizes, self._log_weights = list(sizes), log_weights

    def _pyro_sample(self, msg: Any) -> None:
        fn = msg["fn"]
        if not isinstance(fn, TreeSite) or msg["done"]:
            return
        if isinstance(fn, Mixed):
            raise ValueError("mix_trees is around the model twice: give all trees of a sentence at once")
        if not isinstance(fn, Summed) or not msg["is_observed"]:
            raise ValueError(
                f"site '{msg['name']}': mix_trees goes around collapse_trees(model), with a surface that is "
                "given: it neither draws nor decodes"
            )
        self._check(fn.told, msg["value"])
        fn.told.sentences = self._sizes
        shape = torch.Size((*fn.batch_shape[:-1], len(self._sizes)))
        msg["fn"] = Mixed(fn.told, self._log_weights).expand(shape)
        sentences = CondIndepStackFrame("sentences", -1, len(self._sizes), 0)
        msg["cond_indep_stack"] = tuple(
            sentences if frame.dim == -1 else frame for frame in msg["cond_indep_stack"]
        )

    def _check(self, told: Told, surface: Surface) -> None:
        if told.is_latent:
            raise ValueError("mix_trees is given latent trees, all of which are summed out: leave it out")
        trees, sizes = told.forest.num_trees, self._sizes
        if min(sizes, default=0) < 1 or not sum(sizes) == trees == self._log_weights.shape[-1]:
            raise ValueError(
                f"mix_trees is given sentences of {sizes} trees and log-weights of shape "
                f"{tuple(self._log_weights.shape)}, but the batch has {trees} trees: each sentence needs one "
                "or more, and each tree one weight"
            )
        all_slots = told.forest.slot_start.diff()
        strings = evidence_of(surface).place.split(all_slots.tolist())
        trees_of = torch.arange(trees).split(sizes)
        for sentence, (slots, some) in enumerate(zip(all_slots.split(sizes), trees_of, strict=True)):
            if (slots != slots[0]).any():
                raise ValueError(
                    f"the trees of sentence {sentence} in mix_trees have {slots.tolist()} slots, so they are "
                    "not of the same words: put the trees of a sentence next to each other"
                )
            if any(not torch.equal(strings[tree], strings[some[0]]) for tree in some.tolist()):
                raise ValueError(
                    f"the trees of sentence {sentence} in mix_trees have different surfaces: give each the "
                    "surface of the sentence"
                )


def mix_trees(model: Callable[..., Any], sizes: Sequence[int], log_weights: Tensor) -> Callable[..., Any]:
    """The model of sentences whose trees are latent: log sum_k w_k p(x | T_k) for each sentence.

    It goes around `pyropunct.inference.pyro.collapse.collapse_trees`.  The model is called with all trees of
    all sentences, and the same surface for each tree of a sentence.  A class of each sentence belongs in a
    plate "sentences" with ``dim=-1``.

    :param sizes: how many trees each sentence has; they stand one after another in the batch.
    :param log_weights: (B,) log w_k of each tree, or (..., B) in plates or with enumerated sites,
        differentiable.
    :raises ValueError: when called, if the trees do not fit, or nothing sums them out.
    :raises NotImplementedError: when called, if the model asks for a `tree_expectation`.
    """
    return MixMessenger(sizes, log_weights)(model)
