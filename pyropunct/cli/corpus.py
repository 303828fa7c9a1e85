"""The command ``pyropunct corpus``: other commands for many files, in shards, on many machines."""

import copy
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import click

from pyropunct.cli import console
from pyropunct.cli.command import Command, Group
from pyropunct.cli.evaluate import merged_report
from pyropunct.cli.loading import Hardware, Threads, is_in
from pyropunct.errors import FailureError, UserError, installing
from pyropunct.files import held, json_text, model_there, remove_unwritten, written_whole
from pyropunct.limits import Count, Placeholder

if TYPE_CHECKING:
    from distributed import Client

    from pyropunct.cli.shards import Job, Shard

# Modules that need torch or Dask are imported inside the functions, so that --help answers at once.


class Corpus(NamedTuple):
    """How a command works on a corpus; ``work``: its module and the function that returns a `Work`.

    :ivar endings: of the names of shards, by the values of --format that allow shards.
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
        ("samples", "sentence", "width", "mark", "seed", "skip_bad", "proposals", "least"),
        conllu=True,
    ),
    "evaluate": Corpus("evaluate:work", {"": ".sums.json"}, conllu=True),
    "parse": Corpus("restore:parse.function", {"": ".conllu"}, ("format", "score")),
}
"""The commands that work on corpora."""

REJECTED, RESULT = "rejects.tsv", "result.json"
"""The files that are written last of all."""


@dataclass(frozen=True, kw_only=True)
class Sharding:
    """How a corpus is cut and worked on.

    :ivar shard_size: the most sentences in a shard; in raw text, lines.
    :ivar scheduler: the Dask scheduler of a cluster, such as tcp://node7:8786, whose workers see MODEL, IN
        and OUT under the same names.  By default the work is done on this machine.
    :ivar processes: processes on this machine, the workers without a scheduler; by default one for each core.
    :ivar threads: threads of each process.
    """

    shard_size: Count = 10_000
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
    """Restore, correct, parse or evaluate many files, in shards, on all cores or a cluster.

    IN is a folder, a file or a quoted pattern, such as 'texts/*.txt.gz': raw text (.txt) or CoNLL-U
    (.conllu), plain, .gz or .zst.  OUT is a new folder for the shards; concatenated, they equal the output of
    the command run on each file in turn.  After a fault, the same command resumes: finished shards stay.
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
            *Group(Sharding).options(),
            *(parameter for parameter in kept if parameter.name == "json"),
        ],
        help=f"The command {name} for a corpus: see `pyropunct {name} --help` and `pyropunct corpus --help`.",
        short_help=plain.get_short_help_str(limit=100),
    )


def _run(name: str, model: str, given: str, out: str, json: bool, **values: Any) -> None:
    from pyropunct.cli.manifest import check, described, with_files, write
    from pyropunct.errors import InputError

    try:
        from pyropunct.cli.cluster import check_workers, connected, cut_all
    except ModuleNotFoundError as error:
        raise InputError(f"work on corpora needs {error.name}: {installing('corpus')}") from None

    task, sharding, folder = TASKS[name], Group(Sharding).made(values), Path(out)
    kind = "conllu" if task.conllu else values["input"]
    files = _files(task, kind, model, given, out)
    job = _job(name, model, out, sharding.threads, values)
    options = {key: value for key, value in values.items() if key not in vars(sharding)}
    settings = {**options, "threads": sharding.threads}
    manifest = described(name, job.model_checksum, settings, sharding.shard_size)
    check(folder, manifest)
    with _alone_in(folder), connected(sharding.scheduler, sharding.processes) as client:
        check_workers(client, console.tell)
        cut_files = cut_all(client, files, kind, sharding.shard_size, values.get("running", False))
        shards = [shard for file in cut_files for shard in file.shards]
        if not shards:
            raise UserError(f"{given}: there is no sentence in it")
        write(folder, with_files(manifest, given, cut_files))
        _make(client, job, shards)
    rejected = _merge_rejects(job, shards)
    if name == "evaluate":
        _tell_evaluation(job, shards, given, json)
        return
    sentences = sum(shard.sentences for shard in shards)
    if json:
        console.print_json({"sentences": sentences, "shards": len(shards), "rejected": rejected})
    else:
        console.tell(f"pyropunct: {job.out}: {sentences:,} sentences in {len(shards):,} shards")


