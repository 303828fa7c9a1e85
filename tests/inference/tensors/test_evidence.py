import random
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest
import torch
from problems import PAIRS, Case, cost_of, inventory, problem_of, random_case, window
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from pyropunct.inference import inside
from pyropunct.inference.forest import forest_of
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.machines.evidence import exactly
from pyropunct.inference.problem import Problem
from pyropunct.inference.tensors import evidence
from pyropunct.models.channel.slip import Slip, TokenBigrams

LEAVES = ("log_pairs", "weight", "initial", "final")
"""What a problem's results can be differentiated by."""

DIRECTIONS = pytest.mark.parametrize("direction", ["left", "right"])
WALLS = pytest.mark.parametrize("walls", [(0, None), (None, None), (1, 2)])


def moved(problem: Problem, kind: torch.dtype) -> tuple[Problem, list[Tensor]]:
    """The problem in another precision, and its numbers, ready to be differentiated by."""
    numbers = {"log_pairs": problem.log_pairs} | problem.automata._asdict()
    leaves = [numbers[name].detach().to(kind, copy=True).requires_grad_() for name in LEAVES]
    automata = problem.automata._replace(**dict(zip(LEAVES[1:], leaves[1:], strict=True)))
    return replace(problem, log_pairs=leaves[0], automata=automata), leaves


def results(
    path: ModuleType, problem: Problem, cost: Tensor, kind: torch.dtype = torch.double
) -> list[Tensor]:
    """Evidence, the same beside an expected cost, that cost, and all gradients of each of the three."""
    problem, leaves = moved(problem, kind)
    values = [path.log_evidence(problem), *path.expected_cost(problem, cost)]
    found = [value.detach() for value in values]
    seeds = torch.randn(len(values[0]), generator=torch.Generator().manual_seed(0))
    for value in values:
        # What is impossible counts for nothing, in the sum and in its gradients.
        possible = (seeds.to(value) * value)[values[0].isfinite()]
        found += torch.autograd.grad(possible.sum(), leaves, retain_graph=True)
    return found


def assert_same(ours: list[Tensor], theirs: list[Tensor], part: float = 1e-9) -> None:
    """Up to a part of the greatest number, or of 1: where something is all but impossible, the derivative
    in the weight of a way out of it is greater than others by many orders."""
    for one, other in zip(ours, theirs, strict=True):
        near = part * max(1.0, float(other.abs().max()))
        torch.testing.assert_close(one.to(other), other, rtol=part, atol=near)


def assert_same_in_single_precision(ours: list[Tensor], theirs: list[Tensor]) -> None:
    """To 1e-5; the gradient of an expectation is a difference, and this to 1e-5 of what is subtracted:
    the expectation times the gradient of the evidence."""
    assert all(value.dtype == torch.float for value in ours)
    end = len(ours) - len(LEAVES)
    assert_same(ours[:end], theirs[:end], 1e-5)
    greatest = 1 + float(theirs[2].abs().max())
    for one, other, value in zip(ours[end:], theirs[end:], theirs[3:], strict=False):
        near = 1e-5 * greatest * max(1.0, float(value.abs().max()))
        torch.testing.assert_close(one.to(other), other, rtol=1e-5, atol=near)


def larger_trees(number: int, seed: int) -> list[list[int]]:
    """The heads of random projective trees of 5 to 30 words."""
    rng = random.Random(seed)
    return [random_heads(rng.randrange(5, 31), rng) for _ in range(number)]


def random_heads(words: int, rng: random.Random) -> list[int]:
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


def slippery_problem(trees: list[list[int]], direction: str, seed: int) -> tuple[Problem, Tensor]:
    """Trees whose slots show up to 16 tokens, and costs; slips make everything possible."""
    rng = random.Random(seed)
    cases = []
    for heads in trees:
        relations = [rng.randrange(len(PAIRS)) for _ in heads]
        weights = [[rng.uniform(0.1, 1) for _ in PAIRS[relation]] for relation in relations]
        chances = [[weight / sum(some) for weight in some] for some in weights]
        sizes = [rng.choice([0, 0, 0, 0, 0, 1, 1, 2, 16]) for _ in range(len(heads) + 1)]
        surface = [tuple(rng.choice([1, 2]) for _ in range(size)) for size in sizes]
        surface[0] = (0, *surface[0])
        cost = [[rng.uniform(-1, 2) for _ in some] for some in chances]
        cases.append(Case(heads, relations, chances, surface, cost))
    channel = Slip(window(direction), TokenBigrams([(0,), (1, 2)], 3, 0))
    channel.slip_logit = torch.tensor(-7.0)
    return problem_of(cases, channel, inventory()), cost_of(cases)


