"""The generative story of a punctuated sentence (Li, Wang & Eisner 2019, section 2)::

p(x) = sum over T, T' of  p_syn(T)  p_theta(T' | T)  p_phi(x | u(T'))
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

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
from pyropunct.models.channel.window import Channel
from pyropunct.models.symmetry import unmatched_rows

if TYPE_CHECKING:
    from pyropunct.models.trees import TreeBatch

Attach = Callable[["TreeBatch", Tensor], Tensor]
"""Anything that gives unnormalised log p(l, r | w), (C,), for trees and surface strings (S, L).

It may also have any of four things that `LogLinearAttach` has, which training then uses:
``learn_contexts``, ``contexts``, ``starting_point``, and an attribute ``sparse``.  For many draws
(`pyropunct.draws`) it may have two more: an attribute ``reads_surface``, False if no score ever depends on
the surface, and ``view_scores``, which scores nodes of given trees for any surface punctuation inside them.
Whoever overrides ``forward`` overrides ``view_scores`` too.

Weights with a prior are `pyro.nn.PyroSample` sites.  Plain parameters of a `torch.nn.Module` are trained too,
without a prior, and kept with the model, as its buffers are.  It is in training mode during training alone.
"""

Syntax = Callable[..., "TreeBatch"]
"""Anything that draws trees if it is called with nothing, and observes the trees that it is called with."""


class Punctuated(NamedTuple):
    """What the story tells: (T, T', x).

    :ivar trees: the unpunctuated trees T, N nodes and S slots.
    :ivar choices: (N,) the puncteme pair of each node, as a choice from its relation's W_d.
    :ivar surface: (S, L) the surface strings x.
    """

    trees: "TreeBatch"
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
        trees: "TreeBatch | None" = None,
        surface: Tensor | None = None,
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
        :param scale: by how much the trees' terms are multiplied beside the priors': the number of trees
            in the treebank over the number of trees here.
        :param one_by_one: give each node a site of its own, as `pyro.infer.TraceEnum_ELBO` needs it.
        :param joint: score given trees too: p(T, x) rather than p(x | T).
        :raises ValueError: if there is no syntax model, but trees are to be drawn or scored.
        """
        if trees is None or joint:
            with poutine.scale(scale=scale):
                trees = self._trees(trees)
        start = torch.from_numpy(choice_start(self.inventory, trees.relation))
        slots = torch.arange(trees.forest.num_slots)
        choices = torch.zeros(trees.forest.num_nodes, dtype=torch.long)
        shown = torch.full((len(slots), 1), EMPTY) if surface is None else surface
        waves = self._together(trees) if surface is not None else self._bottom_up(trees)
        for name, nodes, closed in waves:
            logits = self.attach(trees, shown)  # its priors are no part of what the scale is about
            weights = self.channel.weights()
            with poutine.scale(scale=scale):
                decided = _decide(name, nodes, logits, start, one_by_one)
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

    def _trees(self, trees: "TreeBatch | None") -> "TreeBatch":
        """Trees drawn from the syntax model, or the same trees, scored by it."""
        if self.syntax is None:
            wanted = "give it trees" if trees is None else "it cannot score trees jointly"
            raise ValueError(f"this story has no syntax model: {wanted}")
        return self.syntax() if trees is None else self.syntax(trees)

    def _together(self, trees: "TreeBatch") -> Iterator[tuple[str, Tensor, Tensor]]:
        yield "", torch.arange(trees.forest.num_nodes), torch.arange(trees.forest.num_slots)

    def _bottom_up(self, trees: "TreeBatch") -> Iterator[tuple[str, Tensor, Tensor]]:
        """For each height a name, its nodes, and the slots that are complete once these are decided."""
        forest = trees.forest
        for height in range(int(forest.height.max()) + 1):
            nodes = (forest.height == height).nonzero()[:, 0]
            closed = (forest.closing_height == height + 1).nonzero()[:, 0]
            yield f" {height}", nodes, closed

    def _regularise(
        self, unmatched: Tensor, trees: "TreeBatch", choices: Tensor, start: Tensor, scale: float
    ) -> None:
        """The factor exp(-xi E[c(T')]^2) of each tree: punctemes had better be balanced (section 2.3)."""
        cost = unmatched[choice_rows(self.inventory, trees.relation)]
        expected = tree_expectation(choices, cost, start, trees.forest)
        with pyro.plate("trees", len(trees)), poutine.scale(scale=scale):
            pyro.factor("symmetry", -self.symmetry_weight * expected.square())


def _decide(name: str, nodes: Tensor, logits: Tensor, start: Tensor, one_by_one: bool) -> Tensor:
    """T' at some nodes, (..., len(nodes))."""
    marked: Any = {"enumerate": "tree"}  # Pyro's type for it lists the ways to enumerate that Pyro has
    if one_by_one:
        pairs = [
            pyro.sample(
                f"pair {node}", dist.Categorical(logits=logits[start[node] : start[node + 1]]), infer=marked
            )
            for node in nodes.tolist()
        ]
        values = torch.broadcast_tensors(*pairs)
        # Values enumerated in parallel have a dimension 1 for the plate of slots: it becomes the nodes'.
        return torch.cat(values, -1) if values[0].dim() else torch.stack(values, -1)
    with pyro.plate(f"nodes{name}", len(nodes)):
        return pyro.sample(f"pairs{name}", _pairs_at(logits, start, nodes), infer=marked)


def _pairs_at(logits: Tensor, start: Tensor, nodes: Tensor) -> PunctemePairs:
    """The distribution of the choices of some nodes, given in order."""
    if len(nodes) == len(start) - 1:
        return PunctemePairs(logits, start)
    wanted = torch.zeros(len(start) - 1, dtype=torch.bool)
    wanted[nodes] = True
    sizes = start.diff()
    return PunctemePairs(
        logits[..., torch.repeat_interleave(wanted, sizes)],
        torch.nn.functional.pad(sizes[nodes].cumsum(0), (1, 0)),
    )


def _put(shown: Tensor, slots: Tensor, drawn: Tensor) -> Tensor:
    """``shown`` with the strings of some slots replaced."""
    longest = max(shown.shape[-1], drawn.shape[-1])
    shown, drawn = (
        torch.nn.functional.pad(strings, (0, longest - strings.shape[-1]), value=EMPTY)
        for strings in (shown, drawn)
    )
    return shown.index_copy(0, slots, drawn)
