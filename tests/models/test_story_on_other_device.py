"""Training and using a model whose weights are not on the CPU, but on a GPU or an emulated device."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from emulated_device import is_on, other_device

from pyropunct.fitted.recipes import Recipe
from pyropunct.inference.pyro.decode import infer_trees
from pyropunct.punctuator import Punctuator
from pyropunct.train.story_training import Training
from pyropunct.treebank.reading import read_treebank
from pyropunct.treebank.sentence import Sentence
from pyropunct.vocabulary import build_vocabulary

pytestmark = pytest.mark.usefixtures("single_precision")


@pytest.fixture(params=["emulated", "cuda"])
def device(request: pytest.FixtureRequest) -> Iterator[torch.device]:
    with other_device(request.param) as device:
        yield device


@pytest.fixture(scope="module")
def train(small: Path) -> tuple[Sentence, ...]:
    return read_treebank(small / "train.conllu").sentences[:16]


@pytest.fixture(scope="module")
def dev(small: Path) -> tuple[Sentence, ...]:
    return read_treebank(small / "dev.conllu").sentences[:6]


@pytest.fixture
def model(small: Path) -> Punctuator:
    return Punctuator.load(small / "model")


def moved(small: Path, device: torch.device) -> Punctuator:
    """The same model elsewhere."""
    model = Punctuator.load(small / "model")
    model.story.to(device)
    return model


def test_what_a_model_answers(
    small: Path, model: Punctuator, dev: tuple[Sentence, ...], device: torch.device
) -> None:
    there = moved(small, device)
    for ask in (Punctuator.log_prob, Punctuator.unmatched):
        ours, theirs = ask(there, dev), ask(model, dev)
        assert is_on(ours, device)
        torch.testing.assert_close(ours.cpu(), theirs, rtol=1e-9, atol=1e-9)
    assert list(there.underlying(dev)) == list(model.underlying(dev))
    assert [len(draws) for draws in there.underlying(dev, 3)] == [3] * len(dev)
    assert len(list(there.sample(dev, 2))) == len(dev)
    edits, expected = there.edits(dev), model.edits(dev)
    assert [edit.before for edit in edits] == [edit.before for edit in expected]
    assert [edit.count for edit in edits] == pytest.approx([edit.count for edit in expected])


@pytest.mark.parametrize("temperature", [0, 1])
def test_decoding_as_a_pyro_model(
    small: Path, model: Punctuator, dev: tuple[Sentence, ...], device: torch.device, temperature: int
) -> None:
    told = infer_trees(moved(small, device).story, temperature)(*model._encode(dev))
    if temperature == 0:
        assert torch.equal(told.choices, infer_trees(model.story, 0)(*model._encode(dev)).choices)
    assert bool((told.choices >= 0).all())


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe(batch_size=8, symmetry_weight=0.5, economy_weight=0.5),
        Recipe(batch_size=8, optimiser="adam", random_start=True, channel="identity"),
        Recipe(batch_size=8, guide="normal"),
    ],
    ids=["default", "dense", "normal"],
)
@pytest.mark.parametrize("device", ["emulated"], indirect=True)
def test_training_is_the_same_there(
    train: tuple[Sentence, ...], device: torch.device, recipe: Recipe
) -> None:
    """Two steps.  (A GPU adds in an order of its own, and Adagrad's first steps magnify that.)"""
    vocabulary = build_vocabulary([(sentence.tree, sentence.surface) for sentence in train])
    places = ("cpu", str(device))
    runs = [Training(vocabulary, train, train[:4], recipe, 0, where) for where in places]
    for run in runs:
        torch.manual_seed(1)
        run.run_epoch()
    here, there = (run.punctuator() for run in runs)
    assert there.evaluate(train[:4]).perplexity == pytest.approx(here.evaluate(train[:4]).perplexity, 1e-5)
    for name, value in here.values.items():
        assert is_on(there.values[name], device)
        torch.testing.assert_close(there.values[name].cpu(), value, rtol=0, atol=1e-4)
