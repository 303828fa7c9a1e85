"""Text files, line by line, of any length, and errors that name a place in them."""

import io
import os
import stat
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from select import select
from typing import BinaryIO, NamedTuple, TypeVar

from pyropunct.errors import InputError

_UNSEEN = frozenset(["Cc", "Cs", "Zl", "Zp"])
"""Categories of characters that end a line, do something to a terminal, or cannot be printed."""

_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that change the direction of the following text."""


def visible(text: str) -> str:
    """The text with invisible control characters escaped, so that it is one line."""
    return "".join(
        repr(character)[1:-1]
        if unicodedata.category(character) in _UNSEEN or character in _TURNING
        else character
        for character in text
    )


def shortened(text: str, most: int) -> str:
    """A text of at most ``most`` characters; the middle of a longer one is left out."""
    if len(text) <= most:
        return text
    left_out = " ... "
    end = (most - len(left_out)) // 3
    return text[: most - len(left_out) - end] + left_out + text[-end:]


LONGEST_PROBLEM = 400
"""The most characters in which an error describes the problem."""

NO_SENTENCE = "there is no sentence in the file"
"""The problem of an empty file, of whatever format."""


class TreebankError(InputError):
    """A treebank that cannot be used; the text is ``FILE:LINE: sentence 'ID': problem (remedy)``.

    :ivar reason: the text without file and line.
    :ivar problem: what is wrong.
    :ivar lines: the lines of the malformed sentence, with escapes for bytes that are not UTF-8; none if the
        error is not about one sentence, or if lines are too long to be kept.
    :ivar end: the end of its lines.
    """

    lines: tuple[str, ...] = ()
    end: str = "\n"

    def __init__(self, path: str, problem: str, line: int | None = None, sentence: str | None = None) -> None:
        self.path = path
        self.line = line
        self.sentence = sentence
        place = path if line is None else f"{path}:{line}"
        whose = "" if sentence is None else f"sentence {shortened(repr(sentence), LONGEST_PROBLEM)}: "
        self.problem = visible(shortened(problem, LONGEST_PROBLEM))
        self.reason = visible(whose) + self.problem
        super().__init__(f"{visible(place)}: {self.reason}")


LONGEST_LINE = 1 << 20
"""The most bytes that a line may have: one line at a time is kept in memory."""

SIZE = 1 << 16
"""The most bytes that are read at a time."""


class Start(NamedTuple):
    """Where a part of a text begins: its line (from 1), and the bytes and sentences before it."""

    line: int = 1
    offset: int = 0
    sentence: int = 0


BEGINNING = Start()
"""Where a whole text begins."""


class TextPart(NamedTuple):
    """A file, the standard input, or a part of them; its kind is "text", "conllu" or "auto".

    :ivar lines: for text taken out of a file of another kind, the line there of each of its lines.
    """

    stream: BinaryIO
    name: str
    kind: str = "auto"
    start: Start = BEGINNING
    lines: Sequence[int] = ()


STANDARD_INPUT = "<stdin>"
"""The name that errors give to the standard input."""


def standard_input() -> BinaryIO:
    """The bytes of the standard input; raises `TreebankError` if it is closed or a device."""
    if sys.stdin is None:
        raise TreebankError(STANDARD_INPUT, "the standard input is closed")
    return _ending(sys.stdin.buffer, STANDARD_INPUT)


@contextmanager
def opened(path: str) -> Iterator[tuple[BinaryIO, str]]:
    """The bytes of a file, or with ``-`` of standard input, and its name; raises `TreebankError`."""
    if path == "-":
        yield standard_input(), STANDARD_INPUT
        return
    with _opened(path) as file:
        yield file, path


def _opened(path: str) -> BinaryIO:
    try:
        return _ending(Path(path).open("rb"), path)
    except FileNotFoundError:
        raise TreebankError(path, "there is no such file") from None
    except OSError as error:
        raise TreebankError(path, f"the file cannot be read: {error.strerror}") from None


def _ending(stream: BinaryIO, name: str) -> BinaryIO:
    """The stream; raises `TreebankError` if it is a device."""
    if is_device(stream):
        raise TreebankError(name, "is a device, not a file")
    return stream


def is_device(stream: BinaryIO) -> bool:
    """Whether a stream is a disk or an endless device such as /dev/zero; terminals and /dev/null are not."""
    with suppress(io.UnsupportedOperation):  # not a stream of the operating system
        found = os.fstat(stream.fileno())
        ends = stream.isatty() or os.path.samestat(found, os.stat(os.devnull))
        return stat.S_ISBLK(found.st_mode) or (stat.S_ISCHR(found.st_mode) and not ends)
    return False


class ByteLines(Iterator[bytes]):
    """The lines of a stream, with their ends; long lines come in pieces.

    :param stream: its ``read1`` returns the available bytes, and waits only if there are none.
    :param eager: yield the available part of a line without waiting for its end.
    :raises TreebankError: if the stream cannot be read.
    """

    def __init__(self, stream: BinaryIO, longest: int = LONGEST_LINE, *, eager: bool = False) -> None:
        self._stream, self._longest, self._eager = stream, longest, eager
        self._read, self._start, self._ended = b"", 0, False

    def __next__(self) -> bytes:
        while True:
            end = self._read.find(b"\n", self._start, self._start + self._longest) + 1
            waits = not (self._ended or self._eager)
            if not end and (not waits or len(self._read) - self._start >= self._longest):
                end = min(len(self._read), self._start + self._longest)
            if end > self._start:
                line, self._start = self._read[self._start : end], end
                return line
            if self._ended:
                raise StopIteration
            try:
                more = self._stream.read1(SIZE)  # type: ignore[attr-defined]  # which all streams of bytes have
            except OSError as error:
                name = getattr(self._stream, "name", STANDARD_INPUT)
                raise TreebankError(str(name), f"cannot be read: {error.strerror or error}") from error
            self._ended = not more
            self._read, self._start = self._read[self._start :] + more, 0

    def at_hand(self) -> bool:
        """Whether the next line, or the end, is available without waiting, as far as is known."""
        there = len(self._read) > self._start if self._eager else self._read.find(b"\n", self._start) >= 0
        if self._ended or there:
            return True
        try:
            return bool(select([self._stream], [], [], 0)[0])
        except (OSError, TypeError, ValueError):  # not a stream of the operating system
            return True


def read_lines(stream: BinaryIO, name: str) -> Iterator[str]:
    """The lines of a text, without ends and byte order mark; raises the errors of `decoded`."""
    return (line.rstrip("\r") for line in raised(lines_or_errors(ByteLines(stream), name)))


Read = TypeVar("Read")


def raised(items: Iterable[Read | TreebankError]) -> Iterator[Read]:
    """What was read; raises the first error in it."""
    for item in items:
        if isinstance(item, TreebankError):
            raise item
        yield item


def lines_or_errors(
    lines: Iterable[bytes], name: str, start: Start = BEGINNING
) -> Iterator[str | TreebankError]:
    """Lines without "\\n", but with "\\r", and errors in place of lines that cannot be read."""
    for line, number, offset, begins in numbered(lines, start):
        if begins:  # the rest of a line that is too long is dropped with its first piece
            try:
                yield decoded(line, name, number, offset).removesuffix("\n")
            except TreebankError as error:
                if not _is_piece(line):
                    error.lines = (line.decode(errors="surrogateescape").rstrip("\r\n"),)
                yield error


def _is_piece(line: bytes) -> bool:
    """Whether it is the first piece of a line that is too long."""
    return len(line) >= LONGEST_LINE and not line.endswith(b"\n")


def numbered(lines: Iterable[bytes], start: Start = BEGINNING) -> Iterator[tuple[bytes, int, int, bool]]:
    """Lines, or pieces of long ones, with line number, byte offset, and whether a line begins."""
    number, offset, begins = start.line, start.offset, True
    for line in lines:
        yield line, number, offset, begins
        offset += len(line)
        begins = line.endswith(b"\n")
        number += begins


def decoded(line: bytes, name: str, number: int, offset: int) -> str:
    """Decode a line; raises `TreebankError` for bad UTF-8, a zero byte, or over a megabyte."""
    if _is_piece(line):
        raise TreebankError(name, "the line is longer than a megabyte (is this text?)", number)
    try:
        text = line.decode().removeprefix("" if offset else "\ufeff")
    except UnicodeDecodeError as error:
        place = f"byte {offset + error.start} is 0x{line[error.start]:02x}"
        problem = f"{place}, which is not UTF-8 (save the file as UTF-8)"
        raise TreebankError(name, problem, number) from None
    if "\0" in text:
        raise TreebankError(name, "the line holds a zero byte (is this text?)", number)
    return text
