"""Parsers, taggers and attach models of a comparison that read the same encoder."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from command_line import complaint
from encoders import made_encoder

from pyropunct.embedded import embedded_treebank_path
from pyropunct.errors import ModelFileError
from pyropunct.fitted.model_file import write_model_file
from pyropunct.nets.biaffine import ParserRecipe
from pyropunct.nets.parser import BiaffineParser
from pyropunct.papers.experiment import loader
from pyropunct.papers.li_2019.recurrent import RivalRecipe
from pyropunct.papers.li_2019.restoration_experiment import RestorationExperiment, Run
from pyropunct.papers.li_2019.restorers import SYSTEMS, Conditions, Treebanks
from pyropunct.papers.watching import unwatched
from pyropunct.treebank.reading import read_treebank

pytestmark = pytest.mark.usefixtures("single_precision")

RECIPES: dict[str, Any] = {
    "rival_recipe": RivalRecipe(word_size=12, hidden_size=8, epochs=2, least_steps=0),
    "parser_recipe": ParserRecipe(epochs=1, least_steps=0, form_size=8, lstm_size=8, arc_size=8),
}


@pytest.fixture(scope="module")
def treebanks() -> Treebanks:
    some = tuple(read_treebank(embedded_treebank_path("train")))[:16]
    return Treebanks(some[:12], some[12:])


@pytest.fixture(scope="module")
def conditions(encoder: Path) -> Conditions:
    return Conditions(**RECIPES, folds=2, encoder=str(encoder))


@pytest.mark.parametrize("name", ["crf", "attention", "parser"])
def test_parts_are_trained_and_kept(
    name: str, treebanks: Treebanks, conditions: Conditions, tmp_path: Path
) -> None:
    def load(conditions: Conditions) -> Any:
        if name == "parser":
            return loader(BiaffineParser.from_parts, conditions.pretrained)(tmp_path / "part")
        return SYSTEMS[name].load(tmp_path / "part", conditions)

    model: Any
    if name == "parser":
        experiment = RestorationExperiment(treebanks.train, treebanks.dev, conditions)
        model = Run(treebanks, treebanks.dev, conditions, experiment).parser(100).model
    else:
        model = SYSTEMS[name].train(treebanks, conditions, unwatched)
    write_model_file(tmp_path / "part", *model.to_parts())
    assert model.pretrained is conditions.pretrained  # all of them share what is kept
    loaded = load(conditions)
    ours, theirs = model.to_parts()[1], loaded.to_parts()[1]
    assert {"vectors.pretrained.weight", "pretrained.weight"} & set(ours)
    assert set(ours) == set(theirs)
    assert all(torch.equal(ours[key], theirs[key]) for key in ours)
    other = replace(conditions, encoder=str(made_encoder(tmp_path / "other", seed=1)))
    with pytest.raises(ModelFileError, match="it was trained with other pretrained features of words"):
        load(other)


@pytest.mark.parametrize("name", ["crf", "attention"])
def test_what_the_encoder_says_counts(name: str, treebanks: Treebanks, conditions: Conditions) -> None:
    tagger = SYSTEMS[name].train(treebanks, conditions, unwatched)
    sentences = treebanks.dev
    with_it = tagger.log_prob(sentences)
    for sentence, found in zip(sentences, with_it, strict=True):
        torch.testing.assert_close(tagger.log_prob([sentence])[0], found, atol=1e-3, rtol=1e-3)
    with torch.no_grad():
        tagger.network.vectors.pretrained.weight.zero_()
    assert (tagger.log_prob(sentences) - with_it).abs().max() > 1e-6
    assert [len(surface) for surface in tagger.restore([one.tree.forms for one in sentences])] == [
        len(one.surface) for one in sentences
    ]


def test_an_encoder_that_is_not_there(small: Path, tmp_path: Path) -> None:
    treebanks = (small / "train.conllu", small / "dev.conllu")
    out = tmp_path / "comparison"
    told = complaint(2, "compare", "restoration", *treebanks, "--out", out, "--encoder", tmp_path / "nothing")
    assert told.startswith(f"encoder {tmp_path / 'nothing'}: is not there")
    assert not out.exists()
