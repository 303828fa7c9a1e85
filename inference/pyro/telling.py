"""How a story is told: two Pyro sites for the punctemes T' of trees and for their surface strings x.

A story is the joint probability p(T', x | T) of B trees.  `tell` makes its two sites, and `Told` is what it
returns::

    pairs     T': the pair (l, r) that each constituent sprouts, as choices from W_d, (..., N)
    surface   x: the strings of all slots, (..., S, L), or evidence about them

Their names, shapes and meaning are always the same.  They may be drawn, observed, conditioned, replayed or
intervened upon.  Told forward, as here, the constituents sprout bottom-up, so that a choice may depend on the
marks inside; then p(T' | T, x) is only the product of these choices.  `pyropunct.inference.pyro.collapse`
tells p(x | T) instead, and `pyropunct.inference.pyro.decode` p(x | T) p(T' | T, x).

**Dimensions.**  A tree is an element of a plate with ``dim=-1``, which holds both sites.  So the sites have
log-probabilities of shape (..., B).  What the story is told with has a batch shape on the left, as everything
in Pyro: scores are (*batch, C) and the channel's weights (*batch, P).  The last dimension of a batch shape is
that of the trees: 1, or B for trees with weights of their own.  Those to its left are of plates around the
story and of enumerated sites.  In values of the sites the nodes, or the slots, of all trees stand in the
place of the trees.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
import pyro
import pyro.distributions as dist
import torch
from pyro.distributions import TorchDistribution, constraints
from pyro.ops.provenance import detach_provenance, get_provenance
from pyro.poutine.indep_messenger import IndepMessenger
from pyro.poutine.messenger import Messenger
from pyro.poutine.runtime import effectful, get_plates
from torch import Tensor

from pyropunct.inference.forest import Forest
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.machines.automata import side_by_side
from pyropunct.inference.machines.evidence import EMPTY, SlotEvidence, as_wide, evidence_of
from pyropunct.inference.machines.transducers import Transducer
from pyropunct.inference.problem import Problem, choice_start
from pyropunct.inference.pyro.pairs import draw_choices, log_probabilities, of_choices
from pyropunct.inference.pyro.private import Intervention, refuse_transforms, value_from_handlers
from pyropunct.inference.pyro.strings import SurfaceStrings, Underlying

PAIRS, SURFACE = "pairs", "surface"
"""The names of the two sites."""

Surface = Tensor | SlotEvidence
"""(S, L) surface strings, filled up with -1, or evidence about them."""

Scores = Callable[[Surface, Tensor | None], Tensor]
"""Scores (*batch, C) of the pairs of some nodes, or of all (None), given the marks inside constituents."""


class UndecidedError(NotImplementedError):
    """The choices of constituents are wanted, but they are summed out and have no values."""


class Trees(Protocol):
    """B unpunctuated trees with N nodes."""

    @property
    def forest(self) -> Forest:
        """Their shapes."""

    @property
    def relation(self) -> Tensor:
        """(N,) the relation of each node."""


class Told:
    """A story of some trees, as far as it is told: p(T', x | T), and what is known of T' and x.

    :param trees: the unpunctuated trees T.
    :param inventory: the sets W_d.
    :param scores: (*batch, C) the scores of all pairs of all nodes; or a function that gives those of the
        pairs of some nodes, node after node, with the marks of a surface strictly inside them.
    :param transducer: the channel that rewrites underlying strings.
    :param weights: (*batch, P) the channel's weights, in one line.
    :raises ValueError: if there are no trees, or if the batch shape of the weights does not fit them.

    :ivar known: x, or the evidence about it, when it is known.
    :ivar log_pairs: (..., C) log p(l, r | w) given the marks inside, when x is known.
    :ivar sum: the sum over T', a `pyropunct.inference.pyro.collapse.Sum`, where T' is summed out.
    :ivar sentences: how many of the trees each sentence has, where these are mixed
        (`pyropunct.inference.pyro.mixture`).
    :ivar walked: (..., N) T', (..., S, L) x and (..., C) log p(l, r | w), as `walk` has drawn them.
    :ivar plate: the plate of the trees.
    :ivar cost: (C,) what `pyropunct.inference.pyro.costs.tree_factor` takes off the logarithm of each pair.
    """

    def __init__(
        self,
        trees: Trees,
        inventory: Inventory,
        scores: Tensor | Scores,
        transducer: Transducer,
        weights: Tensor,
    ) -> None:
        if not trees.forest.num_trees:
            raise ValueError("there are no trees to tell the story of")
        refuse_transforms(weights)
        self.trees: Any = trees  # whatever else they have
        self.inventory = inventory
        self.start = torch.from_numpy(choice_start(inventory, trees.relation))
        self._scores, self.transducer, self.weights = scores, transducer, weights
        self._is_by_tree = weights.dim() > 1 and weights.shape[-2] > 1
        if not self._is_by_tree and weights.dim() > 1:
            self.weights = weights.squeeze(-2)
        elif self._is_by_tree:
            self._refuse_other_size(weights, "the channel's weights")
        self._choices: Tensor | None = None
        self._completed: Tensor | None = None
        self.known: Any = None
        self.log_pairs: Any = None
        self.sum: Any = None
        self.sentences: Sequence[int] | None = None
        self.cost: Tensor | None = None
        self.walked: tuple[Tensor, Tensor, Tensor] | None = None
        self.plate: Any = None

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Refuse to be a tensor, as `pyro.infer.Predictive` wants a model's return value to be.

        :raises NotImplementedError: always.
        """
        raise NotImplementedError(
            f"{func.__name__} needs tensors, but what a story returns has trees, choices and a surface: take "
            f"the sites '{PAIRS}' and '{SURFACE}'"
        )

    @property
    def forest(self) -> Forest:
        """The shapes of the trees."""
        return self.trees.forest

    @property
    def choices(self) -> Tensor:
        """(..., N) T': the choice of each node from its relation's W_d.

        :raises UndecidedError: if all choices are summed out.
        """
        if self._choices is None:
            raise UndecidedError(
                "the choices of constituents are summed out over trees and have no values: use infer_trees "
                "to draw them, or tree_expectation and tree_factor for what depends on them"
            )
        return self._choices

    @property
    def is_decided(self) -> bool:
        """Whether T' has a value: it was drawn or given, and is not summed out."""
        return self._choices is not None

    def decide(self, choices: Tensor) -> None:
        """Let T' have a value.

        :raises ValueError: if it has another number of nodes than the trees.
        """
        nodes = self.forest.num_nodes
        if choices.shape[-1:] != (nodes,):
            raise ValueError(f"site '{PAIRS}' has values of shape {tuple(choices.shape)} for {nodes} nodes")
        self._choices = choices

    @property
    def surface(self) -> Any:
        """x, (S, L) strings filled up with -1; or evidence about it, where nothing more is known."""
        return self.known if self._completed is None else self._completed

    def show(self, surface: Surface) -> None:
        """Let x be known, and with it p(l, r | w) of all constituents.

        :raises ValueError: if a score is not a number.
        """
        self.known = surface
        if self.walked is not None and _are_equal(self.walked[1], surface):
            self.log_pairs = self.walked[2]
        elif isinstance(surface, Tensor) and surface.dim() > 2:  # several x, drawn at once
            batch = surface.shape[:-2]
            rows = [_at(self.log_probabilities(surface[index]), batch, index) for index in np.ndindex(*batch)]
            self.log_pairs = torch.stack(rows).reshape(*batch, -1)
        else:
            self.log_pairs = self.log_probabilities(surface)

    def complete(self, best: bool) -> Tensor:
        """Put strings that agree with T' in the place of evidence: draws of them, or the best ones."""
        evidence, rows = evidence_of(self.known), []
        for weights, some in self.channels(torch.arange(self.forest.num_slots)):
            rows.append(self.strings(self.choices, weights, some).complete(evidence.of(some), best))
        self._completed = torch.cat(as_wide(rows), -2)
        return self._completed

    def refuse_misfit(self, surface: Any) -> None:
        """Refuse a value of the site "surface" that is not x of these trees.

        :raises ValueError: if it is no tensor of one string for each slot, and no evidence either.
        """
        slots = self.forest.num_slots
        if not isinstance(surface, (Tensor, SlotEvidence)):
            raise ValueError(
                f"site '{SURFACE}' is given a {type(surface).__name__}: make it a tensor of token numbers, "
                "(slots, longest string), filled up with -1, or a SlotEvidence"
            )
        shape = tuple(surface.shape)
        if len(shape) != 2 or shape[0] != slots:
            raise ValueError(
                f"site '{SURFACE}' is given strings of shape {shape}, but the trees have {slots} slots: it "
                f"needs the shape ({slots}, longest string), without further dimensions"
            )

    def log_probabilities(self, surface: Surface, nodes: Tensor | None = None) -> Tensor:
        """(..., C) log p(l, r | w) of the pairs of some nodes, or of all, given the marks inside them."""
        if isinstance(self._scores, Tensor):
            scores, start, tree = self._scores, self.start, self.forest.tree
            if nodes is not None:
                sizes = start.diff()[nodes]
                first = torch.repeat_interleave(start[nodes] - (sizes.cumsum(0) - sizes), sizes)
                scores = scores[..., (first + torch.arange(len(first))).to(scores.device)]
        else:
            scores = self._scores(surface, nodes)
        start, tree = self.start, self.forest.tree
        if nodes is not None:
            start = torch.nn.functional.pad(start.diff()[nodes].cumsum(0), (1, 0))
            tree = tree[nodes]
        refuse_transforms(scores)
        if scores.dtype == torch.bfloat16:
            raise ValueError(f"site '{PAIRS}': sums over trees do not take scores in bfloat16, use float32")
        if scores.isnan().any():
            raise ValueError(f"site '{PAIRS}': {int(scores.isnan().sum())} scores of pairs are NaN")
        if scores.dim() > 1 and scores.shape[-2] == 1:
            scores = scores.squeeze(-2)
        elif scores.dim() > 1:
            self._refuse_other_size(scores, "scores of pairs")
            own = torch.repeat_interleave(tree, start.diff()).to(scores.device)
            scores = scores[..., own, torch.arange(len(own), device=scores.device)]
        return log_probabilities(scores, start)

    def _refuse_other_size(self, values: Tensor, what: str) -> None:
        if values.shape[-2] != self.forest.num_trees:
            raise ValueError(
                f"{what} have the batch shape {tuple(values.shape[:-1])}, whose last dimension is that of "
                f"the {self.forest.num_trees} trees: give it the size 1, or one for each tree"
            )

    # p(x | u)

    def channels(self, slots: Tensor) -> list[tuple[Tensor, Tensor]]:
        """The channel's weights, (..., P), each with the slots that it rewrites, tree by tree if need be."""
        if not self._is_by_tree:
            return [(self.weights, slots)]
        tree = torch.searchsorted(self.forest.slot_start, slots, right=True) - 1
        parts = [(self.weights[..., b, :], slots[tree == b]) for b in range(self.forest.num_trees)]
        return [part for part in parts if len(part[1])]

    def strings(self, choices: Tensor, weights: Tensor, slots: Tensor) -> SurfaceStrings:
        """p(x_i | u_i) of slots, with one of `channels`."""
        underlying = Underlying(self.forest, self.inventory, self.trees.relation, choices, slots)
        return SurfaceStrings(underlying, self.transducer, weights)

    @property
    def problem(self) -> Problem:
        """The inference problem that x poses: which T' may have produced it?"""
        evidence, slots = evidence_of(self.known), torch.arange(self.forest.num_slots)
        automata, place, count = [], torch.empty_like(evidence.place), 0
        for weights, some in self.channels(slots):
            known = evidence.of(some) if self._is_by_tree else evidence
            automata.append(self.transducer.automata(known.distinct, detach_provenance(weights)))
            place[some] = known.place + count
            count += len(known.distinct)
        log_pairs = detach_provenance(self.log_pairs)
        if self.cost is not None:
            log_pairs = log_pairs - detach_provenance(self.cost).to(log_pairs)
        joined = automata[0] if len(automata) == 1 else side_by_side(automata)
        return Problem(self.forest, self.inventory, self.trees.relation, log_pairs, joined, place)

    @property
    def provenance(self) -> frozenset[str]:
        """The sites that the sums depend on: compiled code does not pass them on by itself."""
        return get_provenance([self.log_pairs, self.weights, self.cost])

    # Draws

    @torch.no_grad()
    def walk(self) -> None:
        """Draw T' and x bottom-up, one height of constituents at a time; in plates, for each element.

        So a choice may depend on the "surface punctuation already added to w's subconstituents" (Li, Wang &
        Eisner 2019, section 2.1, d).  Outside of the plate of trees: what scores are computed from is not of
        each tree.
        """
        sizes = {frame.dim: frame.size for frame in get_plates() if frame.dim is not None}
        batch = torch.Size(sizes.get(dim, 1) for dim in range(min(sizes, default=-1), -1))
        draws = [self._climb(batch, index) for index in np.ndindex(*batch)]
        choices, surfaces, log_pairs = zip(*draws, strict=True)
        columns = choices, as_wide(surfaces), log_pairs
        stacked = [torch.stack(list(column)).reshape(*batch, *column[0].shape) for column in columns]
        self.walked = stacked[0], stacked[1], stacked[2]

    def _climb(self, batch: torch.Size, index: tuple[int, ...]) -> tuple[Tensor, Tensor, Tensor]:
        """One draw: with the weights at an index of the batch."""
        surface = torch.full((self.forest.num_slots, 1), EMPTY)
        choices = torch.zeros(self.forest.num_nodes, dtype=torch.long)
        log_pairs: Any = None
        for nodes, slots in self.forest.heights():
            of_nodes = _at(self.log_probabilities(surface, nodes), batch, index)
            sizes = self.start.diff()[nodes]
            start = torch.nn.functional.pad(sizes.cumsum(0), (1, 0))
            choices[nodes] = draw_choices(of_nodes, start)
            if log_pairs is None:
                log_pairs = of_nodes.new_zeros(int(self.start[-1]))
            places = torch.repeat_interleave(self.start[nodes] - start[:-1], sizes) + torch.arange(
                len(of_nodes)
            )
            log_pairs[places.to(log_pairs.device)] = of_nodes
            surface = self.rewrite(surface, choices, slots, batch, index)
        return choices, surface, log_pairs

    @torch.no_grad()
    def rewrite(
        self, surface: Tensor, choices: Tensor, slots: Tensor, batch: torch.Size, index: tuple[int, ...]
    ) -> Tensor:
        """The surface with other strings in some slots, drawn from p(x_i | u_i)."""
        for weights, some in self.channels(slots):
            drawn = self.strings(choices, _at(weights, batch, index), some).sample()
            surface, drawn = as_wide([surface, drawn])
            surface = surface.index_copy(0, some, drawn)
        return surface


def _at(values: Tensor, batch: torch.Size, index: tuple[int, ...]) -> Tensor:
    """The row of (..., C) values at an index of a batch."""
    try:
        return values.expand(*batch, -1)[index]
    except RuntimeError:
        raise NotImplementedError(
            f"the weights of the story have the dimensions {tuple(values.shape[:-1])} on the left, the "
            f"plates around it {tuple(batch)}: where sites are enumerated, a story is summed out, not drawn"
        ) from None


def _are_equal(one: Any, other: Any) -> bool:
    both = isinstance(one, Tensor) and isinstance(other, Tensor)
    return one is other or (both and torch.equal(detach_provenance(one), detach_provenance(other)))


# The distributions of the two sites


class TreeSite(TorchDistribution):
    """Base class of the distributions of both sites: batch shape (..., B), see the docstring of this module.

    :ivar told: the story.
    """

    arg_constraints: dict[str, Any] = {}  # noqa: RUF012, as Pyro has it
    support = constraints.integer

    def __init__(self, told: Told, batch_shape: torch.Size | None = None) -> None:
        self.told = told
        shape = torch.Size((told.forest.num_trees,)) if batch_shape is None else batch_shape
        super().__init__(shape, validate_args=False)

    def expand(self, batch_shape: Any, _instance: Any = None) -> "TreeSite":
        """The same for each element of plates on the left."""
        # A plate always calls expand(); the default would hide this class.
        return type(self)(self.told, torch.Size(batch_shape))

    def of_trees(self, values: Tensor) -> Tensor:
        """Log-probabilities of trees for all elements of plates, in the precision of the scores."""
        shape = np.broadcast_shapes(values.shape, self.batch_shape)
        precision = torch.promote_types(self.told.log_pairs.dtype, torch.float32)
        return values.to(precision).expand(shape)

    def check(self, surface: Surface) -> None:
        """Refuse strings other than those that the story was told with.

        :raises ValueError: if these are others.
        """
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
        return draw_choices(self.told.log_pairs.expand(*batch, -1), self.told.start)

    def log_prob(self, value: Tensor) -> Tensor:
        """The sum of log p(l, r | w) over the constituents of each tree, (..., B)."""
        chosen = of_choices(self.told.log_pairs, value, self.told.start)
        return self.of_trees(self.told.forest.per_tree(chosen))


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
            told.rewrite(nothing, _at(choices, batch, index), slots, batch, index)
            for index in np.ndindex(*batch)
        ]
        return torch.stack(as_wide(rows)).reshape(*batch, len(slots), -1)

    def log_prob(self, value: Surface) -> Tensor:
        """The sum of log p(x_i | u_i) over the slots of each tree, (..., B)."""
        self.check(value)
        return self.of_trees(log_rewritten(self.told, self.told.choices, value))


