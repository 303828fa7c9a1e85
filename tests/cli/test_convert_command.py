"""The command ``pyropunct convert``."""

import subprocess
from pathlib import Path

import pytest
from command_line import answer, command, complaint, environment, invoke, printed

from pyropunct.treebank.constituency import read_brackets
from pyropunct.treebank.reading import read_text, read_treebank

pytestmark = pytest.mark.usefixtures("single_precision")

BAD_INPUT = 2
TREES = """
( (S (NP-SBJ (NNP Clara)) (, ,) (VP (VBZ sings)) (. .)))
( (S (NP-SBJ (PRP She)) (VP (VBZ does) (RB n't)) (. !)))
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "two.mrg"
    path.write_text(TREES, encoding="utf-8")
    return path


def test_same_as_read_brackets(file: Path) -> None:
    text = printed("convert", file)
    assert text == "".join(sentence.conllu() for sentence in read_brackets(file))
    assert [sentence.text() for sentence in read_text(text)] == ["Clara, sings.", "She doesn't!"]


def test_out(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.conllu"
    expected = printed("convert", file)
    said = printed("convert", file, "--out", out)
    assert said == f"{file}: 2 trees, 5 words, 3 marks, written to {out}\n"
    assert out.read_text(encoding="utf-8") == expected
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.conllu", "two.mrg"]


def test_the_input_is_not_written_over(file: Path) -> None:
    assert (
        complaint(BAD_INPUT, "convert", file, "--out", file)
        == f"{file}: is an input file, so it cannot be the output too"
    )
    assert file.read_text(encoding="utf-8") == TREES


def test_json(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.conllu"
    assert answer("convert", file, file, "--out", out) == {
        "files": [str(file), str(file)],
        "out": str(out),
        "trees": 4,
        "words": 10,
        "marks": 6,
        "empty": 0,
        "unknown_tags": {},
        "unknown_phrases": {},
    }
    assert len(read_treebank(out)) == 4
    assert (
        "--json reports what was written: give a file with --out" in invoke("convert", file, "--json").stderr
    )


def test_standard_streams(file: Path) -> None:
    options = {"capture_output": True, "text": True, "env": environment(), "check": False}
    result = subprocess.run(command("convert", "-"), input=TREES, **options)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == printed("convert", file).replace("two-", "stdin-")


def test_output_is_not_held_back(tmp_path: Path) -> None:
    """A sentence is written before the end of the input comes."""
    many = TREES * 50  # fits into a pipe, and so does what it becomes
    with subprocess.Popen(
        command("convert", "-"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment(), text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(many)
        process.stdin.flush()
        assert process.stdout.readline() == "# sent_id = stdin-1\n"
        process.kill()


def test_head_rules(file: Path, tmp_path: Path) -> None:
    rules = tmp_path / "rules"
    rules.write_text("# the first\n* left\n", encoding="utf-8")
    result = invoke("convert", file, "--head-rules", rules)
    assert [sentence.tree.heads for sentence in read_text(result.stdout)] == [(0, 1), (0, 1, 2)]
    problem = "labels without a head rule, so that the default held: S 2, VP 1"
    assert result.stderr == f"pyropunct: {file}: {problem}\n"
    file.write_text("(IP (NP-SBJ (PN 我)) (VP (ADVP (AD 不)) (VP (VV 去))) (PU 。))", encoding="utf-8")
    (sentence,) = read_text(printed("convert", file, "--head-rules", "chinese"))
    assert (sentence.text(), sentence.tree.heads) == ("我不去。", (3, 3, 0))
    problem = "german: there is no such file, and the built-in rules are english, chinese"
    assert complaint(BAD_INPUT, "convert", file, "--head-rules", "german") == problem


def test_what_is_unknown(file: Path) -> None:
    odd = "".join(f"(T{number} a)" for number in range(12))
    file.write_text(f"(S {odd}) ( (NP (-NONE- *)))", encoding="utf-8")
    result = invoke("convert", file)
    assert result.exit_code == 0
    shown = ", ".join(f"T{number} 1" for number in range(10))
    assert result.stderr.splitlines() == [
        f"pyropunct: {file}: trees of empty elements alone, left out: 1",
        f"pyropunct: {file}: tags without a universal tag, which became X: {shown}, ...",
    ]


def test_bad_input(file: Path) -> None:
    file.write_bytes(b"(NN caf\xe9)")
    assert complaint(BAD_INPUT, "convert", file).startswith(f"{file}:1: byte 7 is 0xe9")
    assert invoke("convert").exit_code == BAD_INPUT


def test_nothing_is_written_for_bad_trees(file: Path, tmp_path: Path) -> None:
    file.write_text(f"{TREES}(NP (NN a)", encoding="utf-8")
    out = tmp_path / "out.conllu"
    old = "1" + 9 * "\told" + "\n"
    out.write_text(old, encoding="utf-8")
    problem = f"{file}:4: sentence '#3': the text ends before a bracket is closed"
    assert complaint(BAD_INPUT, "convert", file, "--out", out) == problem
    assert out.read_text(encoding="utf-8") == old
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.conllu", "two.mrg"]
    elsewhere = tmp_path / "no-folder" / "out.conllu"
    assert complaint(BAD_INPUT, "convert", file, "--out", elsewhere).endswith("no-folder does not exist")


def test_other_commands_take_the_result(file: Path, tmp_path: Path) -> None:
    """Fit, score, explain and restore sentences that were phrase-structure trees."""
    file.write_text(TREES * 20, encoding="utf-8")
    trees, model = tmp_path / "trees.conllu", tmp_path / "model"
    printed("convert", file, "--out", trees)
    options = ("--direction", "right", "--epochs", 2, "--threads", 1)
    printed("fit", trees, "--dev", trees, "--out", model, *options)
    assert 1 < answer("evaluate", model, trees)["perplexity"] < 2
    assert printed("underlying", model, trees).count("root[") > 5
    restored = invoke("restore", model, trees, "--samples", 5, "--format", "conllu")
    words = [sentence.tree.forms for sentence in read_text(restored.stdout)]
    assert words == [sentence.tree.forms for sentence in read_treebank(trees)]
