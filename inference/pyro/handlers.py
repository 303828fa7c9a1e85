"""Effect handlers that sum out, maximise over or draw the punctemes of whole trees.

A model marks the sites of its punctemes ``infer={"enumerate": "tree"}``, as others are marked
``"parallel"``.  Under `collapse_trees` such a site and the surface sites that it feeds become one
factor log p(x | T) per tree, computed by the inside algorithm.  Without it the model runs forward.

Example::

    pairs = pyro.sample("pairs", PunctemePairs(logits, start), infer={"enumerate": "tree"})
    underlying = Underlying(forest, inventory, relation, pairs, slots)
    with pyro.plate("slots", forest.num_slots):
        pyro.sample("surface", channel(underlying), obs=surface)
"""

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple, cast

import pyro
import pyro.distributions as dist
import torch
from pyro import poutine
from pyro.infer import Trace_ELBO, TraceEnum_ELBO
from pyro.infer.traceenum_elbo import BackwardSampleMessenger
from pyro.ops.provenance import detach_provenance
from pyro.poutine.condition_messenger import ConditionMessenger
from pyro.poutine.messenger import Messenger
from pyro.poutine.replay_messenger import ReplayMessenger
from pyro.poutine.runtime import _PYRO_STACK, effectful
from pyro.poutine.util import site_is_subsample
from torch import Tensor

from pyropunct.errors import UserError
from pyropunct.inference import inside
from pyropunct.inference.forest import Forest
from pyropunct.inference.machines.automata import Automata, side_by_side
from pyropunct.inference.machines.evidence import SlotEvidence, evidence_of
from pyropunct.inference.problem import Problem
from pyropunct.inference.pyro.handles import HandlesMessenger, UndecidedError, are_handles, handles, origins
from pyropunct.inference.pyro.pairs import MARKED, PunctemePairs
from pyropunct.inference.pyro.plates import OtherSite, plate_of_trees, refuse_plates_between
from pyropunct.inference.pyro.surface import SurfaceStrings, Underlying
from pyropunct.inference.ragged import runs, starts_of

HANDLE = 1 << 40
"""Handles of undecided choices start here, far outside any table."""


class _Observed(NamedTuple):
    """A surface site with what is observed of it."""

    fn: SurfaceStrings
    evidence: SlotEvidence


class ImpossibleSurfaceError(UserError, ValueError):
    """No choice of punctemes explains some surface punctuation."""


