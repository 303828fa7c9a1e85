"""Dask clusters: local, with a process for each core, or remote, with a given scheduler.

A local cluster demands credentials that exist only as long as it does, and serves no web pages, since other
users of the machine can reach its ports.  Its working folder is private, because workers import modules from
it.
"""

import asyncio
import logging
import os
import shutil
import stat
import tempfile
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

import cryptography  # noqa: F401  # which Dask imports late
import dask
from dask.system import CPU_COUNT
from distributed import Client, Nanny, Scheduler, Security, SpecCluster, Worker, as_completed
from distributed.versions import VersionMismatchWarning

from pyropunct.cli.shards import CutFile, Job, Shard, cut, make
from pyropunct.errors import FailureError, InputError, first_line
from pyropunct.files import held
from pyropunct.inference.compiling import put_off
from pyropunct.text.inputs import names_of

AHEAD = 2
"""Tasks that are handed out for each core, so that none waits for the next: this bounds the memory."""

TRIES = 3
"""How often a shard is tried."""

IN_A_ROW = 10
"""So many failures without a success between end the work: something is wrong with more than a shard."""

PREFIX = "pyropunct-cluster-"
"""How the names of working folders begin."""

OLD = 3600
"""The seconds after which a working folder that no process holds is deleted."""

PATIENCE = 10
"""Seconds after which a scheduler is not there."""

Task = TypeVar("Task")
Result = TypeVar("Result")


Tell = Callable[[str], None]
"""Says something that has happened."""


UNWATCHED = {"distributed.worker.profile.enabled": False}
"""Otherwise each worker records what it does, and keeps the last thousand seconds: 190 MB."""


class _WithoutPages:
    """Part of a scheduler or a worker that serves no web pages."""

    def start_http_server(self, *_: Any, **__: Any) -> None:
        """Start none: its port would be open to everybody, even without the dashboard."""


class QuietScheduler(_WithoutPages, Scheduler):
    """A scheduler without web pages."""


class QuietWorker(_WithoutPages, Worker):
    """A worker without web pages."""


def remove_abandoned(place: Path) -> None:
    """Delete old working folders in a place that killed processes of this user have left."""
    if not hasattr(os, "getuid"):  # nor are there locks
        return
    for folder in place.glob(f"{PREFIX}*"):
        try:
            found = folder.lstat()
            if (
                stat.S_ISDIR(found.st_mode)
                and found.st_uid == os.getuid()
                and time.time() > found.st_mtime + OLD
            ):
                with held(folder) as is_free:
                    if is_free:
                        shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue


@contextmanager
def local_client(processes: int) -> Iterator[Client]:
    """A client of a new local cluster of single-threaded workers, which are replaced if killed."""
    shared = {"host": "127.0.0.1", "protocol": "tls://", "security": Security.temporary()}
    of_workers = {"nthreads": 1, "memory_limit": 0, "worker_class": QuietWorker}
    worker = {"cls": Nanny, "options": {**shared, **of_workers, "silence_logs": logging.CRITICAL}}
    remove_abandoned(Path(tempfile.gettempdir()))
    with (
        tempfile.TemporaryDirectory(prefix=PREFIX) as folder,
        held(Path(folder)),
        dask.config.set({**UNWATCHED, "temporary-directory": folder}),
        ExitStack() as opened,
    ):
        with put_off():  # a start cannot be interrupted
            cluster = opened.enter_context(
                SpecCluster(
                    scheduler={"cls": QuietScheduler, "options": shared},
                    workers=dict.fromkeys(range(processes), worker),
                    security=shared["security"],
                    silence_logs=logging.CRITICAL,
                )
            )
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
            # Versions of other packages may differ; that of pyropunct is checked separately.
            warnings.simplefilter("ignore", VersionMismatchWarning)
            client = Client(scheduler, timeout=PATIENCE, set_as_default=False)
    except (TimeoutError, OSError, ValueError, ImportError) as error:
        reason = first_line(error)
        raise InputError(f"--scheduler {scheduler}: cannot be reached: {reason}") from error
    with client:
        yield client


