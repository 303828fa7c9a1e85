"""How a story is told: Pyro sites of the punctemes T' of trees, their surface strings x, and latent trees.

`tell` makes the sites of the joint probability p(T', x | T) of B trees, and returns `Told`::

    pairs     T': the pair (l, r) that each constituent sprouts, as choices from W_d, (..., N)
    surface   x: the strings of all slots, (..., S, L), or evidence about them

They may be drawn, observed, conditioned, replayed or intervened upon.  Told forward, the constituents sprout
bottom-up.  `pyropunct.inference.pyro.collapse` tells p(x | T) instead, and `pyropunct.inference.pyro.decode`
p(x | T) p(T' | T, x).  A tree is an element of a plate with ``dim=-1``, which holds both sites;
`pyropunct.inference.pyro.told` has the rule for dimensions.

Latent trees (`pyropunct.models.trees.LatentTrees`) are drawn before their story is told, by `choose_tree`, or
summed out with their punctemes::

    tree      T: (..., I) of each item of the packed forest whether it is part of T, 1 or 0

It comes first, from p(T | words).  Under `pyropunct.inference.pyro.collapse.collapse_trees` it is gone,
unless given, and "surface" has p(x | words).  Under `pyropunct.inference.pyro.decode.infer_trees` it comes
after "surface", as p(T | words, x).
"""

from collections.abc import Callable
from copy import copy
from typing import Any, Protocol, Self

import numpy as np
import pyro
import pyro.distributions as dist
import torch
from pyro.distributions import TorchDistribution, constraints
from pyro.ops.provenance import detach_provenance
from pyro.poutine.indep_messenger import IndepMessenger
from pyro.poutine.messenger import Messenger
from pyro.poutine.runtime import effectful
from torch import Tensor

from pyropunct.inference import inside
from pyropunct.inference.machines.evidence import EMPTY, as_wide, evidence_of
from pyropunct.inference.packed import PackedForest, without_marks
from pyropunct.inference.pyro.private import Intervention, value_from_handlers
from pyropunct.inference.pyro.told import PAIRS, SURFACE, Surface, Told, row_at

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


class OfTrees(TorchDistribution):
    """Base class of the distributions of all sites: batch shape (..., B)."""

    arg_constraints: dict[str, Any] = {}  # noqa: RUF012, as Pyro has it
    support = constraints.integer

    def __init__(self, trees: int) -> None:
        super().__init__(torch.Size((trees,)), validate_args=False)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Self:
        """The same for each element of plates on the left."""
        # A plate always calls expand(); the default would hide this class.
        expanded = copy(self)
        TorchDistribution.__init__(expanded, torch.Size(batch_shape), validate_args=False)
        return expanded


class TreeOfWords(OfTrees):
    """T given the words."""

    def __init__(self, latent: Latent) -> None:
        super().__init__(latent.forest.num_trees)
        self.latent = latent

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """A draw of T, (..., I)."""
        batch = torch.Size((*sample_shape, *self.batch_shape[:-1]))
        problem = without_marks(self.latent.forest, self.latent.log_arcs.detach())
        return (inside.posterior_draws(problem, batch.numel()) >= 0).long().reshape(*batch, -1)

    def log_prob(self, value: Tensor) -> Tensor:
        """log p(T | words), (..., B)."""
        arcs = torch.where(value > 0, self.latent.log_arcs, 0.0)
        return self.latent.forest.per_tree(arcs).expand(self.batch_shape)


LatentWay = Callable[[Any], Any]
"""What becomes of latent trees before their story is told: trees, or latent trees still."""


def draw_tree(latent: Latent) -> Any:
    """Trees of the site "tree"."""
    with IndepMessenger("sentences", latent.forest.num_trees, dim=-1):
        return latent.trees(pyro.sample(TREE, TreeOfWords(latent)))


def keep_latent(latent: Latent) -> Any:
    """The latent trees as they are; or those of the site "tree", where handlers give it a value."""
    given = value_from_handlers(TREE, TreeOfWords(latent))
    return latent if given is None else draw_tree(latent)


@effectful(type="choose_tree")
def choose_tree(latent: Latent, way: LatentWay = draw_tree) -> Any:
    """Trees in the place of latent ones, unless handlers sum these out by another ``way``."""
    return way(latent)


