"""Every contact with undocumented parts of Pyro and torch, each in one place: they hold for Pyro 1.9.2.

`tests/inference/pyro/test_private.py` fails if one of these names is gone, or if Pyro has another version.

- `pyropunct.inference.pyro.collapse` sets ``_do_not_trace`` in the ``infer`` of a site that is left open, as
  Pyro's guides do for auxiliary sites.
- `pyropunct.inference.pyro.svi.PointEstimate` calls ``_setup_prototype`` of `pyro.infer.autoguide.AutoDelta`,
  which finds the sites of the model.
- `sites_of` reads ``_pyro_samples`` of `pyro.nn.PyroModule`: the attributes that are still sites.
- `belongs_to` reads ``_pyro_context`` of PyroModule: the sites of a module are sites only within its context,
  that of the module to which it was assigned last.
- `pyropunct.inference.inside.refuse_transforms` asks ``torch._C._functorch`` whether a tensor is inside
  of a transform of `torch.func`.
- `untraced` asks whether ``torch._dynamo`` has been imported: nobody has called `torch.compile` before.

What Pyro does document serves elsewhere: the methods ``_pyro_sample`` of messengers, `pyro.ops.provenance`.
"""

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import torch
from pyro.nn import PyroModule

P = ParamSpec("P")
T = TypeVar("T")

PYRO_VERSION = "1.9.2"


def untraced(function: Callable[P, T]) -> Callable[P, T]:
    """Keep `torch.compile` from tracing a function.

    numba has compiled its sums already.  Tracing the code around them takes a minute and changes numbers.
    """
    disabled: list[Callable[P, T]] = []

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        if "torch._dynamo" not in sys.modules:  # to import it would take two seconds
            return function(*args, **kwargs)
        if not disabled:
            disabled.append(torch.compiler.disable(function))
        return disabled[0](*args, **kwargs)

    return run


def sites_of(module: PyroModule) -> dict[str, Any]:
    """The `PyroSample` attributes of a module and their priors, without its submodules."""
    return vars(module).get("_pyro_samples", {})


def make_sites(module: PyroModule) -> None:
    """Read all `PyroSample` attributes of a module and its submodules: later reads give the same values."""
    for part in module.modules():
        for name in sites_of(part) if isinstance(part, PyroModule) else ():
            getattr(part, name)


def belongs_to(part: PyroModule, whole: PyroModule) -> bool:
    """Whether a module's sites and parameters are named as parts of the whole module."""
    return part._pyro_context is whole._pyro_context
