"""The inside algorithm in tensor operations, for whole batches on a GPU.

A pass over the levels of a `pyropunct.inference.tensors.program` computes all values: each level is one
gather, product and scatter.  On a GPU the order of additions, hence the last digit, may change from
call to call, unless torch is told to be deterministic.  The way down, to best derivations and draws, is
`pyropunct.inference.tensors.decoding`.

A pass of values has one reverse pass of adjoints, level by level.  An expectation comes from dual
numbers, as in the kernels, so that no second derivative is ever formed; but they are pairs of real
numbers here, since the range of single precision is too small for an imaginary unit of 1e-20.

Source: Li, Wang & Eisner (2019, section 3.1).
"""

from collections.abc import Callable
from functools import reduce
from typing import Any

import torch
from torch import Tensor

from pyropunct.inference.derivatives import last_derivatives
from pyropunct.inference.problem import Problem
from pyropunct.inference.tensors.program import Offsets, Program, Rescaled, patterns_of, program_of, shape_of


def log_evidence(problem: Problem) -> Tensor:
    """The log-probability of the surface punctuation given the trees, (B,)::

        log p(x | T) = log sum_T' prod_w p(l_w, r_w | w) prod_i p(x_i | u_i(T'))

    The same as `pyropunct.inference.inside.log_evidence`, on the device of ``problem.log_pairs``, which is
    (C,), and in the greatest precision that pairs and weights have.  It is ``-inf`` where no T' explains x;
    such trees have a gradient of zero.  Differentiable once, with respect to ``log_pairs`` and the weights
    of the automata.

    In single precision, ways to x are lost in which a slot is as improbable as 1e-38.

    :raises NotImplementedError: if pairs or weights have leading dimensions.
    """
    return _inside(problem, None)[0]


def expected_cost(problem: Problem, cost: Tensor) -> tuple[Tensor, Tensor]:
    """`log_evidence` and the posterior expectation of a cost that adds up over nodes.

    :param cost: (C,) the cost of each pair at each node, in the layout of ``log_pairs``.
    :returns: log p(x | T) and E[sum_w cost(w, l_w, r_w) | T, x], (B,) each.  Both are differentiable
        once, as `log_evidence` is; ``cost`` counts as a constant.  In single precision a gradient of E
        is exact to about 1e-6 E, being a difference of numbers as great as E.
    :raises NotImplementedError: if pairs or weights have leading dimensions.

    Source: Li, Wang & Eisner (2019, section 2.3): E = d/de log p(x | T) at e = 0, when every
    log p(l, r | w) becomes log p(l, r | w) + e cost(w, l, r).
    """
    return _inside(problem, cost)


def _inside(problem: Problem, cost: Tensor | None) -> tuple[Tensor, Tensor]:
    return _Inside.apply(problem, cost, *leaves_of(problem))


def leaves_of(problem: Problem) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The numbers of a problem, in the order in which they lie in the flat vector.

    :raises NotImplementedError: if one has leading dimensions.
    """
    automata = problem.automata
    leaves = automata.weight, problem.log_pairs, automata.initial, automata.final
    names = "automata.weight", "log_pairs", "automata.initial", "automata.final"
    for name, leaf in zip(names, leaves, strict=True):
        if leaf.dim() > 1:
            raise NotImplementedError(
                f"{name} has shape {tuple(leaf.shape)}: the tensor path takes one dimension, "
                "inference.inside any number of joint values"
            )
    return leaves


# The passes.

Numbers = list[Tensor]
"""(size,) values alone; or values and slopes, which together are dual numbers x + x' e with e e = 0."""


def _times(x: Numbers, y: Numbers) -> Numbers:
    """Products of numbers.

    Where adjoints are listed from the last to the first, those of slopes first, this also gives them::

        z = x y, z' = x' y + x y'    so    [x'~, x~] = [z'~ y, z'~ y' + z~ y] = _times([z'~, z~], [y, y'])
    """
    product = x[0] * y[0]
    return [product] if len(x) == 1 else [product, x[0] * y[1] + x[1] * y[0]]


def _at(numbers: Numbers, place: Tensor) -> Numbers:
    return [column.index_select(0, place) for column in numbers]


def add(numbers: Numbers, place: Tensor, terms: Numbers) -> None:
    """Add terms to the numbers at their places: one step of a sum."""
    for column, more in zip(numbers, terms, strict=True):
        column.index_add_(0, place, more)


def keep_greatest(numbers: Numbers, place: Tensor, terms: Numbers) -> None:
    """Put terms to their places where they are greater than what is there: one step of a maximum."""
    for column, more in zip(numbers, terms, strict=True):
        column.scatter_reduce_(0, place.long(), more, "amax")


def evaluate(
    program: Program,
    leaves: tuple[Tensor, ...],
    cost: Tensor | None = None,
    put: Callable[[Numbers, Tensor, Numbers], None] = add,
) -> tuple[Numbers, Tensor]:
    """Compute all numbers from the leaves, and the scales of each node: of its vector s, and of its result.

    What is divided by them has a greatest value of about 1, so that single precision has room for each slot
    by itself.  The scales of s are powers of two: they change no digit, nor how ties are broken.

    :param leaves: see `leaves_of`.
    :param cost: (C,) the cost of each pair at each node; then there are slopes beside the values.
    :param put: what is done with the terms of a level: `add`, or `keep_greatest`.
    :returns: (size,) each of the numbers, and (2, N) the scales.
    """
    numbers = _start(program.at, cost, leaves)
    scale = numbers[0].new_full((2, len(program.at.vector)), torch.finfo(numbers[0].dtype).tiny)
    for target, first, second, sums, results in program.levels:
        put(numbers, target, _times(_at(numbers, first), _at(numbers, second)))
        if len(sums.place):
            _divide(numbers, sums, _power_of_two(_greatest(numbers, sums, scale[0])))
        if len(results.place):
            _divide(numbers, results, _greatest(numbers, results, scale[1]))
    return numbers, torch.stack([_power_of_two(scale[0]), scale[1]])