@DIRECTIONS
@WALLS
def test_larger_trees(direction: str, walls: tuple[int | None, int | None]) -> None:
    channel, some = window(direction), inventory(*walls)
    cases = [random_case(heads, channel, some, seed) for seed, heads in enumerate(larger_trees(25, 1))]
    problem, cost = problem_of(cases, channel, some), cost_of(cases)
    assert_same(results(evidence, problem, cost), results(inside, problem, cost))


@DIRECTIONS
def test_long_slots_and_slips(direction: str) -> None:
    problem, cost = slippery_problem(larger_trees(20, 2), direction, 3)
    assert problem.automata.state_start[-1] > 10 * len(problem.automata.state_start)
    assert_same(results(evidence, problem, cost), results(inside, problem, cost))


def test_punctemes_of_six_tokens() -> None:
    """Two of them meet in one slot, and the surface shows all twelve tokens."""
    left, right = (2, 2, 1, 1, 2, 2), (1, 2, 1, 2, 1, 2)
    channel = window("left")
    problem = Problem(
        forest_of([[3, 3, 0], [0], [2, 0, 2]]),
        Inventory(3, [[((), ()), ((), right), (left, ())]]),
        torch.zeros(7, dtype=torch.long),
        torch.rand(21).log(),
        channel.transducer.automata(
            list(map(exactly, [(), right + left, right, left])), channel.probabilities()
        ),
        torch.tensor([0, 1, 0, 0, 3, 0, 0, 2, 3, 2]),
    )
    cost = torch.randn(21)
    theirs = results(inside, problem, cost)
    assert all(value.any() for value in theirs)
    assert_same(results(evidence, problem, cost), theirs)


@DIRECTIONS
def test_sparse_arcs_and_pairs_of_probability_zero(direction: str) -> None:
    problem, cost = slippery_problem(larger_trees(20, 4), direction, 5)
    weight = problem.automata.weight.clone()
    weight[torch.rand(len(weight)) < 0.5] = 0
    without = problem.log_pairs.clone()
    # The pair of empty punctemes stays, so that the surface stays possible.
    drop = torch.rand(len(without)) < 0.2
    drop[torch.from_numpy(problem.choice_start[:-1])] = False
    without[drop] = -torch.inf
    problem = replace(problem, log_pairs=without, automata=problem.automata._replace(weight=weight))
    ours, theirs = results(evidence, problem, cost), results(inside, problem, cost)
    assert theirs[0].isfinite().sum() >= 10
    assert not ours[3][drop].any()
    possible = theirs[0].isfinite()
    assert torch.equal(ours[0].isfinite(), possible)
    assert_same([value[possible] for value in ours[:3]], [value[possible] for value in theirs[:3]])
    assert_same(ours[3:], theirs[3:])


@DIRECTIONS
def test_single_precision(direction: str) -> None:
    problem, cost = slippery_problem(larger_trees(20, 6), direction, 7)
    ours, theirs = results(evidence, problem, cost, torch.float), results(inside, problem, cost)
    assert_same_in_single_precision(ours, theirs)


class Calls(TorchDispatchMode):
    """Counts the operations of torch."""

    number = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.number += 1
        return func(*args, **(kwargs or {}))


def test_more_trees_need_no_more_calls() -> None:
    counts = []
    for copies in (1, 8):
        problem, _ = slippery_problem(larger_trees(5, 10), "left", 11)
        trees, nodes, slots = (torch.arange(n).repeat(copies) for n in _sizes(problem))
        pairs = problem.log_pairs.repeat(copies).requires_grad_()
        problem = replace(
            problem,
            forest=problem.forest.pick(trees.tolist()),
            relation=problem.relation[nodes],
            log_pairs=pairs,
            slot_automaton=problem.slot_automaton[slots],
        )
        with Calls() as calls:
            evidence.log_evidence(problem).sum().backward()
        counts.append(calls.number)
    assert counts[0] == counts[1]


def _sizes(problem: Problem) -> tuple[int, int, int]:
    return problem.forest.num_trees, problem.forest.num_nodes, problem.forest.num_slots


def test_leading_dimensions_are_refused_in_one_line() -> None:
    channel, some = window("left"), inventory()
    cases = [random_case([2, 0], channel, some, 0)]
    problem = problem_of(cases, channel, some)
    pairs = replace(problem, log_pairs=problem.log_pairs.expand(3, -1))
    weight = problem.automata.weight.expand(2, -1)
    weights = replace(problem, automata=problem.automata._replace(weight=weight))
    for name, wide in (("log_pairs", pairs), ("automata.weight", weights)):
        with pytest.raises(NotImplementedError, match=rf"^{name} has shape .*one dimension.*$"):
            evidence.log_evidence(wide)
        with pytest.raises(NotImplementedError, match=rf"^{name} has shape"):
            evidence.expected_cost(wide, cost_of(cases))
