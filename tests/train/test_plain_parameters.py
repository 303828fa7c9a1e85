"""Attach models of plain torch layers, whose parameters are no sites of Pyro: trained, kept, used."""

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from pyropunct.errors import ModelFileError
from pyropunct.fitted.model_file import read_model_file, write_model_file
from pyropunct.fitted.recipes import Recipe
from pyropunct.nets.trainer import Progress
from pyropunct.punctuator import Punctuator
from pyropunct.train.checkpoints import read_state, write_state
from pyropunct.train.fitting import fit, fit_story
from pyropunct.train.story_training import Training
from pyropunct.treebank.reading import read_treebank
from pyropunct.treebank.sentence import Sentence
from pyropunct.vocabulary import build_vocabulary

pytestmark = pytest.mark.usefixtures("single_precision")

VARIANT = "variants:TagNetwork"
RECIPE = Recipe(attach=VARIANT, epochs=2)


@pytest.fixture(scope="module")
def train(small: Path) -> tuple[Sentence, ...]:
    return read_treebank(small / "train.conllu").sentences[:40]


@pytest.fixture(scope="module")
def dev(small: Path) -> tuple[Sentence, ...]:
    return read_treebank(small / "dev.conllu").sentences[:12]


@pytest.fixture(scope="module")
def model(train: tuple[Sentence, ...], dev: tuple[Sentence, ...]) -> Punctuator:
    """Use it as it is."""
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float)
    try:
        return fit(train, dev, RECIPE, direction="left")
    finally:
        torch.set_default_dtype(default)


def learned(model: Punctuator) -> dict[str, Tensor]:
    """All that a fit has learned, statistics of layers among it."""
    return {**model.values, **model.story.state_dict()}


def equal(one: Punctuator, other: Punctuator) -> bool:
    first, second = learned(one), learned(other)
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


def perplexities(model: Punctuator) -> list[float]:
    return [epoch["perplexity"] for epoch in model.report["epochs"]]


def training(train: tuple[Sentence, ...], recipe: Recipe = RECIPE) -> Training:
    vocabulary = build_vocabulary([(sentence.tree, sentence.surface) for sentence in train])
    return Training(vocabulary, train, train[:10], recipe, 0, "cpu")


def test_one_step_changes_every_parameter(train: tuple[Sentence, ...]) -> None:
    run = training(train)
    before = {name: value.clone() for name, value in run.story.named_parameters()}
    assert len(before) == 5
    run.step(range(40), 0)
    for name, value in run.story.named_parameters():
        assert not torch.equal(value, before[name]), name


def test_their_learning_rate_is_their_own(train: tuple[Sentence, ...]) -> None:
    """AdamW's first step is the rate itself, in the direction of the gradient, beside the weight decay."""
    rate, shrinks = 0.003, 0.5
    recipe = replace(RECIPE, network_learning_rate=rate, network_weight_decay=shrinks, decay=False)
    run = training(train, recipe)
    value = run.story.get_parameter("attach.layers.3.bias")
    before = value.detach().clone()
    run.step(range(40), 0)
    assert value.grad is not None
    clear = value.grad.abs() > 1e-4
    expected = before * (1 - rate * shrinks) - rate * value.grad.sign()
    assert clear.sum() > 10
    torch.testing.assert_close(value.detach()[clear], expected[clear], rtol=1e-3, atol=1e-6)


def test_training_makes_progress(train: tuple[Sentence, ...], dev: tuple[Sentence, ...]) -> None:
    model = fit(train, dev, replace(RECIPE, epochs=9, network_learning_rate=0.03), direction="left")
    assert perplexities(model) == sorted(perplexities(model), reverse=True)
    assert perplexities(model)[-1] < 0.5 * perplexities(model)[0]


def test_seeds(model: Punctuator, train: tuple[Sentence, ...], dev: tuple[Sentence, ...]) -> None:
    torch.manual_seed(99)
    again = fit(train, dev, RECIPE, direction="left")
    other = fit(train, dev, RECIPE, direction="left", seed=2)
    assert equal(model, again)
    assert perplexities(model) == perplexities(again)
    assert not equal(model, other)


def test_nothing_is_left_out_when_it_is_used(model: Punctuator, dev: tuple[Sentence, ...]) -> None:
    assert perplexities(model)[-1] == model.evaluate(dev).perplexity == model.evaluate(dev).perplexity
    ((some,),) = model.underlying(dev[:1])
    assert len(some) == len(dev[0].tree)
    assert len(next(iter(model.sample(dev[:1], 3)))) == 3
    assert model.edits(dev)


