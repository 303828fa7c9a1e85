"""Second derivatives of the evidence, against the differentiable reference."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from printed_algorithm import log_evidence_by_matrices
from problems import (
    batch_of,
    inventory,
    problem_of,
    random_case,
    slope,
    story_case,
    tiny_story,
    window,
)
from pyro import poutine
from pyro.infer.autoguide import AutoLaplaceApproximation
from torch import Tensor

from pyropunct.inference.inside import expected_cost, log_evidence
from pyropunct.inference.pairs import log_probabilities
from pyropunct.inference.problem import Problem
from pyropunct.inference.pyro.collapse import collapse_trees
from pyropunct.models.channel.window import SlidingWindow


def some_problem(direction: str, end: int | None = None) -> Problem:
    channel, some = window(direction), inventory(0, end)
    return problem_of(
        [random_case(heads, channel, some, 2) for heads in ([2, 0, 2], [3, 1, 0])], channel, some
    )


def leaves_of(problem: Problem, batch: int = 0) -> list[Tensor]:
    automata = problem.automata
    leaves = [problem.log_pairs, automata.weight, automata.initial, automata.final]
    if batch:
        leaves = [leaf.detach() * (1 + 0.1 * torch.rand(batch, len(leaf))) for leaf in leaves]
    return [leaf.detach().requires_grad_() for leaf in leaves]


def at(problem: Problem, leaves: list[Tensor]) -> Problem:
    pairs, weight, initial, final = leaves
    automata = problem.automata._replace(weight=weight, initial=initial, final=final)
    return replace(problem, log_pairs=pairs, automata=automata)


def products(evidence: Callable[[Problem], Tensor], problem: Problem, leaves: list[Tensor]) -> list[Tensor]:
    """A Hessian-vector product of an uneven function of the evidence of all trees."""
    value = (evidence(at(problem, leaves)).square() * torch.tensor([1.0, 0.3])).sum()
    gradients = torch.autograd.grad(value, leaves, create_graph=True)
    torch.manual_seed(1)
    product = sum(
        ((gradient * torch.randn_like(gradient)).sum() for gradient in gradients), torch.tensor(0.0)
    )
    return list(torch.autograd.grad(product, leaves))


@pytest.mark.parametrize("direction", ["left", "right"])
@pytest.mark.parametrize("end", [None, 1])
def test_hessian_vector_products(direction: str, end: int | None) -> None:
    problem = some_problem(direction, end)
    leaves = leaves_of(problem)
    ours = products(log_evidence, problem, leaves)
    for one, other in zip(ours, products(log_evidence_by_matrices, problem, leaves), strict=True):
        assert other.abs().max() > 1e-3
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-11)


def test_the_hessian_of_the_sum_alone() -> None:
    """The incoming gradient is constant here: what `once_differentiable` does not see."""
    problem = some_problem("left")
    hessians = [
        torch.autograd.functional.hessian(
            lambda pairs, evidence=evidence: evidence(replace(problem, log_pairs=pairs)).sum(),
            problem.log_pairs,
        )
        for evidence in (log_evidence, log_evidence_by_matrices)
    ]
    assert hessians[1].abs().max() > 0.01
    torch.testing.assert_close(*hessians, rtol=1e-10, atol=1e-12)


def test_several_joint_values() -> None:
    problem = some_problem("left")
    leaves = leaves_of(problem, 2)
    leaves[1] = leaves[1][0].detach().requires_grad_()  # one that they share
    ours = products(log_evidence, problem, leaves)

    def each(together: Problem) -> Tensor:
        rows = [[leaf[row] if leaf.dim() > 1 else leaf for leaf in leaves] for row in (0, 1)]
        return torch.stack([log_evidence_by_matrices(at(together, row)) for row in rows])

    for one, other in zip(ours, products(each, problem, leaves), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-11)


def test_pairs_of_each_set() -> None:
    start = torch.tensor([0, 3, 4, 8])

    def value(logits: Tensor) -> Tensor:
        return (log_probabilities(logits, start) * torch.arange(8.0)).sum()

    def plain(logits: Tensor) -> Tensor:
        parts = torch.cat([part.log_softmax(-1) for part in logits.split([3, 1, 4])])
        return (parts * torch.arange(8.0)).sum()

    logits = torch.randn(8)
    ours, other = (torch.autograd.functional.hessian(function, logits) for function in (value, plain))
    assert other.abs().max() > 0.1
    torch.testing.assert_close(ours, other, rtol=1e-10, atol=1e-12)


def test_what_there_are_no_derivatives_of() -> None:
    problem = some_problem("left")
    leaf = problem.log_pairs.detach().requires_grad_()
    moved = replace(problem, log_pairs=leaf)
    value = log_evidence(moved).sum()
    for _ in range(2):
        value = torch.autograd.grad(value, leaf, create_graph=True)[0].square().sum()
    with pytest.raises(NotImplementedError, match=r"no third derivatives of log p\(x \| T\)"):
        torch.autograd.grad(value, leaf)
    cost = torch.ones(len(leaf))
    (gradient,) = torch.autograd.grad(expected_cost(moved, cost)[1].sum(), leaf, create_graph=True)
    with pytest.raises(NotImplementedError, match="no second derivatives of an expected cost"):
        torch.autograd.grad(gradient.square().sum(), leaf)


def test_laplace_approximation_of_a_story() -> None:
    """Its precision is the Hessian of the loss, here by differences of its gradient."""
    story = tiny_story(SlidingWindow(3))
    data = batch_of([story_case(tiny_story(window("left")), [2, 0, 2], 3)])
    story.channel.edit_logits = torch.randn(3, 3, 4)
    guide = AutoLaplaceApproximation(collapse_trees(story))
    guide(*data)
    posterior = guide.laplace_approximation(*data).get_posterior()
    here = guide.loc.detach().clone()

    def gradient(point: Tensor) -> Tensor:
        point = point.clone().requires_grad_()
        known = poutine.condition(collapse_trees(story), {"attach.table": point})
        log_joint = poutine.trace(known).get_trace(*data).log_prob_sum()
        return -torch.autograd.grad(log_joint, point)[0]

    for row in range(0, len(here), 3):
        expected = [slope(lambda point, row=row: gradient(point)[row], here, (j,)) for j in range(len(here))]
        assert posterior.precision_matrix[row].tolist() == pytest.approx(expected, rel=1e-6, abs=1e-8)
    assert (posterior.precision_matrix - torch.eye(len(here))).abs().max() > 0.01
