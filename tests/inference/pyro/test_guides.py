"""Guides for models with very many weights."""

import itertools

import pyro
import pyro.distributions as dist
import pytest
import torch
from pyro.infer import Trace_ELBO

from pyropunct.inference.pyro.svi import NormalInPart, Point

SEEN = [0.3, 1.1, -0.4, 2.0]


def model() -> None:
    """Two weights x and one y, with which both of them are correlated in the posterior."""
    x = pyro.sample("channel.x", dist.Normal(torch.zeros(2), 1.0).to_event(1))
    y = pyro.sample("attach.y", dist.Normal(torch.tensor(0.0), 1.0))
    pyro.sample("few", dist.Normal(x[0] + y, 0.5), obs=torch.tensor(SEEN[0]))
    pyro.sample("more", dist.Normal((x[1] + y).expand(3), 0.5).to_event(1), obs=torch.tensor(SEEN[1:]))


def test_scales_are_those_of_the_mean_field_posterior(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ELBO is greatest with the inverse of the precision matrix's diagonal as variances."""
    guide = NormalInPart(model, part="channel")
    guide()
    precision = torch.tensor([[5.0, 0, 4], [0, 13, 12], [4, 12, 17]])  # 1 + 4 n on the diagonal
    means = torch.linalg.solve(precision, 4 * torch.tensor([SEEN[0], sum(SEEN[1:]), sum(SEEN)]))
    guide.channel.x, guide.attach.y = means[:2], means[2]
    guide.scale.channel.x = precision.diagonal()[:2] ** -0.5
    assert guide.scales().keys() == {"channel.x"}
    parameters = list(guide.parameters())
    assert sum(parameter.numel() for parameter in parameters) == 5
    total = 0.0
    for signs in itertools.product((-1.0, 1.0), repeat=2):
        noise = torch.tensor(signs)
        monkeypatch.setattr(
            "torch.distributions.normal._standard_normal", lambda *_, noise=noise, **__: noise
        )
        total = total + Trace_ELBO().differentiable_loss(model, guide)
    for gradient in torch.autograd.grad(total, parameters):
        torch.testing.assert_close(gradient, torch.zeros_like(gradient), atol=1e-6, rtol=0)


def test_a_point_knows_equal_values() -> None:
    point = Point(torch.tensor([1.0, 2.0]), 1)
    assert point.log_prob(torch.tensor([1.0, 2.0])) == 0
    with pytest.raises(ValueError, match=r"^a Point knows only its own value$"):
        point.log_prob(torch.tensor([1.0, 3.0]))
