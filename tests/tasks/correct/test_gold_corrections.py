"""Files of what learners wrote, with its corrections."""

import json
from pathlib import Path

import pytest

from pyropunct.errors import InputError
from pyropunct.tasks.correct.gold_corrections import read_learner_treebanks, read_learners
from pyropunct.text.marks import START

PAIR = {"id": "dev-7-2", "words": ["so", "go"], "wrong": [[], [], ["."]], "right": [[], [","], ["."]]}


def written(folder: Path, *lines: object) -> Path:
    path = folder / "learners.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


def test_a_correction_is_read(tmp_path: Path) -> None:
    [one] = read_learners(written(tmp_path, PAIR))
    assert (one.sentence, one.words) == ("dev-7", ("so", "go"))
    assert one.wrong == ((START,), (), (".",))
    assert one.right == ((START,), (",",), (".",))


def test_straight_quotation_marks_are_those_of_either_kind(tmp_path: Path) -> None:
    quotes = {"wrong": [["``"], [], [".", "''"]], "right": [['"'], [], [".", '"']]}
    [one] = read_learners(written(tmp_path, {**PAIR, **quotes}))
    assert one.wrong == one.right == ((START, "“"), (), (".", "”"))


def test_half_a_pair_stays_what_it_shows(tmp_path: Path) -> None:
    [one] = read_learners(
        written(tmp_path, {**PAIR, "wrong": [[], [], [".", "''"]], "right": [['"'], [], []]})
    )
    assert (one.wrong[2], one.right[0]) == ((".", "”"), (START, "“"))


def treebank(path: Path, *sentences: tuple[str, str, list[int]]) -> Path:
    """A CoNLL-U file of sentences with an identifier, tokens and heads; tokens without a letter are marks."""
    blocks = []
    for name, text, heads in sentences:
        rows = [
            (number, token, "X" if token.isalpha() else "PUNCT", head)
            for number, (token, head) in enumerate(zip(text.split(), heads, strict=True), 1)
        ]
        lines = [f"{n}\t{form}\t_\t{tag}\t_\t_\t{head}\t_\t_\t_\n" for n, form, tag, head in rows]
        blocks.append("".join([f"# sent_id = {name}\n", *lines, "\n"]))
    path.write_text("".join(blocks), encoding="utf-8")
    return path


def test_two_treebanks_of_what_was_written_and_its_correction(tmp_path: Path) -> None:
    """Paired by their identifiers; a sentence whose tree was corrected too is left out."""
    wrong = treebank(
        tmp_path / "wrong.conllu",
        ("b", "He go", [2, 0]),
        ("a", 'So we goes " home', [3, 3, 0, 5, 3]),
        ("c", "We go", [2, 0]),
    )
    right = treebank(
        tmp_path / "right.conllu",
        ("a", "So , we go home .", [4, 4, 4, 0, 4, 4]),
        ("b", "He goes .", [0, 1, 1]),
    )
    [one] = read_learner_treebanks(wrong, right)
    assert (one.sentence, one.words) == ("a", ("So", "we", "go", "home"))
    assert one.wrong == ((START,), (), (), ("“",), ())
    assert one.right == ((START,), (",",), (), (), (".",))
    other = treebank(tmp_path / "other.conllu", ("d", "He go", [2, 0]))
    with pytest.raises(InputError, match="no sentence has the identifier and the tree of one in"):
        read_learner_treebanks(other, right)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"wrong": [[], []]}, "2 words have 3 slots, not 2"),
        ({"words": []}, "it has no word"),
        ({"words": "so go"}, "'words' is no list of texts"),
        ({"right": [[], [1], []]}, "'right' is no list of texts"),
        ({"right": 3}, "int"),
    ],
)
def test_what_is_no_correction_is_told_with_its_line(
    tmp_path: Path, change: dict[str, object], problem: str
) -> None:
    path = written(tmp_path, PAIR, {**PAIR, **change})
    with pytest.raises(InputError, match=f"{path}:2: is no corrected sentence: .*{problem}"):
        read_learners(path)


def test_what_is_lacking_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=":1: is no corrected sentence: lacks 'words'"):
        read_learners(written(tmp_path, {"id": "x"}))
    with pytest.raises(InputError, match=":1: is no corrected sentence"):
        read_learners(written(tmp_path, "text"))
    with pytest.raises(InputError, match="there is no sentence"):
        read_learners(written(tmp_path))
    with pytest.raises(InputError, match="there is no such file"):
        read_learners(tmp_path / "none")
