"""Output of the command line: tables, progress bars, JSON, and errors in one line with an exit status."""

import codecs
import io
import os
import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from errno import EBADF, EDQUOT, EIO, ENOSPC
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

import click
from click.exceptions import NoArgsIsHelpError

from pyropunct.errors import BAD_INPUT, FAILURE, INTERRUPTED, UserError, first_line, is_panic
from pyropunct.files import json_text
from pyropunct.text.lines import shortened, visible

if TYPE_CHECKING:
    from pyropunct.tables import Table
    from pyropunct.treebank.preparing import Omission
    from pyropunct.treebank.reading import Treebank

IDS_SHOWN = 5

QUIET, BETWEEN_LINES = 3.0, 10.0
"""Seconds after which progress is told in lines, and between two of these."""

LONGEST_TOLD = 2000
"""The most characters of a line on standard error."""


def prepare_output() -> None:
    """Print UTF-8 if the encoding is ASCII, and bytes of the input as they were; fail if output is closed."""
    if sys.stdout is None:
        sys.stdout = _Closed()
    if isinstance(sys.stdout, io.TextIOWrapper):
        ascii_only = codecs.lookup(sys.stdout.encoding).name == "ascii"
        sys.stdout.reconfigure(
            encoding="utf-8" if ascii_only else sys.stdout.encoding, errors="surrogateescape"
        )


class _Closed(io.TextIOBase):
    """A standard output that was never open."""

    def write(self, text: str, /) -> int:
        """:raises OSError: always."""
        raise OSError(EBADF, "the standard output is closed")


def say(text: str = "") -> None:
    """Print lines for people; characters that the encoding lacks become escapes."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding))


def tell(text: str) -> None:
    """Print a line on standard error, apart from the results."""
    if sys.stderr is not None:  # as print would take None for the standard output
        try:
            print(visible(shortened(text, LONGEST_TOLD)), file=sys.stderr, flush=True)
        except OSError:  # a full disk there shall not change how the command ends
            close(sys.stderr)


def close(stream: TextIO) -> None:
    """Discard output that is not written yet, now and at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def drop_unwritable() -> None:
    """Flush the output; discard it if that fails, so that it is not tried again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        close(sys.stdout)


def print_json(value: Mapping[str, Any]) -> None:
    """Print one JSON object, the only thing on standard output; see `pyropunct.files.json_text`."""
    print(json_text(value))


@contextmanager
def reading_bar(path: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on a terminal for reading a file; yields what `read_treebank` takes as ``progress``."""
    with _shown_bar(f"reading {visible(path)}", None) as show:
        yield lambda done, total: show(completed=done, total=total)


@contextmanager
def stream_bar(stream: BinaryIO, name: str) -> Iterator[Callable[[], None]]:
    """A progress bar for a stream, on a terminal that shows no results; call its value after each part."""
    if name == "<stdin>" or not stream.seekable() or sys.stdout.isatty():
        yield lambda: None
        return
    size = os.fstat(stream.fileno()).st_size
    with reading_bar(name) as show:
        yield lambda: show(stream.tell(), size)


