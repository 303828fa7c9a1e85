"""The generative story of a punctuated sentence (Li, Wang & Eisner 2019, section 2)::

p(x) = sum over T, T' of  p_syn(T)  p_theta(T' | T)  p_phi(x | u(T'))
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pyro
import pyro.distributions as dist
import torch
from pyro import poutine
from pyro.nn import PyroModule
from torch import Tensor

from pyropunct.inference.inventory import Inventory
from pyropunct.inference.problem import choice_rows, choice_start
from pyropunct.inference.pyro.handlers import tree_expectation
from pyropunct.inference.pyro.pairs import PunctemePairs
from pyropunct.inference.pyro.surface import EMPTY, Underlying
from pyropunct.models.attach.base import Attach
from pyropunct.models.attach.views import Views, views_of
from pyropunct.models.channel.window import Channel
from pyropunct.models.symmetry import unmatched_rows
from pyropunct.models.trees import TreeBatch

Syntax = Callable[..., TreeBatch]
"""Anything that draws trees if it is called with nothing, and observes the trees that it is called with."""


class Punctuated(NamedTuple):
    """What the story tells: (T, T', x).

    :ivar trees: the unpunctuated trees T, N nodes and S slots.
    :ivar choices: (N,) the puncteme pair of each node, as a choice from its relation's W_d.
    :ivar surface: (S, L) the surface strings x.
    """

    trees: TreeBatch
    choices: Tensor
    surface: Tensor


class Story(PyroModule):
    """Tree -> punctemes -> channel edits, as a Pyro model.

    :param inventory: the sets W_d.
    :param attach: p_theta(l, r | w), see `pyropunct.models.attach.log_linear`.
    :param channel: p_phi(x_i | u_i), see `pyropunct.models.channel.window`.
    :param syntax: p_syn(T), see `pyropunct.models.syntax`; needed only where trees are not given, or
        are to be scored.
    :param marks: the tokens of the inventory, for their symmetry.
    :param symmetry_weight: xi of equation (5), the weight of the posterior regulariser.
    """

    def __init__(
        self,
        inventory: Inventory,
        attach: Attach,
        channel: Channel,
        syntax: Syntax | None = None,
        marks: tuple[str, ...] = (),
        symmetry_weight: float = 0.0,
    ) -> None:
        super().__init__()
        self.inventory, self.symmetry_weight = inventory, symmetry_weight
        self.attach, self.channel, self.syntax = attach, channel, syntax
        self._unmatched = unmatched_rows(inventory, marks) if symmetry_weight else None

    def forward(
        self,
        trees: TreeBatch | None = None,
        surface: Tensor | None = None,
        views: Views | None = None,
        scale: float = 1.0,
        one_by_one: bool = False,
        joint: bool = False,
    ) -> Punctuated:
        """Tell the story.

        With the surface strings observed, every node can be decided at once, and
        `pyropunct.inference.pyro.handlers.collapse_trees` sums over all decisions.  Without them the story
        runs bottom-up, a height of constituents at a time, so that a constituent can look at the surface
        punctuation inside it.

        :param trees: T; drawn from the syntax model if not given.
        :param surface: (S, L) x; drawn if not given.
        :param views: all nodes with the marks of ``surface`` inside them, if this has been worked out before:
            training keeps with them what the attach model has looked up.
        :param scale: by how much the trees' terms are multiplied beside the priors': the number of trees
            in the treebank over the number of trees here.
        :param one_by_one: give each node a site of its own, as `pyro.infer.TraceEnum_ELBO` needs it.
        :param joint: score given trees too: p(T, x) rather than p(x | T).
        :raises ValueError: if there is no syntax model, but trees are to be drawn or scored, or if there are
            views without a surface.
        """
        if surface is None and views is not None:
            raise ValueError("these are views of a surface that is not given")
        if trees is None or joint:
            with poutine.scale(scale=scale):
                trees = self._trees(trees)
        start = torch.from_numpy(choice_start(self.inventory, trees.relation))
        choices = torch.zeros(trees.forest.num_nodes, dtype=torch.long)
        shown = torch.full((trees.forest.num_slots, 1), EMPTY) if surface is None else surface
        score = self.attach.scorer(trees)
        waves = self._together(trees) if surface is not None else self._bottom_up(trees)
        for name, nodes, closed in waves:
            if surface is None or views is None:
                views = views_of(trees.forest, shown, nodes.numpy())
            logits = score(views)  # its priors are no part of what the scale is about
            weights = self.channel.weights()
            with poutine.scale(scale=scale):
                decided = _decide(name, nodes, logits, start.diff()[nodes], one_by_one)
                choices = decided if len(nodes) == len(choices) else choices.index_copy(-1, nodes, decided)
                underlying = Underlying(trees.forest, self.inventory, trees.relation, choices, closed)
                with pyro.plate(f"slots{name}", len(closed)):
                    drawn = pyro.sample(
                        f"surface{name}",
                        self.channel.surface(underlying, weights),
                        obs=None if surface is None else surface,
                    )
            shown = drawn if surface is not None else _put(shown, closed, drawn)
        if self._unmatched is not None:
            self._regularise(self._unmatched, trees, choices, start, scale)
        return Punctuated(trees, choices, shown)

    def _trees(self, trees: TreeBatch | None) -> TreeBatch:
        """Trees drawn from the syntax model, or the same trees, scored by it."""
        if self.syntax is None:
            wanted = "give it trees" if trees is None else "it cannot score trees jointly"
            raise ValueError(f"this story has no syntax model: {wanted}")
        return self.syntax() if trees is None else self.syntax(trees)

    def _together(self, trees: TreeBatch) -> Iterator[tuple[str, Tensor, Tensor]]:
        yield "", torch.arange(trees.forest.num_nodes), torch.arange(trees.forest.num_slots)

    def _bottom_up(self, trees: TreeBatch) -> Iterator[tuple[str, Tensor, Tensor]]:
        """For each height a name, its nodes, and the slots that are complete once these are decided."""
        forest = trees.forest
        for height in range(int(forest.height.max()) + 1):
            nodes = (forest.height == height).nonzero()[:, 0]
            closed = (forest.closing_height == height + 1).nonzero()[:, 0]
            yield f" {height}", nodes, closed

    def _regularise(
        self, unmatched: Tensor, trees: TreeBatch, choices: Tensor, start: Tensor, scale: float
    ) -> None:
        """The factor exp(-xi E[c(T')]^2) of each tree: punctemes had better be balanced (section 2.3)."""
        cost = unmatched[choice_rows(self.inventory, trees.relation)]
        expected = tree_expectation(choices, cost, start, trees.forest)
        with pyro.plate("trees", len(trees)), poutine.scale(scale=scale):
            pyro.factor("symmetry", -self.symmetry_weight * expected.square())


def _decide(name: str, nodes: Tensor, logits: Tensor, sizes: Tensor, one_by_one: bool) -> Tensor:
    """T' at some nodes, (..., len(nodes))."""
    marked: Any = {"enumerate": "tree"}  # Pyro's type for it lists the ways to enumerate that Pyro has
    start = torch.nn.functional.pad(sizes.cumsum(0), (1, 0))
    if one_by_one:
        pairs = [
            pyro.sample(f"pair {node}", dist.Categorical(logits=own), infer=marked)
            for node, own in zip(nodes.tolist(), logits.split(sizes.tolist()), strict=True)
        ]
        values = torch.broadcast_tensors(*pairs)
        # Values enumerated in parallel have a dimension 1 for the plate of slots: it becomes the nodes'.
        return torch.cat(values, -1) if values[0].dim() else torch.stack(values, -1)
    with pyro.plate(f"nodes{name}", len(nodes)):
        return pyro.sample(f"pairs{name}", PunctemePairs(logits, start), infer=marked)


def _put(shown: Tensor, slots: Tensor, drawn: Tensor) -> Tensor:
    """``shown`` with the strings of some slots replaced."""
    longest = max(shown.shape[-1], drawn.shape[-1])
    shown, drawn = (
        torch.nn.functional.pad(strings, (0, longest - strings.shape[-1]), value=EMPTY)
        for strings in (shown, drawn)
    )
    return shown.index_copy(0, slots, drawn)
