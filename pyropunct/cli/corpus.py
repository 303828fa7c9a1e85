"""The command ``pyropunct corpus``: other commands for many files, in shards, on many machines."""

import copy
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from pyropunct.cli import console
from pyropunct.cli.frame import BAD_INPUT, FAILURE, OneLineError, polite
from pyropunct.cli.options import MOST_THREADS
from pyropunct.cli.outputs import is_in
from pyropunct.files import held, remove_unwritten, written_whole

if TYPE_CHECKING:
    from distributed import Client

    from pyropunct.corpus.shards import Job, Shard

# Modules that need torch or Dask are imported inside the functions, so that --help answers at once.


class Corpus(NamedTuple):
    """How a command works on a corpus.

    :ivar module: that of the command, with its function ``work``.
    :ivar endings: of the names of shards, for each value of --format that can be cut into shards.
    :ivar without: parameters that make no sense for a corpus.
    :ivar conllu: whether it reads nothing but CoNLL-U.
    """

    module: str
    endings: dict[str, str]
    without: tuple[str, ...] = ()
    conllu: bool = False

    @property
    def work(self) -> str:
        """Where its work is, see `pyropunct.corpus.shards.Job`."""
        return f"pyropunct.cli.{self.module}:work"


TASKS = {
    "restore": Corpus("restore", {"text": ".txt", "conllu": ".conllu"}, ("score",)),
    "correct": Corpus("correct", {"text": ".txt", "conllu": ".conllu", "edits": ".edits.tsv"}),
    "underlying": Corpus(
        "underlying",
        {"brackets": ".brackets.txt", "conllu": ".conllu", "text": ".trees.txt"},
        ("samples", "identifier", "width", "seed"),
        conllu=True,
    ),
    "evaluate": Corpus("evaluate", {"": ".sums.json"}, conllu=True),
    "parse": Corpus("parse", {"": ".conllu"}, ("shape", "score")),
}
"""The commands that work on corpora."""

ALWAYS_WITHOUT = ("as_json", "threads")
"""Parameters that a corpus has itself."""

REJECTED, RESULT = "rejects.tsv", "result.json"
"""The files that are written last of all."""

_OWN = (
    click.Option(
        ["--shard-size"],
        type=click.IntRange(1),
        default=10_000,
        show_default=True,
        help="The most sentences of a shard; in raw text, lines.",
    ),
    click.Option(
        ["--scheduler"],
        metavar="ADDRESS",
        help="The Dask scheduler of a cluster, such as tcp://node7:8786, whose workers see MODEL, IN and OUT "
        "under the same names.  By default the work is done on this machine.",
    ),
    click.Option(
        ["--processes"],
        type=click.IntRange(1, MOST_THREADS),
        help="Processes on this machine; by default one for each core.",
    ),
    click.Option(
        ["--threads"],
        type=click.IntRange(1, MOST_THREADS),
        default=1,
        show_default=True,
        help="Threads of each process.",
    ),
)


