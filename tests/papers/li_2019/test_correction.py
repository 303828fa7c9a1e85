"""Correction by several systems, side by side."""

import json
from functools import partial
from pathlib import Path

import pytest
from command_line import answer, complaint, printed

from pyropunct.papers.li_2019.correction_experiment import (
    FITTED,
    FOLDS,
    RATE_FOUND,
    folds_by_sentence,
)
from pyropunct.papers.li_2019.recurrent import RivalRecipe
from pyropunct.papers.options import CORRECTORS
from pyropunct.tasks.correct.gold_corrections import Corrected
from pyropunct.text.marks import START
from pyropunct.treebank.sentence import Sentence

pytestmark = pytest.mark.usefixtures("single_precision")

BAD_INPUT = 2


def corrected(sentence: str, *right: str) -> Corrected:
    """A correction of three words; a learner's text has a comma behind the first and a period at the end."""
    slots = ((START,), *(tuple(slot.split()) for slot in right))
    return Corrected(sentence, ("so", "we", "go"), ((START,), (",",), (), (".",)), slots)


def test_corrections_of_a_sentence_are_in_one_part() -> None:
    learners = [corrected(str(number // 4)) for number in range(400)]
    parts = folds_by_sentence(learners, 0)
    assert set(parts) == set(range(FOLDS))
    assert all(parts[number] == parts[number // 4 * 4] for number in range(400))
    assert parts != folds_by_sentence(learners, 1)


@pytest.fixture
def learners(tmp_path: Path, dev: list[Sentence]) -> Path:
    """Sentences whose commas learners have forgotten, in two corrections each."""
    path = tmp_path / "learners.jsonl"
    with path.open("w", encoding="utf-8") as stream:
        for number, one in enumerate(dev[:12]):
            right = [[mark for mark in slot if not mark.startswith("\t")] for slot in one.surface]
            wrong = [[mark for mark in slot if mark != ","] for slot in right]
            for reference in range(2):
                plain = {"words": one.tree.forms, "wrong": wrong, "right": right}
                print(json.dumps({"id": f"x-{number}-{reference}", **plain}), file=stream)
    return path


def test_all_tables(
    small: Path, model_with_parser: Path, learners: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pyropunct.papers.li_2019.correction_experiment.CURVE", (0, 20))
    files = (small / "train.conllu", small / "dev.conllu")
    options = ("--model", model_with_parser, "--systems", "alone,channel", "--trees", 2, "--threads", 1)
    value = answer("compare", "correction", *files, *options, "--learners", learners, "--curve")
    alone, gold, gold_told, predicted, told = value["simulated"]
    assert [row["trees"] for row in value["simulated"]] == ["", *["gold"] * 2, *["predicted"] * 2]
    assert gold_told["system"] == told["system"] == CORRECTORS["channel"] + RATE_FOUND
    assert (alone["proposed"], alone["precision"], alone["recall"]) == (0, 1, 0)
    assert alone["gold"] == gold["gold"] == predicted["gold"] > 0
    assert gold["average_edit_distance"] < alone["average_edit_distance"]
    names = [row["system"] for row in value["learners"]]
    both = [one + way for one in (CORRECTORS["channel"], FITTED) for way in ("", RATE_FOUND)]
    assert names == [CORRECTORS["alone"], *both]
    written = map(json.loads, learners.read_text(encoding="utf-8").splitlines())
    forgotten = sum("," in slot for one in written for slot in one["right"])
    assert {row["gold"] for row in value["learners"]} == {forgotten}
    errors = [point["errors"] for point in value["curve"]]
    assert errors[0] == 0
    assert errors[1] == pytest.approx(20, abs=10)
    text = printed("compare", "correction", *files, *options, "--systems", "alone")
    assert "Simulated errors" in text
    assert f"{alone['average_edit_distance']:.4f}" in text


def test_restoration_reads_the_words_alone(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the errors are, it leaves equally many edits."""
    monkeypatch.setattr("pyropunct.papers.li_2019.correction_experiment.CURVE", (0, 40))
    options = ("--model", small / "model", "--systems", "alone,restoration", "--samples", 50, "--curve")
    value = answer("compare", "correction", small / "train.conllu", small / "dev.conllu", *options)
    (alone, restored), (more, again) = (point["rows"] for point in value["curve"])
    assert restored["system"] == CORRECTORS["restoration"]
    assert more["average_edit_distance"] > alone["average_edit_distance"] == 0
    assert again["average_edit_distance"] == restored["average_edit_distance"] > 0
    assert again["f0.5"] != restored["f0.5"]


def test_learners_in_two_treebanks(small: Path, model_with_parser: Path, tmp_path: Path) -> None:
    wrong, right = tmp_path / "wrong.conllu", small / "dev.conllu"
    lines = right.read_text(encoding="utf-8").splitlines(keepends=True)
    wrong.write_text("".join(line.replace("\t.\t", "\t!\t", 1) for line in lines), encoding="utf-8")
    options = ("--model", model_with_parser, "--systems", "alone", "--learners", wrong, "--corrected", right)
    [row] = answer("compare", "correction", right, right, *options)["learners"]
    marks = sum("\t.\t" in line for line in lines)
    assert row["gold"] == marks > 0


def test_the_rivals_are_trained(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = partial(RivalRecipe, epochs=1, least_steps=0, word_size=8, hidden_size=8)
    monkeypatch.setattr("pyropunct.papers.li_2019.correction_experiment.RivalRecipe", quick)
    options = ("--model", small / "model", "--systems", "paper,crf", "--epochs", 1, "--copies", 1)
    more = ("--samples", 20, "--threads", 1)
    value = answer("compare", "correction", small / "dev.conllu", small / "dev.conllu", *options, *more)
    assert [(row["system"], row["trees"]) for row in value["simulated"]] == [
        (CORRECTORS["paper"], "gold"),
        (CORRECTORS["crf"], ""),
    ]


def test_bad_input(small: Path, learners: Path, tmp_path: Path) -> None:
    files = (small / "train.conllu", small / "dev.conllu", "--model", small / "model")
    told = complaint(BAD_INPUT, "compare", "correction", *files, "--systems", "best")
    assert told.startswith("Invalid value for '--systems': there is no system 'best'; there are alone, ")
    told = complaint(BAD_INPUT, "compare", "correction", *files, "--corrected", files[1])
    assert told == "--corrected is for --learners: give both"
    told = complaint(BAD_INPUT, "compare", "correction", *files, "--learners", tmp_path / "none")
    assert told == f"{tmp_path / 'none'}: there is no such file"
    told = complaint(BAD_INPUT, "compare", "correction", *files, "--learners", learners)
    assert told == f"--learners: {small / 'model'} has no parser for the sentences of learners"
