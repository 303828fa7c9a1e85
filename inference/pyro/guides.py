"""Guides for models with very many weights."""

import operator
from typing import Any, ClassVar

import pyro
import torch
from pyro.distributions import TorchDistribution, constraints
from pyro.infer.autoguide import AutoDelta
from torch import Tensor


class Point(TorchDistribution):
    """All probability on one point, whose log-density at that very tensor is taken to be 0.

    What `pyro.distributions.Delta` is, without its comparison of every element, which for tens of millions
    of weights costs more than the rest of a training step.

    :param value: the point.
    :param event_dim: how many of its dimensions on the right belong to one event.
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
        """0, for the point itself.

        :raises ValueError: for any other tensor.
        """
        if value is not self.value and value.data_ptr() != self.value.data_ptr():
            raise ValueError("a Point knows only its own value")
        return self.value.new_zeros(self.batch_shape)


class PointEstimate(AutoDelta):
    """`pyro.infer.autoguide.AutoDelta` with `Point` for `Delta`: maximum a posteriori, for real-valued sites.

    For models whose latent sites are outside of plates.
    """

    def forward(self, *args: Any, **kwargs: Any) -> dict[str, Tensor]:
        """Put every site at its current estimate."""
        if self.prototype_trace is None:
            self._setup_prototype(*args, **kwargs)
        return {
            name: pyro.sample(name, Point(operator.attrgetter(name)(self), site["fn"].event_dim))
            for name, site in self.prototype_trace.iter_stochastic_nodes()
        }