def _are_equal(one: Any, other: Any) -> bool:
    both = isinstance(one, Tensor) and isinstance(other, Tensor)
    return one is other or (both and torch.equal(detach_provenance(one), detach_provenance(other)))


class TreeSite(OfTrees):
    """Base class of the distributions of T' and x."""

    def __init__(self, told: Told) -> None:
        super().__init__(told.forest.num_trees)
        self.told = told

    def of_trees(self, values: Tensor) -> Tensor:
        """Log-probabilities of trees for all elements of plates, in the precision of the scores."""
        shape = np.broadcast_shapes(values.shape, self.batch_shape)
        precision = torch.promote_types(self.told.log_pairs.dtype, torch.float32)
        return values.to(precision).expand(shape)

    def check(self, surface: Surface) -> None:
        """Raises ValueError for strings other than those that the story was told with."""
        if not _are_equal(surface, self.told.known):
            raise ValueError(
                f"site '{SURFACE}' has other strings than the story was told with: tell it again"
            )


class Sprouted(TreeSite):
    """T': the punctemes of each constituent, by p(l, r | w) (Li, Wang & Eisner 2019, equations 3 and 4)."""

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """T' of the walk that has drawn it with x; or a draw given x, where an intervention has set that."""
        if self.told.walked is not None:
            return self.told.walked[0]
        batch = torch.Size((*sample_shape, *self.batch_shape[:-1]))
        return self.told.draw_sprouted(batch)

    def log_prob(self, value: Tensor) -> Tensor:
        """The sum of log p(l, r | w) p(part | w) over the constituents of each tree, (..., B)."""
        return self.of_trees(self.told.forest.per_tree(self.told.log_sprouted(value)))


class Rewritten(TreeSite):
    """x given T': what the channel makes of each slot's underlying string (section 2.2)."""

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """Draw x; it is that of the walk which has drawn T'."""
        told, choices = self.told, self.told.choices
        if told.walked is not None and _are_equal(told.walked[0], choices):
            return told.walked[1]
        batch = torch.Size((*sample_shape, *self.batch_shape[:-1]))
        slots = torch.arange(told.forest.num_slots)
        nothing = torch.full((len(slots), 1), EMPTY)
        rows = [
            told.rewrite(nothing, row_at(choices, batch, index), slots, batch, index)
            for index in np.ndindex(*batch)
        ]
        return torch.stack(as_wide(rows)).reshape(*batch, len(slots), -1)

    def log_prob(self, value: Surface) -> Tensor:
        """The sum of log p(x_i | u_i) over the slots of each tree, (..., B)."""
        self.check(value)
        return self.of_trees(log_rewritten(self.told, self.told.choices, value))


def log_rewritten(told: Told, choices: Tensor, surface: Surface) -> Tensor:
    """(..., B) log p(x | u(T')) of each tree. Raises NotImplementedError if there are several surfaces."""
    if isinstance(surface, Tensor) and surface.dim() > 2:
        raise NotImplementedError(
            f"{surface.shape[:-2].numel()} surfaces were drawn at once: score them one after the other"
        )
    evidence, slots = evidence_of(surface), torch.arange(told.forest.num_slots)
    total: Any = 0.0
    for weights, some in told.channels(slots):
        each = told.strings(choices, weights, some).log_prob(evidence.of(some))
        sums = each.new_zeros((*each.shape[:-1], told.forest.num_trees))
        total = total + sums.index_add(-1, told.forest.slot_tree[some].to(each.device), each)
    return total


# Telling

Way = Callable[[Told, Surface | None], Told | None]
"""A way to tell a story: it makes the sites of a story, given x or None, in the plate of its trees.

It returns the story of other trees, where it has decoded these.
"""


def forward(told: Told, surface: Surface | None) -> None:
    """Draw T' and x bottom-up, unless given. Raises NotImplementedError if x is given and T' is not."""
    given, shown = given_values(told, surface)
    if given is None and shown is not None and not isinstance(shown, Intervention):
        raise NotImplementedError(
            "a surface is given, but its punctemes would be drawn from their prior, since nothing sums out "
            "the trees: use TreeEnum_ELBO, or collapse_trees(model) with another ELBO, or infer_trees(model)"
        )
    if isinstance(shown, Intervention):
        told.show(shown.value)
    elif given is None:
        told.walk()
    if isinstance(given, Intervention):
        told.decide(given.value)
    else:
        with told.plate:
            told.decide(pyro.sample(PAIRS, Sprouted(told)))
    if not isinstance(shown, Intervention):
        with told.plate:
            value = pyro.sample(SURFACE, Rewritten(told), obs=surface)  # type: ignore[arg-type]
        told.show(value, is_drawn=shown is None)