class TreeEnumMessenger(HandlesMessenger):
    """Collapses the sites marked ``infer={"enumerate": "tree"}`` of a model.

    A marked site returns *handles* in place of choices.  They may be stacked, indexed and passed to the
    underlying strings of observed surface sites; nothing else may depend on them.

    The evidence takes its place in the plates around the handler.  Within these it has a plate of its own,
    dimension -1, unless the model has a plate named "trees" there, with as many elements as there are trees.

    :param allow_impossible: let log p(x | T) be minus infinity where no punctemes explain the surface.
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
        if torch.jit.is_tracing():
            raise NotImplementedError(
                "sums over trees are compiled anyway, and cannot be traced by torch.jit: use no Jit ELBO"
            )
        self._latents: dict[str, _Latent] = {}
        self._others: list[OtherSite] = []
        self._observed: list[_Observed] = []
        self._handles = 0
        self._scales: dict[str, Any] = {}
        self._evidence: Tensor | None = None
        self._cost: Tensor | None = None
        self.__dict__.pop("problem", None)
        return super().__enter__()

    def _pyro_sample(self, msg: Any) -> None:
        fn = msg["fn"]
        is_surface = isinstance(fn, SurfaceStrings) and bool(self._upstream(fn.underlying.choices))
        self._refuse_dependence(msg, is_surface)
        if msg["infer"].get("enumerate") == "tree" and not msg["is_observed"]:
            self._take_latent(msg)
        elif is_surface:
            self._take_observed(msg)
        else:
            return
        if msg["mask"] is not None:
            raise NotImplementedError(f"site '{msg['name']}': tree enumeration does not support masks")
        refuse_plates_between(msg)
        self._scales[msg["name"]] = msg["scale"]
        msg["done"] = msg["stop"] = True  # handlers further out shall not see this site

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
        return origins(value) & self._latents.keys()

    def _pyro_post_sample(self, msg: Any) -> None:
        if msg["name"] not in self._scales:
            frames = [frame for frame in msg["cond_indep_stack"] if frame.vectorized]
            self._others.append(OtherSite(msg["name"], frames, (msg["infer"] or {}).get("_enumerate_dim")))

    def _take_latent(self, msg: Any) -> None:
        fn, name = msg["fn"], msg["name"]
        # Dimensions before that of the nodes belong to other sites: the same handles stand for all.
        shape = fn.batch_shape[-1:] if isinstance(fn, PunctemePairs) else fn.batch_shape
        count = shape.numel()
        numbers = HANDLE + self._handles + torch.arange(count).reshape(shape)
        self._latents[name] = _Latent(fn, numbers, _flat(fn))
        self._handles += count
        msg["value"] = handles(numbers, name)

    def _take_observed(self, msg: Any) -> None:
        fn, value = msg["fn"], msg["value"]
        if value is None:
            raise ValueError(
                f"site '{msg['name']}' is not observed: tree enumeration needs the surface punctuation; "
                "to draw it, run the model without this handler (see pyro.infer.Predictive)"
            )
        self._observed.append(_Observed(fn, evidence_of(value)))

    @cached_property
    def problem(self) -> Problem:
        """The inference problem that the sites seen so far add up to."""
        underlying = self._observed[0].fn.underlying
        surface, seen = _one_surface(self._observed), underlying.forest.num_slots
        if surface.slots.sort().values.tolist() != list(range(seen)):
            raise ValueError(
                f"tree enumeration saw {len(surface.slots)} surface slots, expected each of the {seen} slots "
                "of the trees exactly once; several stories are collapsed one by one"
            )
        slot_automaton = torch.empty_like(surface.slots)
        slot_automaton[surface.slots] = surface.slot_automaton
        log_pairs = _log_pairs([site.flat for site in self._latents.values()], self._order(underlying))
        return Problem(
            underlying.forest,
            underlying.inventory,
            underlying.relation,
            log_pairs if self._cost is None else log_pairs - self._cost.to(log_pairs),
            surface.automata,
            slot_automaton,
        )

    def _order(self, underlying: Underlying) -> Tensor:
        """(N,) which of all choices is that of each node.

        :raises ValueError: if some node has no such choice, or a choice no such node.
        """
        order, nodes = detach_provenance(underlying.choices) - HANDLE, underlying.forest.num_nodes
        if order.dim() != 1 or not torch.equal(order.sort().values, torch.arange(self._handles)):
            raise ValueError(
                f"the tree-enumerated sites {sorted(self._latents)} make {self._handles} choices, the trees "
                f"have {nodes}: each node needs one choice, which no other node has, neither conditioned nor "
                "computed"
            )
        return order

    def decode(self, temperature: int) -> dict[str, Tensor]:
        """For each marked site the choices of the best derivation (0) or of a posterior draw (1)."""
        if temperature == 0:
            choices = inside.best_derivation(self.problem)
        else:
            choices = inside.posterior_draws(self.problem, 1)[..., 0, :]
        if (choices < 0).any():
            self._complain(int(self.problem.forest.tree[(choices < 0).nonzero()[0, -1]]))
        choices = choices.to(self.problem.relation.device)
        table = torch.empty_like(choices)
        table[..., self._order(self._observed[0].fn.underlying)] = choices
        return {name: table[..., numbers - HANDLE] for name, (_, numbers, _) in self._latents.items()}

    def marginals(self) -> dict[str, dist.TorchDistribution]:
        """For each marked site the posterior of each of its choices alone, as the site's own distribution.

        :raises NotImplementedError: if the posterior depends on other sites that are summed out too.
        """
        posterior = inside.posterior_pairs(self.problem)
        if posterior.dim() > 1:
            raise NotImplementedError(
                f"the marginals of {sorted(self._latents)} depend on other enumerated sites: condition these"
            )
        node = self._order(self._observed[0].fn.underlying).argsort()
        start, found = torch.from_numpy(self.problem.choice_start), {}
        for name, (fn, numbers, flat) in self._latents.items():
            first = start[node[numbers.reshape(-1) - HANDLE]]
            places = torch.from_numpy(runs(first.numpy(), flat.sizes.numpy()))
            logits = posterior[places.to(posterior.device)].log()
            if isinstance(fn, PunctemePairs):
                found[name] = PunctemePairs(logits, fn.start)
            else:
                found[name] = dist.Categorical(logits=logits.reshape(*numbers.shape, -1))
        return found

    def _pyro_tree_factor(self, msg: Any) -> None:
        _, cost, _, forest = msg["args"]
        if not self._latents:
            return  # the choices are known
        if "problem" in self.__dict__:
            raise ValueError(
                "tree_factor comes behind a tree_expectation, which knows nothing of it: put it before"
            )
        self._cost = cost if self._cost is None else self._cost + cost
        undecided = next(iter(self._latents.values())).flat.log_pairs
        msg["value"], msg["done"], msg["stop"] = undecided.new_zeros(forest.num_trees), True, True

    def _pyro_tree_expectation(self, msg: Any) -> None:
        _, cost, _, _ = msg["args"]
        if not self._observed:
            raise ValueError("tree_expectation comes before any surface site is observed: put it behind them")
        self._evidence, expectation = inside.expected_cost(self.problem, cost)
        msg["value"], msg["done"], msg["stop"] = expectation, True, True

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        super().__exit__(exc_type, exc_value, traceback)
        if exc_type is None and self._observed:
            self._add_evidence()

    def _add_evidence(self) -> None:
        self._refuse_values_from_outside()
        evidence = inside.log_evidence(self.problem) if self._evidence is None else self._evidence
        impossible = (evidence == -torch.inf).nonzero()
        if len(impossible) and not self._allow_impossible:
            self._complain(int(impossible[0, -1]))
        with plate_of_trees(evidence, self._others), poutine.scale(scale=self._scale):
            pyro.factor("tree_evidence", evidence)

    def _refuse_values_from_outside(self) -> None:
        """A guide, or a handler around this one, may give no value to a site that is summed out here."""
        for messenger in _PYRO_STACK:
            given: Any = ()
            if isinstance(messenger, ReplayMessenger):
                given = messenger.trace or ()
            elif isinstance(messenger, ConditionMessenger):
                given = messenger.data
            for name in self._latents:
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

    def _complain(self, tree: int) -> None:
        slot = inside.impossible_slot(self.problem, tree)
        where = f"slot {slot}" if slot >= 0 else "several slots"
        raise ImpossibleSurfaceError(
            f"no punctemes explain the surface punctuation of tree {tree} of the batch, {where}: add its "
            "strings to the inventory, or let the channel slip (pyropunct.models.channel.slip.Slip)"
        )


class _Latent(NamedTuple):
    """A marked site: its distribution, the numbers of its handles, and `_flat` of it."""

    fn: Any
    numbers: Tensor
    flat: "_Flat"


class _Flat(NamedTuple):
    """Log-probabilities of some nodes' choices in one line, and how many choices each node has."""

    log_pairs: Tensor
    sizes: Tensor


