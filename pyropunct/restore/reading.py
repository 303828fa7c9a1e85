"""What is to be restored, read sentence by sentence: raw text or CoNLL-U, of any length."""

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO

from pyropunct.commands import console
from pyropunct.restore.raw_words import RawReader, RawSentence
from pyropunct.restore.restoring import Source, has_marks
from pyropunct.treebank.conllu_block import TreebankError
from pyropunct.treebank.conllu_reader import is_comment, read_block
from pyropunct.treebank.reading import Omission, prepare
from pyropunct.treebank.sentence import Sentence

Item = RawSentence | Sentence | Omission
"""A line of raw text, a sentence of a treebank, or one that cannot be used."""

CHUNK = 100
"""Sentences that are worked on together."""

LONGEST_LINE = 1 << 20
"""Bytes of a line; more are no text, and would have to be kept in memory."""

LINES_LOOKED_AT = 1000
"""How many comments and blank lines there may be before the line that tells CoNLL-U from raw text."""

_TOKEN_LINE = re.compile(r"\d+(?:[-.]\d+)?\t.*\t")


@contextmanager
def opened(path: str) -> Iterator[tuple[BinaryIO, str]]:
    """The bytes of a file, or of the standard input for ``-``, and the name that errors give to it.

    :raises TreebankError: if the file cannot be read.
    """
    if path == "-":
        yield sys.stdin.buffer, "<stdin>"
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


def read_items(stream: BinaryIO, name: str, kind: str, reader: RawReader) -> Iterator[Item]:
    """The sentences of a file, one after the other; no more than one is in memory.

    :param kind: "text", "conllu", or "auto": CoNLL-U if the file is called so, or if the first line that is
        neither blank nor a comment starts with an id and has tabs.
    :param reader: for raw text.
    :raises TreebankError: at the first line that is not UTF-8, or is no CoNLL-U.
    """
    lines = read_lines(stream, name)
    if kind == "auto":
        lines, kind = _recognised(lines, name)
    if kind == "conllu":
        return _sentences(lines, name)
    return (reader.read(line, number) for number, line in enumerate(lines, start=1))


def read_lines(stream: BinaryIO, name: str) -> Iterator[str]:
    """The lines of a text, without their ends and a byte order mark.

    :raises TreebankError: at the first that is not UTF-8, holds a zero byte, or is longer than a megabyte.
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


def _recognised(lines: Iterator[str], name: str) -> tuple[Iterator[str], str]:
    """The lines again, and whether they are raw text or CoNLL-U."""
    if name.endswith(".conllu"):
        return lines, "conllu"
    seen: list[str] = []
    for line in lines:
        seen.append(line)
        if _TOKEN_LINE.match(line):
            return chain(seen, lines), "conllu"
        if (line.strip() and not is_comment(line)) or len(seen) == LINES_LOOKED_AT:
            break
    return chain(seen, lines), "text"


def _sentences(lines: Iterable[str], name: str) -> Iterator[Sentence | Omission]:
    """The sentences of a CoNLL-U text."""
    position = 0
    for first_line, paragraph in _paragraphs(lines):
        if not all(map(is_comment, paragraph)):
            position += 1
            yield prepare(read_block(tuple(paragraph), name, first_line, position), True)


def _paragraphs(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """The maximal runs of lines that are not blank, with the number of the first."""
    paragraph: list[str] = []
    number = 0
    for number, line in enumerate(lines, start=1):
        if line.strip():
            paragraph.append(line)
        elif paragraph:
            yield number - len(paragraph), paragraph
            paragraph = []
    if paragraph:
        yield number + 1 - len(paragraph), paragraph


class Usable:
    """The sentences that can be used; what is said about them once, beside the results.

    :param items: all that was read.
    :param quiet: do not say that punctuation is taken off.
    """

    def __init__(self, items: Iterable[Item], quiet: bool) -> None:
        self._items, self._quiet = items, quiet
        self.omitted, self._first_omitted = 0, ""

    def __iter__(self) -> Iterator[Source]:
        for item in self._items:
            if isinstance(item, Omission):
                self.omitted += 1
                self._first_omitted = self._first_omitted or f"sentence {item.identifier!r}: {item.reason}"
                continue
            if not self._quiet and has_marks(item):
                console.tell("pyropunct: punctuation that is there already is taken off (--keep keeps it)")
                self._quiet = True
            yield item

    def tell_omitted(self, name: str) -> None:
        """Say how many sentences were left out, if any were."""
        if self.omitted:
            console.tell(f"pyropunct: {name}: {self.omitted} omitted; the first: {self._first_omitted}")


def chunks(sources: Iterable[Source], stream: BinaryIO) -> Iterator[list[Source]]:
    """Sentences to be worked on together; from a terminal each alone, since its result is waited for."""
    rest, size = iter(sources), 1 if stream.isatty() else CHUNK
    while chunk := list(islice(rest, size)):
        yield chunk
