"""Output of the command line: tables, progress bars, JSON, and errors in one line."""

import codecs
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from errno import EBADF
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, TextIO

from pyropunct.files import json_text
from pyropunct.text.lines import shortened, visible

if TYPE_CHECKING:
    from pyropunct.compare.table import Table
    from pyropunct.treebank.reading import Omission, Treebank

IDS_SHOWN = 5

WIDE = 100_000
"""The width of the output without a terminal: wider than any table."""

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
    """A progress bar on a terminal, unless there is nothing to do; yields its update function."""
    if total == 0 or not shows_bars():
        yield lambda **_: None
        return
    with bar() as shown:
        yield partial(shown.update, shown.add_task(what, total=total))


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
    say(table.text(None if _is_terminal(sys.stdout) else WIDE))


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
    """Tell on standard error how many sentences of a file were left out; ``kept``: but written unchanged."""
    if omitted:
        tell(f"pyropunct: {name}: {_omitted(omitted, ', written as they were' if kept else '')}")


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
