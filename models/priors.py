"""Priors of weights."""

import math
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyro.distributions as dist
import torch
from pyro.distributions import TorchDistribution, constraints
from pyro.nn import PyroModule
from pyro.poutine.messenger import Messenger
from torch import Tensor

from pyropunct.errors import VariantError
from pyropunct.inference.ragged import Array


class NormalPrior:
    """A normal prior of a `pyro.nn.PyroSample`: a function of its module, which can be pickled.

    Its mean is a copy: a guide that starts at the mean trains that tensor, and the prior must stay.

    :param mean: a tensor, or the name of a buffer of the module.
    """

    def __init__(self, mean: Tensor | str, scale: float) -> None:
        self._mean, self._scale = mean, scale

    def __call__(self, module: PyroModule) -> dist.TorchDistribution:
        """The prior in a module."""
        mean = module._buffers.get(self._mean) if isinstance(self._mean, str) else self._mean
        if mean is None:
            raise VariantError(f"the prior mean {self._mean!r} has the name of a site: choose another")
        return dist.Normal(mean.clone(), self._scale).to_event(mean.dim())


class PriorShares(NamedTuple):
    """The variables that count in the prior of a mini-batch, as U runs with equal shares.

    :ivar pick: picks these variables from all.
    :ivar share: (U,) how much each variable of a run counts; ``sizes``, (U,), the lengths of the runs.
    """

    pick: Callable[[Tensor], Tensor]
    share: Array
    sizes: Array


class IsotropicNormal(TorchDistribution):
    """Many independent normal variables with mean 0 and one standard deviation s::

        log p(theta) = - ||theta||^2 / (2 s^2) - size log(s sqrt(2 pi))

    Equals ``Normal(0, s).expand([size]).to_event(1)``, but reads theta once.

    :param scale: s.
    :param like: a tensor on the device of the samples.
    :param shares: sum log p only over the variables that these pick, times their shares: an unbiased estimate
        if each is 1 on average. The gradient is as sparse as that of ``shares.pick``.
    """

    arg_constraints: ClassVar[dict[str, Any]] = {}
    support = constraints.real_vector

    def __init__(self, size: int, scale: float, like: Tensor, shares: PriorShares | None = None) -> None:
        self.scale, self.like, self._shares = scale, like, shares
        super().__init__(torch.Size(), torch.Size([size]), validate_args=False)

    def expand(self, batch_shape: torch.Size, _instance: Any = None) -> "IsotropicNormal":
        """Return itself; batches raise NotImplementedError."""
        if len(batch_shape):
            raise NotImplementedError("an IsotropicNormal has no batch")
        return self

    @property
    def mean(self) -> Tensor:
        """Zeros."""
        return torch.zeros(self.event_shape, device=self.like.device)

    @property
    def variance(self) -> Tensor:
        """s^2 everywhere."""
        return torch.full(self.event_shape, self.scale**2, device=self.like.device)

    def log_prob(self, value: Tensor) -> Tensor:
        """The formula above, for values of shape (..., size); with shares, for a value of shape (size,)."""
        constant = math.log(self.scale * math.sqrt(2 * math.pi))
        if self._shares is None:
            return -_HalfSquare.apply(value) / self.scale**2 - constant * self.event_shape[0]
        _, share, sizes = self._shares
        total = _SharedHalfSquare.apply(self._shares.pick(value), share, sizes)
        return -total / self.scale**2 - constant * float((share * sizes).sum())

    def rsample(self, sample_shape: torch.Size = torch.Size()) -> Tensor:  # noqa: B008
        """Draw all variables."""
        return self.scale * torch.randn(*sample_shape, *self.event_shape, device=self.like.device)

    has_rsample = True


class shared_prior(Messenger):  # noqa: N801  # handlers have small names in Pyro
    """Within ``with shared_prior(shares):``, each `IsotropicNormal` site has the prior of a mini-batch."""

    def __init__(self, shares: PriorShares) -> None:
        super().__init__()
        self._shares = shares

    def _pyro_sample(self, msg: Any) -> None:
        prior = msg["fn"]
        if isinstance(prior, IsotropicNormal):
            msg["fn"] = IsotropicNormal(prior.event_shape[0], prior.scale, prior.like, self._shares)


class _HalfSquare(torch.autograd.Function):
    """||x||^2 / 2 along the last dimension, with a gradient in one pass."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return torch.linalg.vecdot(x, x) / 2

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        return x * gradient.unsqueeze(-1)


class _SharedHalfSquare(torch.autograd.Function):
    """sum over m of share[m] x[m]^2 / 2, for runs of x with equal shares."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, share: Array, sizes: Array) -> Tensor:
        values = x.detach().cpu().numpy()
        weighted = torch.from_numpy(np.repeat(share.astype(values.dtype), sizes)).to(x.device).mul_(x)
        ctx.save_for_backward(weighted)
        return torch.dot(weighted, x) / 2

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (weighted,) = ctx.saved_tensors
        return weighted * gradient, None, None


class FullShapeMessenger(Messenger):
    """Refuses values of weights whose dimensions of plates are incomplete.

    A plate with ``dim=-2`` around a story has the trees on its right: its weights are (plate, 1, ...).
    Values (plate, ...) would be taken for those of trees.  `pyro.infer.Predictive` with ``parallel=True``
    makes such values of samples whose shape is that of one value.
    """

    def _pyro_post_sample(self, msg: Any) -> None:
        fn, value = msg["fn"], msg["value"]
        batch = tuple(value.shape[: value.dim() - fn.event_dim])
        if batch and len(batch) < len(fn.batch_shape):
            full = (*batch, *[1] * (len(fn.batch_shape) - len(batch)), *fn.event_shape)
            raise ValueError(
                f"site '{msg['name']}' has a value of shape {tuple(value.shape)} in plates of shape "
                f"{tuple(fn.batch_shape)}, the last of which is that of the trees: give it the shape {full}, "
                "for example by unsqueeze(1)"
            )
