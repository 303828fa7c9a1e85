"""A device that is not the CPU, emulated on it: its tensors do not mix with those of the CPU."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.optim import optimizer
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map

ELSEWHERE = torch.device("meta")
"""Its name: no kernel of torch can compute anything on tensors of this device, so that none gets past us."""

BETWEEN = ("aten::_to_copy", "aten::copy_")
"""What moves numbers from one device to another."""

INDEXING = ("aten::index.Tensor", "aten::index_put_", "aten::_index_put_impl_")
"""A tensor elsewhere may be indexed by tensors on the CPU, though not the other way round."""


class Away(Tensor):
    """A tensor elsewhere; ``here`` are its numbers."""

    here: Tensor

    @staticmethod
    def __new__(cls, here: Tensor) -> "Away":
        with _disable_current_modes():
            like = torch.empty(here.shape, dtype=here.dtype) if here.is_sparse else here
        away = Tensor._make_wrapper_subclass(
            cls, like.shape, like.stride(), like.storage_offset(), dtype=like.dtype, device=ELSEWHERE
        )
        away.here = here
        return away

    @property
    def is_sparse(self) -> bool:
        return self.here.is_sparse

    def _indices(self) -> "Away":
        return Away(self.here._indices())

    def _values(self) -> "Away":
        return Away(self.here._values())

    def tolist(self) -> Any:
        return self.here.tolist()

    def __repr__(self, **_: Any) -> str:
        return f"Away({self.here})"

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(func, args, kwargs or {})


def _run(func: Any, args: Any, kwargs: Any) -> Any:
    """Do an operation on the CPU, and put its results where they would be."""
    tensors = [value for value in tree_leaves((args, kwargs)) if isinstance(value, Tensor)]
    _check(func, args, tensors)
    args_here, kwargs_here = tree_map(_here, (args, kwargs))
    result = func(*args_here, **kwargs_here)
    device = kwargs.get("device")
    is_away = any(isinstance(value, Away) for value in tensors) if device is None else device == ELSEWHERE
    if func.name() == "aten::copy_":
        return args[0]
    if not is_away:
        return result
    known = {id(value.here): value for value in tensors if isinstance(value, Away)}  # changed in place
    return tree_map(lambda value: known[id(value)] if id(value) in known else _away(value), result)


def _here(value: Any) -> Any:
    if isinstance(value, torch.device):
        return torch.device("cpu")
    return value.here if isinstance(value, Away) else value


def _away(value: Any) -> Any:
    return Away(value) if isinstance(value, Tensor) else value


def _check(func: Any, args: Any, tensors: list[Tensor]) -> None:
    """Complain as a GPU would."""
    name = func.name()
    if any(value.is_meta and not isinstance(value, Away) for value in tensors):
        raise AssertionError(f"{name}: a tensor was made elsewhere behind our back")
    away = [value for value in tensors if isinstance(value, Away)]
    if not away or len(away) == len(tensors) or name in BETWEEN:
        return
    strict = tensors
    if name in INDEXING and isinstance(args[0], Away):
        strict = [args[0], *args[2:3]]
    may_be_number = torch.Tag.pointwise in func.tags or name in INDEXING
    for value in strict:
        is_fine = isinstance(value, Away) or (may_be_number and value.dim() == 0)
        if not is_fine:
            devices = [f"{tuple(value.shape)} on {value.device.type}" for value in tensors]
            raise RuntimeError(f"{name}: expected all tensors to be on the same device: {', '.join(devices)}")


class _Operations(TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(func, args, kwargs or {})


class _Functions(TorchFunctionMode):
    """Those that copy numbers of Python's to a device without an operation that could be caught."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if func is Tensor.new_tensor:
            return torch.tensor(args[1], dtype=args[0].dtype).to(args[0].device)
        if func is torch.tensor:
            device = kwargs.pop("device", None)
            return func(*args, **kwargs).to(device or "cpu")
        if func is Tensor.__getitem__ and isinstance(args[1], list):
            return args[0][torch.tensor(args[1])]
        return func(*args, **kwargs)


@contextmanager
def emulated_device() -> Iterator[torch.device]:
    """The device, as long as the context lasts."""
    supported = optimizer._get_fused_kernels_supported_devices
    optimizer._get_fused_kernels_supported_devices = lambda: [*supported(), ELSEWHERE.type]
    try:
        with _Operations(), _Functions():
            yield ELSEWHERE
    finally:
        optimizer._get_fused_kernels_supported_devices = supported


@contextmanager
def other_device(name: str) -> Iterator[torch.device]:
    """The emulated device, or a GPU; what needs the latter is skipped where there is none."""
    if name == "emulated":
        with emulated_device() as device:
            yield device
        return
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    yield torch.device(name)


def is_on(tensor: Tensor, device: torch.device) -> bool:
    """Whether a tensor is there; what torch makes behind the back of an emulated device is not."""
    return tensor.device.type == device.type and (device != ELSEWHERE or isinstance(tensor, Away))
