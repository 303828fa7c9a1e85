"""The private parts of Pyro that this package uses are there, and do what it takes them to do."""

import inspect
from collections.abc import Iterator

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
    OfPreparedModels,
    PointGuide,
    belongs_to,
    calling_module,
    dimension_of_values,
    handlers_in_force,
    is_called_from,
    sites_of,
)


def model() -> None:
    which = pyro.sample("which", dist.Categorical(torch.ones(3)), infer={"enumerate": "parallel"})
    pyro.sample("seen", dist.Normal(which.double(), 1.0), obs=torch.tensor(0.5))


def test_pyro_has_the_version_that_the_contacts_were_checked_with() -> None:
    assert pyro.__version__ == PYRO_VERSION
    assert PYRO_VERSION in str(private.__doc__)


def test_handlers_in_force() -> None:
    outer, inner = poutine.trace(), poutine.block()
    assert list(handlers_in_force()) == []
    with outer, inner:
        assert list(handlers_in_force()) == [outer, inner] == _PYRO_STACK


def test_the_dimension_of_enumerated_values() -> None:
    trace = poutine.trace(poutine.enum(model, first_available_dim=-3)).get_trace()
    assert dimension_of_values(trace.nodes["which"]) == -3
    assert dimension_of_values(trace.nodes["seen"]) is None


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


def test_functions_that_have_not_returned() -> None:
    seen = list(map(is_called_from, (__name__, "pytest", "pyro.ops.jit")))
    assert seen == [True, False, False]
    with pytest.warns(DeprecationWarning, match=r"torch\.jit\.trace"):
        pyro.ops.jit.trace(lambda x: seen.append(is_called_from("pyro.ops.jit")) or x)(torch.ones(1))
    assert seen[3:] == [True, True]


def test_the_calling_module() -> None:
    def callers() -> Iterator[str]:
        yield calling_module(0)
        yield calling_module(1)

    assert list(callers()) == [__name__, __name__]
    assert list(torch.utils._pytree.tree_map(lambda _: calling_module(1), [0])) != [__name__]
