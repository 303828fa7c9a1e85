"""Dask on this machine alone, closed to all other users of the machine.

A Dask scheduler and its workers run whatever a client sends them, and listen on ports that everybody on the
machine can reach.  Here all of them demand credentials that exist only as long as the cluster; pages about
the work are not served; and what they keep on disk lies in a folder that nobody else can write to, because
they also import modules from there.
"""

import logging
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dask
from distributed import Client, Nanny, Scheduler, Security, SpecCluster, Worker

UNWATCHED = {"distributed.worker.profile.enabled": False}
"""A worker of Dask else records what it does, and keeps a thousand seconds of that: 190 MB."""


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
    :raises ImportError: if the package cryptography, which makes the credentials, is not installed.
    """
    shared = {"host": "127.0.0.1", "protocol": "tls://", "security": Security.temporary()}
    of_workers = {"nthreads": 1, "memory_limit": 0, "worker_class": QuietWorker}
    worker = {"cls": Nanny, "options": {**shared, **of_workers, "silence_logs": logging.CRITICAL}}
    with (
        tempfile.TemporaryDirectory(prefix="pyropunct-") as folder,
        dask.config.set({**UNWATCHED, "temporary-directory": folder}),
        SpecCluster(
            scheduler={"cls": QuietScheduler, "options": shared},
            workers=dict.fromkeys(range(processes), worker),
            security=shared["security"],
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client
