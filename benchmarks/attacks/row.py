"""Tries in a process of their own, and rows that count their outcomes."""

import os
import signal
import traceback
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from click.testing import CliRunner

from pyropunct.cli.main import main

SECONDS = 60
"""The time after which a try counts as hanging."""

DONE, REFUSED = "done", "refused"
ENDED = frozenset({DONE, REFUSED, "interrupted"})
"""The ways in which a try may end."""

TOLD = 800
"""How many characters of a traceback are kept."""


class RefusedError(Exception):
    """An input that the program refused in one line, as it should."""


class Row(NamedTuple):
    """The outcome of an attack: how often each allowed outcome, such as "refused", was seen.

    :ivar failures: one line for each try with any other outcome.
    """

    name: str
    tries: int
    outcomes: dict[str, int]
    failures: list[str]

    def __str__(self) -> str:
        outcomes = ", ".join(f"{count:,} {name}" for name, count in sorted(self.outcomes.items()))
        return f"| {self.name} | {self.tries:,} | {outcomes} | {len(self.failures):,} |"


def row_of(name: str, tries: Iterable[tuple[str, str]]) -> Row:
    """The row of an attack, given what was tried and its outcome."""
    outcomes, failures = Counter[str](), list[str]()
    for number, (told, found) in enumerate(tries):
        if found in ENDED:
            outcomes[found] += 1
        else:
            failures.append(f"{number}: {told}: {found}")
    return Row(name, outcomes.total() + len(failures), dict(outcomes), failures)


def run(arguments: Sequence[str], statuses: Collection[int] = (0, 2)) -> None:
    """Call a command: it ends with one of these statuses, with one line unless it is 0, else AssertionError.

    :raises RefusedError: if its status is not 0.
    """
    result = CliRunner().invoke(main, list(arguments))
    told = f"status {result.exit_code}: {result.stderr[-1000:]}"
    assert result.exit_code in statuses, told
    assert "Traceback" not in result.stderr, told
    if result.exit_code:
        assert result.stderr.splitlines()[-1].startswith("pyropunct: "), told
        raise RefusedError


def outcome(attempt: Callable[[], None], place: Path) -> str:
    """The outcome of an attempt in a process of its own: `DONE`, `REFUSED`, a signal, or a traceback."""
    told = place / "told"
    told.write_text("")
    child = os.fork()
    if not child:
        signal.alarm(SECONDS)
        status = 3
        try:
            attempt()
            status = 0
        except RefusedError:
            status = 2
        except BaseException:
            told.write_text(traceback.format_exc())
        finally:
            os._exit(status)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return f"signal {os.WTERMSIG(status)}"
    return {0: DONE, 2: REFUSED}.get(os.WEXITSTATUS(status), told.read_text().strip()[-TOLD:])
