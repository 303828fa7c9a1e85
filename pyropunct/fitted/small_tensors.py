"""Lossless compression of tensors.

A tensor NAME is stored as it is, or in a form whose parts are called ``NAME:PART``:

- a sparse vector: ``halves``, (G,) ``float16``, the numbers; ``gaps``, (G,) ``uint8``, the zeros before each.
  A gap longer than 255, or at the end, is filled with stored zeros (Han, Mao & Dally 2016, "Deep
  Compression");
- a matrix of `rounded_rows`: ``levels``, of its shape, ``int8``, and ``scales``, one for each row;
- a vector of integers by the differences between neighbours: ``steps``, ``int16``, the first from zero;
- doubles that a smaller precision represents exactly: ``half``, ``float16``, or ``singles``, ``float32``.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import NamedTuple

import torch
from torch import Tensor

SHARE = 0.75
"""A vector is stored with gaps if a smaller share of it is not zero."""

GAP = 255
"""The longest gap."""

LEVEL = 127
"""The greatest ``int8``."""

MOST_DENSE = 2**26
"""The most numbers in all vectors together that `whole` fills in between gaps: a vector of zeros takes 340
times the bytes of its file, so a small file could fill the memory."""

PART_TYPES = (torch.half, torch.int16)
"""Types of numbers that only stored parts may have: compiled code does not support them."""


def small(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors as they are stored."""
    return {
        stored: part
        for name, tensor in tensors.items()
        for stored, part in _small(name, tensor.detach().cpu().contiguous()).items()
    }


def whole(stored: Mapping[str, Tensor], few: tuple[str, ...] = ()) -> dict[str, Tensor]:
    """The inverse of `small`; names that end as ``few`` stay sparse.  Raises `ValueError` for bad parts."""
    tensors, parts = dict[str, Tensor](), defaultdict[str, dict[str, Tensor]](dict)
    for key, tensor in stored.items():
        name, _, part = key.rpartition(":")
        if name:
            parts[name][part] = tensor
        elif tensor.dtype in PART_TYPES:
            raise ValueError(f"{key} has numbers of the type {tensor.dtype}")
        else:
            tensors[key] = tensor
    dense = 0
    for name, given in parts.items():
        form = next((form for form in FORMS if form.types.keys() == given.keys()), None)
        if form is None or name in tensors:
            raise ValueError(f"{name} is stored in a form that is not known")
        for part, kind in form.types.items():
            if given[part].dtype != kind:
                raise ValueError(f"{name}:{part} has numbers of the type {given[part].dtype}")
        found = form.whole(name, **given)
        if found.is_sparse and not name.endswith(few):
            dense += found.numel()
            if dense > MOST_DENSE:
                raise ValueError(f"with {name} there are more than {MOST_DENSE} numbers in a few bytes")
            found = found.to_dense()
        tensors[name] = found
    return tensors


def rounded_rows(tensor: Tensor) -> Tensor:
    """Round each row of a single-precision tensor to 255 multiples of the row's scale.

    The greatest magnitude becomes 127 times the scale, which is rounded up to 12 significant bits so that it
    can be recovered.  Tensors of fewer than two dimensions stay.
    """
    if tensor.dtype != torch.float or tensor.dim() < 2:
        return tensor
    fraction, exponent = torch.frexp(_greatest(tensor) / LEVEL)
    scale = torch.ldexp((fraction * 2**12).ceil() / 2**12, exponent)
    return _levels(tensor, scale) * _of_rows(scale, tensor)


def _greatest(tensor: Tensor) -> Tensor:
    """(rows,) the greatest magnitude of each row."""
    return tensor.abs().flatten(1).amax(1) if tensor.numel() else tensor.new_zeros(len(tensor))


def _of_rows(scale: Tensor, tensor: Tensor) -> Tensor:
    """A number for each row, broadcast over the row."""
    return scale.reshape(-1, *[1] * (tensor.dim() - 1))


def _levels(tensor: Tensor, scale: Tensor) -> Tensor:
    """The nearest multiples of each row's scale, at most `LEVEL` in magnitude."""
    divisor = _of_rows(torch.where(scale > 0, scale, 1), tensor)
    return (tensor / divisor).round().clamp(-LEVEL, LEVEL)


