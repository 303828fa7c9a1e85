"""Inference where numbers are not on the CPU: on a GPU, if there is one, and on an emulated device."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch
from emulated_device import Away, is_on, other_device
from solving import LEAVES, assert_same, larger_trees, results, slippery_problem

from pyropunct.inference import inside
from pyropunct.inference.problem import Problem


@pytest.fixture(params=["emulated", "cuda"])
def device(request: pytest.FixtureRequest) -> Iterator[torch.device]:
    with other_device(request.param) as device:
        yield device


def moved(problem: Problem, device: torch.device, with_trees: bool = False) -> Problem:
    """The problem with its numbers elsewhere."""
    numbers = {name: getattr(problem.automata, name).to(device) for name in LEAVES[1:]}
    there = replace(
        problem, log_pairs=problem.log_pairs.to(device), automata=problem.automata._replace(**numbers)
    )
    if not with_trees:
        return there
    return replace(
        there,
        forest=problem.forest.to(device),
        relation=problem.relation.to(device),
        slot_automaton=problem.slot_automaton.to(device),
    )


@pytest.mark.parametrize("device", ["emulated"], indirect=True)
def test_the_emulated_device_complains_as_a_gpu_does(device: torch.device) -> None:
    """Else the other tests here would prove nothing."""
    here, there = torch.arange(3.0), torch.arange(3.0, device=device)
    place = torch.tensor([2, 0])
    assert isinstance(there, Away)
    assert (there + 1).tolist() == [1, 2, 3]
    assert (there + torch.tensor(1.0)).tolist() == [1, 2, 3]  # a number may be on the CPU
    assert there[place].tolist() == [2, 0]  # and so may an index
    assert there.cpu().numpy().tolist() == [0, 1, 2]
    for mixed in (
        lambda: here + there,
        lambda: here[place.to(device)],
        lambda: there.index_select(0, place),
        lambda: there.index_add_(0, place.to(device), here[:2]),
        lambda: torch.cat([here, there]),
        lambda: there.scatter_reduce(0, place, there[:2], "amax"),
    ):
        with pytest.raises(RuntimeError, match="expected all tensors to be on the same device"):
            mixed()
    with pytest.raises(RuntimeError, match="numpy"):
        there.numpy()


@pytest.mark.parametrize("with_trees", [False, True])
def test_values_and_gradients(device: torch.device, with_trees: bool) -> None:
    problem, cost = slippery_problem(larger_trees(12, 2), "left", 3)
    there = moved(problem, device, with_trees)
    found = results(there, cost.to(device))
    assert all(is_on(value, device) for value in found)
    assert_same([value.cpu() for value in found], results(problem, cost))
    evidence, expectation = inside.expected_cost(there, cost)  # which may be on the CPU
    assert is_on(evidence, device)
    assert is_on(expectation, device)


@pytest.mark.parametrize("with_trees", [False, True])
def test_decoding(device: torch.device, with_trees: bool) -> None:
    problem, _ = slippery_problem(larger_trees(12, 4), "right", 5)
    there = moved(problem, device, with_trees)
    best, draws = inside.best_derivation(there), inside.posterior_draws(there, 4)
    assert is_on(best, device)
    assert is_on(draws, device)
    assert torch.equal(best.cpu(), inside.best_derivation(problem))
    assert draws.shape == (4, problem.forest.num_nodes)
    assert bool((draws >= 0).all())
    pairs = inside.posterior_pairs(there)
    assert is_on(pairs, device)
    torch.testing.assert_close(pairs.cpu(), inside.posterior_pairs(problem), rtol=1e-9, atol=1e-12)


def test_leading_dimensions(device: torch.device) -> None:
    """Joint values of other sites."""
    problem, cost = slippery_problem(larger_trees(4, 6), "left", 7)
    wide = replace(problem, log_pairs=torch.stack([problem.log_pairs * scale for scale in (1, 0.5, 2)]))
    there = moved(wide, device)
    assert_same([inside.posterior_pairs(there).cpu()], [inside.posterior_pairs(wide)])
    for found, theirs in zip(
        inside.expected_cost(there, cost), inside.expected_cost(wide, cost), strict=True
    ):
        assert is_on(found, device)
        assert_same([found.cpu()], [theirs])
    assert torch.equal(inside.best_derivation(there).cpu(), inside.best_derivation(wide))
    assert inside.posterior_draws(there, 4).shape == (3, 4, problem.forest.num_nodes)


def test_weights_on_another_device_than_the_pairs(device: torch.device) -> None:
    """A channel without weights of its own makes them on the CPU; an attach model may do likewise."""
    problem, cost = slippery_problem(larger_trees(4, 8), "left", 9)
    there = moved(problem, device)
    theirs = results(problem, cost)
    for mixed in (replace(there, automata=problem.automata), replace(problem, automata=there.automata)):
        assert_same([value.cpu() for value in results(mixed, cost)], theirs)
        assert torch.equal(inside.best_derivation(mixed).cpu(), inside.best_derivation(problem))


@pytest.mark.parametrize("with_trees", [False, True])
def test_the_slot_to_blame(device: torch.device, with_trees: bool) -> None:
    problem, _ = slippery_problem(larger_trees(3, 10), "left", 11)
    start = problem.automata.state_start
    own = int(problem.slot_automaton[problem.forest.slot_start[1] + 2])
    final = problem.automata.final.clone()
    final[start[own] : start[own + 1]] = 0
    broken = replace(problem, automata=problem.automata._replace(final=final))
    there = moved(broken, device, with_trees)
    assert inside.log_evidence(there)[1] == -torch.inf
    assert inside.impossible_slot(there, 1) == inside.impossible_slot(broken, 1)
