"""How errors and interruptions end a command: in one line, with an exit status."""

import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from errno import EDQUOT, EIO, ENOSPC
from functools import wraps
from typing import Any

import click
from click.exceptions import NoArgsIsHelpError

from pyropunct.cli import console
from pyropunct.errors import BAD_INPUT, FAILURE, INTERRUPTED, UserError

ALIKE = 0.75
"""How alike the names of two options must be, from 0 to 1, for one to be a slip for the other."""


class OneLineError(click.ClickException):
    """An error as the command reports it."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(" ".join(message.split()))
        self.exit_code = exit_code  # type: ignore[misc]  # this is how click sets it

    def show(self, file: Any = None) -> None:
        """Print it on standard error."""
        console.tell(f"pyropunct: {self.message}")


@contextmanager
def misuse_in_one_line() -> Iterator[None]:
    """Report wrong options and arguments in one line, also unwritable help and early interruptions."""
    try:
        yield
    except KeyboardInterrupt:
        raise OneLineError("interrupted", INTERRUPTED) from None
    except NoArgsIsHelpError:
        raise
    except click.UsageError as error:
        message = error.message if isinstance(error, click.NoSuchOption) else error.format_message()
        if isinstance(error, click.NoSuchOption) and (meant := _meant(error)):
            message += f" Did you mean {' or '.join(meant)}?"
        if error.ctx is not None:
            message += f" (see {error.ctx.command_path} --help)"
        raise OneLineError(message, BAD_INPUT) from error
    except BrokenPipeError:
        raise
    except OSError as error:
        console.drop_unwritable()
        raise OneLineError(f"cannot write the help: {error.strerror}", FAILURE) from error


def _meant(error: click.NoSuchOption) -> list[str]:
    """Options with a similar name, or else options whose help contains the name."""
    if error.ctx is None:
        return []
    options = [one for one in error.ctx.command.params if isinstance(one, click.Option)]
    names = {name: option for option in options for name in option.opts if name.startswith("--")}
    word = error.option_name.removeprefix("--").replace("-", " ")
    return get_close_matches(error.option_name, names, cutoff=ALIKE) or [
        name for name, option in names.items() if re.search(rf"\b{re.escape(word)}\b", option.help or "")
    ]


def polite(command: Callable[..., None]) -> Callable[..., None]:
    """Turn errors of a command into one line and an exit status; "interrupted" says what is kept."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
            sys.stdout.flush()
        except click.ClickException:
            raise
        except BrokenPipeError:
            console.close(sys.stdout)  # the reader of the results has closed the pipe
        except KeyboardInterrupt as stop:
            raise OneLineError(f"interrupted{stop}", INTERRUPTED) from None
        except Exception as error:
            if os.environ.get("PYROPUNCT_DEBUG"):
                raise
            console.drop_unwritable()
            raise OneLineError(*_explained(error)) from error

    return run


def _explained(error: Exception) -> tuple[str, int]:
    """The line about an error, and the exit status."""
    if isinstance(error, UserError):
        return str(error), error.exit_status
    if isinstance(error, OSError) and error.errno in (ENOSPC, EDQUOT, EIO):
        return f"cannot write {error.filename or 'the results'}: {error.strerror}", FAILURE
    if isinstance(error, OSError) and error.filename:
        return f"{error.filename}: {error.strerror}", BAD_INPUT
    if isinstance(error, OSError) and error.strerror:
        return f"cannot write the results: {error.strerror}", FAILURE
    if isinstance(error, UnicodeEncodeError):
        lacking = f"{error.object[error.start]!r}, which {error.encoding} lacks"
        return f"cannot print {lacking}: set PYTHONIOENCODING=utf-8", FAILURE
    return f"{type(error).__name__}: {error} (set PYROPUNCT_DEBUG=1 to see where)", FAILURE
