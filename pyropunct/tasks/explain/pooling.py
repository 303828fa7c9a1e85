"""Outcomes of neighbouring marks in several languages, partially pooled.

A language with few examples of a pair of marks borrows from the others, the more the less they differ.  For
language l, pair of functions p and outcome k::

    mean[p, k]     ~ Normal(0, MEAN_SCALE)
    spread[p]      ~ HalfNormal(SPREAD_SCALE)
    logit[l, p, k] ~ Normal(mean[p, k], spread[p])

and expected counts c[l, p, k] have the log-likelihood sum_k c[l, p, k] log softmax_k logit[l, p].
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import pyro
import torch
from pyro import poutine
from pyro.distributions import HalfNormal, Normal
from pyro.infer import SVI, Predictive, Trace_ELBO
from pyro.infer.autoguide import AutoNormal
from pyro.infer.reparam import LocScaleReparam
from pyro.optim import ClippedAdam
from torch import Tensor

from pyropunct.inference.machines.products import EDITS
from pyropunct.tasks.explain.typology import PAIRS, LanguageCounts

MEAN_SCALE, SPREAD_SCALE = 3.0, 2.0
"""Scales of the priors: a logit of 3 is a share of 95 %."""

STEPS, LEARNING_RATE, DRAWS = 2000, 0.03, 500
"""Steps of stochastic variational inference, the rate of the first one (a tenth in the last), draws."""

SMOOTHING = 0.5
"""Added to each count where nothing is pooled, as Jeffreys' prior does, so that no outcome is impossible."""


def pooled_outcomes(counts: Tensor, possible: Tensor) -> None:
    """The Pyro model, of (languages, pairs, 4) counts and (pairs, 4) possible outcomes."""
    languages = pyro.plate("languages", counts.shape[0], dim=-3)
    pairs = pyro.plate("pairs", counts.shape[1], dim=-2)
    outcomes = pyro.plate("outcomes", counts.shape[2], dim=-1)
    with pairs:
        spread = pyro.sample("spread", HalfNormal(counts.new_tensor(SPREAD_SCALE)))
        with outcomes:
            mean = pyro.sample("mean", Normal(counts.new_zeros(()), MEAN_SCALE))
            with languages:
                logit = pyro.sample("logit", Normal(mean, spread))
    with pairs, languages:
        pyro.factor("counts", (counts * log_shares(logit, possible)).sum(-1, keepdim=True))


def log_shares(logit: Tensor, possible: Tensor) -> Tensor:
    """Log-shares of the outcomes; 0 for those that a pair does not have."""
    found = logit.masked_fill(~possible, -torch.inf).log_softmax(-1)
    return found.masked_fill(~possible, 0.0)


@dataclass(frozen=True)
class PooledShares:
    """The shares of the outcomes of each pair of functions; all (languages, pairs, 4).

    :ivar counts: their expected counts.
    :ivar own: the shares in the language alone, with `SMOOTHING`.
    :ivar pooled: the posterior means of the shares.
    """

    outcomes: dict[str, tuple[str, ...]]
    counts: Tensor
    own: Tensor
    pooled: Tensor


def pool(languages: Sequence[LanguageCounts], *, seed: int = 0) -> PooledShares:
    """Fit `pooled_outcomes` to counts by stochastic variational inference with a normal guide."""
    counts, outcomes = pair_counts(languages)
    numbers = torch.tensor([len(of_pair) for of_pair in outcomes.values()])
    possible = torch.arange(len(EDITS)) < numbers[:, None]
    model = poutine.reparam(pooled_outcomes, {"logit": LocScaleReparam(centered=0.0)})
    optimiser = ClippedAdam({"lr": LEARNING_RATE, "lrd": 0.1 ** (1 / STEPS)})
    with pyro.settings.context(module_local_params=True), poutine.seed(rng_seed=seed):
        guide = AutoNormal(model)
        inference = SVI(model, guide, optimiser, Trace_ELBO())
        for _ in range(STEPS):
            inference.step(counts, possible)
        with torch.no_grad():
            posterior = Predictive(
                model, guide=guide, num_samples=DRAWS, return_sites=["logit"], parallel=True
            )
            logits = posterior(counts, possible)["logit"]
    pooled = (log_shares(logits, possible).exp() * possible).mean(0)
    smoothed = (counts + SMOOTHING) * possible
    return PooledShares(outcomes, counts, smoothed / smoothed.sum(-1, keepdim=True), pooled)


def pair_counts(languages: Sequence[LanguageCounts]) -> tuple[Tensor, dict[str, tuple[str, ...]]]:
    """(languages, pairs, 4) the counts of outcomes of pairs, and for each pair its outcomes."""
    tallies = languages[0].tallies
    outcomes = {of: tuple(tally.outcomes) for (table, of), tally in tallies.items() if table == PAIRS}
    counts = torch.zeros(len(languages), len(outcomes), len(EDITS))
    for language, of_language in zip(languages, counts, strict=True):
        for of_pair, pair in zip(of_language, outcomes, strict=True):
            numbers = list(language.tallies[PAIRS, pair].outcomes.values())
            of_pair[: len(numbers)] = torch.tensor(numbers)
    return counts, outcomes


def perplexities(shares: Tensor, counts: Tensor) -> list[float]:
    """For each language the perplexity per pair, of (languages, pairs, 4) shares on other counts."""
    log_likelihood = torch.xlogy(counts, shares).sum((-1, -2))
    return [math.exp(one) for one in (-log_likelihood / counts.sum((-1, -2))).tolist()]
