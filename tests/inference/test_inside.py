import math
import random
from collections import Counter
from dataclasses import replace

import pytest
import torch
from brute_force import chi_square_is_plausible, posterior, projective_trees, sliding_window, total
from problems import (
    PAIRS,
    Case,
    cost_of,
    edits_of,
    expected,
    inventory,
    problem_of,
    random_case,
    slope,
    window,
)
from torch import Tensor

from pyropunct.inference.evidence import exactly
from pyropunct.inference.forest import forest_of
from pyropunct.inference.inside import (
    best_derivation,
    expected_cost,
    impossible_slot,
    log_evidence,
    posterior_draws,
    posterior_pairs,
)
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.problem import Problem
from pyropunct.inference.reference import expected_cost_by_matrices, log_evidence_by_matrices
from pyropunct.models.channel.slip import Slip, TokenBigrams

LEAVES = ("log_pairs", "weight", "initial", "final")
"""What a problem's results can be differentiated by."""

DIRECTIONS = pytest.mark.parametrize("direction", ["left", "right"])
WALLS = pytest.mark.parametrize("walls", [(0, None), (None, None), (1, 2)])


def some_cases(direction: str, walls: tuple[int | None, int | None] = (0, None)) -> list[Case]:
    """A random case for each of some trees."""
    trees = [[0], [2, 0], [0, 1], [2, 0, 2], [2, 3, 0], [3, 1, 0, 3], [0, 1, 4, 2], [4, 1, 2, 0, 4]]
    return [
        random_case(heads, window(direction), inventory(*walls), seed) for seed, heads in enumerate(trees)
    ]


def with_leaves(problem: Problem, **leaves: Tensor) -> Problem:
    """The problem with other numbers."""
    pairs = leaves.pop("log_pairs", problem.log_pairs)
    return replace(problem, log_pairs=pairs, automata=problem.automata._replace(**leaves))


def leaves_of(problem: Problem) -> dict[str, Tensor]:
    """The problem's numbers, ready to be differentiated by."""
    tensors = {"log_pairs": problem.log_pairs} | problem.automata._asdict()
    return {name: tensors[name].detach().clone().requires_grad_() for name in LEAVES}


@pytest.mark.parametrize("words", [1, 2, 3, 4, 5])
@DIRECTIONS
@WALLS
def test_every_tree_shape_against_brute_force(
    words: int, direction: str, walls: tuple[int | None, int | None]
) -> None:
    channel, some = window(direction), inventory(*walls)
    trees = projective_trees(words)
    if words == 5 and walls != (0, None):
        trees = trees[::8]
    cases = [random_case(heads, channel, some, seed) for seed, heads in enumerate(trees)]
    problem = problem_of(cases, channel, some)
    evidence, cost = expected_cost(problem, cost_of(cases))
    pairs = posterior_pairs(problem).split(torch.from_numpy(problem.choice_start).diff().tolist())
    best = best_derivation(problem).split([len(case.heads) for case in cases])
    node = 0
    for number, case in enumerate(cases):
        found, expectation = expected(case, channel, some)
        true_posterior = posterior(found, [len(chances) for chances in case.chances])
        assert float(evidence[number]) == pytest.approx(math.log(total(found)), rel=1e-11, abs=1e-11)
        assert float(cost[number]) == pytest.approx(expectation, rel=1e-11, abs=1e-11)
        assert torch.cat(pairs[node : node + words]).tolist() == pytest.approx(true_posterior, abs=1e-11)
        assert tuple(best[number].tolist()) == max(found, key=lambda one: one.best).choices
        node += words
    assert log_evidence(problem).tolist() == pytest.approx(evidence.tolist(), rel=1e-13)


