"""The distribution of the punctemes of many nodes, each over its own set of pairs, and costs of pairs."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyro
import pyro.distributions as dist
import torch
from numpy.typing import NDArray
from pyro.distributions import TorchDistribution, constraints
from pyro.ops.provenance import detach_provenance, extract_provenance, track_provenance
from pyro.poutine.condition_messenger import ConditionMessenger
from pyro.poutine.enum_messenger import EnumMessenger
from pyro.poutine.messenger import Messenger
from pyro.poutine.replay_messenger import ReplayMessenger
from pyro.poutine.runtime import effectful
from torch import Tensor

from pyropunct.inference.forest import Forest
from pyropunct.inference.pyro.private import handlers_in_force

Array = NDArray[Any]

MARKED: Any = {"enumerate": "tree"}  # Pyro's type for it lists the ways to enumerate that Pyro has
"""Marks sites for `pyropunct.inference.pyro.collapse.TreeEnumMessenger`."""


class PunctemePairs(TorchDistribution):
    """Independent choices of a puncteme pair (l, r) at N nodes, from sets W_d of different sizes.

    A `Categorical` distribution for sets of different sizes.  A value is the place of a pair within its
    node's set::

        p(choice at w) = exp logits[start[w] + choice] / sum of exp logits over the node's set

    :param logits: (..., C) one number for each pair of each node, node after node.
    :param start: (N + 1,) ``int64``, where each node's part of ``logits`` starts; ``start[N]`` is C.  It may
        be on another device, where choices then are.

    A dimension of 1 left of C is the place of the nodes' plate in the values that the logits are computed
    from, as Pyro has it, and is dropped: with values of batch shape (10, 1) the logits are (10, C).

    Batch shape (..., N), event shape ().  Source: Li, Wang & Eisner (2019, equations 3 and 4).
    """

    arg_constraints: ClassVar = {"logits": constraints.real_vector}
    support = constraints.nonnegative_integer
    has_enumerate_support = True

    def __init__(self, logits: Tensor, start: Tensor) -> None:
        if logits.dim() > 1 and logits.shape[-2] == 1:
            logits = logits.squeeze(-2)
        self.start = start
        self._device = logits.device
        self.logits = self._normalised(logits)
        super().__init__(torch.Size((*logits.shape[:-1], len(start) - 1)), validate_args=False)

    @cached_property
    def node(self) -> Tensor:
        """(C,) the node of each pair, on the device of the logits."""
        sizes = self.start.diff().to(self._device)
        return torch.repeat_interleave(torch.arange(len(sizes), device=self._device), sizes)

    def expand(self, batch_shape: torch.Size, _instance: Any = None) -> "PunctemePairs":
        """The same choices repeated along new dimensions on the left.

        :raises NotImplementedError: if the dimension of the nodes is not the last.
        """
        # A plate always calls expand(); the default would hide this class.
        if torch.Size(batch_shape) == self.batch_shape:
            return self
        if batch_shape[-1] != self.batch_shape[-1]:
            raise NotImplementedError(
                f"choices of {self.batch_shape[-1]} nodes cannot be expanded to {tuple(batch_shape)}: give "
                "the plate of the nodes dim=-1, and those around it dimensions left of it"
            )
        return PunctemePairs(self.logits.expand(*batch_shape[:-1], -1), self.start)

    def __call__(self, *args: Any, **kwargs: Any) -> Tensor:
        """A draw for a site that no handler has given a value; see `is_prior_draw`."""
        choices = super().__call__(*args, **kwargs)
        for messenger in handlers_in_force():
            if isinstance(messenger, (ConditionMessenger, EnumMessenger, ReplayMessenger)):
                setattr(choices, _UNDER, messenger)
        return choices

    def log_prob(self, value: Tensor) -> Tensor:
        """Log-probabilities of choices of shape (..., N)."""
        index = (value + self.start[:-1]).to(self._device)
        batch = np.broadcast_shapes(index.shape[:-1], self.logits.shape[:-1])
        return self.logits.expand(*batch, -1).gather(-1, index.expand(*batch, -1))

    @torch.no_grad()
    def sample(self, sample_shape: torch.Size = torch.Size()) -> Tensor:  # noqa: B008
        """Draw choices by the Gumbel-max trick (no node needs to know another's size)."""
        logits = self.logits.expand(*sample_shape, *self.logits.shape)
        noisy = logits - torch.empty_like(logits).exponential_().log()
        best = self._maxima(noisy)[..., self.node]
        place = torch.arange(noisy.shape[-1], device=self._device) - self.start.to(self._device)[self.node]
        place = torch.where(noisy == best, place, place.new_tensor(noisy.shape[-1]))
        first = place.new_full((*place.shape[:-1], len(self.start) - 1), noisy.shape[-1])
        return first.scatter_reduce(-1, self.node.expand(place.shape), place, "amin").to(self.start.device)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All choices of the one node, for `pyro.infer.TraceEnum_ELBO`.

        :raises NotImplementedError: if the nodes' sets have different sizes.
        """
        sizes = self.start.diff().unique()
        if len(sizes) != 1:
            raise NotImplementedError(
                "sets of different sizes cannot be enumerated together: give each node a site of its own, "
                'or mark the site infer={"enumerate": "tree"}'
            )
        values = torch.arange(int(sizes), device=self.start.device)
        values = values.reshape(-1, *[1] * len(self.batch_shape))
        return values.expand(-1, *self.batch_shape) if expand else values

    def _maxima(self, values: Tensor) -> Tensor:
        best = values.new_full((*values.shape[:-1], len(self.start) - 1), -torch.inf)
        return best.scatter_reduce(-1, self.node.expand(values.shape), values, "amax")

    def _normalised(self, logits: Tensor) -> Tensor:
        if self._device.type == "cpu":  # by NumPy, which does not pass on the sites that the logits depend on
            values, sites = extract_provenance(logits)
            return track_provenance(_LogSoftmax.apply(values, self.start), sites)
        best = self._maxima(logits.detach())
        scaled = (logits - best[..., self.node]).exp()
        totals = torch.zeros_like(best).index_add(-1, self.node, scaled)
        return logits - (totals.log() + best)[..., self.node]


_UNDER = "_drawn_under"


def is_prior_draw(choices: Tensor) -> bool:
    """Whether choices were drawn from their prior by inference that takes the draw for their posterior.

    A site marked ``infer={"enumerate": "tree"}`` is drawn from its prior, as when a model runs forward, if no
    handler of this package sums it out.  Pyro's ELBOs and `pyro.infer.infer_discrete` would then score the
    observed surface given that draw, most often as minus infinity, and warn at most; `pyro.infer.Predictive`
    would return it beside the observed surface.  They run the model under a handler of theirs, and score the
    surface afterwards, if at all.  So draws under such a handler are remembered, and observed surfaces that
    come from them are refused.
    """
    under: Any = getattr(detach_provenance(choices), _UNDER, None)
    return under is not None and any(messenger is under for messenger in handlers_in_force())


@effectful(type="sample_pairs")
def sample_pairs(name: str, nodes: Tensor, pairs: PunctemePairs) -> Tensor:
    """A site for the choices of some nodes, which tree enumeration may sum out: (..., len(nodes)).

    `one_by_one` makes it a site for each node.

    :param name: follows "pairs" and "nodes" in the names of the site and of its plate.
    :param nodes: the nodes.
    :param pairs: the distribution of their choices.
    """
    with pyro.plate(f"nodes{name}", len(nodes)):
        return pyro.sample(f"pairs{name}", pairs, infer=MARKED)


class _OneByOneMessenger(Messenger):
    def _pyro_sample_pairs(self, msg: Any) -> None:
        _, nodes, pairs = msg["args"]
        logits = pairs.logits.split(pairs.start.diff().tolist(), -1)
        values = torch.broadcast_tensors(
            *(
                pyro.sample(f"pair {node}", dist.Categorical(logits=of_node), infer=MARKED)
                for node, of_node in zip(nodes.tolist(), logits, strict=True)
            )
        )
        # Values enumerated in parallel have a dimension 1 for the plate of slots: it becomes the nodes'.
        msg["value"] = torch.cat(values, -1) if values[0].dim() else torch.stack(values, -1)
        msg["done"] = True


def one_by_one(model: Callable[..., Any]) -> Callable[..., Any]:
    """The model with a site "pair 0", "pair 1", ... for each node, as `pyro.infer.TraceEnum_ELBO` needs it.

    For comparisons: with all nodes of a batch in one site, inference is quicker.
    """
    return _OneByOneMessenger()(model)


@effectful(type="tree_expectation")
def tree_expectation(choices: Tensor, cost: Tensor, start: Tensor, forest: Forest) -> Tensor:
    """E[sum_w cost(w, l_w, r_w)] of each tree, (..., B), differentiable.

    Under `pyropunct.inference.pyro.collapse.collapse_trees` the expectation is over the posterior
    p(T' | T, x), and the surface sites must have been observed before; else it is the cost of ``choices``
    itself.  Source: Li, Wang & Eisner (2019, section 2.3).

    :param choices: (..., N) the choice of each node.
    :param cost: (C,) the cost of each pair at each node, node after node.
    :param start: (N + 1,) where each node's part of ``cost`` starts.
    """
    return forest.per_tree(cost[start[:-1] + choices])


@effectful(type="tree_factor")
def tree_factor(choices: Tensor, cost: Tensor, start: Tensor, forest: Forest) -> Tensor:
    """log of the factor exp(-sum_w cost(w, l_w, r_w)) of each tree, (..., B), for `pyro.factor`.

    Under `pyropunct.inference.pyro.collapse.collapse_trees` the factor is part of the sum over T': it is::

        log sum_T' p(T', x | T) exp(-sum_w cost(w, l_w, r_w))

    in place of log p(x | T).  This returns 0 then.  Posteriors, and expectations behind this call, are then
    those of this product.

    :param choices: (..., N) the choice of each node.
    :param cost: (C,) the cost of each pair at each node, node after node; it counts as a constant.
    :param start: (N + 1,) where each node's part of ``cost`` starts.
    """
    return -forest.per_tree(cost[start[:-1] + choices])


class _LogSoftmax(torch.autograd.Function):
    """Normalised logits of each node's set: a log-softmax of neighbouring numbers, set by set."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, start: Tensor) -> Tensor:
        ctx.start, values = start, logits.detach().numpy()
        best = np.maximum.reduceat(values, _firsts(start), -1)
        shifted = values - _repeated(best, start)
        chances = np.exp(shifted)
        totals = np.add.reduceat(chances, _firsts(start), -1)
        chances /= _repeated(totals, start)
        result = torch.from_numpy(shifted - _repeated(np.log(totals), start))
        ctx.save_for_backward(torch.from_numpy(chances), result)
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        chances, result = ctx.saved_tensors
        if torch.is_grad_enabled():  # derivatives of this may be wanted
            return gradient - result.exp() * _of_sets(gradient, ctx.start), None
        flows = gradient.contiguous().numpy()
        totals = np.add.reduceat(flows, _firsts(ctx.start), -1)
        slopes = flows - chances.numpy() * _repeated(totals, ctx.start)
        return torch.from_numpy(slopes), None


def _of_sets(values: Tensor, start: Tensor) -> Tensor:
    """The sum over each node's set, at each of its pairs."""
    sizes = start.diff()
    node = torch.repeat_interleave(torch.arange(len(sizes)), sizes)
    totals = values.new_zeros((*values.shape[:-1], len(sizes))).index_add(-1, node, values)
    return totals[..., node]


def _firsts(start: Tensor) -> Array:
    """Where each set starts; NumPy sums from each start to the next."""
    return start[:-1].numpy()


def _repeated(values: Array, start: Tensor) -> Array:
    """The number of each node at each of its pairs."""
    return np.repeat(values, np.diff(start.numpy()), -1)
