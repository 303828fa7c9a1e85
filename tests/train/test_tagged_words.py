"""A tagger of words, which the story reads where a parser has found the trees."""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from model_files import changed, copied

from pyropunct.errors import MissingPartError, ModelFileError
from pyropunct.models.trees import READING
from pyropunct.nets.parser import BiaffineParser
from pyropunct.nets.tagger import SlotTaggerRecipe
from pyropunct.punctuator import Punctuator
from pyropunct.restore.parses import weighted_trees
from pyropunct.train.parser_output import fit_reading, fit_tagger
from pyropunct.treebank.sentence import Sentence

pytestmark = pytest.mark.usefixtures("single_precision")

QUICK = SlotTaggerRecipe(epochs=1, least_steps=0, batch_words=100, slot_size=10)


@pytest.fixture(scope="module")
def model(model_with_parser: Path) -> Punctuator:
    return Punctuator.load(model_with_parser)


def words_of(sentences: Sequence[Sentence]) -> list[tuple[str, ...]]:
    return [sentence.tree.forms for sentence in sentences]


def test_the_story_for_parsed_trees_reads_the_tagger(model: Punctuator, dev: list[Sentence]) -> None:
    """Of the words alone: p(x | T) is another with another tagger, and another tree has the same reading."""
    assert model.parsed is not None
    assert model.parsed.tagger is model.tagger
    assert (model.story.reading, model.for_parsed.story.reading is None) == (None, False)
    tree = dev[0].tree
    batch = model.parsed.encode_trees([tree])
    [odds] = model.tagger.log_odds([tree.forms], model.parsed.vocabulary.tokens) if model.tagger else [None]
    edges = batch.forest.left_slot, batch.forest.right_slot
    assert odds is not None
    assert torch.equal(batch.more[READING], torch.stack([odds[edge] for edge in edges], 1))
    silent = [torch.zeros_like(odds)]
    assert not torch.equal(model.parsed.encode_trees([tree], silent).more[READING], batch.more[READING])
    assert READING not in model.encode_trees([tree]).more


def test_the_report(model: Punctuator, dev: list[Sentence]) -> None:
    """Reading makes dev more probable, for there the weights were learned."""
    assert model.tagger is not None
    report, parses = model.tagger.report, weighted_trees(model, words_of(dev))
    slots = sum(len(one.surface) for one in dev)
    total = float(model.log_prob_over_trees(dev, parses).sum())
    assert report["reading_perplexity"] == pytest.approx(math.exp(-total / slots), rel=1e-3)
    assert report["reading_perplexity"] < report["trees_perplexity"]


def test_the_story_that_is_given_stays_as_it_is(model: Punctuator, dev: list[Sentence]) -> None:
    assert model.tagger is not None
    parses = weighted_trees(model, words_of(dev[:8]), 3)
    one, same = (fit_reading(model, model.tagger, dev[:8], parses, seed=1) for _ in range(2))
    assert (model.story.reading, one.story.reading is None) == (None, False)
    for name, value in one.values.items():
        assert torch.equal(value, same.values[name])
        if name in model.values:
            assert torch.equal(value, model.values[name])


def test_a_folder_keeps_it(model: Punctuator, dev: list[Sentence], tmp_path: Path) -> None:
    model.save(tmp_path / "again")
    loaded = Punctuator.load(tmp_path / "again")
    assert loaded.tagger is not None
    assert model.tagger is not None
    assert loaded.tagger.parser is loaded.parser
    assert loaded.share == model.share
    assert loaded.tagger.report == model.tagger.report
    assert loaded.parsed is not None
    assert model.parsed is not None
    assert loaded.parsed.tagger is loaded.tagger
    for name, value in model.parsed.values.items():
        if name.startswith("reading."):
            assert torch.equal(loaded.parsed.values[name], value)
    surfaces = [one.surface for one in dev]
    found, expected = (one.tagger.log_prob(words_of(dev), surfaces) for one in (loaded, model) if one.tagger)
    assert torch.equal(found, expected)
    model.save(tmp_path / "small", small=True)
    rounded = Punctuator.load(tmp_path / "small").tagger
    assert rounded is not None
    torch.testing.assert_close(rounded.log_prob(words_of(dev), surfaces), expected, atol=1.0, rtol=0.05)


