"""Sums over all trees against the sum of `log_evidence` over each tree by itself."""

import itertools
import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch
from brute_force import projective_trees
from problems import inventory, padded, random_case, settled, walls, window
from solving import leaves_of, with_leaves
from torch import Tensor

from pyropunct.inference.forest import forest_of
from pyropunct.inference.inside import (
    best_derivation,
    expected_cost,
    log_evidence,
    posterior_draws,
    posterior_pairs,
)
from pyropunct.inference.machines.automata import joined_groups
from pyropunct.inference.machines.evidence import evidence_of
from pyropunct.inference.packed import PackedForest, joined, packed_forest, without_marks
from pyropunct.inference.pairs import log_probabilities
from pyropunct.inference.problem import Problem
from pyropunct.models.channel.composed import Inserting, TwoPasses
from pyropunct.models.channel.noisy_channel import Channel, Identity

CHANNELS = {
    "left": lambda: window("left"),
    "right": lambda: window("right"),
    "identity": lambda: Identity(3, "left"),
    "two passes": lambda: settled(TwoPasses(3, "left")),
    "inserting": lambda: settled(Inserting(3, "left")),
}
WALLS = [(0, None), (None, None), (1, 2)]


def packed_problem(words: int, channel: Channel, some: tuple[int | None, int | None], seed: int) -> Problem:
    """All trees of some words, each word with one of two relations, and a surface that may be."""
    generator, inventory_ = torch.Generator().manual_seed(seed), inventory(*some)
    forest = packed_forest([np.ones((words, words + 1), np.bool_)])
    forest = forest.items(torch.arange(forest.num_nodes).repeat_interleave(2))
    relation = torch.arange(forest.num_nodes) % 2 + forest.word % 2
    start = torch.from_numpy(inventory_.choice_start(relation))
    scores = torch.randn(int(start[-1]), generator=generator, dtype=torch.double)
    arcs = torch.randn(words, words + 1, 3, generator=generator, dtype=torch.double)
    of_items = arcs[forest.word, forest.head + 1, relation].repeat_interleave(start.diff())
    heads = [0, *[1] * (words - 1)]
    surface = padded(random_case(heads, window("left"), inventory_, seed).surface)
    if isinstance(channel, Identity):
        surface = padded([walls(inventory_)[0], *[()] * (words - 1), walls(inventory_)[1]])
    known = evidence_of(surface)
    automata = channel.transducer.automata(known.distinct, channel.probabilities().detach())
    log_pairs = log_probabilities(scores, start) + of_items
    return Problem(forest, inventory_, relation, log_pairs, automata, known.place)


@pytest.mark.parametrize("name", CHANNELS)
def test_scores_that_would_underflow(name: str) -> None:
    """Each word has one item, so a number that is added to all items of a word is added to the total."""
    near = packed_problem(3, CHANNELS[name](), WALLS[0], 1)
    of_words = torch.tensor([-800.0, -14.0, -1e4])
    sizes = torch.from_numpy(near.choice_start).diff()
    more = of_words[torch.as_tensor(near.forest.word)].repeat_interleave(sizes)
    there = replace(near, log_pairs=near.log_pairs + more)
    torch.testing.assert_close(log_evidence(there), log_evidence(near) + of_words.sum())
    torch.testing.assert_close(posterior_pairs(there), posterior_pairs(near))
    assert torch.equal(best_derivation(there), best_derivation(near))


def test_long_sentences_of_improbable_items() -> None:
    """The total alone is too small: there are Catalan numbers of trees with one score."""
    words = 60
    forest = packed_forest([np.ones((words, words + 1), np.bool_)])
    scores = torch.full((forest.num_nodes,), -14.0, dtype=torch.double)
    trees = math.lgamma(3 * words - 1) - math.lgamma(words + 1) - math.lgamma(2 * words)
    found = log_evidence(without_marks(forest, scores))
    assert float(found) == pytest.approx(-14 * words + trees, rel=1e-12)
    chosen = best_derivation(without_marks(forest, scores)) >= 0
    assert torch.equal(torch.as_tensor(forest.word)[chosen].sort().values, torch.arange(words))


