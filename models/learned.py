"""Learned values of the sites of a Pyro module, set on the module itself.

A `pyro.nn.PyroSample` attribute is sampled whenever the module runs. Once it is *settled*, it is a plain
tensor: a buffer in the ``state_dict``, no longer a site.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import torch
from pyro.nn import PyroModule
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from pyropunct.inference.pyro.private import sites_of

Made = TypeVar("Made", bound=nn.Module)

OF_SCALE = " scale"
"""The suffix of the buffer with the posterior standard deviations of an attribute."""


class Place(NamedTuple):
    """The attribute to which a value belongs."""

    owner: PyroModule
    attribute: str


def settle(
    module: nn.Module, values: Mapping[str, Tensor], scales: Mapping[str, Tensor] | None = None
) -> None:
    """Replace all `PyroSample` attributes of a module and its submodules by tensors; settled ones get new
    values.

    Sparse values stay sparse if the module lists the attribute in ``may_be_sparse``.

    :param values: a value for each site, by its name in Pyro: the path of the attribute.
    :param scales: posterior standard deviations of some or all sites.
    :raises ValueError: if a site has no value, a value has no site, or a shape differs.
    """
    scales = {} if scales is None else scales
    found = places(module) | places(module, sites_of)
    shapes = {name: shape for name, place in found.items() if (shape := _shape(place)) is not None}
    for name in sorted(values.keys() - shapes.keys()):
        raise ValueError(f"{name} cannot be kept: it is no PyroSample attribute of the model")
    for name, shape in shapes.items():
        if name not in values:
            raise ValueError(f"the site {name} has no value")
        for value in (values[name], scales.get(name, values[name])):
            if value.shape != shape or not value.is_floating_point():
                raise ValueError(f"the value of the site {name} is no tensor of numbers of the shape {shape}")
        _set(found[name], values[name], scales.get(name))


def learned_values(module: nn.Module) -> dict[str, Tensor]:
    """The values of all settled sites in a module, by their names."""
    return {name: getattr(*place) for name, place in places(module).items()}


def learned_scales(module: nn.Module) -> dict[str, Tensor]:
    """The posterior standard deviations of the settled sites of a module, where they are known."""
    return {
        name: getattr(owner, attribute + OF_SCALE)
        for name, (owner, attribute) in places(module).items()
        if hasattr(owner, attribute + OF_SCALE)
    }


def require_like(name: str, tensor: Tensor, wanted: Tensor) -> None:
    """Raises ValueError if a saved tensor differs from another in shape or kind of numbers."""
    if tensor.shape != wanted.shape:
        raise ValueError(f"{name} is of the shape {tuple(tensor.shape)}, not {tuple(wanted.shape)}")
    if tensor.dtype != wanted.dtype and not (tensor.is_floating_point() and wanted.is_floating_point()):
        raise ValueError(f"{name} has numbers of the type {tensor.dtype}, not {wanted.dtype}")


def require_names(names: Iterable[str], wanted: Iterable[str]) -> None:
    """Raises ValueError if a wanted tensor is missing, or another is there."""
    for name in sorted(set(names) ^ set(wanted)):
        raise ValueError(f"the tensor {name} is missing, or is not expected")


def require_rows(name: str, probabilities: Tensor) -> None:
    """Raises ValueError if a row of a table is not a distribution."""
    if not bool((probabilities >= 0).all()) or bool(((probabilities.sum(-1) - 1).abs() > 1e-3).any()):
        raise ValueError(f"{name} has a row that is no distribution")


class _Unfilled(TorchFunctionMode):
    """Skips initial values, which take time, and on the meta device would import the compiler."""

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        room = getattr(function, "__module__", None)
        if function in (Tensor.normal_, Tensor.uniform_) or room == "torch.nn.init":
            return args[0] if args else kwargs["tensor"]
        return function(*args, **kwargs)


def filled(make: Callable[[], Made], tensors: Mapping[str, Tensor]) -> Made:
    """A module with copies of saved tensors; sizes are compared before memory is allocated.

    :raises ValueError: if a tensor is missing, superfluous, or of a wrong size or type.
    """
    with torch.device("meta"), _Unfilled():
        module = make()
    wanted = module.state_dict()
    require_names(tensors, wanted)
    for name, tensor in tensors.items():
        require_like(name, tensor, wanted[name])
    copies = {name: tensor.to(wanted[name].dtype, copy=True) for name, tensor in tensors.items()}
    module.load_state_dict(copies, assign=True)
    return module


def check_buffers(module: nn.Module) -> None:
    """Call ``check_buffers`` of all submodules that have it; it raises ValueError for impossible buffers."""
    for part in module.modules():
        check = getattr(type(part), "check_buffers", None)
        if check is not None:
            check(part)


def fixed_names(module: nn.Module) -> set[str]:
    """The names in the module's ``state_dict`` other than those of learned values and scales."""
    return module.state_dict().keys() - {name + of for name in places(module) for of in ("", OF_SCALE)}


@contextmanager
def other_values(module: nn.Module, values: Mapping[str, Tensor]) -> Iterator[None]:
    """Give settled sites other values within a context; joint values have dimensions on the left.

    :raises KeyError: if a name is not a settled site.
    """
    settled = places(module)
    found = [(settled[name], value) for name, value in values.items()]
    before = [(place, getattr(*place)) for place, _ in found]
    try:
        for place, value in found:
            setattr(*place, value)
        yield
    finally:
        for place, value in before:
            setattr(*place, value)


def _settled(owner: PyroModule) -> Iterable[str]:
    return vars(owner).get("_settled", ())


def places(module: nn.Module, listed: Callable[[PyroModule], Iterable[str]] = _settled) -> dict[str, Place]:
    """The attributes that modules within a module list: settled ones, or those still sites (`sites_of`)."""
    return {
        f"{path}.{attribute}" if path else attribute: Place(owner, attribute)
        for path, owner in module.named_modules()
        if isinstance(owner, PyroModule)
        for attribute in listed(owner)
    }


def _shape(place: Place) -> tuple[int, ...] | None:
    """The shape of a value, None if it follows from other sites."""
    owner, attribute = place
    prior: Any = sites_of(owner).get(attribute)
    if prior is None:
        return tuple(getattr(owner, attribute).shape)
    if not hasattr(prior, "sample"):
        prior = prior(owner)
    return None if isinstance(prior, Tensor) else tuple(prior.shape())


def _set(place: Place, value: Tensor, scale: Tensor | None) -> None:
    owner, attribute = place
    if attribute in sites_of(owner):
        delattr(owner, attribute)
        owner._settled = (*_settled(owner), attribute)
    sparse = attribute in getattr(owner, "may_be_sparse", ())
    owner.register_buffer(attribute, value if sparse else value.to_dense())
    if scale is not None:
        owner.register_buffer(attribute + OF_SCALE, scale)
