"""Detection of diverged training: numbers that are not finite, or too large to mean anything."""

from math import isfinite

import torch
from torch import Tensor

from pyropunct.errors import UserError

LARGEST = 1e6
"""No weight of a model that has learned something comes near this; sums of such weights are still exact."""


class DivergedError(UserError, ArithmeticError):
    """Training diverged, so there is no model; the message is one line with the place and a remedy."""


def strange(tensor: Tensor) -> str | None:
    """The problem of the real numbers in a tensor: not finite, or very large; None if there is no problem."""
    if not tensor.is_floating_point():
        return None
    tensor = tensor.detach()._values() if tensor.is_sparse else tensor
    if not tensor.numel():
        return None
    # One pass without further memory, as attach models have tens of millions of weights; NaN comes through.
    largest = max(abs(float(end)) for end in torch.aminmax(tensor.detach()))
    if not isfinite(largest):
        return "has a number that is not finite"
    return f"has a number as large as {largest:g}" if largest > LARGEST else None
