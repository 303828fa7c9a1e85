"""Tensors in fewer bytes, from which exactly the same tensors can be made again.

A tensor is stored as it is, or as a dictionary:

- few numbers among zeros, as the numbers and the gaps between them: ``halves``, (G,) ``float16``; ``gaps``,
  (G,) ``uint8``, how many zeros come before each; ``size``, how many numbers there are with the zeros.  Where
  a gap is longer than 255, one of the numbers is a zero (as in Han, Mao & Dally 2016, "Deep Compression").
- the same of multiples of a power of two: ``gaps`` and ``size``; ``step``, that power; ``levels``, (G,)
  ``int8``, the multiples, but for the few that are greater: ``far``, (F,) ``int32``, which of the G these
  are, and ``beyond``, (F,) ``int16``;
- a matrix whose rows are multiples of a number each: ``levels``, of its shape, ``int8``, and ``scales``, one
  for each row: see `rounded_rows`;
- whole numbers that ascend from 0, by ``steps`` of ``int16``;
- 64-bit numbers without a sign that ascend, the last bits of which are zero: by the steps of the other bits,
  ``int32``, the number of bits that are zero, ``shift``;
- numbers of double precision that are all of single precision, as these: ``singles``.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from pyropunct.models.attach.pruning import STEP

SHARE = 0.75
"""A vector is stored with gaps if a smaller share of it is not zero."""

KINDS = frozenset({torch.float, torch.double, torch.bool, torch.uint8, torch.int8, torch.int, torch.long})
"""The types of numbers in our tensors: compiled code knows no others."""

GAP = 255
"""The longest gap."""

LEVEL = 127
"""The greatest ``int8``."""

SHIFT = 24
"""At least so many of the last bits of shortened keys are zero, see `pyropunct.models.attach.pruning`."""

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


def rounded_rows(tensor: Tensor) -> Tensor:
    """A tensor of single precision whose numbers become the nearest of 255 multiples in each row.

    The greatest number of a row, without its sign, becomes 127 times the row's scale, which has 12
    significant bits, so that it can be found again.  What has fewer than two dimensions stays as it is.
    """
    if tensor.dtype != torch.float or tensor.dim() < 2:
        return tensor
    fraction, exponent = torch.frexp(_greatest(tensor) / LEVEL)
    scale = torch.ldexp((fraction * 2**12).ceil() / 2**12, exponent)
    return _levels(tensor, scale) * _of_rows(scale, tensor)


def _greatest(tensor: Tensor) -> Tensor:
    """(rows,) the greatest number of each row of a tensor, without its sign."""
    return tensor.abs().flatten(1).amax(1) if tensor.numel() else tensor.new_zeros(len(tensor))


def _of_rows(scale: Tensor, tensor: Tensor) -> Tensor:
    """A number for each row, to be multiplied with the rows of a tensor."""
    return scale.reshape(-1, *[1] * (tensor.dim() - 1))


def _levels(tensor: Tensor, scale: Tensor) -> Tensor:
    """The nearest multiples of each row's scale, whose size does not exceed `LEVEL`."""
    divisor = _of_rows(torch.where(scale > 0, scale, 1), tensor)
    return (tensor / divisor).round().clamp(-LEVEL, LEVEL)


def _small(tensor: Tensor) -> Any:
    for form in SMALL_FORMS:
        if (stored := form(tensor)) is not None:
            return stored
    return tensor.clone()  # without what else its storage may hold


def _few(tensor: Tensor) -> dict[str, Any] | None:
    """A vector with few numbers among zeros."""
    if tensor.dtype != torch.float or tensor.dim() != 1 or len(tensor) > LARGEST:
        return None
    places = tensor.nonzero()[:, 0]
    numbers = tensor[places]
    if len(places) >= SHARE * len(tensor):
        return None
    levels = numbers / STEP
    if torch.equal(levels.round(), levels) and bool((levels.abs() < 2**15).all()):
        return _with_levels(tensor, places)
    return _with_gaps(tensor, places) if torch.equal(numbers, numbers.half().float()) else None


def _ascending(tensor: Tensor) -> dict[str, Any] | None:
    if tensor.dtype != torch.long or tensor.dim() != 1 or not len(tensor):
        return None
    steps = tensor.diff()
    if tensor[0] == 0 and (not len(steps) or (steps.min() >= 0 and steps.max() < 2**15)):
        return {"steps": steps.to(torch.int16)}
    high = (tensor >> SHIFT) & (2 ** (64 - SHIFT) - 1)
    steps = high.diff(prepend=high.new_zeros(1))
    if torch.equal(high << SHIFT, tensor) and steps.min() >= 0 and steps.max() < 2**31:
        return {"steps": steps.to(torch.int32), "shift": SHIFT}
    return None


def _rough(tensor: Tensor) -> dict[str, Any] | None:
    """A matrix of few different numbers in each row."""
    if tensor.dtype != torch.float or tensor.dim() < 2 or not tensor.numel():
        return None
    scale = _greatest(tensor) / LEVEL
    levels = _levels(tensor, scale)
    if not torch.equal(levels * _of_rows(scale, tensor), tensor):
        return None
    return {"levels": levels.to(torch.int8), "scales": scale}


