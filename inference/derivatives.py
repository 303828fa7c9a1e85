"""The order of derivative at which an operation ends."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor


def last_derivatives(values: Sequence[Tensor], leaves: Sequence[Tensor], what: str) -> tuple[Tensor, ...]:
    """The same values, which complain if they are differentiated with respect to the leaves.

    To be called at the end of a backward pass.  `torch.autograd.function.once_differentiable` does not do:
    where the incoming gradients are constant it lets derivatives of the next order be zero.

    :param what: the derivatives that there are none of, for the message.
    """
    return _Last.apply(what, len(values), *values, *leaves)


class _Last(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, what: str, count: int, *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.what = what
        return tuple(tensor.view_as(tensor) for tensor in tensors[:count])

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        raise NotImplementedError(f"there are no {ctx.what}")