def trees_of(problem: Problem) -> list[list[int]]:
    """The items of each tree of a sentence, in the order of its words."""
    columns = (problem.forest.word, problem.forest.head, problem.forest.left_slot, problem.forest.right_slot)
    item_of = {
        key: item
        for item, key in enumerate(zip(*(c.tolist() for c in (*columns, problem.relation)), strict=True))
    }
    words, found = problem.forest.num_slots - 1, []
    for heads in projective_trees(words):
        shape = forest_of([heads])
        spans = zip(shape.left_slot.tolist(), shape.right_slot.tolist(), strict=True)
        keys = [(w, heads[w] - 1, *span) for w, span in enumerate(spans)]
        for choice in itertools.product(range(2), repeat=words):
            relations = [number + word % 2 for word, number in enumerate(choice)]
            chosen = [(*key, relation) for key, relation in zip(keys, relations, strict=True)]
            found.append([item_of[key] for key in chosen])
    return found


def one_by_one(problem: Problem, trees: list[list[int]]) -> Problem:
    """Each tree by itself: a problem of an ordinary forest, with the same numbers."""
    assert isinstance(problem.forest, PackedForest)
    start = problem.choice_start
    pairs = [place for tree in trees for item in tree for place in range(start[item], start[item + 1])]
    heads = [[int(problem.forest.head[item]) + 1 for item in tree] for tree in trees]
    return replace(
        problem,
        forest=forest_of(heads),
        relation=problem.relation[torch.tensor(trees).flatten()],
        log_pairs=problem.log_pairs[..., torch.tensor(pairs)],
        slot_automaton=problem.slot_automaton.repeat(len(trees)),
    )


@pytest.mark.parametrize("words", [1, 2, 3, 4, 5, 6])
def test_each_tree_is_found_once(words: int) -> None:
    forest = packed_forest([np.ones((words, words + 1), np.bool_)])
    total = log_evidence(without_marks(forest, torch.zeros(forest.num_nodes, dtype=torch.double)))
    assert float(total.exp()) == pytest.approx(len(projective_trees(words)))


FAR = pytest.mark.parametrize("far", [0.0, -1000.0])


def lowered(problem: Problem, far: float) -> Problem:
    """The problem with a number added to every third score."""
    return replace(
        problem, log_pairs=problem.log_pairs + far * (torch.arange(len(problem.log_pairs)) % 3 == 0)
    )


@FAR
@pytest.mark.parametrize("some", WALLS)
@pytest.mark.parametrize("channel", CHANNELS)
def test_sums_and_all_derivatives(channel: str, some: tuple[int | None, int | None], far: float) -> None:
    problem = lowered(packed_problem(3, CHANNELS[channel](), some, seed=len(channel)), far)
    trees, cost = trees_of(problem), torch.randn(len(problem.log_pairs), dtype=torch.double)
    start = problem.choice_start
    places = [place for tree in trees for item in tree for place in range(start[item], start[item + 1])]

    def by_chart(*leaves: Tensor) -> tuple[Tensor, Tensor]:
        evidence, expectation = expected_cost(with_leaves(problem, *leaves), cost)
        return evidence[0], expectation[0]

    def by_trees(*leaves: Tensor) -> tuple[Tensor, Tensor]:
        evidence, expectation = expected_cost(
            one_by_one(with_leaves(problem, *leaves), trees), cost[torch.tensor(places)]
        )
        return evidence.logsumexp(0), (evidence.softmax(0) * expectation).sum()

    leaves = [leaf.double() for leaf in leaves_of(problem)]
    results = []
    for way in (by_chart, by_trees):
        given = [leaf.clone().requires_grad_() for leaf in leaves]
        values = way(*given)
        gradients = [torch.autograd.grad(value, given, retain_graph=True) for value in values]
        # by trees, one whose surface is impossible as long as a leaf is 0 has no derivative in this leaf
        results.append(
            [*values, *(g * (leaf != 0) for of in gradients for g, leaf in zip(of, leaves, strict=True))]
        )
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("channel", ["left", "inserting"])
def test_second_derivatives_against_differences(channel: str) -> None:
    problem = packed_problem(3, CHANNELS[channel](), (0, None), seed=2)
    leaf = problem.log_pairs.clone().requires_grad_()
    direction = torch.randn(len(leaf), dtype=torch.double)

    def gradient(at: Tensor) -> Tensor:
        return torch.autograd.grad(log_evidence(replace(problem, log_pairs=at)).sum(), at, create_graph=True)[
            0
        ]

    (found,) = torch.autograd.grad((gradient(leaf) * direction).sum(), leaf)
    step = 1e-5
    above, below = (gradient((leaf + sign * step * direction).detach().requires_grad_()) for sign in (1, -1))
    torch.testing.assert_close(found, ((above - below) / (2 * step)).detach(), rtol=1e-5, atol=1e-8)