def _half_as_wide(tensor: Tensor) -> dict[str, Any] | None:
    if tensor.dtype != torch.double or not torch.equal(tensor, tensor.float().double()):
        return None
    return {"singles": tensor.float()}


SMALL_FORMS: tuple[Callable[[Tensor], dict[str, Any] | None], ...] = (_few, _ascending, _rough, _half_as_wide)
"""Each stores a tensor from which it can make exactly this tensor again, or gives None."""


def _with_gaps(tensor: Tensor, places: Tensor) -> dict[str, Any]:
    gaps, written = _gaps(places)
    return {"gaps": gaps, "halves": tensor[written].half(), "size": len(tensor)}


def _with_levels(tensor: Tensor, places: Tensor) -> dict[str, Any]:
    gaps, written = _gaps(places)
    levels = (tensor[written] / STEP).round()
    far = (levels.abs() > LEVEL).nonzero()[:, 0]
    return {
        "gaps": gaps,
        "levels": levels.clamp(-LEVEL, LEVEL).to(torch.int8),
        "step": STEP,
        "far": far.to(torch.int32),
        "beyond": levels[far].to(torch.int16),
        "size": len(tensor),
    }


def _gaps(places: Tensor) -> tuple[Tensor, Tensor]:
    """The gaps before some places and before places in gaps that are too long; and all these places."""
    start = torch.tensor([-1])
    before = torch.cat([start, places[:-1]])[: len(places)]
    extra = (places - before - 1) // (GAP + 1)  # zeros that are needed before each number
    number = torch.repeat_interleave(torch.arange(len(places)), extra)
    first = extra.cumsum(0) - extra
    nth = torch.arange(len(number)) - first[number] + 1
    written = torch.cat([places, before[number] + nth * (GAP + 1)]).sort().values
    return (torch.cat([start, written]).diff() - 1).to(torch.uint8), written


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
    _check(name, halves, torch.half)
    return _spread(name, gaps, halves.float(), size)


def _from_levels(name: str, gaps: Any, levels: Any, step: Any, far: Any, beyond: Any, size: Any) -> Tensor:
    for some, dtype in ((levels, torch.int8), (far, torch.int32), (beyond, torch.int16)):
        _check(name, some, dtype)
    if type(step) is not float or not 0 < step <= 1:
        raise ValueError(f"{name} is stored as multiples of {step}")
    if len(far) != len(beyond) or (len(far) and not 0 <= far.min() <= far.max() < len(levels)):
        raise ValueError(f"{name} has great numbers in places that it does not have")
    numbers = levels.float()
    numbers[far.long()] = beyond.float()
    return _spread(name, gaps, numbers * step, size)


def _spread(name: str, gaps: Any, numbers: Tensor, size: Any) -> Tensor:
    """Numbers in their places."""
    _check(name, gaps, torch.uint8)
    places = (gaps.long() + 1).cumsum(0) - 1
    least = int(places[-1]) + 1 if len(places) else 0
    if type(size) is not int or not least <= size <= LARGEST or len(gaps) != len(numbers):
        raise ValueError(f"{name} has numbers outside of itself, or too many")
    tensor = torch.zeros(size, dtype=torch.float)
    tensor[places] = numbers
    return tensor


def _from_rows(name: str, levels: Any, scales: Any) -> Tensor:
    _check(name, levels, torch.int8, None)
    _check(name, scales, torch.float)
    if levels.dim() < 2 or len(levels) != len(scales):
        raise ValueError(f"{name} does not have a scale for each row")
    return levels.float() * _of_rows(scales, levels)


def _from_steps(name: str, steps: Any) -> Tensor:
    _check(name, steps, torch.int16)
    _check_ascent(name, steps)
    return torch.nn.functional.pad(steps.long().cumsum(0), (1, 0))


def _from_shifted(name: str, steps: Any, shift: Any) -> Tensor:
    _check(name, steps, torch.int32)
    _check_ascent(name, steps)
    numbers = steps.long().cumsum(0)
    if (
        type(shift) is not int
        or not 0 <= shift < 64
        or (len(numbers) and int(numbers[-1]) >= 2 ** (64 - shift))
    ):
        raise ValueError(f"{name} has greater numbers than there are")
    return numbers << shift


def _check_ascent(name: str, steps: Tensor) -> None:
    if len(steps) and steps.min() < 0:
        raise ValueError(f"{name} does not ascend")


def _from_singles(name: str, singles: Any) -> Tensor:
    _check(name, singles, torch.float, None)
    return singles.double()


FORMS: dict[frozenset[str], Callable[..., Tensor]] = {
    frozenset({"gaps", "halves", "size"}): _from_gaps,
    frozenset({"gaps", "levels", "step", "far", "beyond", "size"}): _from_levels,
    frozenset({"levels", "scales"}): _from_rows,
    frozenset({"steps"}): _from_steps,
    frozenset({"steps", "shift"}): _from_shifted,
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
