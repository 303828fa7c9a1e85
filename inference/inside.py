"""Inside sums, expectations, best derivations and posterior draws for whole forests.

Surface punctuation x of a tree T leaves its punctemes T' latent.  With p(l, r | w) for every constituent w
and one automaton per slot (`pyropunct.inference.machines.automata`), everything here is one log-partition
function in a semiring, or a derivative of it (Li, Wang & Eisner 2019, section 3.1):

- `log_evidence`: log p(x | T), the sum over all T' (sum semiring);
- `posterior_pairs`: its gradient, p(l, r | w, T, x), and `posterior_items`, that of T where trees are latent;
- `expected_cost`: its slope in the direction of a cost, E[c(T')] under p(T' | T, x) (dual numbers);
- `best_derivation`: the T' of the single most probable derivation (max semiring);
- `posterior_draws`: draws of T' from p(T' | T, x) (sampling semiring).

A `Solver` computes it: compiled loops on the CPU, or tensor operations on a GPU.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from pyropunct.inference.machines.automata import join_automata, joined_groups, pack
from pyropunct.inference.machines.composition import as_acceptor
from pyropunct.inference.machines.evidence import any_over
from pyropunct.inference.packed import PackedForest
from pyropunct.inference.problem import Problem, Weights
from pyropunct.inference.solvers import CircuitSolver, Solver, TensorSolver, TensorWeights

DUAL = 1e-20
"""The imaginary unit of the dual numbers: small enough for its square to vanish beside 1."""


STEEPEST = 2.0**1000
"""The greatest slope in a weight of the automata."""


def solver_of(problem: Problem) -> Solver:
    """Compiled loops for numbers on the CPU and packed forests, tensor operations for numbers elsewhere."""
    is_here = problem.log_pairs.device.type == "cpu" or isinstance(problem.forest, PackedForest)
    return CircuitSolver(problem) if is_here else TensorSolver(problem)


def log_evidence(problem: Problem) -> Tensor:
    """The log-probability of the surface punctuation given the trees, (..., B)::

        log p(x | T) = log sum_T' prod_w p(l_w, r_w | w) prod_i p(x_i | u_i(T'))

    It is ``-inf`` where no T' explains x. Differentiable twice, with respect to ``log_pairs`` and the weights
    of the automata; the gradient in ``log_pairs`` is the posterior of each pair. Always computed in double
    precision, on the device of ``log_pairs``. Higher derivatives raise a `NotImplementedError`.
    """
    return _summed(problem, None)[0]


def expected_cost(problem: Problem, cost: Tensor) -> tuple[Tensor, Tensor]:
    """`log_evidence` and the posterior expectation of a cost that adds up over nodes.

    :param cost: (C,) the cost of each pair at each node, in the layout of ``log_pairs``.
    :returns: log p(x | T) and E[sum_w cost(w, l_w, r_w) | T, x], (..., B) each.  Both are
        differentiable once, as `log_evidence` is; ``cost`` counts as a constant.

    Source: Li, Wang & Eisner (2019, section 2.3): E = d/de log p(x | T) at e = 0, when every
    log p(l, r | w) becomes log p(l, r | w) + e cost(w, l, r).
    """
    return _summed(problem, cost)


def refuse_transforms(*values: Tensor) -> None:
    """Raises NotImplementedError where torch traces, or transforms tensors: compiled code reads their values.

    `torch.compile` calls compiled code as it is, and needs no refusal.
    """
    if torch.jit.is_tracing():
        raise NotImplementedError("sums over trees are compiled anyway, and cannot be traced by torch.jit")
    if any(map(torch._C._functorch.is_functorch_wrapped_tensor, values)):
        raise NotImplementedError(
            "sums over trees are compiled, and cannot be transformed by torch.func: use torch.autograd"
        )


def _summed(problem: Problem, cost: Tensor | None) -> tuple[Tensor, Tensor]:
    refuse_transforms(*_leaves(problem))
    log_total, expectation = _Inside.apply(problem, cost, *_leaves(problem))
    return problem.unscaled(log_total), expectation


def best_derivation(problem: Problem) -> Tensor:
    """The choices of the most probable derivation (T' and its edits), (..., N); -1 if the surface is
    impossible.
    """
    return _decoded(problem, lambda solver, weights: solver.best(weights))


def posterior_draws(problem: Problem, draws: int, generator: torch.Generator | None = None) -> Tensor:
    """Draws of T' from p(T' | T, x), (..., draws, N); -1 if the surface is impossible.

    :param generator: for draws on the CPU; by default torch's generator for the device of ``log_pairs``.
    """
    return _decoded(problem, lambda solver, weights: solver.draws(weights, draws, generator))


def _decoded(problem: Problem, decode: Callable[[Solver, TensorWeights], Tensor]) -> Tensor:
    """The choices that a solver decodes."""
    solver = solver_of(problem)
    batch, joint = _joint_weights(solver)
    choices = _stacked([decode(solver, weights) for weights in joint], batch, problem)
    return problem.numbered(choices)


def posterior_pairs(problem: Problem) -> Tensor:
    """The posterior probability of each pair at each node, (..., C)."""
    with torch.enable_grad():
        leaf = problem.log_pairs.detach().requires_grad_()
        return torch.autograd.grad(log_evidence(replace(problem, log_pairs=leaf)).sum(), leaf)[0]


def posterior_items(problem: Problem) -> Tensor:
    """(..., I) the posterior probability that an item of a packed forest is part of T; 1 in sum for each
    word.
    """
    item = torch.repeat_interleave(torch.from_numpy(np.diff(problem.choice_start)))
    pairs = posterior_pairs(problem)
    zeros = pairs.new_zeros((*pairs.shape[:-1], problem.forest.num_nodes))
    return zeros.index_add(-1, item.to(pairs.device), pairs)


def impossible_slot(problem: Problem, tree: int) -> int:
    """The first slot of a tree whose opening makes it possible; -1 if there is no single one."""
    for place, slot in enumerate(problem.forest.slots(tree)):
        if (log_evidence(opened(problem, torch.tensor([slot])))[..., tree] > -torch.inf).all():
            return place
    return -1


def opened(problem: Problem, slots: Tensor) -> Problem:
    """The problem with the surface of some slots unknown: p(x | T), summed over their strings."""
    automata, of_slots = problem.automata, problem.slot_automaton.clone()
    of_slots[slots] = len(automata.state_start) - 1
    anything = pack(as_acceptor(any_over(range(automata.num_tokens))), automata.num_tokens)
    one = automata.weight.new_ones((*automata.weight.shape[:-1], 1))  # the value of the empty product
    more = joined_groups([automata, join_automata([anything], one)])
    return replace(problem, automata=more, slot_automaton=of_slots)


def _leaves(problem: Problem) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    automata = problem.automata
    return problem.log_pairs, automata.weight, automata.initial, automata.final


def _joint_weights(solver: Solver) -> tuple[torch.Size, list[TensorWeights]]:
    """The common leading dimensions of all numbers, and the weights of each joint value of other sites."""
    leaves = _leaves(solver.problem)
    batch = torch.Size(np.broadcast_shapes(*(leaf.shape[:-1] for leaf in leaves)))
    rows = (_rows(leaf, batch, solver) for leaf in leaves)
    return batch, [Weights(*row) for row in zip(*rows, strict=True)]


def _rows(leaf: Tensor, batch: torch.Size, solver: Solver) -> Tensor:
    """Leaves, or seeds of trees, in double precision on the solver's device, (joint values, length)."""
    return leaf.detach().to(solver.device, torch.double).expand(*batch, -1).reshape(batch.numel(), -1)