def test_without_trees_of_a_parser_the_story_that_reads_keeps_its_recipe(
    model: Punctuator, dev: list[Sentence], tmp_path: Path
) -> None:
    """As after `pyropunct compare restoration --folds 0`: it may have marked parts and clauses."""
    assert model.tagger is not None
    parses = weighted_trees(model, words_of(dev[:8]), 3)
    reading = fit_reading(replace(model, parsed=None), model.tagger, dev[:8], parses)
    replace(model, parsed=reading).save(tmp_path / "m")
    loaded = Punctuator.load(tmp_path / "m").parsed
    assert loaded is not None
    assert loaded.recipe == model.recipe
    assert loaded.recipe.parts
    torch.testing.assert_close(loaded.log_prob(dev[:4]), reading.log_prob(dev[:4]), rtol=1e-5, atol=1e-5)


def test_a_story_that_reads_is_not_saved_without_its_tagger(model: Punctuator, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="reads a tagger, which the model lacks"):
        replace(model, tagger=None).save(tmp_path / "m")


def test_a_parser_of_another_tagger_is_not_saved(model: Punctuator, tmp_path: Path) -> None:
    assert isinstance(model.parser, BiaffineParser)
    with pytest.raises(ModelFileError, match="the model's tagger reads the states of another parser"):
        replace(model, parser=replace(model.parser)).save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda plain: plain["tagger"].update(share=1.5), "the share of the tagger is 1.5"),
        (lambda plain: plain["tagger"].update(share=True), "the share of the tagger is True"),
        (lambda plain: plain["tagger"].update(reader_share=-1), "the share of the reader is -1"),
        (lambda plain: plain["tagger"].pop("share"), "KeyError"),
        (lambda plain: plain["tagger"].update(recipe={}), "not the parts of a slot tagger"),
        (lambda plain: plain["tagger"].update(report=3), "the report of the tagger is no object"),
        (
            lambda plain: plain["tagger"]["vocabulary"]["labels"]["marks"].append("★"),
            "the tagger does not have the marks of the model",
        ),
        (lambda plain: plain.pop("tagger"), "there are tensors of 'tagger', but no description of it"),
    ],
)
def test_models_with_another_tagger(
    model_with_parser: Path, tmp_path: Path, change: Any, problem: str
) -> None:
    path = copied(model_with_parser, tmp_path / "model")
    with changed(path) as (description, _):
        change(description)
    with pytest.raises(ModelFileError, match=problem):
        Punctuator.load(path)


def test_models_without_the_parser_of_the_tagger(model_with_parser: Path, tmp_path: Path) -> None:
    path = copied(model_with_parser, tmp_path / "model")
    with changed(path) as (description, tensors):
        del description["parser"]
        for name in [name for name in tensors if name.startswith("parser/")]:
            del tensors[name]
    with pytest.raises(ModelFileError, match="a tagger, but no parser whose states it reads"):
        Punctuator.load(path)


def test_without_a_dev_treebank_some_sentences_are_held_out(model: Punctuator, train: list[Sentence]) -> None:
    found = fit_tagger(model, train, recipe=QUICK)
    assert found.tagger is not None
    assert found.tagger.report["train_sentences"] == 108
    found.tagger.vocabulary.labels.require_marks(found.vocabulary.tokens)  # though some are rare among these


def test_what_it_takes(model: Punctuator, train: list[Sentence], dev: list[Sentence]) -> None:
    with pytest.raises(MissingPartError):
        fit_tagger(replace(model, parser=None), train, dev)

    class Other:
        def parse(self, sentences: Any, trees: int = 1) -> Any: ...

    with pytest.raises(TypeError, match="a tagger cannot read what a parser of the kind Other makes"):
        fit_tagger(replace(model, parser=Other()), train, dev)
