"""The command ``pyropunct corpus``: other commands for many files, on many cores and machines."""

import copy
import json as plain_json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import click

from pyropunct.cli import console
from pyropunct.cli.command import Command, Group
from pyropunct.cli.evaluate import merged_report
from pyropunct.cli.loading import Hardware, Threads, is_in
from pyropunct.cli.progress import sentence_bar
from pyropunct.errors import FailureError, UserError, installing
from pyropunct.files import WRITING, digest_of, held, json_text, model_there, remove_unwritten, written_whole
from pyropunct.limits import Placeholder

if TYPE_CHECKING:
    from distributed import Client

    from pyropunct.cli.cluster import CorpusFile, Job

# Modules that need torch or Dask are imported inside the functions, so that --help answers at once.


class Corpus(NamedTuple):
    """How a command works on a corpus; ``work``: its module and the function that returns a `Work`.

    :ivar endings: of the names of results, by the values of --format that a corpus may have.
    :ivar without: options that make no sense for a corpus.
    """

    work: str
    endings: dict[str, str]
    without: tuple[str, ...] = ()
    conllu: bool = False


TASKS = {
    "restore": Corpus("restore:restore.function", {"text": ".txt", "conllu": ".conllu"}, ("score",)),
    "correct": Corpus(
        "restore:correct.function", {"text": ".txt", "conllu": ".conllu", "edits": ".edits.tsv"}
    ),
    "underlying": Corpus(
        "tree_commands:underlying_work",
        {"brackets": ".brackets.txt", "conllu": ".conllu", "text": ".trees.txt"},
        ("samples", "sentence", "seed", "skip_bad", "proposals", "least"),
        conllu=True,
    ),
    "evaluate": Corpus("evaluate:work", {"": ".sums.json"}, conllu=True),
    "parse": Corpus("restore:parse.function", {"": ".conllu"}, ("format", "score")),
}
"""The commands that work on corpora."""

SETTINGS, REJECTED, RESULT = "corpus.json", "rejects.tsv", "result.json"
"""The files about the whole corpus: its settings, and two that are written at the end."""

IN_A_ROW = 10
"""Stop after this many consecutive failures: something is wrong with more than a file."""


@dataclass(frozen=True, kw_only=True)
class Machines:
    """Where the work is done.

    :ivar scheduler: the Dask scheduler of a cluster, such as tcp://node7:8786, whose workers see MODEL, IN
        and OUT under the same names.  By default the work is done on this machine.
    :ivar processes: processes on this machine, the workers without a scheduler; by default one for each core.
    :ivar threads: threads of each process.
    """

    scheduler: Annotated[str | None, Placeholder("ADDRESS")] = None
    processes: Threads | None = None
    threads: Threads = 1