def _flat(fn: Any) -> _Flat:
    """The choices of a `PunctemePairs` site, or of a `Categorical` site."""
    if isinstance(fn, PunctemePairs):
        return _Flat(fn.logits, fn.start.diff())
    logits = fn.logits.log_softmax(-1)
    nodes = fn.batch_shape.numel()
    return _Flat(logits.reshape(nodes * logits.shape[-1]), torch.full((nodes,), logits.shape[-1]))


def _log_pairs(sites: list[_Flat], handles: Tensor) -> Tensor:
    """The log-probabilities of all nodes' choices, node after node."""
    log_pairs = torch.cat([site.log_pairs for site in sites], -1)
    if torch.equal(handles, torch.arange(len(handles))):
        return log_pairs
    start = torch.nn.functional.pad(torch.cat([site.sizes for site in sites]).cumsum(0), (1, 0))
    sizes = start.diff()[handles]
    before = torch.repeat_interleave(start[handles] - (sizes.cumsum(0) - sizes), sizes)
    return log_pairs[..., before + torch.arange(len(before))]


class _OneSurface(NamedTuple):
    automata: Automata
    slot_automaton: Tensor
    slots: Tensor


def _one_surface(observed: list[_Observed]) -> _OneSurface:
    """Several surface sites as one."""
    slots = torch.cat([site.fn.underlying.slots.reshape(-1) for site in observed])
    automata = [site.fn.transducer.automata(site.evidence.distinct, site.fn.weights) for site in observed]
    shifts = starts_of([len(site.evidence.distinct) for site in observed]).tolist()
    place = [site.evidence.place + shift for site, shift in zip(observed, shifts, strict=False)]
    return _OneSurface(side_by_side(automata), torch.cat(place), slots)


