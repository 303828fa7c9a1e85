"""The economy of underlying trees: n(T'), and the objective in which it stands."""

import math
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from brute_force import descendants, total
from problems import PAIRS, Case, Table, batch_of, evidence_of_trees, expected, inventory, story_case
from torch import Tensor

from pyropunct.inference.forest import forest_of
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.pyro.decode import infer_trees
from pyropunct.models.channel.window import SlidingWindow
from pyropunct.models.economy import Economy, above, facing
from pyropunct.models.story import Story
from pyropunct.models.symmetry import unmatched_sides
from pyropunct.treebank.functions import CLOSING, DELIMITING, FINAL, OPENING, SEPARATING

SHAPES = [[2, 0, 2], [0, 1, 4, 2], [2, 0]]
BRACKETS = {"^": FINAL, "(": OPENING, ")": CLOSING}
COMMAS = {"^": FINAL, ",": DELIMITING, ";": SEPARATING}
BOTH = {"^": FINAL, ")": CLOSING, ",": DELIMITING}
MARKS = pytest.mark.parametrize("marks", [BRACKETS, COMMAS, BOTH], ids=["brackets", "commas", "both"])

Functions = dict[str, str]

SEPARATED = 1
"""The relation of conjuncts."""


def story_of(marks: Functions, direction: str, weight: float) -> Story:
    some = inventory()
    channel = SlidingWindow(3, direction)
    functions = tuple(marks.values())
    options: Any = {"marks": tuple(marks), "functions": functions, "separated": [SEPARATED]}
    return Story(some, Table(some), channel, economy_weight=weight, **options)


@pytest.mark.parametrize(
    ("left", "right", "found"),
    [
        ("", "", ("", "", "")),
        ("", ".", ("", "", ".")),
        (",", ",", (",", "", "")),
        (",", ".", ("", ",", ".")),
        ("“", ". ”", ("“", "", ".")),
        ("”", "“", ("", "”", "“")),
        ("( “", "” )", ("( “", "", "")),
        (", ,", ",", (",", ",", "")),
        ("¿", "? !", ("¿", "", "!")),
    ],
)
def test_tokens_that_face_each_other(left: str, right: str, found: tuple[str, str, str]) -> None:
    assert facing(left.split(), right.split()) == tuple(tokens.split() for tokens in found)


def test_larger_constituents_with_the_same_edge() -> None:
    """Of *1 2 3* with 2 as the root, and of *1 2 3 4*, in which each of the first three holds the next."""
    forest = forest_of([[2, 0, 2], [0, 1, 2, 3]])
    left, right = above(forest, forest.left_slot), above(forest, forest.right_slot)
    assert left.tolist() == [1, 0, 0, 0, 0, 0, 0]
    assert right.tolist() == [0, 0, 1, 0, 1, 2, 3]


def lone_slots(marks: Functions, surface: Sequence[Sequence[int]]) -> set[int]:
    """The slots of brackets that remain after neighbouring pairs are deleted again and again."""
    names = list(marks)
    left = [(names[token], slot) for slot, string in enumerate(surface) for token in string]
    left = [(mark, slot) for mark, slot in left if mark in "()"]
    place = 0
    while place + 1 < len(left):
        if left[place][0] == "(" and left[place + 1][0] == ")":
            del left[place : place + 2]
            place = 0
        else:
            place += 1
    return {slot for _, slot in left}


def n_of(marks: Functions, case: Case, choices: Sequence[int], balanced: bool = True) -> float:
    """n(T') by its definition, one constituent after the other."""
    names, lone = list(marks), lone_slots(marks, case.surface)
    spans = [sorted(descendants(case.heads, word)) for word in range(1, len(case.heads) + 1)]
    total = 0.0
    for span, relation, choice in zip(spans, case.relations, choices, strict=True):
        sides = [[names[t] for t in side] for side in PAIRS[relation][choice]]
        paired, *alone = facing(*sides)
        inside = [(mark, sides[0][:place]) for place, mark in enumerate(sides[0])]
        inside += [(mark, sides[1][place + 1 :]) for place, mark in enumerate(sides[1])]
        total += 5 * sum(mark == "," and not {"(", ")"}.isdisjoint(others) for mark, others in inside)
        both = 10 if relation == SEPARATED else 1
        total += sum({DELIMITING: both, FINAL: 2}.get(marks[mark], 10) for mark in paired)
        edges = (0, -1), (span[0] - 1, span[-1]), alone, unmatched_sides(*sides)
        for edge, slot, others, is_unmatched in zip(*edges, strict=True):
            larger = [one for one in spans if len(one) > len(span) and one[edge] == span[edge]]
            for mark in others:
                total += len(larger) * (5 if marks[mark] == FINAL else 1)
                single = 1 if relation == SEPARATED else 1.5
                total += {DELIMITING: single, FINAL: 1}.get(marks[mark], 5)
            total += balanced * 30 * (is_unmatched and slot not in lone)
    return total


