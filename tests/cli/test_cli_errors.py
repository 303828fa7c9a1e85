"""Bad input and failures on the command line: one clear line, exit status 2 or 1, never a traceback."""

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import answer, command, complaint, environment, invoke, one_line, run
from model_files import copied

from pyropunct.cli import console
from pyropunct.tables import Column, Table
from pyropunct.text.lines import TreebankError
from pyropunct.treebank.reading import read_treebank

pytestmark = pytest.mark.usefixtures("single_precision")

BAD_INPUT, FAILURE, INTERRUPTED = 2, 1, 130


def line(number: object, form: str, head: object, relation: str = "dep", tag: str = "X") -> str:
    return f"{number}\t{form}\t_\t{tag}\t_\t_\t{head}\t{relation}\t_\t_\n"


HELLO = line(1, "Hello", 0, "root")
BAD_TREEBANKS = {
    "malformed line": (HELLO + "what is this\n", 2, "1 column, not 10"),
    "all omitted": (line(1, "!", 0, tag="PUNCT"), 1, "the only sentence is omitted: it has no word"),
}


@pytest.mark.parametrize(("text", "number", "problem"), BAD_TREEBANKS.values(), ids=BAD_TREEBANKS)
def test_bad_treebank(tmp_path: Path, text: str, number: int, problem: str) -> None:
    """Other faults are in treebank/test_treebank_errors.py."""
    path = tmp_path / "bad.conllu"
    path.write_text(text)
    message = complaint(BAD_INPUT, "fit", path, "--out", tmp_path / "m")
    assert message.startswith(f"{path}:{number}: ")
    assert problem in message
    assert [one.name for one in tmp_path.iterdir()] == ["bad.conllu"]


@pytest.mark.parametrize(
    "arguments",
    [
        ("fit", "FILE"),
        ("evaluate", "MODEL", "FILE"),
        ("underlying", "MODEL", "FILE", "--json"),
        ("sample", "MODEL", "FILE"),
        ("restore", "MODEL", "FILE"),
        ("restore", "MODEL", "FILE", "--json"),
        ("restore", "MODEL", "FILE", "--score"),
        ("rules", "MODEL", "FILE"),
        ("typology", "MODEL", "FILE"),
        ("rephrase", "MODEL", "FILE", "--delete", "nmod"),
        ("fit-correction", "FILE", "--model", "MODEL"),
        ("compare", "restoration", "FILE", "FILE"),
        ("convert", "FILE"),
    ],
    ids=" ".join,
)
def test_an_empty_file_is_told_by_all_in_the_same_words(
    small: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    """Comments alone are no sentence either."""
    file = tmp_path / "empty.conllu"
    file.write_text("# a comment\n" if "--json" in arguments else "")
    places = {"FILE": file, "MODEL": small / "model"}
    message = complaint(BAD_INPUT, *(places.get(one, one) for one in arguments))
    assert message == f"{file}: there is no sentence in the file"


def test_no_punctuation(small: Path, tmp_path: Path) -> None:
    """It cannot be fitted, but to predict that there is none is a fair question."""
    path = tmp_path / "bare.conllu"
    path.write_text((HELLO + line(2, "you", 1) + "\n") * 2)
    assert "there is no punctuation in the treebank" in complaint(
        BAD_INPUT, "fit", path, "--out", tmp_path / "m"
    )
    assert answer("evaluate", small / "model", path)["slots"] == 6


def test_too_many_kinds_of_marks(tmp_path: Path) -> None:
    path = tmp_path / "arrows.conllu"
    mark = "2\t{0}\t{0}\tPUNCT\t_\t_\t1\tpunct\t_\t_\n\n"
    path.write_text("".join(9 * (HELLO + mark.format(chr(0x2190 + kind))) for kind in range(210)))
    message = complaint(BAD_INPUT, "fit", path, "--out", tmp_path / "m")
    assert "kinds of marks stand 5 times or more in the training treebank" in message


def test_files_that_cannot_be_read(small: Path, tmp_path: Path) -> None:
    missing = tmp_path / "missing.conllu"
    for name in ("evaluate", "restore"):
        message = complaint(BAD_INPUT, name, small / "model", missing)
        assert message == f"{missing}: there is no such file"
    assert complaint(BAD_INPUT, "fit", small / "train.conllu", "--dev", missing).startswith(str(missing))
    assert "Is a directory" in complaint(BAD_INPUT, "underlying", small / "model", tmp_path)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--attach", "unheard-of"), "no variant is called 'unheard-of'"),
        (("--channel", "no_such_module:C"), "cannot import 'no_such_module'"),
        (("--families", "head,tails"), "--families takes some of symmetry,head,"),
        (("--families", ","), "not none"),
        (("--device", "abacus"), "--device abacus: "),
        (("--folds", "3"), "--folds is for --parser"),
        (("--tagger",), "--tagger is for --parser"),
        (("--mark-parser",), "--mark-parser is for --parser"),
    ],
)
def test_bad_settings(small: Path, tmp_path: Path, options: tuple[str, str], problem: str) -> None:
    assert problem in complaint(BAD_INPUT, "fit", small / "train.conllu", "--out", tmp_path / "m", *options)
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    "options",
    [
        ("--recipe", "unheard-of"),
        ("--epochs", "0"),
        ("--folds", "1"),
    ],
)
def test_values_out_of_range(small: Path, tmp_path: Path, options: tuple[str, str]) -> None:
    message = complaint(BAD_INPUT, "fit", small / "train.conllu", "--out", tmp_path / "m", *options)
    assert message.startswith(f"Invalid value for '{options[0]}': ")
    assert message.endswith(" (see pyropunct fit --help)")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fitt",), "No such command 'fitt'. (see pyropunct --help)"),
        (("--loud",), "No such option '--loud'. (see pyropunct --help)"),
        (("fit", "--unheard-of"), "No such option '--unheard-of'. (see pyropunct fit --help)"),
        (
            ("restore", "--sampels", "2"),
            "No such option '--sampels'. Did you mean '--samples'? (see pyropunct restore --help)",
        ),
        (("evaluate", "m"), "Missing argument 'FILE'. (see pyropunct evaluate --help)"),
    ],
)
def test_misuse_is_told_in_one_line(arguments: tuple[str, ...], message: str) -> None:
    assert complaint(BAD_INPUT, *arguments) == message


