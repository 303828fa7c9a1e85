"""Guides for models with very many weights."""

import itertools

import pyro
import pyro.distributions as dist
import pytest
import torch
from pyro.infer import Trace_ELBO
from pyro.infer.autoguide.initialization import init_to_median

from pyropunct.inference.pyro.svi import Point, normal_in

SEEN = [0.3, 1.1, -0.4, 2.0]


def model() -> None:
    """Two weights x and one y, with which both of them are correlated in the posterior."""
    x = pyro.sample("channel.x", dist.Normal(torch.zeros(2), 1.0).to_event(1))
    y = pyro.sample("attach.y", dist.Normal(torch.tensor(0.0), 1.0))
    pyro.sample("few", dist.Normal(x[0] + y, 0.5), obs=torch.tensor(SEEN[0]))
    pyro.sample("more", dist.Normal((x[1] + y).expand(3), 0.5).to_event(1), obs=torch.tensor(SEEN[1:]))


def test_scales_are_those_of_the_mean_field_posterior(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ELBO is greatest with the inverse of the precision matrix's diagonal as variances."""
    guide = normal_in("channel", model, init_to_median)
    guide()
    precision = torch.tensor([[5.0, 0, 4], [0, 13, 12], [4, 12, 17]])  # 1 + 4 n on the diagonal
    means = torch.linalg.solve(precision, 4 * torch.tensor([SEEN[0], sum(SEEN[1:]), sum(SEEN)]))
    points, normals = guide
    points.attach.y, normals.locs.channel.x = means[2], means[:2]
    normals.scales.channel.x = precision.diagonal()[:2] ** -0.5
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
    """As Pyro's Delta does, but without a comparison of the point with itself."""
    point = Point(torch.tensor([1.0, torch.nan]), event_dim=1)
    assert point.log_prob(point.rsample()) == 0
    point = Point(torch.tensor([1.0, 2.0]), event_dim=1)
    assert point.log_prob(torch.tensor([1.0, 2.0])) == 0
    assert point.log_prob(torch.tensor([1.0, 3.0])) == -torch.inf
    assert point.expand((3,)).rsample().shape == (3, 2)
