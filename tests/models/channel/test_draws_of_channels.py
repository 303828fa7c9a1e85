"""Draws of T' and x, for all ways to ask for them, against p(x | T) of the inside algorithm."""

from collections import Counter
from typing import Any

import numpy as np
import pyro
import pytest
import torch
from brute_force import chi_square_is_plausible
from channels import CHANNELS
from problems import settled, tiny_story, tree_batch
from torch import Tensor

from pyropunct.inference.machines.evidence import padded
from pyropunct.inference.pyro.collapse import collapse_trees
from pyropunct.inference.pyro.sites import PunctuatedTrees
from pyropunct.inference.pyro.story_state import log_rewritten
from pyropunct.inference.views import views_of
from pyropunct.inference.walk import Walk
from pyropunct.models.channel.noisy_channel import Channel, Identity
from pyropunct.models.channel.window import SlidingWindow
from pyropunct.models.story import Story
from pyropunct.models.trees import TreeBatch

TREES = tree_batch([[0], [2, 0]], [1, 0, 2])
DRAWS = 3000


class OfTrees(SlidingWindow):
    """In longer sentences, other edits are likely."""

    def weights_of(self, trees: TreeBatch) -> dict[str, Tensor]:
        logits = self.edit_logits + torch.tensor([2.0, -1.0, 0.0, 1.0]) * self.longer(trees)
        return {"edit": logits.softmax(-1)}

    def longer(self, trees: TreeBatch) -> Tensor:
        return (trees.forest.node_start.diff() - 1.0)[:, None, None, None]


MAKE = {name: channel.make for name, channel in CHANNELS.items()} | {
    "of trees": lambda side: OfTrees(3, side)
}


def story(channel: Channel) -> Story:
    told = tiny_story(settled(channel))
    told.attach.table = torch.linspace(-1, 1, len(told.inventory.rows))
    return told


def from_sites(told: Story) -> Tensor:
    """All draws at once, in a plate on the left."""
    with pyro.plate("draws", DRAWS, dim=-2):
        return told(TREES).surface


def from_a_collapsed_site(told: Story) -> Tensor:
    with pyro.plate("draws", DRAWS, dim=-2):
        return collapse_trees(told)(TREES).surface


def with_generators(told: Story) -> Tensor:
    """As a fitted model draws."""
    walk = Walk(told.inputs(TREES), [np.random.default_rng(seed) for seed in range(len(TREES))])
    return walk.surfaces(walk.draw(np.full(len(TREES), DRAWS)))


@pytest.mark.parametrize(
    ("name", "draw"),
    [
        *((name, from_sites) for name in MAKE),
        ("of trees", from_a_collapsed_site),
        ("of trees", with_generators),
        ("sliding-window", with_generators),
    ],
)
def test_surfaces_are_drawn_with_their_probabilities(name: str, draw: Any) -> None:
    pyro.set_rng_seed(0)
    told = story(MAKE[name]("left"))
    drawn, start = draw(told), TREES.forest.slot_start.tolist()
    for tree, slots in enumerate(map(range, start[:-1], start[1:])):
        strings = (tuple(tuple(t for t in row if t >= 0) for row in one) for one in drawn[:, slots].tolist())
        counts = Counter(strings)
        common = [surface for surface, count in counts.items() if count > 20]
        alone = PunctuatedTrees(told.inputs(TREES.pick([tree])))
        chances = [float(alone.log_prob(padded(surface)).exp()) for surface in common]
        observed = [counts[surface] for surface in common]
        assert sum(observed) > 100
        assert chi_square_is_plausible(
            [*observed, DRAWS - sum(observed)], [*chances, 1 - sum(chances)], DRAWS
        )


def test_x_is_drawn_given_the_other_site() -> None:
    """T' of the walk has its own x; one that is given has an x of its own for each element of plates."""
    told = story(SlidingWindow(3))
    data = {"pairs": told(TREES).choices}
    with pyro.plate("draws", 50, dim=-2):
        again = pyro.poutine.condition(told, data)(TREES)
    assert again.surface.shape[:2] == (50, TREES.forest.num_slots)
    assert len(again.surface.unique(dim=0)) > 1
    assert torch.equal(again.choices, data["pairs"])


def test_each_element_of_a_plate_has_the_surface_of_its_choices() -> None:
    told = story(Identity(3))
    told.attach.table = torch.randn(4, 1, len(told.inventory.rows))
    with pyro.plate("draws", 4, dim=-2):
        choices = told(TREES).choices
        again = pyro.poutine.condition(told, {"pairs": choices})(TREES)
    assert len(choices.unique(dim=0)) > 1
    for row in range(4):
        told.attach.table = torch.randn(len(told.inventory.rows))
        assert torch.equal(
            log_rewritten(told.inputs(TREES), choices[row], again.surface[row]), torch.zeros(2)
        )


def test_scores_of_one_node_in_a_plate_are_not_those_of_trees() -> None:
    """Also if the plate is as large as the batch of trees, and the node may choose the most pairs."""
    told = story(SlidingWindow(3))
    told.attach.table = torch.randn(len(TREES), 1, len(told.inventory.rows))
    views = views_of(TREES.forest, torch.full((TREES.forest.num_slots, 1), -1), torch.tensor([2]))
    found, start = told.inputs(TREES).pair_scores(views), told.inventory.pair_start
    assert torch.equal(found, told.attach.table[:, 0, start[2] : start[3]])


def test_several_values_are_weighed_one_by_one() -> None:
    trees = PunctuatedTrees(story(SlidingWindow(3)).inputs(TREES))
    drawn = trees.sample((2, 3))
    found = trees.log_prob(drawn)
    assert found.shape == (2, 3, 2)
    torch.testing.assert_close(found[1, 2], trees.log_prob(drawn[1, 2]))
