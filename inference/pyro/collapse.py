"""Sums over the punctemes of whole trees: a story has p(x | T), in place of p(T', x | T).

Under `collapse_trees` the site "pairs" of a story is left open unless it is given a value, and the site
"surface" then has the probability of x with all punctemes summed out.  All else stays as it is.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self

import torch
from pyro import poutine
from pyro.poutine.messenger import Messenger
from torch import Tensor

from pyropunct.inference import inside
from pyropunct.inference.machines.automata import Automata
from pyropunct.inference.machines.evidence import Evidence
from pyropunct.inference.problem import Problem
from pyropunct.inference.pyro.private import untraced
from pyropunct.inference.pyro.sites import OfTrees, PunctuatedTrees, Rewritten
from pyropunct.inference.pyro.story_state import SUMMED, Open, StoryState, is_open
from pyropunct.inference.story_inputs import Cost
from pyropunct.inference.threads import synchronized


class _WhileOpen:
    """True as long as the value of a site is left open: a handler further out may give it another one.

    Pyro asks handlers from the inside outward before a site, and from the outside inward after it, so that
    the outermost trace records a site before the handler that has left it open can act again.  Only a truth
    value that is computed when the trace asks for it knows of the values that handlers between them gave.
    """

    def __init__(self, msg: Any) -> None:
        self._msg = msg

    def __bool__(self) -> bool:
        return is_open(self._msg["value"])


class LeaveOpen(Messenger):
    """Leaves T' and T open, as `pyro.poutine.EnumMessenger` gives a site the values of an enumeration.

    :param left: what becomes of them; the outermost handler decides.
    """

    def __init__(self, left: str = SUMMED) -> None:
        super().__init__()
        self._left = left

    def __call__(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """The model under this handler."""
        return super().__call__(partial(_run, fn))

    def _pyro_sample(self, msg: Any) -> None:
        if "trees" in msg["infer"] and (msg["value"] is None or is_open(msg["value"])):
            msg["value"], msg["done"] = Open.to_be(self._left), True
            msg["infer"] |= {"_do_not_trace": _WhileOpen(msg), "is_auxiliary": True}

    def _pyro_post_sample(self, msg: Any) -> None:
        if "trees" in msg["infer"]:
            opened = is_open(msg["value"])  # a plain value: `_WhileOpen` would keep the message alive
            msg["infer"] |= {"_do_not_trace": opened, "is_auxiliary": opened}


@untraced
def _run(model: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return model(*args, **kwargs)


class CollapseTrees(LeaveOpen):
    """Sums out the open sites, and refuses impossible surfaces when the model has run: see `collapse_trees`.

    :ivar states: the stories, each with the mask of its site, which may leave out trees.
    """

    def __init__(self, allow_impossible: bool = False, left: str = SUMMED) -> None:
        super().__init__(left)
        self._allow_impossible = allow_impossible
        self.states: list[tuple[StoryState, Any]] = []

    def __enter__(self) -> Self:
        if torch.jit.is_tracing():
            raise NotImplementedError(
                "sums over trees are compiled anyway, and cannot be traced by torch.jit: use no Jit ELBO"
            )
        self.states = []
        return super().__enter__()

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        super().__exit__(exc_type, exc_value, traceback)
        if exc_type is not None or self._allow_impossible:
            return
        for state, counts in self.states:  # an impossible surface is an error of the run
            if not state.is_decided and not state.is_drawn:
                state.posterior.refuse_impossible(True if counts is None else counts)

    def _pyro_post_sample(self, msg: Any) -> None:
        super()._pyro_post_sample(msg)
        fn = msg["fn"]
        if isinstance(fn, OfTrees):
            refuse_parts_of_trees(msg)
        if isinstance(fn, (Rewritten, PunctuatedTrees)) and fn.state is not None:
            fn.state.show(msg["value"])
            if all(fn.state is not state for state, _ in self.states):
                self.states.append((fn.state, msg["mask"]))


def refuse_parts_of_trees(msg: Any) -> None:
    """Refuse a scale or a mask of anything but trees: Pyro would count the evidence for each element."""
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

    With ``story``, ``trees`` and ``surface`` of the page "A first Pyro program"::

        >>> model = collapse_trees(story)
        >>> guide = pyro.infer.autoguide.AutoDelta(model)
        >>> svi = pyro.infer.SVI(model, guide, pyro.optim.Adam({"lr": 0.3}), pyro.infer.Trace_ELBO())
        >>> losses = [svi.step(trees, surface) for _ in range(10)]
        >>> losses[-1] < losses[0]
        True

    :param allow_impossible: for `pyro.infer.MCMC` and `pyro.infer.Importance`: an impossible surface has
        probability 0 and zero gradients, instead of an error.
    :raises ImpossibleSurfaceError: when called, if no punctemes explain the surface of some tree.
    """
    return CollapseTrees(allow_impossible)(model)


