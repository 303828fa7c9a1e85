import itertools
import math
from collections import Counter
from typing import Any

import pyro
import pytest
import torch
from brute_force import String, chi_square_is_plausible, projective_trees
from problems import (
    NOTHING,
    batch_of,
    evidence_of_trees,
    inventory,
    padded,
    random_case,
    scores_of,
    seen,
    strings_up_to,
    tiny_story,
    tree_batch,
    window,
)
from pyro import poutine
from pyro.poutine.util import site_is_subsample
from torch import Tensor

from pyropunct.inference.inventory import Inventory
from pyropunct.inference.pyro.collapse import collapse_trees
from pyropunct.inference.views import views_of
from pyropunct.models.attach.log_linear import LogLinearAttach
from pyropunct.models.channel.window import SlidingWindow
from pyropunct.models.story import Story
from pyropunct.models.trees import TreeBatch, join_surfaces
from pyropunct.treebank.tree import Tree

DIRECTIONS = pytest.mark.parametrize("direction", ["left", "right"])
MARKS = (",", "(")
PAIRS = [
    [NOTHING, ((), (0,)), ((1,), ())],
    [NOTHING, ((0,), (1,))],
]


def looking_story(direction: str, trees: TreeBatch) -> Story:
    """A story whose attach model looks at the punctuation inside, with random weights."""
    torch.manual_seed(1)
    some = Inventory(2, PAIRS)
    attach = LogLinearAttach(some, MARKS, ("inside", "head", "symmetry"), least=1)
    surfaces = [torch.randint(-1, 2, (trees.forest.num_slots, 1)) for _ in range(30)]
    attach.learn([seen(trees, surface) for surface in surfaces])
    attach.weights = 0.4 * torch.randn(int(attach.starts[-1]))
    channel = SlidingWindow(2, direction)
    channel.edit_logits = torch.randn(2, 2, 4)
    return Story(some, attach, channel)


def copies(trees: TreeBatch, number: int) -> TreeBatch:
    return trees.pick([*range(len(trees))] * number)


def probabilities(story: Story, trees: TreeBatch, surfaces: list[tuple[String, ...]]) -> list[float]:
    """p(x | T) of some surfaces of one tree; one that is impossible has its probability 0 left out."""
    batch = copies(trees, len(surfaces)), padded([string for surface in surfaces for string in surface])
    return evidence_of_trees(story, *batch).exp().tolist()


def possible_surfaces(trees: TreeBatch) -> list[tuple[String, ...]]:
    """All surfaces that a slot may show given who may put something there, and some impossible ones."""
    forest = trees.forest
    most = [0] * forest.num_slots
    for slot in forest.left_slot.tolist() + forest.right_slot.tolist():
        most[slot] += 1
    return list(itertools.product(*(strings_up_to(length, range(2)) for length in most)))


TREES = [[0], [2, 0], [0, 1], [2, 0, 2]]


@pytest.mark.parametrize(
    ("direction", "heads"),
    [*(("left", heads) for heads in TREES), *(("right", heads) for heads in TREES[:3])],
)
def test_probabilities_of_all_surfaces_add_up(direction: str, heads: list[int]) -> None:
    """Although constituents look at the surface inside them: what is inside does not look back."""
    trees = tree_batch([heads], [0, 1, 0][: len(heads)], tag=[0, 1, 2][: len(heads)])
    story = looking_story(direction, trees)
    found = []
    for surface in possible_surfaces(trees):
        try:
            found += probabilities(story, trees, [surface])
        except ValueError:
            continue
    assert len(found) >= 3 ** len(heads) / 2
    assert math.fsum(found) == pytest.approx(1, abs=1e-12)


@DIRECTIONS
@pytest.mark.parametrize("heads", [[2, 0, 2], [3, 1, 0], [0, 1, 2, 2]])
def test_draws_have_the_probabilities_of_the_collapsed_story(direction: str, heads: list[int]) -> None:
    trees = tree_batch([heads], [0, 1, 0, 0][: len(heads)], tag=[0, 1, 2, 1][: len(heads)])
    story = looking_story(direction, trees)
    draws, slots = 4000, len(heads) + 1
    told = story(copies(trees, draws))
    strings = [tuple(token for token in row if token >= 0) for row in told.surface.tolist()]
    counts = Counter(tuple(strings[slot : slot + slots]) for slot in range(0, len(strings), slots))
    surfaces = list(counts)
    assert len(surfaces) > 15
    assert chi_square_is_plausible(
        [counts[surface] for surface in surfaces], probabilities(story, trees, surfaces), draws
    )