@DIRECTIONS
@WALLS
def test_same_as_the_printed_algorithm(direction: str, walls: tuple[int | None, int | None]) -> None:
    """Values and all gradients, of the evidence and of the expected cost."""
    cases = some_cases(direction, walls)
    problem = problem_of(cases, window(direction), inventory(*walls))
    seeds = torch.randn(2, len(cases))
    fast, slow = leaves_of(problem), leaves_of(problem)
    evidence, expectation = expected_cost(with_leaves(problem, **fast), cost_of(cases))
    plain = with_leaves(problem, **slow)
    printed = log_evidence_by_matrices(plain), expected_cost_by_matrices(plain, cost_of(cases))
    torch.testing.assert_close(evidence, printed[0], rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(expectation, printed[1], rtol=1e-12, atol=1e-12)
    for k, values in enumerate([(evidence, printed[0]), (expectation, printed[1])]):
        ours, theirs = (
            torch.autograd.grad((seeds[k] * value).sum(), list(leaves.values()), retain_graph=True)
            for value, leaves in zip(values, (fast, slow), strict=True)
        )
        for one, other in zip(ours, theirs, strict=True):
            assert other.abs().max() > 1e-3
            torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-11)


@DIRECTIONS
@pytest.mark.parametrize("name", LEAVES)
def test_gradients_against_differences(direction: str, name: str) -> None:
    cases = some_cases(direction)[3:]
    problem, cost = problem_of(cases, window(direction), inventory()), cost_of(cases)
    leaves = leaves_of(problem)
    evidence, expectation = expected_cost(with_leaves(problem, **leaves), cost)
    gradients = [
        torch.autograd.grad(value.sum(), leaves[name], retain_graph=True)[0]
        for value in (evidence, expectation)
    ]
    moving = (gradients[0].abs() > 1e-3).nonzero()[:, 0].tolist()
    still = (gradients[0] == 0).nonzero()[:, 0].tolist()
    rng = random.Random(0)
    for index in rng.sample(moving, min(12, len(moving))) + rng.sample(still, min(4, len(still))):
        for which, gradient in enumerate(gradients):

            def value(values: Tensor, which: int = which) -> Tensor:
                moved = with_leaves(problem, **{name: values})
                return expected_cost(moved, cost)[which].sum()

            difference = slope(value, leaves[name], (index,))
            assert float(gradient[index]) == pytest.approx(difference, rel=1e-9, abs=1e-9)


def test_gradient_in_log_pairs_is_the_posterior_even_when_they_are_not_normalised() -> None:
    cases = some_cases("left")
    problem = problem_of(cases, window("left"), inventory())
    shifted = replace(problem, log_pairs=problem.log_pairs + 1.5)
    sizes = torch.tensor([len(case.heads) for case in cases])
    torch.testing.assert_close(log_evidence(shifted), log_evidence(problem) + 1.5 * sizes, rtol=0, atol=1e-11)
    torch.testing.assert_close(posterior_pairs(shifted), posterior_pairs(problem), rtol=0, atol=1e-12)


@DIRECTIONS
def test_a_batch_is_its_trees_in_any_order(direction: str) -> None:
    cases, channel, some = some_cases(direction), window(direction), inventory()
    alone = [problem_of([case], channel, some) for case in cases]
    order = random.Random(1).sample(range(len(cases)), len(cases))
    together = problem_of([cases[number] for number in order], channel, some)
    cost = cost_of([cases[number] for number in order])
    evidence, expectation = expected_cost(together, cost)
    for place, number in enumerate(order):
        one, mean = expected_cost(alone[number], cost_of([cases[number]]))
        assert float(evidence[place]) == pytest.approx(float(one), rel=1e-13)
        assert float(expectation[place]) == pytest.approx(float(mean), rel=1e-12, abs=1e-13)
    torch.testing.assert_close(
        posterior_pairs(together),
        torch.cat([posterior_pairs(alone[number]) for number in order]),
        rtol=0,
        atol=1e-13,
    )
    assert torch.equal(
        best_derivation(together), torch.cat([best_derivation(alone[number]) for number in order])
    )


def test_joint_values_of_other_sites() -> None:
    """Leading dimensions of pairs and weights broadcast, in values and in gradients."""
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


