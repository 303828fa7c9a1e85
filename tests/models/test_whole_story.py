"""Whole stories: trees, punctemes and surfaces."""

from collections.abc import Callable

import pytest
import torch
from problems import seen, tiny_story, tree_batch, window
from pyro import poutine

from pyropunct.inference.pyro.collapse import collapse_trees
from pyropunct.inference.pyro.story_state import StoryState
from pyropunct.inference.pyro.svi import scale_likelihood
from pyropunct.models.attach.log_linear import LogLinearAttach
from pyropunct.models.channel.window import SlidingWindow
from pyropunct.models.story import Story
from pyropunct.models.syntax import HeadOutward
from pyropunct.text.marks import START
from pyropunct.treebank.tree import Tree
from pyropunct.vocabulary import Vocabulary, build_vocabulary

GREETING = Tree((0, 1), ("root", "vocative"), ("INTJ", "PROPN"), ("Hello", "Ann"))
MEETING = Tree(
    (4, 3, 1, 0, 4), ("nsubj", "nmod", "appos", "root", "advmod"),
    ("PROPN", "PRON", "NOUN", "VERB", "ADV"), ("Ann", "our", "boss", "came", "late"),
)  # fmt: skip
TREEBANK = [
    (GREETING, ((START,), (",",), ("!",))),
    (MEETING, ((START,), (",",), (), (",",), (), (".",))),
] * 5


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return build_vocabulary(TREEBANK)


def dreaming(vocabulary: Vocabulary) -> Story:
    """A story with all its parts, fitted to the treebank by counting or not at all."""
    encoded = [
        (vocabulary.encode_trees([tree]), vocabulary.encode_surface(marks)) for tree, marks in TREEBANK
    ]
    attach = LogLinearAttach(vocabulary.inventory, vocabulary.tokens)
    attach.learn([seen(*some) for some in encoded])
    syntax = HeadOutward(len(vocabulary.relations), len(vocabulary.tags))
    syntax.fit_counts([trees for trees, _ in encoded])
    return Story(vocabulary.inventory, attach, SlidingWindow(len(vocabulary.tokens)), syntax)


def test_a_dream_has_the_same_probability_when_observed(vocabulary: Vocabulary) -> None:
    """Tree, punctemes and surface, drawn bottom-up and seen all at once."""
    story = dreaming(vocabulary)
    story.attach.weights = torch.randn(int(story.attach.starts[-1]))
    story.channel.edit_logits = torch.randn(story.channel.num_tokens, story.channel.num_tokens, 4)
    trace = poutine.trace(story).get_trace()
    dream = trace.nodes["_RETURN"]["value"]
    known = poutine.condition(story.joint, data={"pairs": dream.choices})
    again = poutine.trace(known).get_trace(dream.trees, dream.surface)
    assert float(again.log_prob_sum()) == pytest.approx(float(trace.log_prob_sum()), rel=1e-12)


@pytest.mark.parametrize("scale", [1.0, 2.5])
def test_joint_probability(scale: float) -> None:
    """log p(T, x) = log p(T) + log p(x | T)."""
    story, trees = tiny_story(window("left")), tree_batch([[2, 0], [0]], [0, 1, 0], tag=[1, 0, 1])
    story.attach.table = torch.randn(len(story.inventory.rows))
    surface = torch.full((5, 1), -1)
    surface[[0, 3]] = 0
    with pytest.raises(ValueError, match="no syntax model"):
        story.joint(trees, surface)
    story.syntax = HeadOutward(3, 2)

    def log_prob(model: Callable[..., StoryState]) -> float:
        scaled = collapse_trees(scale_likelihood(model, scale))
        return float(poutine.trace(scaled).get_trace(trees, surface).log_prob_sum())

    syntax = float(poutine.trace(story.syntax).get_trace(trees).log_prob_sum())
    assert log_prob(story.joint) == pytest.approx(log_prob(story) + scale * syntax, rel=1e-13)
