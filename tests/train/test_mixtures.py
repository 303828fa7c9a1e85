"""Training on sentences whose trees are latent: a mixture over a few trees of each."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyro
import pytest
import torch

from pyropunct.fitted.recipes import Recipe
from pyropunct.nets.divergence import DivergedError
from pyropunct.nets.parser import WeightedTree
from pyropunct.train.training import Training
from pyropunct.treebank.sentence import Sentence
from pyropunct.vocabulary import build_vocabulary

pytestmark = pytest.mark.usefixtures("single_precision")

RECIPE = Recipe(
    epochs=2, batch_size=7, least=1, families=("symmetry", "head"), optimiser="adam", economy_weight=0
)


def training(sentences: Sequence[Sentence], **settings: Any) -> Training:
    vocabulary = build_vocabulary([(sentence.tree, sentence.surface) for sentence in sentences])
    return Training(vocabulary, sentences, sentences[:5], RECIPE, 0, "cpu", **settings)


def with_flat_trees(sentences: Sequence[Sentence]) -> list[list[WeightedTree]]:
    """The tree of each sentence, and one in which all words depend on the first."""
    found = []
    for sentence in sentences:
        flat = replace(sentence.tree, heads=(0, *[1] * (len(sentence.tree) - 1)))
        found.append([WeightedTree(sentence.tree, 0.75), WeightedTree(flat, 0.25)])
    return found


@pytest.fixture
def mixed(train: list[Sentence]) -> Training:
    trees = with_flat_trees(train[:20])
    both = [
        replace(sentence, tree=one.tree) for sentence, some in zip(train, trees, strict=False) for one in some
    ]
    return training(both, mixtures=[[one.weight for one in some] for some in trees])


def test_one_tree_each_is_training_as_usual(train: list[Sentence]) -> None:
    plain = training(train[:20])
    plain.run()
    alone = training(train[:20], mixtures=[[1.0]] * 20)
    alone.run()
    assert [epoch.objective for epoch in alone.epochs] == pytest.approx(
        [epoch.objective for epoch in plain.epochs], rel=1e-6
    )
    assert alone.fingerprint() != plain.fingerprint()


def test_the_objective_is_that_of_the_mixture(mixed: Training, train: list[Sentence]) -> None:
    mixed.run()
    assert mixed.epoch_size == 20
    likelihood = mixed.punctuator().log_prob_over_trees(train[:20], with_flat_trees(train[:20]))
    with torch.no_grad(), pyro.settings.context(module_local_params=True):
        losses = torch.stack([mixed._objective([number]) for number in range(20)]).double()
        together = mixed._objective(range(20))
    torch.testing.assert_close(losses - losses[0], likelihood[0] - likelihood, rtol=1e-4, atol=1e-3)
    assert float(together) == pytest.approx(float(losses.mean()), rel=1e-5)


def test_the_sentence_at_which_training_diverges(
    mixed: Training, train: list[Sentence], monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = torch.tensor(torch.nan)
    monkeypatch.setattr(mixed, "_objective", lambda numbers: lost if 17 in numbers else torch.tensor(1.0))
    with pytest.raises(DivergedError, match=f"at '{train[17].identifier}', with"):
        mixed.step(range(20), 0)


def test_weights_of_other_trees(train: list[Sentence]) -> None:
    with pytest.raises(ValueError, match="20 trees to train on, and weights of 21"):
        training(train[:20], mixtures=[[1.0]] * 19 + [[0.5, 0.5]]).run()
