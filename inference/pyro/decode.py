"""Decoding of punctemes: the best derivation, posterior draws, and the posterior of each choice alone."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pyro
import pyro.distributions as dist
import torch
from torch import Tensor

from pyropunct.inference import inside
from pyropunct.inference.machines.evidence import SlotEvidence
from pyropunct.inference.pyro.collapse import Sum, summed
from pyropunct.inference.pyro.pairs import of_choices
from pyropunct.inference.pyro.telling import (
    TREE,
    TellMessenger,
    TreeOfWords,
    TreeSite,
    keep_latent,
    log_rewritten,
)
from pyropunct.inference.pyro.told import PAIRS, Surface, Told


class _Decoding(TreeSite):
    """Base class of decoded values: each element of the plates around a story has a draw of its own."""

    def __init__(self, told: Told, temperature: int) -> None:
        super().__init__(told)
        self._temperature = temperature


class TreePosterior(_Decoding):
    """T' given x: p(T' | T, x) = p(T', x | T) / p(x | T)."""

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """(..., N) a draw of T' from the posterior, or the T' of the best derivation.

        :raises ImpossibleSurfaceError: if no T' explains the surface of some tree.
        """
        problem = self.told.sum.problem
        batch = torch.broadcast_shapes((*sample_shape, *self.batch_shape[:-1]), problem.log_pairs.shape[:-1])
        problem = replace(problem, log_pairs=problem.log_pairs.expand(*batch, -1))
        if self._temperature == 0:
            choices = inside.best_derivation(problem)
        else:
            choices = inside.posterior_draws(problem, 1)[..., 0, :]
        if (choices < 0).any():
            self.told.sum.refuse_impossible()
        return choices.to(self.told.trees.relation.device)

    def log_prob(self, value: Tensor) -> Tensor:
        """(..., B) log p(T' | T, x) without gradient: SVI and HMC would take T' for a draw from its prior."""
        told = self.told
        costs = 0.0 if told.cost is None else of_choices(told.cost, told.pairs_of(value), told.start)
        sprouted = told.forest.per_tree(told.log_sprouted(value) - costs)
        log_posterior = sprouted + log_rewritten(told, value, told.known) - told.sum.log_evidence
        what = "derivatives of infer_trees(model), which decodes trees: train collapse_trees(model)"
        (log_posterior,) = inside.last_derivatives([log_posterior.detach()], [log_posterior], what)
        return self.of_trees(log_posterior)


class Completed(_Decoding):
    """x given T' and evidence: p(x | T', evidence) = p(x | u) weight(x) / p(evidence | u)."""

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Strings that agree with the evidence, (..., S, L)."""
        return self.told.complete(best=self._temperature == 0)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of their probability, (..., B)."""
        batch, shape = value.shape[:-2], value.shape[-2:]
        choices = self.told.choices.expand(*batch, -1).reshape(batch.numel(), -1)
        rows = map(self._log_prob, value.reshape(batch.numel(), *shape), choices)
        return self.of_trees(torch.stack(list(rows)).reshape(*batch, -1))

    def _log_prob(self, value: Tensor, choices: Tensor) -> Tensor:
        """(B,) that of one draw."""
        told, evidence = self.told, self.told.known
        strings = [[token for token in row if token >= 0] for row in value.tolist()]
        weights = [
            evidence.distinct[place].weight(string)
            for place, string in zip(evidence.place.tolist(), strings, strict=True)
        ]
        agreed = torch.tensor(weights, dtype=torch.double).log().split(told.forest.slot_start.diff().tolist())
        weighed = torch.stack([of_tree.sum() for of_tree in agreed])
        both = (log_rewritten(told, choices, known) for known in (value, evidence))
        return next(both) + weighed - next(both)


class TreeOfText(TreeOfWords):
    """T given words and x, p(T | words) p(x | T) / p(x | words): drawn (temperature 1) or the best (0)."""

    def __init__(self, told: Told, temperature: int) -> None:
        super().__init__(told.trees)
        self._told, self._temperature = told, temperature

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """T, (I,).

        :raises ImpossibleSurfaceError: if no tree explains the surface of some sentence.
        :raises NotImplementedError: if several are wanted at once.
        """
        told, problem = self._told, self._told.sum.problem
        if torch.Size((*sample_shape, *self.batch_shape[:-1])).numel() > 1 or problem.log_pairs.dim() > 1:
            raise NotImplementedError(f"site '{TREE}' is decoded once: put no plates around latent trees")
        if self._temperature == 0:
            choices = inside.best_derivation(problem)
        else:
            choices = inside.posterior_draws(problem, 1)[0]
        if (told.forest.per_tree((choices >= 0).long()) == 0).any():
            told.sum.refuse_impossible()
        return (choices >= 0).long()

    def log_prob(self, value: Tensor) -> Tensor:
        """log p(T | words, x), (B,)."""
        of_tree = _with_trees(self._told, value)  # a name for it, as its sum does not keep it alive
        given, over_all = (told.sum.log_evidence.detach() for told in (of_tree, self._told))
        return super().log_prob(value) + given - over_all


def _with_trees(told: Told, chosen: Tensor) -> Told:
    """The story of trees that were latent."""
    of_trees = told.given(told.trees.trees(chosen))
    of_trees.plate = told.plate
    of_trees.show(told.known)
    of_trees.sum = Sum(of_trees)
    return of_trees


def decoded(told: Told, surface: Surface | None, temperature: int) -> Told | None:
    """x by `Summed`, latent trees by `TreeOfText`, T' by `TreePosterior`; or `forward` if T' is given."""
    summed(told, surface)
    if told.is_decided:
        return None
    if told.is_latent:
        with told.plate:
            told = _with_trees(told, pyro.sample(TREE, TreeOfText(told, temperature)))
    with told.plate:
        told.decide(pyro.sample(PAIRS, TreePosterior(told, temperature)))
    if isinstance(told.known, SlotEvidence):
        with told.plate:
            pyro.sample("completed", Completed(told, temperature))
    return told


def infer_trees(model: Callable[..., Any], temperature: int = 1) -> Callable[..., Any]:
    """The model with T' decoded from x, as `pyro.infer.infer_discrete` decodes other sites.

    Its stories are told as p(x | T) p(T' | T, x): the site "surface" comes first, then "pairs".  Surface
    strings that evidence (`pyropunct.inference.machines.evidence.SlotEvidence`) leaves open are decoded too:
    they are the site "completed", and the ``surface`` of what the story returns.

    :param temperature: 1 for a draw from p(T', x | T, evidence), 0 for the best derivation; else a
        ValueError.
    """
    if temperature not in (0, 1):
        raise ValueError(f"the temperature of infer_trees is 0 or 1, not {temperature}")
    return TellMessenger(partial(decoded, temperature=temperature), keep_latent)(model)


def marginals(told: Told) -> dist.TorchDistribution:
    """The posterior of each choice, given x: a distribution of (N,) choices.

    Where trees are latent, nodes are items of a packed forest. The last category then says that an item is no
    part of the tree; the others add up to the probability of the item.

    :raises NotImplementedError: if the posterior depends on other sites that are summed out too.
    """
    problem = told.problem
    posterior = inside.posterior_pairs(problem)
    if problem.parts is not None:  # summed out
        folded = posterior.new_zeros((*posterior.shape[:-1], len(told.log_pairs)))
        posterior = folded.index_add(-1, problem.base, posterior)
    if posterior.dim() > 1:
        raise NotImplementedError(
            f"the marginals of site '{PAIRS}' depend on other enumerated sites: condition these"
        )
    sizes = told.start.diff()
    table = posterior.new_zeros(len(sizes), int(sizes.max()))
    node = torch.repeat_interleave(sizes)
    table[node, torch.arange(len(node)) - told.start[node]] = posterior
    if told.is_latent:
        absent = (1 - table.sum(-1, keepdim=True)).clamp(min=0)
        table = torch.cat([table, absent], -1)
    return dist.Categorical(probs=table)
