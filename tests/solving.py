"""Problems of many shapes, and everything that a solver computes for them."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from unittest.mock import patch

import torch
from problems import PAIRS, Case, cost_of, inventory, problem_of, random_case, window
from torch import Tensor

from pyropunct.inference import inside
from pyropunct.inference.forest import forest_of
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.machines.evidence import exactly
from pyropunct.inference.problem import Problem
from pyropunct.inference.solvers import TensorSolver
from pyropunct.models.channel.slip import Slip, TokenBigrams

LEAVES = ("log_pairs", "weight", "initial", "final")
"""The numbers of a problem, which its results are differentiated by."""


@contextmanager
def by_tensors() -> Iterator[None]:
    """Here `pyropunct.inference.inside` computes as on a GPU."""
    with patch.object(inside, "solver_of", TensorSolver):
        yield


def with_leaves(problem: Problem, *leaves: Tensor) -> Problem:
    """The problem with other numbers."""
    automata = problem.automata._replace(**dict(zip(LEAVES[1:], leaves[1:], strict=True)))
    return replace(problem, log_pairs=leaves[0], automata=automata)


def leaves_of(problem: Problem) -> list[Tensor]:
    """Its numbers."""
    return [problem.log_pairs, *(getattr(problem.automata, name) for name in LEAVES[1:])]


def results(problem: Problem, cost: Tensor, kind: torch.dtype = torch.double) -> list[Tensor]:
    """Evidence, the same beside an expected cost, that cost, and all gradients of each of the three."""
    leaves = [leaf.detach().to(kind, copy=True).requires_grad_() for leaf in leaves_of(problem)]
    problem = with_leaves(problem, *leaves)
    values = [inside.log_evidence(problem), *inside.expected_cost(problem, cost)]
    everything = [value.detach() for value in values]
    seeds = torch.randn(len(values[0]), generator=torch.Generator().manual_seed(0))
    for value in values:
        # Impossible trees count for nothing, in the sum and in its gradients.
        possible = (seeds.to(value) * value)[values[0].isfinite()]
        everything += torch.autograd.grad(possible.sum(), leaves, retain_graph=True)
    return everything


def curvature(problem: Problem) -> list[Tensor]:
    """A product with the Hessian of an uneven function of the evidence."""
    leaves = [leaf.detach().clone().requires_grad_() for leaf in leaves_of(problem)]
    evidence = inside.log_evidence(with_leaves(problem, *leaves))
    gradients = torch.autograd.grad(evidence.square().sum(), leaves, create_graph=True)
    generator = torch.Generator().manual_seed(1)
    steps = [torch.randn(leaf.shape, generator=generator) for leaf in leaves]
    product = sum((gradient * step).sum() for gradient, step in zip(gradients, steps, strict=True))
    assert isinstance(product, Tensor)
    return list(torch.autograd.grad(product, leaves))


def assert_same(ours: list[Tensor], theirs: list[Tensor], part: float = 1e-9) -> None:
    """Equal up to a part of the greatest number, or of 1: the weights of rare arcs have huge derivatives."""
    for one, other in zip(ours, theirs, strict=True):
        finite = other[other.isfinite()].abs()
        near = part * max(1.0, float(finite.max()) if len(finite) else 0.0)
        torch.testing.assert_close(one.to(other), other, rtol=part, atol=near)


def larger_trees(number: int, seed: int) -> list[list[int]]:
    """The heads of random projective trees of 5 to 30 words."""
    rng = random.Random(seed)
    return [random_heads(rng.randrange(5, 31), rng) for _ in range(number)]


def random_heads(words: int, rng: random.Random) -> list[int]:
    """The heads of a random projective tree."""
    heads, spans = [0] * words, [(0, words, 0)]
    while spans:
        first, last, head = spans.pop()
        while first < last:
            end = rng.randrange(first + 1, last + 1) if head else last
            word = rng.randrange(first, end)
            heads[word] = head
            spans += [(first, word, word + 1), (word + 1, end, word + 1)]
            first = end
    return heads


def exact_problem(
    direction: str, walls: tuple[int | None, int | None], seed: int = 1
) -> tuple[Problem, Tensor]:
    """Larger trees with surfaces that the channel shows, and costs."""
    channel, pairs = window(direction), inventory(*walls)
    trees = larger_trees(25, seed)
    cases = [random_case(heads, channel, pairs, seed) for seed, heads in enumerate(trees)]
    return problem_of(cases, channel, pairs), cost_of(cases)


def slippery_problem(trees: list[list[int]], direction: str, seed: int) -> tuple[Problem, Tensor]:
    """Trees whose slots show up to 16 tokens, and costs; slips make everything possible."""
    rng = random.Random(seed)
    cases = []
    for heads in trees:
        relations = [rng.randrange(len(PAIRS)) for _ in heads]
        weights = [[rng.uniform(0.1, 1) for _ in PAIRS[relation]] for relation in relations]
        chances = [[weight / sum(row) for weight in row] for row in weights]
        sizes = [rng.choice([0, 0, 0, 0, 0, 1, 1, 2, 16]) for _ in range(len(heads) + 1)]
        surface = [tuple(rng.choice([1, 2]) for _ in range(size)) for size in sizes]
        surface[0] = (0, *surface[0])
        cost = [[rng.uniform(-1, 2) for _ in row] for row in chances]
        cases.append(Case(heads, relations, chances, surface, cost))
    channel = Slip(window(direction), TokenBigrams([(0,), (1, 2)], 3, 0))
    channel.slip_logit = torch.tensor(-7.0)
    return problem_of(cases, channel, inventory()), cost_of(cases)


def six_token_problem() -> tuple[Problem, Tensor]:
    """Two punctemes of six tokens meet in one slot, and the surface shows all twelve tokens."""
    left, right = (2, 2, 1, 1, 2, 2), (1, 2, 1, 2, 1, 2)
    channel, generator = window("left"), torch.Generator().manual_seed(0)
    strings = [(), right + left, right, left]
    problem = Problem(
        forest_of([[3, 3, 0], [0], [2, 0, 2]]),
        Inventory(3, [[((), ()), ((), right), (left, ())]]),
        torch.zeros(7, dtype=torch.long),
        torch.rand(21, generator=generator).log(),
        channel.transducer.automata(list(map(exactly, strings)), channel.probabilities()),
        torch.tensor([0, 1, 0, 0, 3, 0, 0, 2, 3, 2]),
    )
    return problem, torch.randn(21, generator=generator)


def sparse_problem(direction: str) -> tuple[Problem, Tensor]:
    """Half of all arcs and a fifth of all pairs have no weight, so several surfaces are impossible."""
    problem, cost = slippery_problem(larger_trees(20, 4), direction, 5)
    generator = torch.Generator().manual_seed(0)
    leaves = leaves_of(problem)
    leaves[1] = leaves[1] * (torch.rand(len(leaves[1]), generator=generator) < 0.5)
    drop = torch.rand(len(leaves[0]), generator=generator) < 0.2
    # The pair of empty punctemes stays, so that the surface often stays possible.
    drop[torch.from_numpy(problem.choice_start[:-1])] = False
    leaves[0] = leaves[0].masked_fill(drop, -torch.inf)
    return with_leaves(problem, *leaves), cost


LONG = {
    "2,000 words": random_heads(2000, random.Random(0)),
    "chain of 1,000 to the right": [*range(1000)],
    "chain of 1,000 to the left": [*range(2, 1001), 0],
    "1,000 children": [501] * 500 + [0] + [501] * 500,
}

PROBLEMS: dict[str, Callable[[], tuple[Problem, Tensor]]] = {
    **{
        f"{direction}, walls {walls}": partial(exact_problem, direction, walls)
        for direction in ("left", "right")
        for walls in ((0, None), (None, None), (1, 2))
    },
    **{
        f"{direction}, slips": partial(slippery_problem, larger_trees(20, 2), direction, 3)
        for direction in ("left", "right")
    },
    **{f"{direction}, sparse": partial(sparse_problem, direction) for direction in ("left", "right")},
    "six tokens": six_token_problem,
    **{
        name: partial(slippery_problem, [heads], "left" if len(heads) % 2000 else "right", 1)
        for name, heads in LONG.items()
    },
    "long and short": partial(
        slippery_problem, [LONG["2,000 words"], [0], LONG["1,000 children"], [2, 0, 2]], "right", 3
    ),
}
