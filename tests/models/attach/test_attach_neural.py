"""The neural attach model: what it sees, its gradients, its draws."""

import itertools
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch
from brute_force import String, chi_square_is_plausible
from encoders import MadeUp
from problems import (
    NOTHING,
    evidence_of_trees,
    padded,
    scores_of,
    seen,
    seen_several_times,
    slope,
    tree_batch,
)
from pyro import poutine
from torch import Tensor

from pyropunct.fitted.recipes import Recipe
from pyropunct.inference.inside import log_evidence
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.problem import choice_start
from pyropunct.inference.pyro.collapse import collapse_trees, tree_problem
from pyropunct.inference.pyro.elbo import scale_likelihood
from pyropunct.models.attach import neural
from pyropunct.models.attach.attributes import Attributes
from pyropunct.models.attach.log_linear import LogLinearAttach
from pyropunct.models.attach.neural import SHARE, NeuralAttach, _edges
from pyropunct.models.attach.views import views_of
from pyropunct.models.channel.window import SlidingWindow
from pyropunct.models.checking import check_attach
from pyropunct.models.story import Story
from pyropunct.models.trees import PRETRAINED, TreeBatch
from pyropunct.punctuator import Punctuator
from pyropunct.text.marks import ABBREVIATION_DOT, START, UNKNOWN
from pyropunct.treebank.tree import Tree
from pyropunct.vocabulary import Vocabulary

MARKS = ("^", ",", "(", ")")
PAIRS = [
    [NOTHING, ((), (1,)), ((1,), ()), ((1,), (1,)), ((2,), (3,))],
    [NOTHING, ((), (1,)), ((2,), (3,)), ((2, 1), (3,))],
    [NOTHING],
]
HEADS = [[2, 0, 5, 5, 2, 5], [2, 0, 5, 5, 2, 5], [0, 1, 1], [0]]
SLOTS = 20


def trees(*heads: list[int], features: int = 3) -> TreeBatch:
    """Trees with random words, which have so many pretrained features each."""
    heads = heads or tuple(HEADS)
    generator = torch.Generator().manual_seed(7)
    size = sum(map(len, heads))
    columns = {
        name: torch.randint(0, 3, (size,), generator=generator).tolist()
        for name in ("relation", "tag", "form", "shape")
    }
    batch = tree_batch(list(heads), columns.pop("relation"), **columns)
    more = {PRETRAINED: torch.randn(size, features, generator=generator).half()} if features else {}
    return replace(batch, more=more)


def random_surface(seed: int, slots: int = SLOTS) -> Tensor:
    """Surface strings of all slots, half of them empty."""
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(0, 4, (slots,), generator=generator).sub(1).clamp(0).tolist()
    return padded([tuple(torch.randint(0, 4, (n,), generator=generator).tolist()) for n in lengths])


def attach_of(some: TreeBatch, families: tuple[str, ...] = ("symmetry", "inside")) -> NeuralAttach:
    """With random weights, not in training; it reads pretrained features if the words have such."""
    torch.manual_seed(3)
    size = some.more[PRETRAINED].shape[-1] if PRETRAINED in some.more else 0
    inventory = Inventory(4, PAIRS, 0)
    attach = NeuralAttach(inventory, MARKS, 3, 3, 3, families, least=1, num_pretrained=size)
    attach.learn([seen(some, random_surface(seed, some.forest.num_slots)) for seed in range(6)])
    attach.weights = 0.3 * torch.randn(int(attach.starts[-1]))
    for parameter in attach.parameters():
        parameter.data = 0.3 * torch.randn_like(parameter)
    return attach.eval()


def per_node(attach: NeuralAttach, some: TreeBatch, surface: Tensor) -> list[Tensor]:
    sizes = np.diff(choice_start(attach.inventory, some.relation)).tolist()
    return list(scores_of(attach, some, surface).detach().split(sizes))


def changed_nodes(attach: NeuralAttach, some: TreeBatch, one: Tensor, other: Tensor) -> set[int]:
    """The nodes whose scores differ between two surfaces."""
    both = zip(per_node(attach, some, one), per_node(attach, some, other), strict=True)
    return {node for node, (first, second) in enumerate(both) if not torch.equal(first, second)}


