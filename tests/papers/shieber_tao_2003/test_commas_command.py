"""``pyropunct compare commas``: what it prints and what it refuses."""

from pathlib import Path
from typing import Any

import pytest
from command_line import answer, complaint, printed

from pyropunct.nets.parser import BiaffineParser, train_parser
from pyropunct.papers.li_2019 import restoration_experiment
from pyropunct.papers.li_2019.restorers import Conditions
from pyropunct.papers.shieber_tao_2003 import comma_experiment
from pyropunct.papers.shieber_tao_2003.models import MODELS
from pyropunct.text.marks import START
from pyropunct.treebank.sentence import Sentence

BAD_INPUT = 2
TREES = """
( (S (NP (NNP Clara)) (, ,) (NP (DT a) (NN dog)) (, ,) (VP (VBD sang)) (. .)))
( (S (NP (NNP Clara)) (VP (VBD sang) (NP (DT a) (NN song))) (. .)))
( (S (PP (IN in) (NP (NNP Rome))) (, ,) (NP (NNP Clara)) (VP (VBD sang)) (. .)))
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "three.mrg"
    path.write_text(4 * TREES, encoding="utf-8")
    return path


def test_a_table_with_a_row_for_each_model(file: Path) -> None:
    text = printed("compare", "commas", file, file)
    assert all(f"│ {name} " in text for name in MODELS)
    assert "Trained on 12 sentences with 12 commas, measured on 12 with 12;" in text


def test_the_parser_of_a_model_brings_further_rows(file: Path, model_with_parser: Path) -> None:
    options = ("--models", "10,3", "--model", model_with_parser, "--samples", 20)
    value = answer("compare", "commas", file, file, *options)
    assert [(one["model"], one["trees"]) for one in value["systems"]] == [
        ("10", "gold"),
        ("3", "gold"),
        ("5", "parsed"),
        ("12", "parsed"),
        ("story, parsed", "parsed"),
    ]


def test_a_model_of_converted_trees_is_measured_on_these(file: Path, tmp_path: Path) -> None:
    converted, folder = tmp_path / "three.conllu", tmp_path / "model"
    printed("convert", file, "--out", converted)
    options = ("--direction", "left", "--epochs", 1, "--threads", 1)
    printed("fit", converted, "--dev", converted, "--out", folder, *options)
    value = answer("compare", "commas", file, file, "--models", "1", "--model", folder, "--samples", 20)
    assert [one["model"] for one in value["systems"]] == ["1", "story, gold"]


def test_a_model_of_the_same_sentences_is_trained_once(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comma_experiment, "Conditions", lambda **some: Conditions(**some).quick())
    read = set()

    def recorded(train: tuple[Sentence, ...], *others: Any, marks: bool, **options: Any) -> BiaffineParser:
        read.add((marks, frozenset(mark for one in train for slot in one.surface for mark in slot)))
        return train_parser(train, *others, marks=marks, **options)

    monkeypatch.setattr(restoration_experiment, "train_parser", recorded)
    options = ("--models", "3,10", "--samples", 5, "--threads", 1, "--fit", "--out", tmp_path / "out")
    value = answer("compare", "commas", file, file, *options, "--folds", 2)
    names = ["3", "10", "5", "12", "6", "7", "story, gold", "story, parsed"]
    assert [one["model"] for one in value["systems"]] == names
    assert read == {(False, frozenset({START, ",", "."})), (True, frozenset(","))}
    monkeypatch.setattr(restoration_experiment, "train_parser", None)
    assert answer("compare", "commas", file, file, *options, "--folds", 2)["systems"] == value["systems"]
    assert "(folds)" in complaint(BAD_INPUT, "compare", "commas", file, file, *options, "--folds", 3)
    told = complaint(BAD_INPUT, "compare", "commas", file, file, "--fit", "--model", "en")
    assert told.startswith("--fit fits a model of its own")


def test_bad_input_is_told_in_one_line(file: Path, small: Path, tmp_path: Path) -> None:
    empty, plain = tmp_path / "empty.mrg", tmp_path / "plain.mrg"
    empty.write_text("", encoding="utf-8")
    plain.write_text("(S (NN a) (. .))", encoding="utf-8")
    dependencies = small / "dev.conllu"
    assert complaint(BAD_INPUT, "compare", "commas", empty, file) == (
        f"{empty}: there is no sentence in the file"
    )
    assert complaint(BAD_INPUT, "compare", "commas", plain, file) == (
        f"{plain}: there is no comma in the file, so nothing to learn from"
    )
    told = complaint(BAD_INPUT, "compare", "commas", file, dependencies)
    assert told.startswith(f"{dependencies}:1: ")
    assert "stands outside of all brackets" in told
    told = complaint(BAD_INPUT, "compare", "commas", file, file, "--models", "1,99")
    assert told.startswith("Invalid value for '--models': there is no model '99'; there are 1, 1t, 2, 3, ")
    told = complaint(BAD_INPUT, "compare", "commas", file, file, "--model", small / "model")
    assert told.startswith(f"{small / 'model'}: the model has no parser (fit --parser), and was not fitted ")