class _Tasks(click.Group):
    """The commands that work on corpora, with the options that they have for one file."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names."""
        return list(TASKS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name."""
        return _command(cmd_name) if cmd_name in TASKS else None


@click.group(cls=_Tasks)
def corpus() -> None:
    """Restore, correct, parse or evaluate many files, on all cores or a cluster.

    IN is a folder, a file or a quoted pattern, such as 'texts/*.txt.gz': raw text (.txt) or CoNLL-U
    (.conllu), plain, .gz or .zst.  OUT is a folder in which each file gets its result, under the same path.
    After a fault, the same command resumes: it skips the files that are finished and have not changed since.
    Lines and sentences that cannot be used are listed in OUT/rejects.tsv.
    """


def _plain(name: str) -> Command:
    """The command for a file."""
    module, _, _ = TASKS[name].work.partition(":")
    command = getattr(import_module(f"pyropunct.cli.{module}"), name)
    assert isinstance(command, Command)
    return command


def _command(name: str) -> click.Command:
    """The command for a corpus, with the options of the command for a file."""
    task, plain = TASKS[name], _plain(name)
    kept = [
        copy.copy(parameter)
        for parameter in plain.params
        if isinstance(parameter, click.Option) and parameter.name not in (*task.without, "threads")
    ]
    for parameter in kept:
        if parameter.name == "format":
            parameter.type = click.Choice(list(task.endings))
    places = {"model": "MODEL", "given": "IN", "out": "OUT"}
    return click.Command(
        name,
        callback=console.polite(partial(_run, name)),
        params=[
            *(click.Argument([place], metavar=shown) for place, shown in places.items()),
            *(parameter for parameter in kept if parameter.name != "json"),
            *Group(Machines).options(),
            *(parameter for parameter in kept if parameter.name == "json"),
        ],
        help=f"The command {name} for a corpus: see `pyropunct {name} --help` and `pyropunct corpus --help`.",
        short_help=plain.get_short_help_str(limit=100),
    )


def _run(name: str, model: str, given: str, out: str, json: bool, **values: Any) -> None:
    try:
        from pyropunct.cli.cluster import connected, corpus_files
    except ModuleNotFoundError as error:
        raise UserError(
            f"work on corpora needs Dask ({error.name} is missing): {installing('corpus')}"
        ) from None

    task, machines, folder = TASKS[name], Group(Machines).made(values), Path(out)
    kind = "conllu" if task.conllu else values["input"]
    ending = task.endings[values.get("format", "")]
    files = corpus_files(given, _sources(task, kind, model, given, out), kind, out, ending)
    job = _job(name, model, machines.threads, values)
    options = {key: value for key, value in values.items() if key not in ("scheduler", "processes")}
    made_with = {"pyropunct": version("pyropunct"), "task": name, "model": job.digest, **options}
    with _alone_in(folder, made_with):
        for place in sorted({Path(file.result).parent for file in files}):
            place.mkdir(parents=True, exist_ok=True)
            remove_unwritten(place, "")
        left = [file for file in files if not file.is_made()]
        if len(left) < len(files):
            console.tell(f"pyropunct: {len(files) - len(left):,} of {len(files):,} files are there already")
        if left:
            try:
                with connected(machines.scheduler, machines.processes) as client:
                    _make(client, left, job, out)
            finally:
                for place in {Path(file.result).parent for file in left}:
                    remove_unwritten(place, "")
        rejected = _merge_rejects(folder, files)
    if name == "evaluate":
        _tell_evaluation(folder, files, given, json)
    elif json:
        console.print_json({"files": len(files), "made": len(left), "rejected": rejected})
    else:
        console.tell(f"pyropunct: {out}: {len(files):,} files")


def _sources(task: Corpus, kind: str, model: str, given: str, out: str) -> list[str]:
    """The files to read. Raises UserError if the results would be written into one of them or the model."""
    from pyropunct.shipped import place_of
    from pyropunct.text.inputs import files_of

    files = files_of(given, any_name=kind != "auto" and not task.conllu, conllu=task.conllu)
    for path in (given, str(place_of(model)), *files):
        if is_in(Path(out), Path(path)):
            raise UserError(f"{out}: is in {path}, which is read: choose another folder")
    return files


def _job(name: str, model: str, threads: int, values: dict[str, Any]) -> "Job":
    """What to do with each file; whatever is wrong with the model or the options is told at once."""
    from pyropunct.cli.cluster import Job
    from pyropunct.shipped import place_of

    model = os.path.abspath(model_there(model)) if model_there(model).is_file() else model
    Hardware(threads=threads).start()
    arguments = _plain(name).arguments({key: value for key, value in values.items() if key != "threads"})
    job = Job(f"pyropunct.cli.{TASKS[name].work}", model, "", tuple(sorted(arguments.items())), threads)
    job.load()
    return job._replace(digest=digest_of(place_of(model)))


@contextmanager
def _alone_in(folder: Path, made_with: dict[str, Any]) -> Iterator[None]:
    """Keep other commands out of a folder, which has nothing but results with the same settings."""
    note, text = folder / SETTINGS, json_text(made_with)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with held(folder) as alone:
            if not alone:
                raise UserError(f"{folder}: the same command is at work there already")
            if note.exists():
                _check_same(folder, plain_json.loads(text), note.read_bytes())
            elif any(not path.name.endswith(WRITING) for path in folder.iterdir()):
                raise UserError(f"{folder}: holds other things than results: choose another folder")
            with written_whole(note) as stream:
                stream.write(text.encode())
            yield
    except FileExistsError:
        raise UserError(f"{folder}: is a file, not a folder for results") from None
    except PermissionError as error:
        raise UserError(f"{folder}: cannot write there: {error.strerror}") from error


def _check_same(folder: Path, wanted: dict[str, Any], note: bytes) -> None:
    """:raises UserError: if results were made with other settings."""
    try:
        found = dict(plain_json.loads(note))
    except ValueError:
        raise UserError(f"{folder / SETTINGS}: does not describe a corpus: choose another folder") from None
    for name in [*wanted, *found]:
        old, new = found.get(name), wanted.get(name)
        if old != new:
            what = "another model" if name == "model" else f"{name} {old!r}, not {new!r}"
            raise UserError(f"{folder}: holds results with {what}: choose another folder")


def _make(client: "Client", files: "Sequence[CorpusFile]", job: "Job", out: str) -> None:
    """Make missing results. Raises FailureError if some could not be made."""
    from pyropunct.cli.cluster import make_all
    from pyropunct.inference.compiling import is_compiled

    failed = in_a_row = 0
    with sentence_bar(Path(out).name, len(files)) as advance:
        first = 0 if is_compiled() else 1  # the others then find compiled code
        for batch in filter(None, (files[:first], files[first:])):
            for file, problem in make_all(client, batch, job):
                advance(1)
                in_a_row = in_a_row + 1 if problem else 0
                if problem:
                    failed += 1
                    console.tell(f"pyropunct: {file.source}: {problem.removeprefix(f'{file.source}: ')}")
                if in_a_row == IN_A_ROW:
                    raise FailureError(f"{in_a_row} files in a row have failed, the last with: {problem}")
    if failed:
        raise FailureError(
            f"{out}: {failed:,} of {len(files):,} files could not be made; the same command tries them again"
        )


def _merge_rejects(folder: Path, files: "Sequence[CorpusFile]") -> int:
    """List what could not be used of all files in one table, and report the number."""
    rejected, place = 0, folder / REJECTED
    with written_whole(place) as stream:
        for file in files:
            for line in file.rejected():
                stream.write(line.encode())
                rejected += 1
    if rejected:
        console.tell(f"pyropunct: {place}: lines and sentences that could not be used: {rejected:,}")
    return rejected


def _tell_evaluation(folder: Path, files: "Sequence[CorpusFile]", given: str, json: bool) -> None:
    """Print the evaluation of all files together, and write it to a file."""
    report = merged_report(given, (Path(file.result).read_text(encoding="utf-8") for file in files))
    with written_whole(folder / RESULT) as stream:
        stream.write((json_text(report.plain) + "\n").encode())
    report.show("json" if json else "text")