@pytest.mark.parametrize("features", [0, 3])
def test_a_constituent_sees_just_the_marks_strictly_inside(features: int) -> None:
    """It sees no others, and a new mark changes the scores of all constituents that have its slot inside."""
    some = trees(features=features)
    attach, forest = attach_of(some), some.forest
    check_attach(attach, some)
    empty: list[String] = [()] * SLOTS
    left, right = forest.left_slot.tolist(), forest.right_slot.tolist()
    for slot in range(SLOTS):
        shown = padded([*empty[:slot], (1,), *empty[slot + 1 :]])
        inside = {node for node in range(len(left)) if left[node] < slot < right[node]}
        several = {node for node in inside if some.relation[node] < 2}  # the others have one pair alone
        assert changed_nodes(attach, some, padded(empty), shown) >= several


def test_marks_are_told_apart_by_kind_place_and_number() -> None:
    some = trees()
    attach = attach_of(some)
    root = 1
    surfaces = [
        padded([(0,), *strings, *[()] * (SLOTS - 6)])
        for strings in itertools.permutations([(1,), (2, 3), (), (), (3,)])
    ]
    scores = {tuple(per_node(attach, some, surface)[root].tolist()) for surface in surfaces}
    assert len(scores) == len({tuple(surface.flatten().tolist()) for surface in surfaces})


def test_every_word_is_seen_by_every_constituent_of_its_tree_and_by_no_other() -> None:
    some, surface = trees(), random_surface(0)
    attach, tree = attach_of(some), some.forest.tree.tolist()
    before = per_node(attach, some, surface)
    for name in ("form", "tag", PRETRAINED):
        for word in range(len(tree)):
            if name == PRETRAINED:
                features = some.more[PRETRAINED].clone()
                features[word] = features[word].flip(0)
                other = replace(some, more={PRETRAINED: features})
            else:
                column = getattr(some, name).clone()
                column[word] = (column[word] + 1) % 3
                other = replace(some, **{name: column})
            after = per_node(attach, other, surface)
            differ = [
                not torch.allclose(a, b, rtol=0, atol=1e-12) for a, b in zip(before, after, strict=True)
            ]
            for node, different in enumerate(differ):
                if some.relation[node] < 2:
                    assert different == (tree[node] == tree[word])


def test_words_of_which_nothing_is_known_have_features_of_zero() -> None:
    """As those of trees that the model of trees has made."""
    some, surface = trees(), random_surface(0)
    attach = attach_of(some)
    zeros = replace(some, more={PRETRAINED: torch.zeros(16, 3)})
    found = scores_of(attach, replace(some, more={}), surface)
    assert torch.equal(found, scores_of(attach, zeros, surface))
    assert not torch.equal(found, scores_of(attach, some, surface))


@pytest.mark.parametrize("features", [0, 3])
def test_scores_do_not_depend_on_the_other_trees_of_the_batch(features: int) -> None:
    some, surface = trees(features=features), random_surface(0)
    attach = attach_of(some)
    together = scores_of(attach, some, surface)
    alone = []
    for tree in range(len(some)):
        slots = some.forest.slots(tree)
        alone.append(scores_of(attach, some.pick([tree]), surface[slots.start : slots.stop]))
    torch.testing.assert_close(together, torch.cat(alone), rtol=1e-10, atol=1e-12)


def test_exactly_one_edge_between_two_words() -> None:
    some = trees()
    edges, forest = _edges(Attributes(some)), some.forest
    outer = np.concatenate([forest.slot_start.numpy()[:-1], forest.slot_start.numpy()[1:] - 1])
    assert (edges[outer] == -1).all()
    assert sorted(edges[edges >= 0]) == [node for node in range(16) if forest.head[node] >= 0]
    for slot, node in enumerate(edges.tolist()):
        if node >= 0:
            head = int(forest.head[node])
            assert slot == int((forest.right_slot if node < head else forest.left_slot)[node])


# Views


@pytest.mark.parametrize("families", [("symmetry",), ("symmetry", "inside", "head")])
def test_scores_of_views_are_those_of_the_nodes(families: tuple[str, ...]) -> None:
    some = trees()
    attach, surfaces = attach_of(some, families), [random_surface(seed) for seed in range(3, 9)]
    found = attach.scorer(some)(seen_several_times(some, surfaces))
    each = [per_node(attach, some, surface) for surface in surfaces]
    expected = [scores[node] for node in range(some.forest.num_nodes) for scores in each]
    np.testing.assert_allclose(found.detach().numpy(), torch.cat(expected).numpy(), rtol=1e-10, atol=1e-12)
    assert attach.reads_surface


# Gradients


