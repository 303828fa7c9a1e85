"""Processes killed while they write a file: the old file stays, and the next run removes the new one."""

import io
import os
import random
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stderr
from pathlib import Path
from typing import NamedTuple

import torch
from row import Row

from pyropunct.cli.loading import CONLLU, check_output, write_output
from pyropunct.cli.progress import Checkpoints
from pyropunct.fitted.model_file import check_writable, read_model_file, write_tensors
from pyropunct.train.checkpoints import read_state, write_state

NUMBERS = 3_000_000
"""The numbers in each file, so that writing takes time."""

OLD, NEW = 1.0, 2.0


class Way(NamedTuple):
    """How a file is written.

    :ivar begin: what the next run does first.
    :ivar write: writes copies of a number.
    :ivar number: reads the number.
    """

    begin: Callable[[Path], None]
    write: Callable[[Path, float], None]
    number: Callable[[Path], float]


def attack(tries: int, seed: int) -> Row:
    """Kill ``tries`` processes that write a model, a checkpoint or an output."""
    torch.set_num_threads(1)
    chance, outcomes, failures = random.Random(seed), Counter[str](), list[str]()
    while outcomes.total() + len(failures) < tries:
        name = chance.choice(sorted(WAYS))
        with tempfile.TemporaryDirectory() as place:
            old = chance.choice([None, OLD])
            found = _killed(Path(place) / "checkpoint.safetensors", WAYS[name], old, chance)
        if found is None:
            continue  # killed before or after the writing
        told = f"{name}, {'over an older file' if old else 'without one'}"
        if found:
            failures.append(f"{told}: {found}")
        else:
            outcomes[told] += 1
    return Row("files killed in the writing", tries, dict(outcomes), failures)


def _killed(path: Path, way: Way, old: float | None, chance: random.Random) -> str | None:
    """What is wrong after a process was killed that wrote a file; None if it was not writing."""
    began = time.monotonic()
    way.write(path, OLD)
    seconds = time.monotonic() - began
    if old is None:
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
    there = way.number(path) if path.exists() else None
    if there != old:
        return f"{there} in the file, not {old}"
    way.begin(path)
    if _unfinished(path):
        return "the next run leaves the unfinished file"
    way.write(path, NEW)
    return "" if way.number(path) == NEW and list(path.parent.iterdir()) == [path] else "not written again"


def _unfinished(path: Path) -> list[Path]:
    return list(path.parent.glob(f".{path.name}*"))


def _same(numbers: torch.Tensor) -> float:
    """The number of which all numbers are copies, else NaN."""
    return float(numbers[0]) if len(numbers) == NUMBERS and (numbers == numbers[0]).all() else float("nan")


def _numbers(number: float) -> dict[str, torch.Tensor]:
    return {"a": torch.full([NUMBERS], number)}


def _begin_training(path: Path) -> None:
    """Begin as a fit does without ``--resume``, which tells that it forgets earlier epochs."""
    with redirect_stderr(io.StringIO()), Checkpoints(path.parent, resume=False).kept():
        pass
    path.parent.mkdir(exist_ok=True)


def _number_of_lines(path: Path) -> float:
    lines = path.read_bytes().splitlines()
    return (
        float(lines[0].split(b"\t")[0])
        if len(lines) == NUMBERS // 5 == lines.count(lines[0])
        else float("nan")
    )


WAYS = {
    "model": Way(
        check_writable,
        lambda path, number: write_tensors(path, {}, _numbers(number)),
        lambda path: _same(read_model_file(path)[1]["a"]),
    ),
    "checkpoint": Way(
        _begin_training,
        lambda path, number: write_state(path, _numbers(number)),
        lambda path: _same(read_state(path)["a"]),
    ),
    "output": Way(
        lambda path: check_output(str(path), CONLLU, []),
        lambda path, number: write_output(
            str(path), (f"{number}" + 9 * "\t" + "\n").encode() * (NUMBERS // 5)
        ),
        _number_of_lines,
    ),
}