@pytest.mark.parametrize(
    ("pair", "n"),
    [
        ("|", 0),
        (",|,", 1),
        ("|,", 1.5),
        ("|?", 1),
        ("¿|?", 2),
        ("|;", 5),
        (";|;", 10),
        ("(|)", 10),
        ("(,|,)", 10 + 1 + 2 * 5),
        ("(|", 5 + 30),
    ],
)
def test_costs_by_hand(pair: str, n: float) -> None:
    """Each kind of mark, alone and facing another, in a tree of one word."""
    functions = {"¿": FINAL, "?": FINAL, ",": DELIMITING, ";": SEPARATING, "(": OPENING, ")": CLOSING}
    left, right = (tuple(map([*functions].index, side)) for side in pair.split("|"))
    pairs = Inventory(len(functions), [sorted({((), ()), (left, right)})])
    cost = Economy(pairs, [*functions], [*functions.values()]).cost(forest_of([[0]]))
    assert float(cost(torch.tensor([0]), torch.tensor([len(pairs.rows) - 1]))[0]) == n


def test_without_functions_each_mark_counts_as_one() -> None:
    pairs = Inventory(1, [[((), ()), ((), (0,)), ((0,), (0,))]])
    cost = Economy(pairs, [","]).cost(forest_of([[0]]))
    assert cost(torch.zeros(3, dtype=torch.long), torch.arange(3)).tolist() == [0, 1, 2]


@MARKS
@pytest.mark.parametrize("settled", [True, False])
@pytest.mark.parametrize("direction", ["left", "right"])
def test_objective_against_brute_force(marks: Functions, direction: str, settled: bool) -> None:
    """log sum over T' of p(T', x | T) exp(-kappa n(T')) if regularised, otherwise log p(x | T)."""
    story = story_of(marks, direction, 0.07)
    story.is_settled = settled
    cases = [story_case(story, heads, 6) for heads in SHAPES]
    found = [expected(case, story.channel, story.inventory)[0] for case in cases]
    weights = [
        math.fsum(one.weight * math.exp(-0.07 * n_of(marks, case, one.choices, settled)) for one in some)
        for case, some in zip(cases, found, strict=True)
    ]
    for is_training, regularised, values in (
        (True, None, weights),
        (False, None, map(total, found)),
        (True, False, map(total, found)),
    ):
        evidence = evidence_of_trees(story.train(is_training), *batch_of(cases), regularised=regularised)
        assert evidence.exp().tolist() == pytest.approx(list(values), rel=1e-12)


@MARKS
def test_the_best_economical_tree(marks: Functions) -> None:
    """With a large kappa the T' with the smallest n(T') that explains the surface."""
    story = story_of(marks, "left", 40.0).eval()
    cases = [story_case(story, heads, 6) for heads in SHAPES]
    told = infer_trees(story, 0)(*batch_of(cases), regularised=True)
    choices = told.choices.tolist()
    for case in cases:
        own, choices = choices[: len(case.heads)], choices[len(case.heads) :]
        found = expected(case, story.channel, story.inventory)[0]
        assert n_of(marks, case, own) == min(n_of(marks, case, one.choices) for one in found)


def test_unmatched_marks_count_outside_of_training() -> None:
    """Also if training has been stopped in its first half."""
    story = story_of(BRACKETS, "left", 1.0)
    trees, surface = batch_of([story_case(story, [2, 0, 2], 0)])

    def costs(is_training: bool, is_settled: bool) -> Tensor:
        story.train(is_training).is_settled = is_settled
        given = story.inputs(trees, surface, regularised=True)
        assert given.cost is not None
        return given.of_pairs(given.cost)

    settled = costs(True, True)
    assert not torch.equal(costs(True, False), settled)
    assert torch.equal(costs(False, False), settled)
    assert torch.equal(costs(False, True), settled)
