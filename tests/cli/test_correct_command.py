"""The commands ``pyropunct correct`` and ``pyropunct fit-correction``."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import answer, complaint, invoke, printed
from model_files import copied
from rapidfuzz.distance import Levenshtein

from pyropunct.punctuator import Punctuator
from pyropunct.restore.items import CHUNK
from pyropunct.tasks.correct.channel import MOST_MARKS
from pyropunct.tasks.correct.correcting import load_corrector
from pyropunct.text.conventions import Conventions
from pyropunct.treebank.reading import read_text, read_treebank

pytestmark = pytest.mark.usefixtures("single_precision")

BAD_INPUT = 2


@pytest.fixture(scope="module")
def corrector(small: Path, model_with_parser: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corrector with a parser, neither of them good."""
    folder = tmp_path_factory.mktemp("correct")
    out, treebanks = folder / "corrector", (small / "train.conllu", "--dev", small / "dev.conllu")
    replace(Punctuator.load(model_with_parser), tagger=None, parsed=None).save(folder / "model")
    value = answer("fit-correction", *treebanks, "--model", folder / "model", "--out", out)
    assert value["model"] == str(out)
    assert value["errors"] > 3
    assert 1 < value["perplexity"] < 1.2
    return out


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "input"


def corrected(corrector: Path, file: Path, text: str, *options: object) -> str:
    file.write_text(text, encoding="utf-8")
    return printed("correct", corrector, file, *options)


def test_raw_text(corrector: Path, file: Path) -> None:
    """Each line stays a line; what was right stays character for character."""
    lines = ["", "Ann  sings .", "My sister  sings", "?!", "Go!!"]
    text = corrected(corrector, file, "\n".join(lines) + "\n")
    found = text.split("\n")
    assert len(found) == len(lines) + 1
    assert (found[0], found[3]) == ("", "?!")
    value = json.loads(corrected(corrector, file, "\n".join(lines) + "\n", "--json"))
    for line, before, after in zip(value["sentences"], lines, found, strict=False):
        assert line["text"] == after
        assert (before == after) == (not line["edits"] and not line["slips"])
    assert [line["line"] for line in value["sentences"]] == [1, 2, 3, 4, 5]
    assert value["omitted"] == 0


@pytest.mark.parametrize(
    "asked",
    [
        ("correct",),
        ("correct", "--format", "conllu"),
        ("restore", "--keep"),
        ("restore", "--running"),
        ("restore", "--format", "conllu"),
        ("rephrase", "--permute", "base", "--samples", 2, "--format", "conllu"),
        ("underlying", "--format", "conllu", "--attach-punctuation"),
    ],
    ids=lambda asked: " ".join(map(str, asked[:3])),
)
def test_ends_of_lines_stay(corrector: Path, small: Path, file: Path, asked: tuple[object, ...]) -> None:
    """Those of raw text and of treebanks; a last line without an end gets that of the line before."""
    name, *options = asked
    treebank = b"\n\n".join((small / "dev.conllu").read_bytes().split(b"\n\n")[:3]) + b"\n\n"
    texts = [treebank] * (asked != ("restore", "--running"))
    texts += [b"Ann sings .\n\nMy sister  sings go\non\n?!\nGo"] * ("conllu" not in asked)
    for text in texts:
        usual, found = (
            file.write_bytes(given) and invoke(name, corrector, file, *options).stdout_bytes
            for given in (text, text.replace(b"\n", b"\r\n"))
        )
        assert found == usual.replace(b"\n", b"\r\n") != b""
        assert usual.endswith(b"\n")


def test_of_several_languages_the_errors_of_english_are_known(file: Path) -> None:
    """Other lines are left, in Python as by the command, which says so in one line."""
    found = "\nIch weiß nicht ob er kommt.\n"
    file.write_text(found, encoding="utf-8")
    result = invoke("correct", "multi", file)
    unlearned = "the model has not learned errors in de (`pyropunct restore --anew` punctuates anew, "
    assert (result.exit_code, result.stdout) == (BAD_INPUT, found)
    assert result.stderr.startswith(f"pyropunct: {file}: 1 lines are left as they were: {unlearned}")
    assert result.stderr.count("\n") == 1
    with pytest.warns(match="has not learned errors in de"):
        assert load_corrector("multi")(found) == found
    named = invoke("correct", "multi", file, "--language", "de")
    assert (named.exit_code, named.stdout) == (BAD_INPUT, "")
    assert unlearned in named.stderr


