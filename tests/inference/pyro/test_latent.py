"""The site of latent trees against the definition of the joint probability, tree by tree."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from brute_force import projective_trees
from problems import Table, inventory, padded, settled, tiny_story, tree_batch, window
from pyro import poutine
from pyro.infer import Trace_ELBO
from pyro.infer.autoguide import AutoDelta
from torch import Tensor

from pyropunct.inference.forest import forest_of
from pyropunct.inference.packed import packed_forest
from pyropunct.inference.pyro.collapse import collapse_trees, run_story
from pyropunct.inference.pyro.decode import infer_trees
from pyropunct.inference.pyro.posterior import ImpossibleSurfaceError
from pyropunct.models.attach.attach_model import Attach
from pyropunct.models.story import Story
from pyropunct.models.trees import READING, TREEBANK, LatentTrees

WORDS = 3
SURFACE = padded([(0,), (), (), (2,)])


def latent() -> LatentTrees:
    forest = packed_forest([np.ones((WORDS, WORDS + 1), np.bool_)])
    arcs = torch.randn(WORDS, WORDS + 1, dtype=torch.double)[forest.word, forest.head + 1]
    words = tree_batch([[0, 1, 1]], [0] * WORDS, tag=[0, 1, 2])
    return LatentTrees(words, forest, forest.word % 3, arcs)


def masks(trees: LatentTrees) -> list[Tensor]:
    """Each tree, as a value of the site."""
    forest, found = trees.forest, []
    for heads in projective_trees(WORDS):
        shape, mask = forest_of([heads]), torch.zeros(forest.num_nodes, dtype=torch.long)
        for word, head in enumerate(heads):
            same = (forest.word == word) & (forest.head == head - 1)
            same &= (forest.left_slot == shape.left_slot[word]) & (
                forest.right_slot == shape.right_slot[word]
            )
            mask[same] = 1
        found.append(mask)
    return found


@pytest.fixture
def story() -> Story:
    return Story(inventory(), settled(Table(inventory())), window("left"))


def log_probs(model: object, *args: object) -> dict[str, float]:
    """The log-probability of each site."""
    trace = poutine.trace(model).get_trace(*args)
    trace.compute_log_prob()
    return {
        name: float(site["log_prob_sum"].detach())
        for name, site in trace.nodes.items()
        if site["type"] == "sample"
    }


def test_scores_become_probabilities_of_trees() -> None:
    """Of several sentences, whose trees have several attachments to the root; all trees add up to 1."""
    one = latent()
    trees = LatentTrees.of_scores(one.words, one.forest, one.relation, 3 * one.log_arcs)
    chances = torch.stack([trees.log_arcs[mask > 0].sum().exp() for mask in masks(trees)])
    torch.testing.assert_close(chances.sum(), torch.ones((), dtype=torch.double))


def test_equation_1(story: Story) -> None:
    trees = latent()
    by_tree = []
    for mask in masks(trees):
        given = trees.trees(mask)
        of_tree = float(trees.log_arcs[mask > 0].sum())
        alone = log_probs(collapse_trees(story), given, SURFACE)["surface"]
        both = log_probs(collapse_trees(poutine.condition(story, {"tree": mask})), trees, SURFACE)
        assert both == pytest.approx({"tree": of_tree, "surface": alone})
        by_tree.append(of_tree + alone)
    summed = log_probs(collapse_trees(story), trees, SURFACE)
    assert summed == pytest.approx({"surface": float(torch.tensor(by_tree).logsumexp(0))})
    # T is given to a model that decodes, too
    for mask, joint in zip(masks(trees), by_tree, strict=True):
        decoding = poutine.condition(infer_trees(story), {"tree": mask})
        found = log_probs(decoding, trees, SURFACE)
        assert found["surface"] + found["tree"] == pytest.approx(joint)


def test_decoded_trees_are_drawn_from_their_posterior(story: Story) -> None:
    trees = latent()
    found = [poutine.trace(infer_trees(story)).get_trace(trees, SURFACE) for _ in range(150)]
    first = found[0]
    assert [name for name in ("surface", "tree", "pairs") if name in first.nodes] == [
        "surface",
        "tree",
        "pairs",
    ]
    drawn = torch.stack([trace.nodes["tree"]["value"] for trace in found])
    for mask in masks(trees):
        same = (drawn == mask).all(1)
        if same.any():
            trace = found[int(same.nonzero()[0, 0])]
            trace.compute_log_prob()
            chance = math.exp(float(trace.nodes["tree"]["log_prob_sum"]))
            deviation = (chance * (1 - chance) / len(found)) ** 0.5
            assert float(same.double().mean()) == pytest.approx(chance, abs=4.5 * deviation + 1e-9)
    told = first.nodes["_RETURN"]["value"]
    assert told.trees.forest.num_nodes == WORDS
    assert told.choices.shape == (WORDS,)


def test_marginals_of_items(story: Story) -> None:
    """Of each word, the probabilities of the items and of their pairs; the last category is absence."""
    trees = latent()
    trees = replace(trees, log_arcs=trees.log_arcs.clone())
    trees.log_arcs[0] = -torch.inf
    table = run_story(story, trees, SURFACE).posterior.marginals().probs
    possible = [mask for mask in masks(trees) if trees.log_arcs[mask > 0].isfinite().all()]
    by_tree = torch.tensor(
        [
            float(trees.log_arcs[mask > 0].sum())
            + log_probs(collapse_trees(story), trees.trees(mask), SURFACE)["surface"]
            for mask in possible
        ]
    )
    present = (by_tree.softmax(0).unsqueeze(-1) * torch.stack(possible)).sum(0)
    torch.testing.assert_close(table[:, :-1].sum(-1), present)
    torch.testing.assert_close(table.sum(-1), torch.ones(trees.forest.num_nodes))
    words = torch.zeros(WORDS).index_add(0, torch.as_tensor(trees.forest.word), table[:, :-1].sum(-1))
    torch.testing.assert_close(words, torch.ones(WORDS))


def test_told_forward_the_tree_comes_first_and_a_trace_replays(story: Story) -> None:
    trees = latent()
    trace = poutine.trace(story).get_trace(trees)
    assert set(trace.nodes) >= {"tree", "pairs", "surface"}
    again = poutine.trace(poutine.replay(story, trace)).get_trace(trees)
    assert float(again.log_prob_sum()) == pytest.approx(float(trace.log_prob_sum()))
    drawn = torch.stack([poutine.trace(story).get_trace(trees).nodes["tree"]["value"] for _ in range(150)])
    total = torch.stack([trees.log_arcs[mask > 0].sum() for mask in masks(trees)]).softmax(0)
    for mask, chance in zip(masks(trees), total.tolist(), strict=True):
        deviation = (chance * (1 - chance) / len(drawn)) ** 0.5
        assert float((drawn == mask).all(1).double().mean()) == pytest.approx(
            chance, abs=4.5 * deviation + 1e-9
        )


def test_svi_learns_parser_and_story() -> None:
    """The loss is log p(x | words) and the priors; its gradients reach the weights of arcs."""
    trees = latent()
    arcs = trees.log_arcs.requires_grad_()
    story = Story(inventory(), Table(inventory()), window("left"))
    guide = AutoDelta(collapse_trees(story))
    loss = Trace_ELBO().differentiable_loss(collapse_trees(story), guide, trees, SURFACE)
    loss.backward()
    table = guide.median()["attach.table"].detach()
    fixed = Story(inventory(), Table(inventory()), window("left"))
    values = poutine.condition(fixed, {"attach.table": table})
    found = log_probs(collapse_trees(values), trees, SURFACE)
    assert float(loss.detach()) == pytest.approx(-sum(found.values()))
    assert arcs.grad is not None
    per_word = torch.zeros(WORDS, dtype=torch.double).index_add(0, trees.forest.word, -arcs.grad)
    torch.testing.assert_close(per_word, torch.ones(WORDS, dtype=torch.double))  # posteriors of its heads


def test_trees_keep_what_is_known_of_words_and_edges() -> None:
    read = torch.randn(WORDS + 1, inventory().num_tokens)
    trees = latent()
    words = replace(trees.words, more={TREEBANK: torch.arange(WORDS)})
    trees = replace(trees, words=words).with_reading(read)
    for mask in masks(trees):
        found = trees.trees(mask)
        edges = torch.stack([read[found.forest.left_slot], read[found.forest.right_slot]], 1)
        assert torch.equal(found.more[READING], edges)
        assert torch.equal(found.more[TREEBANK], words.more[TREEBANK])


@pytest.mark.parametrize("regularised", [None, False, True])
@pytest.mark.parametrize("is_training", [False, True])
def test_decoded_trees_are_regularised_as_latent_ones(is_training: bool, regularised: bool | None) -> None:
    story = tiny_story(window("left"), economy_weight=1.0).train(is_training)
    story.attach = settled(Table(inventory()))
    told = infer_trees(story)(latent(), SURFACE, regularised=regularised)
    assert (told.inputs.cost is not None) == (is_training if regularised is None else regularised)


def test_one_impossible_sentence_of_two_is_told(story: Story) -> None:
    forest = packed_forest([np.ones((WORDS, WORDS + 1), np.bool_)] * 2)
    words = tree_batch([[0, 1, 1]] * 2, [0] * 2 * WORDS, tag=[0, 1, 2] * 2)
    trees = LatentTrees(words, forest, forest.word % 3, torch.zeros(forest.num_nodes))
    surface = padded([(0,), (), (), (2,), (0,), (1,) * 20, (), (2,)])
    with pytest.raises(ImpossibleSurfaceError, match=r"tree 1 of the batch, slot 1"):
        infer_trees(story)(trees, surface)


def test_what_is_refused(story: Story) -> None:
    trees = latent()
    with pytest.raises(NotImplementedError, match="without collapse_trees"):
        collapse_trees(story)(trees)
    with pytest.raises(ValueError, match="one for each word"):
        trees.trees(torch.zeros(trees.forest.num_nodes))
    several = Story(inventory(), settled(Table(inventory())), window("left"))
    several.attach.table = torch.randn(2, 1, len(inventory().rows))
    with pytest.raises(NotImplementedError, match="put no plates around latent trees"):
        infer_trees(several)(trees, SURFACE)
    whole = Story(inventory(), Attach(inventory()), window("left"))
    with pytest.raises(ValueError, match="use LocalAttach"):
        collapse_trees(whole)(trees, SURFACE)