@DIRECTIONS
def test_looking_inside_matters(direction: str) -> None:
    """So that the tests above test the order of the story."""
    trees = tree_batch([[2, 0, 2]], [0, 1, 0], tag=[0, 1, 2])
    story = looking_story(direction, trees)
    scores = [scores_of(story.attach, trees, padded([(), string, (), ()])) for string in [(), (0,), (1,)]]
    assert not torch.equal(scores[0][3:5], scores[1][3:5])
    assert not torch.equal(scores[1][3:5], scores[2][3:5])


def test_views_of_a_surface_that_is_replaced_do_not_count() -> None:
    """A handler shows another surface than the one whose views the model is given."""
    trees = tree_batch([[2, 0, 2, 3], [0, 1]], [0, 1, 0, 1, 0, 1], tag=[0, 1, 2, 0, 1, 1])
    story = looking_story("left", trees)
    shown, other = (story(trees).surface for _ in range(2))
    data = {"surface": other}
    found = evidence_of_trees(poutine.condition(story, data), trees, shown, views_of(trees.forest, shown))
    assert not torch.equal(shown, other)
    assert torch.equal(found, evidence_of_trees(story, trees, other))


@DIRECTIONS
def test_joint_probability_forward_and_observed(direction: str) -> None:
    """log p(T', x | T) of the story as told is the same, whether it runs bottom-up or sees everything."""
    trees = tree_batch([[2, 0, 2, 3], [0, 1]], [0, 1, 0, 1, 0, 1], tag=[0, 1, 2, 0, 1, 1])
    story = looking_story(direction, trees)
    for _ in range(5):
        forward = poutine.trace(story).get_trace(trees)
        told = forward.nodes["_RETURN"]["value"]
        known = poutine.condition(story, {"pairs": told.choices})
        observed = poutine.trace(known).get_trace(trees, told.surface)
        assert float(forward.log_prob_sum()) == pytest.approx(float(observed.log_prob_sum()), rel=1e-12)
        assert torch.equal(observed.nodes["_RETURN"]["value"].surface, told.surface)


@DIRECTIONS
def test_a_batch_is_its_trees_in_any_order(direction: str) -> None:
    story = tiny_story(window(direction))
    story.attach.table = torch.randn(len(story.inventory.rows))
    cases = [
        random_case(heads, window(direction), inventory(), seed)
        for seed, heads in enumerate(projective_trees(4))
    ]

    def loss(some: list) -> float:  # type: ignore[type-arg]
        trace = poutine.trace(collapse_trees(story)).get_trace(*batch_of(some))
        return float(trace.log_prob_sum())

    alone = [loss([case]) for case in cases]
    assert loss(cases) == pytest.approx(math.fsum(alone), rel=1e-13)
    assert loss(cases[::-1]) == pytest.approx(math.fsum(alone), rel=1e-13)
    surfaces = join_surfaces([batch_of([case])[1] for case in cases])
    assert evidence_of_trees(story, batch_of(cases)[0], surfaces).tolist() == pytest.approx(alone, rel=1e-13)


def test_trees_of_a_syntax_model() -> None:
    trees = tree_batch([[2, 0]], [0, 1])
    story = tiny_story(window("left"))
    story.attach.table = torch.zeros(len(story.inventory.rows))
    with pytest.raises(ValueError, match="no syntax model"):
        story()

    def syntax() -> TreeBatch:
        pyro.sample("kind", pyro.distributions.Bernoulli(0.5))
        return trees

    dreaming = Story(story.inventory, story.attach, story.channel, syntax)
    trace = poutine.trace(dreaming).get_trace()
    assert "kind" in trace.nodes
    assert trace.nodes["_RETURN"]["value"].trees is trees


def test_trees_that_are_not_encoded() -> None:
    tree = Tree((2, 0), ("nsubj", "root"), ("PRON", "VERB"), ("he", "sings"))
    for trees in (tree, [tree]):
        with pytest.raises(TypeError, match=rf"not '{type(trees).__name__}': .*encode_trees\(\[tree\]\)$"):
            tiny_story(window("left"))(trees)  # type: ignore[arg-type]


