"""Scales of mini-batches, and guides, for `pyro.infer.SVI` of stories."""

import operator
from collections.abc import Callable
from typing import Any, ClassVar

import pyro
import pyro.distributions as dist
import torch
from pyro.distributions import TorchDistribution, constraints
from pyro.infer.autoguide.utils import deep_setattr
from pyro.nn import PyroModule, PyroParam
from pyro.poutine.messenger import Messenger
from pyro.poutine.util import site_is_factor
from torch import Tensor

from pyropunct.inference.pyro.private import PointGuide

Model = Callable[..., Any]


class _ScaleLikelihoodMessenger(Messenger):
    def __init__(self, scale: float) -> None:
        super().__init__()
        self._scale = scale

    def _pyro_sample(self, msg: Any) -> None:
        in_trees = any(frame.dim == -1 for frame in msg["cond_indep_stack"])
        # Outside of the plate, an observed site other than a factor is a conditioned weight.
        is_seen = msg["is_observed"] and (in_trees or site_is_factor(msg))
        if is_seen or msg["infer"].get("enumerate"):
            msg["scale"] = msg["scale"] * self._scale
        elif self._scale != 1 and in_trees:
            raise NotImplementedError(
                f"site '{msg['name']}' is latent for each tree, and scale_likelihood scales no guide: give "
                "the plate of trees a subsample_size instead"
            )


def scale_likelihood(model: Model, scale: float) -> Model:
    """The model of a treebank, where a call sees a mini-batch: log p(theta) + scale log p(x | T, theta).

    Scales factors, enumerated sites, and what is observed in the plate of trees, but not the priors of
    weights, conditioned or not. A plate of trees with subsampling scales only the sites of the story.

    :param scale: trees in the treebank / trees in a call.
    :raises NotImplementedError: when called, if a site that is not enumerated is latent for each tree: the
        guide's factor would have to be scaled, too.
    """
    return _ScaleLikelihoodMessenger(scale)(model)


class Point(TorchDistribution):
    """All probability on one point, whose log-density is defined as 0.

    `pyro.distributions.Delta` compares every element, which is slow for tens of millions of weights. Here the
    very tensor of the point is not compared.
    """

    arg_constraints: ClassVar[dict[str, Any]] = {}
    has_rsample = True

    def __init__(self, value: Tensor, event_dim: int) -> None:
        self.value = value
        split = value.dim() - event_dim
        super().__init__(value.shape[:split], value.shape[split:], validate_args=False)

    @property
    def support(self) -> Any:
        """Real tensors."""
        return constraints.independent(constraints.real, len(self.event_shape))

    def rsample(self, sample_shape: torch.Size = torch.Size()) -> Tensor:  # noqa: B008
        """The point."""
        return self.value.expand(torch.Size((*sample_shape, *self.value.shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        """0, for the point itself. Raises ValueError for a tensor of other numbers."""
        is_same = value is self.value or value.data_ptr() == self.value.data_ptr()
        if not is_same and not torch.equal(value, self.value):
            raise ValueError("a Point knows only its own value")
        return self.value.new_zeros(self.batch_shape)


class PointEstimate(PointGuide):
    """`pyro.infer.autoguide.AutoDelta` with `Point` for `Delta`: MAP for real-valued sites outside plates."""

    def forward(self, *args: Any, **kwargs: Any) -> dict[str, Tensor]:
        """Put every site at its current estimate."""
        self.know_sites(*args, **kwargs)
        return {
            name: pyro.sample(name, self._distribution(name, site["fn"].event_dim))
            for name, site in self.prototype_trace.iter_stochastic_nodes()
        }

    def _distribution(self, name: str, event_dim: int) -> TorchDistribution:
        return Point(operator.attrgetter(name)(self), event_dim)


class NormalInPart(PointEstimate):
    """A `PointEstimate`, but for some sites, whose elements are normal and independent.

    In the mean-field approximation of a normal posterior, the variance of an element is the inverse of its
    diagonal entry in the precision matrix (Bishop 2006, section 10.1.2).  So these sites get the scales of
    `pyro.infer.autoguide.AutoNormal`, while millions of other weights stay points, with sparse gradients.

    :param part: the first part of the names of these sites.
    :param init_scale: the standard deviations at the start.
    """

    def __init__(self, model: Any, part: str, init_scale: float = 0.1, **more: Any) -> None:
        super().__init__(model, **more)
        self._part, self._init_scale = part, init_scale

    def add_parameters(self) -> None:
        """Make the standard deviations."""
        self.scale = PyroModule()
        for name, site in self.prototype_trace.iter_stochastic_nodes():
            if name.split(".")[0] == self._part:
                start = torch.full_like(site["value"], self._init_scale)
                positive = PyroParam(start, constraints.softplus_positive, site["fn"].event_dim)
                deep_setattr(self.scale, name, positive)

    def _distribution(self, name: str, event_dim: int) -> TorchDistribution:
        if name.split(".")[0] != self._part:
            return super()._distribution(name, event_dim)
        location, scale = operator.attrgetter(name)(self), operator.attrgetter(name)(self.scale)
        return dist.Normal(location, scale).to_event(event_dim)

    def scales(self) -> dict[str, Tensor]:
        """The standard deviations of the normal sites."""
        return {
            name: operator.attrgetter(name)(self.scale)
            for name, _ in self.prototype_trace.iter_stochastic_nodes()
            if name.split(".")[0] == self._part
        }
