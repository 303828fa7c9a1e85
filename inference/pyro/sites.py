"""The sites of a story, as distributions: p(T', x | T) of B trees, which may be latent too.

    tree      T, if it is latent: (..., I) of each item of the packed forest whether it is part of T, 1 or 0
    pairs     T': the pair (l, r) that each constituent sprouts, as choices from W_d, (..., N)
    surface   x: the strings of all slots, (..., S, L), or evidence about them

A tree is an element of a plate with ``dim=-1``, which holds all of them.  Sites with ``infer=BY_TREES`` may
be left open by handlers: their value then is `pyropunct.inference.pyro.story_state.Open`, and no trace sees
them.  An x whose T' is open has p(x | T), or p(x | words) where T is open too.  The site "surface" has a
probability for any x that fits, whatever x the story was told with.
"""

from copy import copy
from typing import Any, Protocol, Self

import numpy as np
import torch
from pyro.distributions import TorchDistribution, constraints
from torch import Tensor

from pyropunct.inference import inside
from pyropunct.inference.packed import PackedForest, without_marks
from pyropunct.inference.pyro.posterior import Posterior
from pyropunct.inference.pyro.private import untraced
from pyropunct.inference.pyro.story_state import SURFACE, StoryState, is_open, log_rewritten, refuse_foreign
from pyropunct.inference.story_inputs import StoryInputs, Surface
from pyropunct.inference.walk import walk

BY_TREES: Any = {"trees": "exact"}
"""How sites are marked that handlers sum out over trees."""


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


class OfTrees(TorchDistribution):
    """Base class of the distributions of all sites: batch shape (..., B)."""

    arg_constraints: dict[str, Any] = {}  # noqa: RUF012, as Pyro has it
    support = constraints.integer

    def __init__(self, forest: Any) -> None:
        super().__init__(torch.Size((forest.num_trees,)), validate_args=False)
        self.forest = forest

    def expand(self, batch_shape: Any, _instance: Any = None) -> Self:
        """The distribution for each element of plates on the left."""
        # A plate always calls expand(); the default would hide this class.
        expanded = copy(self)
        TorchDistribution.__init__(expanded, torch.Size(batch_shape), validate_args=False)
        return expanded

    def batch_of(self, sample_shape: Any) -> torch.Size:
        """The shape of values without the dimensions of trees. Raises ValueError if it has no elements."""
        batch = torch.Size((*sample_shape, *self.batch_shape[:-1]))
        if not batch.numel():
            raise ValueError(f"a sample shape of {tuple(sample_shape)} has no elements: draw at least once")
        return batch

    def of_trees(self, values: Tensor, precision: torch.dtype = torch.float32) -> Tensor:
        """Log-probabilities of trees for all elements of plates."""
        shape = np.broadcast_shapes(values.shape, self.batch_shape)
        return values.to(torch.promote_types(precision, torch.float32)).expand(shape)


class TreeOfWords(OfTrees):
    """T given the words."""

    def __init__(self, latent: Latent) -> None:
        super().__init__(latent.forest)
        self.latent = latent

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """A draw of T, (..., I)."""
        batch = self.batch_of(sample_shape)
        problem = without_marks(self.latent.forest, self.latent.log_arcs.detach())
        return (inside.posterior_draws(problem, batch.numel()) >= 0).long().reshape(*batch, -1)

    def log_prob(self, value: Tensor) -> Tensor:
        """log p(T | words), (..., B)."""
        arcs = torch.where(value > 0, self.latent.log_arcs, 0.0)
        return self.latent.forest.per_tree(arcs).expand(self.batch_shape)


