"""The optimisers of a story; one is sparse, for tens of millions of weights."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch
from pyro.infer.autoguide import AutoGuide
from torch import Tensor

from pyropunct.fitted.recipes import Recipe
from pyropunct.inference.compiling import compiled
from pyropunct.inference.ragged import Array
from pyropunct.inference.threads import in_threads, parts_of
from pyropunct.models.story import Story

PLACES_PER_THREAD = 50_000
"""The least number of places for which a thread is worth its cost."""

TINY = 1e-10
"""Added to denominators to avoid division by zero."""


def optimisers_of(guide: AutoGuide, story: Story, recipe: Recipe) -> list[torch.optim.Optimizer]:
    """Adagrad for sparse gradients, Adam for other sites, AdamW for plain parameters."""
    sparse = _sparse_sites(story, recipe)
    groups: dict[str, list[torch.nn.Parameter]] = {"sparse": [], "attach": [], "channel": []}
    for name, parameter in guide.named_parameters():
        part = "channel" if "channel" in name.split(".") else "attach"
        is_sparse = name.removesuffix("_unconstrained").endswith(tuple(sparse))
        groups["sparse" if is_sparse else part].append(parameter)
    rates = {"attach": recipe.learning_rate, "channel": recipe.edit_learning_rate}
    dense = [{"params": groups[name], "lr": rate} for name, rate in rates.items()]
    optimisers: list[torch.optim.Optimizer] = [torch.optim.Adam(dense, fused=True)]
    if groups["sparse"]:
        optimisers.append(SparseAdagrad(groups["sparse"], recipe.sparse_learning_rate))
    if plain := list(story.parameters()):
        group = {"params": plain, "lr": recipe.network_learning_rate}
        weight_decay = recipe.network_weight_decay
        optimisers.append(torch.optim.AdamW([group], weight_decay=weight_decay, fused=True))
    for optimiser in optimisers:
        for group in optimiser.param_groups:
            group["initial_lr"] = group["lr"]
    return optimisers


def _sparse_sites(story: Story, recipe: Recipe) -> set[str]:
    if recipe.optimiser != "adagrad" or recipe.guide == "normal":
        return set()
    return {f"attach.{name}" for name in story.attach.make_sparse()}


class SparseAdagrad(torch.optim.Optimizer):
    """Adagrad (Duchi, Hazan & Singer 2011) for parameters with sparse gradients::

        G_i <- G_i + g_i^2        theta_i <- theta_i - rate g_i / (sqrt(G_i) + 1e-10)

    for each i at which the gradient g is not zero.  The steps equal those of `torch.optim.Adagrad`, in one
    compiled pass.

    :param parameters: vectors; the indices of their sparse gradients are distinct and sorted.
    :param lr: the rate, which is the size of the first step of every weight.
    """

    def __init__(self, parameters: Iterable[torch.nn.Parameter], lr: float) -> None:
        super().__init__(parameters, {"lr": lr})
        for group in self.param_groups:
            for parameter in group["params"]:
                self.state[parameter]["squares"] = torch.zeros_like(parameter)

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Take a step; raises `ValueError` if a gradient is not sparse."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._move(parameter, parameter.grad, self.state[parameter]["squares"], group["lr"])
        return loss

    def _move(self, parameter: Tensor, gradient: Tensor, squares: Tensor, rate: float) -> None:
        if not gradient.is_sparse:
            raise ValueError("SparseAdagrad is for sparse gradients, but this one is dense")
        places, values = gradient._indices()[0], gradient._values()
        if parameter.device.type == "cpu":
            arrays = places.numpy(), values.numpy(), squares.numpy(), parameter.numpy()
            _descend_in_threads(arrays, rate)
            return
        squares.index_add_(0, places, values.square())
        parameter.index_add_(0, places, -rate * values / (squares[places].sqrt() + TINY))


def _descend_in_threads(arrays: tuple[Array, Array, Array, Array], rate: float) -> None:
    places, gradient, squares, weights = arrays
    number = weights.dtype.type  # single precision throughout makes the loop twice as fast

    def work(first: int, last: int) -> None:
        _descend(places[first:last], gradient[first:last], squares, weights, number(rate), number(TINY))

    in_threads(work, parts_of(len(places), PLACES_PER_THREAD))


@compiled
def _descend(
    places: Array, gradient: Array, squares: Array, weights: Array, rate: float, tiny: float
) -> None:
    for number in range(len(places)):
        place, slope = places[number], gradient[number]
        squares[place] += slope * slope
        weights[place] -= rate * slope / (np.sqrt(squares[place]) + tiny)
