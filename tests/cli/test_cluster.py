"""Work that Dask hands out."""

import logging
import os
import time
from collections import Counter, deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pyropunct.cli.shards import Job, Shard
from pyropunct.errors import FailureError, InputError
from pyropunct.text.lines import Start

distributed = pytest.importorskip("distributed", reason="pyropunct[corpus] is not installed")
from pyropunct.cli import cluster  # noqa: E402
from pyropunct.cli.cluster import check_workers, completed, connected, cut_all, make_all  # noqa: E402

JOB = Job("", "", "", (), 1, "", "")
SHARDS = [Shard(number, "a", "text", Start(), 1, 10, "") for number in range(1, 9)]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(n_workers=2, processes=False, dashboard_address=None) as local,
        distributed.Client(local, set_as_default=False) as found,
    ):
        yield found


def test_few_calls_are_handed_out_at_a_time(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """So what is in memory does not grow with the corpus; what comes meanwhile is done too."""
    monkeypatch.setattr(cluster, "AHEAD", 1)
    cores = sum(client.nthreads().values())
    tasks, seen = deque((number,) for number in range(4 * cores)), []
    for (number,), result in completed(client, abs, tasks):
        seen.append(result)
        assert len(seen) + len(tasks) + cores >= 4 * cores
        if number == 0:
            tasks.append((-100,))
    assert sorted(seen) == [*range(4 * cores), 100]


def test_files_are_cut_in_their_order(client: Any, tmp_path: Path) -> None:
    files = [str(tmp_path / f"{name}.txt") for name in "cab"]
    for size, file in enumerate(files, 1):
        Path(file).write_text("a\n" * size)
    found = cut_all(client, files, "auto", 2, False)
    assert [(shard.number, Path(shard.file).name) for one in found for shard in one.shards] == [
        (1, "c.txt"),
        (2, "a.txt"),
        (3, "b.txt"),
        (4, "b.txt"),
    ]
    with pytest.raises(InputError, match=r"no\.txt: there is no such file"):
        cut_all(client, [*files, str(tmp_path / "no.txt")], "auto", 2, False)


TRIES: Counter[int] = Counter()
"""How often each shard was tried by what follows, which Dask finds by its name."""


def made_with_trouble(job: Job, shard: Shard) -> str | None:
    TRIES[shard.number] += 1
    if shard.number == 3 and TRIES[3] < 3:
        raise OSError("the disk is asleep")
    return "no" if shard.number == 5 else None


def made_first_alone(job: Job, shard: Shard) -> str | None:
    TRIES[shard.number] += 1
    time.sleep(0.05)
    return "not alone" if shard.number == 1 and TRIES.total() > 1 else None


def not_made(job: Job, shard: Shard) -> str | None:
    return "the disk is full"


def test_what_fails_is_tried_again_and_then_left_out(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "make", made_with_trouble)
    TRIES.clear()
    told: list[str] = []
    done: list[int] = []
    assert make_all(client, JOB, SHARDS, told.append, done.append) == [SHARDS[4]]
    assert Counter({number: 3 if number in (3, 5) else 1 for number in range(1, 9)}) == TRIES
    assert sum(done) == 70
    assert told.count("pyropunct: shard 3 (a:1): OSError: the disk is asleep; it is tried again") == 2
    assert told.count("pyropunct: shard 5 (a:1): no; it is tried again") == 2
    assert told.count("pyropunct: shard 5 (a:1): no") == 1


def test_when_nothing_can_be_made_the_work_ends(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "make", not_made)
    told: list[str] = []
    with pytest.raises(FailureError, match="10 attempts in a row have failed, the last one with: the disk"):
        make_all(client, JOB, SHARDS, told.append, lambda done: None)


def test_the_first_may_be_made_alone(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "make", made_first_alone)
    TRIES.clear()
    assert make_all(client, JOB, SHARDS, pytest.fail, lambda done: None, first_alone=True) == []
    assert sorted(TRIES) == list(range(1, 9))


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
    with connected(address, 1) as other:
        check_workers(other, pytest.fail)
    assert not [str(one.message) for one in recwarn if "versions differ" in str(one.message)]
    found["error"] = "msgpack differs"
    with pytest.raises(InputError, match="cannot be reached: msgpack differs"), connected(address, 1):
        pass


def test_workers_need_this_version(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    check_workers(client, pytest.fail)

    def installed(found: object) -> None:
        monkeypatch.setattr(client, "run", lambda *_, **__: {"tcp://node:1": found})

    installed("0.0.1")
    with pytest.raises(InputError, match=r"worker tcp://node:1: has pyropunct 0\.0\.1, not "):
        check_workers(client, pytest.fail)
    installed(ModuleNotFoundError("pyropunct"))
    with pytest.raises(InputError, match="worker tcp://node:1: has no pyropunct: install"):
        check_workers(client, pytest.fail)
    monkeypatch.setattr(client, "run", lambda *_, **__: {})
    told: list[str] = []
    check_workers(client, told.append)
    assert told == ["pyropunct: the scheduler has no worker yet: waiting for one"]


def test_working_folders_of_killed_processes_are_deleted(tmp_path: Path) -> None:
    """But not those that are new or in use, nor what has another name or is a link."""
    old, held, linked = (tmp_path / f"{cluster.PREFIX}{name}" for name in ("old", "held", "linked"))
    for folder in (old, held, tmp_path / f"{cluster.PREFIX}new", tmp_path / "other"):
        (folder / "inside").mkdir(parents=True)
        if not folder.name.endswith("new"):
            os.utime(folder, (0, 0))
    linked.symlink_to(tmp_path / "other")
    with cluster.held(held):
        cluster.remove_abandoned(tmp_path)
    left = {path.name.removeprefix(cluster.PREFIX) for path in tmp_path.iterdir()}
    assert left == {"held", "new", "other", "linked"}
