"""Work that Dask hands out."""

import logging
from collections import Counter
from typing import Any

import pytest

from pyropunct.errors import InputError

pytest.importorskip("distributed", reason="pyropunct[corpus] is not installed")
from pyropunct.cli import cluster
from pyropunct.cli.cluster import CorpusFile, Job, connected, make_all

JOB = Job("", "", "", (), 1)


def unlucky(file: CorpusFile, job: Job) -> str | None:
    TRIES[file.source] += 1
    if file.source == "b" and TRIES["b"] < 3:
        raise OSError("the disk is asleep")
    if file.source == "c":
        raise OSError("the disk is full")
    return "not text" if file.source == "d" else None


TRIES: Counter[str] = Counter()
"""How often each file was tried by the function above, which Dask finds by its name."""


def test_what_fails_is_tried_again_but_not_what_cannot_be_used(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "make", unlucky)
    files = [CorpusFile(name, "text", name) for name in "abcd"]
    found = {file.source: problem for file, problem in make_all(client, files, JOB)}
    assert found == {"a": None, "b": None, "c": "OSError: the disk is full", "d": "not text"}
    assert Counter(a=1, b=3, c=3, d=1) == TRIES


def test_a_scheduler_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "PATIENCE", 0.2)
    for address in ("tcp://127.0.0.1:9", "nonsense://x"):
        with (
            pytest.raises(InputError, match=f"--scheduler {address}: cannot be reached: "),
            connected(address, 1),
        ):
            pass
    assert not logging.getLogger("distributed.client").isEnabledFor(logging.ERROR)  # one line is enough


def test_other_versions_of_other_packages_are_no_news(
    client: Any, monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    """A scheduler may lack numpy; what Dask itself cannot do without is an error."""
    address = client.cluster.scheduler.address
    found = {"warning": "versions differ", "error": ""}
    monkeypatch.setattr("distributed.scheduler.version_module.error_message", lambda *_: found)
    with connected(address, 1):
        pass
    assert not [str(one.message) for one in recwarn if "versions differ" in str(one.message)]
    found["error"] = "msgpack differs"
    with pytest.raises(InputError, match="cannot be reached: msgpack differs"), connected(address, 1):
        pass
