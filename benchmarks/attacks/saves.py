"""Processes killed while they write a file: the old file stays, and the next run removes the new one."""

import io
import os
import random
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from pathlib import Path
from typing import NamedTuple

import torch
from row import DONE, Try

from pyropunct.cli.loading import CONLLU, check_output, write_output
from pyropunct.cli.progress import Checkpoints
from pyropunct.fitted.model_file import check_writable, write_tensors
from pyropunct.train.checkpoints import write_state

NUMBERS = 3_000_000
"""The numbers in each file, so that writing takes time."""

OLD, NEW = 1.0, 2.0


class Way(NamedTuple):
    """How a file is written.

    :ivar begin: what the next run does first.
    :ivar write: writes copies of a number.
    """

    begin: Callable[[Path], None]
    write: Callable[[Path, float], None]


def attack(tries: int, chance: random.Random, folder: Path) -> Iterator[Try]:
    """Kill a process that writes a model, a checkpoint or an output."""
    made = 0
    while made < tries:
        name, is_there = chance.choice(sorted(WAYS)), chance.random() < 0.5
        with tempfile.TemporaryDirectory(dir=folder) as place:
            found = _killed(Path(place) / "checkpoint.safetensors", WAYS[name], is_there, chance)
        if found is None:
            continue  # killed before or after the writing
        made += 1
        told = f"{name}, {'over an older file' if is_there else 'without one'}"
        yield told, found or f"{DONE}: {told}"


def _killed(path: Path, way: Way, is_there: bool, chance: random.Random) -> str | None:
    """What is wrong after a process was killed that wrote a file; None if it was not writing."""
    way.write(path, NEW)
    new = path.read_bytes()
    began = time.monotonic()
    way.write(path, OLD)
    seconds = time.monotonic() - began
    old = path.read_bytes() if is_there else None
    if not is_there:
        path.unlink()
    child = os.fork()
    if not child:
        try:
            way.write(path, NEW)
        finally:
            os._exit(0)
    while not _unfinished(path) and not os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
        pass
    time.sleep(chance.uniform(0, seconds))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if not _unfinished(path):
        return None
    if (path.read_bytes() if path.exists() else None) != old:
        return "another file"
    way.begin(path)
    if _unfinished(path):
        return "the next run leaves the unfinished file"
    way.write(path, NEW)
    return "" if path.read_bytes() == new and list(path.parent.iterdir()) == [path] else "not written again"


def _unfinished(path: Path) -> list[Path]:
    return list(path.parent.glob(f".{path.name}*"))


def _numbers(number: float) -> dict[str, torch.Tensor]:
    return {"a": torch.full([NUMBERS], number)}


def _begin_training(path: Path) -> None:
    """Begin as a fit does without ``--resume``, which tells that it forgets earlier epochs."""
    with redirect_stderr(io.StringIO()), Checkpoints(path.parent, resume=False).kept():
        pass
    path.parent.mkdir(exist_ok=True)


WAYS = {
    "model": Way(check_writable, lambda path, number: write_tensors(path, {}, _numbers(number))),
    "checkpoint": Way(_begin_training, lambda path, number: write_state(path, _numbers(number))),
    "output": Way(
        lambda path: check_output(str(path), CONLLU, []),
        lambda path, number: write_output(str(path), f"{number}\n".encode() * NUMBERS),
    ),
}
