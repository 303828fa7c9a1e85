"""Every contact with undocumented parts of Pyro and torch, each in one place: they hold for Pyro 1.9.2.

`tests/inference/pyro/test_private.py` fails if one of these names is gone, or if Pyro has another version.

- `pyropunct.inference.pyro.collapse` sets ``_do_not_trace`` in the ``infer`` of a site that is left open, as
  Pyro's guides do for auxiliary sites.
- `PointGuide` overrides and calls ``_setup_prototype`` of `pyro.infer.autoguide.AutoDelta`: guides learn
  which sites there are when they are called first, and have no hook for it.
- `sites_of` reads ``_pyro_samples`` of `pyro.nn.PyroModule`: the attributes that are still sites.
- `belongs_to` reads ``_pyro_context`` of PyroModule: the sites of a module are sites only within its context,
  which is that of the module that was given it last.

- `pyropunct.inference.inside.refuse_transforms` asks ``torch._C._functorch`` whether a tensor is inside
  of a transform of `torch.func`.

What Pyro does document serves elsewhere: the methods ``_pyro_sample`` of messengers, `pyro.ops.provenance`.
"""

from typing import Any

from pyro.infer.autoguide import AutoDelta
from pyro.nn import PyroModule

PYRO_VERSION = "1.9.2"


def sites_of(module: PyroModule) -> dict[str, Any]:
    """The `PyroSample` attributes of a module and their priors; those of modules in it do not count."""
    return vars(module).get("_pyro_samples", {})


def make_sites(module: PyroModule) -> None:
    """Read all `PyroSample` attributes of a module and of those in it: later reads give the same values."""
    for part in module.modules():
        for name in sites_of(part) if isinstance(part, PyroModule) else ():
            getattr(part, name)


class PointGuide(AutoDelta):
    """`pyro.infer.autoguide.AutoDelta` in steps that classes derived from it may override."""

    def know_sites(self, *args: Any, **kwargs: Any) -> None:
        """Run the model once, if it has not been run, to see which sites it has."""
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
