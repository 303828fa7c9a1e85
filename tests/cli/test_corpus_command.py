"""The command ``pyropunct corpus``: what other commands write for one file, come what may."""

import gzip
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import Result
from command_line import command, environment, invoke, one_line, printed, without_log

from pyropunct.cli.corpus import TASKS
from pyropunct.cli.main import main
from pyropunct.punctuator import Punctuator
from pyropunct.tasks.correct.channel_fitting import fit_channel, simulated_pairs
from pyropunct.tasks.correct.correcting import NoisyChannel
from pyropunct.treebank.sentence import Sentence

pytest.importorskip("distributed", reason="pyropunct[corpus] is not installed")
pytestmark = pytest.mark.usefixtures("single_precision")

BAD_INPUT, FAILURE, INTERRUPTED = 2, 1, 130
SENTENCES = 12
QUICK = ("--samples", 20, "--trees", 2)


@pytest.fixture(autouse=True)
def here(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command finds this scheduler, and needs no other."""

    @contextmanager
    def connected(scheduler: str | None, processes: int) -> Iterator[Any]:
        yield client

    monkeypatch.setattr("pyropunct.cli.cluster.connected", connected)


@pytest.fixture(scope="module")
def treebank(small: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with sentences in two files, one of them compressed."""
    folder = tmp_path_factory.mktemp("corpus") / "treebank"
    folder.mkdir()
    blocks = (small / "dev.conllu").read_text(encoding="utf-8").split("\n\n")[: 2 * SENTENCES]
    without_names = [block.replace("# sent_id = ", "# name = ") for block in blocks]
    texts = ["\n\n".join(some) + "\n\n" for some in (without_names[:SENTENCES], without_names[SENTENCES:])]
    (folder / "a.conllu").write_text(texts[0], encoding="utf-8")
    (folder / "b.conllu.gz").write_bytes(gzip.compress(texts[1].encode()))
    return folder


@pytest.fixture(scope="module")
def texts(treebank: Path) -> Path:
    """A folder with the same sentences as raw text, one a line, and an empty line."""
    folder = treebank.parent / "texts"
    folder.mkdir()
    for name in ("a.conllu", "b.conllu.gz"):
        stored = (treebank / name).read_bytes()
        text = (gzip.decompress(stored) if name.endswith(".gz") else stored).decode()
        lines = [line.removeprefix("# text = ") for line in text.split("\n") if line.startswith("# text = ")]
        (folder / name.replace(".conllu", ".txt").removesuffix(".gz")).write_text("\n".join([*lines, "", ""]))
    return folder


@pytest.fixture(scope="module")
def corrector(
    model_with_parser: Path, train: list[Sentence], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    model = Punctuator.load(model_with_parser)
    folder = tmp_path_factory.mktemp("corrector") / "model"
    NoisyChannel(model, fit_channel(simulated_pairs(train, copies=1), model.vocabulary.tokens)).save(folder)
    return folder


def corpus(task: str, *arguments: object) -> Result:
    return invoke("corpus", task, *arguments)


def done(task: str, *arguments: object) -> None:
    """Call a command that succeeds, and says nothing but how it went."""
    result = corpus(task, *arguments)
    assert (result.exit_code, result.stdout) == (0, ""), result.stderr


def refusal(task: str, *arguments: object, status: int = BAD_INPUT) -> str:
    """The line of a call that fails."""
    result = corpus(task, *arguments)
    return one_line(result.exit_code, result.stdout, result.stderr, status)


def joined(out: Path, ending: str) -> str:
    """The results, one after the other."""
    return "".join(path.read_text(encoding="utf-8") for path in sorted(out.glob(f"*{ending}")))


def plain(folder: Path, scratch: Path, *arguments: object) -> str:
    """What a command prints for each file of a folder by itself."""
    task, model, *options = arguments
    found = ""
    for file in sorted(folder.iterdir()):
        stored = file.read_bytes()
        whole = scratch / file.name.removesuffix(".gz")
        whole.write_bytes(gzip.decompress(stored) if file.suffix == ".gz" else stored)
        result = invoke(task, model, whole, *options, "--threads", 1)
        assert result.exit_code == 0, result.stderr
        found += result.stdout
    return found


@pytest.mark.parametrize(
    ("options", "ending"),
    [((), ".brackets.txt"), (("--format", "conllu", "--attach-punctuation"), ".conllu")],
)
def test_underlying(
    small: Path, treebank: Path, tmp_path: Path, options: tuple[str, ...], ending: str
) -> None:
    done("underlying", small / "model", treebank, tmp_path / "out", *options)
    assert joined(tmp_path / "out", ending) == plain(
        treebank, tmp_path, "underlying", small / "model", *options
    )


@pytest.mark.parametrize(
    ("options", "ending"),
    [((), ".txt"), (("--format", "conllu"), ".conllu"), (("--running", "--case", "restore"), ".txt")],
)
def test_restore(
    model_with_parser: Path, texts: Path, tmp_path: Path, options: tuple[str, ...], ending: str
) -> None:
    done("restore", model_with_parser, texts, tmp_path / "out", *QUICK, *options)
    expected = plain(texts, tmp_path, "restore", model_with_parser, *QUICK, *options)
    assert joined(tmp_path / "out", ending) == expected


def test_restore_treebanks(small: Path, treebank: Path, tmp_path: Path) -> None:
    options = ("--hidden", ",", "--samples", 20)
    done("restore", small / "model", treebank, tmp_path / "out", *options)
    assert joined(tmp_path / "out", ".txt") == plain(treebank, tmp_path, "restore", small / "model", *options)


def test_parse(model_with_parser: Path, texts: Path, tmp_path: Path) -> None:
    done("parse", model_with_parser, texts, tmp_path / "out", "--draws", 5)
    expected = plain(texts, tmp_path, "parse", model_with_parser, "--draws", 5)
    assert joined(tmp_path / "out", ".conllu") == expected
    assert {path.name for path in (tmp_path / "out").glob("*.conllu")} == {"a.conllu", "b.conllu"}


def test_correct(corrector: Path, texts: Path, tmp_path: Path) -> None:
    """With --find-rate each file has a writer of its own."""
    wrong = tmp_path / "wrong"
    wrong.mkdir()
    for name in ("a.txt", "b.txt"):
        lines = (texts / name).read_text(encoding="utf-8").splitlines(keepends=True)[:7]
        (wrong / name).write_text("".join(lines).replace(" ", ", ", 30))
    edits = ""
    for number, more in enumerate([("--find-rate",), ("--rate", 0.1)]):
        out, options = tmp_path / f"out{number}", ("--format", "edits", *more)
        done("correct", corrector, wrong, out, *options)
        found = joined(out, ".edits.tsv")
        assert found == plain(wrong, tmp_path, "correct", corrector, *options)
        edits += found
    assert edits


def rounded(text: str) -> dict[str, Any]:
    """A JSON object with numbers of twelve digits."""
    found = json.loads(text, parse_float=lambda number: float(f"{float(number):.12g}"))
    assert isinstance(found, dict)
    return found


def test_evaluate(small: Path, treebank: Path, tmp_path: Path) -> None:
    """The result is that for all sentences in one file, but for the rounding of sums."""
    whole = tmp_path / "whole.conllu"
    whole.write_text(
        (treebank / "a.conllu").read_text(encoding="utf-8")
        + gzip.decompress((treebank / "b.conllu.gz").read_bytes()).decode(),
        encoding="utf-8",
    )
    result = corpus("evaluate", small / "model", treebank, tmp_path / "out", "--json")
    expected = rounded(printed("evaluate", small / "model", whole, "--json", "--threads", 1))
    left_out = {"omissions", "impossible"}
    found = rounded(result.stdout)
    assert (found.pop("malformed"), found.pop("impossible")) == (0, 0)
    assert found == {name: value for name, value in expected.items() if name not in left_out}
    assert json.loads((tmp_path / "out" / "result.json").read_text()) == json.loads(result.stdout)
    table = corpus("evaluate", small / "model", treebank, tmp_path / "out").stdout
    assert table[table.index("│ slots") :] in printed("evaluate", small / "model", whole, "--threads", 1)


# Again


@pytest.fixture
def out(small: Path, treebank: Path, tmp_path: Path) -> Path:
    """A corpus that is done."""
    done("underlying", small / "model", treebank, tmp_path / "out")
    return tmp_path / "out"


def test_what_is_there_stays(out: Path, small: Path, treebank: Path, tmp_path: Path) -> None:
    """Unless its file has changed; what a killed worker has half written goes."""
    again = tmp_path / "treebank"
    shutil.copytree(treebank, again)  # with the times of the files
    first, second = out / "a.brackets.txt", out / "b.brackets.txt"
    before = first.read_text(encoding="utf-8"), second.read_text(encoding="utf-8")
    first.write_text("as it was")
    second.unlink()
    (out / f".{second.name}.abc.new").write_text("half")
    result = corpus("underlying", small / "model", again, out)
    assert "pyropunct: 1 of 2 files are there already" in result.stderr
    assert (first.read_text(encoding="utf-8"), second.read_text(encoding="utf-8")) == ("as it was", before[1])
    results = {path.name for one in (first, second) for path in (one, Path(f"{one}.made.json"))}
    assert {path.name for path in out.iterdir()} == {"corpus.json", "rejects.tsv"} | results
    os.utime(again / "a.conllu")
    done("underlying", small / "model", again, out)
    assert first.read_text(encoding="utf-8") == before[0]


def test_nothing_else_gets_mixed_in(out: Path, small: Path, model_with_parser: Path, treebank: Path) -> None:
    kept = {path.name: path.read_bytes() for path in out.iterdir()}
    model = small / "model"
    refused = [
        (refusal("underlying", model_with_parser, treebank, out), "another model"),
        (refusal("underlying", model, treebank, out, "--format", "text"), "format 'brackets', not 'text'"),
        (refusal("evaluate", model, treebank, out), "task 'underlying', not 'evaluate'"),
    ]
    for line, what in refused:
        assert line == f"{out}: holds results with {what}: choose another folder"
    assert {path.name: path.read_bytes() for path in out.iterdir()} == kept


def test_results_have_the_paths_of_their_files(small: Path, treebank: Path, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    for name in ("x", "y"):
        shutil.copytree(treebank, folder / name)
    done("underlying", small / "model", f"{folder}/*/a.conllu", tmp_path / "out")
    assert (tmp_path / "out" / "x" / "a.brackets.txt").read_text() == joined(
        tmp_path / "out" / "y", "a.brackets.txt"
    )
    shutil.copy(folder / "x" / "a.conllu", folder / "x" / "b.conllu")
    line = refusal("underlying", small / "model", folder, tmp_path / "out")
    assert line.endswith(f"its result would have the name of that of {folder}/x/b.conllu: rename one")


# What cannot be used


def test_bad_sentences_do_not_stop_the_work(small: Path, treebank: Path, tmp_path: Path) -> None:
    blocks = (treebank / "a.conllu").read_text(encoding="utf-8").split("\n\n")[:4]
    lines = blocks[1].split("\n")
    broken = "\n".join([*lines[:-1], lines[-1].replace("\t", " ")])
    no_words = "1\t!\t!\tPUNCT\t_\t_\t0\troot\t_\t_"
    folder = tmp_path / "in"
    folder.mkdir()
    text = "\n\n".join([blocks[0], broken, no_words, blocks[2]]).encode() + b"\n\n1\t\xff\n\n"
    (folder / "a.conllu").write_bytes(text + blocks[3].encode() + b"\n\n")
    (tmp_path / "good.conllu").write_text("\n\n".join([blocks[0], *blocks[2:]]) + "\n\n", encoding="utf-8")
    for task, ending in (("underlying", ".brackets.txt"), ("restore", ".txt")):
        out = tmp_path / task
        result = corpus(task, small / "model", folder, out)
        assert result.exit_code == 0
        assert f"{out}/rejects.tsv: lines and sentences that could not be used: 3\n" in result.stderr
        assert joined(out, ending) == invoke(task, small / "model", tmp_path / "good.conllu").stdout
        rejects = [line.split("\t") for line in (out / "rejects.tsv").read_text().splitlines()]
        begins = (b" PUNCT", b"1\t!", b"1\t\xff")
        first, second, third = (text[: text.index(what)].count(b"\n") + 1 for what in begins)
        assert rejects == [
            [str(folder / "a.conllu"), str(first), f"sentence '#2': {rejects[0][2].partition(': ')[2]}"],
            [str(folder / "a.conllu"), str(second), "sentence '#3': omitted: it has no word"],
            [str(folder / "a.conllu"), str(third), rejects[2][2]],
        ]
        assert "1 column, not 10" in rejects[0][2]
        assert "which is not UTF-8" in rejects[2][2]
    evaluated = corpus("evaluate", small / "model", folder, tmp_path / "sums", "--json")
    found = json.loads(evaluated.stdout)
    assert [found[name] for name in ("sentences", "omitted", "malformed")] == [3, 1, 2]


def test_bad_lines_are_left_as_they_were(model_with_parser: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"Go\nan \xff here\nGo\n")
    done("restore", model_with_parser, tmp_path / "a.txt", tmp_path / "out", *QUICK)
    found = (tmp_path / "out" / "a.txt").read_bytes()
    assert found.splitlines()[1] == b"an \xff here"
    assert found.splitlines()[0] == found.splitlines()[2]
    [reject] = (tmp_path / "out" / "rejects.tsv").read_text().splitlines()
    assert reject.startswith(f"{tmp_path}/a.txt\t2\tbyte 6 is 0xff, which is not UTF-8")


# Bad input


def test_bad_places(small: Path, treebank: Path, tmp_path: Path) -> None:
    model = small / "model"
    empty, file, full = tmp_path / "empty", tmp_path / "file", tmp_path / "full"
    empty.mkdir()
    file.touch()
    full.mkdir()
    (full / "thesis.tex").touch()
    assert refusal("evaluate", model, empty, tmp_path / "out") == f"{empty}: there is no file in it"
    (empty / "a.conllu").touch()
    *_, told, last = corpus("evaluate", model, empty, tmp_path / "out").stderr.splitlines()
    assert told.endswith("rejects.tsv: lines and sentences that could not be used: 1")
    assert last == f"pyropunct: {empty}: no sentence can be used"
    (empty / "a.pdf").touch()
    assert "a.pdf: is not CoNLL-U by its name" in refusal("evaluate", model, empty, tmp_path / "out")
    assert refusal("evaluate", model, treebank, file) == f"{file}: is a file, not a folder for results"
    assert f"{full}: holds other things than results" in refusal("evaluate", model, treebank, full)
    inside = treebank / "out"
    assert refusal("evaluate", model, treebank, inside) == (
        f"{inside}: is in {treebank}, which is read: choose another folder"
    )
    assert "no such model" in refusal("evaluate", tmp_path / "no", treebank, tmp_path / "out")
    assert "has no parser" in refusal("parse", model, treebank, tmp_path / "out")
    assert "exclude each other" in refusal(
        "restore", model, treebank, tmp_path / "out", "--marks", ",", "--hidden", ","
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_no_permission(small: Path, treebank: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir(mode=0o500)
    line = refusal("evaluate", small / "model", treebank, tmp_path / "out")
    assert line == f"{tmp_path / 'out'}: cannot write there: Permission denied"


def test_two_at_a_time(out: Path, small: Path, treebank: Path) -> None:
    from pyropunct.files import held

    with held(out):
        line = refusal("underlying", small / "model", treebank, out)
    assert line == f"{out}: the same command is at work there already"


def test_what_cannot_be_made_is_told(small: Path, treebank: Path, tmp_path: Path) -> None:
    """The other files are made."""
    folder, out = tmp_path / "in", tmp_path / "out"
    shutil.copytree(treebank, folder)
    (folder / "c.conllu.gz").write_bytes((folder / "b.conllu.gz").read_bytes()[:-20])
    result = corpus("underlying", small / "model", folder, out)
    *_, told, last = without_log(result.stderr).splitlines()
    assert result.exit_code == FAILURE
    assert told.startswith(f"pyropunct: {folder / 'c.conllu.gz'}: cannot be decompressed: ")
    last_words = "1 of 3 files could not be made; the same command tries them again"
    assert last == f"pyropunct: {out}: {last_words}"
    assert {path.name for path in out.glob("*.txt")} == {"a.brackets.txt", "b.brackets.txt"}
    for number in range(10):
        shutil.copy(folder / "c.conllu.gz", folder / f"c{number}.conllu.gz")
    result = corpus("underlying", small / "model", folder, out)
    assert "pyropunct: 10 files in a row have failed, the last with: " in result.stderr


def test_options_are_those_of_the_commands() -> None:
    group = main.get_command(click.Context(main), "corpus")
    assert isinstance(group, click.Group)
    for name in TASKS:
        text = printed("corpus", name, "--help")
        assert "--scheduler" in text
        assert "--json" in text
        own = group.get_command(click.Context(group), name)
        assert own is not None
        names = {one.name for one in own.params}
        assert {"model", "given", "out", "trust_variants", "threads"} <= names
        assert not names & {"score", "places", "file"}


# Faults, in processes of their own


def waited(condition: Callable[[], bool], process: "subprocess.Popen[str]") -> None:
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def test_a_worker_is_killed_and_the_command_ended(small: Path, tmp_path: Path) -> None:
    """Another worker takes its place; ended as by Ctrl-C, the command leaves nothing half, and resumes."""
    psutil = pytest.importorskip("psutil")
    model, folder, out, temporary = (
        small / "model",
        tmp_path / "in",
        tmp_path / "out",
        tmp_path / "temporary",
    )
    folder.mkdir()
    temporary.mkdir()
    blocks = (small / "dev.conllu").read_text(encoding="utf-8").split("\n\n")[:12]
    for number, block in enumerate(blocks):
        (folder / f"{number:03}.conllu").write_text(f"{block}\n\n", encoding="utf-8")
    process = subprocess.Popen(
        command("corpus", "underlying", model, folder, out, "--processes", 1),
        env=environment(TMPDIR=str(temporary)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )

    def made() -> int:
        return len(list(out.glob("*.txt")))

    waited(lambda: made() > 0, process)
    worker = max(psutil.Process(process.pid).children(recursive=True), key=lambda one: one.create_time())
    worker.send_signal(signal.SIGKILL)
    before = made()
    waited(lambda: made() > before + 1, process)
    process.terminate()
    stdout, stderr = process.communicate()
    # Python's tracker of resources may miss those of the killed worker, and say so.
    told = [line for line in stderr.splitlines() if line.startswith("pyropunct: ") and " so far" not in line]
    assert (process.returncode, stdout, told) == (INTERRUPTED, "", ["pyropunct: interrupted"])
    assert not list(out.glob(".*.new"))
    assert not list(temporary.glob("pyropunct-*"))
    assert 0 < made() < len(blocks)
    done("underlying", model, folder, out)
    assert made() == len(blocks)
