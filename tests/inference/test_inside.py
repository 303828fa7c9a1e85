import random
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

import pytest
import torch
from printed_algorithm import log_evidence_by_matrices
from problems import (
    PAIRS,
    Case,
    cost_of,
    inventory,
    problem_of,
    random_case,
    window,
)
from solving import by_tensors, random_heads
from torch import Tensor

from pyropunct.inference.inside import (
    best_derivation,
    expected_cost,
    log_evidence,
    posterior_draws,
    posterior_pairs,
)
from pyropunct.inference.problem import Problem
from pyropunct.models.channel.slip import Slip, TokenBigrams

LEAVES = ("log_pairs", "weight", "initial", "final")
"""What a problem's results can be differentiated by."""

DIRECTIONS = pytest.mark.parametrize("direction", ["left", "right"])


def some_cases(direction: str) -> list[Case]:
    """A random case for each of some trees."""
    trees = [[0], [2, 0], [0, 1], [2, 0, 2], [2, 3, 0], [3, 1, 0, 3], [0, 1, 4, 2], [4, 1, 2, 0, 4]]
    return [random_case(heads, window(direction), inventory(), seed) for seed, heads in enumerate(trees)]


def with_leaves(problem: Problem, **leaves: Tensor) -> Problem:
    """The problem with other numbers."""
    pairs = leaves.pop("log_pairs", problem.log_pairs)
    return replace(problem, log_pairs=pairs, automata=problem.automata._replace(**leaves))


def leaves_of(problem: Problem) -> dict[str, Tensor]:
    """The problem's numbers, ready to be differentiated by."""
    tensors = {"log_pairs": problem.log_pairs} | problem.automata._asdict()
    return {name: tensors[name].detach().clone().requires_grad_() for name in LEAVES}


@DIRECTIONS
@pytest.mark.parametrize("far", [-743.0, -900.0, -1e5])
def test_scores_that_would_underflow(direction: str, far: float) -> None:
    """The pairs that explain the surface have much lower scores than others, but are not impossible."""
    cases = some_cases(direction)
    near = problem_of(cases, window(direction), inventory())
    node = torch.repeat_interleave(torch.from_numpy(near.choice_start).diff())
    useful = posterior_pairs(near) > 0
    lowered = near.log_pairs + torch.where(useful & (node % 2 == 0), far, 0.0)
    leaf = lowered.requires_grad_()
    there = replace(near, log_pairs=leaf)
    lacking = near.forest.per_tree(far * (torch.arange(near.forest.num_nodes) % 2 == 0))
    evidence, expectation = expected_cost(there, cost_of(cases))
    torch.testing.assert_close(evidence, log_evidence(near) + lacking)
    torch.testing.assert_close(log_evidence(there), log_evidence(near) + lacking)
    torch.testing.assert_close(expectation, expected_cost(near, cost_of(cases))[1])
    (gradient,) = torch.autograd.grad(log_evidence(there).sum(), leaf)
    torch.testing.assert_close(gradient, posterior_pairs(near))
    assert torch.equal(best_derivation(there), best_derivation(near))
    draws = (posterior_draws(one, 2000, torch.Generator().manual_seed(0)) for one in (there, near))
    ours, theirs = ((some[:, :, None] == torch.arange(4)).double().mean(0) for some in draws)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=0.07)


@pytest.mark.parametrize("solving", [nullcontext, by_tensors])
def test_joint_values_of_other_sites(solving: Callable[[], AbstractContextManager[None]]) -> None:
    """Leading dimensions of pairs and weights broadcast, in values and in gradients."""
    with solving():
        compare_joint_values()


