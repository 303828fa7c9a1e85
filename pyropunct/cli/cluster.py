"""Dask clusters: of this machine, with a process for each core, or of a given scheduler.

The cluster of this machine is Dask's own, on the loopback device, with credentials that exist only as long as
it does and without web pages, since other users of the machine can reach its ports.  Its working folder is
private, because workers import modules from it.
"""

import asyncio
import logging
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager

import cryptography  # noqa: F401  # which Dask imports late
import dask
from dask.system import CPU_COUNT
from distributed import Client, LocalCluster, as_completed
from distributed.versions import VersionMismatchWarning

from pyropunct.cli.corpus_work import CorpusFile, Job, make
from pyropunct.errors import FailureError, InputError, first_line
from pyropunct.inference.compiling import put_off

TRIES = 3
"""How often a file is tried if something other than its content is wrong."""

PATIENCE = 10
"""Seconds after which a scheduler is not there."""

SETTINGS = {
    "distributed.scheduler.http.routes": [],  # no web pages
    "distributed.worker.http.routes": [],
    "distributed.worker.profile.enabled": False,  # by default a worker keeps 190 MB of what it does
    "distributed.scheduler.allowed-failures": TRIES - 1,
}
"""Those of the cluster of this machine."""


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
