"""Tensor operations beside the compiled loops; test_all_paths.py compares both with brute force."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from brute_force import chi_square_is_plausible
from solving import (
    LEAVES,
    LONG,
    PROBLEMS,
    assert_same,
    by_tensors,
    curvature,
    exact_problem,
    larger_trees,
    leaves_of,
    results,
    slippery_problem,
    sparse_problem,
    with_leaves,
)
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from pyropunct.inference import inside
from pyropunct.inference.circuit import levels
from pyropunct.inference.circuit.sums import MAX
from pyropunct.inference.problem import Problem
from pyropunct.inference.solvers import TensorSolver

DIRECTIONS = pytest.mark.parametrize("direction", ["left", "right"])


@pytest.mark.parametrize("name", PROBLEMS)
def test_values_gradients_and_best_derivations(name: str) -> None:
    problem, cost = PROBLEMS[name]()
    theirs, best = results(problem, cost), inside.best_derivation(problem)
    with by_tensors():
        assert_same(results(problem, cost), theirs)
        assert torch.equal(inside.best_derivation(problem), best)
    gradients = theirs[3:]
    assert len(gradients) == 3 * len(LEAVES)
    assert all(gradient.any() and gradient.isfinite().all() for gradient in gradients)
    assert len(set(best.tolist())) > 1


@DIRECTIONS
def test_second_derivatives(direction: str) -> None:
    problem, _ = exact_problem(direction, (0, None))
    theirs = curvature(problem)
    assert all(value.any() for value in theirs)
    with by_tensors():
        assert_same(curvature(problem), theirs)


@DIRECTIONS
def test_impossible_surfaces_and_pairs(direction: str) -> None:
    """Evidence of minus infinity, no choices, and no share in any gradient."""
    problem, cost = sparse_problem(direction)
    with by_tensors():
        evidence, *others = results(problem, cost)
        choices = torch.cat([inside.posterior_draws(problem, 5), inside.best_derivation(problem)[None]])
    possible = evidence.isfinite()
    assert 10 <= possible.sum() < len(possible)
    assert not others[2][problem.log_pairs.isinf()].any()
    assert torch.equal(choices >= 0, possible[problem.forest.tree].expand_as(choices))


@pytest.mark.parametrize("name", LONG)
def test_long_sentences(name: str) -> None:
    """A probability below 1e-323, posteriors that sum to 1, and draws of the expected cost."""
    problem, cost = PROBLEMS[name]()
    evidence, expectation = inside.expected_cost(problem, cost)
    assert evidence.item() < -745
    posterior, sizes = inside.posterior_pairs(problem), torch.from_numpy(problem.choice_start).diff()
    nodes = torch.stack([part.sum() for part in posterior.split(sizes.tolist())])
    torch.testing.assert_close(nodes, torch.ones(len(sizes)), rtol=0, atol=1e-9)
    assert float(expectation) == pytest.approx(float((posterior * cost).sum()), rel=1e-9)
    assert_draws_have_the_expected_cost(problem, cost, 100)
    with by_tensors():
        assert_draws_have_the_expected_cost(problem, cost, 100)


@DIRECTIONS
def test_draws(direction: str) -> None:
    problem, cost = slippery_problem(larger_trees(20, 6), direction, 7)
    with by_tensors():
        assert_draws_have_the_expected_cost(problem, cost, 400)


def assert_draws_have_the_expected_cost(problem: Problem, cost: Tensor, draws: int) -> None:
    """Their mean is the posterior's, within 5 of its errors."""
    start = torch.from_numpy(problem.choice_start[:-1])
    drawn = problem.forest.per_tree(cost[start + inside.posterior_draws(problem, draws)])
    _, expectation = inside.expected_cost(problem, cost)
    error = drawn.std(0) / draws**0.5
    assert (error > 0).all()
    assert ((drawn.mean(0) - expectation).abs() < 5 * error).all()


def test_frequencies_of_draws_made_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(levels, "TOGETHER", 50)
    problem, _ = exact_problem("left", (0, None), 8)
    with by_tensors():
        draws = inside.posterior_draws(problem, 1001)
    assert draws.shape == (1001, problem.forest.num_nodes)
    chances = inside.posterior_pairs(problem).split(torch.from_numpy(problem.choice_start).diff().tolist())
    for column, chance in zip(draws.T, chances, strict=True):
        counts = torch.bincount(column, minlength=len(chance)).tolist()
        assert chi_square_is_plausible(counts, chance.tolist(), 1001)


@DIRECTIONS
def test_one_of_several_best_derivations(direction: str) -> None:
    """Many pairs and all arcs weigh the same: the derivation found is as probable as the best of all."""
    problem, _ = slippery_problem(larger_trees(30, 4), direction, 5)
    pairs, *others = leaves_of(problem)
    pairs = -1.0 - torch.randint(2, pairs.shape, generator=torch.Generator().manual_seed(0))
    problem = with_leaves(problem, pairs, *map(torch.ones_like, others))
    with by_tensors():
        best = inside.best_derivation(problem)
    chosen = torch.from_numpy(problem.choice_start[:-1]) + best
    alone = torch.full_like(pairs, -torch.inf).index_copy(0, chosen, pairs[chosen])
    totals = [_greatest_totals(tied) for tied in (problem, replace(problem, log_pairs=alone))]
    torch.testing.assert_close(totals[1], totals[0], rtol=1e-12, atol=0)


def _greatest_totals(problem: Problem) -> Tensor:
    tensors = TensorSolver(problem)
    _, (weights,) = inside._joint_weights(tensors)
    numbers, scale = tensors._values(weights, MAX)
    return numbers[tensors.circuit.results].log() + problem.forest.per_tree(scale.log())


@DIRECTIONS
def test_single_precision_is_computed_in_double(direction: str) -> None:
    problem, cost = slippery_problem(larger_trees(20, 6), direction, 7)
    theirs = results(problem, cost, torch.float)
    with by_tensors():
        ours = results(problem, cost, torch.float)
    assert all(value.dtype == torch.double for value in ours[:3])
    assert all(gradient.dtype == torch.float for gradient in ours[3:])
    assert_same(ours[:3], theirs[:3])
    assert_same(ours[3:], theirs[3:], 1e-6)


class Calls(TorchDispatchMode):
    """Counts the operations of torch."""

    number = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.number += 1
        return func(*args, **(kwargs or {}))


def test_more_trees_need_no_more_calls() -> None:
    problem, _ = slippery_problem(larger_trees(5, 10), "left", 11)
    counts = []
    for copies in (1, 8):
        many = _copied(problem, copies)
        leaf = many.log_pairs.requires_grad_()
        with by_tensors(), Calls() as calls:
            torch.autograd.grad(inside.log_evidence(many).sum(), leaf)
        with by_tensors(), Calls() as decoding:
            best = inside.best_derivation(many)
        assert torch.equal(best, inside.best_derivation(problem).repeat(copies))
        counts.append((calls.number, decoding.number))
    assert counts[0] == counts[1]


def _copied(problem: Problem, copies: int) -> Problem:
    forest = problem.forest
    trees, nodes, slots = (
        torch.arange(size).repeat(copies) for size in (forest.num_trees, forest.num_nodes, forest.num_slots)
    )
    return replace(
        problem,
        forest=forest.pick(trees.tolist()),
        relation=problem.relation[nodes],
        log_pairs=problem.log_pairs.repeat(copies),
        slot_automaton=problem.slot_automaton[slots],
    )
