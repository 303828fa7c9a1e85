"""Text files, line by line, of any length."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from pyropunct.treebank.conllu_block import TreebankError

LONGEST_LINE = 1 << 20
"""The most bytes that a line may have: one line at a time is kept in memory."""


STANDARD_INPUT = "<stdin>"
"""The name that errors give to the standard input."""


def standard_input() -> BinaryIO:
    """The bytes of the standard input.

    :raises TreebankError: if it was closed from the start.
    """
    if sys.stdin is None:
        raise TreebankError(STANDARD_INPUT, "the standard input is closed")
    return sys.stdin.buffer


@contextmanager
def opened(path: str) -> Iterator[tuple[BinaryIO, str]]:
    """The bytes of a file, or of the standard input for ``-``, and the name that errors give to it.

    :raises TreebankError: if the file cannot be read.
    """
    if path == "-":
        yield standard_input(), STANDARD_INPUT
        return
    with _opened(path) as file:
        yield file, path


def _opened(path: str) -> BinaryIO:
    try:
        return Path(path).open("rb")
    except FileNotFoundError:
        raise TreebankError(path, "there is no such file") from None
    except OSError as error:
        raise TreebankError(path, f"the file cannot be read: {error.strerror}") from None


def read_lines(stream: BinaryIO, name: str) -> Iterator[str]:
    """The lines of a text, without line ends and without a byte order mark.

    :raises TreebankError: at the first line that is not UTF-8, holds a zero byte, or is longer than a
        megabyte.
    """
    number = offset = 0
    while line := stream.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise TreebankError(name, "the line is longer than a megabyte (is this text?)", number)
        if b"\0" in line:
            raise TreebankError(name, "the line holds a zero byte (is this text?)", number)
        yield _decoded(line, name, number, offset).rstrip("\r\n")
        offset += len(line)


def _decoded(line: bytes, name: str, number: int, offset: int) -> str:
    try:
        return line.decode().removeprefix("\ufeff" if number == 1 else "")
    except UnicodeDecodeError as error:
        place = f"byte {offset + error.start} is 0x{line[error.start]:02x}"
        problem = f"{place}, which is not UTF-8 (save the file as UTF-8)"
        raise TreebankError(name, problem, number) from None
