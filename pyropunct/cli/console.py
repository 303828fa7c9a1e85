"""Output of the command line: tables, JSON, notes on treebanks, errors in one line with an exit status."""

import codecs
import io
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from errno import EBADF
from functools import wraps
from typing import TYPE_CHECKING, Any, TextIO

import click
from click.exceptions import NoArgsIsHelpError

from pyropunct.errors import BAD_INPUT, FAILURE, INTERRUPTED, UserError, first_line, is_panic
from pyropunct.files import UNWRITABLE, json_text
from pyropunct.text.lines import TreebankError, shortened, visible

if TYPE_CHECKING:
    from pyropunct.fitted.fitted_story import FittedStory
    from pyropunct.tables import Table
    from pyropunct.treebank.preparing import Omission
    from pyropunct.treebank.reading import Treebank
    from pyropunct.treebank.sentence import Sentence

IDS_SHOWN = 5

MALFORMED_SHOWN = 20
"""The most malformed sentences that are listed."""

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


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal; it is None if it was closed from the start."""
    return stream is not None and stream.isatty()


def show_table(table: "Table[Any]") -> None:
    """Print a table for people; cells are folded on a narrow terminal."""
    say(table.text(None) if is_terminal(sys.stdout) else table.text())


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


def tell_malformed(treebank: "Treebank") -> None:
    """Tell of the malformed sentences of a file: the first `MALFORMED_SHOWN`, a line each."""
    bad = [one for one in treebank.omitted if one.malformed]
    if bad:
        sentences = counted(len(bad), "malformed sentence|malformed sentences")
        tell(f"pyropunct: {treebank.path}: {sentences} left out; output in CoNLL-U keeps them as they are")
    for one in bad[:MALFORMED_SHOWN]:
        tell(f"pyropunct: {TreebankError(treebank.path, one.reason, one.line, one.identifier)}")
    if len(bad) > MALFORMED_SHOWN:
        tell(f"pyropunct: {treebank.path}: and {len(bad) - MALFORMED_SHOWN:,} more")


def tell_duplicates(treebank: "Treebank") -> None:
    """Warn if sentences of a file have the same ``sent_id``."""
    if twice := treebank.duplicates:
        identifier, lines = next(iter(twice.items()))
        several = counted(len(twice), "sent_id occurs|sent_ids occur")
        which = repr(identifier) if len(twice) == 1 else f"the first is {identifier!r}"
        places = f"in lines {lines[0]} and {lines[1]}"
        tell(f"pyropunct: {treebank.path}: {several} more than once: {which}, {places}")


COMMONEST, LEAST_KNOWN = 50, 0.4
"""A model that knows a smaller share of a treebank's commonest words is of another language.  In eleven
languages, a model knows 62 to 100 % in its own language, and 0 to 24 % between English and another one."""


def tell_language(name: str, model: "FittedStory", file: str, sentences: "Iterable[Sentence]") -> None:
    """Warn if a treebank seems to be of another language than a model; small ones are not judged."""
    words = Counter(form.lower() for sentence in sentences for form in sentence.tree.forms)
    commonest = [word for word, _ in words.most_common(COMMONEST)]
    known = len(set(model.vocabulary.forms).intersection(commonest))
    judged = len(commonest) == COMMONEST and len(model.vocabulary.forms) > 4 * COMMONEST
    if judged and known < LEAST_KNOWN * COMMONEST:
        tell(
            f"pyropunct: {name} knows {known} of the {COMMONEST} commonest words of {file}: "
            "its language seems to be another one, and then its numbers mean nothing"
        )


def plain_omissions(omitted: Sequence["Omission"]) -> dict[str, Any]:
    """The number of sentences left out, and each with its reason, for a JSON object."""
    return {"omitted": len(omitted), "omissions": [one.to_json() for one in omitted]}


def _omitted(omitted: Sequence["Omission"], how: str = "") -> str:
    """The number of sentences left out, and the first of them with their reasons."""
    return f"{len(omitted)} omitted{how}: " + ids([f"{one.identifier} ({one.reason})" for one in omitted])


def counted(number: int, forms: str) -> str:
    """A number with the singular or the plural, which ``|`` separates."""
    return f"{number:,} {forms.split('|')[number != 1]}"


def ids(identifiers: Sequence[str]) -> str:
    """The first of some identifiers, and how many others there are."""
    more = len(identifiers) - IDS_SHOWN
    return ", ".join(identifiers[:IDS_SHOWN]) + (f" and {more} more" if more > 0 else "")


# How errors and interruptions end a command


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
        message = error.format_message()
        if error.ctx is not None:
            message += f" (see {error.ctx.command_path} --help)"
        raise OneLineError(message, BAD_INPUT) from error
    except BrokenPipeError:
        raise
    except OSError as error:
        drop_unwritable()
        raise OneLineError(f"cannot write the help: {error.strerror}", FAILURE) from error


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
    if isinstance(error, OSError) and error.errno in UNWRITABLE:
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
