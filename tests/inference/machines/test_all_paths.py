"""Compiled loops, tensor operations and Algorithm 1 as printed against enumeration of all paths."""

import itertools
import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import NamedTuple

import pytest
import torch
from brute_force import (
    Pair,
    String,
    chi_square_is_plausible,
    explanations,
    posterior,
    projective_trees,
    sliding_window,
    total,
    underlying_strings,
)
from by_hand import Arc, End, Topology, draws
from printed_algorithm import expected_cost_by_matrices, log_evidence_by_matrices
from problems import (
    NOTHING,
    Case,
    cost_of,
    edits_of,
    expected,
    inventory,
    problem_of,
    random_case,
    window,
)
from solving import by_tensors
from torch import Tensor

from pyropunct.inference import inside
from pyropunct.inference.forest import forest_of
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.machines.automata import join_automata
from pyropunct.inference.problem import Problem

WALLS = pytest.mark.parametrize("walls", [(0, None), (None, None), (1, 2)])
DIRECTIONS = pytest.mark.parametrize("direction", ["left", "right"])

LONG: String = (2, 1, 1, 2, 1, 2)
PAIRS: list[list[Pair]] = [
    [NOTHING, ((1,), (2,))],
    [NOTHING, ((), LONG), ((2,), (1, 1))],
    [NOTHING, ((), (2, 1)), ((1, 2), (2, 1)), (LONG[::-1], ())],
    [NOTHING, ((), (2,))],
]
"""The sorted pairs of four relations; two long punctemes make a slot of twelve tokens.

Random examples have the first three.
"""

WEIGHTS = 9
"""Numbers that the random automata share."""

NO_ARCS = Topology(1, (End(0, 0),), (End(0, 1, 0.8),), ())
"""Where nothing is on the page."""

LAST_TOKEN_ONLY = Topology(2, (End(0, 1),), (End(0, 2), End(1, 3)), (Arc(2, 0, 1, 4), Arc(2, 1, 1, 5)))
"""Which reads no other token."""


@pytest.fixture(params=["compiled", "tensors"])
def path(request: pytest.FixtureRequest) -> Iterator[str]:
    """How `pyropunct.inference.inside` computes: by compiled loops, or by tensor operations as on a GPU."""
    with by_tensors() if request.param == "tensors" else nullcontext():
        yield request.param


class Example(NamedTuple):
    """A tree and an automaton for each of its slots."""

    heads: list[int]
    relations: list[int]
    slots: list[Topology]

    @property
    def pairs(self) -> list[list[Pair]]:
        return [PAIRS[relation] for relation in self.relations]

    @property
    def size(self) -> int:
        return sum(map(len, self.pairs))


def random_automaton(string: String, rng: random.Random) -> Topology:
    """An automaton with few arcs, some of them beside each other, that accepts a string among others."""
    states = len(string) + rng.randrange(2, 4)

    def somewhere() -> int:
        return rng.randrange(states)

    def weight() -> int:
        return rng.randrange(WEIGHTS)

    route = [somewhere() for _ in range(len(string) + 1)]
    arcs = [
        Arc(token, *ends, weight()) for token, ends in zip(string, itertools.pairwise(route), strict=True)
    ]
    arcs += [Arc(rng.randrange(3), somewhere(), somewhere(), weight()) for _ in range(2 * states)]
    rng.shuffle(arcs)
    initial, final = (
        tuple(End(state, weight(), rng.uniform(0.5, 1.5)) for state in {own, somewhere()})
        for own in (route[0], route[-1])
    )
    return Topology(states, initial, final, tuple(arcs))


def random_example(heads: list[int], walls: tuple[int | None, int | None], seed: int) -> Example:
    rng = random.Random(seed)
    relations = [rng.randrange(3) for _ in heads]
    chosen = [rng.choice(PAIRS[relation]) for relation in relations]
    strings = underlying_strings(heads, chosen, *outside(walls))
    slots = [random_automaton(s, rng) if s or rng.random() < 0.4 else NO_ARCS for s in strings]
    return Example(heads, relations, slots)