def test_without_arguments_help_is_shown() -> None:
    result = invoke()
    assert result.exit_code == BAD_INPUT
    assert "Commands:" in result.stderr


# Models


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "no file": (Path.unlink, "no such model"),
    "short": (lambda model: os.truncate(model, 100_000), "is damaged"),
    "folder": (lambda model: (model.unlink(), model.mkdir()), "is a folder"),
}


@pytest.mark.parametrize(("damage", "problem"), DAMAGES.values(), ids=DAMAGES)
def test_damaged_model(small: Path, tmp_path: Path, damage: Callable[[Path], object], problem: str) -> None:
    model = copied(small / "model", tmp_path / "model")
    damage(model)
    for name in ("evaluate", "underlying", "sample"):
        message = complaint(BAD_INPUT, name, model, small / "dev.conllu")
        assert message.startswith(f"{model}: {problem}")


# Places that cannot be written to


def test_places_for_no_model(small: Path, tmp_path: Path) -> None:
    file, other = tmp_path / "file.safetensors", tmp_path / "other"
    file.write_text("mine")
    other.mkdir()
    for out, problem in [
        (file, "is not the file of a model; choose another name"),
        (file / "below", "cannot write there"),
        (other, "is a folder, not a file for a model"),
        (Path("/proc/model"), "cannot write there"),
    ]:
        message = complaint(BAD_INPUT, "fit", small / "train.conllu", "--out", out)
        assert message.startswith(str(out))
        assert problem in message
    assert file.read_text() == "mine"


# Nothing to resume


def test_nothing_to_resume(small: Path, tmp_path: Path) -> None:
    message = complaint(BAD_INPUT, "fit", small / "train.conllu", "--out", tmp_path / "m", "--resume")
    assert message == f"{tmp_path}/m.unfinished: there is nothing to resume"


# Odd outputs


def test_a_reader_that_has_seen_enough(small: Path, tmp_path: Path) -> None:
    """As under ``| head -1``, for lines of text and for a table."""
    (tmp_path / "x").write_text(BRACKETS, encoding="utf-8")
    for arguments in (("convert", tmp_path / "x"), ("evaluate", small / "model", small / "dev.conllu")):
        whole = command(*arguments)
        process = subprocess.Popen(whole, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment())
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()
        process.stderr.close()
        assert process.wait() == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("what", ["results", "help"])
def test_a_full_disk(tmp_path: Path, what: str) -> None:
    (tmp_path / "x").write_text("(S (NP (NNP Ann)) (VP (VB go)) (. .))\n", encoding="utf-8")
    argument = tmp_path / "x" if what == "results" else "--help"
    with open("/dev/full", "w") as full:
        done = run("convert", argument, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    message = one_line(done.returncode, "", done.stderr, FAILURE)
    assert message == f"cannot write the {what}: No space left on device"


BRACKETS = "(S (NP (NNP Œuvre)) (VP (VB go)) (. “))\n(S (ODD odd))\n"


def converted(file: Path, **changes: str) -> "subprocess.CompletedProcess[bytes]":
    """What becomes of `BRACKETS` in a process with another environment; no command starts more quickly."""
    file.write_text(BRACKETS, encoding="utf-8")
    changes = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C", **changes}
    return subprocess.run(
        command("convert", file), capture_output=True, check=False, env=environment(**changes)
    )


def test_results_are_utf8_where_there_is_only_ascii(tmp_path: Path) -> None:
    done = converted(tmp_path / "x", PYTHONIOENCODING="ascii")
    expected = invoke("convert", tmp_path / "x").stdout
    assert "Œuvre" in expected
    assert (done.returncode, done.stdout.decode()) == (0, expected)


def test_results_in_an_encoding_without_the_marks(tmp_path: Path) -> None:
    """What programs read must be right, or not be at all."""
    done = converted(tmp_path / "x", PYTHONIOENCODING="latin-1")
    message = one_line(done.returncode, "", done.stderr.decode("latin-1"), FAILURE)
    assert "which latin-1 lacks: set PYTHONIOENCODING=utf-8" in message


def test_lines_for_people_have_escapes_for_what_the_encoding_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written, encoding="latin-1", write_through=True))
    console.show_table(Table("“é”", [Column[str]("arrow", "→", str)], ["é"]))
    assert "\\u201cé\\u201d" in written.getvalue().decode("latin-1")