def _stacked(rows: list[Tensor], batch: torch.Size, problem: Problem) -> Tensor:
    """Results of all joint values with their leading dimensions, on the device of the problem."""
    return torch.stack(rows).reshape(*batch, *rows[0].shape).to(problem.log_pairs.device)


def _dual(weights: TensorWeights, slopes: TensorWeights) -> TensorWeights:
    """Dual numbers: weights and their slopes."""
    pairs = zip(weights, slopes, strict=True)
    return Weights(*(torch.complex(value, slope * DUAL) for value, slope in pairs))


class _Sweep(NamedTuple):
    """Inside passes of a solver: one for each joint value of other sites, with its weights."""

    solver: Solver
    joint: Sequence[TensorWeights]
    passed: Sequence[Any]


class _Inside(torch.autograd.Function):
    """`expected_cost`; real numbers alone where there is no cost."""

    @staticmethod
    def forward(ctx: Any, problem: Problem, cost: Tensor | None, *leaves: Tensor) -> tuple[Tensor, Tensor]:
        solver = solver_of(problem)
        batch, joint = _joint_weights(solver)
        if cost is not None:
            costs = cost.detach().to(joint[0].pair)  # each is the slope of a log p(l, r | w)
            joint = [_dual(each, Weights(costs, *map(torch.zeros_like, each[1:]))) for each in joint]
        ctx.save_for_backward(*leaves)
        if any(ctx.needs_input_grad):
            rows, passed = map(list, zip(*map(solver.inside, joint), strict=True))
            ctx.sweep = _Sweep(solver, joint, passed)
        else:  # only one pass is in memory at a time
            rows = [solver.inside(weights)[0] for weights in joint]
        result = _stacked(rows, batch, problem)
        if cost is None:
            return result, torch.zeros_like(result)
        return result.real.contiguous(), result.imag / DUAL

    @staticmethod
    def backward(ctx: Any, evidence_grad: Tensor, expectation_grad: Tensor) -> tuple[Tensor | None, ...]:
        leaves = ctx.saved_tensors
        gradients = _InsideGradients.apply(ctx.sweep, evidence_grad, expectation_grad, *leaves)
        if ctx.sweep.joint[0].pair.is_complex():
            what = "second derivatives of an expected cost"
            gradients = last_derivatives(gradients, (evidence_grad, expectation_grad, *leaves), what)
        return None, None, *gradients


