"""What an attach model is: p_theta(l, r | w) of Li, Wang & Eisner (2019, section 2.1, equation 4).

It sees *views*: constituents with the surface punctuation strictly inside them.  Punctemes are attached
bottom-up, so the choice may depend on the "surface punctuation already added to w's subconstituents" (section
2.1, d).  `PairFrequencies` is the simplest one.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyro.distributions as dist
import torch
from numpy.typing import NDArray
from pyro.nn import PyroModule, PyroSample
from torch import Tensor

from pyropunct.errors import VariantError
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.pyro.private import make_sites
from pyropunct.inference.ragged import Ints, runs, starts_of
from pyropunct.inference.views import Scorer, Views
from pyropunct.models.trees import AnyTrees, TreeBatch


class Contexts(NamedTuple):
    """The contexts of V views that have weights in a `LogLinearAttach`.

    :ivar start: (V + 1,) where the contexts of each view start in ``number``, which is ``int32``.
    """

    start: Ints
    number: NDArray[np.int32]

    def of(self, views: Ints) -> "Contexts":
        """The contexts of the views with these numbers, in this order."""
        first = self.start[views]
        sizes = self.start[views + 1] - first
        return Contexts(starts_of(sizes), self.number[runs(first, sizes)])


def join_contexts(parts: Sequence[Contexts]) -> Contexts:
    """The contexts of the views of several batches, one batch after the other."""
    sizes = np.concatenate([np.diff(part.start) for part in parts])
    return Contexts(starts_of(sizes), np.concatenate([part.number for part in parts]))


class Pairs(NamedTuple):
    """(C,) the view and the inventory row of each pair in W_d of V views, view after view."""

    view: Tensor
    row: Tensor


class Attach(PyroModule):
    """A model of the pair of punctemes that a constituent w sprouts::

        p(l, r | w) = exp score(l, r, w) / sum over (l', r') in W_d of exp score(l', r', w)

    Scores may depend on the whole unpunctuated tree and on the surface punctuation strictly inside w.

    Subclasses override one method, `scores`.  It may share computations between many views of the same trees
    by `TreeBatch.once`.  `pyro.nn.PyroSample` attributes are weights with a prior; plain parameters are
    trained without one. A model is in training mode only while it is trained.
    """

    treebank_sized: ClassVar[frozenset[str]] = frozenset()
    """The buffers whose sizes depend on the training treebank.  The arguments fix the sizes of all others."""

    is_local: ClassVar[bool] = False
    """Whether scores depend only on the arc and the span of w, so that trees can be summed out.

    Then `scores` takes `LatentTrees` too, whose nodes are items.  A subclass that overrides `scores` must set
    it again."""

    sparse: bool = False
    """Whether weights are read as views need them, in training: see `make_sparse`."""

    on_cpu: ClassVar[bool] = False
    """Whether `scores` takes trees and views on the CPU, wherever the model's parameters are."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "scores" in vars(cls) and "is_local" not in vars(cls):
            cls.is_local = False

    def __init__(self, inventory: Inventory) -> None:
        super().__init__()
        self.inventory = inventory

    def scores(self, trees: Any, views: Views) -> Tensor:
        """The scores of puncteme pairs for V views, in one of three shapes:

        - (..., V, R): one column for each of the R rows of the inventory;
        - (..., V, K): one column for each pair in W_d, padded to the size K of the largest set;
        - (..., C): the pairs that `pairs_of` lists, in its order.

        Scores outside W_d are ignored. Trees and views are on the device of the model's parameters, unless
        `on_cpu`. If the shape is ambiguous, a table is assumed.

        :param trees: a `TreeBatch`; or, if the model `is_local`, `LatentTrees`, which stay on the CPU.
        :raises NotImplementedError: if a subclass does not override this method.
        """
        raise NotImplementedError(f"{type(self).__name__} does not override scores of Attach")

    def scorer(self, trees: AnyTrees) -> Scorer:
        """A function from views of these trees to the scores of their pairs, (..., C), view after view.

        Its calls share what `TreeBatch.once` computes. It raises `VariantError` for scores of other shapes.
        Sites of weights are made here, since views may be scored in a plate that has nothing to do with them.
        """
        if not self.sparse:
            make_sites(self)
        there, device = trees, trees.relation.device
        if isinstance(trees, TreeBatch):
            if self.on_cpu:
                device = torch.device("cpu")
            else:
                device = next(chain(self.parameters(), self.buffers()), trees.relation).device
            there = (trees if device == trees.relation.device else trees.to(device)).remembering()
        # No closure: what a story returns can be pickled.
        return partial(self._scores_of_pairs, there, trees.relation.cpu(), device)

    def _scores_of_pairs(
        self, trees: AnyTrees, relation: Tensor, device: torch.device, views: Views
    ) -> Tensor:
        return self._flat(self.scores(trees, views.to(device)), relation[views.node])

    def _flat(self, scores: Tensor, relation: Tensor) -> Tensor:
        """(..., C) scores of pairs from any shape of `scores`, of views with these relations."""
        rows, start = len(self.inventory.rows), torch.from_numpy(self.inventory.pair_start)
        sizes = start.diff()
        largest, wanted = int(sizes.max()), int(sizes[relation].sum())
        shape = tuple(scores.shape) if isinstance(scores, Tensor) and scores.is_floating_point() else ()
        # Of one view, (plate, 1, wanted) are numbers of a plate on the left of one of trees.
        is_line = len(relation) == 1 and shape[-1:] == (wanted,) and shape[-3:-2] != (1,)
        if not is_line and shape[-2:] in ((len(relation), rows), (len(relation), largest)):
            view, row = self._pairs(relation)
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

    def pairs_of(self, trees: AnyTrees, views: Views | None = None) -> Pairs:
        """The pairs in W_d of each view, view after view; without views, of each node."""
        return self._pairs(trees.relation if views is None else trees.relation[views.node])

    def _pairs(self, relation: Tensor) -> Pairs:
        sizes = torch.from_numpy(self.inventory.choice_start(relation)).diff()
        view, row = torch.repeat_interleave(sizes), self.inventory.choice_rows(relation.cpu())
        return Pairs(view.to(relation.device), row.to(relation.device))

    def of_views(self, scores: Tensor, trees: AnyTrees, views: Views) -> Tensor:
        """The scores of views' pairs, from scores of all nodes that depend on the trees alone."""
        start, node = self.inventory.choice_start(trees.relation), views.node.cpu().numpy()
        first, end = start[node], start[node + 1]
        return scores.index_select(-1, torch.from_numpy(runs(first, end - first)).to(scores.device))


class PairFrequencies(Attach):
    """One distribution over W_d for each relation d, whatever the context::

        p(l, r | w) is in proportion to exp table[d, l, r]

    :param prior_scale: the standard deviation of the normal prior of the table.
    """

    reads_surface = False
    is_local = True

    def __init__(self, inventory: Inventory, marks: Sequence[str] = (), prior_scale: float = 1.0) -> None:
        super().__init__(inventory)
        prior = dist.Normal(torch.zeros(len(inventory.rows)), prior_scale).to_event(1)
        self.table: Any = PyroSample(prior)  # a tensor when read

    def scores(self, trees: AnyTrees, views: Views) -> Tensor:
        """The relation's part of the table, for each view.

        :raises VariantError: if the table has another size.
        """
        table, rows = self.table, len(self.inventory.rows)
        if table.shape[-1:] != (rows,):
            raise VariantError(
                f"the table has the shape {tuple(table.shape)}: it needs one number for each of the "
                f"{rows} pairs of the inventory"
            )
        return table[..., self.pairs_of(trees, views).row]
