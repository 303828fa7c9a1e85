"""Inside sums, expectations, best derivations and posterior draws for whole forests.

The observed surface punctuation x of a tree T leaves its punctemes T' latent.  With p(l, r | w) for
every constituent w and one automaton per slot (`pyropunct.inference.machines.automata`), this module computes

- `log_evidence`: log p(x | T), the sum over all T', with its gradient (sum semiring);
- `expected_cost`: also E[c(T')] under the posterior p(T' | T, x), with its gradient (first-order
  expectation semiring: dual numbers);
- `best_derivation`: the T' of the single most probable derivation (max semiring);
- `posterior_draws`: draws of T' from the posterior.

Source: Li, Wang & Eisner (2019, section 3.1); the matrices of their Algorithm 1 are never formed,
see `pyropunct.inference.kernels`.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.inference.derivatives import last_derivatives
from pyropunct.inference.kernels import decode, inside, outside
from pyropunct.inference.kernels.semirings import MAX, SUM
from pyropunct.inference.kernels.structure import Weights
from pyropunct.inference.kernels.workspace import Workspaces
from pyropunct.inference.machines.automata import Automata, side_by_side
from pyropunct.inference.problem import Problem
from pyropunct.inference.tensors import decoding, evidence
from pyropunct.inference.threads import in_threads, parts_of

DUAL = 1e-20
"""The imaginary unit of the dual numbers: small enough for its square to vanish beside 1."""


def log_evidence(problem: Problem) -> Tensor:
    """The log-probability of the surface punctuation given the trees, (..., B)::

        log p(x | T) = log sum_T' prod_w p(l_w, r_w | w) prod_i p(x_i | u_i(T'))

    It is ``-inf`` where no T' explains x.  Differentiable twice, with respect to ``log_pairs``
    and the weights of the automata; the gradient in ``log_pairs`` is the posterior of each pair.
    On a GPU it is computed there, by `pyropunct.inference.tensors.evidence`, unless there are leading
    dimensions, and is differentiable once.  Higher derivatives raise a `NotImplementedError`.
    """
    if _for_tensors(problem):
        return problem.unscaled(evidence.log_evidence(problem))
    return problem.unscaled(_Inside.apply(problem, None, *_leaves(problem))[0])


def expected_cost(problem: Problem, cost: Tensor) -> tuple[Tensor, Tensor]:
    """`log_evidence` and the posterior expectation of a cost that adds up over nodes.

    :param cost: (C,) the cost of each pair at each node, in the layout of ``log_pairs``.
    :returns: log p(x | T) and E[sum_w cost(w, l_w, r_w) | T, x], (..., B) each.  Both are
        differentiable once, as `log_evidence` is; ``cost`` counts as a constant.

    Source: Li, Wang & Eisner (2019, section 2.3): E = d/de log p(x | T) at e = 0, when every
    log p(l, r | w) becomes log p(l, r | w) + e cost(w, l, r).
    """
    if _for_tensors(problem):
        log_total, expectation = evidence.expected_cost(problem, cost)
    else:
        log_total, expectation = _Inside.apply(problem, cost, *_leaves(problem))
    return problem.unscaled(log_total), expectation


def _for_tensors(problem: Problem) -> bool:
    """Whether the problem is better solved by tensor operations than by the compiled kernels."""
    on_cpu = problem.log_pairs.device.type == "cpu"
    return not on_cpu and all(leaf.dim() == 1 for leaf in _leaves(problem))


def best_derivation(problem: Problem) -> Tensor:
    """The choice of each node in the most probable derivation, (..., N).

    A derivation is T' together with one path through each slot's automaton, so its edits too; ties
    go to the pair that comes first.  -1 for the nodes of a tree whose surface is impossible.
    """
    if _for_tensors(problem):
        return decoding.best_derivation(problem)
    return _decode(problem, MAX, torch.zeros(1, problem.forest.num_nodes, _chances(problem)))[..., 0, :]


def posterior_draws(problem: Problem, draws: int, generator: torch.Generator | None = None) -> Tensor:
    """Independent draws of T' from p(T' | T, x), (..., draws, N).

    Random numbers come from torch's generator: that of the GPU, for what is computed there as in
    `log_evidence`.  -1 for the nodes of a tree whose surface is impossible.

    :param generator: random numbers for what is computed on the CPU, in the place of those.
    """
    if _for_tensors(problem):
        return decoding.posterior_draws(problem, draws)
    size = draws, problem.forest.num_nodes, _chances(problem)
    uniform = torch.rand(size, dtype=torch.double, generator=generator)
    return _decode(problem, SUM, uniform)


def posterior_pairs(problem: Problem) -> Tensor:
    """The posterior probability of each pair at each node, (..., C)."""
    with torch.enable_grad():
        leaf = problem.log_pairs.detach().requires_grad_()
        return torch.autograd.grad(log_evidence(replace(problem, log_pairs=leaf)).sum(), leaf)[0]


def impossible_slot(problem: Problem, tree: int) -> int:
    """A slot whose surface keeps a tree at probability zero, counted within the tree; -1 if all are needed.

    That is the first slot which, when its automaton accepts anything, makes the tree possible.
    """
    for place, slot in enumerate(problem.forest.slots(tree)):
        if log_evidence(opened(problem, torch.tensor([slot])))[..., tree] > -torch.inf:
            return place
    return -1


def opened(problem: Problem, slots: Tensor) -> Problem:
    """The problem in which nothing is known of some slots: p(x | T), summed over all of their strings.

    :param slots: their numbers in the forest.
    """
    of_slots = problem.slot_automaton.clone()
    of_slots[slots] = len(problem.automata.state_start) - 1
    return replace(problem, automata=_with_any(problem.automata), slot_automaton=of_slots)


def _with_any(automata: Automata) -> Automata:
    """The automata and one more, of one state, that accepts every string."""
    loops = np.zeros(automata.num_tokens, np.int64)
    one = automata.weight.new_ones(1)
    anything = Automata(
        automata.num_tokens,
        np.array([0, 1]),
        np.arange(automata.num_tokens + 1),
        loops,
        loops,
        automata.weight.new_ones((*automata.weight.shape[:-1], automata.num_tokens)),
        one.expand(*automata.initial.shape[:-1], 1),
        one.expand(*automata.final.shape[:-1], 1),
        np.zeros(1),
    )
    return side_by_side([automata, anything])


def _leaves(problem: Problem) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    automata = problem.automata
    return problem.log_pairs, automata.weight, automata.initial, automata.final


def _chances(problem: Problem) -> int:
    return 3 + 2 * problem.inventory.longest


def _spread(problem: Problem) -> tuple[torch.Size, list[NDArray[np.float64]]]:
    """The common batch shape, and each leaf as an array (joint values, its length)."""
    leaves = _leaves(problem)
    batch = torch.Size(np.broadcast_shapes(*(leaf.shape[:-1] for leaf in leaves)))
    arrays = [
        leaf.detach().to("cpu", torch.double).expand(*batch, -1).reshape(batch.numel(), -1).numpy()
        for leaf in leaves
    ]
    arrays[0] = np.exp(arrays[0])
    return batch, arrays


def _tree_parts(problem: Problem) -> list[int]:
    """The borders of parts of the forest with about equal numbers of nodes, a part for each thread."""
    edges = parts_of(problem.forest.num_nodes)
    borders = np.searchsorted(problem.structure.node_start, edges)
    return np.unique(borders).tolist()


class _Passed(NamedTuple):
    """An inside pass over all trees, for one joint value of other sites.

    :ivar weights: the numbers that it read.
    :ivar borders: the borders of the parts that threads did.
    :ivar parts: what each left behind.
    """

    weights: Weights
    borders: list[int]
    parts: list[Workspaces]


def _inside_pass(problem: Problem, weights: Weights) -> tuple[NDArray[Any], _Passed]:
    """log p(x | T) of each tree but for the scales of automata, and what the reverse pass will need."""
    totals, borders = np.empty(problem.forest.num_trees, weights.pair.dtype), _tree_parts(problem)

    def work(first: int, last: int) -> Workspaces:
        return inside.inside_pass(problem.flat_structure, weights, first, last, totals)

    return totals, _Passed(weights, borders, in_threads(work, borders))


def _gradients(problem: Problem, passed: _Passed, seeds: NDArray[Any]) -> list[NDArray[Any]]:
    """Derivatives of the seeded sum of log totals, in the order of `_leaves`."""
    weights, pair = passed.weights, np.zeros_like(passed.weights.pair)

    def work(first: int, last: int) -> Weights:
        gradients = Weights(pair, *(np.zeros_like(values) for values in weights[1:]))
        part = passed.parts[passed.borders.index(first)]
        outside.add_gradients(problem.flat_structure, weights, part, last, seeds, gradients)
        return gradients

    parts = in_threads(work, passed.borders)
    return [pair, *(np.sum([part[field] for part in parts], axis=0) for field in (1, 2, 3))]


class _Inside(torch.autograd.Function):
    """`expected_cost` by the compiled kernels; real numbers alone where there is no cost."""

    @staticmethod
    def forward(ctx: Any, problem: Problem, cost: Tensor | None, *leaves: Tensor) -> tuple[Tensor, Tensor]:
        batch, arrays = _spread(problem)
        ctx.problem = problem
        ctx.save_for_backward(*leaves)
        joint = [_joint_weights(values, cost) for values in zip(*arrays, strict=True)]
        rows, passed = zip(*(_inside_pass(problem, weights) for weights in joint), strict=True)
        if any(ctx.needs_input_grad):
            ctx.passed = passed
        result = torch.from_numpy(np.stack(rows)).reshape(*batch, -1).to(leaves[0].device)
        if cost is None:
            return result, torch.zeros_like(result)
        return result.real.contiguous(), result.imag / DUAL

    @staticmethod
    def backward(ctx: Any, evidence_grad: Tensor, expectation_grad: Tensor) -> tuple[Tensor | None, ...]:
        leaves = ctx.saved_tensors
        arguments = ctx.problem, ctx.passed, evidence_grad, expectation_grad, *leaves
        gradients = _InsideGradients.apply(*arguments)
        if _is_dual(ctx.passed):
            what = "second derivatives of an expected cost"
            gradients = last_derivatives(gradients, (evidence_grad, expectation_grad, *leaves), what)
        return None, None, *gradients


class _InsideGradients(torch.autograd.Function):
    """The reverse pass g = sum_b s_b grad log p(x_b | T_b) of seeds s, differentiable once itself.

    Forward over reverse: with log p + DUAL i h for the log-probabilities, and likewise for the other leaves,
    the imaginary part of log p(x | T) is DUAL times the slope in direction h, which is d(h . g) / ds;
    and that of g is DUAL times the Hessian by h, which is d(h . g) / d(leaves).
    """

    @staticmethod
    def forward(
        ctx: Any,
        problem: Problem,
        passed: Any,
        evidence_grad: Tensor,
        expectation_grad: Tensor,
        *leaves: Tensor,
    ) -> tuple[Tensor, ...]:
        ctx.problem = problem
        ctx.save_for_backward(evidence_grad, *leaves)
        seeds = evidence_grad.cpu().contiguous().reshape(len(passed), -1).numpy()
        if _is_dual(passed):
            # The real part of (a - i b / DUAL) (u + i DUAL v) is a u + b v.
            seeds = seeds - 1j * expectation_grad.cpu().reshape(seeds.shape).numpy() / DUAL
        rows = [_gradients(problem, one, seed) for one, seed in zip(passed, seeds, strict=True)]
        return _like_leaves([[part.real for part in row] for row in rows], evidence_grad, leaves)

    @staticmethod
    def backward(ctx: Any, *directions: Tensor) -> tuple[Tensor | None, ...]:
        seeds, *leaves = ctx.saved_tensors
        values = seeds.detach().cpu().reshape(seeds.shape[:-1].numel(), -1).numpy()
        slopes, rows = [], []
        for weights, seed in zip(_moved(ctx.problem, directions), values, strict=True):
            totals, passed = _inside_pass(ctx.problem, weights)
            slopes.append(totals.imag / DUAL)
            gradients = _gradients(ctx.problem, passed, seed.astype(np.complex128))
            rows.append([part.imag / DUAL for part in gradients])
        found = _like_leaves(rows, seeds, leaves)
        slope = torch.from_numpy(np.stack(slopes)).reshape(seeds.shape).to(seeds)
        last = last_derivatives(
            (slope, *found), (seeds, *leaves, *directions), "third derivatives of log p(x | T)"
        )
        return None, None, last[0], None, *last[1:]


def _is_dual(passed: Sequence[_Passed]) -> bool:
    return np.iscomplexobj(passed[0].weights.pair)


def _like_leaves(
    rows: list[list[NDArray[np.float64]]], seeds: Tensor, leaves: Sequence[Tensor]
) -> tuple[Tensor, ...]:
    """Derivatives for each joint value as those of the leaves, which may have been broadcast."""
    columns = [torch.from_numpy(np.stack(column)) for column in zip(*rows, strict=True)]
    batch = seeds.shape[:-1]
    return tuple(
        column.reshape(*batch, -1).sum_to_size(leaf.shape).to(leaf.device)
        for column, leaf in zip(columns, leaves, strict=True)
    )


def _moved(problem: Problem, directions: Sequence[Tensor]) -> list[Weights]:
    """The numbers of each joint value as dual numbers, moved in the given direction of the leaves."""
    batch, arrays = _spread(problem)
    steps = [
        step.detach().to("cpu", torch.double).expand(*batch, -1).reshape(batch.numel(), -1).numpy()
        for step in directions
    ]
    steps[0] = steps[0] * arrays[0]  # the leaf is the logarithm
    columns = [values + 1j * DUAL * step for values, step in zip(arrays, steps, strict=True)]
    return [Weights(*map(np.ascontiguousarray, row)) for row in zip(*columns, strict=True)]


def _joint_weights(values: tuple[NDArray[np.float64], ...], cost: Tensor | None) -> Weights:
    """The numbers of one joint value of other sites, as dual numbers if there is a cost."""
    if cost is None:
        return Weights(*(np.ascontiguousarray(value) for value in values))
    pair, arc, initial, final = (value.astype(np.complex128) for value in values)
    pair += 1j * DUAL * cost.detach().to("cpu", torch.double).numpy() * values[0]
    return Weights(pair, arc, initial, final)


def _decode(problem: Problem, semiring: np.bool_, uniform: Tensor) -> Tensor:
    batch, arrays = _spread(problem)
    chance = uniform.to(torch.double).numpy()
    found = np.empty((len(arrays[0]), *uniform.shape[:2]), np.int64)
    for number, values in enumerate(zip(*arrays, strict=True)):
        weights = Weights(*(np.ascontiguousarray(value) for value in values))

        def work(first: int, last: int, weights=weights, number=number) -> None:  # type: ignore[no-untyped-def]
            decode.decode(problem.flat_structure, weights, first, last, semiring, chance, found[number])

        in_threads(work, _tree_parts(problem))
    return torch.from_numpy(found).reshape(*batch, *uniform.shape[:2]).to(problem.log_pairs.device)
