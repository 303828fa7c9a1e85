"""What an attach model is: p_theta(l, r | w) of Li, Wang & Eisner (2019, section 2.1, equation 4)."""

from collections.abc import Callable, Iterable
from typing import ClassVar, NamedTuple

import torch
from pyro.nn import PyroModule
from torch import Tensor

from pyropunct.inference.inventory import Inventory
from pyropunct.inference.problem import choice_rows, choice_start
from pyropunct.inference.ragged import runs
from pyropunct.models.attach.views import Contexts, Views
from pyropunct.models.trees import TreeBatch

Scorer = Callable[[Views], Tensor]
"""Gives the scores of any views of the nodes of some trees: see `Attach.scores`."""


class Pairs(NamedTuple):
    """The puncteme pairs of V views, view after view: those that the relation d of a view's node has in W_d.

    :ivar view: (C,) the view of each pair.
    :ivar row: (C,) the pair, as a row of the inventory.
    """

    view: Tensor
    row: Tensor


class Attach(PyroModule):
    """A model of the pair of punctemes that a constituent w sprouts::

        p(l, r | w) = exp score(l, r, w) / sum over (l', r') in W_d of exp score(l', r', w)

    The scores may depend on the whole unpunctuated tree, and on the surface punctuation strictly inside w.

    A subclass overrides one method, `scores`; or `scorer` in its place, if much depends on the trees alone
    and need be computed only once.  Weights with a prior are `pyro.nn.PyroSample` sites; plain parameters are
    trained too, without a prior.  A model is in training mode during training alone.

    :param inventory: the sets W_d.
    """

    grown: ClassVar[frozenset[str]] = frozenset()
    """Buffers whose sizes only the training treebank tells; those of all others follow from the arguments."""

    def __init__(self, inventory: Inventory) -> None:
        super().__init__()
        self.inventory = inventory

    def scores(self, trees: TreeBatch, views: Views) -> Tensor:
        """The scores of the pairs in W_d of each view's node, (C,), view after view.

        `pairs_of` says which pairs these are, in this order.

        :raises NotImplementedError: if a subclass overrides neither this method nor `scorer`.
        """
        if type(self).scorer is Attach.scorer:
            raise NotImplementedError(f"{type(self).__name__} overrides neither scores nor scorer of Attach")
        return self.scorer(trees)(views)

    def scorer(self, trees: TreeBatch) -> Scorer:
        """`scores` for these trees, as a function of the views: what stories and draws call."""
        return lambda views: self.scores(trees, views)

    @property
    def reads_surface(self) -> bool:
        """Whether any score depends on the marks inside: where none does, many draws are quicker."""
        return True

    def learn(self, treebank: Iterable[tuple[TreeBatch, Views]]) -> None:
        """Look at the training treebank before training begins.

        :param treebank: its trees in large batches, with the views of all their nodes.
        """

    def contexts(self, trees: TreeBatch, views: Views) -> Contexts | None:
        """What is worth looking up once for views that are scored in each epoch: see `Views.contexts`."""
        return None

    def starting_point(self) -> dict[str, Tensor]:
        """Values for some `pyro.nn.PyroSample` attributes from which training is to start."""
        return {}

    def make_sparse(self) -> frozenset[str]:
        """Let gradients be sparse from now on; returns the `pyro.nn.PyroSample` attributes whose are."""
        return frozenset()

    def pairs_of(self, trees: TreeBatch, views: Views) -> Pairs:
        """The pairs whose scores are wanted."""
        return self.pairs_of_nodes(trees.relation.cpu()[torch.from_numpy(views.node)])

    def pairs_of_nodes(self, relation: Tensor) -> Pairs:
        """The pairs of nodes or views with some relations."""
        relation = relation.cpu()
        sizes = torch.from_numpy(choice_start(self.inventory, relation)).diff()
        view = torch.repeat_interleave(torch.arange(len(sizes)), sizes)
        return Pairs(view, choice_rows(self.inventory, relation))

    def of_views(self, scores: Tensor, trees: TreeBatch, views: Views) -> Tensor:
        """Scores of the nodes' pairs as those of views: for scores that depend on the trees alone.

        :param scores: (..., C) the scores of the pairs of all nodes, node after node.
        """
        start = choice_start(self.inventory, trees.relation)
        first, end = start[views.node], start[views.node + 1]
        return scores.index_select(-1, torch.from_numpy(runs(first, end - first)).to(scores.device))