def test_python_corrects_as_the_command_does(file: Path) -> None:
    """A right line and white space stay."""
    text = "However the  meeting ended ,too.\n\nWe  went home.\nHowever we went home."
    file.write_text(text, encoding="utf-8")
    correct = load_corrector("en")
    assert correct(text) == printed("correct", "en", file).removesuffix("\n")
    assert correct(text).split("\n")[2] == "We  went home."
    assert correct("However we went home.") != correct("However we went home.", threshold=1.0)
    with pytest.raises(TypeError, match="a text is a string, not bytes: decode it"):
        correct(text.encode())  # type: ignore[arg-type]


def test_edits_lead_from_the_wrong_to_the_right_marks(corrector: Path, small: Path) -> None:
    treebank = read_treebank(small / "dev.conllu")
    value = answer("correct", corrector, small / "dev.conllu")
    changed = 0
    for sentence, found in zip(treebank, value["sentences"], strict=True):
        assert (found["id"], found["words"]) == (sentence.identifier, list(sentence.tree.forms))
        marks = [[mark.strip("\t") for mark in slot if mark != "\t^"] for slot in sentence.surface]
        for edit in found["edits"]:
            assert 0 < edit["probability"] <= 1
            for sprout in edit["sprouted"]:
                assert sprout["mark"] in edit["after"]
                assert " ".join(sprout["words"]) in " ".join(found["words"])
            assert marks[edit["slot"]] == edit["before"] != edit["after"]
            marks[edit["slot"]] = edit["after"]
        assert marks == found["marks"]
        changed += bool(found["edits"])
    assert 0 < changed < len(treebank)


def test_lines_of_edits(corrector: Path, small: Path) -> None:
    value = answer("correct", corrector, small / "dev.conllu")
    text = printed("correct", corrector, small / "dev.conllu", "--format", "edits")
    lines = iter(text.splitlines())
    for sentence in value["sentences"]:
        words = ["^", *sentence["words"], "$"]
        for edit in sentence["edits"]:
            before, after = (" ".join(edit[side]) or "∅" for side in ("before", "after"))
            place = f"{words[edit['slot']]} [{before} → {after}] {words[edit['slot'] + 1]}"
            reasons = "; ".join(
                f"{one['mark']} of {one['relation']}: {' '.join(one['words'])}" for one in edit["sprouted"]
            )
            line = next(lines)
            if "…" not in line:  # where a long constituent is shortened
                assert line == f"{sentence['id']}\t{place}\t{edit['probability']:.2f}\t{reasons}"
    assert next(lines, None) is None


def test_edits_as_entries_of_a_treebank(corrector: Path, small: Path, file: Path) -> None:
    """All else stays; each inserted mark that is sprouted, and each that goes, has an entry."""
    value = answer("correct", corrector, small / "dev.conllu")
    annotated = printed("correct", corrector, small / "dev.conllu", "--format", "misc")
    for before, after in zip(
        (small / "dev.conllu").read_text("utf-8").split("\n"), annotated.split("\n"), strict=True
    ):
        assert before.split("\t")[:-1] == after.split("\t")[:-1]
    found = Counter[str]()
    for sentence, given in zip(read_text(annotated), value["sentences"], strict=True):
        for number, token in enumerate(sentence.layout.block.tokens, 1):
            misc = dict(entry.partition("=")[::2] for entry in token.columns[-1].split("|"))
            found["superfluous"] += misc.get("PunctSuperfluous") == "Yes"
            for side, _, mark in (
                one.partition(":") for one in misc.get("PunctMissing", "").split("+") if one
            ):
                found[mark] += 1
                word = sentence.layout.words.index(number) + 1
                first, last = sentence.tree.spans[word - 1]
                assert any(
                    edit["slot"] == (first - 1 if side == "Left" else last) and mark in edit["after"]
                    for edit in given["edits"]
                )
    edits = [edit for sentence in value["sentences"] for edit in sentence["edits"]]
    sprouted = Counter(one["mark"] for edit in edits for one in edit["sprouted"])
    assert sprouted
    assert all(found[mark] == sprouted[mark] for mark in sprouted)
    steps = [step for edit in edits for step in Levenshtein.opcodes(edit["before"], edit["after"])]
    gone = sum(step.src_end - step.src_start for step in steps if step.tag != "equal")
    assert found["superfluous"] == gone > 0
    file.write_text("Ann sings\n", encoding="utf-8")
    assert "--format misc is for CoNLL-U" in complaint(
        BAD_INPUT, "correct", corrector, file, "--format", "misc"
    )


