"""The site of latent trees (`pyropunct.models.trees.LatentTrees`): T is drawn, or summed out with its
punctemes::

    tree     T: (..., I) of each item of the packed forest whether it is part of T, 1 or 0

It comes first, from p(T | words).  Under `pyropunct.inference.pyro.collapse.collapse_trees` it is gone,
unless given, and "surface" has p(x | words).  Under `pyropunct.inference.pyro.decode.infer_trees` it comes
after "surface", as p(T | words, x).
"""

from collections.abc import Callable
from typing import Any, Protocol

import pyro
import torch
from pyro.distributions import TorchDistribution, constraints
from pyro.poutine.indep_messenger import IndepMessenger
from pyro.poutine.runtime import effectful
from torch import Tensor

from pyropunct.inference import inside
from pyropunct.inference.packed import PackedForest, without_marks
from pyropunct.inference.pyro.private import value_from_handlers

TREE = "tree"
"""The name of the site."""


class Latent(Protocol):
    """Trees that are latent; see `pyropunct.models.trees.LatentTrees`."""

    @property
    def forest(self) -> PackedForest:
        """The trees that may be."""

    @property
    def log_arcs(self) -> Tensor:
        """(I,) of each item, its part of log p(T | words)."""

    def trees(self, chosen: Tensor) -> Any:
        """The trees of chosen items."""


class TreeOfWords(TorchDistribution):
    """T given the words: batch shape (..., B)."""

    arg_constraints: dict[str, Any] = {}  # noqa: RUF012, as Pyro has it
    support = constraints.integer

    def __init__(self, latent: Latent, batch_shape: torch.Size | None = None) -> None:
        self.latent = latent
        shape = torch.Size((latent.forest.num_trees,)) if batch_shape is None else batch_shape
        super().__init__(shape, validate_args=False)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "TreeOfWords":
        """The same for each element of plates on the left."""
        return type(self)(self.latent, torch.Size(batch_shape))

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """A draw of T, (..., I)."""
        batch = torch.Size((*sample_shape, *self.batch_shape[:-1]))
        problem = without_marks(self.latent.forest, self.latent.log_arcs.detach())
        return (inside.posterior_draws(problem, batch.numel()) >= 0).long().reshape(*batch, -1)

    def log_prob(self, value: Tensor) -> Tensor:
        """log p(T | words), (..., B)."""
        arcs = torch.where(value > 0, self.latent.log_arcs, 0.0)
        return self.latent.forest.per_tree(arcs).expand(self.batch_shape)


Growing = Callable[[Any], Any]
"""What becomes of latent trees before their story is told: trees, or latent trees still."""


def drawn(latent: Latent) -> Any:
    """Trees of the site "tree"."""
    with IndepMessenger("sentences", latent.forest.num_trees, dim=-1):
        return latent.trees(pyro.sample(TREE, TreeOfWords(latent)))


def kept(latent: Latent) -> Any:
    """The latent trees as they are; or those of the site "tree", where handlers give it a value."""
    given = value_from_handlers(TREE, TreeOfWords(latent))
    return latent if given is None else drawn(latent)


@effectful(type="grow")
def grow(latent: Latent, growing: Growing = drawn) -> Any:
    """Trees in the place of latent ones, by ``growing``, unless handlers sum these out."""
    return growing(latent)