def test_weights_are_counted(model: Punctuator) -> None:
    plain = sum(value.numel() for value in model.story.parameters())
    tags, rows = len(model.vocabulary.tags), len(model.vocabulary.inventory.rows)
    assert plain == 8 * tags + 2 * 8 + 9 * rows
    assert model.report["weights"] == plain + sum(value.numel() for value in model.values.values())


def test_saved_and_loaded(model: Punctuator, dev: tuple[Sentence, ...], tmp_path: Path) -> None:
    model.save(tmp_path / "m")
    again = Punctuator.load(tmp_path / "m", variants=[VARIANT])
    assert learned(model).keys() == learned(again).keys()
    for name, tensor in learned(model).items():
        tolerance = 1e-6 if name == "syntax.probabilities" else 0  # which are saved in single precision
        torch.testing.assert_close(learned(again)[name], tensor, rtol=tolerance, atol=0)
    assert torch.equal(model.log_prob(dev), again.log_prob(dev))
    assert not again.story.training


def test_models_in_one_process_have_their_own(
    model: Punctuator, train: tuple[Sentence, ...], dev: tuple[Sentence, ...], tmp_path: Path
) -> None:
    expected = model.log_prob(dev)
    model.save(tmp_path / "m")
    other = fit(train, dev, replace(RECIPE, epochs=1), direction="left", seed=5)
    again = Punctuator.load(tmp_path / "m", variants=[VARIANT])
    assert not torch.equal(other.log_prob(dev), expected)
    assert torch.equal(again.log_prob(dev), expected)
    assert torch.equal(model.log_prob(dev), expected)


def test_going_on_from_a_checkpoint(
    model: Punctuator, train: tuple[Sentence, ...], dev: tuple[Sentence, ...], tmp_path: Path
) -> None:
    """After the first epoch; what follows another direction is in test_fitting.py."""
    kept: dict[str, Any] = {"checkpoint": tmp_path / "checkpoint", "direction": "left"}

    def watch(progress: Progress) -> None:
        if progress.epoch == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit_story(train, dev, RECIPE, watch=watch, **kept)
    resumed = fit(train, dev, RECIPE, resume=True, **kept)
    assert equal(resumed, model)
    assert resumed.report["directions"] == model.report["directions"]


def test_a_checkpoint_that_lacks_a_parameter(
    train: tuple[Sentence, ...], dev: tuple[Sentence, ...], tmp_path: Path
) -> None:
    checkpoint = tmp_path / "checkpoint"
    fit(train, dev, RECIPE, direction="left", checkpoint=checkpoint)
    path = tmp_path / "checkpoint.left"
    state = read_state(path)
    del state["story"]["attach.layers.3.bias"]
    write_state(path, state)
    with pytest.raises(ModelFileError, match=r"checkpoint\.left: is damaged: RuntimeError: ") as caught:
        fit(train, dev, RECIPE, direction="left", checkpoint=checkpoint, resume=True)
    assert "\n" not in str(caught.value)


BIAS = "story/attach.layers.3.bias"


@pytest.mark.parametrize(
    "change",
    [
        lambda tensors: tensors.pop(BIAS),
        lambda tensors: tensors.update({BIAS: torch.zeros(1)}),
        lambda tensors: tensors.update({"story/attach.unheard_of": torch.zeros(1)}),
    ],
)
def test_models_with_other_parameters_are_refused(
    model: Punctuator, tmp_path: Path, change: Callable[[dict[str, Tensor]], object]
) -> None:
    model.save(tmp_path / "m")
    plain, tensors = read_model_file(tmp_path / "m")
    change(tensors)
    write_model_file(tmp_path / "m", plain, tensors)
    with pytest.raises(
        ModelFileError, match=r"its parts do not make a model: ValueError: (the tensor )?attach\."
    ):
        Punctuator.load(tmp_path / "m", variants=[VARIANT])


def test_with_a_normal_posterior_of_the_sites(train: tuple[Sentence, ...], dev: tuple[Sentence, ...]) -> None:
    """The channel's weights have scales, plain parameters are points."""
    model = fit(train, dev, replace(RECIPE, epochs=1, guide="normal"), direction="left")
    assert model.scales.keys() == model.values.keys()
    assert not any(name.startswith("attach") for name in model.values)
    assert math.isfinite(perplexities(model)[-1])
