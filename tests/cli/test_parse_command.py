"""The command ``pyropunct parse``."""

import json
from pathlib import Path

import pytest
from command_line import answer, complaint, invoke, printed

from pyropunct.treebank.reading import read_text, read_treebank

pytestmark = pytest.mark.usefixtures("single_precision")

TEXT = "The doctor, who sings, left.\n\n\nSings the doctor?\n"


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_raw_text_becomes_a_treebank(model_with_parser: Path, text: Path) -> None:
    found = read_text(printed("parse", model_with_parser, text, "--draws", 5))
    assert [sentence.identifier for sentence in found] == ["1", "4"]
    assert [sentence.text() for sentence in found] == TEXT.split("\n")[::3][:2]


def test_a_treebank_keeps_all_but_its_trees(model_with_parser: Path, small: Path) -> None:
    options = ("--draws", 5)
    first = printed("parse", model_with_parser, small / "dev.conllu", *options)
    found, given = list(read_text(first)), list(read_treebank(small / "dev.conllu"))
    assert [one.surface for one in found] == [one.surface for one in given]
    assert [one.text() for one in found] == [one.text() for one in given]
    assert [one.tree.heads for one in found] != [one.tree.heads for one in given]
    value = answer("parse", model_with_parser, small / "dev.conllu", *options)
    assert [tuple(one["heads"]) for one in value["sentences"]] == [one.tree.heads for one in found]
    assert [tuple(one["relations"]) for one in value["sentences"]] == [one.tree.relations for one in found]
    assert all(0 <= one["expected_wrong_heads"] < len(one["words"]) for one in value["sentences"])


def test_scores_are_those_of_the_trees(model_with_parser: Path, small: Path) -> None:
    dev = small / "dev.conllu"
    found, given = read_text(printed("parse", model_with_parser, dev, "--draws", 5)), read_treebank(dev)
    pairs = [
        pair
        for one, other in zip(found, given, strict=True)
        for pair in zip(one.tree.heads, other.tree.heads, strict=True)
    ]
    value = answer("parse", model_with_parser, dev, "--draws", 5, "--score")
    assert value["uas"] == pytest.approx(100 * sum(one == other for one, other in pairs) / len(pairs))
    assert (value["words"], value["sentences"]) == (len(pairs), 30)
    told = printed("parse", model_with_parser, dev, "--draws", 5, "--score")
    assert told.startswith(f"UAS {value['uas']:.2f}, LAS {value['las']:.2f}")


def test_marks_count_as_much_as_is_said(model_with_parser: Path, text: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.txt"
    bare.write_text(TEXT.replace(",", "").replace(".", ""), encoding="utf-8")

    def trees(file: Path, strength: float) -> list[tuple[int, ...]]:
        options = ("--draws", 50, "--strength", strength, "--json")
        value = json.loads(printed("parse", model_with_parser, file, *options))
        return [(*one.get("heads", ()), one["expected_wrong_heads"]) for one in value["sentences"]]

    assert trees(text, 0) == trees(bare, 0)
    assert trees(text, 1) != trees(bare, 1)


def test_bad_input(model_with_parser: Path, small: Path, text: Path, tmp_path: Path) -> None:
    assert complaint(2, "parse", small / "model", text).startswith(f"{small / 'model'}: has no parser: fit")
    assert "there is no tree to compare with" in complaint(2, "parse", model_with_parser, text, "--score")
    empty = tmp_path / "empty.conllu"
    empty.write_text("")
    assert complaint(2, "parse", model_with_parser, empty) == f"{empty}: there is no sentence in the file"
    marks = tmp_path / "marks.txt"
    marks.write_text("...\n(\n")
    assert printed("parse", model_with_parser, marks) == ""
    mixed = tmp_path / "mixed.txt"
    mixed.write_bytes(b"The doctor sings.\n\xff\xfe sings.\nShe sings ( loudly.\n")
    result = invoke("parse", model_with_parser, mixed)
    assert [one.text() for one in read_text(result.stdout)] == ["The doctor sings.", "She sings ( loudly."]
    assert result.exit_code == 2
    assert f"{mixed}:2" in result.stderr