def test_a_closed_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    done = run("convert", "-", preexec_fn=lambda: os.close(0), stdin=None)
    message = one_line(done.returncode, done.stdout, done.stderr, BAD_INPUT)
    assert message == "<stdin>: the standard input is closed"
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(TreebankError, match="<stdin>: the standard input is closed"):
        read_treebank("-")


def test_a_closed_standard_error(tmp_path: Path) -> None:
    """What would be told there does not come between the results."""
    (tmp_path / "x").write_text(BRACKETS, encoding="utf-8")
    arguments = ("convert", tmp_path / "x")
    done = run(*arguments, preexec_fn=lambda: os.close(2), capture_output=False, stdout=subprocess.PIPE)
    result = invoke(*arguments)
    assert "ODD" in result.stderr
    assert (done.returncode, done.stdout) == (0, result.stdout)


def test_a_closed_standard_output(tmp_path: Path) -> None:
    """Results that nobody gets are a failure."""
    (tmp_path / "x").write_text(BRACKETS, encoding="utf-8")
    done = run("convert", tmp_path / "x", preexec_fn=lambda: os.close(1))
    last = done.stderr.splitlines()[-1]
    assert (done.returncode, last) == (
        FAILURE,
        "pyropunct: cannot write the results: the standard output is closed",
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_standard_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be told there changes nothing else."""
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)  # what is buffered is tried once more at exit
    for arguments in (("convert", tmp_path / "no"), ("convert", "--nonsense")):
        with open("/dev/full", "w") as full:
            done = run(*arguments, capture_output=False, stdout=subprocess.PIPE, stderr=full)
        assert (done.returncode, done.stdout) == (BAD_INPUT, "")


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs a file that cannot be read")
def test_input_that_cannot_be_read() -> None:
    assert (
        complaint(BAD_INPUT, "convert", "/proc/self/mem")
        == "/proc/self/mem: cannot be read: Input/output error"
    )


@pytest.mark.parametrize("module", ["click", "pyropunct.cli.main", "pyropunct.cli.tree_commands"])
def test_an_interruption_at_the_start(tmp_path: Path, module: str) -> None:
    """While modules are imported."""
    script = f"""
import sys
class Interrupting:
    def find_spec(self, name, *_):
        if name == {module!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupting())
from pyropunct.__main__ import main
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", script, "convert", "x"],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert one_line(done.returncode, done.stdout, done.stderr, INTERRUPTED) == "interrupted"


def test_a_working_folder_that_was_deleted(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f"import os; os.chdir({str(gone)!r}); os.rmdir({str(gone)!r}); "
    script += "from pyropunct.__main__ import main; main()"
    arguments = [sys.executable, "-c", script, "convert", tmp_path / "x.conllu"]
    done = subprocess.run(arguments, env=environment(), capture_output=True, text=True, check=False)
    message = one_line(done.returncode, done.stdout, done.stderr, BAD_INPUT)
    assert message == "the working folder has been deleted: change to another one"


def test_messages_and_titles_have_no_control_characters(small: Path, tmp_path: Path) -> None:
    """Neither those of names of files nor those of the input."""
    strange = tmp_path / "a\x1b[31mb\u202e"
    for arguments in (("evaluate", small / "model", strange), ("evaluate", strange, small / "dev.conllu")):
        assert complaint(BAD_INPUT, *arguments).isprintable()
    strange.write_text(
        (small / "dev.conllu").read_text(encoding="utf-8") + line(1, "\x1b[31m!", 0, tag="PUNCT")
    )
    for name in ("sample", "evaluate"):
        result = invoke(name, small / "model", strange)
        assert result.exit_code == 0
        assert "\x1b" not in result.stderr + result.stdout
    conllu = f"# sent_id = \x1b[31m\n{line(1, '!', 0, tag='PUNCT')}\n{HELLO}"
    strange.write_text(conllu)
    assert "1 omitted: \\x1b[31m (it has no word)" in invoke("sample", small / "model", strange).stderr


def test_the_debugging_variable_shows_where(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYROPUNCT_DEBUG", "1")
    result = invoke("evaluate", small / "missing", small / "dev.conllu")
    assert type(result.exception).__name__ == "ModelFileError"


def test_python_without_docstrings() -> None:
    whole = [sys.executable, "-OO", "-m", "pyropunct", "rules", "en"]
    done = subprocess.run(whole, capture_output=True, text=True, env=environment(), check=False)
    message = one_line(done.returncode, "", done.stderr, BAD_INPUT)
    assert message == "Pyro needs the docstrings that python -OO leaves out: use python -O"