class Sprouted(OfTrees):
    """T': the punctemes of each constituent, by p(l, r | w) (Li, Wang & Eisner 2019, equations 3 and 4).

    With ``story``, ``trees`` and ``surface`` of the page "A first Pyro program"::

        >>> pairs = Sprouted(StoryState(story.inputs(trees))).sample()
        >>> pairs.shape == (trees.forest.num_nodes,)
        True
    """

    def __init__(self, state: StoryState) -> None:
        super().__init__(state.inputs.forest)
        self.state = state

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """T', (..., N), drawn bottom-up together with an x."""
        return self.state.draw_pairs(self.batch_of(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        """The sum of log p(l, r | w) p(part | w) over the constituents of each tree, (..., B)."""
        sprouted = self.state.posterior.log_sprouted(value)
        return self.of_trees(sprouted, sprouted.dtype)


class Rewritten(OfTrees):
    """x given T': what the channel makes of each slot's underlying string (section 2.2)."""

    def __init__(self, state: StoryState, pairs: Tensor) -> None:
        super().__init__(state.inputs.forest)
        self.state, self.pairs = state, pairs

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """(..., S, L) a draw of x. If T' was drawn, x was drawn with it."""
        return self.state.draw_surface(self.batch_of(sample_shape))

    def log_prob(self, value: Surface) -> Tensor:
        """The sum of log p(x_i | u_i) over the slots of each tree, (..., B)."""
        posterior = self.state.posterior_of(self.state.inputs, value)
        log_prob = log_rewritten(posterior.inputs, self.pairs, value)
        return self.of_trees(log_prob, posterior.log_pairs.dtype)


class PunctuatedTrees(OfTrees):
    """p(x | T) of the surface strings x of B trees; their punctemes T' are summed out (section 3.1).

    With ``story``, ``trees`` and ``surface`` of the page "A first Pyro program"::

        >>> of_trees = PunctuatedTrees(story.inputs(trees))
        >>> of_trees.log_prob(surface).shape == (len(trees),)
        True

    For models that need no handlers; and the distribution of the site "surface" where T' is open.  A value is
    (S, L) strings, filled up with -1, or evidence about them; in `log_prob` it may be several values,
    (*batch, S, L).  The batch shape is that of scores and weights, and then (B,).
    """

    def __init__(self, inputs: StoryInputs, state: StoryState | None = None) -> None:
        super().__init__(inputs.forest)
        self.inputs, self.state = inputs, state

    def posterior(self, value: Surface) -> Posterior:
        """p(T' | T, x): the sum, the best T', draws, and the posterior of each choice.

        :raises ValueError: for tokens that are not in the inventory.
        """
        if self.state is not None:
            return self.state.posterior_of(self.inputs, value)
        refuse_foreign(self.inputs, value)
        return Posterior(self.inputs, value)

    def log_prob(self, value: Surface) -> Tensor:
        """(..., B) log p(x | T), differentiable twice in scores and weights.

        :raises ValueError: for values of another shape, or tokens that are not in the inventory.
        """
        slots = self.forest.num_slots
        if isinstance(value, Tensor) and (value.dim() < 2 or value.shape[-2] != slots):
            raise ValueError(f"values of {slots} slots have the shape (..., {slots}, L), not {value.shape}")
        posterior = self.posterior(value)
        return self.of_trees(posterior.log_evidence, posterior.log_pairs.dtype)

    @untraced
    def sample(self, sample_shape: Any = ()) -> Tensor:
        """(..., S, L) strings, drawn together with a T' that is discarded.

        :raises NotImplementedError: if the trees are latent.
        """
        if self.inputs.is_latent:
            raise NotImplementedError(
                f"site '{SURFACE}' is to be drawn, but its trees are summed out: use the model without "
                "collapse_trees"
            )
        batch = self.batch_of(sample_shape)
        return walk(self.inputs, batch)[1] if self.state is None else self.state.draw_surface(batch)


def rewritten(state: StoryState, pairs: Tensor) -> Rewritten | PunctuatedTrees:
    """p(x | u(T')); or p(x | T), if T' is left open.

    With ``story``, ``trees`` and ``surface`` of the page "A first Pyro program"::

        >>> state = StoryState(story.inputs(trees))
        >>> pairs = Sprouted(state).sample()
        >>> drawn = rewritten(state, pairs).sample()
        >>> rewritten(state, pairs).log_prob(drawn).isfinite().all().item()
        True
    """
    state.sprout(pairs)
    return PunctuatedTrees(state.inputs, state) if is_open(pairs) else Rewritten(state, pairs)