def _files(task: Corpus, kind: str, model: str, given: str, out: str) -> list[str]:
    """The files to read. Raises UserError if the results would be written into one of them or the model."""
    from pyropunct.shipped import place_of
    from pyropunct.text.inputs import files_of

    files = files_of(given, any_name=kind != "auto" and not task.conllu, conllu=task.conllu)
    for path in (given, str(place_of(model)), *files):
        if is_in(Path(out), Path(path)):
            raise UserError(f"{out}: is in {path}, which is read: choose another folder")
    return list(map(os.path.abspath, files))


def _job(name: str, model: str, out: str, threads: int, values: dict[str, Any]) -> "Job":
    """What to do with each shard; whatever is wrong with the model or the options is told at once."""
    from pyropunct.cli.shards import Job, file_checksum, load_work
    from pyropunct.shipped import place_of

    model = os.path.abspath(model_there(model)) if model_there(model).is_file() else model
    Hardware(threads=threads).start()
    arguments = _plain(name).arguments({key: value for key, value in values.items() if key != "threads"})
    place, ending = f"pyropunct.cli.{TASKS[name].work}", TASKS[name].endings[values.get("format", "")]
    load_work(place, model, arguments)
    checksum, settings = file_checksum(place_of(model)), tuple(sorted(arguments.items()))
    return Job(place, model, checksum, settings, threads, os.path.abspath(out), ending)


def _tell_evaluation(job: "Job", shards: "Sequence[Shard]", given: str, json: bool) -> None:
    """Print the evaluation of all shards together, and write it to a file."""
    parts = (job.path(shard).read_text(encoding="utf-8") for shard in shards)
    report = merged_report(given, parts)
    with written_whole(Path(job.out) / RESULT) as stream:
        stream.write((json_text(report.plain) + "\n").encode())
    report.show("json" if json else "text")


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Keep other commands out of a folder, and delete unfinished files of killed workers."""
    with held(folder) as alone:
        if not alone:
            raise UserError(f"{folder}: the same command is at work there already")
        remove_unwritten(folder, "")
        try:
            yield
        finally:
            remove_unwritten(folder, "")


def _make(client: "Client", job: "Job", shards: "Sequence[Shard]") -> None:
    """Make the missing shards. Raises FailureError if some could not be made."""
    from pyropunct.cli.cluster import make_all
    from pyropunct.cli.training_reports import paced
    from pyropunct.inference.compiling import is_compiled

    there = {path.name for path in Path(job.out).iterdir()}
    missing = [shard for shard in shards if job.path(shard).name not in there]
    if len(missing) < len(shards):
        console.tell(f"pyropunct: {len(shards) - len(missing):,} of {len(shards):,} shards are there already")
    total = sum(shard.sentences for shard in missing)
    with paced(Path(job.out).name, total) as advance:
        failed = make_all(client, job, missing, console.tell, advance, first_alone=not is_compiled())
    if failed:
        raise FailureError(
            f"{job.out}: {len(failed):,} of {len(shards):,} shards could not be made, the first of them "
            f"{failed[0].number}; the same command tries them again"
        )


def _merge_rejects(job: "Job", shards: "Sequence[Shard]") -> int:
    """Merge the rejects of all shards into one file, and report their number."""
    rejected, place = 0, Path(job.out) / REJECTED
    with written_whole(place) as stream:
        for shard in shards:
            path = job.rejects(shard)
            if path.exists():
                content = path.read_bytes()
                stream.write(content)
                rejected += content.count(b"\n")
    if rejected:
        console.tell(f"pyropunct: {place}: lines and sentences that could not be used: {rejected:,}")
    return rejected
