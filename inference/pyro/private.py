"""Every contact with parts of Pyro that it does not document, each in one place: they hold for Pyro 1.9.2.

`tests/inference/pyro/test_private.py` fails if one of these names is gone, or if Pyro has another version.

- `handlers_in_force` reads ``pyro.poutine.runtime._PYRO_STACK``.  A message through the handlers tells what
  they do to a site, but not which handlers they are.
- `dimension_of_values` reads the key ``_enumerate_dim`` of a site's ``infer``, where
  `pyro.poutine.enum_messenger.EnumMessenger` notes it.
- `OfPreparedModels` overrides ``_get_traces`` of Pyro's ELBOs: the one place through which loss, gradients,
  marginals and posterior draws all pass.
- `PointGuide` overrides and calls ``_setup_prototype`` of `pyro.infer.autoguide.AutoDelta`: guides learn
  which sites there are when they are called first, and have no hook for it.
- `sites_of` reads ``_pyro_samples`` of `pyro.nn.PyroModule`: the attributes that are still sites.
- `belongs_to` reads ``_pyro_context`` of PyroModule: the sites of a module are sites only within its context,
  which is that of the module that was given it last.
- `calling_module` and `is_called_from` read ``sys._getframe``, which is CPython's: a tensor does not know who
  looks at it, nor a handler that `torch.jit` will record what it does next.

What Pyro does document serves elsewhere: `pyro.poutine.runtime.effectful` and ``get_plates``, the methods
``_pyro_sample`` of messengers, and `pyro.ops.provenance`.
"""

import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from pyro.infer.autoguide import AutoDelta
from pyro.nn import PyroModule
from pyro.poutine.messenger import Messenger
from pyro.poutine.runtime import _PYRO_STACK

PYRO_VERSION = "1.9.2"

Model = Callable[..., Any]


def handlers_in_force() -> Iterator[Messenger]:
    """The effect handlers around the place that runs now, the outermost first."""
    return iter(_PYRO_STACK)


def dimension_of_values(msg: Any) -> int | None:
    """The dimension in which a site's values are enumerated, if they are.

    :param msg: the message of the site.
    """
    return (msg["infer"] or {}).get("_enumerate_dim")


def sites_of(module: PyroModule) -> dict[str, Any]:
    """The `PyroSample` attributes of a module and their priors; those of modules in it do not count."""
    return vars(module).get("_pyro_samples", {})


class OfPreparedModels:
    """Mixed into an ELBO, left of Pyro's class: it takes each model as `prepared` returns it."""

    def prepared(self, model: Model) -> Model:
        """The model that is traced in place of a model."""
        raise NotImplementedError

    def _get_traces(self, model: Model, guide: Model, args: Any, kwargs: Any) -> Any:
        return super()._get_traces(self.prepared(model), guide, args, kwargs)  # type: ignore[misc]


class PointGuide(AutoDelta):
    """`pyro.infer.autoguide.AutoDelta` in steps that classes derived from it may override."""

    def know_sites(self, *args: Any, **kwargs: Any) -> None:
        """Run the model once, if it has not been run, to see which sites it has.

        Arguments are those of the model.
        """
        if self.prototype_trace is None:
            self._setup_prototype(*args, **kwargs)

    def add_parameters(self) -> None:
        """Make further parameters: called once, when the sites are known."""

    def _setup_prototype(self, *args: Any, **kwargs: Any) -> None:
        super()._setup_prototype(*args, **kwargs)
        self.add_parameters()


def belongs_to(part: PyroModule, whole: PyroModule) -> bool:
    """Whether the sites and parameters of a module are those of another module that it is in."""
    return part._pyro_context is whole._pyro_context


def is_called_from(module: str) -> bool:
    """Whether some function of a module has not returned.

    :param module: its full name.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") != module:
        frame = frame.f_back
    return frame is not None


def calling_module(depth: int) -> str:
    """The name of the module that called a function.

    :param depth: 1 for the caller of the function that calls this, 2 for that function's caller, and so on.
    """
    return str(sys._getframe(depth + 1).f_globals.get("__name__", ""))