@synchronized
def run_story(model: Callable[..., Any], *args: Any, **kwargs: Any) -> StoryState:
    """The one story that a call tells as p(x | T).

    :raises ValueError: if the call tells no story or several, or if T' is given.
    """
    with poutine.block(), CollapseTrees(allow_impossible=True) as collapse:
        model(*args, **kwargs)
    if len(collapse.states) != 1 or collapse.states[0][0].is_decided:
        raise ValueError(
            f"the model tells {len(collapse.states)} stories: one is needed, with a surface and without "
            "choices"
        )
    return collapse.states[0][0]


@untraced
def tree_problem(model: Callable[..., Any], *args: Any, **kwargs: Any) -> Problem:
    """The inference problem that a call of the model poses, for `pyropunct.inference.inside`.

    With ``story``, ``trees`` and ``surface`` of the page "A first Pyro program"::

        >>> problem = tree_problem(story, trees, surface)
        >>> inside.log_evidence(problem).shape == (len(trees),)
        True

    :raises ValueError: if the call tells another number of stories than one, or if T' is given.
    """
    return run_story(model, *args, **kwargs).posterior.problem


@untraced
def expected_uses(model: Callable[..., Any], *args: Any, **kwargs: Any) -> Tensor:
    """(products,) how often the channel's products of weights are used, in expectation under the posterior.

    The derivative of log p(x | T) in the logarithm of each product of ``transducer.products``: the counts of
    an E-step. See `pyropunct.inference.machines.transducers.Transducer.edit_counts`.

    With ``story``, ``trees`` and ``surface`` of the page "A first Pyro program"::

        >>> uses = expected_uses(story, trees, surface)
        >>> bool(story.channel.transducer.edit_counts(uses).sum() > 0)
        True

    :raises ValueError: if the call tells another number of stories than one, or if T' is given.
    """
    posterior = run_story(model, *args, **kwargs).posterior
    transducer, values = posterior.inputs.transducer, list[Tensor]()

    def automata(evidence: Sequence[Evidence], weights: Tensor) -> Automata:
        values.append(transducer.products.values(weights.detach()).requires_grad_())
        return transducer.automata_with(evidence, values[-1])

    with torch.enable_grad():
        problem = posterior.problem  # whose automata name all products that there are values for
        valued = replace(problem, automata=posterior.problem_with(automata).automata)
        total = inside.log_evidence(valued).sum()
        gradients = torch.autograd.grad(total, values)
    uses = (slope * value.detach() for slope, value in zip(gradients, values, strict=True))
    return torch.stack(list(uses)).sum(0)


def tree_expectation(state: StoryState, cost: Cost) -> Tensor:
    """E[sum_w cost(w, l_w, r_w)] of each tree, (..., B), differentiable once.

    With ``story``, ``trees`` and ``surface`` of the page "A first Pyro program"::

        >>> marks = torch.tensor([float(len(left) + len(right)) for left, right in story.inventory.rows])
        >>> state = collapse_trees(story)(trees, surface)
        >>> tree_expectation(state, marks).shape == (len(trees),)
        True

    Where T' is summed out, the expectation is over the posterior p(T' | T, x); else it is the cost of T'
    itself.  Source: Li, Wang & Eisner (2019, section 2.3).

    :raises ValueError: if the cost has another shape than `Cost`.
    """
    numbers = state.inputs.of_pairs(cost)
    return state.posterior.expected(numbers) if state.left else state.cost(numbers)