def given_values(told: Told, surface: Surface | None) -> tuple[Any, Any]:
    """The values, or the `Intervention`, that handlers or a guide give to both sites; None where there is
    none.
    """
    shown = value_from_handlers(SURFACE, Rewritten(told), surface)
    if shown is not None:
        told.refuse_misfit(shown.value if isinstance(shown, Intervention) else shown)
    return value_from_handlers(PAIRS, Sprouted(told)), shown


@effectful(type="tell")
def tell(told: Told, surface: Surface | None = None, plate: Any = "trees", way: Way = forward) -> Told:
    """Make the two sites of a story, see the docstring of this module.

    :param plate: the plate of the trees, or the name of a new one.
    :param way: how it is told; handlers such as `pyropunct.inference.pyro.collapse.collapse_trees` choose it.
    :raises ValueError: if the plate has another size than the number of trees, or another ``dim`` than -1.
    """
    trees = told.forest.num_trees
    if isinstance(plate, str):
        plate = IndepMessenger(plate, trees, dim=-1)  # without a site for its subsample
    elif plate.subsample_size != trees or plate.dim not in (None, -1):
        raise ValueError(
            f"the plate '{plate.name}' has {plate.subsample_size} elements in dim={plate.dim}, but its "
            f"elements are to be {trees} trees in dim=-1"
        )
    told.plate = plate
    told = way(told, surface) or told
    if told.cost is not None and told.sum is None:
        with plate:
            pyro.factor("cost", -told.cost_of_choices(told.cost))
    return told


class TellMessenger(Messenger):
    """A handler that changes how stories are told, and latent trees handled; the outermost one decides."""

    def __init__(self, way: Way, latent_way: LatentWay = draw_tree) -> None:
        super().__init__()
        self._way, self._latent_way = way, latent_way

    def _pyro_tell(self, msg: Any) -> None:
        msg["kwargs"]["way"] = self._way

    def _pyro_choose_tree(self, msg: Any) -> None:
        msg["kwargs"]["way"] = self._latent_way


def _node_by_node(told: Told, surface: Surface | None) -> None:
    _, shown = given_values(told, surface)
    if shown is None or isinstance(shown, Intervention):
        raise NotImplementedError("one_by_one needs a surface: it compares sums over the punctemes behind it")
    if told.parts is not None:
        raise NotImplementedError(
            "one_by_one has no sites for the parts of constituents: use a story without them"
        )
    told.show(shown)
    if told.log_pairs.dim() > 1 and told.forest.num_trees > 1:
        raise NotImplementedError(
            "one_by_one makes the sites of constituents outside of the plate of trees: where scores depend "
            "on an enumerated site, compare one tree at a time"
        )
    values = []
    for node, scores in enumerate(told.log_pairs.split(told.start.diff().tolist(), -1)):
        logits = scores.unsqueeze(-2) if scores.dim() > 1 else scores
        site = dist.Categorical(logits=logits)
        values.append(pyro.sample(f"pair {node}", site, infer={"enumerate": "parallel"}))
    values = list(torch.broadcast_tensors(*values))
    # Values enumerated in parallel have a dimension of 1 for the plate of trees: it becomes the nodes'.
    told.decide(torch.cat(values, -1) if values[0].dim() else torch.stack(values, -1))
    with told.plate:
        pyro.sample(SURFACE, Rewritten(told), obs=shown)


def one_by_one(model: Callable[..., Any]) -> Callable[..., Any]:
    """The model with a site "pair 0", "pair 1", ... for each node, as `pyro.infer.TraceEnum_ELBO` needs it.

    For comparisons: the sites are marked to be enumerated in parallel, and their number is small.

    :raises NotImplementedError: when called, without a surface, or for several trees whose scores depend on
        an enumerated site.
    """
    return TellMessenger(_node_by_node)(model)
