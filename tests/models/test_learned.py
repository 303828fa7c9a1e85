"""Learned values on modules: settled sites are tensors, and nothing else changes."""

from pathlib import Path

import pyro.distributions as dist
import pytest
import torch
from pyro import poutine
from pyro.nn import PyroModule, PyroSample
from torch import Tensor, nn

from pyropunct.fitted.recipes import Recipe
from pyropunct.fitted.stories import blank_story, settle_story
from pyropunct.inference.pyro.collapse import collapse_trees
from pyropunct.models.learned import (
    fixed_names,
    learned_scales,
    learned_values,
    other_values,
    settle,
)
from pyropunct.punctuator import Punctuator
from pyropunct.train.story_training import Training
from pyropunct.treebank.reading import read_treebank
from pyropunct.vocabulary import build_vocabulary


class Inner(PyroModule):
    def __init__(self) -> None:
        super().__init__()
        self.spread = PyroSample(dist.LogNormal(0.0, 1.0))
        self.drift = PyroSample(lambda own: dist.Normal(torch.zeros(3), own.spread).to_event(1))
        self.doubled = PyroSample(lambda own: 2 * own.drift)
        self.layer = nn.Linear(3, 1)


class Outer(PyroModule):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Inner()
        self.shift = PyroSample(dist.Normal(torch.zeros(2), 1.0).to_event(1))

    def forward(self) -> Tensor:
        return self.inner.doubled.sum() + self.shift.sum()


def values() -> dict[str, Tensor]:
    return {
        "inner.spread": torch.tensor(0.5),
        "inner.drift": torch.tensor([1.0, 2.0, 3.0]),
        "shift": torch.tensor([10.0, 20.0]),
    }


def test_settled_sites_are_no_sites() -> None:
    """What is computed from them still is; the parameters and the rest of the state are what they were."""
    module = Outer()
    drawn = poutine.trace(module).get_trace().nodes
    assert {name for name, node in drawn.items() if node["type"] == "sample" and not node["is_observed"]} == {
        *values()
    }
    names = module.state_dict().keys()
    settle(module, values())
    trace = poutine.trace(module).get_trace()
    assert trace.nodes["_RETURN"]["value"] == 42
    assert not [name for name in trace.stochastic_nodes if name in values()]
    assert fixed_names(module) == names == {"inner.layer.weight", "inner.layer.bias"}
    assert module.state_dict().keys() == names | values().keys()


def test_they_come_back_move_and_may_be_set_again() -> None:
    module = Outer()
    settle(module, values(), {"shift": torch.ones(2)})
    assert all(torch.equal(value, values()[name]) for name, value in learned_values(module).items())
    assert learned_values(module).keys() == values().keys()
    assert learned_values(module.inner).keys() == {"spread", "drift"}
    assert {name: scale.tolist() for name, scale in learned_scales(module).items()} == {"shift": [1, 1]}
    assert fixed_names(module) == {"inner.layer.weight", "inner.layer.bias"}
    module.inner.half()
    assert [value.dtype for value in learned_values(module.inner).values()] == [torch.half, torch.half]
    settle(module, {**values(), "shift": torch.zeros(2)})
    assert module() == 12


def test_other_values_for_a_while() -> None:
    module = Outer()
    settle(module, values())
    with other_values(module, {"shift": torch.arange(6.0).reshape(3, 2)}):
        assert module.shift.shape == (3, 2)
    assert module() == 42
    with pytest.raises(TypeError), other_values(module, {"inner.drift": torch.zeros(3)}):
        module("an argument too many")
    assert module() == 42
    with pytest.raises(KeyError, match="drift"), other_values(module, {"drift": torch.zeros(3)}):
        pass


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"shift": None}, "the site shift has no value"),
        (
            {"shift": torch.zeros(3)},
            r"the value of the site shift is no tensor of numbers of the shape \(2,\)",
        ),
        ({"shift": torch.zeros(2, dtype=torch.long)}, "the value of the site shift is no tensor of numbers"),
        ({"inner.doubled": torch.zeros(3)}, "inner.doubled cannot be kept: it is no PyroSample attribute"),
        ({"elsewhere": torch.zeros(3)}, "elsewhere cannot be kept: it is no PyroSample attribute"),
    ],
)
def test_values_that_do_not_fit(changes: dict[str, Tensor | None], problem: str) -> None:
    given = {name: value for name, value in {**values(), **changes}.items() if value is not None}
    with pytest.raises(ValueError, match=problem):
        settle(Outer(), given)


def test_a_scale_of_another_shape() -> None:
    with pytest.raises(ValueError, match="the value of the site shift"):
        settle(Outer(), values(), {"shift": torch.zeros(3)})


# Stories


@pytest.mark.usefixtures("single_precision")
def test_a_fitted_story_has_no_priors_and_a_precise_channel(small: Path) -> None:
    model, dev = Punctuator.load(small / "model"), read_treebank(small / "dev.conllu")[:3]
    trace = poutine.trace(collapse_trees(model.story)).get_trace(*model._encode(dev))
    assert trace.stochastic_nodes == []
    assert model.values["channel.channel.edit_logits"].dtype == torch.double
    assert model.values["attach.weights"].dtype == torch.float
    first, again = model.story.channel.weights(), model.story.channel.weights()
    assert all(torch.equal(weight, again[name]) for name, weight in first.items())


@pytest.mark.usefixtures("single_precision")
def test_training_goes_on_as_if_nobody_had_looked(small: Path) -> None:
    """Looking at a model neither changes its training, nor does training change what was looked at."""
    train = read_treebank(small / "train.conllu").sentences
    vocabulary = build_vocabulary([(sentence.tree, sentence.surface) for sentence in train])
    runs = [Training(vocabulary, train, train[:10], Recipe(epochs=2), 0, "cpu") for _ in range(2)]
    seen = []
    for run in runs:
        torch.manual_seed(0)
        run.step(range(60), 0)
        if run is runs[1]:
            seen.append(run.punctuator())
            before = seen[0].evaluate(train[:10])
        run.step(range(60, 120), 60)
    first, second = (run.punctuator() for run in runs)
    assert all(torch.equal(value, second.values[name]) for name, value in first.values.items())
    assert seen[0].evaluate(train[:10]) == before != first.evaluate(train[:10])
    assert runs[0].story.attach.sparse  # type: ignore[attr-defined]
    assert not first.story.attach.sparse  # type: ignore[attr-defined]
    assert runs[0].story.training
    assert not first.story.training


@pytest.mark.usefixtures("single_precision")
def test_states_that_do_not_fit(small: Path) -> None:
    model = Punctuator.load(small / "model")
    state = {name: model.story.state_dict()[name] for name in fixed_names(model.story)}
    for name in ("attach.keys", "channel.bigrams.probabilities"):
        others = {key: value for key, value in state.items() if key != name}
        with pytest.raises(ValueError, match=f"the tensor {name} is missing, or is not expected"):
            settle_story(blank_story(model.vocabulary, model.recipe), others, model.values)
