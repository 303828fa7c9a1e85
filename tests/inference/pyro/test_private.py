"""The private parts of Pyro that this package uses are there, and do what it takes them to do."""

import inspect

import pyro
import pyro.distributions as dist
import pytest
import torch
from pyro import poutine
from pyro.infer import Trace_ELBO, TraceEnum_ELBO
from pyro.infer.autoguide import AutoDelta
from pyro.nn import PyroModule, PyroSample
from pyro.poutine.runtime import _PYRO_STACK

from pyropunct.inference.pyro import private
from pyropunct.inference.pyro.private import (
    PYRO_VERSION,
    Intervention,
    OfPreparedModels,
    PointGuide,
    belongs_to,
    sites_of,
    value_from_handlers,
)


def model() -> None:
    which = pyro.sample("which", dist.Categorical(torch.ones(3)), infer={"enumerate": "parallel"})
    pyro.sample("seen", dist.Normal(which.double(), 1.0), obs=torch.tensor(0.5))


def test_pyro_has_the_version_that_the_contacts_were_checked_with() -> None:
    assert pyro.__version__ == PYRO_VERSION
    assert PYRO_VERSION in str(private.__doc__)


def test_values_that_handlers_would_give() -> None:
    """They are asked in Pyro's order, and nothing is traced."""
    fn = dist.Normal(0.0, 1.0)
    one, two, three = (torch.tensor(float(value)) for value in (1, 2, 3))
    drawn = poutine.trace(lambda: pyro.sample("x", fn)).get_trace()
    assert value_from_handlers("x", fn) is None
    assert value_from_handlers("x", fn, three) is three
    with poutine.trace() as outer, poutine.condition(data={"x": one}):
        assert value_from_handlers("x", fn) is one
        assert value_from_handlers("x", fn, three) is one  # as pyro.sample has it
        assert value_from_handlers("y", fn) is None
        with poutine.replay(trace=drawn):
            assert value_from_handlers("x", fn) is one  # of the outer one
            assert value_from_handlers("x", fn, three) is one
        with poutine.block():
            assert value_from_handlers("x", fn) is None
        with poutine.trace() as inner, poutine.do(data={"x": two}):
            assert value_from_handlers("x", fn) == Intervention(two)
    with poutine.replay(trace=drawn), poutine.uncondition():
        assert value_from_handlers("x", fn) is drawn.nodes["x"]["value"]
        assert value_from_handlers("x", fn, three) is drawn.nodes["x"]["value"]
    assert not outer.trace.nodes
    assert not inner.trace.nodes
    assert list(_PYRO_STACK) == []


def test_the_sites_of_a_module() -> None:
    module = PyroModule()
    assert sites_of(module) == {}
    module.weight = PyroSample(dist.Normal(0.0, 1.0))
    assert list(sites_of(module)) == ["weight"]
    assert sites_of(module) is module._pyro_samples


@pytest.mark.parametrize("elbo", [Trace_ELBO, TraceEnum_ELBO])
def test_an_elbo_traces_the_prepared_model(elbo: type) -> None:
    traced = []

    class Prepared(OfPreparedModels, elbo):  # type: ignore[misc]
        def prepared(self, model: private.Model) -> private.Model:
            traced.append(model)
            return lambda: None

    given = {"strict_enumeration_warning": False}
    assert Prepared(max_plate_nesting=0, **given).loss(model, lambda: None) == 0
    assert traced == [model]
    assert list(inspect.signature(elbo._get_traces).parameters) == [
        "self",
        "model",
        "guide",
        "args",
        "kwargs",
    ]


def test_a_guide_adds_parameters_once() -> None:
    made = []

    class Guide(PointGuide):
        def add_parameters(self) -> None:
            made.append(list(self.prototype_trace.stochastic_nodes))

    guide = Guide(lambda: pyro.sample("weight", dist.Normal(0.0, 1.0)))
    guide()
    guide.know_sites()
    assert made == [["weight"]]
    assert callable(AutoDelta._setup_prototype)


def test_the_module_that_a_part_belongs_to() -> None:
    first, second, part = PyroModule(), PyroModule(), PyroModule()
    first.part = part
    assert belongs_to(part, first)
    second.part = part
    assert belongs_to(part, second)
    assert not belongs_to(part, first)
