"""The command line, called in this process or in a new one."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from pyropunct.cli.main import main

START = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
"""A new process must be open to Ctrl-C even if the tests run in the background, where shells block it."""


def invoke(*arguments: object, given: bytes | None = None) -> Result:
    """One call in this process, with ``given`` as standard input."""
    called = [str(argument) for argument in arguments]
    return CliRunner().invoke(main, called, given, prog_name="pyropunct")


def printed(*arguments: object) -> str:
    """What a call that succeeds prints; it says nothing else, but for the logs of `TELLING`."""
    result = invoke(*arguments)
    told = without_log(result.stderr) if arguments[0] in TELLING else result.stderr
    assert (result.exit_code, told) == (0, "")
    return result.stdout


TELLING = ("adapt", "fit", "fit-correction", "compare", "underlying")
"""The commands that tell how far they are, or what they have counted."""


def without_log(text: str) -> str:
    """Standard error without lines that begin with the time, and without what `underlying` counts."""
    counts = r"at \d+ places? between|in the underlying trees,|\d+ of \d+ proposals|there is no proposal"
    log = rf"^(\d\d:\d\d:\d\d|pyropunct: ({counts})) .*\n"
    return re.sub(log, "", text, flags=re.MULTILINE)


def answer(*arguments: object) -> dict[str, Any]:
    """The JSON object that a call prints, alone on one line."""
    text = printed(*arguments, "--json")
    assert text.count("\n") == 1
    value = json.loads(text)
    assert isinstance(value, dict)
    return value


def complaint(status: int, *arguments: object) -> str:
    """The one line that a call that fails prints on standard error; it prints nothing else."""
    result = invoke(*arguments)
    return one_line(result.exit_code, result.stdout, result.stderr, status)


def one_line(returned: int, stdout: str, stderr: str, status: int) -> str:
    """The message in the output of a call that failed."""
    assert returned == status, stderr
    assert stdout == ""
    stderr = without_log(stderr)
    assert stderr.startswith("pyropunct: ")
    assert stderr.count("\n") == 1
    return stderr.removeprefix("pyropunct: ").rstrip("\n")


def command(*arguments: object) -> list[str]:
    """The command of a new process."""
    return [
        sys.executable,
        "-c",
        f"{START}from pyropunct.cli.main import main; main()",
        *map(str, arguments),
    ]


def run(*arguments: object, **options: Any) -> "subprocess.CompletedProcess[str]":
    """One call in a new process."""
    options = {"capture_output": True, "text": True, "stdin": subprocess.DEVNULL, **options}
    return subprocess.run(command(*arguments), env=environment(), check=False, **options)


def environment(**changes: str) -> dict[str, str]:
    """The environment of a new process: UTF-8, one thread, and the variants of the tests can be imported."""
    tests = str(Path(__file__).parent)
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONUTF8": "1", "PYTHONPATH": tests, **changes}
