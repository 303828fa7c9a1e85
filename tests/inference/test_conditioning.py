"""Posteriors of stories that look at marks inside, given evidence: against sums over all surfaces."""

import itertools
import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from brute_force import String
from problems import NOTHING, seen, strings_up_to, tree_batch
from torch import Tensor

from pyropunct.inference.conditioning import Conditioned
from pyropunct.inference.inside import log_evidence
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.machines.evidence import Evidence, any_over, exactly, one_of, with_hidden
from pyropunct.inference.pyro.collapse import tree_problem
from pyropunct.inference.pyro.posterior import ImpossibleSurfaceError
from pyropunct.models.attach.log_linear import LogLinearAttach
from pyropunct.models.channel.window import SlidingWindow
from pyropunct.models.story import Story
from pyropunct.models.trees import TreeBatch, join_surfaces

LOOKING, BLIND = ("inside", "head", "symmetry"), ("head", "symmetry")
SHAPES = [[2, 0, 2], [3, 1, 0]]
WEIGHTS = [0.7, 0.3]

MIXED = [one_of([((), 1.0), ((1,), 0.5)]), with_hidden((1,), [0]), any_over([0]), any_over([0, 1])]
COMMAS = [any_over([0]), with_hidden((1,), [0]), any_over([0]), any_over([0])]
DOUBTFUL = [*COMMAS[:3], one_of([((0,), 1.0), ((1,), 0.1)])]
"""Of two strings that the same underlying string may become, one has the weight 1."""

ALL = [exactly(()), exactly((1,)), exactly(()), exactly((0,))]


def two_trees() -> TreeBatch:
    return tree_batch(SHAPES, [0, 1, 0] * 2, tag=[0, 1, 2] * 2)


class OfTrees(SlidingWindow):
    """Behind a late root, other edits are likely."""

    def weights_of(self, trees: TreeBatch) -> dict[str, Tensor]:
        late = (trees.forest.root - trees.forest.node_start[:-1] - 1.0)[:, None, None, None]
        return {"edit": (self.edit_logits + torch.tensor([1.0, -1.0, 0.0, 0.5]) * late).softmax(-1)}


def story_of(families: tuple[str, ...], channel: type[SlidingWindow] = SlidingWindow) -> Story:
    """A story with random weights, great enough for what is inside to matter."""
    torch.manual_seed(1)
    some = Inventory(2, [[NOTHING, ((), (0,)), ((), (1,)), ((1,), ())], [NOTHING, ((0,), (1,)), ((), (0,))]])
    attach, trees = LogLinearAttach(some, (",", "("), families, least=1), two_trees()
    surfaces = [torch.randint(-1, 2, (trees.forest.num_slots, 1)) for _ in range(30)]
    attach.learn([seen(trees, surface) for surface in surfaces])
    attach.weights = torch.randn(int(attach.starts[-1]))
    made = channel(2, "left")
    made.edit_logits = torch.randn(2, 2, 4)
    return Story(some, attach, made)


def conditioned(story: Story, evidence: Sequence[Evidence], seed: int = 0) -> Conditioned:
    return Conditioned(story.inputs, two_trees(), WEIGHTS, evidence, np.random.default_rng(seed))


def by_enumeration(story: Story, evidence: Sequence[Evidence]) -> dict[tuple[int, tuple[String, ...]], float]:
    """p(T) p(x | T) of each tree and surface, times what the evidence says of the surface."""
    strings = [[one for one in strings_up_to(3, range(2)) if slot.weight(one)] for slot in evidence]
    surfaces = list(itertools.product(*strings))
    found = {}
    for tree, prior in enumerate(WEIGHTS):
        batch = two_trees().pick([tree] * len(surfaces))
        rows = [string for surface in surfaces for string in surface]
        observed = join_surfaces([torch.tensor([[*row, *[-1] * (3 - len(row))]]) for row in rows])
        chances = log_evidence(tree_problem(story, batch, observed)).exp().tolist()
        for surface, chance in zip(surfaces, chances, strict=True):
            says = math.prod(one.weight(string) for one, string in zip(evidence, surface, strict=True))
            found[tree, surface] = prior * chance * says
    return found