def compare_joint_values() -> None:
    """With each joint value by itself."""
    cases, channel, some = some_cases("left"), window("left"), inventory()
    problem, cost = problem_of(cases, channel, some), cost_of(cases)
    pairs = torch.stack([problem.log_pairs, problem.log_pairs * 0.5, problem.log_pairs * 2])
    weight = torch.stack([problem.automata.weight, problem.automata.weight * 0.7])
    pairs, weight = pairs[:, None].requires_grad_(), weight.requires_grad_()
    wide = expected_cost(with_leaves(problem, log_pairs=pairs, weight=weight), cost)
    assert [value.shape for value in wide] == [(3, 2, len(cases))] * 2
    seeds = torch.randn(3, 2, len(cases))
    gradients = torch.autograd.grad((seeds * (wide[0] + wide[1])).sum(), [pairs, weight])
    sums = [torch.zeros_like(pairs), torch.zeros_like(weight)]
    for i in range(3):
        for j in range(2):
            leaves = leaves_of(with_leaves(problem, log_pairs=pairs[i, 0], weight=weight[j]))
            one = expected_cost(with_leaves(problem, **leaves), cost)
            torch.testing.assert_close(wide[0][i, j], one[0], rtol=1e-13, atol=0)
            torch.testing.assert_close(wide[1][i, j], one[1], rtol=1e-12, atol=1e-13)
            parts = torch.autograd.grad(
                (seeds[i, j] * (one[0] + one[1])).sum(), [leaves["log_pairs"], leaves["weight"]]
            )
            sums[0][i, 0] += parts[0]
            sums[1][j] += parts[1]
    for ours, theirs in zip(gradients, sums, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-11, atol=1e-12)


def test_pairs_and_arcs_of_probability_zero() -> None:
    """They take no part, and all gradients stay finite."""
    cases, channel, some = some_cases("left"), window("left"), inventory()
    problem = problem_of(cases, channel, some)
    without = posterior_pairs(problem).argmin()
    log_pairs = problem.log_pairs.index_fill(0, without, -torch.inf)
    weight = problem.automata.weight.clone()
    weight[3::40] = 0
    leaves = leaves_of(with_leaves(problem, log_pairs=log_pairs, weight=weight))
    slow = leaves_of(with_leaves(problem, log_pairs=log_pairs, weight=weight))
    evidence = log_evidence(with_leaves(problem, **leaves))
    printed = log_evidence_by_matrices(with_leaves(problem, **slow))
    possible = evidence.isfinite()
    assert possible.sum() >= 4
    torch.testing.assert_close(evidence, printed, rtol=1e-12, atol=0)
    ours = torch.autograd.grad(evidence[possible].sum(), list(leaves.values()))
    theirs = torch.autograd.grad(printed[possible].sum(), list(slow.values()))
    assert ours[0][without] == 0
    for one, other in zip(ours, theirs, strict=True):
        assert one.isfinite().all()
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("solving", [nullcontext, by_tensors])
def test_impossible_surfaces_have_no_slope(solving: Callable[[], AbstractContextManager[None]]) -> None:
    """Not even by the weights of zero that make them impossible."""
    problem = problem_of(some_cases("left")[:1], window("left"), inventory())
    first, last = problem.automata.state_start[int(problem.slot_automaton[0]) :][:2]
    initial = problem.automata.initial.detach().clone()
    initial[first:last] = 0
    initial.requires_grad_()
    seed = torch.ones(1, requires_grad=True)
    with solving():
        evidence = log_evidence(with_leaves(problem, initial=initial))
        [gradient] = torch.autograd.grad(evidence, initial, seed, create_graph=True)
        for direction in (gradient, gradient[first:last]):
            slopes = torch.autograd.grad(direction.sum(), [seed, initial], retain_graph=True)
            assert not any(slope.any() for slope in slopes)
    assert evidence.isneginf()


def test_eighty_words_against_the_printed_algorithm() -> None:
    """It does not rescale, so that longer sentences have no probability left; slots have up to 12 tokens."""
    rng, words = random.Random(2), 80
    surface = [
        tuple(rng.choice([1, 2]) for _ in range(rng.choice([0, 0, 0, 0, 0, 1, 1, 2, 12])))
        for _ in range(words + 1)
    ]
    surface[0] = (0, *surface[0])
    relations = [rng.randrange(len(PAIRS)) for _ in range(words)]
    chances = [[1 / len(PAIRS[relation])] * len(PAIRS[relation]) for relation in relations]
    channel = Slip(window("left"), TokenBigrams([(0,), (1, 2)], 3, 0))
    channel.slip_logit = torch.tensor(-7.0)  # slips make everything possible
    case = Case(random_heads(words, random.Random(0)), relations, chances, surface, [])
    problem = problem_of([case], channel, inventory())
    assert float(log_evidence(problem)) == pytest.approx(float(log_evidence_by_matrices(problem)), rel=1e-10)