class _SolveMessenger(TreeEnumMessenger):
    """Only looks at the sites, adds no factor."""

    def _add_evidence(self) -> None:
        pass


class _CompletionMessenger(Messenger):
    """Puts surface strings in the place of evidence that leaves them open.

    :param best: the best strings, rather than draws.
    """

    def __init__(self, best: bool) -> None:
        super().__init__()
        self._best = best

    def _pyro_sample(self, msg: Any) -> None:
        if isinstance(msg["fn"], SurfaceStrings) and isinstance(msg["value"], SlotEvidence):
            msg["value"] = msg["fn"].complete(msg["value"], self._best)


def collapse_trees(model: Callable[..., Any], allow_impossible: bool = False) -> Callable[..., Any]:
    """The model with its tree-enumerated sites summed out: see `TreeEnumMessenger`.

    :param allow_impossible: for `pyro.infer.MCMC` and `pyro.infer.Importance`, where values under which the
        surface is impossible are not an error, but have probability 0.  Gradients there are 0.
    """
    return TreeEnumMessenger(allow_impossible)(model)


def tree_problem(model: Callable[..., Any], *args: Any, **kwargs: Any) -> Problem:
    """The inference problem that a call of the model poses, with all of its surface sites observed."""
    with poutine.block(), _SolveMessenger() as messenger:
        model(*args, **kwargs)
        return messenger.problem


def expected_uses(model: Callable[..., Any], *args: Any, **kwargs: Any) -> Tensor:
    """How often the channel's products of weights are used, in expectation under the posterior.

    The derivative of log p(x | T) with respect to the logarithm of each product: the counts of an E-step.
    For a model with one surface site; see `pyropunct.inference.machines.transducers.Transducer.edit_counts`.

    :returns: (number of products,) in the order of the channel's ``transducer.products``.
    """
    with poutine.block(), _SolveMessenger() as messenger:
        model(*args, **kwargs)
        (site,) = messenger._observed
        problem = messenger.problem  # whose automata name all products that there are values for
    values = site.fn.transducer.products.values(site.fn.weights.detach()).requires_grad_()
    with torch.enable_grad():
        automata = site.fn.transducer.automata_with(site.evidence.distinct, values)
        evidence = inside.log_evidence(replace(problem, automata=automata)).sum()
        (gradient,) = torch.autograd.grad(evidence, values)
    return gradient * values.detach()


