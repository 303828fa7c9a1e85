"""Sentences of 1,000 and 2,000 words: nothing overflows, and all ways to compute agree."""

import random
from types import ModuleType

import pytest
import torch
from test_evidence import LEAVES, moved, random_heads, slippery_problem
from torch import Tensor

from pyropunct.inference import inside
from pyropunct.inference.problem import Problem
from pyropunct.inference.tensors import decoding, evidence

SHAPES = {
    "2,000 words": random_heads(2000, random.Random(0)),
    "chain of 1,000 to the right": [*range(1000)],
    "chain of 1,000 to the left": [*range(2, 1001), 0],
    "1,000 children": [501] * 500 + [0] + [501] * 500,
}


def everything(
    path: ModuleType, problem: Problem, cost: Tensor, kind: torch.dtype = torch.double
) -> list[Tensor]:
    """The evidence, the expected cost, and all gradients of each."""
    problem, leaves = moved(problem, kind)
    values = path.expected_cost(problem, cost)
    gradients = [torch.autograd.grad(value.sum(), leaves, retain_graph=True) for value in values]
    return [*values, *gradients[0], *gradients[1]]


@pytest.mark.parametrize("heads", SHAPES.values(), ids=SHAPES)
def test_kernels_and_tensors_agree_and_stay_finite(heads: list[int]) -> None:
    problem, cost = slippery_problem([heads], "left" if len(heads) % 2000 else "right", 1)
    ours, theirs = everything(evidence, problem, cost), everything(inside, problem, cost)
    assert len(theirs) == 2 + 2 * len(LEAVES)
    assert ours[0].item() < -745  # the probability itself would be zero
    for one, other in zip(ours, theirs, strict=True):
        assert one.isfinite().all()
        assert other.isfinite().all()
        assert other.any()
        torch.testing.assert_close(
            one, other, rtol=1e-9, atol=1e-9 * max(1.0, float(other.detach().abs().max()))
        )
    start = torch.from_numpy(problem.choice_start)
    posterior = theirs[2]  # the gradient of the evidence in the pairs
    nodes = torch.stack([part.sum() for part in posterior.split(start.diff().tolist())])
    torch.testing.assert_close(nodes, torch.ones(len(heads)), rtol=0, atol=1e-9)
    assert float(theirs[1]) == pytest.approx(float((posterior * cost).sum()), rel=1e-9)
    # The best derivation is the same; draws have the expected cost, within 5 of its errors.
    best = inside.best_derivation(problem)
    assert torch.equal(decoding.best_derivation(problem), best)
    assert (best >= 0).all()
    for path in (inside, decoding):
        drawn = cost[start[:-1] + path.posterior_draws(problem, 100)].sum(-1)
        assert abs(float(drawn.mean() - theirs[1])) < 5 * float(drawn.std()) / 100**0.5
    # In single precision nothing overflows either; the kernels always compute in double precision.
    single = everything(evidence, problem, cost, torch.float)
    assert all(value.dtype == torch.float and value.isfinite().all() for value in single)
    for one, other in zip(single[:2], theirs[:2], strict=True):
        torch.testing.assert_close(one.double(), other, rtol=1e-5, atol=0)


def test_a_batch_of_long_and_short_sentences() -> None:
    trees = [SHAPES["2,000 words"], [0], SHAPES["1,000 children"], [2, 0, 2]]
    problem, cost = slippery_problem(trees, "right", 3)
    for one, other in zip(
        evidence.expected_cost(problem, cost), inside.expected_cost(problem, cost), strict=True
    ):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)