def log_rewritten(told: Told, choices: Tensor, surface: Surface) -> Tensor:
    """(..., B) log p(x | u(T')) of each tree.

    :raises NotImplementedError: if there are several surfaces.
    """
    if isinstance(surface, Tensor) and surface.dim() > 2:
        raise NotImplementedError(
            f"{surface.shape[:-2].numel()} surfaces were drawn at once: score them one after the other"
        )
    evidence, slots = evidence_of(surface), torch.arange(told.forest.num_slots)
    tree = torch.searchsorted(told.forest.slot_start, slots, right=True) - 1
    total: Any = 0.0
    for weights, some in told.channels(slots):
        known = evidence.of(some)
        each = told.strings(choices, weights, some).log_prob(known)
        sums = each.new_zeros((*each.shape[:-1], told.forest.num_trees))
        total = total + sums.index_add(-1, tree[some].to(each.device), each)
    return total


# Telling

Way = Callable[["Told", Surface | None, Any], None]
"""A way to tell a story: it makes the sites of a story, given x or None, in a plate of its trees."""


def forward(told: Told, surface: Surface | None, plate: Any) -> None:
    """T' is drawn bottom-up together with x, unless one or both are given: `Sprouted`, then `Rewritten`.

    :raises NotImplementedError: if x is given and T' is not.
    """
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
        with plate:
            told.decide(pyro.sample(PAIRS, Sprouted(told)))
    if not isinstance(shown, Intervention):
        with plate:
            value = pyro.sample(SURFACE, Rewritten(told), obs=surface)  # type: ignore[arg-type]
        told.show(value)


