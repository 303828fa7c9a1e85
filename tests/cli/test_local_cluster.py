"""Dask on this machine: what other users of it can reach."""

import os
import socket
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

distributed = pytest.importorskip("distributed", reason="pyropunct[corpus] is not installed")
psutil = pytest.importorskip("psutil", reason="pyropunct[corpus] is not installed")
from pyropunct.cli.cluster import connected  # noqa: E402

SECONDS = 5


def listening() -> set[int]:
    """The ports on which this process and its children listen."""
    own = psutil.Process()
    found = [one for process in (own, *own.children(recursive=True)) for one in process.net_connections()]
    return {one.laddr.port for one in found if one.status == psutil.CONN_LISTEN}


@pytest.fixture(scope="module")
def others() -> set[int]:
    """The ports of other tests."""
    return listening()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for temporary files in which somebody else has made a folder with the name that Dask wants."""
    folder = tmp_path_factory.mktemp("shared")
    (folder / "dask-scratch-space").mkdir()
    (folder / "dask-scratch-space").chmod(0o777)
    return folder


@pytest.fixture(scope="module")
def client(others: set[int], shared: Path) -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(shared))
        with connected(None, 1) as found:
            yield found


def answer(port: int, context: ssl.SSLContext | None) -> bytes:
    """What comes from a port without credentials, in plain text or encrypted; nothing if it is closed."""
    try:
        with socket.create_connection(("127.0.0.1", port), SECONDS) as plain:
            stream = plain if context is None else context.wrap_socket(plain)
            stream.sendall(b"GET / HTTP/1.0\r\n\r\n")
            return stream.recv(100)
    except OSError:
        return b""


def test_no_port_answers_without_the_credentials(client: Any, others: set[int]) -> None:
    """The scheduler, a worker and its nanny listen, and servers of web pages, which have none."""
    anybody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    anybody.check_hostname, anybody.verify_mode = False, ssl.CERT_NONE
    ports = listening() - others
    answers = {(port, way): answer(port, way) for port in ports for way in (None, anybody)}
    assert {one[9:12] for one in answers.values() if one.strip()} <= {b"404"}
    assert len(ports) == 5


STRANGER = """
import distributed, sys
port, own = sys.argv[1:]
for protocol in ("tls", "tcp"):
    security = distributed.Security.temporary() if own else None
    try:
        distributed.Client(f"{protocol}://127.0.0.1:{port}", security=security, timeout=2)
    except (OSError, RuntimeError, TypeError, ValueError):
        print("refused")
"""


@pytest.mark.parametrize("security", ["", "own"], ids=["none", "of another cluster"])
def test_another_client_is_refused(client: Any, security: str) -> None:
    """A client's functions run as the user whose cluster it is."""
    port = client.scheduler.address.rpartition(":")[2]
    stranger = [sys.executable, "-c", STRANGER, port, security]
    assert subprocess.run(stranger, stdout=subprocess.PIPE, check=True).stdout.split() == [b"refused"] * 2


def test_no_module_comes_from_a_folder_of_somebody_else(client: Any, shared: Path) -> None:
    """Dask puts its folder in front of all others from which modules are imported."""
    [(path, folder)] = client.run(lambda dask_worker: (sys.path, dask_worker.local_directory)).values()
    planted = str(shared / "dask-scratch-space")
    assert not [one for one in [*sys.path, *path] if one.startswith(planted)]
    while os.path.dirname(folder) != str(shared):
        folder = os.path.dirname(folder)
    assert os.stat(folder).st_mode & 0o077 == 0


def test_workers_keep_no_record(client: Any) -> None:
    """Dask's of what they spend their time on, which would grow for a thousand seconds."""
    [callbacks] = client.run(lambda dask_worker: sorted(dask_worker.periodic_callbacks)).values()
    assert "heartbeat" in callbacks
    assert "profile" not in callbacks
