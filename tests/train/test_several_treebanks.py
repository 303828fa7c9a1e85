"""Fitting to several treebanks at once, whose sentences are not punctuated alike."""

from dataclasses import replace
from pathlib import Path

import pytest
from command_line import answer, complaint

from pyropunct import Punctuator, fit
from pyropunct.fitted.recipes import Recipe
from pyropunct.nets.jackknife import with_trees
from pyropunct.nets.parser import WeightedTree
from pyropunct.treebank.reading import Treebank, read_treebank
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import MAIN_TREEBANK

pytestmark = pytest.mark.usefixtures("single_precision")

RECIPE = Recipe(families=("symmetry", "spans"), epochs=3)


def without_last_marks(treebank: Treebank, name: str) -> tuple[Sentence, ...]:
    """The sentences as a treebank of this name has them, in which nothing stands at the end of a sentence."""
    return tuple(replace(one, surface=(*one.surface[:-1], ())) for one in treebank.named(name))


@pytest.fixture(scope="module")
def main_treebank(small: Path) -> Treebank:
    return read_treebank(small / "train.conllu")


@pytest.fixture(scope="module")
def model(main_treebank: Treebank) -> Punctuator:
    train = (*main_treebank, *without_last_marks(main_treebank, "bare"))
    return fit(train, main_treebank[:5], RECIPE, direction="left")


def test_what_is_particular_to_each_is_learned(model: Punctuator, main_treebank: Treebank) -> None:
    """In each, the sentences of its own kind are more probable, and those of an unknown one count as main."""
    here, bare = main_treebank[:20], without_last_marks(main_treebank, "bare")[:20]
    bare_here = [replace(one, tree=replace(one.tree, treebank=MAIN_TREEBANK)) for one in bare]
    assert model.log_prob(here).sum() > model.log_prob(bare_here).sum() + 20
    assert model.log_prob(bare).sum() > model.log_prob(main_treebank.named("bare")[:20]).sum() + 20
    assert model.log_prob(main_treebank.named("unknown")[:20]).equal(model.log_prob(here))


def test_a_saved_model_knows_its_treebanks(
    model: Punctuator, main_treebank: Treebank, tmp_path: Path
) -> None:
    model.save(tmp_path / "model")
    loaded = Punctuator.load(tmp_path / "model")
    assert loaded.vocabulary.treebanks == (MAIN_TREEBANK, "bare")
    bare = without_last_marks(main_treebank, "bare")[:20]
    assert loaded.log_prob(bare).tolist() == pytest.approx(model.log_prob(bare).tolist(), rel=1e-2)


def test_trees_of_a_parser_keep_the_treebank_of_their_sentence(main_treebank: Treebank) -> None:
    found = with_trees(main_treebank.named("bare")[:1], [[WeightedTree(main_treebank[1].tree, 1.0)]])
    assert (found[0].tree.treebank, found[0].tree.forms) == ("bare", main_treebank[1].tree.forms)


def test_the_command_takes_several(small: Path, tmp_path: Path) -> None:
    other, folder = tmp_path / "other.conllu", tmp_path / "model"
    other.write_bytes((small / "dev.conllu").read_bytes())
    options = ("--dev", small / "dev.conllu", "--direction", "left", "--epochs", 1, "--families", "symmetry")
    value = answer("fit", small / "train.conllu", other, *options, "--threads", 1, "--out", folder)
    assert [Path(one["path"]).name for one in value["treebanks"]] == [
        "train.conllu",
        "other.conllu",
        "dev.conllu",
    ]
    fitted = Punctuator.load(folder)
    assert fitted.vocabulary.treebanks == (MAIN_TREEBANK, "other")
    assert fitted.recipe.families == ("symmetry", "treebanks")
    assert value["train_sentences"] == 150


def test_a_treebank_given_twice_is_refused(small: Path, tmp_path: Path) -> None:
    path = small / "train.conllu"
    assert complaint(2, "fit", path, path, "--out", tmp_path / "model") == f"{path} is given twice"
