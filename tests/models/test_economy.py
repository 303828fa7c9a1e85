"""The economy of underlying trees: n(T'), and the objective in which it stands."""

import math
from collections.abc import Sequence

import pytest
from brute_force import descendants, total
from problems import Case, batch_of, evidence_of_trees, expected, story_case, tiny_story

from pyropunct.inference.forest import forest_of
from pyropunct.inference.pyro.decode import infer_trees
from pyropunct.models.channel.window import SlidingWindow
from pyropunct.models.symmetry import above, sprouted, unmatched

MARKS = ("^", "(", ")")
SHAPES = [[2, 0, 2], [0, 1, 4, 2], [2, 0]]


@pytest.mark.parametrize(
    ("left", "right", "counts"),
    [
        ("", "", (0, 0, 0)),
        ("", ".", (0, 0, 1)),
        (",", ",", (1, 0, 0)),
        (",", "", (0, 1, 0)),
        (",", ".", (0, 1, 1)),
        ("“", "”", (1, 0, 0)),
        ("“", ". ”", (1, 0, 1)),
        ("”", "“", (0, 1, 1)),
        ("( “", "” )", (2, 0, 0)),
        (", ,", ",", (1, 1, 0)),
        ("¿", "? !", (1, 0, 1)),
    ],
)
def test_tokens_that_face_each_other_count_once(left: str, right: str, counts: tuple[int, int, int]) -> None:
    assert sprouted(left.split(), right.split()) == counts


def test_larger_constituents_with_the_same_edge() -> None:
    """Of *1 2 3* with 2 as the root, and of *1 2 3 4*, in which each of the first three holds the next."""
    forest = forest_of([[2, 0, 2], [0, 1, 2, 3]])
    left, right = above(forest, forest.left_slot), above(forest, forest.right_slot)
    assert left.tolist() == [1, 0, 0, 0, 0, 0, 0]
    assert right.tolist() == [0, 0, 1, 0, 1, 2, 3]


def n_of(case: Case, choices: Sequence[int], balanced: bool = True) -> int:
    """n(T') by its definition, one constituent after the other."""
    spans = [sorted(descendants(case.heads, word)) for word in range(1, len(case.heads) + 1)]
    total = 0
    for span, pairs, choice in zip(spans, case.pairs, choices, strict=True):
        sides = [[MARKS[t] for t in side] for side in pairs[choice]]
        paired, *alone = sprouted(*sides)
        total += paired + balanced * 30 * unmatched(*sides)
        for edge, number in zip((0, -1), alone, strict=True):
            larger = [one for one in spans if len(one) > len(span) and one[edge] == span[edge]]
            total += number * (1 + len(larger))
    return total


@pytest.mark.parametrize("settled", [True, False])
@pytest.mark.parametrize("direction", ["left", "right"])
def test_objective_against_brute_force(direction: str, settled: bool) -> None:
    """log sum over T' of p(T', x | T) exp(-kappa n(T')) in training; otherwise log p(x | T)."""
    story = tiny_story(SlidingWindow(3, direction), economy_weight=0.7)
    story.is_settled = settled
    cases = [story_case(story, heads, 6) for heads in SHAPES]
    found = [expected(case, story.channel, story.inventory)[0] for case in cases]
    weights = [
        math.fsum(one.weight * math.exp(-0.7 * n_of(case, one.choices, settled)) for one in some)
        for case, some in zip(cases, found, strict=True)
    ]
    for mode, values in ((True, weights), (False, map(total, found))):
        evidence = evidence_of_trees(story.train(mode), *batch_of(cases))
        assert evidence.exp().tolist() == pytest.approx(list(values), rel=1e-12)


def test_the_best_economical_tree() -> None:
    """With a large kappa the fewest sproutings that explain the surface."""
    story = tiny_story(SlidingWindow(3), economy_weight=15.0)
    cases = [story_case(story, heads, 6) for heads in SHAPES]
    told = infer_trees(story, 0)(*batch_of(cases))
    choices = told.choices.tolist()
    for case in cases:
        own, choices = choices[: len(case.heads)], choices[len(case.heads) :]
        found = expected(case, story.channel, story.inventory)[0]
        assert n_of(case, own) == min(n_of(case, one.choices) for one in found)
