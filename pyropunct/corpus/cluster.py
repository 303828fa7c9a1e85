"""Dask: on this machine, a process a core, or on a cluster whose scheduler is named.

A Dask scheduler and its workers run whatever a client sends them, and listen on ports that everybody on the
machine can reach.  On this machine alone, all of them demand credentials that exist only as long as the
cluster, and serve no pages about the work.  They import modules from the folder in which they keep files, so
nobody else can write there.
"""

import asyncio
import logging
import tempfile
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from typing import Any, TypeVar

import cryptography  # noqa: F401  # which Dask imports late
import dask
from dask.system import CPU_COUNT
from distributed import Client, Nanny, Scheduler, Security, SpecCluster, Worker, as_completed
from distributed.versions import VersionMismatchWarning

from pyropunct.corpus.inputs import CorpusError, names_of
from pyropunct.corpus.shards import CutFile, Job, Shard, cut, make
from pyropunct.errors import FailureError
from pyropunct.inference.compiling import put_off

AHEAD = 2
"""Tasks that are handed out for each core, so that none waits for the next: this bounds the memory."""

TRIES = 3
"""How often a shard is tried."""

IN_A_ROW = 10
"""So many failures without a success between end the work: something is wrong with more than a shard."""

PATIENCE = 10
"""Seconds after which a scheduler is not there."""

Task = TypeVar("Task")
Result = TypeVar("Result")


Tell = Callable[[str], None]
"""Says something that has happened."""


class ClusterError(FailureError, CorpusError):
    """A failure of machines, after which the same command goes on."""


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


@contextmanager
def local_client(processes: int) -> Iterator[Client]:
    """A client of a new cluster on this machine, which ends with it.

    :param processes: workers, of one thread each; a worker that is killed is replaced.
    """
    shared = {"host": "127.0.0.1", "protocol": "tls://", "security": Security.temporary()}
    of_workers = {"nthreads": 1, "memory_limit": 0, "worker_class": QuietWorker}
    worker = {"cls": Nanny, "options": {**shared, **of_workers, "silence_logs": logging.CRITICAL}}
    with (
        tempfile.TemporaryDirectory(prefix="pyropunct-") as folder,
        dask.config.set({**UNWATCHED, "temporary-directory": folder}),
        ExitStack() as opened,
    ):
        with put_off():  # what has begun to start cannot be ended before it has started
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
    """A client of a scheduler, or of one on this machine that ends with it and is closed to other users.

    :param scheduler: its address, such as ``tcp://node7:8786``; None for this machine.
    :param processes: on this machine; None for one for each core.
    :raises CorpusError: if the scheduler is not there.
    """
    for name in list(logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL)  # what matters is told in one line
    if scheduler is None:
        with local_client(processes or CPU_COUNT) as client:
            yield client
        return
    try:
        with warnings.catch_warnings():
            # A scheduler has no numpy, say; that workers have the same pyropunct is looked at besides.
            warnings.simplefilter("ignore", VersionMismatchWarning)
            client = Client(scheduler, timeout=PATIENCE, set_as_default=False)
    except (TimeoutError, OSError, ValueError, ImportError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise CorpusError(f"--scheduler {scheduler}: cannot be reached: {reason}") from error
    with client:
        yield client


def check_workers(client: Client, tell: Tell) -> None:
    """Make sure that the workers that are there have this version of pyropunct.

    :raises CorpusError: if one of them has none, or another one.
    """
    found = client.run(version, "pyropunct", on_error="return")
    if not found:
        tell("pyropunct: the scheduler has no worker yet: waiting for one")
    for worker, one in found.items():
        if isinstance(one, Exception):
            raise CorpusError(f"worker {worker}: has no pyropunct: install {version('pyropunct')} there")
        if one != version("pyropunct"):
            raise CorpusError(f"worker {worker}: has pyropunct {one}, not {version('pyropunct')}")


def cut_all(
    client: Client, files: Sequence[str], kind: str, most: int, whole_paragraphs: bool
) -> list[CutFile]:
    """The files of a corpus and their shards, numbered from 1, with names.

    :param kind: see `cut`.
    :raises CorpusError: if one cannot be read.
    """
    found: dict[str, CutFile] = {}
    tasks = deque((file, kind, most, whole_paragraphs) for file in files)
    for (file, *_), result in completed(client, cut, tasks):
        if isinstance(result, CorpusError):
            raise result
        if isinstance(result, Exception):
            raise CorpusError(f"{file}: cannot be read: {type(result).__name__}: {result}") from result
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
    """Make shards, in any order.  One that fails is tried again, and then left out.

    :param advance: called with the number of sentences that are newly done.
    :param first_alone: make one before the others, so that what is compiled there is at hand for them.
    :returns: those that could not be made.
    :raises CorpusError: if none can be made, or the scheduler is gone.
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
            raise ClusterError(f"{in_a_row} attempts in a row have failed, the last one with: {problem}")
    return failed


def completed(
    client: Client, call: Callable[..., Result], tasks: "deque[Task]"
) -> "Iterator[tuple[Task, Result | Exception]]":
    """What comes of calls, as they are done, in any order.

    :param tasks: arguments of the calls, taken from the left; more can be added meanwhile.
    :raises CorpusError: if the scheduler is gone.
    """
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
        raise ClusterError("the scheduler is gone; the same command goes on where this one ends") from error
    finally:
        for future in pending:
            future.release()
