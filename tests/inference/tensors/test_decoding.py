"""Best derivations and posterior draws in tensor operations, beside the compiled ones.

Against brute force both are compared in test_all_paths.py.
"""

from dataclasses import replace

import pytest
import torch
from brute_force import chi_square_is_plausible
from problems import inventory, problem_of, random_case, window
from test_evidence import LEAVES, Calls, larger_trees, moved, slippery_problem
from torch import Tensor

from pyropunct.inference import inside
from pyropunct.inference.problem import Problem
from pyropunct.inference.tensors import decoding

DIRECTIONS = pytest.mark.parametrize("direction", ["left", "right"])
WALLS = pytest.mark.parametrize("walls", [(0, None), (None, None), (1, 2)])


def on_tensors(problem: Problem, numbers: dict[str, Tensor]) -> Problem:
    """The problem with other numbers."""
    pairs = numbers.pop("log_pairs", problem.log_pairs)
    return replace(problem, log_pairs=pairs, automata=problem.automata._replace(**numbers))


@DIRECTIONS
@WALLS
def test_best_derivations_of_larger_trees(direction: str, walls: tuple[int | None, int | None]) -> None:
    channel, some = window(direction), inventory(*walls)
    cases = [random_case(heads, channel, some, seed) for seed, heads in enumerate(larger_trees(40, 1))]
    problem = problem_of(cases, channel, some)
    best = decoding.best_derivation(problem)
    assert len(set(best.tolist())) > 2
    assert torch.equal(best, inside.best_derivation(problem))


@DIRECTIONS
@pytest.mark.parametrize("kind", [torch.double, torch.float])
def test_best_derivations_with_long_slots_and_slips(direction: str, kind: torch.dtype) -> None:
    problem, _ = slippery_problem(larger_trees(30, 2), direction, 3)
    single, _ = moved(problem, kind)
    assert torch.equal(decoding.best_derivation(single), inside.best_derivation(problem))


@DIRECTIONS
def test_ties_go_where_the_kernels_let_them_go(direction: str) -> None:
    """All pairs and all arcs weigh the same, so that most nodes have several best choices."""
    problem, _ = slippery_problem(larger_trees(30, 4), direction, 5)
    even = {name: torch.full_like(getattr(problem.automata, name), 0.5) for name in LEAVES[1:]}
    tied = on_tensors(problem, {"log_pairs": torch.full_like(problem.log_pairs, -1.0), **even})
    best = decoding.best_derivation(tied)
    assert torch.equal(best, inside.best_derivation(tied))
    backwards = on_tensors(tied, {"log_pairs": tied.log_pairs - 1e-9 * torch.arange(len(tied.log_pairs))})
    assert torch.equal(decoding.best_derivation(backwards), best)


@DIRECTIONS
def test_draws_have_the_expected_cost(direction: str) -> None:
    """In larger trees with long slots: the mean of draws is the posterior's, within 5 of its errors."""
    problem, cost = slippery_problem(larger_trees(20, 6), direction, 7)
    draws = decoding.posterior_draws(problem, 2000)
    start = torch.from_numpy(problem.choice_start[:-1])
    drawn = problem.forest.per_tree(cost[start + draws])
    _, expectation = inside.expected_cost(problem, cost)
    error = drawn.std(0) / 2000**0.5
    assert (error > 0).all()
    assert ((drawn.mean(0) - expectation).abs() < 5 * error).all()


def test_draws_are_made_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many draws, so many at a time as fit; their frequencies are the posterior's."""
    channel, some = window("left"), inventory()
    cases = [random_case(heads, channel, some, seed) for seed, heads in enumerate(larger_trees(5, 8))]
    problem = problem_of(cases, channel, some)
    monkeypatch.setattr(decoding, "TERMS", 5000)
    together = decoding._guide(problem, maximise=False).together
    assert 1 < together < 1000
    draws = decoding.posterior_draws(problem, 3001)
    assert draws.shape == (3001, problem.forest.num_nodes)
    chances = inside.posterior_pairs(problem).split(torch.from_numpy(problem.choice_start).diff().tolist())
    for column, chance in zip(draws.T, chances, strict=True):
        counts = torch.bincount(column, minlength=len(chance)).tolist()
        assert chi_square_is_plausible(counts, chance.tolist(), 3001)


def test_more_trees_need_no_more_calls() -> None:
    counts = []
    for copies in (1, 8):
        problem, _ = slippery_problem(larger_trees(5, 10), "left", 11)
        forest = problem.forest
        trees, nodes, slots = (
            torch.arange(size).repeat(copies)
            for size in (forest.num_trees, forest.num_nodes, forest.num_slots)
        )
        many = replace(
            problem,
            forest=forest.pick(trees.tolist()),
            relation=problem.relation[nodes],
            log_pairs=problem.log_pairs.repeat(copies),
            slot_automaton=problem.slot_automaton[slots],
        )
        with Calls() as calls:
            best = decoding.best_derivation(many)
        assert torch.equal(best, decoding.best_derivation(problem).repeat(copies))
        counts.append(calls.number)
    assert counts[1] <= counts[0]


def test_leading_dimensions_are_refused_in_one_line() -> None:
    problem, _ = slippery_problem([[2, 0]], "left", 0)
    wide = replace(problem, log_pairs=problem.log_pairs.expand(3, -1))
    for decode in (decoding.best_derivation, lambda wide: decoding.posterior_draws(wide, 2)):
        with pytest.raises(NotImplementedError, match=r"^log_pairs has shape .*one dimension.*$"):
            decode(wide)
