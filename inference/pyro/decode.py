"""Decoding of punctemes: the best derivation, posterior draws, and the posterior of each choice alone."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pyro.distributions as dist
import torch
from pyro import poutine
from pyro.poutine.messenger import Messenger
from pyro.poutine.util import site_is_subsample
from torch import Tensor

from pyropunct.inference import inside
from pyropunct.inference.machines.evidence import SlotEvidence
from pyropunct.inference.pyro.collapse import TreeEnumMessenger, TreeProblemMessenger
from pyropunct.inference.pyro.pairs import PunctemePairs
from pyropunct.inference.pyro.plates import in_plates
from pyropunct.inference.pyro.surface import SurfaceStrings
from pyropunct.inference.ragged import runs


def infer_trees(model: Callable[..., Any], temperature: int = 1) -> Callable[..., Any]:
    """The model with its tree-enumerated sites decoded, as `pyro.infer.infer_discrete` does for others.

    Where evidence leaves surface strings open (`pyropunct.inference.machines.evidence.SlotEvidence`), they
    are decoded too: the value of a surface site is then the strings.  In plates around, each element has a
    draw of its own.

    :param temperature: 1 for a draw from the posterior p(T', x | T, evidence), 0 for the best derivation.
    :raises ValueError: for any other temperature.
    """
    if temperature not in (0, 1):
        raise ValueError(f"the temperature of infer_trees is 0 or 1, not {temperature}")

    def decoded(*args: Any, **kwargs: Any) -> Any:
        others: set[str] = set()

        def is_other(msg: Any) -> bool:
            if msg["type"] != "sample" or msg["is_observed"] or site_is_subsample(msg):
                return False
            others.add(msg["name"])
            return True

        # Other latent sites get their values in the first run, from handlers further out if these have
        # any (as in pyro.infer.Predictive), and keep them in the second.
        with poutine.block(expose_fn=is_other), poutine.trace() as first, TreeProblemMessenger() as messenger:
            model(*args, **kwargs)
        values = _choices(messenger, temperature)
        values.update({name: cast(Tensor, first.trace.nodes[name]["value"]) for name in others})
        trace = poutine.Trace()
        for name, value in values.items():
            trace.add_node(name, type="sample", name=name, value=value, is_observed=False, infer={})
        with poutine.block(hide=list(others)), _CompletionMessenger(best=temperature == 0):
            return poutine.replay(model, trace=trace)(*args, **kwargs)

    return decoded


class _CompletionMessenger(Messenger):
    """Puts surface strings in the place of evidence that leaves them open.

    :param best: the best strings, rather than draws.
    """

    def __init__(self, best: bool) -> None:
        super().__init__()
        self._best = best

    def _pyro_sample(self, msg: Any) -> None:
        if isinstance(msg["fn"], SurfaceStrings) and isinstance(msg["value"], SlotEvidence):
            msg["value"] = msg["fn"].complete(msg["value"], self._best)


def _choices(messenger: TreeEnumMessenger, temperature: int) -> dict[str, Tensor]:
    """The values of each marked site in the best derivation (0), or in a posterior draw (1)."""
    problem = replace(messenger.problem, log_pairs=in_plates(messenger.problem.log_pairs))
    if temperature == 0:
        choices = inside.best_derivation(problem)
    else:
        choices = inside.posterior_draws(problem, 1)[..., 0, :]
    if (choices < 0).any():
        messenger.refuse_impossible(int(problem.forest.tree[(choices < 0).nonzero()[0, -1]]))
    choices = choices.to(problem.relation.device)
    table = torch.empty_like(choices)
    table[..., messenger.order] = choices
    return {name: table[..., site.numbers] for name, site in messenger.marked.items()}


def marginals(messenger: TreeEnumMessenger) -> dict[str, dist.TorchDistribution]:
    """For each marked site the posterior of each of its choices alone, as the site's own distribution.

    :raises NotImplementedError: if the posterior depends on other sites that are summed out too.
    """
    posterior = inside.posterior_pairs(messenger.problem)
    if posterior.dim() > 1:
        raise NotImplementedError(
            f"the marginals of {sorted(messenger.marked)} depend on other enumerated sites: condition these"
        )
    node, start = messenger.order.argsort(), torch.from_numpy(messenger.problem.choice_start)
    distributions: dict[str, dist.TorchDistribution] = {}
    for name, site in messenger.marked.items():
        first = start[node[site.numbers.reshape(-1)]]
        places = torch.from_numpy(runs(first.numpy(), site.sizes.numpy()))
        logits = posterior[places.to(posterior.device)].log()
        if isinstance(site.fn, PunctemePairs):
            distributions[name] = PunctemePairs(logits, site.fn.start)
        else:
            distributions[name] = dist.Categorical(logits=logits.reshape(*site.numbers.shape, -1))
    return distributions
