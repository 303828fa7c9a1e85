from collections.abc import Callable
from typing import NamedTuple

import pyro
import pytest
import torch
from problems import seen, tiny_story, tree_batch, window
from pyro import poutine
from torch import Tensor

from pyropunct.inference.pyro.collapse import collapse_trees
from pyropunct.inference.pyro.svi import scale_likelihood
from pyropunct.inference.pyro.told import Told
from pyropunct.models.attach.log_linear import LogLinearAttach
from pyropunct.models.channel.window import SlidingWindow
from pyropunct.models.story import Story
from pyropunct.models.syntax import HeadOutward
from pyropunct.models.trees import TreeBatch, join_surfaces
from pyropunct.tasks.explain.tree_text import surface_texts, underlying_brackets
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


class Punctuated(NamedTuple):
    """What is shown of a story: its trees, T' and x."""

    trees: TreeBatch
    choices: Tensor
    surface: Tensor


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return build_vocabulary(TREEBANK)


def told(vocabulary: Vocabulary) -> Punctuated:
    """The treebank's first two sentences, with commas around the apposition and before the vocative."""
    trees = vocabulary.encode_trees([tree for tree, _ in TREEBANK[:2]])
    surface = join_surfaces([vocabulary.encode_surface(surface) for _, surface in TREEBANK[:2]])
    comma, period, shout = (vocabulary.token_number[mark] for mark in ",.!")
    pairs = {
        "vocative": ((comma,), ()),
        "appos": ((comma,), (comma,)),
        "root": ((), (period,)),
    }
    choices = []
    for node, relation in enumerate(trees.relation.tolist()):
        pair = pairs.get(vocabulary.relations[relation], ((), ()))
        choices.append(vocabulary.inventory.pairs[relation].index(((), (shout,)) if node == 0 else pair))
    return Punctuated(trees, torch.tensor(choices), surface)


def without_words(punctuated: Punctuated) -> Punctuated:
    trees = punctuated.trees
    nothing = torch.zeros_like(trees.form)
    return punctuated._replace(
        trees=TreeBatch(trees.forest, trees.relation, trees.tag, form=nothing, shape=nothing)
    )


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


def test_tags_stand_for_words(vocabulary: Vocabulary) -> None:
    assert surface_texts(without_words(told(vocabulary)), vocabulary) == [
        "INTJ , PROPN !",
        "PROPN , PRON NOUN , VERB ADV .",
    ]


def test_known_words_are_shown(vocabulary: Vocabulary) -> None:
    assert surface_texts(told(vocabulary), vocabulary) == [
        "Hello , Ann !",
        "Ann , our boss , came late .",
    ]


def test_brackets_hold_relations_and_punctemes(vocabulary: Vocabulary) -> None:
    assert underlying_brackets(without_words(told(vocabulary)), vocabulary) == [
        "[root INTJ [vocative , PROPN] !]",
        "[root [nsubj PROPN [appos , [nmod PRON] NOUN ,]] VERB [advmod ADV] .]",
    ]


def test_what_training_has_not_shown(vocabulary: Vocabulary) -> None:
    odd = vocabulary.encode_trees([Tree((0,), ("odd",), ("ODD",), ("odd",))])
    punctuated = Punctuated(odd, torch.tensor([0]), vocabulary.encode_surface(((START,), ())))
    assert surface_texts(punctuated, vocabulary) == ["_"]
    assert underlying_brackets(punctuated, vocabulary) == ["[_ _]"]


def test_a_dream(vocabulary: Vocabulary) -> None:
    """Trees without words go through a model with all features, one at a time and many at once."""
    story = dreaming(vocabulary)
    for seed in range(5):
        pyro.set_rng_seed(seed)
        dream = story()
        assert len(surface_texts(dream, vocabulary)) == 1
    many = story(story.syntax(num_trees=20))
    texts, brackets = surface_texts(many, vocabulary), underlying_brackets(many, vocabulary)
    assert len(texts) == len(brackets) == 20
    shown = [sum(piece == "_" or piece in vocabulary.tags for piece in text.split()) for text in texts]
    assert shown == many.trees.forest.node_start.diff().tolist()
    assert [text.count("[") for text in brackets] == shown
    assert any("," in text for text in texts)


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

    def log_prob(model: Callable[..., Told]) -> float:
        scaled = collapse_trees(scale_likelihood(model, scale))
        return float(poutine.trace(scaled).get_trace(trees, surface).log_prob_sum())

    syntax = float(poutine.trace(story.syntax).get_trace(trees).log_prob_sum())
    assert log_prob(story.joint) == pytest.approx(log_prob(story) + scale * syntax, rel=1e-13)
