"""The work on each file of a corpus, and the Dask clusters that share it out.

Beside the result of a file stands a record of what it was made from.  A cluster is of this machine, with a
process for each core, or of a given scheduler.  That of this machine is Dask's own, on the loopback device,
with credentials that exist only as long as it does and without web pages, since other users of the machine
can reach its ports.  Its working folder is private, because workers import modules from it.
"""

import asyncio
import io
import json
import logging
import os
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from importlib import import_module
from importlib.metadata import version
from operator import attrgetter
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import cryptography  # noqa: F401  # which Dask imports late
import dask
from dask.system import CPU_COUNT
from distributed import Client, LocalCluster, as_completed
from distributed.versions import VersionMismatchWarning

from pyropunct.errors import FailureError, InputError, first_line
from pyropunct.files import digest_of, json_text, written_whole
from pyropunct.inference.compiling import put_off
from pyropunct.shipped import place_of
from pyropunct.text.inputs import contents, without_compression
from pyropunct.text.lines import TextPart, TreebankError, visible

if TYPE_CHECKING:
    from pyropunct.cli.sources import Work


RECORD = ".made.json"
"""The ending that the name of a record adds to the name of its result."""


class CorpusFile(NamedTuple):
    """A file of a corpus; ``kind`` is that of a `TextPart`."""

    source: str
    kind: str
    result: str

    @property
    def record(self) -> Path:
        """The file that is written after the result."""
        return Path(self.result + RECORD)

    def state(self) -> dict[str, int]:
        """The size and the time of the source."""
        found = os.stat(self.source)
        return {"size": found.st_size, "time": found.st_mtime_ns}

    def is_made(self) -> bool:
        """Whether there is a result of the source as it is now."""
        try:
            made = json.loads(self.record.read_bytes())
            return (
                Path(self.result).exists() and {name: made[name] for name in ("size", "time")} == self.state()
            )
        except (OSError, ValueError, TypeError, LookupError):
            return False

    def rejected(self) -> Iterator[str]:
        """The lines and sentences that could not be used, as lines of a table."""
        for line, reason in json.loads(self.record.read_bytes())["rejected"]:
            yield f"{visible(self.source)}\t{'' if line is None else line}\t{reason}\n"


def corpus_files(given: str, files: Sequence[str], kind: str, out: str, ending: str) -> list[CorpusFile]:
    """Give each file of a corpus its result in the folder ``out``, under the same path.

    :raises InputError: if two files would have the same result.
    """
    folder = given if Path(given).is_dir() else os.path.commonpath([os.path.dirname(file) for file in files])
    found = dict[str, CorpusFile]()
    for file in files:
        stem = os.path.splitext(without_compression(os.path.relpath(file, folder)))[0]
        result = os.path.join(os.path.abspath(out), stem + ending)
        if other := found.get(result):
            raise InputError(f"{file}: its result would have the name of that of {other.source}: rename one")
        found[result] = CorpusFile(os.path.abspath(file), kind, result)
    return list(found.values())


class Job(NamedTuple):
    """What is done to each file.

    :ivar work: ``module:function``, where the function takes a model and settings and returns a `Work`.
    :ivar digest: a checksum of the model, empty before it is known.
    :ivar program: the version of pyropunct.
    """

    work: str
    model: str
    digest: str
    settings: tuple[tuple[str, Any], ...]
    threads: int
    program: str = version("pyropunct")

    def load(self) -> "Work":
        """Load the model. Raises `InputError` if it or the program differs from that of the job."""
        if version("pyropunct") != self.program:
            raise InputError(f"the worker has pyropunct {version('pyropunct')}, not {self.program}")
        if self.digest and digest_of(place_of(self.model)) != self.digest:
            raise InputError(f"{self.model}: differs from the model with which this run began")
        module, _, name = self.work.partition(":")
        return cast("Work", attrgetter(name)(import_module(module))(self.model, **dict(self.settings)))


_ALONE = Lock()
"""A model does not work in several threads at a time."""


