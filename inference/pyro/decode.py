"""Decoding of punctemes: the best derivation and posterior draws, as sites that come behind "surface"."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pyro
import torch
from torch import Tensor

from pyropunct.inference import inside
from pyropunct.inference.machines.evidence import SlotEvidence
from pyropunct.inference.problem import Problem
from pyropunct.inference.pyro.collapse import CollapseTrees
from pyropunct.inference.pyro.posterior import Posterior
from pyropunct.inference.pyro.sites import OfTrees, PunctuatedTrees, TreeOfWords
from pyropunct.inference.pyro.story_state import BEST, DRAWN, PAIRS, TREE, StoryState, log_rewritten


def _decoded(problem: Problem, is_drawn: bool) -> Tensor:
    """(..., N) a posterior draw for each joint value of other sites, or the best derivation."""
    return inside.posterior_draws(problem, 1)[..., 0, :] if is_drawn else inside.best_derivation(problem)


class TreePosterior(OfTrees):
    """T' given x, p(T' | T, x) = p(T', x | T) / p(x | T): drawn, or the best."""

    def __init__(self, state: StoryState, is_drawn: bool) -> None:
        super().__init__(state.inputs.forest)
        self._state, self._is_drawn = state, is_drawn

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """(..., N) T': each element of the plates around a story has a draw of its own.

        :raises ImpossibleSurfaceError: if no T' explains the surface of some tree.
        """
        posterior = self._state.posterior
        batch = torch.broadcast_shapes(self.batch_of(sample_shape), posterior.problem.log_pairs.shape[:-1])
        problem = posterior.problem
        problem = replace(problem, log_pairs=problem.log_pairs.expand(*batch, -1))
        choices = _decoded(problem, self._is_drawn)
        if (choices < 0).any():
            posterior.refuse_impossible()
        return choices.to(self._state.trees.relation.device)

    def log_prob(self, value: Tensor) -> Tensor:
        """(..., B) log p(T' | T, x) without gradient: SVI and HMC would take T' for a draw from its prior."""
        inputs, posterior = self._state.inputs, self._state.posterior
        log_joint = posterior.log_sprouted(value) + log_rewritten(inputs, value, posterior.surface)
        if inputs.costs is not None:
            log_joint = log_joint - self._state.cost(inputs.costs)
        log_posterior = log_joint - posterior.log_evidence
        what = "derivatives of infer_trees(model), which decodes trees: train collapse_trees(model)"
        (log_posterior,) = inside.last_derivatives([log_posterior.detach()], [log_posterior], what)
        return self.of_trees(log_posterior, posterior.log_pairs.dtype)


class Completed(OfTrees):
    """x given T' and evidence: p(x | T', evidence) = p(x | u) weight(x) / p(evidence | u)."""

    def __init__(self, state: StoryState, is_drawn: bool) -> None:
        super().__init__(state.inputs.forest)
        self._state, self._is_drawn = state, is_drawn

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Strings that agree with the evidence, (..., S, L)."""
        return self._state.complete(best=not self._is_drawn)

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of their probability, (..., B)."""
        batch, shape = value.shape[:-2], value.shape[-2:]
        choices = self._state.choices.expand(*batch, -1).reshape(batch.numel(), -1)
        rows = map(self._log_prob, value.reshape(batch.numel(), *shape), choices)
        return self.of_trees(
            torch.stack(list(rows)).reshape(*batch, -1), self._state.posterior.log_pairs.dtype
        )

    def _log_prob(self, value: Tensor, choices: Tensor) -> Tensor:
        """(B,) the log-probability of one draw."""
        inputs, evidence = self._state.inputs, self._state.posterior.surface
        assert isinstance(evidence, SlotEvidence)
        strings = [[token for token in row if token >= 0] for row in value.tolist()]
        weights = [
            evidence.distinct[place].weight(string)
            for place, string in zip(evidence.place.tolist(), strings, strict=True)
        ]
        agreed = (
            torch.tensor(weights, dtype=torch.double).log().split(inputs.forest.slot_start.diff().tolist())
        )
        weighed = torch.stack([of_tree.sum() for of_tree in agreed])
        both = (log_rewritten(inputs, choices, known) for known in (value, evidence))
        return next(both) + weighed - next(both)


class TreeOfText(TreeOfWords):
    """T given words and x, p(T | words) p(x | T) / p(x | words): drawn, or the best."""

    def __init__(self, state: StoryState, is_drawn: bool) -> None:
        super().__init__(state.trees)
        self._over_all, self._is_drawn = state.posterior, is_drawn

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """T, (I,).

        :raises ImpossibleSurfaceError: if no tree explains the surface of some sentence.
        :raises NotImplementedError: if several are wanted at once.
        """
        problem = self._over_all.problem
        if self.batch_of(sample_shape).numel() > 1 or problem.log_pairs.dim() > 1:
            raise NotImplementedError(f"site '{TREE}' is decoded once: put no plates around latent trees")
        chosen = (_decoded(problem, self._is_drawn) >= 0).long()
        if (self.forest.per_tree(chosen) == 0).any():
            self._over_all.refuse_impossible()
        return chosen

    def log_prob(self, value: Tensor) -> Tensor:
        """(B,) log p(T | words, x)."""
        inputs, surface = self._over_all.inputs, self._over_all.surface
        of_tree = Posterior(inputs.with_trees(self.latent.trees(value)), surface).log_evidence
        return super().log_prob(value) + of_tree.detach() - self._over_all.log_evidence.detach()


class InferTrees(CollapseTrees):
    """Decodes the open sites as soon as x is known: see `infer_trees`."""

    def _pyro_post_sample(self, msg: Any) -> None:
        super()._pyro_post_sample(msg)
        fn = msg["fn"]
        state = fn.state if isinstance(fn, PunctuatedTrees) else None
        # If something else is to become of T', a handler around this one decides.
        if state is not None and state.left == self._left and not state.is_decided:
            decode(state, self._left == DRAWN)


def decode(state: StoryState, is_drawn: bool) -> None:
    """Latent trees by `TreeOfText`, T' by `TreePosterior`, x that evidence leaves open by `Completed`."""
    if state.inputs.is_latent:
        state.grow(state.trees.trees(pyro.sample(TREE, TreeOfText(state, is_drawn))))
    state.decide(pyro.sample(PAIRS, TreePosterior(state, is_drawn)))
    if isinstance(state.posterior.surface, SlotEvidence):
        pyro.sample("completed", Completed(state, is_drawn))


def infer_trees(model: Callable[..., Any], temperature: int = 1) -> Callable[..., Any]:
    """The model with T' decoded from x, as `pyro.infer.infer_discrete` decodes other sites.

    With ``story``, ``trees`` and ``surface`` of the page "A first Pyro program"::

        >>> state = infer_trees(story)(trees, surface)
        >>> state.choices.shape == (trees.forest.num_nodes,)
        True
        >>> state.posterior.marginals().probs.sum(-1).allclose(torch.ones(()))
        True

    Its stories are told as p(x | T) p(T' | T, x): the site "surface" comes first, then "pairs".  Surface
    strings that evidence (`pyropunct.inference.machines.evidence.SlotEvidence`) leaves open are decoded too:
    they are the site "completed", and the ``surface`` of what the story returns.

    :param temperature: 1 for a draw from p(T', x | T, evidence), 0 for the best derivation; else a
        ValueError.
    """
    if temperature not in (0, 1):
        raise ValueError(f"the temperature of infer_trees is 0 or 1, not {temperature}")
    return InferTrees(allow_impossible=True, left=DRAWN if temperature else BEST)(model)
