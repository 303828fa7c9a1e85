"""The private parts of Pyro that this package uses are there, and do what it takes them to do."""

from typing import Any

import pyro
import pyro.distributions as dist
import torch
from pyro import poutine
from pyro.infer.autoguide import AutoDelta
from pyro.nn import PyroModule, PyroSample
from pyro.poutine.messenger import Messenger
from torch import Tensor

from pyropunct.inference.pyro import private
from pyropunct.inference.pyro.private import (
    PYRO_VERSION,
    belongs_to,
    make_sites,
    sites_of,
)


def test_pyro_has_the_version_that_the_contacts_were_checked_with() -> None:
    assert pyro.__version__ == PYRO_VERSION
    assert PYRO_VERSION in str(private.__doc__)


def test_a_site_that_is_open_is_not_traced() -> None:
    """What is said of the site is asked when the site is made, not before."""

    class Late:
        def __init__(self, msg: dict[str, object]) -> None:
            self.msg = msg

        def __bool__(self) -> bool:
            return bool(self.msg["value"] == -1)

    class Opening(Messenger):
        def _pyro_sample(self, msg: dict[str, Any]) -> None:
            msg["value"], msg["done"] = torch.tensor(-1), True
            msg["infer"] |= {"_do_not_trace": Late(msg), "is_auxiliary": True}

    def opened() -> Tensor:
        with Opening():
            return pyro.sample("x", dist.Categorical(torch.ones(3)))

    assert not poutine.trace(opened).get_trace().stochastic_nodes
    given = poutine.condition(opened, {"x": torch.tensor(2)})
    assert poutine.trace(given).get_trace().nodes["x"]["value"] == 2


def test_the_sites_of_a_module_are_made_once() -> None:
    module = PyroModule[torch.nn.Sequential](PyroModule())
    module[0].weight = PyroSample(dist.Normal(0.0, 1.0))
    with poutine.trace() as tracer, module._pyro_context:
        make_sites(module)
        assert module[0].weight is tracer.trace.nodes["0.weight"]["value"]


def test_the_sites_of_a_module() -> None:
    module = PyroModule()
    assert sites_of(module) == {}
    module.weight = PyroSample(dist.Normal(0.0, 1.0))
    assert list(sites_of(module)) == ["weight"]
    assert sites_of(module) is module._pyro_samples


def test_a_guide_learns_its_sites() -> None:
    guide = AutoDelta(lambda: pyro.sample("weight", dist.Normal(0.0, 1.0)))
    assert guide.prototype_trace is None
    guide._setup_prototype()
    assert list(guide.prototype_trace.stochastic_nodes) == ["weight"]


def test_the_module_that_a_part_belongs_to() -> None:
    first, second, part = PyroModule(), PyroModule(), PyroModule()
    first.part = part
    assert belongs_to(part, first)
    second.part = part
    assert belongs_to(part, second)
    assert not belongs_to(part, first)