def _small(name: str, tensor: Tensor) -> dict[str, Tensor]:
    for form in FORMS:
        if (parts := form.small(tensor)) is not None:
            return {f"{name}:{part}": stored for part, stored in parts.items()}
    return {name: tensor.clone()}  # because tensors of a file cannot share memory


def _with_gaps(tensor: Tensor) -> dict[str, Tensor] | None:
    if tensor.dtype != torch.float or tensor.dim() != 1 or not len(tensor):
        return None
    places = tensor.nonzero()[:, 0]
    if len(places) >= SHARE * len(tensor) or not torch.equal(tensor[places], tensor[places].half().float()):
        return None
    end = torch.tensor([len(tensor) - 1])
    before = torch.cat([torch.tensor([-1]), places])
    gaps = torch.cat([places, end]) - before - 1  # the last one is -1 if the vector ends with a number
    extra = gaps.clamp(min=0) // (GAP + 1)  # zeros that are needed before each number
    which = torch.repeat_interleave(torch.arange(len(gaps)), extra)
    nth = torch.arange(len(which)) - (extra.cumsum(0) - extra)[which] + 1
    written = torch.cat([places, before[which] + nth * (GAP + 1), end]).unique()
    start = torch.tensor([-1])
    return {
        "gaps": (written.diff(prepend=start) - 1).to(torch.uint8),
        "halves": tensor[written].half(),
    }


def _from_gaps(name: str, gaps: Tensor, halves: Tensor) -> Tensor:
    if gaps.dim() != 1 or gaps.shape != halves.shape or not len(gaps):
        raise ValueError(f"{name} does not have a gap before each number")
    places = (gaps.short() + 1).cumsum(0, dtype=torch.long).sub_(1)
    size, kept = (int(places[-1]) + 1,), halves != 0
    return torch.sparse_coo_tensor(
        places[None, kept], halves[kept].float(), size, is_coalesced=True, check_invariants=False
    )


def _with_rows(tensor: Tensor) -> dict[str, Tensor] | None:
    if tensor.dtype != torch.float or tensor.dim() < 2 or not tensor.numel():
        return None
    scale = _greatest(tensor) / LEVEL
    levels = _levels(tensor, scale)
    if not torch.equal(levels * _of_rows(scale, tensor), tensor):
        return None
    return {"levels": levels.to(torch.int8), "scales": scale}


def _from_rows(name: str, levels: Tensor, scales: Tensor) -> Tensor:
    if levels.dim() < 2 or scales.shape != levels.shape[:1]:
        raise ValueError(f"{name} does not have a scale for each row")
    return levels.float() * _of_rows(scales, levels)


def _with_steps(tensor: Tensor) -> dict[str, Tensor] | None:
    if tensor.dtype != torch.long or tensor.dim() != 1 or not len(tensor):
        return None
    steps = tensor.diff(prepend=tensor.new_zeros(1))
    return {"steps": steps.to(torch.int16)} if torch.equal(steps.to(torch.int16).long(), steps) else None


def _from_steps(name: str, steps: Tensor) -> Tensor:
    if steps.dim() != 1:
        raise ValueError(f"{name} is not stored as a vector")
    return steps.long().cumsum(0)


def _with_singles(tensor: Tensor) -> dict[str, Tensor] | None:
    if tensor.dtype != torch.double or not torch.equal(tensor, tensor.float().double()):
        return None
    return {"singles": tensor.float()}


def _in_half(tensor: Tensor) -> dict[str, Tensor] | None:
    if tensor.dtype != torch.double or not torch.equal(tensor, tensor.half().double()):
        return None
    return {"half": tensor.half()}


class Form(NamedTuple):
    """A way to store tensors.

    :ivar types: the parts, with the types of their numbers.
    :ivar small: makes the parts of a tensor, or None if it would not be lossless.
    :ivar whole: makes the tensor from its name and parts, or raises `ValueError`.
    """

    types: Mapping[str, torch.dtype]
    small: Callable[[Tensor], dict[str, Tensor] | None]
    whole: Callable[..., Tensor]


FORMS = (
    Form({"gaps": torch.uint8, "halves": torch.half}, _with_gaps, _from_gaps),
    Form({"levels": torch.int8, "scales": torch.float}, _with_rows, _from_rows),
    Form({"steps": torch.int16}, _with_steps, _from_steps),
    Form({"half": torch.half}, _in_half, lambda name, half: half.double()),
    Form({"singles": torch.float}, _with_singles, lambda name, singles: singles.double()),
)