def outside(walls: tuple[int | None, int | None]) -> tuple[String, String]:
    """The strings around a sentence."""
    start, end = walls
    return () if start is None else (start,), () if end is None else (end,)


def some_examples(walls: tuple[int | None, int | None], seed: int = 0) -> list[Example]:
    """A random example for each tree of up to three words, and for some larger ones; and a sparse one."""
    trees = [heads for words in (1, 2, 3) for heads in projective_trees(words)]
    trees += projective_trees(4)[seed::6] + projective_trees(5)[seed::70]
    examples = [random_example(heads, walls, seed + number) for number, heads in enumerate(trees)]
    start = random_automaton(outside(walls)[0], random.Random(seed))
    return [*examples, Example([0], [3], [start, LAST_TOKEN_ONLY])]


def numbers_of(examples: Sequence[Example], seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
    """Log-probabilities of pairs, the automata's weights, and costs, at random."""
    size, generator = sum(one.size for one in examples), torch.Generator().manual_seed(seed)
    log_pairs, cost = torch.randn(2, size, generator=generator)
    weights = 0.2 + torch.rand(WEIGHTS, generator=generator)
    return log_pairs.requires_grad_(), weights.requires_grad_(), cost


def posed(
    examples: Sequence[Example], walls: tuple[int | None, int | None], log_pairs: Tensor, weights: Tensor
) -> Problem:
    """The problem as the package wants it."""
    slots = [topology for one in examples for topology in one.slots]
    distinct = list(dict.fromkeys(slots))
    random.Random(0).shuffle(distinct)
    return Problem(
        forest_of([one.heads for one in examples]),
        Inventory(3, PAIRS, *walls),
        torch.tensor([relation for one in examples for relation in one.relations]),
        log_pairs,
        join_automata([topology.packed(3) for topology in distinct], weights),
        torch.tensor([distinct.index(topology) for topology in slots]),
    )


def paths(topology: Topology, string: String) -> list[tuple[float, list[int]]]:
    """All paths that read a string: a constant factor, and the weights to be multiplied."""
    found = [(end.state, end.factor, [end.weight]) for end in topology.initial]
    for token in string:
        found = [
            (arc.target, factor, [*used, arc.weight])
            for state, factor, used in found
            for arc in topology.arcs
            if arc.token == token and arc.source == state
        ]
    return [
        (factor * end.factor, [*used, end.weight])
        for state, factor, used in found
        for end in topology.final
        if end.state == state
    ]


class Enumerated(NamedTuple):
    """All explanations of an example: choices, probability, that of the best paths, and cost."""

    choices: list[tuple[int, ...]]
    weight: Tensor
    best: Tensor
    cost: Tensor


def enumerated(
    example: Example,
    walls: tuple[int | None, int | None],
    log_pairs: Tensor,
    weights: Tensor,
    cost: Tensor,
) -> Enumerated:
    sums: dict[tuple[int, String], tuple[Tensor, Tensor]] = {}

    def reading(slot: int, string: String) -> tuple[Tensor, Tensor]:
        if (slot, string) not in sums:
            ways = [factor * weights[used].prod() for factor, used in paths(example.slots[slot], string)]
            both = torch.stack(ways) if ways else torch.zeros(1)
            sums[slot, string] = both.sum(), both.max()
        return sums[slot, string]

    starts = [0, *itertools.accumulate(map(len, example.pairs))]
    columns: list[tuple[tuple[int, ...], Tensor, Tensor, Tensor]] = []
    for choices in itertools.product(*(range(len(some)) for some in example.pairs)):
        chosen = [some[choice] for some, choice in zip(example.pairs, choices, strict=True)]
        strings = underlying_strings(example.heads, chosen, *outside(walls))
        slots = [reading(slot, string) for slot, string in enumerate(strings)]
        if all(summed > 0 for summed, _ in slots):
            rows = [start + choice for start, choice in zip(starts, choices, strict=False)]
            chance = log_pairs[rows].sum().exp()
            summed, greatest = (chance * torch.stack(column).prod() for column in zip(*slots, strict=True))
            columns.append((choices, summed, greatest, cost[rows].sum()))
    choices, *others = zip(*columns, strict=True)
    return Enumerated(list(choices), *(torch.stack(column) for column in others))


def all_enumerated(
    examples: Sequence[Example],
    walls: tuple[int | None, int | None],
    log_pairs: Tensor,
    weights: Tensor,
    cost: Tensor,
) -> list[Enumerated]:
    sizes = [one.size for one in examples]
    parts = zip(examples, log_pairs.split(sizes), cost.split(sizes), strict=True)
    return [enumerated(one, walls, pairs, weights, costs) for one, pairs, costs in parts]


def compute(
    examples: Sequence[Example],
    walls: tuple[int | None, int | None],
    values: Callable[[Problem, Tensor], tuple[Tensor, Tensor]],
) -> list[Tensor]:
    """Evidence, expected cost, and the gradients of both in the pairs and in the automata's weights."""
    log_pairs, weights, cost = numbers_of(examples)
    found = values(posed(examples, walls, log_pairs, weights), cost)
    return [*found, *slopes(found, [log_pairs, weights])]


def slopes(values: Sequence[Tensor], leaves: list[Tensor]) -> list[Tensor]:
    seeds = torch.randn(len(values[0]), generator=torch.Generator().manual_seed(1))
    return [
        gradient
        for value in values
        for gradient in torch.autograd.grad((seeds * value).sum(), leaves, retain_graph=True)
    ]


def by_enumeration(examples: Sequence[Example], walls: tuple[int | None, int | None]) -> list[Tensor]:
    """What `compute` gives."""
    log_pairs, weights, cost = numbers_of(examples)
    found = all_enumerated(examples, walls, log_pairs, weights, cost)
    evidence = torch.stack([one.weight.sum().log() for one in found])
    mean = torch.stack([(one.weight * one.cost).sum() / one.weight.sum() for one in found])
    return [evidence, mean, *slopes([evidence, mean], [log_pairs, weights])]


def printed(problem: Problem, cost: Tensor) -> tuple[Tensor, Tensor]:
    return log_evidence_by_matrices(problem), expected_cost_by_matrices(problem, cost)


def assert_same(ours: Sequence[Tensor], theirs: Sequence[Tensor]) -> None:
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)