@pytest.mark.parametrize("channel", [SlidingWindow, OfTrees])
@pytest.mark.parametrize(
    "evidence", [MIXED, COMMAS, DOUBTFUL], ids=["all kinds", "hidden commas", "doubtful"]
)
def test_draws_agree_with_conditioning_by_enumeration(
    evidence: list[Evidence], channel: type[SlidingWindow]
) -> None:
    """For each tree and surface, within five standard errors of the weighted draws, in several rounds."""
    story = story_of(LOOKING, channel)
    exact = by_enumeration(story, evidence)
    total = math.fsum(exact.values())
    posterior = conditioned(story, evidence)
    rounds = [posterior.draw(size) for size in (50, 2000, 2000)]
    weight = np.exp(np.concatenate([one.log_weight for one in rounds]))
    assert weight.std() > 0.01 * total  # so that the weights are needed
    assert abs(weight.mean() - total) < 5 * weight.std() / math.sqrt(len(weight))
    drawn = [
        (int(tree), tuple(posterior.strings.tokens(int(number)) for number in row))
        for one in rounds
        for tree, row in zip(one.tree, one.numbers, strict=True)
    ]
    assert set(drawn) <= {key for key, chance in exact.items() if chance > 0}
    share = weight / weight.sum()
    for key, chance in exact.items():
        here = np.array([one == key for one in drawn])
        error = math.sqrt(float((share**2 * (here - chance / total) ** 2).sum()))
        assert abs(share[here].sum() - chance / total) <= 5 * max(error, 1 / len(drawn))


def test_pieces_give_the_same_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draws are weighed in pieces, for the sake of memory."""
    whole, parts = conditioned(story_of(LOOKING), COMMAS), conditioned(story_of(LOOKING), COMMAS)
    monkeypatch.setattr("pyropunct.inference.conditioning.WEIGHED_AT_ONCE", 10**9)
    expected = [whole.draw(200) for _ in range(2)]
    monkeypatch.setattr("pyropunct.inference.conditioning.WEIGHED_AT_ONCE", 1)
    for one in expected:
        found = parts.draw(200)
        assert np.array_equal(found.numbers, one.numbers)
        assert np.allclose(found.log_weight, one.log_weight)
    assert parts.weighed == whole.weighed > 0


def test_the_next_round_has_better_weights() -> None:
    posterior = conditioned(story_of(LOOKING), COMMAS)
    spread = [posterior.draw(2000).log_weight.std() for _ in range(2)]
    assert spread[1] < 0.7 * spread[0]


def test_the_proposal_is_the_mean_over_draws_and_the_first_guess() -> None:
    """The first guess counts as one draw. A tree without draws keeps it."""
    posterior = conditioned(story_of(LOOKING), COMMAS)
    _, end, last = posterior._choice_start[[0, 3, 6]]
    first = np.exp(posterior._first)
    one, other = np.random.default_rng(0).random((2, end))
    logs, weight = np.log(np.concatenate([one, other])), np.array([0.5, 1.5])
    posterior._adapt(np.array([0, 0]), logs, weight, np.array([7, 0]))
    found = np.exp(posterior._blind)
    assert found[:end] == pytest.approx((first[:end] + 7 * (0.25 * one + 0.75 * other)) / 8)
    assert np.array_equal(found[end:last], first[end:last])


@pytest.mark.parametrize("evidence", [MIXED, COMMAS])
def test_weights_are_equal_where_nothing_looks_inside(evidence: list[Evidence]) -> None:
    """Then the blind story is the story, and each weight is p(evidence)."""
    story = story_of(BLIND)
    total = math.fsum(by_enumeration(story, evidence).values())
    drawn = conditioned(story, evidence).draw(300)
    assert np.exp(drawn.log_weight) == pytest.approx(total, rel=1e-10)


def test_marks_tell_which_tree_is_right() -> None:
    """Where all is known, only the tree is drawn: in proportion to p(T) p(x | T)."""
    story = story_of(LOOKING)
    exact = by_enumeration(story, ALL)
    posterior = conditioned(story, ALL)
    drawn = [posterior.draw(1000) for _ in range(2)][1]
    weight = np.exp(drawn.log_weight)
    share = np.bincount(drawn.tree, weight, 2) / weight.sum()
    wanted = np.array(list(exact.values())) / sum(exact.values())
    assert share == pytest.approx(wanted, abs=0.02)
    assert abs(wanted[0] - WEIGHTS[0]) > 0.1


def test_a_tree_has_its_share_of_draws_in_expectation() -> None:
    """Also where that is less than one draw."""
    drawing: Any = SimpleNamespace(_generator=np.random.default_rng(0))
    counts = [Conditioned._allotted(drawing, np.array([0.2, 0.1, 0.7]), 1) for _ in range(2000)]
    assert np.mean(counts, 0) == pytest.approx([0.2, 0.1, 0.7], abs=0.05)


def test_equal_seeds_give_equal_draws() -> None:
    story = story_of(LOOKING)
    one, same, other = (conditioned(story, MIXED, seed).draw(40) for seed in (0, 0, 1))
    assert all((a == b).all() for a, b in zip(one, same, strict=True))
    assert (one.numbers != other.numbers).any()


def test_evidence_that_nothing_explains() -> None:
    with pytest.raises(ImpossibleSurfaceError, match="no punctemes explain what is known of slot 3"):
        conditioned(story_of(LOOKING), [*COMMAS[:3], exactly((1, 0, 1, 0, 1, 0))]).draw(10)
