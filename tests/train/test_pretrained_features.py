"""Training of an attach model that reads pretrained features of words."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from encoders import MadeUp

from pyropunct.errors import ModelFileError
from pyropunct.fitted.recipes import named_recipe
from pyropunct.train.checkpoints import Checkpoint
from pyropunct.train.fitting import fit
from pyropunct.train.training import Training
from pyropunct.treebank.sentence import Sentence
from pyropunct.vocabulary import build_vocabulary

RECIPE = named_recipe("neural", epochs=1, families=("symmetry",), network_share=1.0)

pytestmark = pytest.mark.usefixtures("single_precision")


def test_features_are_computed_once_and_read(train: list[Sentence], dev: list[Sentence]) -> None:
    source, some, others = MadeUp(), train[:30], dev[:10]
    model = fit(some, others, RECIPE, direction="auto", pretrained=source)
    assert sorted(source.asked) == sorted({sentence.tree.forms for sentence in [*some, *others]})
    assert model.attach_pretrained is source
    reader = model.story.attach.networks[0].constituents.words.pretrained
    assert reader.in_features == source.size


def test_all_that_reads_them_is_trained(train: list[Sentence]) -> None:
    vocabulary = build_vocabulary([(sentence.tree, sentence.surface) for sentence in train[:30]])
    recipe = replace(RECIPE, batch_size=3)  # each network gets its turn
    training = Training(vocabulary, train[:30], train[:5], recipe, 0, "cpu", MadeUp())
    before = {name: one.detach().clone() for name, one in training.story.named_parameters()}
    training.run_epoch()
    after = dict(training.story.named_parameters())
    readers = [name for name in before if "words.pretrained" in name]
    assert len(readers) == 6
    assert not any(torch.equal(before[name], after[name]) for name in readers)


def test_a_training_goes_on_with_the_same_features_only(train: list[Sentence], tmp_path: Path) -> None:
    vocabulary = build_vocabulary([(sentence.tree, sentence.surface) for sentence in train[:5]])
    checkpoint = Checkpoint(tmp_path / "checkpoint")
    trainings = [
        Training(vocabulary, train[:5], train[:5], RECIPE, 0, "cpu", source)
        for source in (MadeUp(), MadeUp(2), None)
    ]
    trainings[0].run(checkpoint)
    for other in trainings[1:]:
        with pytest.raises(ModelFileError, match="of other data, settings or another seed"):
            other.run(checkpoint)


def test_an_attach_model_that_reads_none(train: list[Sentence]) -> None:
    with pytest.raises(ValueError, match="the attach model 'log-linear' reads no pretrained"):
        fit(train[:5], train[:5], pretrained=MadeUp())