@WALLS
def test_values_and_gradients(path: str, walls: tuple[int | None, int | None]) -> None:
    examples = some_examples(walls)
    theirs = by_enumeration(examples, walls)
    assert all((value.abs() > 1e-3).any() for value in theirs)
    assert_same(compute(examples, walls, inside.expected_cost), theirs)


@WALLS
def test_values_and_gradients_as_printed(walls: tuple[int | None, int | None]) -> None:
    examples = some_examples(walls)
    assert_same(compute(examples, walls, printed), by_enumeration(examples, walls))


def test_the_examples_have_empty_and_long_slots_and_sparse_automata() -> None:
    topologies = [topology for one in some_examples((0, None)) for topology in one.slots]
    assert NO_ARCS in topologies
    assert any(paths(topology, LONG + LONG[::-1]) for topology in topologies)
    assert sum(bool(paths(topology, LONG)) for topology in topologies) < len(topologies) / 3


@WALLS
def test_posteriors_and_best_derivations(path: str, walls: tuple[int | None, int | None]) -> None:
    examples = some_examples(walls, 1)
    log_pairs, weights, cost = numbers_of(examples)
    problem = posed(examples, walls, log_pairs, weights)
    found = all_enumerated(examples, walls, log_pairs, weights, cost)
    pairs = inside.posterior_pairs(problem).split([one.size for one in examples])
    best = inside.best_derivation(problem).split([len(one.heads) for one in examples])
    for example, one, posterior_pairs, derivation in zip(examples, found, pairs, best, strict=True):
        assert tuple(derivation.tolist()) == one.choices[int(one.best.argmax())]
        share = (one.weight / one.weight.sum()).detach()
        true_posterior = torch.zeros(len(example.heads), max(map(len, PAIRS)))
        for node, column in enumerate(zip(*one.choices, strict=True)):
            true_posterior[node].index_add_(0, torch.tensor(column), share)
        rows = [row[: len(some)] for row, some in zip(true_posterior, example.pairs, strict=True)]
        torch.testing.assert_close(posterior_pairs, torch.cat(rows), rtol=1e-9, atol=1e-12)