def _greatest(numbers: Numbers, part: Rescaled, scale: Tensor) -> Tensor:
    """For each number the greatest value of its node, which is put into ``scale`` too."""
    scale.scatter_reduce_(0, part.node, numbers[0].index_select(0, part.place), "amax")
    return scale.index_select(0, part.node)


def _power_of_two(x: Tensor) -> Tensor:
    """The greatest power of two that is not greater than x, which is positive."""
    return x / (2 * x.frexp().mantissa)


def _divide(numbers: Numbers, part: Rescaled, divisor: Tensor) -> None:
    for column in numbers:
        column.index_copy_(0, part.place, column.index_select(0, part.place).div_(divisor))


def _start(at: Offsets, cost: Tensor | None, leaves: tuple[Tensor, ...]) -> Numbers:
    """The leaves and zeros, as dual numbers if there is a cost: then p' = p cost."""
    device = leaves[1].device
    precision = reduce(torch.promote_types, (leaf.dtype for leaf in leaves))
    weight, log_pairs, initial, final = (leaf.to(device, precision) for leaf in leaves)
    pair = log_pairs.exp()
    known = torch.cat([weight, pair, initial, final, pair.new_ones(1)])
    numbers = [known.new_zeros(at.size) for _ in range(1 if cost is None else 2)]
    numbers[0][: len(known)] = known
    if cost is not None:
        numbers[1][at.pair : at.initial] = pair * cost.detach().to(pair)
    return numbers


def _reverse(program: Program, numbers: Numbers, scale: Tensor, adjoint: Numbers) -> None:
    """Compute all adjoints from those of the totals; the others are zero at first.

    Scales count as constants: p(x | T) does not depend on them.  Adjoints are in double precision:
    that of a state whose weight is 1e-20 may be 1e40, too great for single.
    """
    for target, first, second, sums, results in reversed(program.levels):
        for part, own in zip((sums, results), scale, strict=True):
            if len(part.place):
                _divide(adjoint, part, own.index_select(0, part.node))
        flow = _at(adjoint, target)
        add(adjoint, first, _times(flow, _at(numbers, second)))
        add(adjoint, second, _times(flow, _at(numbers, first)))


class _Inside(torch.autograd.Function):
    """`expected_cost` of the leaves of a problem."""

    @staticmethod
    def forward(ctx: Any, problem: Problem, cost: Tensor | None, *leaves: Tensor) -> tuple[Tensor, Tensor]:
        shape = shape_of(problem)
        program = program_of(shape, patterns_of(shape), problem.log_pairs.device)
        numbers, scale = evaluate(program, leaves, cost)
        ctx.program = program
        ctx.save_for_backward(scale, *leaves, *numbers)
        total = [column[program.at.totals] for column in numbers]
        evidence = total[0].log() + problem.forest.per_tree(scale.log().sum(0))
        if cost is None:
            return evidence, torch.zeros_like(evidence)
        return evidence, (total[1] / total[0]).where(total[0] > 0, 0)

    @staticmethod
    def backward(ctx: Any, evidence_grad: Tensor, expectation_grad: Tensor) -> tuple[Tensor | None, ...]:
        leaves = ctx.saved_tensors[1:5]
        with torch.no_grad():
            gradients = _Inside._gradients(ctx, evidence_grad, expectation_grad)
        what = "second derivatives of log p(x | T) on a GPU"
        return None, None, *last_derivatives(gradients, (evidence_grad, expectation_grad, *leaves), what)

    @staticmethod
    def _gradients(ctx: Any, evidence_grad: Tensor, expectation_grad: Tensor) -> list[Tensor]:
        program: Program = ctx.program
        scale, numbers = ctx.saved_tensors[0], ctx.saved_tensors[5:]
        leaves = ctx.saved_tensors[1:5]
        adjoint = [torch.zeros_like(column, dtype=torch.double) for column in numbers]
        seeds = _seeds(program.at, numbers, evidence_grad, expectation_grad)
        for column, seed in zip(adjoint, seeds, strict=True):
            column[program.at.totals] = seed
        _reverse(program, numbers, scale, adjoint)
        pairs = slice(program.at.pair, program.at.initial)
        # Weights have no slopes of their own, but p' = p cost, and the derivative of p in log p is p.
        adjoint[-1][pairs] = _times([x[pairs] for x in adjoint], [x[pairs] for x in numbers])[-1]
        gradients = adjoint[-1][: program.at.one].split([leaf.numel() for leaf in leaves])
        return list(map(_like, leaves, gradients))


def _like(leaf: Tensor, gradient: Tensor) -> Tensor:
    """A gradient in the shape, on the device and in the precision of its leaf, whose range it may exceed."""
    most = torch.finfo(leaf.dtype).max
    return gradient.clamp(-most, most).reshape(leaf.shape).to(leaf)


def _seeds(at: Offsets, numbers: Numbers, evidence_grad: Tensor, expectation_grad: Tensor) -> Numbers:
    """The adjoints of the totals z + z' e, from those of log z and of z' / z; zero where z is."""
    total = [column[at.totals].double() for column in numbers]
    possible = total[0] > 0
    if len(total) == 1:
        return [(evidence_grad / total[0]).where(possible, 0)]
    rest = evidence_grad - expectation_grad * total[1] / total[0]
    return [(seed / total[0]).where(possible, 0) for seed in (expectation_grad, rest)]
