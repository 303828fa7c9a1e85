"""Models that were trained with an encoder, on the command line."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from command_line import answer, complaint, invoke, printed
from conftest import try_few_shares
from encoders import made_encoder
from torch import Tensor

import pyropunct
from pyropunct.embedded import embedded_treebank_path
from pyropunct.fitted.model_file import read_model_file, write_model_file
from pyropunct.nets.biaffine import ParserRecipe
from pyropunct.nets.running_text import ReaderRecipe
from pyropunct.nets.tagger import SlotTaggerRecipe
from pyropunct.punctuator import Punctuator
from pyropunct.train.fitting import NetworkRecipes

pytestmark = pytest.mark.usefixtures("single_precision")

WORDS = "Grace the guide considered the concert\n"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small treebank, an encoder, a model that was trained with it, and words to restore."""
    folder = tmp_path_factory.mktemp("encoded")
    text = embedded_treebank_path("train").read_text(encoding="utf-8")
    (folder / "train.conllu").write_text("\n\n".join(text.split("\n\n")[:40]) + "\n\n", encoding="utf-8")
    (folder / "words.txt").write_text(WORDS, encoding="utf-8")
    made_encoder(folder / "encoder")
    fit_quickly(folder, "model")
    return folder


def fit_quickly(folder: Path, out: str, *more: object, key: str = "encoder") -> None:
    """Fit a model with a parser and an encoder, whose place the report tells by some key."""
    with pytest.MonkeyPatch.context() as patch:
        networks = NetworkRecipes(
            ParserRecipe(epochs=1, least_steps=0, batch_words=200, lstm_size=20),
            ReaderRecipe(epochs=1, least_steps=0, form_size=8, lstm_size=12),
            SlotTaggerRecipe(epochs=1, least_steps=0, slot_size=8),
        )
        patch.setattr("pyropunct.train.fitting.NetworkRecipes", lambda: networks)
        patch.setattr("pyropunct.train.fitting.ADAPTING", networks.reader)
        try_few_shares(patch)
        torch.set_default_dtype(torch.float)
        options = ("--direction", "right", "--epochs", 1, "--threads", 1, "--parser", "--folds", 2)
        fitted = ("--encoder", folder / "encoder", "--out", folder / out)
        value = answer("fit", folder / "train.conllu", *options, *fitted, *more)
    assert value[key] == str(folder / "encoder")


def test_the_folder_has_no_encoder(files: Path) -> None:
    plain, tensors = read_model_file(files / "model")
    assert plain["pretrained"]["place"] == str(files / "encoder")
    assert plain["parser"]["pretrained"] == plain["reader"]["pretrained"]
    assert {name for name in tensors if "pretrained" in name} == {
        f"{part}/pretrained.{name}" for part in ("parser", "reader") for name in ("weight", "bias")
    }


def test_raw_words_are_restored(files: Path) -> None:
    restored = printed("restore", files / "model", files / "words.txt", "--threads", 1)
    assert [word.strip(",.?!“”") for word in restored.split()] == WORDS.split()
    assert pyropunct.load(files / "model")(WORDS) == restored
    running = printed("restore", files / "model", files / "words.txt", "--running", "--threads", 1)
    assert [word.strip(",.?!“”").lower() for word in running.split()] == WORDS.lower().split()


NETWORKS = ("parser", "reader")


def test_an_encoder_that_has_moved(files: Path, tmp_path: Path) -> None:
    model, place = tmp_path / "model", str(tmp_path / "gone")
    changed = {**read_model_file(files / "model")[0]["pretrained"], "place": place}
    Punctuator.load(files / "model", encoder=place).save(model)
    assert read_model_file(model)[0]["pretrained"] == changed
    words = files / "words.txt"
    told = complaint(2, "restore", model, words)
    assert told.startswith(f"encoder {place}: is not there")
    assert told.endswith("give its place with --encoder")
    there = printed("restore", model, words, "--encoder", files / "encoder", "--threads", 1)
    assert there == printed("restore", files / "model", words, "--threads", 1)
    assert invoke("restore", model, files / "train.conllu", "--threads", 1).exit_code == 0  # it has trees
    Punctuator.load(model, encoder=files / "encoder").save(model)
    assert printed("restore", model, words, "--threads", 1) == there


