"""Tensors in fewer bytes, from which exactly the same tensors can be made again.

A tensor is stored as it is, or as a dictionary:

- few numbers among zeros, as the numbers and the gaps between them: ``halves``, (G,) ``float16``; ``gaps``,
  (G,) ``uint8``, how many zeros come before each; ``size``, how many numbers there are with the zeros.  Where
  a gap is longer than 255, one of the numbers is a zero (as in Han, Mao & Dally 2016, "Deep Compression").
- whole numbers that ascend from 0, by ``steps`` of ``int16``;
- numbers of double precision that are all of single precision, as these: ``singles``.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

SHARE = 0.75
"""A vector is stored with gaps if a smaller share of it is not zero."""

KINDS = frozenset({torch.float, torch.double, torch.bool, torch.uint8, torch.int8, torch.int, torch.long})
"""The types of numbers in our tensors: compiled code knows no others."""

GAP = 255
"""The longest gap."""

LARGEST = 2**29
"""More numbers than any vector of ours has: a folder that claims to have more is refused."""


def small(tensors: Mapping[str, Tensor]) -> dict[str, Any]:
    """The tensors as they are stored."""
    return {name: _small(tensor.detach().cpu()) for name, tensor in tensors.items()}


def whole(stored: Mapping[str, Any]) -> dict[str, Tensor]:
    """The tensors that `small` was given.

    :raises ValueError: if it was given none such.
    """
    return {name: _whole(name, one) for name, one in stored.items()}


def _small(tensor: Tensor) -> Any:
    if tensor.dtype == torch.float and tensor.dim() == 1 and len(tensor) <= LARGEST:
        places = tensor.nonzero()[:, 0]
        few = len(places) < SHARE * len(tensor)
        if few and torch.equal(tensor[places], tensor[places].half().float()):
            return _with_gaps(tensor, places)
    if tensor.dtype == torch.long and tensor.dim() == 1 and len(tensor) and tensor[0] == 0:
        steps = tensor.diff()
        if not len(steps) or (steps.min() >= 0 and steps.max() < 2**15):
            return {"steps": steps.to(torch.int16)}
    if tensor.dtype == torch.double and torch.equal(tensor, tensor.float().double()):
        return {"singles": tensor.float()}
    return tensor.clone()  # without what else its storage may hold


def _with_gaps(tensor: Tensor, places: Tensor) -> dict[str, Any]:
    """A vector by its gaps, with zeros in those that are too long."""
    start = torch.tensor([-1])
    before = torch.cat([start, places[:-1]])[: len(places)]
    extra = (places - before - 1) // (GAP + 1)  # zeros that are needed before each number
    number = torch.repeat_interleave(torch.arange(len(places)), extra)
    first = extra.cumsum(0) - extra
    nth = torch.arange(len(number)) - first[number] + 1
    written = torch.cat([places, before[number] + nth * (GAP + 1)]).sort().values
    gaps = torch.cat([start, written]).diff() - 1
    return {"gaps": gaps.to(torch.uint8), "halves": tensor[written].half(), "size": len(tensor)}


def _whole(name: str, stored: Any) -> Tensor:
    if isinstance(stored, Tensor):
        _check_kind(name, stored)
        return stored
    made = FORMS.get(frozenset(stored)) if isinstance(stored, dict) else None
    if made is None:
        raise ValueError(f"{name} is no tensor")
    return made(name, **stored)


def _check_kind(name: str, tensor: Tensor) -> None:
    """Refuse what none of our tensors is."""
    if tensor.layout != torch.strided or tensor.device.type != "cpu" or tensor.dtype not in KINDS:
        raise ValueError(f"{name} is a tensor of a foreign kind")
    size = tensor.numel() * tensor.element_size()
    if size > tensor.untyped_storage().nbytes() or tensor.numel() > LARGEST:
        raise ValueError(f"{name} has more numbers than are stored of it, or too many")


def _from_gaps(name: str, gaps: Any, halves: Any, size: Any) -> Tensor:
    _check(name, gaps, torch.uint8)
    _check(name, halves, torch.half)
    places = (gaps.long() + 1).cumsum(0) - 1
    least = int(places[-1]) + 1 if len(places) else 0
    if type(size) is not int or not least <= size <= LARGEST or len(gaps) != len(halves):
        raise ValueError(f"{name} has numbers outside of itself, or too many")
    tensor = torch.zeros(size, dtype=torch.float)
    tensor[places] = halves.float()
    return tensor


def _from_steps(name: str, steps: Any) -> Tensor:
    _check(name, steps, torch.int16)
    if len(steps) and steps.min() < 0:
        raise ValueError(f"{name} does not ascend")
    return torch.nn.functional.pad(steps.long().cumsum(0), (1, 0))


def _from_singles(name: str, singles: Any) -> Tensor:
    _check(name, singles, torch.float, None)
    return singles.double()


FORMS: dict[frozenset[str], Callable[..., Tensor]] = {
    frozenset({"gaps", "halves", "size"}): _from_gaps,
    frozenset({"steps"}): _from_steps,
    frozenset({"singles"}): _from_singles,
}
"""What makes the tensor of each kind of dictionary."""


def _check(name: str, tensor: Any, dtype: torch.dtype, dimensions: int | None = 1) -> None:
    if not isinstance(tensor, Tensor) or tensor.dtype != dtype or tensor.layout != torch.strided:
        raise ValueError(f"{name} is not stored as numbers of the type {dtype}")
    if dimensions is not None and tensor.dim() != dimensions:
        raise ValueError(f"{name} is not stored as a vector")
    if tensor.numel() * tensor.element_size() > tensor.untyped_storage().nbytes():
        raise ValueError(f"{name} has more numbers than are stored of it")