def test_thresholds_and_rates_of_errors(corrector: Path, small: Path, tmp_path: Path) -> None:
    """A threshold keeps what is likely; a rate can be told, or found."""
    dev = tmp_path / "dev.conllu"
    blocks = (small / "dev.conllu").read_text(encoding="utf-8").split("\n\n")[:6]
    dev.write_text("\n\n".join(blocks) + "\n\n", encoding="utf-8")
    usual = answer("correct", corrector, dev)

    def edits(*options: object) -> list[dict[str, Any]]:
        value = answer("correct", corrector, dev, *options)
        return [edit for one in value["sentences"] for edit in one["edits"]]

    likely = edits("--threshold", 0.8)
    assert all(edit["probability"] >= 0.8 for edit in likely)
    assert len(likely) <= sum(len(one["edits"]) for one in usual["sentences"])
    assert not edits("--rate", 0)
    assert edits("--rate", 4)
    assert answer("correct", corrector, dev, "--rate", 1) == usual
    assert answer("correct", corrector, dev, "--find-rate") != usual
    both = complaint(BAD_INPUT, "correct", corrector, dev, "--rate", 1, "--find-rate")
    assert both == "--rate tells what --find-rate is to find: give one of the two"


def test_a_noisy_channel_is_fitted_to_what_learners_wrote(
    corrector: Path, file: Path, tmp_path: Path
) -> None:
    words = ["Ann", "sings", "and", "he", "cooks"]
    right = [[], [], [","], [], [], ["."]]
    plain = {"words": words, "wrong": [[], [], [], [], [], ["."]], "right": right}
    lines = [json.dumps({"id": f"x-{number}-0", **plain}) for number in range(9)]
    pairs = tmp_path / "learners.jsonl"
    pairs.write_text("\n".join(lines), encoding="utf-8")
    options = ("--model", corrector, "--out", tmp_path / "learned")
    said = printed("fit-correction", pairs, *options)
    assert said == f"{tmp_path / 'learned'}: 9 corrections by learners; 1 errors\n"
    file.write_text("Ann sings and he cooks .\n", encoding="utf-8")
    assert invoke("correct", tmp_path / "learned", file).exit_code == 0
    pairs.write_text(json.dumps({"id": "x-0-0", **plain, "wrong": right}), encoding="utf-8")
    assert "no error to learn from" in complaint(BAD_INPUT, "fit-correction", pairs, *options)
    refused = invoke("fit-correction", pairs, *options, "--dev", pairs)
    assert "TRAIN is a file of corrections" in refused.stderr


def test_conllu_in_and_out(corrector: Path, small: Path) -> None:
    text = printed("correct", corrector, small / "dev.conllu", "--format", "conllu")
    value = answer("correct", corrector, small / "dev.conllu")
    for sentence, found in zip(read_text(text), value["sentences"], strict=True):
        assert sentence.text() == found["text"]
        assert list(sentence.tree.forms) == found["words"]


def test_results_do_not_depend_on_chunks(corrector: Path, file: Path) -> None:
    some = ["Ann sings , .", "the old man", "so , he went home ."]
    many = corrected(corrector, file, "\n".join(some * CHUNK))
    assert many.splitlines()[: len(some)] == corrected(corrector, file, "\n".join(some)).splitlines()


def test_a_tenth_of_the_training_sentences_is_held_out(corrector: Path, small: Path, tmp_path: Path) -> None:
    options = ("--model", corrector, "--out", tmp_path / "one", "--errors", 0.5, "--threads", 1)
    text = printed("fit-correction", small / "train.conllu", *options)
    assert text.startswith(f"{tmp_path / 'one'}: 108 sentences, 2 times; ")
    assert load_corrector(tmp_path / "one").model.conventions != Conventions()


def test_sentences_that_cannot_be_used_are_told(corrector: Path, file: Path) -> None:
    rows = ["1\tgo\t_\tVERB\t_\t_\t0\troot\t_\t_", "2\t.\t_\tPUNCT\t_\t_\t1\tpunct\t_\t_"]
    bad = ["1\t.\t_\tPUNCT\t_\t_\t0\troot\t_\t_"]
    file.write_text("\n".join([*rows, "", *bad, "", ""]), encoding="utf-8")
    result = invoke("correct", corrector, file)
    assert result.exit_code == 0
    assert result.stdout.count("\n") == 1
    assert result.stderr == f"pyropunct: {file}: 1 omitted: #2 (it has no word)\n"
    file.write_text("", encoding="utf-8")
    assert answer("correct", corrector, file)["sentences"] == []


