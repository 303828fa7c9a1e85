"""Punctuated trees as one distribution, as Pyro's `DiscreteHMM` is one: for models that need no handlers."""

from typing import Any

import torch
from pyro.distributions import TorchDistribution, constraints
from torch import Tensor

from pyropunct.inference import inside
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.machines.evidence import as_wide
from pyropunct.inference.machines.transducers import Transducer
from pyropunct.inference.parts import PartScores
from pyropunct.inference.pyro.collapse import Sum
from pyropunct.inference.pyro.decode import marginals
from pyropunct.inference.pyro.told import Scores, Surface, Told, Trees


class PunctuatedTrees(TorchDistribution):
    """p(x | T) of the surface strings x of B trees; their punctemes T' are summed out.

    A value is (S, L) strings, filled up with -1, or evidence about them. The batch shape is that of scores
    and weights, and then (B,).

    :param trees: with a ``forest`` and the ``relation`` of each node, as `pyropunct.vocabulary.Vocabulary`
        encodes them.
    :param scores: of the pairs of all nodes, or a function of the marks inside; see `Told`.
    :param transducer: the machine that rewrites underlying strings, with (*batch, P) its ``weights``.
    :param parts: marks around parts of constituents.
    :raises ValueError: as `Told` does.
    """

    arg_constraints: dict[str, Any] = {}  # noqa: RUF012, as Pyro has it
    support = constraints.integer

    def __init__(
        self,
        trees: Trees,
        inventory: Inventory,
        scores: Tensor | Scores,
        transducer: Transducer,
        weights: Tensor,
        parts: PartScores | None = None,
        batch_shape: torch.Size | None = None,
    ) -> None:
        self._given, self._marked = (trees, inventory, scores, transducer, weights), parts
        shape = torch.Size((self._new().forest.num_trees,)) if batch_shape is None else batch_shape
        super().__init__(shape, validate_args=False)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "PunctuatedTrees":
        """The same for each element of plates on the left."""
        return PunctuatedTrees(*self._given, self._marked, torch.Size(batch_shape))

    def log_prob(self, value: Surface) -> Tensor:
        """(*batch, B) log p(x | T), differentiable twice in scores and weights."""
        told = self._told(value)
        evidence = told.sum.log_evidence
        return evidence.expand(torch.broadcast_shapes(evidence.shape, self.batch_shape))

    @torch.no_grad()
    def sample(self, sample_shape: Any = ()) -> Tensor:
        """(*sample_shape, S, L) strings, drawn with their T', which is forgotten."""
        shape = torch.Size((*sample_shape, *self.batch_shape[:-1]))
        told, drawn = self._new(), list[Tensor]()
        for _ in range(shape.numel()):
            told.walk()
            assert told.walked is not None
            drawn.append(told.walked[1])
        return torch.stack(as_wide(drawn)).reshape(*shape, told.forest.num_slots, -1)

    def best(self, value: Surface) -> Tensor:
        """(..., N) T' of the best derivation given x: the choice of each node."""
        return inside.best_derivation(self._told(value).problem)

    def draws(self, value: Surface, draws: int, generator: torch.Generator | None = None) -> Tensor:
        """(..., draws, N) draws of T' from p(T' | T, x)."""
        return inside.posterior_draws(self._told(value).problem, draws, generator)

    def posterior(self, value: Surface) -> TorchDistribution:
        """The posterior of each choice alone, given x: a distribution of (N,) choices."""
        return marginals(self._told(value))

    def _new(self) -> Told:
        return Told(*self._given, parts=self._marked)

    def _told(self, value: Surface) -> Told:
        told = self._new()
        told.refuse_misfit(value)
        told.show(value)
        told.sum = Sum(told)
        return told