def check_workers(client: Client, tell: Tell) -> None:
    """Check that all workers have this version of pyropunct, or raise `InputError`."""
    found = client.run(version, "pyropunct", on_error="return")
    if not found:
        tell("pyropunct: the scheduler has no worker yet: waiting for one")
    for worker, one in found.items():
        if isinstance(one, Exception):
            raise InputError(f"worker {worker}: has no pyropunct: install {version('pyropunct')} there")
        if one != version("pyropunct"):
            raise InputError(f"worker {worker}: has pyropunct {one}, not {version('pyropunct')}")


def cut_all(
    client: Client, files: Sequence[str], kind: str, most: int, whole_paragraphs: bool
) -> list[CutFile]:
    """Cut the files of a corpus into named shards, numbered from 1; raises `InputError`."""
    found: dict[str, CutFile] = {}
    tasks = deque((file, kind, most, whole_paragraphs) for file in files)
    for (file, *_), result in completed(client, cut, tasks):
        if isinstance(result, InputError):
            raise result
        if isinstance(result, Exception):
            raise InputError(f"{file}: cannot be read: {type(result).__name__}: {result}") from result
        found[file] = result
    number, numbered = 0, []
    for file, name in zip(files, names_of(files), strict=True):
        shards = []
        for shard in found[file].shards:
            number += 1
            shards.append(shard._replace(number=number, name=name))
        numbered.append(found[file]._replace(shards=tuple(shards)))
    return numbered


def make_all(
    client: Client,
    job: Job,
    shards: Sequence[Shard],
    tell: Tell,
    advance: Callable[[int], None],
    first_alone: bool = False,
) -> list[Shard]:
    """Make shards, in any order.  A failed shard is tried again once; returns those that failed twice.

    :param first_alone: make one before the others, so that they find compiled code.
    :raises InputError: if none can be made, or the scheduler is lost.
    """
    if first_alone and len(shards) > 1:
        first = make_all(client, job, shards[:1], tell, advance)
        return first + make_all(client, job, shards[1:], tell, advance)
    tries: dict[Shard, int] = {}
    failed: list[Shard] = []
    in_a_row = 0
    tasks = deque((job, shard) for shard in shards)
    for task, result in completed(client, make, tasks):
        _, shard = task
        problem = f"{type(result).__name__}: {result}" if isinstance(result, Exception) else result
        if problem is None:
            in_a_row = 0
            advance(shard.sentences)
            continue
        in_a_row += 1
        tries[shard] = tries.get(shard, 0) + 1
        again = tries[shard] < TRIES
        if again:
            tasks.append(task)
        else:
            failed.append(shard)
        place = f"shard {shard.number} ({shard.file}:{shard.start.line})"
        tell(f"pyropunct: {place}: {problem}" + "; it is tried again" * again)
        if in_a_row == IN_A_ROW:
            raise FailureError(f"{in_a_row} attempts in a row have failed, the last one with: {problem}")
    return failed


def completed(
    client: Client, call: Callable[..., Result], tasks: "deque[Task]"
) -> "Iterator[tuple[Task, Result | Exception]]":
    """The results of calls, in order of completion; ``tasks`` may grow.  Raises `InputError`."""
    pending: dict[Any, Task] = {}
    done = as_completed(loop=client.loop)

    def hand_out() -> None:
        most = AHEAD * max(1, sum(client.nthreads().values()))
        while tasks and len(pending) < most:
            task = tasks.popleft()
            future = client.submit(call, *task, pure=False)  # type: ignore[misc]
            pending[future] = task
            done.add(future)

    try:
        hand_out()
        for future in done:
            task = pending.pop(future)
            error = future.exception()
            yield task, future.result() if error is None else error
            hand_out()
    except (TimeoutError, CancelledError, asyncio.CancelledError, OSError) as error:
        raise FailureError("the scheduler is gone; the same command goes on where this one ends") from error
    finally:
        for future in pending:
            future.release()