def test_gradients_agree_with_finite_differences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neural, "NETWORKS", 1)
    some = trees([2, 0, 5, 5, 2, 5])
    attach, surface = attach_of(some), random_surface(1, 7)
    mix = torch.randn(int(choice_start(attach.inventory, some.relation)[-1]))

    def total() -> Tensor:
        return scores_of(attach, some, surface) @ mix

    attach.zero_grad()
    total().backward()
    for name, parameter in attach.networks.named_parameters():
        start, direction = parameter.data, torch.randn_like(parameter)

        def moved(step: Tensor) -> Tensor:
            parameter.data = start + step * direction  # noqa: B023, called at once
            return total().detach()

        expected = slope(moved, torch.zeros(()), (), 1e-6)
        parameter.data = start
        assert parameter.grad is not None, name
        assert float((parameter.grad * direction).sum()) == pytest.approx(expected, rel=1e-5, abs=1e-7), name


def test_nothing_is_left_out_but_in_training() -> None:
    some, surface = trees(), random_surface(0)
    attach = attach_of(some)
    assert torch.equal(scores_of(attach, some, surface), scores_of(attach, some, surface))
    nodes, constituents = Attributes(some), attach.networks[0].constituents
    assert torch.equal(constituents(some, nodes), constituents(some, nodes))
    attach.train()
    assert not torch.equal(constituents(some, nodes), constituents(some, nodes))


# Training: the log-linear model learns as if alone, and networks learn its posterior


def without_dropout(attach: NeuralAttach) -> None:
    """To be used with `neural.UNKNOWN` at 0."""
    for module in attach.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0


def log_linear_of(attach: NeuralAttach, some: TreeBatch) -> LogLinearAttach:
    """Its log-linear member."""
    alone = LogLinearAttach(attach.inventory, MARKS, attach.families, least=1)
    alone.learn([seen(some, random_surface(seed, some.forest.num_slots)) for seed in range(6)])
    alone.weights = attach.weights
    return alone


def normalised(scores: Tensor, attach: NeuralAttach, some: TreeBatch) -> Tensor:
    sizes = np.diff(choice_start(attach.inventory, some.relation)).tolist()
    return torch.cat([part.log_softmax(0) for part in scores.split(sizes)])


def test_the_model_is_a_logarithmic_opinion_pool() -> None:
    some, surface = trees(), random_surface(0)
    attach = attach_of(some)
    nodes, views = Attributes(some), views_of(some.forest, surface)
    members = [network(network.constituents(some, nodes), nodes, views) for network in attach.networks]
    shares = [SHARE / len(members)] * len(members)
    members, shares = [scores_of(log_linear_of(attach, some), some, surface), *members], [1 - SHARE, *shares]
    pooled = [share * normalised(one, attach, some) for share, one in zip(shares, members, strict=True)]
    expected = normalised(torch.stack(pooled).sum(0), attach, some)
    torch.testing.assert_close(normalised(scores_of(attach, some, surface), attach, some), expected)


def total(story: Story, some: TreeBatch, surface: Tensor, scale: float) -> Tensor:
    """What training maximises, without priors."""
    return (
        poutine.trace(collapse_trees(scale_likelihood(story, scale))).get_trace(some, surface).log_prob_sum()
    )