def test_bad_input(corrector: Path, small: Path, file: Path, tmp_path: Path) -> None:
    assert complaint(BAD_INPUT, "correct", tmp_path / "none", file).endswith("no such model")
    told = complaint(BAD_INPUT, "correct", small / "model", file)
    assert told.endswith("make one by `pyropunct fit-correction TRAIN --model MODEL`")
    assert complaint(BAD_INPUT, "correct", corrector, file) == f"{file}: there is no such file"
    file.write_bytes(b"caf\xe9\n")
    result = invoke("correct", corrector, file)
    assert (result.exit_code, result.stdout_bytes) == (BAD_INPUT, b"caf\xe9\n")
    assert "not UTF-8" in result.stderr
    damaged = copied(corrector, tmp_path / "damaged")
    damaged.write_bytes(damaged.read_bytes()[:-1])
    assert "is damaged" in complaint(BAD_INPUT, "correct", damaged, file)


def test_raw_text_needs_a_parser(small: Path, corrector: Path, file: Path, tmp_path: Path) -> None:
    options = ("--model", small / "model", "--out", tmp_path / "one", "--threads", 1)
    said = printed("fit-correction", small / "train.conllu", "--dev", small / "dev.conllu", *options)
    assert said.startswith(f"{small / 'model'} has no parser: ")
    file.write_text("go\n", encoding="utf-8")
    assert "has no parser" in complaint(BAD_INPUT, "correct", tmp_path / "one", file)


def test_what_cannot_be_fitted(small: Path, corrector: Path, tmp_path: Path) -> None:
    train = small / "train.conllu"
    folder = tmp_path / "one"
    assert "no such model" in complaint(
        BAD_INPUT, "fit-correction", train, "--model", tmp_path / "none", "--out", folder
    )
    assert "there is no such file" in complaint(
        BAD_INPUT, "fit-correction", tmp_path / "none", "--model", small / "model", "--out", folder
    )
    told = complaint(
        BAD_INPUT, "fit-correction", train, "--model", small / "model", "--out", folder, "--errors", 3
    )
    assert told.startswith("--errors 3: the error rate")
    taken = tmp_path / "taken.safetensors"
    taken.write_text("mine")
    assert "is not the file of a model" in complaint(
        BAD_INPUT, "fit-correction", train, "--model", small / "model", "--out", taken
    )
    assert [path.name for path in tmp_path.iterdir()] == ["taken.safetensors"]


def test_a_line_with_too_many_marks_in_one_place_is_left_as_it_was(corrector: Path, file: Path) -> None:
    """Memory is quadratic in the marks of a slot, so it is bounded."""
    lines = [
        "Ann sings , .",
        f"Ann {'(' * MOST_MARKS}sings{')' * MOST_MARKS} now .",
        f"Ann {'(' * 250}sings .",
    ]
    text = "\n".join([*lines, lines[0], ""])
    file.write_text(text, encoding="utf-8")
    result = invoke("correct", corrector, file)
    assert result.exit_code == BAD_INPUT
    assert result.stderr.splitlines() == [
        f"pyropunct: {file}:3: 250 marks behind word 1: a place with more than 20 is not corrected; "
        "it is left as it was",
        f"pyropunct: {file}: 1 left as they were because of errors",
    ]
    found = result.stdout.splitlines()
    assert found[2] == lines[2]
    assert found[0] == found[3] == corrected(corrector, file, lines[0] + "\n").rstrip("\n")


def test_slips_of_typing_are_edits(tmp_path: Path) -> None:
    """They are mended first, and told; the settings choose among them."""
    file = tmp_path / "typed.txt"
    file.write_text("Hello,my name is Bo .\nI like it.\n", encoding="utf-8")
    assert printed("correct", "en", file) == "Hello, my name is Bo.\nI like it.\n"
    edits = [line.split("\t") for line in printed("correct", "en", file, "--format", "edits").splitlines()]
    assert [(place, change) for place, change, *_ in edits] == [
        ("1", "[Hello,my → Hello, my]"),
        ("1", "[Bo . → Bo.]"),
    ]
    assert printed("correct", "en", file, "--typing", "before") == "Hello,my name is Bo.\nI like it.\n"
    assert "none of twice, before, behind" in complaint(BAD_INPUT, "correct", "en", file, "--typing", "x")
