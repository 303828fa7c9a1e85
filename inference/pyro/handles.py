"""Handles: numbers that stand for choices which are summed out, and numbers computed from them."""

from functools import partial
from types import FunctionType
from typing import Any

from pyro.ops.provenance import ProvenanceTensor, detach_provenance, get_provenance
from pyro.poutine.messenger import Messenger
from pyro.poutine.runtime import effectful
from torch import Tensor
from torch.distributions import Distribution, Transform
from torch.utils._pytree import tree_map

from pyropunct.inference.pyro.private import calling_module

_MOVES = frozenset(
    (
        "__getitem__", "__iter__", "broadcast_tensors", "broadcast_to", "cat", "chunk", "clone", "concat",
        "concatenate", "contiguous", "detach", "expand", "expand_as", "flatten", "flip", "gather",
        "hstack", "index_copy", "index_select", "movedim", "narrow", "permute", "reshape", "select",
        "split", "squeeze", "stack", "take", "take_along_dim", "tensor_split", "to", "transpose", "unbind",
        "unflatten", "unsqueeze", "view", "view_as",
    )
)  # fmt: skip
"""Functions that move handles about, and leave each as it is."""

_LOOKS = frozenset(
    (
        "__array__", "__bool__", "__complex__", "__contains__", "__float__", "__index__", "__int__",
        "allclose", "equal", "is_nonzero", "item", "numpy", "tolist",
    )
)  # fmt: skip
"""Functions that make Python values of tensors."""


class UndecidedError(NotImplementedError):
    """A computation needs choices that are summed out, and so have no values."""


class Handles(ProvenanceTensor):
    """Numbers that stand for choices, or that have been computed from such numbers.

    They may be moved about: indexed, stacked, reshaped.  The results of all other computations are no longer
    `moved_only`, but still know the sites that they come from.  No Python values can be made of them.

    :ivar moved_only: whether these are still handles.
    """

    moved_only: bool

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call the function, and mark its results as handles or not.

        :raises UndecidedError: if Python values are wanted, or if numbers are computed outside of the
            handler, which then cannot see the sites that depend on them.
        """
        name = getattr(func, "__name__", "")
        # Distributions look at their arguments only to see if they are valid; then the site is refused.
        if name in _LOOKS and not calling_module(1).startswith(_VALIDATING):
            raise _undecided(name, args, kwargs)
        try:
            result = super().__torch_function__(func, types, args, kwargs)
        except (IndexError, RuntimeError) as error:  # handles are far outside of every table
            raise _undecided(name, args, kwargs) from error
        kept = name in _MOVES and all(_is_moved(each) for each in _tracked([args, kwargs or {}]))
        if not kept and _tracked(result) and not are_watched():
            raise _undecided(name, args, kwargs)
        return tree_map(partial(_marked, moved_only=kept), result)


_VALIDATING = ("torch.distributions.", "pyro.")
"""Modules that look at values only to validate them."""


@effectful(type="are_watched")
def are_watched() -> bool:
    """Whether a handler looks at all sites for dependence on handles."""
    return False


class HandlesMessenger(Messenger):
    """A handler that looks at all sites for dependence on handles."""

    def _pyro_are_watched(self, msg: Any) -> None:
        msg["value"], msg["done"], msg["stop"] = True, True, True


def _undecided(name: str, args: Any, kwargs: Any) -> UndecidedError:
    sites = sorted(get_provenance([args, kwargs or {}]))
    return UndecidedError(
        f"{name} needs the choices of the tree-enumerated sites {sites}, which are summed out: under tree "
        "enumeration they may be moved about, and feed observed surface sites and tree_expectation alone"
    )


def handles(values: Tensor, site: str) -> Handles:
    """Values as the handles of a site."""
    return _marked(ProvenanceTensor(values, frozenset({site})), True)


def are_handles(values: Any) -> bool:
    """Whether values are handles that have only been moved about."""
    return isinstance(values, Handles) and values.moved_only


def _is_moved(value: Any) -> bool:
    return not isinstance(value, ProvenanceTensor) or are_handles(value)


def _marked(value: Any, moved_only: bool) -> Any:
    if not isinstance(value, ProvenanceTensor):
        return value
    result = Handles(detach_provenance(value), get_provenance(value))
    result.moved_only = moved_only
    return result


def _tracked(value: Any) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [part for each in value for part in _tracked(each)] if isinstance(value, (list, tuple)) else []


def origins(value: Any) -> frozenset[str]:
    """The sites whose handles a value depends on.

    They are looked for in tensors, containers, distributions and transforms within one another, and in the
    defaults and enclosed variables of functions.
    """
    return _origins(value, set())


def _origins(value: Any, visited: set[int]) -> frozenset[str]:
    if isinstance(value, Tensor):
        return get_provenance(value)
    if id(value) in visited:
        return frozenset()
    visited.add(id(value))
    return frozenset().union(*(_origins(part, visited) for part in _parts(value)))


def _parts(value: Any) -> list[Any]:
    """The parts of a value that may depend on handles."""
    if isinstance(value, (list, tuple, set, frozenset)):
        return list(value)
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, partial):
        return [value.func, value.args, value.keywords]
    if isinstance(value, FunctionType):
        return [value.__defaults__, *(_content(cell) for cell in value.__closure__ or ())]
    if isinstance(value, (Distribution, Transform)):
        return list(vars(value).values())
    return []


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # the variable has no value yet
        return None
