"""Tries in this process or in a process of their own, and rows that count their outcomes."""

import os
import signal
import traceback
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from click.testing import CliRunner

from pyropunct.cli.main import main
from pyropunct.errors import UserError

SECONDS = 60
"""The time after which a try counts as hanging."""

DONE, REFUSED, INTERRUPTED = "done", "refused", "interrupted"
"""The ways in which a try may end; more may follow behind a colon."""

TOLD = 800
"""How many characters of a traceback are kept."""

Try = tuple[str, str]
"""The description of a try, and its outcome."""


class RefusedError(UserError):
    """A command that refused its input in one line, as it should."""


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


def row_of(name: str, tries: Iterable[Try]) -> Row:
    """The row of an attack, given its tries."""
    outcomes, failures = Counter[str](), list[str]()
    for number, (told, found) in enumerate(tries):
        if found.partition(":")[0] in (DONE, REFUSED, INTERRUPTED):
            outcomes[found] += 1
        else:
            failures.append(f"{number}: {told}: {found}")
    return Row(name, outcomes.total() + len(failures), dict(outcomes), failures)


def compared(found: object, wanted: object) -> str:
    """`DONE` if both are equal, else both."""
    return DONE if found == wanted else f"{str(found)[-TOLD:]} for {str(wanted)[-TOLD:]}"


def run(arguments: Sequence[str], statuses: Collection[int] = (0, 2), alone: bool = False) -> None:
    """Call a command: it ends with one of these statuses, with one line unless it is 0, else AssertionError.

    :param alone: whether no other line may stand before this one.
    :raises RefusedError: if its status is not 0.
    """
    result = CliRunner().invoke(main, list(arguments))
    told = f"{arguments[0]}: status {result.exit_code}: {result.stderr[-1000:]}"
    assert result.exit_code in statuses, told
    assert "Traceback" not in result.stderr, told
    if result.exit_code:
        *before, line = result.stderr.splitlines()
        assert line.startswith("pyropunct: "), told
        assert not (alone and before), told
        raise RefusedError


def tried(attempt: Callable[..., str | None], *arguments: Any) -> str:
    """The outcome of an attempt in this process: what it returns, else `DONE`, `REFUSED`, or a traceback.

    The message of a refusal is one short line without control characters but tabs.
    """
    try:
        return attempt(*arguments) or DONE
    except UserError as error:
        message = str(error)
        is_line = len(message) < 1000 and message.replace("\t", " ").isprintable()
        return REFUSED if is_line else f"the message is not a short line: {message!r}"
    except Exception:  # whatever comes is what attacks look for
        return traceback.format_exc().strip()[-TOLD:]


def outcome(place: Path, attempt: Callable[..., str | None], *arguments: Any) -> str:
    """The outcome of an attempt in a process of its own, which may hang or be killed.

    :param place: a folder for a scratch file.
    """
    told = place / "told"
    told.write_text("no outcome")
    child = os.fork()
    if not child:
        signal.alarm(SECONDS)
        try:
            told.write_text(tried(attempt, *arguments), encoding="utf-8", errors="backslashreplace")
        except BaseException:  # such as SystemExit
            told.write_text(traceback.format_exc()[-TOLD:], encoding="utf-8", errors="backslashreplace")
        finally:
            os._exit(0)
    status = os.waitpid(child, 0)[1]
    return f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else told.read_text("utf-8")