class _ScaleLikelihoodMessenger(Messenger):
    def __init__(self, scale: float) -> None:
        super().__init__()
        self._scale = scale

    def _pyro_sample(self, msg: Any) -> None:
        if msg["is_observed"] or msg["infer"].get("enumerate"):
            msg["scale"] = msg["scale"] * self._scale


def scale_likelihood(model: Callable[..., Any], scale: float) -> Callable[..., Any]:
    """The model of a treebank, where a call sees some of its trees: log p(theta) + scale log p(x | T, theta).

    The terms of observed sites, of enumerated ones and of factors are multiplied; those of other latent
    sites, the priors of weights, are not.  A plate with subsampling would do the same, if all these sites had
    a dimension for trees; theirs are for nodes and slots.

    :param scale: the number of trees in the treebank over the number of trees that a call sees.
    """
    return _ScaleLikelihoodMessenger(scale)(model)


class _OneByOneMessenger(Messenger):
    def _pyro_sample_pairs(self, msg: Any) -> None:
        _, nodes, pairs = msg["args"]
        each = zip(nodes.tolist(), pairs.logits.split(pairs.start.diff().tolist(), -1), strict=True)
        values = torch.broadcast_tensors(
            *(pyro.sample(f"pair {node}", dist.Categorical(logits=own), infer=MARKED) for node, own in each)
        )
        # Values enumerated in parallel have a dimension 1 for the plate of slots: it becomes the nodes'.
        msg["value"] = torch.cat(values, -1) if values[0].dim() else torch.stack(values, -1)
        msg["done"] = True


def one_by_one(model: Callable[..., Any]) -> Callable[..., Any]:
    """The model with a site "pair 0", "pair 1", ... for each node, as `pyro.infer.TraceEnum_ELBO` needs it.

    For comparisons: with all nodes of a batch in one site, all is quicker.
    """
    return _OneByOneMessenger()(model)


@effectful(type="tree_expectation")
def tree_expectation(choices: Tensor, cost: Tensor, start: Tensor, forest: Forest) -> Tensor:
    """E[sum_w cost(w, l_w, r_w)] of each tree, (..., B), differentiable.

    Under `collapse_trees` the expectation is over the posterior p(T' | T, x), and the surface sites
    must have been observed before; else it is the cost of ``choices`` itself.
    Source: Li, Wang & Eisner (2019, section 2.3).

    :param choices: (..., N) the choice of each node.
    :param cost: (C,) the cost of each pair at each node, node after node.
    :param start: (N + 1,) where each node's part of ``cost`` starts.
    """
    return forest.per_tree(cost[start[:-1] + choices])


@effectful(type="tree_factor")
def tree_factor(choices: Tensor, cost: Tensor, start: Tensor, forest: Forest) -> Tensor:
    """log of the factor exp(-sum_w cost(w, l_w, r_w)) of each tree, (..., B), for `pyro.factor`.

    Under `collapse_trees` it is part of what is summed over T', which becomes::

        log sum_T' p(T', x | T) exp(-sum_w cost(w, l_w, r_w))

    in place of log p(x | T), and 0 is returned.  Posteriors, and expectations that come behind it, are then
    those of this product.

    :param choices: (..., N) the choice of each node.
    :param cost: (C,) the cost of each pair at each node, node after node; it counts as a constant.
    :param start: (N + 1,) where each node's part of ``cost`` starts.
    """
    return -forest.per_tree(cost[start[:-1] + choices])


