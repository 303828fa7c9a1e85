"""Sums over the punctemes of whole trees: an effect handler that leaves log p(x | T) in their place.

A model marks the sites of its punctemes ``infer={"enumerate": "tree"}``, as others are marked
``"parallel"``.  Under `collapse_trees` such a site and the surface sites that it feeds become one
factor log p(x | T) per tree, computed by the inside algorithm.  Without it the model runs forward.

Example::

    pairs = pyro.sample("pairs", PunctemePairs(logits, start), infer={"enumerate": "tree"})
    underlying = Underlying(forest, inventory, relation, pairs, slots)
    with pyro.plate("slots", forest.num_slots):
        pyro.sample("surface", channel(underlying), obs=surface)
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import pyro
import torch
from pyro import poutine
from pyro.ops.provenance import detach_provenance, get_provenance, track_provenance
from pyro.poutine.condition_messenger import ConditionMessenger
from pyro.poutine.do_messenger import DoMessenger
from pyro.poutine.replay_messenger import ReplayMessenger
from torch import Tensor

from pyropunct.errors import UserError
from pyropunct.inference import inside
from pyropunct.inference.machines.automata import Automata, side_by_side
from pyropunct.inference.machines.evidence import SlotEvidence, evidence_of
from pyropunct.inference.problem import Problem
from pyropunct.inference.pyro.handles import HandlesMessenger, UndecidedError, are_handles, handles, origins
from pyropunct.inference.pyro.mixture import Mixture
from pyropunct.inference.pyro.pairs import PunctemePairs
from pyropunct.inference.pyro.plates import OtherSite, plate_of_trees, refuse_plates_between
from pyropunct.inference.pyro.private import dimension_of_values, handlers_in_force, is_called_from
from pyropunct.inference.pyro.surface import SurfaceStrings, Underlying
from pyropunct.inference.ragged import starts_of


class ImpossibleSurfaceError(UserError, ValueError):
    """No choice of punctemes explains some surface punctuation."""


HANDLE = 1 << 40
"""Handles of undecided choices start here, far outside any table."""


class MarkedSite(NamedTuple):
    """A site marked ``infer={"enumerate": "tree"}``.

    :ivar fn: its distribution, `PunctemePairs` or a `Categorical`.
    :ivar numbers: its choices among those of all marked sites, of the shape of its value.
    :ivar log_pairs: (..., C) the log-probabilities of each choice's values, choice after choice.
    :ivar sizes: (choices,) how many values each choice has.
    """

    fn: Any
    numbers: Tensor
    log_pairs: Tensor
    sizes: Tensor


def marked_site(fn: Any, first: int) -> MarkedSite:
    """A marked site with a distribution.

    :param first: the number of its first choice.
    """
    if isinstance(fn, PunctemePairs):
        # Dimensions before that of the nodes belong to other sites: the same choices stand for all.
        shape, log_pairs, sizes = fn.batch_shape[-1:], fn.logits, fn.start.diff()
    else:
        shape, logits = fn.batch_shape, fn.logits.log_softmax(-1)
        log_pairs, sizes = logits.flatten(), torch.full((shape.numel(),), logits.shape[-1])
    return MarkedSite(fn, first + torch.arange(shape.numel()).reshape(shape), log_pairs, sizes)


def log_pairs_of(sites: Iterable[MarkedSite], order: Tensor) -> Tensor:
    """The log-probabilities of all nodes' pairs, node after node.

    :param order: (N,) the number of each node's choice.
    """
    sites = list(sites)
    log_pairs = torch.cat([site.log_pairs for site in sites], -1)
    if torch.equal(order, torch.arange(len(order))):
        return log_pairs
    start = torch.nn.functional.pad(torch.cat([site.sizes for site in sites]).cumsum(0), (1, 0))
    sizes = start.diff()[order]
    before = torch.repeat_interleave(start[order] - (sizes.cumsum(0) - sizes), sizes)
    return log_pairs[..., before + torch.arange(len(before))]


class SurfaceSite(NamedTuple):
    """An observed surface site.

    :ivar fn: its distribution.
    :ivar evidence: what is known of its strings.
    """

    fn: SurfaceStrings
    evidence: SlotEvidence


def slot_automata(sites: Sequence[SurfaceSite], num_slots: int) -> tuple[Automata, Tensor]:
    """The automata of all slots' evidence, and (num_slots,) which of them each slot has.

    :raises ValueError: if a slot is not observed exactly once.
    """
    slots = torch.cat([site.fn.underlying.slots.reshape(-1) for site in sites])
    if slots.sort().values.tolist() != list(range(num_slots)):
        raise ValueError(
            f"tree enumeration saw {len(slots)} surface slots, expected each of the {num_slots} slots "
            "of the trees exactly once; several stories are collapsed one by one"
        )
    weights = [detach_provenance(site.fn.weights) for site in sites]
    automata = [
        site.fn.transducer.automata(site.evidence.distinct, of_site)
        for site, of_site in zip(sites, weights, strict=True)
    ]
    shifts = starts_of([len(site.evidence.distinct) for site in sites]).tolist()
    places = [site.evidence.place + shift for site, shift in zip(sites, shifts, strict=False)]
    slot_automaton = torch.empty_like(slots)
    slot_automaton[slots] = torch.cat(places)
    return side_by_side(automata), slot_automaton


class TreeEnumMessenger(HandlesMessenger):
    """Collapses the sites marked ``infer={"enumerate": "tree"}`` of a model.

    A marked site returns *handles* in place of choices.  They may be stacked, indexed and passed to the
    underlying strings of observed surface sites; nothing else may depend on them.

    The evidence takes its place in the plates around the handler.  Within these it has a plate of its own,
    dimension -1, unless the model has a plate named "trees" there, with as many elements as there are trees.

    :param allow_impossible: let log p(x | T) be minus infinity where no punctemes explain the surface.
    :ivar marked: the marked sites of the last run, by their names.
    :ivar observed: its surface sites.
    :raises ValueError: if a surface site fed by handles is not observed, a slot is not seen once, or an
        expectation is wanted before the surface has been seen.
    :raises NotImplementedError: if anything else depends on handles (`UndecidedError`), a site is masked,
        the sites of the trees have different scales or values from outside, or the evidence has no place in
        the plates.
    :raises ImpossibleSurfaceError: if no punctemes explain the surface of some tree.
    """

    def __init__(self, allow_impossible: bool = False) -> None:
        super().__init__()
        self._allow_impossible = allow_impossible

    def __enter__(self) -> "TreeEnumMessenger":
        if torch.jit.is_tracing() or is_called_from("pyro.ops.jit"):
            raise NotImplementedError(
                "sums over trees are compiled anyway, and cannot be traced by torch.jit: use no Jit ELBO"
            )
        self.marked: dict[str, MarkedSite] = {}
        self.observed: list[SurfaceSite] = []
        self._others: list[OtherSite] = []
        self._scales: dict[str, Any] = {}
        self._evidence: Tensor | None = None
        self._cost: Tensor | None = None
        self._mixture: Mixture | None = None
        self.__dict__.pop("problem", None)
        return super().__enter__()

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        super().__exit__(exc_type, exc_value, traceback)
        if exc_type is None and (self.observed or self._mixture is not None):
            self._add_evidence()

    # What the model says, message by message

    def _pyro_sample(self, msg: Any) -> None:
        fn = msg["fn"]
        is_surface = isinstance(fn, SurfaceStrings) and bool(self._upstream(fn.underlying.choices))
        self._refuse_dependence(msg, is_surface)
        if msg["infer"].get("enumerate") == "tree" and not msg["is_observed"]:
            site = self.marked[msg["name"]] = marked_site(fn, self._num_choices)
            msg["value"] = handles(HANDLE + site.numbers, msg["name"])
        elif is_surface:
            self._observe(msg)
        else:
            return
        if msg["mask"] is not None:
            raise NotImplementedError(f"site '{msg['name']}': tree enumeration does not support masks")
        refuse_plates_between(msg)
        self._scales[msg["name"]] = msg["scale"]
        msg["done"] = msg["stop"] = True  # handlers further out shall not see this site

    @property
    def _num_choices(self) -> int:
        return sum(site.numbers.numel() for site in self.marked.values())

    def _refuse_dependence(self, msg: Any, is_surface: bool) -> None:
        fn = msg["fn"]
        parts = [msg["value"], msg["mask"], msg["scale"]]
        if is_surface:
            parts += [fn.weights, fn.underlying.slots, fn.underlying.relation]
            if not are_handles(fn.underlying.choices):
                parts.append(fn.underlying.choices)
        elif isinstance(fn, SurfaceStrings):
            parts.append(fn.weights)
        else:
            parts.append(fn)
        upstream = self._upstream(parts)
        if upstream:
            raise UndecidedError(
                f"site '{msg['name']}' depends on the tree-enumerated sites {sorted(upstream)}, but only "
                "an observed surface may, through their choices as they are; run the model forward, or use "
                "tree_expectation"
            )

    def _upstream(self, value: Any) -> frozenset[str]:
        """The marked sites that a value depends on; `pyro.infer.TraceGraph_ELBO` follows others too."""
        return origins(value) & self.marked.keys()

    def _observe(self, msg: Any) -> None:
        if msg["value"] is None:
            raise ValueError(
                f"site '{msg['name']}' is not observed: tree enumeration needs the surface punctuation; "
                "to draw it, run the model without this handler (see pyro.infer.Predictive)"
            )
        self.observed.append(SurfaceSite(msg["fn"], evidence_of(msg["value"])))

    def _pyro_post_sample(self, msg: Any) -> None:
        if msg["name"] not in self._scales:
            frames = [frame for frame in msg["cond_indep_stack"] if frame.vectorized]
            self._others.append(OtherSite(msg["name"], frames, dimension_of_values(msg)))

    def _pyro_tree_factor(self, msg: Any) -> None:
        _, cost, _, forest = msg["args"]
        if not self.marked:
            return  # the choices are known
        if "problem" in self.__dict__:
            raise ValueError(
                "tree_factor comes behind a tree_expectation, which knows nothing of it: put it before"
            )
        self._cost = cost if self._cost is None else self._cost + cost
        log_pairs = next(iter(self.marked.values())).log_pairs
        msg["value"], msg["done"], msg["stop"] = log_pairs.new_zeros(forest.num_trees), True, True

    def _pyro_tree_mixture(self, msg: Any) -> None:
        if self._mixture is not None:
            raise ValueError("mix_trees is around the model twice: give all trees of a sentence at once")
        (self._mixture,) = msg["args"]
        msg["done"] = msg["stop"] = True

    def _pyro_tree_expectation(self, msg: Any) -> None:
        _, cost, _, _ = msg["args"]
        if self._mixture is not None:
            raise NotImplementedError(
                "tree_expectation is of each tree alone, but mix_trees weighs the trees of a sentence: leave "
                "the symmetry regulariser out"
            )
        if not self.observed:
            raise ValueError("tree_expectation comes before any surface site is observed: put it behind them")
        self._evidence, expectation = inside.expected_cost(self.problem, detach_provenance(cost))
        msg["value"] = track_provenance(expectation, self._provenance | get_provenance(cost))
        msg["done"] = msg["stop"] = True

    # What follows from it

    @cached_property
    def problem(self) -> Problem:
        """The inference problem that the sites seen so far add up to."""
        underlying = self._underlying
        automata, slot_automaton = slot_automata(self.observed, underlying.forest.num_slots)
        log_pairs = detach_provenance(log_pairs_of(self.marked.values(), self.order))
        if self._cost is not None:
            log_pairs = log_pairs - detach_provenance(self._cost).to(log_pairs)
        return Problem(
            underlying.forest, underlying.inventory, underlying.relation, log_pairs, automata, slot_automaton
        )

    @property
    def _provenance(self) -> frozenset[str]:
        """The sites that the problem depends on: the compiled sums do not pass them on by themselves."""
        log_pairs = [site.log_pairs for site in self.marked.values()]
        weights = [site.fn.weights for site in self.observed]
        return get_provenance([log_pairs, weights, self._cost, self._mixture])

    @property
    def order(self) -> Tensor:
        """(N,) the number of each node's choice among those of all marked sites.

        :raises ValueError: if a node has no choice, or a choice no node.
        """
        order, choices = detach_provenance(self._underlying.choices) - HANDLE, self._num_choices
        if order.dim() != 1 or not torch.equal(order.sort().values, torch.arange(choices)):
            raise ValueError(
                f"the tree-enumerated sites {sorted(self.marked)} make {choices} choices, the trees have "
                f"{self._underlying.forest.num_nodes}: each node needs one choice, which no other node has, "
                "neither conditioned nor computed"
            )
        return order

    @property
    def _underlying(self) -> Underlying:
        if not self.observed:
            raise ValueError(
                "the model has no observed surface whose punctemes are undecided: there are no trees to sum "
                "over, or collapse_trees has summed them out already"
            )
        return self.observed[0].fn.underlying

    def _add_evidence(self) -> None:
        self._refuse_values_from_outside()
        evidence = inside.log_evidence(self.problem) if self._evidence is None else self._evidence
        if self._mixture is not None:
            self._mixture.check(self.problem.forest, self._scale)
            evidence = self._mixture.log_evidence(evidence)
        impossible = (evidence == -torch.inf).nonzero()
        if len(impossible) and not self._allow_impossible:
            place = int(impossible[0, -1])
            self.refuse_impossible(place if self._mixture is None else sum(self._mixture.sizes[:place]))
        with plate_of_trees(evidence, self._others), poutine.scale(scale=self._scale):
            pyro.factor("tree_evidence", track_provenance(evidence, self._provenance))

    def _refuse_values_from_outside(self) -> None:
        """A guide, or a handler around this one, may give no value to a site that is summed out here."""
        for messenger in handlers_in_force():
            given: Any = ()
            if isinstance(messenger, ReplayMessenger):
                given = messenger.trace or ()
            elif isinstance(messenger, (ConditionMessenger, DoMessenger)):
                given = messenger.data
            for name in self.marked:
                if name in given:
                    raise NotImplementedError(
                        f"site '{name}' is summed out over trees, but a guide or a handler around "
                        "collapse_trees gives it a value: leave it out, or condition the model inside"
                    )

    @property
    def _scale(self) -> Any:
        """The one scale of all sites of the trees."""
        (first, scale), *others = self._scales.items()
        for name, other in others:
            if (torch.as_tensor(scale) != torch.as_tensor(other)).any():
                raise NotImplementedError(
                    f"site '{first}' has the scale {scale} and site '{name}' has {other}: tree enumeration "
                    "needs one scale for all sites of the trees"
                )
        return scale

    def refuse_impossible(self, tree: int) -> None:
        """Complain about a tree whose surface has no explanation.

        :raises ImpossibleSurfaceError: always.
        """
        slot = inside.impossible_slot(self.problem, tree)
        where = f"slot {slot}" if slot >= 0 else "several slots"
        raise ImpossibleSurfaceError(
            f"no punctemes explain the surface punctuation of tree {tree} of the batch, {where}: add its "
            "strings to the inventory, or let the channel slip (pyropunct.models.channel.slip.Slip)"
        )


class TreeProblemMessenger(TreeEnumMessenger):
    """Only looks at the sites, and adds no factor."""

    def _add_evidence(self) -> None:
        pass

    def _pyro_tree_mixture(self, msg: Any) -> None:
        """Leave the mixture to `mix_trees`, which refuses."""


def collapse_trees(model: Callable[..., Any], allow_impossible: bool = False) -> Callable[..., Any]:
    """The model with its tree-enumerated sites summed out: see `TreeEnumMessenger`.

    :param allow_impossible: for `pyro.infer.MCMC` and `pyro.infer.Importance`, where values under which the
        surface is impossible are not an error, but have probability 0.  Gradients there are 0.
    """
    return TreeEnumMessenger(allow_impossible)(model)


def tree_problem(model: Callable[..., Any], *args: Any, **kwargs: Any) -> Problem:
    """The inference problem that a call of the model poses, with all of its surface sites observed."""
    with poutine.block(), TreeProblemMessenger() as messenger:
        model(*args, **kwargs)
        return messenger.problem


def expected_uses(model: Callable[..., Any], *args: Any, **kwargs: Any) -> Tensor:
    """How often the channel's products of weights are used, in expectation under the posterior.

    The derivative of log p(x | T) with respect to the logarithm of each product: the counts of an E-step.
    For a model with one surface site; see `pyropunct.inference.machines.transducers.Transducer.edit_counts`.

    :returns: (number of products,) in the order of the channel's ``transducer.products``.
    """
    with poutine.block(), TreeProblemMessenger() as messenger:
        model(*args, **kwargs)
        ((fn, evidence),) = messenger.observed
        problem = messenger.problem  # whose automata name all products that there are values for
    values = fn.transducer.products.values(fn.weights.detach()).requires_grad_()
    with torch.enable_grad():
        automata = fn.transducer.automata_with(evidence.distinct, values)
        total = inside.log_evidence(replace(problem, automata=automata)).sum()
        (gradient,) = torch.autograd.grad(total, values)
    return gradient * values.detach()