@FAR
def test_draws_and_the_best(far: float) -> None:
    problem = lowered(packed_problem(3, window("left"), (0, None), seed=3), far)
    trees = trees_of(problem)
    evidence = log_evidence(one_by_one(problem, trees))
    chances = {tuple(sorted(tree)): float(p) for tree, p in zip(trees, evidence.softmax(0), strict=True)}
    draws = posterior_draws(problem, 20_000, torch.Generator().manual_seed(0))
    assert ((draws >= 0).sum(1) == 3).all()
    drawn = Counter(tuple((row >= 0).nonzero()[:, 0].tolist()) for row in draws)
    expected = {tree: 20_000 * chance for tree, chance in chances.items() if 20_000 * chance >= 5}
    square = sum((drawn[tree] - number) ** 2 / number for tree, number in expected.items())
    assert square < len(expected) + 4 * (2 * len(expected)) ** 0.5
    # the marginals of pairs, which the draws have too
    shares = torch.zeros_like(problem.log_pairs)
    start = torch.from_numpy(problem.choice_start[:-1])
    for row in draws:
        chosen = (row >= 0).nonzero()[:, 0]
        shares[start[chosen] + row[chosen]] += 1 / len(draws)
    assert (shares - posterior_pairs(problem)).abs().max() < 0.02
    best = best_derivation(problem)
    of_trees = best_derivation(one_by_one(problem, trees)).reshape(len(trees), -1)
    weights = [
        _weight_of_best(problem, tree, choices)
        for tree, choices in zip(trees, of_trees.tolist(), strict=True)
    ]
    found = (best >= 0).nonzero()[:, 0].tolist()
    place = [sorted(tree) for tree in trees].index(found)
    assert weights[place] == pytest.approx(max(weights))


def _weight_of_best(problem: Problem, tree: list[int], choices: list[int]) -> float:
    """The logarithm of the weight of one T' of a tree with its best edits, in the semiring of maxima."""
    start = problem.choice_start
    fixed = torch.full_like(problem.log_pairs, -torch.inf)
    for item, choice in zip(tree, choices, strict=True):
        fixed[start[item] + choice] = problem.log_pairs[start[item] + choice]
    alone = one_by_one(replace(problem, log_pairs=fixed), [tree])
    sharp = 50.0  # sums of high powers are near the greatest term
    automata = alone.automata
    powers = {name: getattr(automata, name).double() ** sharp for name in ("weight", "initial", "final")}
    powered = replace(alone, log_pairs=alone.log_pairs * sharp, automata=automata._replace(**powers))
    return float(log_evidence(powered)[0]) / sharp


def test_a_batch_and_joint_values() -> None:
    problems = [packed_problem(words, window("left"), (0, None), seed=words) for words in (1, 3, 2)]
    strings = [problem.slot_automaton for problem in problems]
    separate = torch.cat([log_evidence(problem) for problem in problems])
    shifts = np.cumsum([0, *(len(problem.automata.state_start) - 1 for problem in problems)]).tolist()
    together = replace(
        problems[0],
        forest=joined([problem.forest for problem in problems]),  # type: ignore[misc]
        relation=torch.cat([problem.relation for problem in problems]),
        log_pairs=torch.cat([problem.log_pairs for problem in problems]),
        automata=joined_groups([problem.automata for problem in problems]),
        slot_automaton=torch.cat([s + shift for s, shift in zip(strings, shifts, strict=False)]),
    )
    torch.testing.assert_close(log_evidence(together), separate)
    twice = torch.stack([together.log_pairs, together.log_pairs - 1])
    words = together.forest.node_start.diff()
    torch.testing.assert_close(
        log_evidence(replace(together, log_pairs=twice)), torch.stack([separate, separate - words])
    )


def test_an_impossible_surface_has_no_tree() -> None:
    problem = packed_problem(2, Identity(3, "left"), (0, None), seed=0)
    nothing = replace(problem, log_pairs=torch.full_like(problem.log_pairs, -torch.inf))
    leaf = nothing.log_pairs.requires_grad_()
    evidence = log_evidence(replace(nothing, log_pairs=leaf))
    assert evidence.tolist() == [-torch.inf]
    assert not torch.autograd.grad(evidence.sum(), leaf)[0].any()
    assert (posterior_draws(nothing, 3) == -1).all()
    assert (best_derivation(nothing) == -1).all()


def test_arcs_must_be_of_a_sentence() -> None:
    with pytest.raises(ValueError, match=r"shape \(2, 2\)"):
        packed_forest([np.ones((2, 2), np.bool_)])
