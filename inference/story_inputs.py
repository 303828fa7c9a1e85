"""What a story is given: trees, the scores of punctemes, and a channel.

**Dimensions.**  A tree is an element of a plate with ``dim=-1``.  Scores are (*batch, C) and the channel's
weights (*batch, P).  The last dimension of a batch shape is that of the trees: 1, or B if each tree
has its own numbers; plates and enumerated sites are to its left.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import torch
from pyro.infer.util import is_validation_enabled
from torch import Tensor

from pyropunct.inference.inside import refuse_transforms
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.machines.evidence import SlotEvidence
from pyropunct.inference.machines.transducers import Transducer
from pyropunct.inference.packed import PackedForest
from pyropunct.inference.pairs import log_probabilities
from pyropunct.inference.parts import PartScores
from pyropunct.inference.ragged import runs, starts_of
from pyropunct.inference.views import Scorer, Views, views_of

Surface = Tensor | SlotEvidence
"""(S, L) surface strings, filled up with -1, or evidence about them."""

Cost = Tensor | Callable[[Tensor, Tensor], Tensor]
"""A cost of punctemes: a table, or a function.

A table, (R,), has a number for each row of the inventory: for each pair (l, r) that a relation may sprout.  A
function is given the nodes, (C,), and the rows, (C,), of all pairs that the nodes may sprout; it returns (C,)
numbers.
"""


OPENS = "opens a clause"
"""The column of trees (``more``) that says of each word whether a clause begins behind it, 1 or 0."""


class Trees(Protocol):
    """B unpunctuated trees with N nodes."""

    @property
    def forest(self) -> Any:
        """Their shapes: a `pyropunct.inference.forest.Forest`, or a `PackedForest` where they are latent."""

    @property
    def relation(self) -> Tensor:
        """(N,) the relation of each node."""


@dataclass(frozen=True, eq=False)
class StoryInputs:
    """What p(T', x | T) of some trees is made of.

    :ivar scores: (*batch, C) the scores of all pairs of all nodes; or a function from views of nodes, with
        the marks inside them, to the scores of their pairs.
    :ivar transducer: the channel that rewrites underlying strings, with (*batch, P) its ``weights``.
    :ivar cost: a cost of punctemes: the story then is p(T', x | T) exp(-cost(T')).  It counts as a constant.
    :ivar parts: parts of constituents between marks (`pyropunct.inference.parts`). Latent trees have none.
    :ivar looks_inside: whether scores depend on the marks inside constituents.
    :ivar seen: a surface, and views of all nodes with the marks of this surface inside them.
    :ivar of_tree: gives what a story of latent trees is made of once T is known.
    :raises ValueError: if there are no trees, or if the shape of weights or costs does not fit them; if the
        channel has other tokens than the inventory; or, as `MachineError`, if the weights are not
        probabilities. That they add up to 1 is checked only while Pyro validates.
    """

    trees: Any
    inventory: Inventory
    scores: Tensor | Scorer
    transducer: Transducer
    weights: Tensor
    cost: Cost | None = None
    parts: PartScores | None = None
    looks_inside: bool = True
    seen: tuple[Surface, Views] | None = None
    of_tree: Callable[[Any], "StoryInputs"] | None = None

    def __post_init__(self) -> None:
        nodes, tokens = self.forest.num_nodes, self.inventory.num_tokens
        if not self.forest.num_trees:
            raise ValueError("there are no trees to tell the story of")
        refuse_transforms(self.weights, *([self.scores] if isinstance(self.scores, Tensor) else []))
        if self.transducer.num_tokens != tokens:
            raise ValueError(
                f"the channel has {self.transducer.num_tokens} tokens, the inventory {tokens}: make both for "
                "the same vocabulary"
            )
        if len(self.trees.relation) != nodes:
            raise ValueError(f"there are {len(self.trees.relation)} relations for {nodes} nodes")
        self.transducer.check(self.weights, sums=is_validation_enabled())
        if self.is_by_tree:
            self._refuse_other_size(self.weights, "the channel's weights")
        _ = self.costs  # whose shape is checked

    @property
    def forest(self) -> Any:
        """The shapes of the trees."""
        return self.trees.forest

    @property
    def is_latent(self) -> bool:
        """Whether T is summed out: nodes then are items of a packed forest."""
        return isinstance(self.forest, PackedForest)

    def with_trees(self, trees: Any) -> "StoryInputs":
        """What a story of latent trees is made of, once T is known."""
        if self.of_tree is None:
            raise TypeError("these trees are not latent")
        return self.of_tree(trees)

    @property
    def is_by_tree(self) -> bool:
        """Whether each tree has weights of the channel of its own."""
        return self.weights.dim() > 1 and self.weights.shape[-2] > 1

    @cached_property
    def start(self) -> Tensor:
        """(N + 1,) where the pairs of each node start."""
        return torch.from_numpy(self.inventory.choice_start(self.trees.relation))

    @cached_property
    def clause(self) -> Tensor:
        """(S,) in which slots a clause begins; none if the inventory has no token for it."""
        clause = torch.zeros(self.forest.num_slots, dtype=torch.bool)
        opens = getattr(self.trees, "more", {}).get(OPENS)
        if opens is not None and not self.is_latent and self.inventory.clause_token is not None:
            place = opens.nonzero()[:, 0].cpu()
            clause[place + self.forest.tree[place] + 1] = True
        return clause

    def channels(self, slots: Tensor) -> list[tuple[Tensor, Tensor]]:
        """The channel's weights, (..., P), each with the slots that it rewrites, tree by tree if need be."""
        if not self.is_by_tree:
            return [(self.weights.squeeze(-2) if self.weights.dim() > 1 else self.weights, slots)]
        tree = self.forest.slot_tree[slots]
        parts = [(self.weights[..., b, :], slots[tree == b]) for b in range(self.forest.num_trees)]
        return [part for part in parts if len(part[1])]

    @cached_property
    def costs(self) -> Tensor | None:
        """(C,) the cost of each pair of each node, if there is a cost."""
        return None if self.cost is None else self.of_pairs(self.cost)

    def of_pairs(self, cost: Cost) -> Tensor:
        """(C,) the cost of each pair of each node. Raises ValueError if it has another shape."""
        rows = self.inventory.choice_rows(self.trees.relation)
        if isinstance(cost, Tensor):
            wanted, found = (len(self.inventory.rows),), tuple(cost.shape)
            numbers = cost[rows.to(cost.device)] if found == wanted else cost
        else:
            numbers = cost(torch.repeat_interleave(self.start.diff()), rows)
            wanted, found = (len(rows),), tuple(numbers.shape)
        if found != wanted:
            what = "row of the inventory" if isinstance(cost, Tensor) else "pair of each node"
            raise ValueError(f"a cost has shape {found}: it needs {wanted}, a number for each {what}")
        return numbers

    def views(self, surface: Surface) -> Views:
        """Views of all nodes. Raises ValueError if evidence leaves open a mark that scores depend on."""
        if self.seen is not None and self.seen[0] is surface:
            return self.seen[1]
        if isinstance(surface, SlotEvidence):
            if self.looks_inside:
                self._refuse_open_slots(surface)
            surface = surface.settled()
        return views_of(self.forest, surface, skipped=self.inventory.clause_token)

    def log_pairs(self, views: Views) -> Tensor:
        """(..., C) log p(l, r | w) of the pairs of views, view after view."""
        sizes = self.start.diff()[views.node.cpu()]
        return log_probabilities(self.pair_scores(views), torch.from_numpy(starts_of(sizes.numpy())))

    def pair_scores(self, views: Views) -> Tensor:
        """(..., C) the scores of the pairs of views; each tree has its own.

        :raises ValueError: for scores that are NaN, infinite, or of another size.
        """
        node = views.node.cpu()
        sizes = self.start.diff()[node]
        if isinstance(self.scores, Tensor):
            found, wanted = self.scores.shape[-1:], int(self.start[-1])
            if found != (wanted,):
                raise ValueError(
                    f"scores of pairs have the shape (..., {wanted}), not {tuple(self.scores.shape)}"
                )
            places = torch.from_numpy(runs(self.start[node].numpy(), sizes.numpy()))
            scores = self.scores[..., places.to(self.scores.device)]
        else:
            scores = self.scores(views)
        refuse_transforms(scores)
        if scores.dtype == torch.bfloat16:
            raise ValueError("site 'pairs': sums over trees do not take scores in bfloat16, use float32")
        impossible = scores.isnan() | scores.isposinf()
        if impossible.any():
            raise ValueError(f"site 'pairs': {int(impossible.sum())} scores of pairs are NaN or infinite")
        if scores.dim() == 1:
            return scores
        if scores.shape[-2] == 1:
            return scores.squeeze(-2)
        self._refuse_other_size(scores, "scores of pairs")
        own = torch.repeat_interleave(self.forest.tree[node], sizes).to(scores.device)
        return scores[..., own, torch.arange(len(own), device=scores.device)]

    def _refuse_other_size(self, values: Tensor, what: str) -> None:
        if values.shape[-2] != self.forest.num_trees:
            raise ValueError(
                f"{what} have the batch shape {tuple(values.shape[:-1])}, whose last dimension is that of "
                f"the {self.forest.num_trees} trees: give it the size 1, or one for each tree"
            )

    def _refuse_open_slots(self, evidence: SlotEvidence) -> None:
        """Refuse evidence that leaves open a slot strictly inside a constituent."""
        start, inner = self.forest.slot_start, torch.ones(len(evidence), dtype=torch.bool)
        inner[start[:-1]] = inner[start[1:] - 1] = False
        open_slots = (evidence.open & inner).nonzero()[:, 0]
        if len(open_slots):
            tree = int((start <= open_slots[0]).sum()) - 1
            raise ValueError(
                "the attach model looks at the punctuation inside constituents, which the evidence about "
                f"slot {int(open_slots[0] - start[tree])} of tree {tree} of the batch leaves open"
            )


def row_at(values: Tensor, batch: torch.Size, index: tuple[int, ...]) -> Tensor:
    """The row of (..., C) values at an index of a batch."""
    try:
        return values.expand(*batch, -1)[index]
    except RuntimeError:
        raise NotImplementedError(
            f"the weights of the story have the dimensions {tuple(values.shape[:-1])} on the left, the "
            f"plates around it {tuple(batch)}: where sites are enumerated, a story is summed out, not drawn"
        ) from None
