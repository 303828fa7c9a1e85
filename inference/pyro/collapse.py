"""Sums over the punctemes of whole trees: a story is told as p(x | T), in place of p(T', x | T).

Under `collapse_trees` the site "surface" of a story has the probability of x with all punctemes summed out,
and the site "pairs" is gone, unless it is given a value.  All else stays as it is.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Self
from weakref import proxy

import pyro
import torch
from pyro import poutine
from pyro.ops.provenance import detach_provenance, get_provenance, track_provenance
from torch import Tensor

from pyropunct.errors import UserError
from pyropunct.inference import inside
from pyropunct.inference.machines.automata import Automata
from pyropunct.inference.machines.evidence import Evidence
from pyropunct.inference.problem import Problem
from pyropunct.inference.pyro.private import Intervention
from pyropunct.inference.pyro.telling import TellMessenger, TreeSite, forward, given_values, keep_latent
from pyropunct.inference.pyro.told import SURFACE, Cost, Surface, Told


class ImpossibleSurfaceError(UserError, ValueError):
    """No choice of punctemes explains some surface punctuation."""


class Sum:
    """The sum over all T' of a story whose x is known, run on first use; refers weakly to the story that owns
    it.

    :ivar counts: the mask of the site, which may leave out trees.
    """

    def __init__(self, told: Told) -> None:
        self._told: Told = proxy(told)
        self.counts: Any = True

    @property
    def is_made(self) -> bool:
        """Whether it has been asked for."""
        return "problem" in vars(self)

    @cached_property
    def problem(self) -> Problem:
        """The inference problem."""
        return self._told.problem

    @cached_property
    def log_evidence(self) -> Tensor:
        """(..., B) log p(x | T) of each tree, in double precision."""
        return track_provenance(inside.log_evidence(self.problem), self._told.provenance)

    def expected(self, cost: Tensor) -> Tensor:
        """(..., B) the expectation, under the posterior, of a cost of (C,) pairs."""
        numbers = detach_provenance(cost)
        numbers = numbers.index_select(-1, self.problem.base.to(numbers.device))
        evidence, expectation = inside.expected_cost(self.problem, numbers)
        sites = self._told.provenance
        self.log_evidence = track_provenance(evidence, sites)
        return track_provenance(expectation, sites | get_provenance(cost))

    def refuse_impossible(self) -> None:
        """Refuse an x that no T' explains. Raises ImpossibleSurfaceError with the tree and the slot."""
        sizes, evidence = self._told.sentences, self.log_evidence
        if sizes is not None:
            evidence = torch.stack([trees.amax(-1) for trees in evidence.split(list(sizes), -1)], -1)
        impossible = ((evidence == -torch.inf) & torch.as_tensor(self.counts)).nonzero()
        if len(impossible):
            place = int(impossible[0, -1])
            tree = place if sizes is None else sum(sizes[:place])
            slot = inside.impossible_slot(self.problem, tree)
            where = f"slot {slot}" if slot >= 0 else "several slots"
            raise ImpossibleSurfaceError(
                f"no punctemes explain the surface punctuation of tree {tree} of the batch, {where}: add its "
                "strings to the inventory, or let the channel slip (pyropunct.models.channel.composed.Slip)"
            )


class Summed(TreeSite):
    """x with all T' summed out: p(x | T) of each tree (Li, Wang & Eisner 2019, section 3.1)."""

    def sample(self, sample_shape: Any = ()) -> Tensor:
        """x of the walk that has drawn it, together with a T' that is forgotten."""
        assert self.told.walked is not None  # see `summed`
        return self.told.walked[1]

    def log_prob(self, value: Surface) -> Tensor:
        """log p(x | T), (..., B)."""
        self.check(value)
        return self.of_trees(self.told.sum.log_evidence)


def summed(told: Told, surface: Surface | None) -> None:
    """x alone, by `Summed`, or `forward` if T' is given. Raises NotImplementedError where `do` gives x."""
    given, shown = given_values(told, surface)
    if given is not None:
        return forward(told, surface)
    if isinstance(shown, Intervention):
        raise NotImplementedError(
            f"site '{SURFACE}' is set by an intervention, so that no sum over trees is left: use the model "
            "without collapse_trees"
        )
    if shown is None:
        if told.is_latent:
            raise NotImplementedError(
                f"site '{SURFACE}' is to be drawn, but its trees are summed out: use the model without "
                "collapse_trees"
            )
        told.walk()
    with told.plate:
        value = pyro.sample(SURFACE, Summed(told), obs=surface)  # type: ignore[arg-type]
    told.show(value, is_drawn=shown is None)
    told.sum = Sum(told)
    if told.mask is not None:
        told.sum.counts = told.mask