@lru_cache(maxsize=1)
def _loaded(job: Job) -> "Work":
    import torch

    torch.set_num_threads(job.threads)
    return job.load()


def make(file: CorpusFile, job: Job) -> str | None:
    """Write the result of a file, then its record; returns what is wrong if the file cannot be used."""
    try:
        with _ALONE:
            _make(file, _loaded(job))
    except InputError as error:
        return str(error)
    return None


def _make(file: CorpusFile, work: "Work") -> None:
    rejected = list[TreebankError]()
    with contents(file.source) as source, written_whole(Path(file.result)) as stream:
        state = file.state()
        file.record.unlink(missing_ok=True)  # from now on it would be that of another result
        text = io.TextIOWrapper(stream, encoding="utf-8", errors="surrogateescape", newline="\n")
        try:
            work(TextPart(source, file.source, file.kind), text, rejected.append)
        except TreebankError as error:  # there is no sentence in it
            rejected.append(error)
        text.detach()
    record = {**state, "rejected": [(error.line, error.reason) for error in rejected]}
    with written_whole(file.record) as stream:
        stream.write(json_text(record).encode())


TRIES = 3
"""How often a file is tried if something other than its content is wrong."""

PATIENCE = 10
"""Seconds to wait for a scheduler."""

SETTINGS = {
    "distributed.scheduler.http.routes": [],  # no web pages
    "distributed.worker.http.routes": [],
    "distributed.worker.profile.enabled": False,  # by default a worker keeps 190 MB of what it does
    "distributed.scheduler.allowed-failures": TRIES - 1,
}
"""The settings of the cluster of this machine."""


@contextmanager
def local_client(processes: int) -> Iterator[Client]:
    """A client of a new cluster of this machine, of single-threaded workers, which are replaced if killed."""
    with (
        tempfile.TemporaryDirectory(prefix="pyropunct-cluster-") as folder,
        dask.config.set({**SETTINGS, "temporary-directory": folder}),
        ExitStack() as opened,
    ):
        with put_off():  # a start cannot be interrupted
            cluster = LocalCluster(
                n_workers=processes,
                threads_per_worker=1,
                host="127.0.0.1",
                security=True,
                dashboard_address=None,
                memory_limit=0,
                silence_logs=logging.CRITICAL,
            )
            opened.enter_context(cluster)
        yield opened.enter_context(Client(cluster, set_as_default=False))


@contextmanager
def connected(scheduler: str | None, processes: int | None) -> Iterator[Client]:
    """A client of a scheduler, or of a private local cluster.

    :param scheduler: its address, such as ``tcp://node7:8786``; None for workers on this machine.
    :raises InputError: if the scheduler cannot be reached.
    """
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL)  # the error message says it in one line
    if scheduler is None:
        with local_client(processes or CPU_COUNT) as client:
            yield client
        return
    try:
        with warnings.catch_warnings():
            # Versions of other packages may differ; that of pyropunct is checked by each worker.
            warnings.simplefilter("ignore", VersionMismatchWarning)
            client = Client(scheduler, timeout=PATIENCE, set_as_default=False)
    except (TimeoutError, OSError, ValueError, ImportError) as error:
        raise InputError(f"--scheduler {scheduler}: cannot be reached: {first_line(error)}") from error
    with client:
        yield client


def make_all(
    client: Client, files: Sequence[CorpusFile], job: Job
) -> "Iterator[tuple[CorpusFile, str | None]]":
    """Make the results of files: each file in order of completion, with the reason if it has none.

    :raises FailureError: if the scheduler is lost.
    """
    futures = client.map(make, files, job=job, pure=False, retries=TRIES - 1)
    place = dict(zip(futures, files, strict=True))
    try:
        for future in as_completed(futures, loop=client.loop):
            error = future.exception()
            problem = future.result() if error is None else f"{type(error).__name__}: {first_line(error)}"
            yield place[future], problem
            future.release()
    except (TimeoutError, CancelledError, asyncio.CancelledError) as error:
        raise FailureError("the scheduler is gone; the same command resumes where this one ends") from error
    finally:
        client.cancel(futures)
