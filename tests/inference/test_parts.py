"""Marks around a part of a constituent, against enumeration of all T' with their parts."""

import itertools
import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest
import torch
from brute_force import String, chi_square_is_plausible, sliding_window
from problems import PAIRS, Case, edits_of, inventory, problem_of, random_case, walls, window
from solving import by_tensors, curvature, leaves_of, random_heads, with_leaves
from torch import Tensor

from pyropunct.inference import inside
from pyropunct.inference.forest import forest_of
from pyropunct.inference.parts import PartPair, Parts, Shapes, shown_parts
from pyropunct.inference.problem import Problem

MARKS = torch.tensor([[1, 2], [2, 2]])
"""Two kinds of part pairs: (1, 2) and (2, 2)."""

HEADS = [[0], [2, 0], [0, 1], [2, 0, 2], [3, 3, 0], [0, 1, 1], [2, 4, 2, 0], [0, 1, 2, 1], [3, 3, 0, 3, 3]]

Choice = tuple[int, PartPair | None]


def dependents(heads: Sequence[int], word: int) -> tuple[list[int], list[int]]:
    """Those on the left and on the right, from left to right."""
    own = [child for child in range(1, len(heads) + 1) if heads[child - 1] == word]
    return [child for child in own if child < word], [child for child in own if child > word]


def all_parts(heads: Sequence[int], word: int) -> list[PartPair]:
    left, right = dependents(heads, word)
    return [
        PartPair(kind, out_left, out_right)
        for kind in range(len(MARKS))
        for out_left in range(len(left) + 1)
        for out_right in range(len(right) + 1)
        if out_left or out_right
    ]


def spelled(heads: Sequence[int], case: Case, chosen: Sequence[Choice], start: String) -> list[String]:
    """The underlying string of each slot, written from left to right."""
    slots: list[list[int]] = [list(start)]

    def write(word: int) -> None:
        choice, part = chosen[word - 1]
        pair = PAIRS[case.relations[word - 1]][choice]
        left, right = dependents(heads, word)
        marks = MARKS[part.kind].tolist() if part else []
        slots[-1].extend(pair[0])
        for number, child in enumerate(left):
            if part and number == part.left_out:
                slots[-1].append(marks[0])
            write(child)
        if part and part.left_out == len(left):
            slots[-1].append(marks[0])
        slots.append([])
        if part and part.right_out == len(right):
            slots[-1].append(marks[1])
        for number, child in enumerate(right, 1):
            write(child)
            if part and part.right_out == len(right) - number:
                slots[-1].append(marks[1])
        slots[-1].extend(pair[1])

    write(list(heads).index(0) + 1)
    return [tuple(slot) for slot in slots]


def explained(case: Case, direction: str) -> Iterator[tuple[tuple[Choice, ...], float]]:
    """All T' with parts, and p(x | u)."""
    rewritings, (start, _) = sliding_window(edits_of(window(direction)), direction), walls(inventory())
    options = [
        itertools.product(range(len(PAIRS[relation])), [None, *all_parts(case.heads, word)])
        for word, relation in enumerate(case.relations, 1)
    ]
    for chosen in itertools.product(*options):
        strings = spelled(case.heads, case, chosen, start)
        both = zip(strings, case.surface, strict=True)
        chance = math.prod(sum(rewritings(u, x)) for u, x in both)
        if chance:
            yield chosen, chance


def with_parts(problem: Problem, seed: int) -> Problem:
    """The problem with all parts, and a random score of each choice."""
    forest = problem.forest
    columns: list[tuple[int, ...]] = []
    for tree in range(forest.num_trees):
        nodes = forest.nodes(tree)
        heads = [int(forest.head[node]) - nodes.start + 1 if forest.head[node] >= 0 else 0 for node in nodes]
        columns += [(node, *part) for word, node in enumerate(nodes, 1) for part in all_parts(heads, word)]
    of_parts = torch.tensor(sorted(columns), dtype=torch.long).reshape(-1, 4).unbind(1)
    problem = replace(problem, parts=Parts(MARKS, *of_parts, Shapes(forest).number(*of_parts)))
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(len(problem.rows), generator=generator, dtype=torch.double) - 1
    return replace(problem, log_pairs=scores)


def place(problem: Problem, node: int, choice: Choice) -> int:
    """Where the score of a choice lies."""
    number, part = choice
    start, size = int(problem.choice_start[node]), int(problem.sizes[node])
    if part is None:
        return start + number
    assert problem.parts is not None
    own = problem.parts.of_node[node]
    columns = (problem.parts.kind, problem.parts.left_out, problem.parts.right_out)
    known = [PartPair(*(int(column[k]) for column in columns)) for k in own]
    return start + size * (1 + known.index(part)) + number


