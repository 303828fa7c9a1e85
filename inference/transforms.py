"""Transformations of programs by torch that compiled sums cannot follow."""

import torch
from torch import Tensor


def refuse_transforms(*values: Tensor) -> None:
    """Raises NotImplementedError where torch traces, or transforms tensors: compiled code reads their values.

    `torch.compile` calls compiled code as it is, and needs no refusal.
    """
    if torch.jit.is_tracing():
        raise NotImplementedError("sums over trees are compiled anyway, and cannot be traced by torch.jit")
    if any(map(torch._C._functorch.is_functorch_wrapped_tensor, values)):
        raise NotImplementedError(
            "sums over trees are compiled, and cannot be transformed by torch.func: use torch.autograd"
        )
