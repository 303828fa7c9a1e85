"""What holds for every attach model: those of the package, and the right ones of tests/variants.py."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import variants
from pyro import poutine
from torch import Tensor

from pyropunct.fitted.recipes import named_recipe
from pyropunct.fitted.variants import ATTACH
from pyropunct.inference.pyro.collapse import collapse_trees
from pyropunct.models.attach.attach_model import Attach
from pyropunct.models.checking import check_attach
from pyropunct.models.story import Story
from pyropunct.train.story_training import Training
from pyropunct.treebank.reading import read_treebank
from pyropunct.vocabulary import build_vocabulary

pytestmark = pytest.mark.usefixtures("fresh_pyro")

WRONG = (variants.BatchStatistics, variants.LooksAround)
FOREIGN = [
    f"variants:{name}"
    for name, value in vars(variants).items()
    if isinstance(value, type) and issubclass(value, Attach) and value not in (Attach, *WRONG)
]
each_attach_model = pytest.mark.parametrize("name", [*ATTACH, *FOREIGN])


@pytest.fixture
def training(small: Path) -> Callable[[str], Training]:
    """Makes the training of a model on a few sentences, after one step."""

    def made(name: str) -> Training:
        train = read_treebank(small / "train.conllu").sentences[:40]
        vocabulary = build_vocabulary([(sentence.tree, sentence.surface) for sentence in train])
        recipe = named_recipe("default", attach=name, parts=False)
        run = Training(vocabulary, train, train[:5], recipe, 0, "cpu")
        run.step(range(40), 0)
        return run

    return made


def settled(run: Training, training: bool) -> Story:
    """The story with the values that its sites have so far."""
    story = run.story.train(training)
    for site, value in run.guide.median().items():
        path, _, attribute = site.rpartition(".")
        setattr(story.get_submodule(path), attribute, value.detach())
    return story


def log_density(story: Callable[..., object], *batch: object) -> Tensor:
    return poutine.trace(story).get_trace(*batch).log_prob_sum().detach()


@each_attach_model
def test_it_keeps_to_the_rules(name: str, training: Callable[[str], Training]) -> None:
    run = training(name)
    check_attach(run.story.attach, run.trees.pick(range(6)))


@each_attach_model
def test_one_step_changes_all_that_it_learns(name: str, training: Callable[[str], Training]) -> None:
    """Weights of the guide, and plain parameters; of several networks, each batch trains one."""
    run = training(name)
    before = {
        id(value): value.detach().clone() for value in (*run.guide.parameters(), *run.story.parameters())
    }
    for _ in range(12):
        run.step(range(40), 0)
    for value in (*run.guide.parameters(), *run.story.parameters()):
        assert not value.requires_grad or not torch.equal(value, before[id(value)])


@each_attach_model
@pytest.mark.parametrize("mode", [True, False])
def test_it_is_told_in_either_mode(name: str, mode: bool, training: Callable[[str], Training]) -> None:
    """Told forward under a trace, each node has a choice, and each choice a score."""
    run = training(name)
    told = poutine.trace(settled(run, mode)).get_trace(run.trees.pick([0, 1]))
    assert told.log_prob_sum().isfinite()
    assert len(told.nodes["_RETURN"]["value"].choices) == run.trees.pick([0, 1]).forest.num_nodes


@each_attach_model
def test_a_batch_is_the_sum_of_its_trees(name: str, training: Callable[[str], Training]) -> None:
    run = training(name)
    model = collapse_trees(settled(run, False))

    def log_prob(numbers: list[int]) -> Tensor:
        trees, surface, _ = run.batch(numbers)
        return log_density(model, trees, surface)

    total = sum(log_prob([number]) for number in range(5))
    assert float(log_prob([0, 1, 2, 3, 4])) == pytest.approx(float(total), rel=1e-9)