@contextmanager
def sentence_bar(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A progress bar over sentences on a terminal; yields a function that takes the number newly done."""
    with _shown_bar(what, total) as show:
        yield lambda done: show(advance=done)


@contextmanager
def _shown_bar(what: str, total: int | None) -> Iterator[Callable[..., None]]:
    """A progress bar on a terminal, else lines, unless there is nothing to do; yields its update function."""
    if total == 0:
        yield lambda **_: None
    elif not shows_bars():
        yield _ProgressLines(what, total)
    else:
        with bar() as shown:
            yield partial(shown.update, shown.add_task(what, total=total))


class _ProgressLines:
    """Tells of progress in lines, where there is no terminal for a bar.

    :param total: the amount of work, if it is known before.
    """

    def __init__(self, what: str, total: int | None) -> None:
        self._what, self._total, self._done = what, total, 0
        self._began = time.monotonic()
        self._due = self._began + QUIET

    def __call__(self, *, advance: int = 0, completed: int | None = None, total: int | None = None) -> None:
        """Take what `rich.progress.Progress.update` takes."""
        self._done = self._done + advance if completed is None else completed
        self._total = total or self._total
        now = time.monotonic()
        if now >= self._due and self._total and self._done < self._total:
            self._due = now + BETWEEN_LINES
            share = f"{self._done / self._total:.0%}, {now - self._began:.0f} s so far"
            tell(f"pyropunct: {self._what}: {share}")


def shows_bars() -> bool:
    """Whether progress bars are seen: on a terminal that can draw them."""
    return _is_terminal(sys.stderr) and os.environ.get("TERM") not in ("dumb", "unknown")


def _is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal; it is None if it was closed from the start."""
    return stream is not None and stream.isatty()


def bar() -> Any:
    """A progress bar of rich, which is slow to import; only for a terminal that `shows_bars`."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    text = TextColumn("{task.description}", markup=False)
    columns = (text, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(
        *columns,
        console=Console(stderr=True),
        transient=True,
        # Results that go to a file must not be redirected to the bar.
        redirect_stdout=_is_terminal(sys.stdout),
    )


def show_table(table: "Table[Any]") -> None:
    """Print a table for people; cells are folded on a narrow terminal."""
    say(table.text(None) if _is_terminal(sys.stdout) else table.text())


def treebank_lines(treebanks: Iterable["Treebank"]) -> Iterator[str]:
    """Which sentences of treebanks were omitted and which were changed."""
    for treebank in treebanks:
        yield f"{treebank.path}: {len(treebank)} sentences"
        if treebank.omitted:
            yield f"  {_omitted(treebank.omitted)}"
        if lifted := treebank.lifted_sentences:
            words = f"{treebank.lifted_arcs} words in {len(lifted)} sentences"
            yield f"  {words} have another head now, because arcs crossed: {ids(lifted)}"


def tell_omitted(name: str, omitted: Sequence["Omission"], *, kept: bool = False) -> None:
    """Tell on standard error how many sentences, but for malformed ones, are left out, or ``kept``."""
    if usable := [one for one in omitted if not one.malformed]:
        tell(f"pyropunct: {name}: {_omitted(usable, ', written as they were' if kept else '')}")


def plain_omissions(omitted: Sequence["Omission"]) -> dict[str, Any]:
    """The number of sentences left out, and each with its reason, for a JSON object."""
    return {"omitted": len(omitted), "omissions": [one.to_json() for one in omitted]}


def _omitted(omitted: Sequence["Omission"], how: str = "") -> str:
    """The number of sentences left out, and the first of them with their reasons."""
    return f"{len(omitted)} omitted{how}: " + ids([f"{one.identifier} ({one.reason})" for one in omitted])


def ids(identifiers: Sequence[str]) -> str:
    """The first of some identifiers, and how many others there are."""
    more = len(identifiers) - IDS_SHOWN
    return ", ".join(identifiers[:IDS_SHOWN]) + (f" and {more} more" if more > 0 else "")


# How errors and interruptions end a command

ALIKE = 0.75
"""How alike the names of two options must be, from 0 to 1, for one to be a slip for the other."""


class OneLineError(click.ClickException):
    """An error as the command reports it."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(" ".join(message.split()))
        self.exit_code = exit_code  # type: ignore[misc]  # this is how click sets it

    def show(self, file: Any = None) -> None:
        """Print it on standard error."""
        tell(f"pyropunct: {self.message}")


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
        drop_unwritable()
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
    """Turn errors of a command into one line and an exit status, Ctrl-C too."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
            sys.stdout.flush()
        except click.ClickException:
            raise
        except BrokenPipeError:
            close(sys.stdout)  # the reader of the results has closed the pipe
        except KeyboardInterrupt as stop:
            raise OneLineError(f"interrupted{stop}", INTERRUPTED) from None
        except BaseException as error:
            if os.environ.get("PYROPUNCT_DEBUG") or not (isinstance(error, Exception) or is_panic(error)):
                raise
            drop_unwritable()
            raise OneLineError(*_explained(error)) from error

    return run


def _explained(error: BaseException) -> tuple[str, int]:
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
    if is_panic(error) or isinstance(error, MemoryError):
        return f"a library failed, perhaps for lack of memory: {first_line(error)}", FAILURE
    return f"{type(error).__name__}: {error} (set PYROPUNCT_DEBUG=1 to see where)", FAILURE
