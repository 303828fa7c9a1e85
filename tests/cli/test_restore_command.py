"""The command ``pyropunct restore``."""

import csv
import json
import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from weakref import ref

import pytest
from command_line import answer, command, complaint, environment, invoke, printed

from pyropunct.draws import Draws
from pyropunct.fitted.evaluation import RestorationScores
from pyropunct.inference.machines.evidence import Evidence
from pyropunct.punctuator import Punctuator
from pyropunct.restore.items import CHUNK
from pyropunct.restore.marks_there import MarksThere
from pyropunct.restore.posterior import evidence_of_marks
from pyropunct.restore.restorer import Restorer
from pyropunct.restore.restoring import Restored, Source
from pyropunct.text.marks import Surface
from pyropunct.text.raw_sentence import RawSentence
from pyropunct.treebank.preparing import MOST_MARKS
from pyropunct.treebank.reading import read_text, read_treebank
from pyropunct.treebank.tree import Tree
from pyropunct.vocabulary import Vocabulary

pytestmark = pytest.mark.usefixtures("single_precision")

BAD_INPUT = 2
QUICK = ("--samples", 20)
TAKEN_OFF = "pyropunct: the punctuation of trees is removed first (--keep keeps it)\n"


@pytest.fixture(scope="module")
def model(model_with_parser: Path) -> Path:
    """A model with a parser, neither of them good."""
    return model_with_parser