@DIRECTIONS
def test_posterior_draws(direction: str) -> None:
    channel, some = window(direction), inventory()
    trees = projective_trees(3) + projective_trees(5)[::20]
    cases = [random_case(heads, channel, some, seed) for seed, heads in enumerate(trees)]
    draws = posterior_draws(problem_of(cases, channel, some), 4000)
    assert draws.shape == (4000, sum(len(case.heads) for case in cases))
    lively = 0
    for case, columns in zip(cases, draws.split([len(case.heads) for case in cases], -1), strict=True):
        found, _ = expected(case, channel, some)
        counts = Counter(tuple(row) for row in columns.tolist())
        assert set(counts) <= {one.choices for one in found}
        chances = [one.weight / total(found) for one in found]
        assert chi_square_is_plausible([counts[one.choices] for one in found], chances, 4000)
        lively += sum(chance > 0.01 for chance in chances) > 3
    assert lively >= 3


def test_draws_follow_the_generator_of_torch() -> None:
    cases = some_cases("left")
    problem = problem_of(cases, window("left"), inventory())
    torch.manual_seed(3)
    first, second = posterior_draws(problem, 20), posterior_draws(problem, 20)
    torch.manual_seed(3)
    assert torch.equal(first, posterior_draws(problem, 20))
    assert not torch.equal(first, second)


def impossible(direction: str) -> tuple[list[Case], Problem]:
    """Three trees, the second of which shows what no punctemes can make."""
    cases = some_cases(direction)[3:6]
    surface = [*cases[1].surface]
    surface[2] = (1,) * 9
    cases[1] = cases[1]._replace(surface=surface)
    return cases, problem_of(cases, window(direction), inventory())


@DIRECTIONS
def test_an_impossible_surface_spoils_only_its_own_tree(direction: str) -> None:
    cases, problem = impossible(direction)
    leaves = leaves_of(problem)
    evidence, expectation = expected_cost(with_leaves(problem, **leaves), cost_of(cases))
    assert evidence.isinf().tolist() == [False, True, False]
    assert impossible_slot(problem, 1) == 2
    first, last = problem.forest.node_start[1:3].tolist()
    for decoded in (best_derivation(problem), posterior_draws(problem, 5)):
        assert (decoded == -1).any(tuple(range(decoded.dim() - 1))).nonzero()[:, 0].tolist() == [
            *range(first, last)
        ]
    possible = [case for number, case in enumerate(cases) if number != 1]
    others = problem_of(possible, window(direction), inventory())
    gradients = torch.autograd.grad(evidence[[0, 2]].sum(), list(leaves.values()), retain_graph=True)
    assert all(gradient.isfinite().all() for gradient in gradients)
    kept = torch.cat(
        [gradients[0][: problem.choice_start[first]], gradients[0][problem.choice_start[last] :]]
    )
    torch.testing.assert_close(kept, posterior_pairs(others), rtol=0, atol=1e-12)
    assert not gradients[0][problem.choice_start[first] : problem.choice_start[last]].any()
    everything = torch.autograd.grad(evidence.sum(), list(leaves.values()), retain_graph=True)
    assert all(gradient.isfinite().all() for gradient in everything)
    assert expectation[[0, 2]].isfinite().all()


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


