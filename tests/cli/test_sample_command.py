"""The command ``pyropunct sample`` without a file, which draws whole sentences."""

from pathlib import Path

import pytest
from command_line import answer, complaint, printed

from pyropunct.punctuator import Punctuator

pytestmark = pytest.mark.usefixtures("single_precision")


def test_sentences_are_drawn(small: Path) -> None:
    lines = printed("sample", small / "model", "--samples", 20).splitlines()
    assert len(lines) == 20
    vocabulary = Punctuator.load(small / "model").vocabulary
    shown = {*vocabulary.forms, *(tag.lower() for tag in vocabulary.tags), "_"} - {""}
    assert all(shown.intersection(line.lower().split()) for line in lines)
    assert any({*vocabulary.forms}.intersection(line.lower().split()) for line in lines)
    assert any(line.endswith(" .") for line in lines)


def test_equal_seeds_give_equal_dreams(small: Path) -> None:
    first, again, other = (
        printed("sample", small / "model", "--samples", 3, "--seed", seed) for seed in (1, 1, 2)
    )
    assert first == again != other


def test_all_shapes_tell_the_same_dreams(small: Path) -> None:
    arguments = ("sample", small / "model", "--samples", 3)
    sentences = answer(*arguments)["sentences"]
    assert [one["text"] for one in sentences] == printed(*arguments).splitlines()
    assert [one["underlying"] for one in sentences] == printed(
        *arguments, "--format", "brackets"
    ).splitlines()
    assert all(one["underlying"].startswith("[root ") for one in sentences)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("FILE", "--format", "brackets"), "--format brackets is for calls without FILE"),
        (("--format", "conllu"), "--format conllu is for calls with FILE"),
        (("--balanced",), "--balanced is for the trees of FILE"),
    ],
)
def test_options_that_make_no_sense(small: Path, options: tuple[str, ...], problem: str) -> None:
    assert complaint(2, "sample", small / "model", *options) == f"{problem} (see pyropunct sample --help)"


def test_no_model(tmp_path: Path) -> None:
    assert complaint(2, "sample", tmp_path / "x").endswith("no such model")