@pytest.fixture(scope="module")
def without_reader(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same without a reader of running text."""
    folder = tmp_path_factory.mktemp("without") / "model"
    replace(Punctuator.load(model), reader=None).save(folder)
    return folder


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "input"


def write(file: Path, text: str) -> Path:
    file.write_text(text, encoding="utf-8")
    return file


def restored(model: Path, file: Path, text: str | bytes, *options: object) -> str:
    """What is printed for a file of some text, without a word on standard error."""
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return printed("restore", model, file, *QUICK, *options)


def sentences(model: Path, file: Path, text: str, *options: object) -> list[dict[str, object]]:
    value = json.loads(restored(model, file, text, *options, "--json"))
    assert value["omitted"] == 0
    return list(value["sentences"])


# Raw words


def test_text_has_a_line_for_each_line(model: Path, file: Path) -> None:
    text = restored(model, file, "\nmy sister sings\n \n\nAnn went to the hospital\n?!\ngo")
    lines = text.split("\n")
    assert [lines[number] for number in (0, 2, 3, 5, 7)] == ["", " ", "", "?!", ""]
    assert lines[1].startswith("My sister")
    assert lines[4].startswith("Ann went")
    assert lines[6].startswith("Go")
    assert restored(model, file, "go", "--no-capital").startswith("go")


def test_text_from_python(model: Path, file: Path) -> None:
    loaded = Punctuator.load(model)
    for text in ("my sister\u00a0sings", "Ann went , to Mr. Hayes !\n\n?!\ngo ", ""):
        assert loaded(text, samples=20) + "\n" == (
            invoke("restore", model, write(file, text), *QUICK).stdout or "\n"
        )
    assert loaded("go", samples=20, capital=False).startswith("go")


def test_details_in_json(model: Path, file: Path) -> None:
    """Places are those in the file, also behind lines that are left as they were, and in running text."""
    text = "go\n\x00a\n\nsing now. go on.\r\nmy sister sings"
    file.write_bytes(text.encode())
    found = json.loads(invoke("restore", model, file, *QUICK, "--json").stdout)["sentences"]
    words = [word for one in found for word in one.get("details", ())]
    assert [word["text"] for word in words] == ["go", "sing", "now", "go", "on", "my", "sister", "sings"]
    assert all(text[word["start"] : word["end"]] == word["text"] for word in words)
    assert [word["cased"].lower() for word in words] == [word["text"].lower() for word in words]
    assert set(words[0]["behind"]) == {"marks", "probability", "others", "others_probability"}


def test_json(model: Path, file: Path) -> None:
    found = sentences(model, file, "my sister sings\n\n")
    entries = {"line", "text", "words", "marks", "details", "expected_edits"}
    assert [set(one) for one in found] == [entries] * 2
    assert [(one["line"], one["words"]) for one in found] == [(1, ["my", "sister", "sings"]), (2, [])]
    assert [len(one["marks"]) for one in found] == [4, 1]
    assert found[0]["expected_edits"] > 0 == found[1]["expected_edits"]
    assert found[0]["text"] == restored(model, file, "my sister sings").rstrip("\n")


def test_conllu_has_the_tree_of_the_parser(model: Path, file: Path) -> None:
    text = "my sister sings\n\nAnn went to the hospital"
    first, second = read_text(restored(model, file, text, "--format", "conllu"))
    lines = restored(model, file, text).split("\n")
    assert (first.identifier, first.text(), second.identifier, second.text()) == (
        "1",
        lines[0],
        "3",
        lines[2],
    )
    parser = Punctuator.load(model).parser
    assert parser is not None
    ((parsed,),) = parser.parse([["Ann", "went", "to", "the", "hospital"]])
    assert second.tree == parsed.tree


def test_seed(model: Path, file: Path, small: Path) -> None:
    words = "\n".join(" ".join(one.tree.forms) for one in read_treebank(small / "dev.conllu"))
    options = ("--samples", 1, "--trees", 1, "--seed")
    first, again, other = (restored(model, file, words, *options, seed) for seed in (1, 1, 2))
    assert first == again != other


def test_chunks_make_no_difference(model: Path, file: Path) -> None:
    lines = [f"my {number} sisters sing" for number in range(CHUNK + 20)]
    together = restored(model, file, "\n".join(lines)).splitlines()
    assert together[-20:] == restored(model, file, "\n".join(lines[-20:])).splitlines()


def test_standard_input(model: Path, file: Path) -> None:
    """Each line has its answer before the next one comes."""
    lines = ["my sister sings\n", "Ann went to the hospital\n", "go\n"]
    expected = restored(model, file, "".join(lines)).splitlines(keepends=True)
    with subprocess.Popen(
        command("restore", model, "-", *QUICK),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for line, answered in zip(lines, expected, strict=True):
            process.stdin.write(line)
            process.stdin.flush()
            assert process.stdout.readline() == answered
        process.stdin.close()
        assert process.stdout.read() == ""
    assert process.returncode == 0


def test_spaces_and_ends_of_lines_stay(model: Path, file: Path) -> None:
    file.write_bytes(" my sister\u00a0 sings \r\n\r\n?!\t\r\n\tgo\n".encode())
    result = invoke("restore", model, file, *QUICK, "--keep", "--marks", ".")
    first, second, third, last, end = result.stdout_bytes.decode().split("\n")
    assert first.startswith(" My sister\u00a0 sings")
    assert first.endswith(" \r")
    assert (second, third, end) == ("\r", "?!\t\r", "")
    assert last.startswith("\tGo")


def test_a_long_line_is_restored_in_windows(without_reader: Path, file: Path) -> None:
    file.write_text("go\n" + "my sister sings loudly " * 300 + "\ngo\n")
    result = invoke("restore", without_reader, file, *QUICK, "--format", "conllu")
    assert result.exit_code == 0
    assert result.stderr == (
        f"pyropunct: {file}:2: 1200 words; lines of more than 400 are parsed in parts "
        "(is each sentence on a line of its own?)\n"
    )
    before, found, behind = read_text(result.stdout)
    assert [form.lower() for form in found.tree.forms] == ["my", "sister", "sings", "loudly"] * 300
    assert (len(before.tree), len(behind.tree)) == (1, 1)


def test_odd_words(model: Path, file: Path) -> None:
    """Spaces of other kinds, unseen characters, a word of punctuation signs, many words."""
    odd = ["a\u00a0b", "🙂 \U00010330 \u0301 ʘ", "a(b)c", "x" * 3000, "word"]
    found = sentences(model, file, "\n".join(odd))
    assert [len(one["words"]) for one in found] == [2, 4, 1, 1, 1]


# Punctuation that is there


def test_punctuation_is_taken_off(model: Path, file: Path) -> None:
    bare = restored(model, file, "my sister sings\ngo")
    file.write_text("my sister, sings;\ngo!\n")
    result = invoke("restore", model, file, *QUICK, "--anew")
    assert (result.exit_code, result.stdout, result.stderr) == (0, bare, "")


def test_punctuation_is_kept(model: Path, file: Path) -> None:
    """As it is by default, and with what tells of the others if that is asked for."""
    (found,), (asked,) = (sentences(model, file, "my sister , sings ;", *how) for how in ((), ("--keep",)))
    assert found == asked
    assert found["marks"][2:] == [[","], [";"]]
    assert found["text"].endswith(" sister , sings ;")


def test_abbreviation_dots_stay(model: Path, file: Path) -> None:
    (found,) = sentences(model, file, "the U.S. and Prof. Hayes")
    assert found["words"] == ["the", "U.S", "and", "Prof", "Hayes"]
    assert ("abbr." in found["marks"][2], "abbr." in found["marks"][4]) == (True, True)


def test_marks(model: Path, file: Path, small: Path) -> None:
    dev = small / "dev.conllu"
    """Dots of abbreviations belong to words, which stay."""
    for wanted, allowed in ((".,", {".", ","}), ("? ,", {"?", ","}), ('"', {"“", "”"})):
        result = invoke("restore", model, dev, *QUICK, "--marks", wanted, "--json")
        found = json.loads(result.stdout)["sentences"]
        assert {mark for one in found for slot in one["marks"] for mark in slot} <= {*allowed, "abbr."}


def test_hidden_marks(model: Path, file: Path) -> None:
    """All others stay; those that are there are removed, or kept."""
    text = "( my sister , sings ;"
    (found,) = sentences(model, file, text, "--hidden", ",")
    assert [[one for one in slot if one != ","] for slot in found["marks"]] == [["("], [], [], [";"]]  # type: ignore[attr-defined]
    assert found["effective_draws"] > 0  # type: ignore[operator]
    (same,) = sentences(model, file, text.replace(" ,", ""), "--hidden", ",")
    assert found["marks"] == same["marks"]
    (kept,) = sentences(model, file, text, "--hidden", ",", "--keep")
    assert kept["marks"][2] == [","]  # type: ignore[index]


def test_hidden_marks_are_scored(model: Path, small: Path) -> None:
    value = answer("restore", model, small / "dev.conllu", *QUICK, "--hidden", ",", "--score")
    scores = {one["mark"]: one for one in value["marks"]}
    assert {mark for mark, one in scores.items() if one["right"] < max(one["gold"], one["restored"])} <= {","}
    assert 0 < value["right_sentences"] < value["sentences"]


def test_marks_that_cannot_be(model: Path, small: Path) -> None:
    dev = small / "dev.conllu"
    for option in ("--hidden", "--marks"):
        message = complaint(BAD_INPUT, "restore", model, dev, option, ",‽")
        assert message.startswith("the model has no mark ‽, it has ! ( ) ,")
    assert complaint(BAD_INPUT, "restore", model, dev, "--hidden", " ").startswith("hidden: there is no")
    result = invoke("restore", model, dev, "--hidden", ",", "--marks", ".")
    assert result.exit_code == BAD_INPUT
    assert "hidden and marks exclude each other" in result.stderr


@pytest.mark.parametrize("options", [("--keep",), ("--hidden", ",")])
def test_what_nothing_explains_is_left_as_it_was(
    model: Path, file: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    """With file, line or sentence, and slot; the others are restored."""

    def impossible_in_go(vocabulary: Vocabulary, surface: Surface, **how: object) -> list[Evidence]:
        known = evidence_of_marks(vocabulary, surface, **how)  # type: ignore[arg-type]
        return known if len(known) > 2 else [known[0], Evidence(1, (), (), ())]

    monkeypatch.setattr("pyropunct.restore.marks_there.evidence_of_marks", impossible_in_go)
    result = invoke("restore", model, write(file, "my sister sings\ngo ‽\n"), *QUICK, *options)
    assert (result.exit_code, result.stdout.count("\n")) == (BAD_INPUT, 2)
    assert result.stdout.endswith("\ngo ‽\n")
    told = "no punctemes explain what is known of slot 1 in 'go'"
    left = f"pyropunct: {file}: 1 left as they were because of errors"
    assert result.stderr.splitlines() == [f"pyropunct: {file}:2: {told}; it is left as it was", left]


def test_kept_marks_are_no_evidence_where_there_are_too_many(
    model: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They would take more memory the more they are."""
    longest: list[int] = []

    def seen(vocabulary: Vocabulary, surface: Surface, **how: object) -> list[Evidence]:
        longest.append(max(map(len, surface)))
        return evidence_of_marks(vocabulary, surface, **how)  # type: ignore[arg-type]

    monkeypatch.setattr("pyropunct.restore.marks_there.evidence_of_marks", seen)
    text = f"my sister {',' * (MOST_MARKS + 1)} sings\nmy sister ,, sings\n"
    found = restored(model, file, text, "--keep")
    assert longest == [2]
    assert found.count(",") >= MOST_MARKS + 3
    result = invoke("restore", model, file, *QUICK, "--hidden", ".")
    assert result.stderr.splitlines() == [
        f"pyropunct: {file}:1: it has 1,001 marks in one place, more than 1,000; it is left as it was",
        f"pyropunct: {file}: 1 left as they were because of errors",
    ]
    assert result.stdout.startswith(text.split("\n")[0])


def test_few_effective_draws_are_told(model: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the place of the first such sentence, and how many more there are."""
    monkeypatch.setattr("pyropunct.restore.posterior.Posterior.effective_draws", 9.5)
    result = invoke("restore", model, write(file, "my sister sings\n\ngo\n"), *QUICK, "--hidden", ",")
    note = "9.5 effective draws, which are few: more --samples would help (and 1 more)"
    assert result.stderr == f"pyropunct: {file}:1: {note}\n"


# CoNLL-U


@pytest.mark.parametrize("parse", [(), ("--parse",)])
def test_conllu_keeps_words_and_trees(model: Path, small: Path, parse: tuple[str, ...]) -> None:
    result = invoke("restore", model, small / "dev.conllu", *QUICK, "--format", "conllu", *parse)
    assert (result.exit_code, result.stderr) == (0, TAKEN_OFF)
    for one, other in zip(read_text(result.stdout), read_treebank(small / "dev.conllu"), strict=True):
        assert (one.identifier, one.tree) == (other.identifier, other.tree)
    text = invoke("restore", model, small / "dev.conllu", *QUICK, *parse).stdout
    assert text.splitlines() == [one.text() for one in read_text(result.stdout)]


def test_restoring_twice_makes_no_difference(model: Path, small: Path, file: Path) -> None:
    once = invoke("restore", model, small / "dev.conllu", *QUICK, "--format", "conllu").stdout
    file.write_text(once)
    assert invoke("restore", model, file, *QUICK, "--format", "conllu").stdout == once
    assert restored(model, file, once, "--keep", "--marks", ".", "--format", "conllu").count("\n\n") == 30


def test_omitted_sentences(model: Path, small: Path, file: Path) -> None:
    odd = "1\t!\t_\tPUNCT\t_\t_\t0\troot\t_\t_\n\n" * 2
    file.write_text(odd + (small / "dev.conllu").read_text(encoding="utf-8"), encoding="utf-8")
    result = invoke("restore", model, file, *QUICK, "--json")
    value = json.loads(result.stdout)
    assert (len(value["sentences"]), value["omitted"]) == (30, 2)
    assert [one["id"] for one in value["omissions"]] == ["#1", "#2"]
    note = f"pyropunct: {file}: 2 omitted: #1 (it has no word), #2 (it has no word)\n"
    assert result.stderr == TAKEN_OFF + note


def test_conllu_has_omitted_sentences_as_they_were(model: Path, small: Path, file: Path) -> None:
    """In their places, however many there are together."""
    odd = "# sent_id = odd\n1\t!\t_\tPUNCT\t_\t_\t0\troot\t_\t_\n\n"
    text = (small / "dev.conllu").read_text(encoding="utf-8")
    first, second = (
        "\n\n".join(text.split("\n\n")[:2]) + "\n\n",
        "\n\n".join(text.split("\n\n")[2:4]) + "\n\n",
    )
    conllu = (*QUICK, "--format", "conllu")
    file.write_text(first + second, encoding="utf-8")
    without = invoke("restore", model, file, *conllu).stdout.split("\n\n")
    file.write_text(odd * CHUNK + first + odd + second + odd, encoding="utf-8")
    result = invoke("restore", model, file, *conllu)
    found = result.stdout.split("\n\n")
    assert found == [*[odd.strip()] * CHUNK, *without[:2], odd.strip(), *without[2:4], odd.strip(), ""]
    assert f"{CHUNK + 2} omitted, written as they were: odd (it has no word), odd" in result.stderr
    assert result.stderr.endswith(f" and {CHUNK - 3} more\n")


# Scores


def test_score(model: Path, small: Path) -> None:
    value = answer("restore", model, small / "dev.conllu", *QUICK, "--score")
    dev = read_treebank(small / "dev.conllu")
    scores = RestorationScores()
    found = Punctuator.load(model).restore([sentence.tree for sentence in dev], samples=20, seed=0)
    for sentence, surface in zip(dev, found, strict=True):
        scores.add(surface, sentence.surface)
    assert value["average_edit_distance"] == scores.average_edit_distance
    assert (value["sentences"], value["slots"], value["edits"]) == (30, scores.slots, scores.edits)
    assert (value["gold"], value["restored"], value["right"]) == scores.overall()
    assert {one["mark"]: one["f1"] for one in value["marks"]}["."] == scores.of_marks()["."].f1
    text = printed("restore", model, small / "dev.conllu", *QUICK, "--score")
    assert f"average edit distance per slot: {scores.average_edit_distance:.4f} ({scores.edits}" in text
    assert "precision" in text


def test_score_of_raw_text(model: Path, file: Path) -> None:
    """The abbreviation dot is not given away."""
    value = json.loads(restored(model, file, "Prof. Hayes sings, loudly.\n\n", "--score", "--json"))
    assert (value["sentences"], value["gold"], value["slots"]) == (1, 3, 5)
    assert value["edits"] >= 3 - value["right"]
    text = restored(model, file, "Prof. Hayes sings.\n" * 5 + "go ; now\n", "--score")
    assert "\nabbr.: dots of abbreviations; rare: marks that the file has fewer than 5 times, none" in text
    assert "abbr.:" not in restored(model, file, "Ann sings, loudly.\n\n", "--score")


def test_nothing_to_score(model: Path, file: Path) -> None:
    for text in ("\n", "my sister\n\n", "?!\n"):
        file.write_text(text)
        assert complaint(BAD_INPUT, "restore", model, file, *QUICK, "--score") == (
            f"{file}: there is no punctuation to compare with"
        )


# Bad input


def test_a_model_without_a_parser(small: Path, file: Path) -> None:
    file.write_text("my sister\n")
    message = complaint(BAD_INPUT, "restore", small / "model", file)
    assert message == (
        "the model has no parser, so it cannot read raw words: "
        "fit one with `pyropunct fit TRAIN --parser`, or give CoNLL-U input"
    )
    file.write_text("\n\n")
    assert printed("restore", small / "model", file) == "\n\n"
    assert (
        "the model has no parser"
        in invoke("restore", small / "model", small / "dev.conllu", "--parse").stderr
    )


def test_a_bad_treebank(model: Path, file: Path) -> None:
    file.write_bytes(b"1\tGo\tx\n")
    problem = "the line has 3 columns, not 10 (separate the columns by single tabs)"
    for options in ((), ("--json",), ("--score",)):
        message = complaint(BAD_INPUT, "restore", model, file, *options)
        assert message == f"{file}:1: sentence '#1': {problem}"


def test_bad_lines_are_left_as_they_were(model: Path, file: Path) -> None:
    """And told on standard error; the others are restored."""
    file.write_bytes(b"go\n\x00a\n" + b"b\xff\r\ngo\n")
    result = invoke("restore", model, file, *QUICK)
    first, *bad, last, end = result.stdout_bytes.split(b"\n")
    assert (result.exit_code, bad, last, end) == (BAD_INPUT, [b"\x00a", b"b\xff\r"], first, b"")
    problems = (
        "2: the line holds a zero byte (is this text?); it is left as it was",
        "3: byte 7 is 0xff, which is not UTF-8 (save the file as UTF-8); it is left as it was",
        " 2 left as they were because of errors",
    )
    assert result.stderr == "".join(f"pyropunct: {file}:{problem}\n" for problem in problems)
    found = invoke("restore", model, file, *QUICK, "--json")
    assert (found.exit_code, [one["line"] for one in json.loads(found.stdout)["sentences"]]) == (2, [1, 4])


@pytest.mark.parametrize("raw", [True, False])
def test_an_error_in_one_sentence_ends_no_other(
    model: Path, small: Path, file: Path, raw: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What comes out of the others is what comes without it."""
    if raw:
        second_line = 2
        file.write_text("my sister sings\ngo, ‽ now\nAnn went to the hospital\n")
    else:
        blocks = (small / "dev.conllu").read_text(encoding="utf-8").split("\n\n")[:3]
        second_line = blocks[0].count("\n") + 3
        file.write_text("\n\n".join(blocks) + "\n\n", encoding="utf-8")
    expected = invoke("restore", model, file, *QUICK).stdout.splitlines()
    rewrite = Restorer._rewritten

    def fail(restorer: Restorer, there: MarksThere, draws: Draws) -> Draws:
        source = there.source
        line = source.line if isinstance(source, RawSentence) else source.layout.block.first_line
        if line == second_line:
            raise RuntimeError("no memory")
        return rewrite(restorer, there, draws)

    monkeypatch.setattr(Restorer, "_rewritten", fail)
    result = invoke("restore", model, file, *QUICK)
    first, second, third = result.stdout.splitlines()
    assert (result.exit_code, first, third) == (BAD_INPUT, expected[0], expected[2])
    assert second == ("go, ‽ now" if raw else read_treebank(file)[1].text())
    assert ": RuntimeError: no memory; it is left as it was\n" in result.stderr


def test_text_inside_of_other_files(model: Path, tmp_path: Path) -> None:
    """It is restored as it is by itself; kinds are known by names, and lines end as before."""
    cue = "the harbor council restored it"
    new = restored(model, tmp_path / "a.txt", cue + "\n", "--running").rstrip("\n")
    times = "1\r\n00:00:01,000 --> 00:00:03,000\r\n"
    first, second = " ".join(new.split()[:2]), " ".join(new.split()[2:])
    for name, options in (("a.SRT", ()), ("a", ("--input", "srt"))):
        for end in ("\r\n", "\n"):
            (tmp_path / name).write_bytes(f"{times}the harbor{end}council restored it\r\n".encode())
            found = invoke("restore", model, tmp_path / name, *QUICK, *options).stdout_bytes
            assert found.decode() == f"{times}{first}{end}{second}\r\n"
    line = restored(model, tmp_path / "a.txt", cue + "\n").rstrip("\n")
    for end in ("\n", ""):
        table = restored(model, tmp_path / "a.csv", f"id,text\n1,{cue}{end}", "--field", "text")
        assert list(csv.reader(table.splitlines())) == [["id", "text"], ["1", line]]
        assert table.endswith("\n") == bool(end)
        single = restored(model, tmp_path / "a.jsonl", f'{{"a": "{cue}"}}{end}', "--field", "a")
        assert single == f'{{"a": "{line}"}}{end}'


@pytest.mark.parametrize(
    ("name", "content", "options", "problem"),
    [
        (
            "a.csv",
            b"id,text\n1,a\n",
            (),
            "say which column holds the text, by --field (id, text)",
        ),
        (
            "a.srt",
            b"1\n",
            ("--format", "json"),
            "is a srt file, whose text is put back: use --format text alone",
        ),
        ("a.md", b"a\n\xff\n", (), "2: is not UTF-8 (save the file as UTF-8)"),
        (
            "a.csv",
            b"id,text\r1,a\r",
            ("--field", "text"),
            "its lines end with a carriage return (save it with line feeds)",
        ),
    ],
)
def test_files_whose_text_cannot_be_put_back(
    model: Path, tmp_path: Path, name: str, content: bytes, options: tuple[str, ...], problem: str
) -> None:
    (tmp_path / name).write_bytes(content)
    message = complaint(BAD_INPUT, "restore", model, tmp_path / name, *options)
    assert message.replace(f"{tmp_path / name}:", "").strip() == problem


@pytest.mark.parametrize(
    ("name", "bad", "problem"),
    [
        ("a.tsv", "2\ta\0b", "the line holds a zero byte (is this text?)"),
        ("a.csv", f"2,{'a' * (1 << 20)}", "the line is longer than a megabyte (is this text?)"),
        ("a.jsonl", "[1]", "is no JSON object"),
    ],
)
def test_a_bad_row_stays_and_the_others_are_restored(
    model: Path, tmp_path: Path, name: str, bad: str, problem: str
) -> None:
    """The message names the line of the file."""
    rows = {
        "a.tsv": ["id\ttext", "1\tgo now"],
        "a.csv": ['"i\nd",text', "1,go now"],
        "a.jsonl": ["", '{"text": "go now"}'],
    }[name]
    (tmp_path / name).write_text("\n".join([*rows, bad, rows[1], ""]))
    result = invoke("restore", model, tmp_path / name, *QUICK, "--field", "text")
    line = restored(model, tmp_path / "a.txt", "go now\n").rstrip("\n")
    new = rows[1].replace("go now", line)
    assert result.stdout == "\n".join([rows[0], new, bad, new, ""])
    place = len("\n".join(rows).split("\n")) + 1
    assert result.exit_code == BAD_INPUT
    assert f"{tmp_path / name}:{place}: {problem}; it is left as it was\n" in result.stderr


def test_an_empty_line_is_not_nothing(model: Path, file: Path) -> None:
    assert restored(model, file, "\n") == "\n"
    assert restored(model, file, "") == ""
    assert answer("restore", model, file)["sentences"] == []


def test_keep_and_score(model: Path, small: Path) -> None:
    result = invoke("restore", model, small / "dev.conllu", "--keep", "--score")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "--keep and --score exclude each other" in result.stderr


def test_the_bar_on_a_terminal_leaves_the_results_alone(model: Path, small: Path) -> None:
    """They go where standard output goes, although the bar is on a terminal."""
    ours, theirs = os.openpty()
    arguments = command("restore", model, small / "dev.conllu", *QUICK, "--keep")
    process = subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=theirs, text=True, env=environment(TERM="xterm")
    )
    os.close(theirs)
    assert process.stdout is not None
    lines = process.stdout.read().splitlines()
    process.stdout.close()
    process.wait()
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert len(lines) == 30
    assert "dev.conllu" in shown


# Running text


RUNNING = "my sister sings loudly\nannalise went to\n\n?!\nthe hospital"


def only_words(text: str) -> str:
    """The words in lower case, in their lines."""
    return "\n".join(" ".join(re.findall(r"\w+", line.lower())) for line in text.split("\n"))


@pytest.mark.parametrize("case", ["auto", "restore", "keep"])
def test_running_text_keeps_its_words_and_paragraphs(model: Path, file: Path, case: str) -> None:
    text = restored(model, file, RUNNING, "--running", "--case", case)
    assert only_words(text) == only_words(RUNNING) + "\n"
    assert text.split("\n")[2:4] == ["", "?!"]
    assert text == Punctuator.load(model)(RUNNING, samples=20, running=True, case=case) + "\n"


def test_sentences_of_running_text(model: Path, file: Path) -> None:
    text = "Ann sings. My sister went\nto the hospital! " * 3
    found = json.loads(invoke("restore", model, write(file, text), *QUICK, "--running", "--json").stdout)
    assert [one["words"] for one in found["sentences"]] == [
        ["Ann", "sings"],
        ["My", "sister", "went", "to", "the", "hospital"],
    ] * 3
    assert [one["line"] for one in found["sentences"]] == [1, 1, 2, 2, 3, 3]
    write(file, "go on. " * 150)
    trees = invoke("restore", model, file, *QUICK, "--running", "--format", "conllu").stdout
    assert [tuple(map(str.lower, one.tree.forms)) for one in read_text(trees)] == [("go", "on")] * 150


def test_a_line_that_is_too_long_for_a_sentence(model: Path, file: Path) -> None:
    file.write_text("go\n" + "sing now. " * 150 + "\ngo\n")
    result = invoke("restore", model, file, *QUICK, "--json")
    told = f"pyropunct: {file}:2: 300 words; it is read as running text (--running)\n"
    assert result.stderr == told
    assert [one["line"] for one in json.loads(result.stdout)["sentences"]] == [1, *[2] * 150, 3]


def test_running_text_and_cases_that_cannot_be(model: Path, without_reader: Path, file: Path) -> None:
    file.write_text("go\n")
    for option in (["--running"], ["--case", "restore"]):
        said = complaint(BAD_INPUT, "restore", without_reader, file, *option)
        assert said.startswith("the model has no reader of running text")
    assert "exclude each other" in invoke("restore", model, file, "--running", "--score").stderr
    file.write_text("1\tgo\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n")
    assert "is CoNLL-U" in complaint(BAD_INPUT, "restore", model, file, "--running")
    file.write_text("")
    assert printed("restore", model, file, "--running") == ""


def test_memory_does_not_grow_with_the_number_of_lines(
    model: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few lines are read together, and their results forgotten before the next ones are."""
    restore, known, together = Restorer.restore, list["ref[Tree]"](), list[tuple[int, int]]()

    def watched(restorer: Restorer, sources: Sequence[Source]) -> Iterator[Restored]:
        together.append((len(sources), sum(one() is not None for one in known)))
        for restored in restore(restorer, sources):
            assert restored.tree is not None
            known.append(ref(restored.tree))
            yield restored
            del restored

    monkeypatch.setattr(Restorer, "restore", watched)
    monkeypatch.setattr("pyropunct.restore.items.CHUNK", 4)
    text = restored(model, file, "my sister sings\n" * 16)
    assert text.count("\n") == len(known) == 16
    assert max(size for size, _ in together) <= 4
    assert max(alive for _, alive in together) <= 4


def test_json_of_a_recogniser(tmp_path: Path) -> None:
    """Only its strings are restored; times in an unknown unit are reported."""
    words = '{"words": [{"word": "hi", "start": 0, "end": 8000}]}'
    (tmp_path / "words.json").write_text(words, encoding="utf-8")
    result = invoke("restore", "en", tmp_path / "words.json")
    assert (result.exit_code, json.loads(result.stdout)["words"][0]["end"]) == (0, 8000)
    told = "the unit of the times at words.word is unknown: silence is ignored"
    assert result.stderr == f"pyropunct: {tmp_path / 'words.json'}: {told}\n"
    (tmp_path / "talk.json").write_text('{"text": "how are you", "start": 0.50}', encoding="utf-8")
    assert printed("restore", "en", tmp_path / "talk.json") == '{"text": "How are you?", "start": 0.50}'