def test_posterior_draws(path: str) -> None:
    walls, draws = (0, None), 3000
    examples = [one for one in some_examples(walls, 2) if len(one.heads) in (3, 5)]
    log_pairs, weights, cost = numbers_of(examples)
    drawn = inside.posterior_draws(posed(examples, walls, log_pairs, weights), draws)
    assert drawn.shape == (draws, sum(len(one.heads) for one in examples))
    found = all_enumerated(examples, walls, log_pairs, weights, cost)
    lively = 0
    for one, columns in zip(found, drawn.split([len(one.heads) for one in examples], -1), strict=True):
        counts = Counter(tuple(row) for row in columns.tolist())
        assert set(counts) <= set(one.choices)
        chances = (one.weight / one.weight.sum()).tolist()
        assert chi_square_is_plausible([counts[choices] for choices in one.choices], chances, draws)
        lively += sum(chance > 0.01 for chance in chances) > 3
    assert lively >= 5


LEFT_ARCS = Topology(
    4, (End(0, 0),), (End(1, 0), End(3, 0)), (Arc(1, 0, 1, 0), Arc(1, 0, 2, 0), Arc(2, 2, 3, 0))
)
RIGHT_ARCS = Topology(3, (End(0, 0),), (End(2, 0),), (Arc(2, 0, 1, 0), Arc(1, 0, 2, 0), Arc(1, 1, 2, 0)))
LEFT_STATES = Topology(3, (End(0, 0), End(1, 0)), (End(0, 0), End(2, 0)), (Arc(2, 1, 2, 0),))
RIGHT_STATES = Topology(2, (End(0, 0),), (End(0, 0), End(1, 0)), (Arc(2, 0, 1, 0),))


@pytest.mark.parametrize(
    ("pair", "left", "right"),
    [
        (((1,), (1,)), LEFT_ARCS, RIGHT_ARCS),
        (NOTHING, LEFT_STATES, RIGHT_STATES),
    ],
)
def test_both_sides_of_a_root_are_drawn_independently(
    path: str, pair: Pair, left: Topology, right: Topology
) -> None:
    """At either edge, the arc of the root's mark or the state says whether the child there has a mark."""
    log_pairs = [0.0, 0.0, *([0.0] if pair == NOTHING else [-math.inf, 0.0]), 0.0, 0.0]
    problem = Problem(
        forest_of([[2, 0, 2]]),
        Inventory(3, [list(dict.fromkeys([NOTHING, pair])), [NOTHING, ((2,), ())], [NOTHING, ((), (2,))]]),
        torch.tensor([1, 0, 2]),
        torch.tensor(log_pairs),
        join_automata([topology.packed(3) for topology in (left, NO_ARCS, right)], torch.ones(WEIGHTS)),
        torch.tensor([0, 1, 1, 2]),
    )
    first, _, last = inside.posterior_draws(problem, 1000).T
    assert chi_square_is_plausible(torch.bincount(2 * first + last).tolist(), [0.25] * 4, 1000)