class _InsideGradients(torch.autograd.Function):
    """The reverse pass g = sum_b s_b grad log p(x_b | T_b) of seeds s, differentiable once itself.

    Forward over reverse: with DUAL i h added to the leaves, the imaginary part of log p(x | T) is DUAL times
    d(h . g) / ds, and that of g is DUAL times the Hessian by h, d(h . g) / d(leaves).
    """

    @staticmethod
    def forward(
        ctx: Any, sweep: _Sweep, evidence_grad: Tensor, expectation_grad: Tensor, *leaves: Tensor
    ) -> tuple[Tensor, ...]:
        ctx.save_for_backward(evidence_grad, *leaves)
        ctx.solver = solver = sweep.solver
        batch = evidence_grad.shape[:-1]
        seeds = _rows(evidence_grad, batch, solver)
        if sweep.joint[0].pair.is_complex():
            # The real part of (a - i b / DUAL) (u + i DUAL v) is a u + b v.
            seeds = torch.complex(seeds, -_rows(expectation_grad, batch, solver) / DUAL)
        columns = zip(sweep.joint, sweep.passed, seeds, strict=True)
        rows = [solver.gradients(*column) for column in columns]
        return _like_leaves([[part.real for part in row] for row in rows], evidence_grad, leaves)

    @staticmethod
    def backward(ctx: Any, *directions: Tensor) -> tuple[Tensor | None, ...]:
        solver, (seeds, *leaves) = ctx.solver, ctx.saved_tensors
        batch, joint = _joint_weights(solver)
        steps = zip(*(_rows(step, batch, solver) for step in directions), strict=True)
        slopes, rows = [], []
        for weights, step, seed in zip(joint, steps, _rows(seeds, batch, solver), strict=True):
            dual = _dual(weights, Weights(*step))
            totals, passed = solver.inside(dual)
            slopes.append(totals.imag / DUAL)
            gradients = solver.gradients(dual, passed, torch.complex(seed, torch.zeros_like(seed)))
            rows.append([part.imag / DUAL for part in gradients])
        values = (_stacked(slopes, batch, solver.problem), *_like_leaves(rows, seeds, leaves))
        last = last_derivatives(values, (seeds, *leaves, *directions), "third derivatives of log p(x | T)")
        return None, last[0], None, *last[1:]


def _like_leaves(
    rows: Sequence[Sequence[Tensor]], seeds: Tensor, leaves: Sequence[Tensor]
) -> tuple[Tensor, ...]:
    """Derivatives for each joint value as those of the leaves, which may have been broadcast.

    Finite, even if several are added: a weight that is 0 may have a slope of any size, which is to be
    multiplied by 0.
    """
    batch = seeds.shape[:-1]
    return tuple(
        torch.stack(column)
        .reshape(*batch, -1)
        .clamp(-STEEPEST, STEEPEST)
        .sum_to_size(leaf.shape)
        .to(leaf.device)
        for column, leaf in zip(zip(*rows, strict=True), leaves, strict=True)
    )


def last_derivatives(values: Sequence[Tensor], leaves: Sequence[Tensor], what: str) -> tuple[Tensor, ...]:
    """The same values, which raise an error if they are differentiated with respect to the leaves.

    For the end of a backward pass; `torch.autograd.function.once_differentiable` returns zero where incoming
    gradients are constant. ``what`` names the derivatives in the message.
    """
    return _Last.apply(what, len(values), *values, *leaves)


class _Last(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, what: str, count: int, *tensors: Tensor) -> tuple[Tensor, ...]:
        ctx.what = what
        return tuple(tensor.view_as(tensor) for tensor in tensors[:count])

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        raise NotImplementedError(f"there are no {ctx.what}")