def long_heads(shape: str, words: int) -> list[int]:
    """The heads of a chain, of a flat tree, or of a random tree."""
    if shape == "chain to the right":
        return list(range(words))
    if shape == "chain to the left":
        return [*range(2, words + 1), 0]
    if shape == "flat":
        return [words // 2] * (words // 2 - 1) + [0] + [words // 2] * (words - words // 2)
    heads, rng = [0] * words, random.Random(0)
    spans = [(0, words, 0)]
    while spans:
        first, last, head = spans.pop()
        if first < last:
            word = rng.randrange(first, last)
            heads[word] = head
            spans += [(first, word, word + 1), (word + 1, last, word + 1)]
    return heads


def long_problem(shape: str, words: int = 2000) -> Problem:
    """A long sentence whose slots show up to 12 tokens; slips make everything possible."""
    rng = random.Random(2)
    surface = [
        tuple(rng.choice([1, 2]) for _ in range(rng.choice([0, 0, 0, 0, 0, 1, 1, 2, 12])))
        for _ in range(words + 1)
    ]
    surface[0] = (0, *surface[0])
    relations = [rng.randrange(len(PAIRS)) for _ in range(words)]
    chances = [[1 / len(PAIRS[relation])] * len(PAIRS[relation]) for relation in relations]
    channel = Slip(window("left"), TokenBigrams([(0,), (1, 2)], 3, 0))
    channel.slip_logit = torch.tensor(-7.0)
    case = Case(
        long_heads(shape, words),
        relations,
        chances,
        surface,
        [[0.0, 1.0, 1.0, 1.0][: len(c)] for c in chances],
    )
    return problem_of([case], channel, inventory())


@pytest.mark.parametrize("shape", ["chain to the right", "chain to the left", "flat", "random"])
def test_two_thousand_words(shape: str) -> None:
    problem = long_problem(shape)
    leaves = leaves_of(problem)
    cost = (problem.log_pairs.detach() * 0 + 1).index_fill(0, torch.from_numpy(problem.choice_start[:-1]), 0)
    evidence, expectation = expected_cost(with_leaves(problem, **leaves), cost)
    assert -1e5 < evidence.item() < -1000
    pairs = posterior_pairs(problem)
    per_node = torch.stack(
        [part.sum() for part in pairs.split(torch.from_numpy(problem.choice_start).diff().tolist())]
    )
    torch.testing.assert_close(per_node, torch.ones(2000), rtol=0, atol=1e-9)
    assert expectation.item() == pytest.approx(float((pairs * cost).sum()), rel=1e-9)
    gradients = torch.autograd.grad(evidence.sum() + expectation.sum(), list(leaves.values()))
    assert all(gradient.isfinite().all() and gradient.any() for gradient in gradients)
    assert (best_derivation(problem) >= 0).all()
    assert (posterior_draws(problem, 3) >= 0).all()


def test_eighty_words_against_the_printed_algorithm() -> None:
    """The printed algorithm does not rescale, so that longer sentences have no probability left."""
    problem = long_problem("random", 80)
    assert float(log_evidence(problem)) == pytest.approx(float(log_evidence_by_matrices(problem)), rel=1e-10)


def test_threads_change_nothing() -> None:
    channel, some = window("right"), inventory()
    trees = [heads for words in (5, 1, 3, 4) for heads in projective_trees(words)[::3]]
    cases = [random_case(heads, channel, some, seed) for seed, heads in enumerate(trees)]
    problem, cost = problem_of(cases, channel, some), cost_of(cases)
    results = []
    for threads in (1, 2, 3):
        torch.set_num_threads(threads)
        torch.manual_seed(0)
        leaves = leaves_of(problem)
        evidence, expectation = expected_cost(with_leaves(problem, **leaves), cost)
        gradients = torch.autograd.grad((evidence + expectation).sum(), list(leaves.values()))
        results.append(
            [evidence, expectation, *gradients, best_derivation(problem), posterior_draws(problem, 3)]
        )
    for some_threads in results[1:]:
        for one, other in zip(results[0], some_threads, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-13)


def test_a_slot_of_twelve_tokens_between_empty_ones() -> None:
    """Two punctemes of six tokens meet in one slot, and the surface shows all twelve of them."""
    left, right = (2, 2, 1, 1, 2, 2), (1, 2, 1, 2, 1, 2)
    channel = window("left")
    strings = [(), right + left]
    problem = Problem(
        forest_of([[3, 3, 0]]),
        Inventory(3, [[((), ()), ((), right), (left, ())]]),
        torch.zeros(3, dtype=torch.long),
        torch.full((9,), -math.log(3)),
        channel.transducer.automata(list(map(exactly, strings)), channel.probabilities()),
        torch.tensor([0, 1, 0, 0]),
    )
    ways = sliding_window(edits_of(channel), "left")(right + left, right + left)
    assert len(ways) == 16  # four times two neighbours are the same and may be transposed
    assert float(log_evidence(problem)) == pytest.approx(math.log(sum(ways) / 27), rel=1e-13)
    assert best_derivation(problem).tolist() == [1, 2, 0]