def test_gradients_in_training(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of log p(x | T) for the log-linear model, of the expected log p_k for a network."""
    monkeypatch.setattr(neural, "UNKNOWN", 0.0)
    monkeypatch.setattr(neural, "NETWORKS", 1)
    some = trees()
    attach, channel = attach_of(some), SlidingWindow(4)
    channel.edit_logits = torch.randn(4, 4, 4)
    story = Story(attach.inventory, attach, channel).eval()
    surface = story(some).surface
    assert int((surface >= 0).sum()) > 10
    without_dropout(attach)
    (network,) = attach.networks
    for parameter in network.parameters():
        parameter.data = 0.1 * torch.randn_like(parameter)
    attach.weights = attach.weights.detach().requires_grad_()
    scale = 2.5
    story.train()
    parameters = list(network.parameters())
    found = torch.autograd.grad(total(story, some, surface, scale), [attach.weights, *parameters])

    story.attach = log_linear_of(attach, some)
    alone = total(story, some, surface, scale)
    (expected,) = torch.autograd.grad(alone, attach.weights)
    torch.testing.assert_close(found[0], expected, rtol=1e-8, atol=1e-10)

    problem = tree_problem(story, some, surface)
    log_pairs = problem.log_pairs.detach().requires_grad_()
    evidence = log_evidence(replace(problem, log_pairs=log_pairs)).sum()
    (posterior,) = torch.autograd.grad(evidence, log_pairs)
    nodes, views = Attributes(some), views_of(some.forest, surface)
    own = normalised(network(network.constituents(some, nodes), nodes, views), attach, some)
    slopes = torch.autograd.grad(scale * (posterior * own).sum(), parameters)
    for one, other in zip(found[1:], slopes, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("training", [True, False])
def test_a_story_is_told_in_either_mode(training: bool) -> None:
    """Told forward there is nothing to learn, so the trace has the density of the story, and no more."""
    some = trees()
    attach, channel = attach_of(some), SlidingWindow(4)
    channel.edit_logits = torch.randn(4, 4, 4)
    story = Story(attach.inventory, attach, channel).train(training)
    told = poutine.trace(story).get_trace(some)
    surface = told.nodes["_RETURN"]["value"].surface
    assert "networks" not in told
    story.attach = log_linear_of(attach, some) if training else attach
    again = poutine.trace(poutine.condition(story, {"pairs": told.nodes["_RETURN"]["value"].choices}))
    expected = again.get_trace(some, surface).log_prob_sum()
    assert float(told.log_prob_sum().detach()) == pytest.approx(float(expected.detach()), rel=1e-5)


def test_each_network_gets_its_turn() -> None:
    some, surface = trees(), random_surface(0)
    attach = attach_of(some).train()
    seen = set()
    for _ in range(30):
        attach.zero_grad()
        with poutine.trace() as tracing:
            attach.observed(some, views_of(some.forest, surface))
        tracing.trace.nodes["networks"]["fn"].log_factor.backward()
        slopes = [network.deep.weight.grad for network in attach.networks]
        seen.add(tuple(slope is not None and bool(slope.any()) for slope in slopes))
    count = len(attach.networks)
    assert seen == {tuple(k == chosen for k in range(count)) for chosen in range(count)}


# Draws


TOKENS = (START, ABBREVIATION_DOT, UNKNOWN, ",", "(")
VOCABULARY = Vocabulary(
    tokens=TOKENS,
    relations=("", "a", "b"),
    tags=("", "X", "Y"),
    forms=("", "one", "two"),
    pairs=((NOTHING,), (NOTHING, ((), (3,)), ((4,), ())), (NOTHING, ((3,), (4,)), ((), (4, 3)))),
)
TREE = Tree((2, 0, 4, 2), ("a", "b", "a", "b"), ("X", "Y", "Y", "X"), ("one", "two", "three", "one"))


def model_of(direction: str, size: int = 0) -> Punctuator:
    """A model with random weights, which reads ``size`` pretrained features."""
    trees = VOCABULARY.encode_trees([TREE])
    torch.manual_seed(5)
    families = ("symmetry", "inside")
    inventory = VOCABULARY.inventory
    attach = NeuralAttach(inventory, TOKENS, 3, 3, 3, families, least=1, num_pretrained=size)
    attach.learn([seen(trees, random_surface(seed, 5)) for seed in range(6)])
    attach.weights = 0.3 * torch.randn(int(attach.starts[-1]))
    for network in attach.networks:
        for part in network.pairs.parts:
            part.weight.data *= 10
    channel = SlidingWindow(len(TOKENS), direction)
    channel.edit_logits = torch.randn(5, 5, 4)
    story, pretrained = Story(inventory, attach, channel).eval(), MadeUp(size) if size else None
    return Punctuator(VOCABULARY, Recipe(), story, {}, attach_pretrained=pretrained)


def agree(model: Punctuator, shown: list[tuple[tuple[str, ...], ...]]) -> bool:
    """Whether surfaces of the tree are as frequent as the inside algorithm says."""
    counts = Counter(shown)
    assert len(counts) > 5
    batch = model.encode_trees([TREE] * len(counts)), VOCABULARY.encode_surfaces(list(counts))
    chances = evidence_of_trees(model.story, *batch).exp().tolist()
    return chi_square_is_plausible(list(counts.values()), chances, len(shown))


@pytest.mark.parametrize(("direction", "features"), [("left", 0), ("right", 3)])
def test_frequencies_of_draws(direction: str, features: int) -> None:
    """Told bottom-up, many at a time, the story has the probabilities that the inside algorithm gives."""
    model = model_of(direction, features)
    (found,) = model.draws([TREE], 5000, seed=3)
    assert agree(model, [tuple(found.surface(draw)) for draw in range(len(found))])


def test_frequencies_of_the_story_told_forward() -> None:
    model = model_of("left", 3)
    surface = model.story(model.encode_trees([TREE] * 1000)).surface.tolist()
    shown = [VOCABULARY.decode_string(row) for row in surface]
    assert agree(model, [tuple(shown[at : at + 5]) for at in range(0, len(shown), 5)])
