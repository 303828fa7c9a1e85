"""Models that come with the package, by their names; here the one that `installed` puts there."""

import io
import runpy
import sys
from functools import partial
from pathlib import Path

import pytest
import torch
from command_line import complaint, invoke, printed

import pyropunct
from pyropunct.cli.main import main
from pyropunct.errors import ModelFileError
from pyropunct.files import model_path

pytestmark = pytest.mark.usefixtures("single_precision")

BAD_INPUT = 2
QUICK = ("--samples", 20)
TEXT = "my sister sings\n\nAnn went to the hospital\n"


@pytest.fixture
def installed(model_with_parser: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, and a package that has one model, called en."""
    shipped = tmp_path / "shipped"
    shipped.mkdir()
    (shipped / "en.safetensors").symlink_to(model_path(model_with_parser))
    monkeypatch.setattr("pyropunct.shipped.FOLDER", shipped)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return model_with_parser


@pytest.fixture
def file(installed: Path) -> Path:
    path = Path("input.txt")
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_text_is_restored_without_naming_a_model(
    installed: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = printed("restore", installed, file, *QUICK)
    assert printed("restore", file, *QUICK) == printed("restore", "en", file, *QUICK) == expected
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    with pytest.MonkeyPatch.context() as patch, io.StringIO() as out:
        patch.setattr(sys, "stdout", out)
        main(["restore", "-", *map(str, QUICK)], standalone_mode=False)
        assert out.getvalue() == expected


def test_other_commands_know_the_name(installed: Path, small: Path) -> None:
    assert printed("evaluate", "en", small / "dev.conllu", "--json") == printed(
        "evaluate", installed, small / "dev.conllu", "--json"
    )


def test_a_file_of_the_name_is_meant_first(file: Path) -> None:
    Path("en").mkdir()  # not a folder
    assert invoke("restore", "en", file, *QUICK).exit_code == 0
    Path("en.safetensors").touch()
    assert complaint(BAD_INPUT, "restore", "en", file).startswith("en.safetensors: is damaged")


@pytest.mark.parametrize(("name", "kind"), [("en", "model"), (".", "folder")])
def test_a_model_without_a_file(installed: Path, name: str, kind: str) -> None:
    told = complaint(BAD_INPUT, "restore", name)
    assert told == f"{name}: is a {kind}, not text: give MODEL and FILE, or FILE alone"


def test_more_than_a_model_and_a_file(installed: Path) -> None:
    told = complaint(BAD_INPUT, "restore", "en", "a", "b", "c")
    assert told == "Got unexpected extra arguments (b c) (see pyropunct restore --help)"


def test_models_that_are_not_there(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = "xx: no such model, and the package has no model of this name (it has en)"
    assert complaint(BAD_INPUT, "restore", "xx", file) == known
    assert complaint(BAD_INPUT, "restore", "./xx/", file) == "xx: no such model"
    monkeypatch.setattr("pyropunct.shipped.FOLDER", Path("nowhere"))
    none = "en: no such model, and the package was installed without models"
    assert complaint(BAD_INPUT, "restore", file) == none
    with pytest.raises(ModelFileError, match="the package was installed without models"):
        pyropunct.load()


def test_weights_are_sparse_in_memory(installed: Path) -> None:
    """But dense for those who ask for values."""
    punctuator = pyropunct.load("en")
    weights = punctuator.story.attach.weights
    assert weights.is_sparse
    values = punctuator.values["attach.weights"]
    assert not values.is_sparse
    assert torch.equal(values, weights.to_dense())


def test_texts_from_python(installed: Path, file: Path) -> None:
    punctuator = pyropunct.load("en")
    some = pyropunct.load("en", samples=20, capital=False)
    texts = [TEXT, "", "go"]
    assert some(texts) == [some(text) for text in texts] == list(some(iter(texts)))
    assert some(TEXT) == printed("restore", file, *QUICK, "--no-capital")
    assert some([]) == []
    running = partial(some, running=True)
    assert running(["go home we sing", "go"]) == [running("go home we sing"), running("go")]
    assert punctuator("go").startswith("Go")


def test_the_package_is_a_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["pyropunct", "--version"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("pyropunct", run_name="__main__")
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("pyropunct, version ")
