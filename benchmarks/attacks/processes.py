"""The command in a process of its own: its start, its end, and whether it ended as it should."""

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from row import DONE, INTERRUPTED, REFUSED, SECONDS

from pyropunct import errors

COMMAND = [sys.executable, "-c", "from pyropunct.__main__ import main; main()"]
"""As the installed command does it."""


def started(arguments: Sequence[str | Path], **options: Any) -> "subprocess.Popen[str]":
    """Start the command; by default it gets no input, and only standard error is read."""
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE}
    return subprocess.Popen([*COMMAND, *map(str, arguments)], text=True, **{**streams, **options})


def ended(process: "subprocess.Popen[str]", seconds: float | None = SECONDS) -> tuple[int, str]:
    """Wait for a process; returns its exit status and its standard error."""
    told = process.communicate(timeout=seconds)[1]
    return process.returncode, told or ""


def called(arguments: Sequence[str | Path], **options: Any) -> tuple[int, str]:
    """Call the command, and wait for its end."""
    return ended(started(arguments, **options))


def measured(arguments: Sequence[str | Path], **options: Any) -> tuple[int, resource.struct_rusage]:
    """The status of a call whose output is not read, and the time and memory that it used."""
    process = started(arguments, **{"stderr": subprocess.DEVNULL, **options})
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, used


def judged(status: int, told: str, wanted: int) -> str:
    """`DONE` or `REFUSED` if a call ended as it should, else its status and its last lines."""
    one_line = told.startswith("pyropunct: ") and told.count("\n") == 1
    right = status == wanted and "Traceback" not in told and (one_line or not told)
    return (REFUSED if wanted else DONE) if right else f"status {status}: {told[-500:]}"


def interrupted(status: int, told: str) -> str:
    """`INTERRUPTED` if a call ended by a signal as it should, else its status and its last lines.

    Before the first line of the package, Python itself answers.
    """
    by_python = status == 1 and "KeyboardInterrupt" in told and "/pyropunct/" not in told
    if by_python or status in (-signal.SIGINT, -signal.SIGTERM):
        return INTERRUPTED
    found = judged(status, told, errors.INTERRUPTED)
    return INTERRUPTED if found == REFUSED else found


def filled(line: str, words: dict[str, Path]) -> list[str]:
    """The arguments of a command line in which some words stand for files."""
    return [str(words.get(word, word)) for word in line.split()]