def summed(problem: Problem, case: Case, direction: str) -> tuple[Tensor, dict[tuple[int, ...], Tensor]]:
    """log p(x | T), and the share of each T' as the numbers of its choices."""
    weights: dict[tuple[int, ...], Tensor] = {}
    shapes = Shapes(problem.forest)
    for chosen, chance in explained(case, direction):
        score = sum(problem.log_pairs[place(problem, node, choice)] for node, choice in enumerate(chosen))
        numbers = []
        for node, (choice, part) in enumerate(chosen):
            columns = () if part is None else (torch.tensor([column]) for column in (node, *part))
            number = 0 if part is None else int(shapes.number(*columns))
            numbers.append(choice + int(problem.sizes[node]) * number)
            assert shapes.part(node, number) == part
        assert isinstance(score, Tensor)
        weights[tuple(numbers)] = weights.get(tuple(numbers), 0) + score.exp() * chance
    total = torch.stack(list(weights.values())).sum()
    return total.log(), {numbers: weight / total for numbers, weight in weights.items()}


def problem_with_parts(heads: list[int], direction: str, seed: int) -> tuple[Problem, Case]:
    """A surface that needs parts now and then: marks of random T' with parts, unedited."""
    case = random_case(heads, window(direction), inventory(), seed)
    rng = random.Random(seed)
    chosen = [
        (rng.randrange(len(PAIRS[relation])), rng.choice([None, *all_parts(heads, word)]))
        for word, relation in enumerate(case.relations, 1)
    ]
    surface = [string[:3] for string in spelled(heads, case, chosen, walls(inventory())[0])]
    case = case._replace(surface=surface)
    return with_parts(problem_of([case], window(direction), inventory()), seed), case


WAYS = pytest.mark.parametrize("way", [nullcontext, by_tensors], ids=["compiled", "tensors"])


@WAYS
@pytest.mark.parametrize("direction", ["left", "right"])
@pytest.mark.parametrize("heads", HEADS, ids=str)
def test_sums_gradients_and_choices(heads: list[int], direction: str, way: Any) -> None:
    problem, case = problem_with_parts(heads, direction, len(heads))
    leaf = problem.log_pairs.requires_grad_()
    total, shares = summed(problem, case, direction)
    with way():
        found = inside.log_evidence(problem)[0]
        ours, theirs = (torch.autograd.grad(value, leaf, retain_graph=True)[0] for value in (found, total))
        best = inside.best_derivation(problem)
        draws = inside.posterior_draws(problem, 500, torch.Generator().manual_seed(0))
    torch.testing.assert_close(found, total, rtol=1e-11, atol=0)
    torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-12)
    counts = Counter(map(tuple, draws.tolist()))
    assert counts.keys() <= shares.keys()
    common = {key: float(share.detach()) for key, share in shares.items() if share > 0.02}
    observed = [*(counts[key] for key in common), 500 - sum(counts[key] for key in common)]
    chances = [*common.values(), max(0.0, 1 - sum(common.values()))]
    assert chi_square_is_plausible(observed, chances, 500)
    assert tuple(best.tolist()) in shares


def test_trees_of_a_batch_as_alone() -> None:
    """Trees of up to 30 words, whose marks are shown in many slots; compiled loops and tensors agree."""
    rng = random.Random(0)
    cases = [
        random_case(random_heads(rng.randrange(5, 30), rng), window("left"), inventory(), s) for s in range(6)
    ]
    together = problem_of(cases, window("left"), inventory())
    surface = torch.full((together.forest.num_slots, 4), -1)
    for slot, string in enumerate(string for case in cases for string in case.surface):
        surface[slot, : len(string[:4])] = torch.tensor(string[:4], dtype=torch.long)
    parts = shown_parts(together.forest, surface, MARKS)
    assert len(parts.node) > 20
    generator = torch.Generator().manual_seed(0)
    together = replace(together, parts=parts)
    together = replace(together, log_pairs=torch.randn(len(together.rows), generator=generator).double())
    evidence, hessian = inside.log_evidence(together), curvature(together)
    with by_tensors():
        torch.testing.assert_close(inside.log_evidence(together), evidence, rtol=1e-12, atol=0)
        for one, other in zip(curvature(together), hessian, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-8, atol=1e-8 * float(other.abs().max()))
    leaves = [leaf.detach().requires_grad_() for leaf in leaves_of(together)]
    slopes = torch.autograd.grad(inside.log_evidence(with_leaves(together, *leaves)).sum(), leaves)
    step = torch.randn(len(leaves[0]), generator=generator).double() * 1e-5
    ahead, behind = (
        inside.log_evidence(replace(together, log_pairs=together.log_pairs + sign * step)).sum()
        for sign in (1, -1)
    )
    torch.testing.assert_close((ahead - behind) / 2, (slopes[0] * step).sum(), rtol=1e-6, atol=0)


def test_parts_that_the_page_shows() -> None:
    """ "the “ special place ”": the, special < place; one part, with one dependent outside on the left."""
    opening, closing = 1, 2
    surface = torch.tensor([[-1], [opening], [-1], [closing]])
    parts = shown_parts(
        forest_of([[3, 3, 0]]), surface, torch.tensor([[opening, closing], [closing, closing]])
    )
    assert [column.tolist() for column in (parts.node, parts.kind, parts.left_out, parts.right_out)] == [
        [2],
        [0],
        [1],
        [0],
    ]
    whole = torch.tensor([[opening], [-1], [-1], [closing]])
    assert not len(shown_parts(forest_of([[3, 3, 0]]), whole, MARKS[:1]).node)