def infer_trees(model: Callable[..., Any], temperature: int = 1) -> Callable[..., Any]:
    """The model with its tree-enumerated sites decoded, as `pyro.infer.infer_discrete` does for others.

    Where evidence leaves surface strings open (`pyropunct.inference.machines.evidence.SlotEvidence`), they
    are decoded too: the value of a surface site is then the strings.

    :param temperature: 1 for a draw from the posterior p(T', x | T, evidence), 0 for the best derivation.
    :raises ValueError: for any other temperature.
    """
    if temperature not in (0, 1):
        raise ValueError(f"the temperature of infer_trees is 0 or 1, not {temperature}")

    def decoded(*args: Any, **kwargs: Any) -> Any:
        others: set[str] = set()

        def is_other(msg: Any) -> bool:
            if msg["type"] != "sample" or msg["is_observed"] or site_is_subsample(msg):
                return False
            others.add(msg["name"])
            return True

        # Other latent sites get their values in the first run, from handlers further out if these have
        # any (as in pyro.infer.Predictive), and keep them in the second.
        with poutine.block(expose_fn=is_other), poutine.trace() as first, _SolveMessenger() as messenger:
            model(*args, **kwargs)
            values = messenger.decode(temperature)
        values.update({name: cast(Tensor, first.trace.nodes[name]["value"]) for name in others})
        trace = poutine.Trace()
        for name, value in values.items():
            trace.add_node(name, type="sample", name=name, value=value, is_observed=False, infer={})
        with poutine.block(hide=list(others)), _CompletionMessenger(best=temperature == 0):
            return poutine.replay(model, trace=trace)(*args, **kwargs)

    return decoded


class TreeEnum_ELBO(TraceEnum_ELBO):  # noqa: N801, named as its parents in Pyro are
    """`pyro.infer.TraceEnum_ELBO` that also sums out ``infer={"enumerate": "tree"}`` sites exactly."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("strict_enumeration_warning", False)
        super().__init__(*args, **kwargs)

    def _get_traces(self, model: Any, guide: Any, args: Any, kwargs: Any) -> Any:
        self._collapsed = TreeEnumMessenger()
        return super()._get_traces(self._collapsed(model), guide, args, kwargs)

    def compute_marginals(self, model: Any, guide: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The marginals of other enumerated sites, and the posterior of each choice of tree-enumerated ones.

        :raises NotImplementedError: if there are sites of both kinds, and the one depends on the other.
        """
        marginals = super().compute_marginals(model, guide, *args, **kwargs)
        return {**marginals, **self._collapsed.marginals()}

    def sample_posterior(self, model: Any, guide: Any, *args: Any, **kwargs: Any) -> Any:
        """What the model returns, with a joint posterior draw of all that is enumerated, trees included."""
        if self.num_particles != 1:
            raise NotImplementedError("sample_posterior draws once: num_particles has to be 1")
        with poutine.block(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Found vars in model but not guide")
            told, guided = next(self._get_traces(model, guide, args, kwargs))
        for name, site in guided.nodes.items():
            if site["type"] == "sample" and {"_enumerate_dim", "_enum_total"} & site["infer"].keys():
                raise NotImplementedError(f"sample_posterior: the guide's site '{name}' is enumerated")
        with BackwardSampleMessenger(told, guided):
            return poutine.replay(infer_trees(model), trace=guided)(*args, **kwargs)


class TreeTrace_ELBO(Trace_ELBO):  # noqa: N801, likewise
    """`TreeEnum_ELBO` for models that enumerate nothing else, without the bookkeeping that this takes."""

    def _get_traces(self, model: Any, guide: Any, args: Any, kwargs: Any) -> Any:
        return super()._get_traces(collapse_trees(model), guide, args, kwargs)


def tree_elbo(
    model: Callable[..., Any], guide: Callable[..., Any], *args: Any
) -> TraceEnum_ELBO | Trace_ELBO:
    """The quicker ELBO that will do for a model, with one plate at most around any of its sites.

    Guide and model are called once, to see whether they have sites to enumerate other than those of trees.
    """
    guided = poutine.trace(guide).get_trace(*args)
    told = poutine.trace(poutine.replay(collapse_trees(model), trace=guided)).get_trace(*args)
    sites = [*guided.nodes.values(), *told.nodes.values()]
    enumerates = any(site["type"] == "sample" and (site["infer"] or {}).get("enumerate") for site in sites)
    return TreeEnum_ELBO(max_plate_nesting=1) if enumerates else TreeTrace_ELBO(max_plate_nesting=1)
