"""A story that reads: its scores, its draws and its gradient, against loops over all that there is."""

import math
from collections import Counter

import pyro
import pytest
import torch
from brute_force import chi_square_is_plausible
from problems import evidence_of_trees, inventory, padded, settled, slope, tiny_story, tree_batch, window
from torch import Tensor

from pyropunct.inference.views import views_of
from pyropunct.models.extensions import Trust
from pyropunct.models.learned import settle
from pyropunct.models.story import Story
from pyropunct.models.trees import READING, TreeBatch

HEADS, RELATIONS = [[2, 0, 2], [0, 1]], [0, 1, 0, 1, 0]


def reading_story(trees: TreeBatch) -> tuple[Story, TreeBatch]:
    """A story that reads with random weights, and the trees with random log-odds."""
    torch.manual_seed(0)
    story = tiny_story(settled(window("left")))
    rows = torch.randn(len(story.inventory.rows))
    story.attach.table = rows
    story.reading = Trust(story.inventory)
    tokens = story.inventory.num_tokens
    weights = {"own": torch.tensor([0.7]), "trust": torch.randn(2, tokens), "offset": torch.randn(2, tokens)}
    settle(story.reading, weights)
    odds = torch.randn(trees.forest.num_nodes, 2, tokens)
    return story, TreeBatch(trees.forest, trees.relation, trees.tag, trees.form, trees.shape, {READING: odds})


def expected_scores(story: Story, trees: TreeBatch) -> list[float]:
    """The sums of the definition, one pair after the other."""
    reading, odds, found = story.reading, trees.more[READING], []
    assert reading is not None
    for node, relation in enumerate(trees.relation.tolist()):
        first = int(story.inventory.pair_start[relation])
        for number, pair in enumerate(story.inventory.pairs[relation]):
            score = float(reading.own) * float(story.attach.table[first + number])
            for side, puncteme in enumerate(pair):
                for token in puncteme:
                    score += float(reading.trust[side, token] * odds[node, side, token])
                    score += float(reading.offset[side, token])
            found.append(score)
    return found


def test_scores_are_those_of_the_definition() -> None:
    story, trees = reading_story(tree_batch(HEADS, RELATIONS))
    views = views_of(trees.forest, padded([()] * trees.forest.num_slots))
    assert story.scorer(trees)(views).tolist() == pytest.approx(expected_scores(story, trees), abs=1e-5)


def test_draws_have_the_probabilities_of_the_collapsed_story() -> None:
    story, one = reading_story(tree_batch([[2, 0]], [0, 1]))
    draws = 3000
    told = story(one.pick([0] * draws))
    strings = [tuple(token for token in row if token >= 0) for row in told.surface.tolist()]
    counts = Counter(tuple(strings[slot : slot + 3]) for slot in range(0, len(strings), 3))
    surfaces = list(counts)
    shown = padded([string for surface in surfaces for string in surface])
    chances = evidence_of_trees(story, one.pick([0] * len(surfaces)), shown).exp().tolist()
    assert len(surfaces) > 5
    assert math.fsum(chances) > 0.9
    assert chi_square_is_plausible([counts[surface] for surface in surfaces], chances, draws)


@pytest.mark.parametrize("name", ["own", "trust", "offset"])
def test_the_gradient_is_the_slope(name: str) -> None:
    """Of log p(x | T) in each kind of weight."""
    story, trees = reading_story(tree_batch(HEADS, RELATIONS))
    surface = story(trees).surface
    story.double()
    reading = story.reading
    assert reading is not None
    before = getattr(reading, name).detach().clone()

    def evidence(weights: Tensor) -> Tensor:
        setattr(reading, name, weights)
        return evidence_of_trees(story, trees, surface).sum()

    weights = before.clone().requires_grad_()
    evidence(weights).backward()
    assert weights.grad is not None
    for index in [(0,)] if name == "own" else [(0, 1), (1, 2)]:
        assert float(weights.grad[index]) == pytest.approx(slope(evidence, before, index), rel=1e-5, abs=1e-7)


def test_its_weights_are_sites_with_priors() -> None:
    story, trees = reading_story(tree_batch(HEADS, RELATIONS))
    story.reading = Trust(inventory())
    trace = pyro.poutine.trace(story).get_trace(trees)
    assert {"reading.own", "reading.trust", "reading.offset"} <= set(trace.nodes)


def test_trees_that_nobody_has_read() -> None:
    trees = tree_batch(HEADS, RELATIONS)
    story, _ = reading_story(trees)
    with pytest.raises(ValueError, match="the trees have no 'reading'"):
        story(trees)
