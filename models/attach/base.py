"""The base class of attach models: p_theta(l, r | w) of Li, Wang & Eisner (2019, section 2.1, equation 4)."""

from collections.abc import Callable, Iterable
from itertools import chain
from typing import ClassVar, NamedTuple

import torch
from pyro.nn import PyroModule
from torch import Tensor

from pyropunct.errors import VariantError
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.problem import choice_rows, choice_start
from pyropunct.inference.ragged import runs
from pyropunct.models.attach.views import Contexts, Views
from pyropunct.models.trees import TreeBatch

Scorer = Callable[[Views], Tensor]
"""Gives the scores of views of the nodes of a batch of trees: see `Attach.scorer`."""


class Pairs(NamedTuple):
    """(C,) the view and the inventory row of each pair in W_d of V views, view after view."""

    view: Tensor
    row: Tensor


class Attach(PyroModule):
    """A model of the pair of punctemes that a constituent w sprouts::

        p(l, r | w) = exp score(l, r, w) / sum over (l', r') in W_d of exp score(l', r', w)

    Scores may depend on the whole unpunctuated tree and on the surface punctuation strictly inside w.

    Subclasses override `scores`, or `scorer` to share computations between many views of the same trees.
    `pyro.nn.PyroSample` attributes are weights with a prior; plain parameters are trained without one. A
    model is in training mode only while it is trained.
    """

    grown: ClassVar[frozenset[str]] = frozenset()
    """The buffers whose sizes depend on the training treebank.  The arguments fix the sizes of all others."""

    def __init__(self, inventory: Inventory) -> None:
        super().__init__()
        self.inventory = inventory

    def scores(self, trees: TreeBatch, views: Views) -> Tensor:
        """The scores of puncteme pairs for V views, in one of three shapes:

        - (..., V, R): one column for each of the R rows of the inventory;
        - (..., V, K): one column for each pair in W_d, padded to the size K of the largest set;
        - (..., C): the pairs that `pairs_of` lists, in its order.

        Scores outside W_d are ignored. Trees and views are on the device of the model's parameters. If the
        shape is ambiguous, a table is assumed.

        :raises NotImplementedError: if a subclass overrides neither this method nor `scorer`.
        """
        if type(self).scorer is Attach.scorer:
            raise NotImplementedError(f"{type(self).__name__} overrides neither scores nor scorer of Attach")
        return self.scorer(trees)(views)

    def scorer(self, trees: TreeBatch) -> Scorer:
        """A function from views of these trees to the scores of their pairs, (..., C), view after view."""
        device = next(chain(self.parameters(), self.buffers()), trees.relation).device
        there = trees if device == trees.relation.device else trees.to(device)
        return lambda views: self.flat(self.scores(there, views.to(device)), trees, views)

    def flat(self, scores: Tensor, trees: TreeBatch, views: Views) -> Tensor:
        """(..., C) scores of pairs from any shape of `scores`. Raises VariantError for other shapes."""
        relation = trees.relation.cpu()[views.node]
        rows, start = len(self.inventory.rows), torch.from_numpy(self.inventory.pair_start)
        largest, wanted = int(start.diff().max()), int(start.diff()[relation].sum())
        shape = tuple(scores.shape) if isinstance(scores, Tensor) and scores.is_floating_point() else ()
        if shape[-2:] in ((len(relation), rows), (len(relation), largest)):
            view, row = self.pairs_of_nodes(relation)
            column = row if shape[-1] == rows else row - start[relation[view]]
            return scores[..., view, column]
        if shape[-1:] == (wanted,):
            return scores
        given = f"numbers of shape {shape}" if shape else repr(scores)
        raise VariantError(
            f"its scores are {given}, where {wanted} numbers are needed: one for each pair of each view, as "
            f"pairs_of lists them; or a table of {len(relation)} views by the {rows} pairs of the inventory, "
            f"or by {largest}, the most pairs of a relation"
        )

    def observed(self, trees: TreeBatch, views: Views) -> Tensor:
        """The scores of all nodes, when x is observed; override it to add a `pyro.factor` in training."""
        return self.scorer(trees)(views)

    @property
    def reads_surface(self) -> bool:
        """Whether any score depends on the marks inside.  If not, many draws are quicker."""
        return True

    def learn(self, treebank: Iterable[tuple[TreeBatch, Views]]) -> None:
        """Read large batches of the training treebank, with views of all nodes, before training begins."""

    def contexts(self, trees: TreeBatch, views: Views) -> Contexts | None:
        """The contexts of views, for models that look them up once rather than in each epoch."""
        return None

    def starting_point(self) -> dict[str, Tensor]:
        """Where training starts: values of `pyro.nn.PyroSample` attributes; others start at their means."""
        return {}

    def make_sparse(self) -> frozenset[str]:
        """Make gradients sparse from now on; returns the `pyro.nn.PyroSample` attributes that have them."""
        return frozenset()

    def pairs_of(self, trees: TreeBatch, views: Views) -> Pairs:
        """The pairs that need a score: the pairs of each view's W_d, view after view."""
        return self.pairs_of_nodes(trees.relation[views.node])

    def pairs_of_nodes(self, relation: Tensor) -> Pairs:
        """The pairs of nodes, or of views, with these relations."""
        sizes = torch.from_numpy(choice_start(self.inventory, relation)).diff()
        view, row = torch.repeat_interleave(sizes), choice_rows(self.inventory, relation.cpu())
        return Pairs(view.to(relation.device), row.to(relation.device))

    def of_views(self, scores: Tensor, trees: TreeBatch, views: Views) -> Tensor:
        """The scores of views' pairs, where scores depend on the trees alone."""
        start, node = choice_start(self.inventory, trees.relation), views.node.numpy()
        first, end = start[node], start[node + 1]
        return scores.index_select(-1, torch.from_numpy(runs(first, end - first)).to(scores.device))
