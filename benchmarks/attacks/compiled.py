"""Processes that compile into one empty cache at once: equal results, and a cache for later processes."""

import os
import random
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from row import DONE, Row, row_of
from surroundings import COMMAND

from pyropunct.embedded import embedded_treebank_path

PROCESSES = 8
SECONDS = 1200
"""The time for all of them to compile, on few cores."""

COMMANDS = [
    ["restore", "en", "TEXT", "--samples", "5"],
    ["evaluate", "en", str(embedded_treebank_path("dev"))],
    ["parse", "en", "TEXT"],
    ["sample", "en", str(embedded_treebank_path("dev"))],
]


def attack(tries: int, seed: int) -> Row:
    """Fill ``tries`` empty caches."""
    return row_of("processes that compile into one empty cache", _tries(tries, random.Random(seed)))


def _tries(tries: int, chance: random.Random) -> Iterator[tuple[str, str]]:
    for _ in range(tries):
        with tempfile.TemporaryDirectory() as place:
            text, cache = Path(place) / "text.txt", Path(place) / "cache"
            text.write_text("so we went to the meeting and then we came home\n")
            cache.mkdir()
            environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
            line = [str(text) if word == "TEXT" else word for word in chance.choice(COMMANDS)]
            line += ["--threads", "1"]
            streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
            running = [
                subprocess.Popen([*COMMAND, *line], **streams, env=environment) for _ in range(PROCESSES)
            ]
            ended = [(*process.communicate(timeout=SECONDS), process.returncode) for process in running]
            before = _files(cache)
            last = subprocess.run([*COMMAND, *line], capture_output=True, env=environment, check=False)
            ended.append((last.stdout, last.stderr, last.returncode))
            wrong = [f"status {status}: {told[-500:]!r}" for _, told, status in ended if status or told]
            if len({shown for shown, _, _ in ended}) > 1:
                wrong.append("different results")
            if not before or _files(cache) != before:
                wrong.append("the last process compiled again")
            yield " ".join(line), "; ".join(wrong) or DONE


def _files(folder: Path) -> dict[str, int]:
    """The files in a folder, with the times at which they were written."""
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
