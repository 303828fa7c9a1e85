"""Weights for the trees that a parser finds, beside those for trees that are given."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from pyropunct.errors import MissingPartError, ModelFileError
from pyropunct.files import model_path
from pyropunct.fitted.model_file import read_model_file
from pyropunct.fitted.recipes import OF_PARSED
from pyropunct.nets.parser import WeightedTree
from pyropunct.nets.trainer import Progress
from pyropunct.punctuator import Punctuator
from pyropunct.restore.restorer import Restorer
from pyropunct.restore.settings import RestoreSettings
from pyropunct.train.checkpoints import Checkpoint
from pyropunct.train.parser_output import fit_parsed
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree

pytestmark = pytest.mark.usefixtures("single_precision")


class Chains:
    """A parser for which each word depends on the one before, or perhaps all on the first."""

    def parse(self, sentences: Sequence[Sequence[str]], trees: int = 1) -> list[list[WeightedTree]]:
        return [self._trees(words)[:trees] for words in sentences]

    def _trees(self, words: Sequence[str]) -> list[WeightedTree]:
        size = len(words)
        rest = ("root", *["dep"] * (size - 1)), ("X",) * size, tuple(words)
        flat = (0, *[1] * (size - 1))
        return [WeightedTree(Tree(tuple(range(size)), *rest), 0.75), WeightedTree(Tree(flat, *rest), 0.25)]


def words_of(sentences: Sequence[Sentence]) -> list[tuple[str, ...]]:
    return [sentence.tree.forms for sentence in sentences]


@pytest.fixture(scope="module")
def parses(train: list[Sentence]) -> list[list[WeightedTree]]:
    return Chains().parse(words_of(train))


@pytest.fixture(scope="module")
def plain(small: Path) -> Punctuator:
    model = Punctuator.load(small / "model")
    return replace(model, parser=Chains(), recipe=replace(model.recipe, epochs=2))


@pytest.fixture(scope="module")
def model(
    plain: Punctuator, train: list[Sentence], parses: list[list[WeightedTree]], dev: list[Sentence]
) -> Punctuator:
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float)
    found = fit_parsed(plain, train, parses, dev)
    torch.set_default_dtype(default)
    return found


def test_trees_that_are_given_and_trees_that_are_found(
    model: Punctuator, plain: Punctuator, dev: list[Sentence]
) -> None:
    """Each kind is punctuated by what was trained on such, in lists of both kinds too."""
    assert model.parsed is not None
    words, given = words_of(dev), [sentence.tree for sentence in dev]
    found = [trees[0].tree for trees in Chains().parse(words)]
    settings = {"samples": 20, "seed": 3}
    of_given, of_found = plain.restore(given, **settings), model.parsed.restore(found, **settings)
    assert model.restore(given, **settings) == of_given
    assert model.restore(words, trees=1, **settings) == of_found
    assert of_found != plain.restore(found, **settings)
    mixed = [tree if number % 2 else words[number] for number, tree in enumerate(given)]
    expected = [of_given[number] if number % 2 else of_found[number] for number in range(len(dev))]
    assert model.restore(mixed, trees=1, **settings) == expected


def test_treebanks_that_are_parsed_anew(model: Punctuator, dev: list[Sentence]) -> None:
    def restored(one: Punctuator, parse: bool) -> list[object]:
        restoration = Restorer(one, RestoreSettings(samples=20, trees=1, parse=parse))
        return [restored.surface for restored in restoration.restore(dev)]

    without = replace(model, parsed=None)
    assert restored(model, parse=False) == restored(without, parse=False)
    assert restored(model, parse=True) != restored(without, parse=True)


def test_probabilities_over_trees(model: Punctuator, dev: list[Sentence]) -> None:
    some, parser = dev[:6], Chains()
    assert model.parsed is not None
    parses = parser.parse(words_of(some), 2)
    parses[0] = [WeightedTree(some[0].tree, 1.0, given=True)]
    found = model.log_prob_over_trees(some, parses).exp()
    torch.testing.assert_close(found[:1], model.log_prob(some[:1]).exp())
    for one, trees, probability in zip(some[1:], parses[1:], found[1:], strict=True):
        likely, other = model.parsed.log_prob([replace(one, tree=tree.tree) for tree in trees]).exp()
        torch.testing.assert_close(probability, 0.75 * likely + 0.25 * other)


def test_the_report(model: Punctuator, train: list[Sentence], dev: list[Sentence]) -> None:
    assert model.parsed is not None
    report = model.parsed.report
    assert report["train_sentences"] == 2 * len(train)
    assert len(report["epochs"]) == 2
    assert report["scores"]["words"] == sum(len(one.tree) for one in train)
    parses = Chains().parse(words_of(dev), 10)
    slots = sum(len(one.surface) for one in dev)
    for name, one in (("perplexity", model), ("unparsed_perplexity", replace(model, parsed=None))):
        total = float(one.log_prob_over_trees(dev, parses).sum())
        assert report[name] == pytest.approx(2.718281828459045 ** (-total / slots))
    assert report["perplexity"] < report["unparsed_perplexity"]


def test_what_is_given_stays(model: Punctuator, plain: Punctuator, dev: list[Sentence]) -> None:
    assert replace(model, parsed=None) == plain
    assert torch.equal(model.log_prob(dev), plain.log_prob(dev))


def test_economy_does_not_count_for_trees_of_a_parser(
    plain: Punctuator, train: list[Sentence], parses: list[list[WeightedTree]], dev: list[Sentence]
) -> None:
    thrifty = replace(plain, recipe=replace(plain.recipe, economy_weight=20.0))
    one, same = (fit_parsed(each, train[:20], parses[:20], dev[:2], epochs=1) for each in (plain, thrifty))
    assert torch.equal(one.for_parsed.log_prob(dev), same.for_parsed.log_prob(dev))


def test_a_folder_keeps_both(model: Punctuator, dev: list[Sentence], tmp_path: Path) -> None:
    replace(model, parser=None).save(tmp_path / "both")
    loaded = Punctuator.load(tmp_path / "both")
    assert loaded.parsed is not None
    assert model.parsed is not None
    assert loaded.parsed.vocabulary == model.parsed.vocabulary
    recipe = model.recipe.changed(**OF_PARSED)
    assert loaded.parsed.recipe == model.parsed.recipe == recipe
    assert loaded.parsed.report == model.parsed.report
    syntax = [one.story.state_dict()["syntax.probabilities"] for one in (loaded, loaded.parsed, model.parsed)]
    assert torch.equal(syntax[0], syntax[1])
    torch.testing.assert_close(syntax[1], syntax[2])
    saved = [name for name in read_model_file(tmp_path / "both")[1] if "syntax" in name]
    assert saved
    assert not any(name.startswith("parsed") for name in saved)
    for one, other in ((loaded, model), (loaded.parsed, model.parsed)):
        torch.testing.assert_close(one.log_prob(dev), other.log_prob(dev), atol=0.02, rtol=0.002)
    loaded.save(tmp_path / "again")
    assert model_path(tmp_path / "again").read_bytes() == model_path(tmp_path / "both").read_bytes()


def test_going_on_after_an_epoch(
    model: Punctuator,
    plain: Punctuator,
    train: list[Sentence],
    parses: list[list[WeightedTree]],
    dev: list[Sentence],
    tmp_path: Path,
) -> None:
    def stop(progress: Progress) -> None:
        if progress.epoch == 2:
            raise KeyboardInterrupt

    checkpoint = Checkpoint(tmp_path / "parsed")
    with pytest.raises(KeyboardInterrupt):
        fit_parsed(plain, train, parses, dev, checkpoint=checkpoint, watch=stop)
    resumed = fit_parsed(plain, train, parses, dev, checkpoint=checkpoint)
    assert resumed.parsed is not None
    assert model.parsed is not None
    assert torch.equal(resumed.parsed.log_prob(dev), model.parsed.log_prob(dev))
    others = [[trees[-1]] for trees in Chains().parse(words_of(train), 2)]
    with pytest.raises(ModelFileError, match="of other data, settings or another seed"):
        fit_parsed(plain, train, others, dev, checkpoint=checkpoint)


def test_without_a_dev_treebank_some_sentences_are_held_out(
    plain: Punctuator, train: list[Sentence], parses: list[list[WeightedTree]]
) -> None:
    quick = replace(plain, recipe=replace(plain.recipe, epochs=1), parser=None)
    found = fit_parsed(quick, train, parses).parsed
    assert found is not None
    assert (found.report["train_sentences"], found.report["dev_sentences"]) == (216, 12)


def test_what_does_not_fit(
    plain: Punctuator, train: list[Sentence], parses: list[list[WeightedTree]], dev: list[Sentence]
) -> None:
    with pytest.raises(MissingPartError):
        fit_parsed(replace(plain, parser=None), train, parses, dev)
    with pytest.raises(ValueError, match="shorter"):
        fit_parsed(plain, train, parses[:-1], dev)