class CollapseMessenger(TellMessenger):
    """Tells stories as p(x | T), and checks the sums of ``told`` after the model has run: see
    `collapse_trees`.
    """

    def __init__(self, allow_impossible: bool = False) -> None:
        super().__init__(summed, keep_latent)
        self._allow_impossible = allow_impossible
        self.told: list[Told] = []

    def __enter__(self) -> Self:
        if torch.jit.is_tracing():
            raise NotImplementedError(
                "sums over trees are compiled anyway, and cannot be traced by torch.jit: use no Jit ELBO"
            )
        self.told = []
        return super().__enter__()

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        super().__exit__(exc_type, exc_value, traceback)
        for told in self.told:  # an impossible surface is an error of the run
            if told.sum is not None and exc_type is None and not self._allow_impossible:
                told.sum.refuse_impossible()

    def _pyro_post_tell(self, msg: Any) -> None:
        self.told.append(msg["value"])

    def _pyro_post_sample(self, msg: Any) -> None:
        """Refuse a scale or a mask of anything but trees: Pyro would count the evidence for each element."""
        if isinstance(msg["fn"], Summed) and msg["mask"] is not None:
            msg["fn"].told.mask = msg["mask"]
        if isinstance(msg["fn"], TreeSite):
            trees = msg["fn"].batch_shape[-1]
            for what in ("scale", "mask"):
                shape = torch.as_tensor(1.0 if msg[what] is None else msg[what]).shape
                if shape[-1:] not in ((), (1,), (trees,)):
                    raise ValueError(
                        f"site '{msg['name']}' has a {what} of shape {tuple(shape)}, whose last dimension is "
                        f"that of its {trees} trees"
                    )


def collapse_trees(model: Callable[..., Any], allow_impossible: bool = False) -> Callable[..., Any]:
    """The model with the punctemes of its stories summed out.

    :param allow_impossible: for `pyro.infer.MCMC` and `pyro.infer.Importance`: an impossible surface has
        probability 0 and zero gradients, instead of an error.
    :raises ImpossibleSurfaceError: when called, if no punctemes explain the surface of some tree.
    """
    return CollapseMessenger(allow_impossible)(model)


def told_story(model: Callable[..., Any], *args: Any, **kwargs: Any) -> Told:
    """The one story that a call tells as p(x | T). Raises ValueError if there is another number, or T' is
    given.
    """
    with poutine.block(), CollapseMessenger(allow_impossible=True) as collapse:
        model(*args, **kwargs)
    if len(collapse.told) != 1 or collapse.told[0].is_decided:
        raise ValueError(
            f"the model tells {len(collapse.told)} stories: one is needed, with a surface and without choices"
        )
    return collapse.told[0]


def tree_problem(model: Callable[..., Any], *args: Any, **kwargs: Any) -> Problem:
    """The inference problem that a call of the model poses."""
    return told_story(model, *args, **kwargs).problem


def expected_uses(model: Callable[..., Any], *args: Any, **kwargs: Any) -> Tensor:
    """(products,) how often the channel's products of weights are used, in expectation under the posterior.

    The derivative of log p(x | T) in the logarithm of each product of ``transducer.products``: the counts of
    an E-step. See `pyropunct.inference.machines.transducers.Transducer.edit_counts`.
    """
    told = told_story(model, *args, **kwargs)
    problem = told.problem  # whose automata name all products that there are values for
    values: list[Tensor] = []

    def automata(evidence: Sequence[Evidence], weights: Tensor) -> Automata:
        values.append(told.transducer.products.values(weights.detach()).requires_grad_())
        return told.transducer.automata_with(evidence, values[-1])

    with torch.enable_grad():
        valued = replace(problem, automata=told.problem_with(automata).automata)
        total = inside.log_evidence(valued).sum()
        gradients = torch.autograd.grad(total, values)
    uses = (slope * value.detach() for slope, value in zip(gradients, values, strict=True))
    return torch.stack(list(uses)).sum(0)


# Costs of punctemes


def tree_expectation(told: Told, cost: Cost) -> Tensor:
    """E[sum_w cost(w, l_w, r_w)] of each tree, (..., B), differentiable once.

    Where T' is summed out, the expectation is over the posterior p(T' | T, x); else it is the cost of T'
    itself.  Source: Li, Wang & Eisner (2019, section 2.3).

    :raises ValueError: if the cost has another shape than `Cost`.
    :raises NotImplementedError: if trees of a sentence are mixed.
    """
    numbers = told.of_pairs(cost)
    if told.sentences is not None:
        raise NotImplementedError(
            "tree_expectation is of each tree alone, but mix_trees weighs the trees of a sentence: leave the "
            "symmetry regulariser out"
        )
    return told.cost_of_choices(numbers) if told.sum is None else told.sum.expected(numbers)


def tree_factor(told: Told, cost: Cost) -> Tensor:
    """log of the factor exp(-sum_w cost(w, l_w, r_w)) of each tree, (..., B), for `pyro.factor`.

    Where T' is summed out, the factor is part of the sum: the site "surface" then has::

        log sum_T' p(T', x | T) exp(-sum_w cost(w, l_w, r_w))

    in place of log p(x | T), and this returns 0.  Posteriors and expectations are those of this product.

    :param cost: counts as a constant.
    :raises ValueError: if the cost has another shape than `Cost`, or if the sum has been made.
    """
    numbers = told.of_pairs(cost)
    if told.sum is None:
        return -told.cost_of_choices(numbers)
    if told.sum.is_made:
        raise ValueError(
            "tree_factor comes behind tree_expectation or infer_trees, which know nothing of it: put it "
            "before, or give Told the cost"
        )
    told.cost = numbers if told.cost is None else told.cost + numbers
    return told.log_pairs.new_zeros(told.forest.num_trees)