def test_the_greatest_random_numbers_draw_what_is_possible(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though sums are rounded, so that they may lie beyond the last term."""
    anything = Topology(1, (End(0, 0),), (End(0, 0),), tuple(Arc(token, 0, 0, 0) for token in range(3)))
    examples = [Example([0], [2], [anything, anything])] * 100
    log_pairs = numbers_of(examples)[0].detach()
    log_pairs[:: len(PAIRS[2])] = -torch.inf
    problem = posed(examples, (0, None), log_pairs, torch.ones(WEIGHTS))
    monkeypatch.setattr(torch, "rand", lambda shape, **_: torch.full(shape, 1 - 2.0**-53))
    assert (inside.posterior_draws(problem, 1) > 0).all()


def test_draws_follow_the_generator_of_torch(path: str) -> None:
    examples = some_examples((0, None), 2)
    log_pairs, weights, _ = numbers_of(examples)
    problem = posed(examples, (0, None), log_pairs, weights)
    torch.manual_seed(3)
    first, second = inside.posterior_draws(problem, 20), inside.posterior_draws(problem, 20)
    torch.manual_seed(3)
    assert torch.equal(first, inside.posterior_draws(problem, 20))
    assert not torch.equal(first, second)
    assert inside.posterior_draws(problem, 0).shape == (0, problem.forest.num_nodes)


def test_any_order_of_a_batch(path: str) -> None:
    """Trees in random order, with one thread or more, and each by itself."""
    walls = (1, 2)
    examples = some_examples(walls, 3)
    log_pairs, weights, cost = numbers_of(examples)
    sizes = [one.size for one in examples]
    parts = list(zip(examples, log_pairs.split(sizes), cost.split(sizes), strict=True))
    alone = []
    for one, pairs, costs in parts:
        problem = posed([one], walls, pairs, weights)
        alone.append((*inside.expected_cost(problem, costs), *decided(problem)))
    for seed in range(3):
        torch.set_num_threads(1 + seed)
        order = random.Random(seed).sample(range(len(examples)), len(examples))
        together = posed(
            [examples[number] for number in order],
            walls,
            torch.cat([parts[number][1] for number in order]),
            weights,
        )
        found = inside.expected_cost(together, torch.cat([parts[number][2] for number in order]))
        theirs = zip(*(alone[number] for number in order), strict=True)
        for ours, single in zip((*found, *decided(together)), theirs, strict=True):
            torch.testing.assert_close(ours, torch.cat(single), rtol=1e-11, atol=1e-11)


def decided(problem: Problem) -> tuple[Tensor, Tensor]:
    return inside.posterior_pairs(problem), inside.best_derivation(problem)


# The channel of the paper, in both directions.


@pytest.mark.parametrize("words", [1, 2, 3, 4, 5])
@DIRECTIONS
@WALLS
def test_windows_on_every_tree_shape(
    path: str, words: int, direction: str, walls: tuple[int | None, int | None]
) -> None:
    channel, some = window(direction), inventory(*walls)
    trees = projective_trees(words)
    if words == 5 and walls != (0, None):
        trees = trees[::8]
    cases = [random_case(heads, channel, some, seed) for seed, heads in enumerate(trees)]
    problem = problem_of(cases, channel, some)
    evidence, cost = inside.expected_cost(problem, cost_of(cases))
    pairs = inside.posterior_pairs(problem).split([sum(map(len, case.chances)) for case in cases])
    best = inside.best_derivation(problem).split(words)
    assert inside.log_evidence(problem).tolist() == pytest.approx(evidence.tolist(), rel=1e-13)
    for number, case in enumerate(cases):
        found, expectation = expected(case, channel, some)
        true_posterior = posterior(found, [len(chances) for chances in case.chances])
        assert float(evidence[number]) == pytest.approx(math.log(total(found)), rel=1e-9, abs=1e-9)
        assert float(cost[number]) == pytest.approx(expectation, rel=1e-9, abs=1e-9)
        assert pairs[number].tolist() == pytest.approx(true_posterior, abs=1e-9)
        assert tuple(best[number].tolist()) == max(found, key=lambda one: one.best).choices


@DIRECTIONS
def test_windows_over_twelve_tokens(path: str, direction: str) -> None:
    """Two long punctemes meet in a slot, which shows what becomes of them."""
    channel, heads, relations = window(direction), [3, 3, 0], [1, 2, 0]
    pairs = [PAIRS[relation] for relation in relations]
    strings = underlying_strings(heads, [((), LONG), (LONG[::-1], ()), NOTHING])
    assert [len(string) for string in strings] == [0, 12, 0, 0]
    cases = []
    for _ in range(6):
        surface = [next(iter(draws(channel, string, 1))) for string in strings]
        chances = [torch.rand(len(some)).softmax(-1).tolist() for some in pairs]
        cases.append(Case(heads, relations, chances, surface, []))
    problem = problem_of(cases, channel, Inventory(3, PAIRS))
    evidence = inside.log_evidence(problem)
    best = inside.best_derivation(problem).split(len(heads))
    ways = sliding_window(edits_of(channel), direction)
    for number, case in enumerate(cases):
        found = explanations(heads, pairs, case.chances, case.surface, ways)
        assert float(evidence[number]) == pytest.approx(math.log(total(found)), rel=1e-9)
        assert tuple(best[number].tolist()) == max(found, key=lambda one: one.best).choices


@pytest.mark.parametrize(
    ("path", "kind"),
    [("compiled", torch.double), ("tensors", torch.double), ("tensors", torch.float)],
    indirect=["path"],
)
def test_an_impossible_surface_spoils_only_its_own_tree(path: str, kind: torch.dtype) -> None:
    """Of three trees the others have the values, gradients and derivations that they have alone."""
    channel, some = window("left"), inventory()
    trees = [[3, 1, 0, 3], [0, 1, 4, 2], [4, 1, 2, 0, 4]]
    cases = [random_case(heads, channel, some, seed) for seed, heads in enumerate(trees)]
    cases[1] = cases[1]._replace(surface=[*cases[1].surface[:2], (1,) * 9, *cases[1].surface[3:]])
    possible = [cases[0], cases[2]]
    logits = channel.edit_logits.requires_grad_()
    problem, others = (in_precision(problem_of(part, channel, some), kind) for part in (cases, possible))
    near = {"rtol": 1e-9, "atol": 1e-9} if kind == torch.double else {"rtol": 1e-4, "atol": 1e-5}
    found = inside.expected_cost(problem, cost_of(cases))
    alone = inside.expected_cost(others, cost_of(possible))
    assert found[0].isneginf().tolist() == [False, True, False]
    assert inside.log_evidence(problem).tolist() == pytest.approx(found[0].tolist(), rel=1e-6)
    assert inside.impossible_slot(problem, 1) == 2
    first, last = problem.choice_start[problem.forest.node_start[1:3]].tolist()
    for ours, theirs in zip(found, alone, strict=True):
        torch.testing.assert_close(ours[[0, 2]], theirs, **near)
        pairs, weights = torch.autograd.grad(ours.sum(), [problem.log_pairs, logits], retain_graph=True)
        same_pairs, same = torch.autograd.grad(theirs.sum(), [others.log_pairs, logits], retain_graph=True)
        assert not pairs[first:last].any()
        torch.testing.assert_close(torch.cat([pairs[:first], pairs[last:]]), same_pairs, **near)
        torch.testing.assert_close(weights, same, **near)
    spoilt = problem.forest.tree == 1
    best, drawn = inside.best_derivation(problem), inside.posterior_draws(problem, 5)
    assert torch.equal(best == -1, spoilt)
    assert torch.equal(best[~spoilt], inside.best_derivation(others))
    assert torch.equal(drawn == -1, spoilt.expand(5, -1))


def in_precision(problem: Problem, kind: torch.dtype) -> Problem:
    """The problem with log-probabilities of its own to be differentiated by."""
    numbers = {name: getattr(problem.automata, name).to(kind) for name in ("weight", "initial", "final")}
    log_pairs = problem.log_pairs.detach().to(kind).requires_grad_()
    return replace(problem, log_pairs=log_pairs, automata=problem.automata._replace(**numbers))