def test_another_encoder(files: Path, tmp_path: Path) -> None:
    other = made_encoder(tmp_path / "other", seed=1)
    told = complaint(2, "restore", files / "model", files / "words.txt", "--encoder", other)
    assert told.startswith(f"encoder {other}: is not the one that the model was trained with: it has other")


def test_a_model_without_encoder(files: Path, model_with_parser: Path) -> None:
    told = complaint(2, "restore", model_with_parser, files / "words.txt", "--encoder", files / "encoder")
    assert told == f"--encoder {files / 'encoder'}: the model was trained without an encoder"


def test_what_fit_refuses(files: Path, tmp_path: Path) -> None:
    fit = ("fit", files / "train.conllu", "--out", tmp_path / "model")
    assert complaint(2, *fit, "--encoder", files / "encoder") == (
        "--encoder is for --parser: the attach model does not read it"
    )
    told = complaint(2, *fit, "--parser", "--encoder", tmp_path / "nothing")
    assert told.startswith(f"encoder {tmp_path / 'nothing'}: is not there")
    assert not list(tmp_path.iterdir())


def test_an_encoder_that_is_trained_further(files: Path, tmp_path: Path) -> None:
    """The model keeps the adapters alone, through which parser and reader read the encoder."""
    shutil.copytree(files / "encoder", tmp_path / "encoder")
    shutil.copy(files / "train.conllu", tmp_path)
    fit_quickly(tmp_path, "model", "--fine-tune", "--no-tagger", key="encoder")
    plain, tensors = read_model_file(tmp_path / "model")
    kinds = [part["kind"] for part in (plain["pretrained"], *(plain[one]["pretrained"] for one in NETWORKS))]
    assert kinds == ["adapted encoder"] * 3
    kept = [name for name in tensors if name.startswith("pretrained/")]
    assert {name.split("/")[1].split(".")[0] for name in kept} == {"down", "up"}
    words = files / "words.txt"
    restored = printed("restore", tmp_path / "model", words, "--threads", 1)
    assert [word.strip(",.?!“”") for word in restored.split()] == WORDS.split()
    Punctuator.load(tmp_path / "model").save(tmp_path / "again")
    assert printed("restore", tmp_path / "again", words, "--threads", 1) == restored
    (tmp_path / "encoder").rename(tmp_path / "moved")
    there = "--encoder", tmp_path / "moved", "--threads", 1
    assert printed("restore", tmp_path / "again", words, *there) == restored


def test_what_cannot_be_trained_further(files: Path, tmp_path: Path) -> None:
    told = complaint(2, "fit", files / "train.conllu", "--out", tmp_path / "model", "--fine-tune", "--parser")
    assert told == "--fine-tune is for --parser and --encoder together"


def test_an_attach_model_of_earlier_versions(files: Path, tmp_path: Path) -> None:
    plain, tensors = read_model_file(files / "model")
    write_model_file(
        tmp_path / "model", {**plain, "recipe": {**plain["recipe"], "attach": "neural"}}, tensors
    )
    assert complaint(2, "restore", tmp_path / "model", files / "words.txt") == (
        f"{tmp_path / 'model'}: its attach model is 'neural' and reads words by networks, which only earlier "
        "versions can do: fit the model again"
    )


def test_damaged_descriptions(files: Path, tmp_path: Path) -> None:
    plain, tensors = read_model_file(files / "model")
    without = {key: part for key, part in plain["pretrained"].items() if key != "size"}
    problems: list[tuple[dict[str, Any], dict[str, Tensor], str]] = [
        ({**plain, "pretrained": without}, tensors, "KeyError: 'size'"),
        ({**plain, "pretrained": {**plain["pretrained"], "size": 17}}, tensors, "other pretrained features"),
        ({key: part for key, part in plain.items() if key != "pretrained"}, tensors, "other pretrained"),
        (plain, {**tensors, "pretrained/table": torch.zeros(2)}, "there are tensors of an encoder"),
    ]
    for broken, weights, problem in problems:
        write_model_file(tmp_path / "model", broken, weights)
        told = complaint(2, "restore", tmp_path / "model", files / "words.txt")
        assert told.startswith(f"{tmp_path / 'model'}: its parts do not make a model")
        assert problem in told