def test_the_score_of_empty_pairs() -> None:
    """It is the same whether the story raises it or the attach model, told or seen, once or many times."""
    trees = tree_batch([[2, 0, 2, 3], [0]], [0, 1, 0, 1, 0])
    raised, itself = (tiny_story(window("left")) for _ in range(2))
    empty = torch.tensor([not any(pair) for pair in raised.inventory.rows])
    raised.attach.table = torch.randn(len(empty))
    itself.attach.table = raised.attach.table + 1.5 * empty
    raised.empty_score = 1.5
    told = [(torch.manual_seed(2), story(trees))[1] for story in (raised, itself)]
    assert torch.equal(told[0].surface, told[1].surface)
    assert torch.equal(told[0].choices, told[1].choices)
    seen = [
        float(poutine.trace(collapse_trees(story)).get_trace(trees, told[0].surface).log_prob_sum())
        for story in (raised, itself)
    ]
    assert seen[0] == pytest.approx(seen[1], rel=1e-13)
    views = views_of(trees.forest, told[0].surface)
    scores = [story.inputs(trees).pair_scores(views) for story in (raised, itself)]
    assert scores[0] == pytest.approx(scores[1], rel=1e-13)


def test_sites_of_the_story() -> None:
    """They are the same however it is told: T' for all nodes, x for all slots; or x alone."""
    trees = tree_batch([[2, 0, 2, 3], [0]], [0, 1, 0, 1, 0])
    story = settled_story()

    def sites(trace: poutine.Trace) -> dict[str, torch.Size]:
        return {name: site["value"].shape for name, site in trace.nodes.items() if is_site(site)}

    drawn = poutine.trace(story).get_trace(trees)
    surface = drawn.nodes["surface"]["value"]
    assert sites(drawn) == {"pairs": (5,), "surface": (7, surface.shape[-1])}
    collapsed = poutine.trace(collapse_trees(story)).get_trace(trees, surface)
    assert sites(collapsed) == {"surface": surface.shape}


def settled_story() -> Story:
    """One whose weights are no sites."""
    story = tiny_story(window("left"))
    story.attach.table = torch.randn(len(story.inventory.rows))
    return story


def is_site(site: dict[str, Any]) -> bool:
    return site["type"] == "sample" and not site_is_subsample(site)


def test_a_drawn_story_is_told_again() -> None:
    """Replayed with its surface observed it has the probability that it was drawn with."""
    trees = tree_batch([[2, 0, 2, 3], [0]], [0, 1, 0, 1, 0])
    story = settled_story()
    for _ in range(5):
        drawn = poutine.trace(story).get_trace(trees)
        surface = drawn.nodes["surface"]["value"]
        again = poutine.trace(poutine.replay(story, trace=drawn)).get_trace(trees, surface)
        assert torch.equal(again.nodes["pairs"]["value"], drawn.nodes["pairs"]["value"])
        assert float(again.log_prob_sum()) == pytest.approx(float(drawn.log_prob_sum()), rel=1e-13)


def test_a_surface_is_observed_by_the_story_or_by_a_handler() -> None:
    trees = tree_batch([[2, 0, 2, 3], [0]], [0, 1, 0, 1, 0])
    story = settled_story()
    surface = story(trees).surface
    conditioned = poutine.condition(story, {"surface": surface})
    assert torch.equal(evidence_of_trees(conditioned, trees), evidence_of_trees(story, trees, surface))


@pytest.mark.parametrize("words", [1, 2, 3, 4])
def test_the_order_of_the_story(words: int) -> None:
    """Children come before heads, a slot after all that sprout there and before all that it is inside of."""
    shapes = [*projective_trees(words), [0]]
    forest = tree_batch(shapes, [0] * sum(map(len, shapes))).forest
    at_node, at_slot = torch.full((forest.num_nodes,), -1), torch.full((forest.num_slots,), -1)
    for height, (nodes, slots) in enumerate(forest.heights()):
        assert bool((at_node[nodes] < 0).all())
        assert bool((at_slot[slots] < 0).all())
        at_node[nodes], at_slot[slots] = height, height
    for node in range(forest.num_nodes):
        left, right = int(forest.left_slot[node]), int(forest.right_slot[node])
        assert at_node[node] <= min(at_slot[left], at_slot[right])
        assert all(0 <= at_slot[slot] < at_node[node] for slot in range(left + 1, right))


def test_surfaces_join_under_each_other() -> None:
    joined: Tensor = join_surfaces([padded([(1,), ()]), padded([(2, 1), (0,)])])
    assert joined.tolist() == [[1, -1], [-1, -1], [2, 1], [0, -1]]