class _Tasks(click.Group):
    """The commands that work on corpora, with the options that they have for one file."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names."""
        return list(TASKS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """One of them."""
        return _command(cmd_name) if cmd_name in TASKS else None


@click.group(cls=_Tasks)
def corpus() -> None:
    """Restore, correct, parse or evaluate many files, in shards, on all cores or a cluster.

    IN is a folder, a file or a pattern in quotes, such as 'texts/*.txt.gz': raw text (.txt) or CoNLL-U
    (.conllu), plain, .gz or .zst.  OUT is a new folder for the shards; one after the other they are what the
    command writes for one file after the other.  The same command again goes on after a fault: shards that
    are there stay.  Lines and sentences that cannot be used are listed in OUT/rejects.tsv.
    """


def _command(name: str) -> click.Command:
    """The command for a corpus, with the options of that for a file."""
    task = TASKS[name]
    plain: click.Command = getattr(import_module(f"pyropunct.cli.{task.module}"), name)
    taken = {*task.without, *ALWAYS_WITHOUT}
    options = [copy.copy(one) for one in plain.params if isinstance(one, click.Option)]
    own = [one for one in options if one.name not in taken]
    for option in own:
        if option.name == "shape":
            option.type = click.Choice(list(task.endings))
    as_json = [one for one in options if one.name == "as_json"]
    places = {"model": "MODEL", "given": "IN", "out": "OUT"}
    return click.Command(
        name,
        callback=polite(partial(_run, name)),
        params=[
            *(click.Argument([place], metavar=shown) for place, shown in places.items()),
            *own,
            *_OWN,
            *as_json,
        ],
        help=f"The command {name} for a corpus: see `pyropunct {name} --help` and `pyropunct corpus --help`.",
        short_help=plain.get_short_help_str(limit=100),
    )


def _run(
    name: str,
    model: str,
    given: str,
    out: str,
    shard_size: int,
    scheduler: str | None,
    processes: int | None,
    threads: int,
    as_json: bool,
    kind: str = "auto",
    **settings: Any,
) -> None:
    from pyropunct.cli.loading import use_threads
    from pyropunct.corpus.cluster import check_workers, connected, cut_all
    from pyropunct.corpus.inputs import files_of
    from pyropunct.corpus.manifest import check, described, with_files, write
    from pyropunct.corpus.shards import Job, folder_checksum, load_work
    from pyropunct.shipped import place_of

    task = TASKS[name]
    files = files_of(given, any_name=kind != "auto", conllu=task.conllu)
    _check_apart(Path(out), [given, str(place_of(model)), *files])
    model = os.path.abspath(model) if Path(model).is_dir() else model
    use_threads(threads)
    load_work(task.work, model, settings)  # whatever is wrong with the model or the settings is told at once
    told = {**settings, "input": kind, "threads": threads}
    checksum = folder_checksum(place_of(model))
    manifest = described(name, checksum, told, shard_size)
    check(Path(out), manifest)
    with _alone(Path(out)), connected(scheduler, processes or _cores()) as client:
        check_workers(client, console.tell)
        kind = "conllu" if task.conllu else kind
        files = list(map(os.path.abspath, files))
        found = cut_all(client, files, kind, shard_size, settings.get("running", False))
        manifest = with_files(manifest, given, found)
        shards = [shard for file in found for shard in file.shards]
        if not shards:
            raise OneLineError(f"{given}: there is no sentence in it", BAD_INPUT)
        if not check(Path(out), manifest):
            write(Path(out), manifest)
        ending = task.endings[settings.get("shape", "")]
        job = Job(
            task.work, model, checksum, tuple(sorted(settings.items())), threads, os.path.abspath(out), ending
        )
        failed = _make(client, job, shards)
    _finish(name, job, shards, failed, given, as_json)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _check_apart(out: Path, inputs: Sequence[str]) -> None:
    """:raises OneLineError: if the results would be written into something that is read."""
    for one in inputs:
        if is_in(out, Path(one)):
            raise OneLineError(f"{out}: is in {one}, which is read: choose another folder", BAD_INPUT)


@contextmanager
def _alone(out: Path) -> Iterator[None]:
    """Let nobody else write to a folder meanwhile, and clear away what those before left half written.

    :raises OneLineError: if somebody does.
    """
    with held(out) as alone:
        if not alone:
            raise OneLineError(f"{out}: the same command is at work there already", BAD_INPUT)
        remove_unwritten(out, "")
        yield


def _make(client: "Client", job: "Job", shards: "Sequence[Shard]") -> "list[Shard]":
    """Make the shards that are not there yet; returns those that could not be made."""
    from pyropunct.cli.training_reports import paced
    from pyropunct.corpus.cluster import make_all
    from pyropunct.inference.compiling import is_compiled

    there = {path.name for path in Path(job.out).iterdir()}
    missing = [shard for shard in shards if job.path(shard.number).name not in there]
    if len(missing) < len(shards):
        console.tell(f"pyropunct: {len(shards) - len(missing):,} of {len(shards):,} shards are there already")
    total = sum(shard.sentences for shard in missing)
    with paced(Path(job.out).name, total) as advance:
        return make_all(client, job, missing, console.tell, advance, first_alone=not is_compiled())


def _finish(
    name: str, job: "Job", shards: "Sequence[Shard]", failed: "Sequence[Shard]", given: str, as_json: bool
) -> None:
    """Write what is of the whole corpus, and say what came of it.

    :param failed: the shards that could not be made.
    :raises OneLineError: if there are such.
    """
    if failed:
        raise OneLineError(
            f"{job.out}: {len(failed):,} of {len(shards):,} shards could not be made, the first of them "
            f"{failed[0].number}; the same command tries them again",
            FAILURE,
        )
    rejected = _merge_rejects(job, shards)
    if rejected:
        place = Path(job.out) / REJECTED
        console.tell(f"pyropunct: {place}: lines and sentences that could not be used: {rejected:,}")
    values = {
        "sentences": sum(shard.sentences for shard in shards),
        "shards": len(shards),
        "rejected": rejected,
    }
    if name == "evaluate":
        _tell_evaluation(job, shards, given, as_json)
    elif as_json:
        console.print_json(values)
    else:
        console.tell(f"pyropunct: {job.out}: {values['sentences']:,} sentences in {len(shards):,} shards")


def _merge_rejects(job: "Job", shards: "Sequence[Shard]") -> int:
    """Put what could not be used of all shards into one file, and count it."""
    rejected = 0
    with written_whole(Path(job.out) / REJECTED) as stream:
        for shard in shards:
            path = job.rejects(shard.number)
            if path.exists():
                content = path.read_bytes()
                stream.write(content)
                rejected += content.count(b"\n")
    return rejected


def _tell_evaluation(job: "Job", shards: "Sequence[Shard]", given: str, as_json: bool) -> None:
    from pyropunct.cli.evaluate import Merged
    from pyropunct.files import json_text

    merged = Merged(given, (job.path(shard.number).read_text(encoding="utf-8") for shard in shards))
    with written_whole(Path(job.out) / RESULT) as stream:
        stream.write((json_text(merged.to_json()) + "\n").encode())
    if as_json:
        console.print_json(merged.to_json())
    else:
        merged.show()
