"""Processes that compile into one empty cache at once: equal results, and a cache for later processes."""

import os
import random
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from material import DEV, INPUTS
from processes import ended, filled, started
from row import DONE, Try

PROCESSES = 8
SECONDS = 1200
"""The time for all of them to compile, on few cores."""


def attack(tries: int, chance: random.Random, folder: Path) -> Iterator[Try]:
    """Fill an empty cache."""
    text, cache = folder / "text.txt", folder / "cache"
    text.write_text("so we went to the meeting and then we came home\n")
    for _ in range(tries):
        cache.mkdir()
        line = chance.choice(INPUTS["compiled"]["commands"])
        arguments = filled(line, {"TEXT": text, "TREEBANK": DEV})
        found, kept = _called(arguments, PROCESSES, cache), _files(cache)
        found += _called(arguments, 1, cache)
        wrong = [f"status {status}: {told[-500:]!r}" for status, told, _ in found if status or told]
        if len({shown for *_, shown in found}) > 1:
            wrong.append("different results")
        if not kept or _files(cache) != kept:
            wrong.append("the last process compiled again")
        shutil.rmtree(cache)
        yield line, "; ".join(wrong) or DONE


def _called(arguments: list[str], processes: int, cache: Path) -> list[tuple[int, str, str]]:
    """Make several calls at once; returns the exit status, the standard error and the results of each."""
    with ExitStack() as stack:
        outs = [stack.enter_context(tempfile.TemporaryFile("w+")) for _ in range(processes)]
        environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
        running = [started(arguments, stdout=out, env=environment) for out in outs]
        found = []
        for process, out in zip(running, outs, strict=True):
            status, told = ended(process, SECONDS)
            out.seek(0)
            found.append((status, told, out.read()))
        return found


def _files(folder: Path) -> dict[str, int]:
    """The files in a folder, with the times at which they were written."""
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