def given_values(told: Told, surface: Surface | None) -> tuple[Any, Any]:
    """The values that handlers, or a guide, give to the two sites; None where there is none.

    Each value is the site's, or an `Intervention` that holds it.

    :param surface: x, if the model observes it.
    """
    shown = value_from_handlers(SURFACE, Rewritten(told), surface)
    if shown is not None:
        told.refuse_misfit(shown.value if isinstance(shown, Intervention) else shown)
    return value_from_handlers(PAIRS, Sprouted(told)), shown


@effectful(type="tell")
def tell(told: Told, surface: Surface | None = None, plate: Any = "trees", way: Way = forward) -> Told:
    """Make the two sites of a story, see the docstring of this module.

    :param told: the story, of which nothing is told.
    :param surface: x, or evidence about it; by default it is drawn.
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
    way(told, surface, plate)
    return told


class TellMessenger(Messenger):
    """A handler by which stories are told in another way; of several handlers the outermost decides.

    :param way: the way.
    """

    def __init__(self, way: Way) -> None:
        super().__init__()
        self._way = way

    def _pyro_tell(self, msg: Any) -> None:
        msg["kwargs"]["way"] = self._way


def _node_by_node(told: Told, surface: Surface | None, plate: Any) -> None:
    _, shown = given_values(told, surface)
    if shown is None or isinstance(shown, Intervention):
        raise NotImplementedError("one_by_one needs a surface: it compares sums over the punctemes behind it")
    told.show(shown)
    values = []
    for node, scores in enumerate(told.log_pairs.split(told.start.diff().tolist(), -1)):
        logits = scores.unsqueeze(-2) if scores.dim() > 1 else scores
        site = dist.Categorical(logits=logits)
        values.append(pyro.sample(f"pair {node}", site, infer={"enumerate": "parallel"}))
    values = list(torch.broadcast_tensors(*values))
    # Values enumerated in parallel have a dimension of 1 for the plate of trees: it becomes the nodes'.
    told.decide(torch.cat(values, -1) if values[0].dim() else torch.stack(values, -1))
    with plate:
        pyro.sample(SURFACE, Rewritten(told), obs=shown)


def one_by_one(model: Callable[..., Any]) -> Callable[..., Any]:
    """The model with a site "pair 0", "pair 1", ... for each node, as `pyro.infer.TraceEnum_ELBO` needs it.

    For comparisons: the sites are marked to be enumerated in parallel, and their number is small.
    """
    return TellMessenger(_node_by_node)(model)
