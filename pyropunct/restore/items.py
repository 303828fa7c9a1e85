"""Sentences to restore, read from raw text, running text or CoNLL-U of any length."""

import re
import reprlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import BinaryIO, Protocol

from pyropunct.text.lines import (
    BEGINNING,
    LONGEST_LINE,
    NO_SENTENCE,
    ByteLines,
    Start,
    TreebankError,
    decoded,
    lines_or_errors,
    numbered,
)
from pyropunct.text.raw_reader import RawReader
from pyropunct.text.raw_sentence import RawSentence
from pyropunct.treebank.preparing import Omission
from pyropunct.treebank.reading import recognised, sentences_or_errors
from pyropunct.treebank.sentence import Sentence


@dataclass(frozen=True)
class BadLine:
    """A line (or piece of one) of raw text, or a sentence of CoNLL-U, that cannot be read.

    :ivar text: the line with its end; bytes that are not UTF-8 are surrogates.  Empty for CoNLL-U.
    :ivar problem: the error message; None for later pieces of a line.
    """

    text: str
    problem: TreebankError | None


Item = RawSentence | Sentence | Omission | BadLine
"""A line of raw text, a sentence of a treebank, or one that cannot be used."""

CHUNK = 100
"""Sentences that are worked on together."""

LONGEST_PIECE = LONGEST_LINE // 4
"""The most bytes of a line of running text that are read together, except for a word that begins before.
Longer words are cut."""

_SPACES = b" ", b"\t", b"\n"


def read_items(
    stream: BinaryIO | ByteLines,
    name: str,
    kind: str,
    reader: RawReader,
    *,
    running: bool = False,
    start: Start = BEGINNING,
    tolerant: bool = False,
) -> Iterator[Item]:
    """The sentences of a file, one at a time.

    :param kind: "text", "conllu", or "auto": CoNLL-U by the file's name, or if the first line that is neither
        blank nor a comment starts with an id and has tabs.
    :param running: whether it is running text, whose long lines are cut between words.
    :param tolerant: give malformed sentences of CoNLL-U as bad lines.
    :raises TreebankError: at the first line that is not CoNLL-U or UTF-8, unless tolerant; if running text is
        CoNLL-U; or if CoNLL-U has no sentence.
    """
    lines: Iterator[bytes] = stream if isinstance(stream, ByteLines) else ByteLines(stream)
    if kind == "auto":
        lines, kind = recognised(lines, name)
    if kind == "conllu" and running:
        raise TreebankError(name, "is CoNLL-U, whose sentences are known: --running takes raw text")
    if kind == "conllu":
        return _sentences(lines, name, start, tolerant)
    return _raw_lines(cut_between_words(lines) if running else lines, name, reader, running, start)


def _sentences(
    lines: Iterable[bytes], name: str, start: Start, tolerant: bool
) -> Iterator[Sentence | Omission | BadLine]:
    sentence = None
    for sentence in sentences_or_errors(lines_or_errors(lines, name, start), name, start):
        if not isinstance(sentence, TreebankError):
            yield sentence
        elif tolerant:
            yield BadLine("", sentence)
        else:
            raise sentence
    if sentence is None:
        raise TreebankError(name, NO_SENTENCE)


def cut_between_words(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Cut long lines of bytes into pieces that end with white space, or inside words of over `LONGEST_PIECE`.

    Takes linear time.  Such a word is cut at the same places, whatever the lines.
    """
    rest = bytearray()
    for line in lines:
        new = len(rest)
        rest += line
        if len(rest) > LONGEST_PIECE and all(rest.find(one, new, LONGEST_PIECE) < 0 for one in _SPACES):
            cut = LONGEST_PIECE
            while cut > LONGEST_PIECE - 3 and rest[cut] & 0xC0 == 0x80:  # inside of a character
                cut -= 1
            yield bytes(rest[:cut])
            del rest[:cut]
            new = 0
        if cut := max(rest.rfind(one, new) for one in _SPACES) + 1:
            yield bytes(rest[:cut])
            del rest[:cut]
    if rest:
        yield bytes(rest)


def _raw_lines(
    lines: Iterable[bytes], name: str, reader: RawReader, running: bool, start: Start
) -> Iterator[RawSentence | BadLine]:
    usual = "\n"  # of a last line without an end
    for line, number, offset, begins in numbered(lines, start):
        if line.endswith(b"\n"):
            usual = "\r\n" if line.endswith(b"\r\n") else "\n"
        end = "\n" if line.endswith(b"\r") else usual
        if running and not line.endswith(b"\n"):
            end = ""
        try:
            text = decoded(line, name, number, offset) if begins or running else None
            yield (
                BadLine(_kept(line), None)
                if text is None
                else reader.read(text.removesuffix(end), number, end)
            )
        except TreebankError as error:
            yield BadLine(_kept(line), error)


class WordsOfPieces(Iterable[RawSentence]):
    """Running text that comes in pieces, which may break words: each word as a line, once the next begins.

    White space behind a word ends its line; a blank line ends a paragraph.  Words of over `LONGEST_PIECE`
    characters are cut.
    """

    def __init__(self, pieces: Iterable[str], reader: RawReader) -> None:
        self._pieces, self._reader, self._left = pieces, reader, 0

    def __iter__(self) -> Iterator[RawSentence]:
        for text in self._words_with_space():
            word = text.rstrip()
            yield self._reader.read(word, 1, text[len(word) :])
            if text.count("\n") > 1:
                yield self._reader.read("", 1, "")

    def at_hand(self) -> bool:
        """Whether another word of the piece ends."""
        return self._left > 0

    def _words_with_space(self) -> Iterator[str]:
        """Each word with the white space behind it, in linear time."""
        word, length = list[str](), 0
        for part in chain.from_iterable(map(self._parts, self._pieces)):
            begins = bool(word) and word[-1][-1].isspace() and not part[0].isspace()
            if begins or length + len(part) > LONGEST_PIECE:
                room = 0 if begins else LONGEST_PIECE - length
                yield "".join([*word, part[:room]])
                word, length, part = [], 0, part[room:]
            word.append(part)
            length += len(part)
        if word:
            yield "".join(word)

    def _parts(self, piece: str) -> Iterator[str]:
        """A piece, cut in front of its words and after `LONGEST_PIECE` characters."""
        require_string(piece)
        for start in range(0, len(piece), LONGEST_PIECE):
            parts = re.findall(r"\S+\s*|\s+", piece[start : start + LONGEST_PIECE])
            for self._left in range(len(parts) - 1, -1, -1):  # each part behind the first begins a word
                yield parts[-1 - self._left]


def require_string(text: object) -> None:
    """Raise `TypeError` if a text, or a piece of one, is not a string."""
    if isinstance(text, bytes):
        raise TypeError("a text is a string, not bytes: decode it")
    if not isinstance(text, str):
        raise TypeError(f"a text is a string, not of the type {type(text).__name__}: {reprlib.repr(text)}")


def _kept(line: bytes) -> str:
    return line.decode(errors="surrogateescape")


class AtHand(Protocol):
    """Lines that are read."""

    def at_hand(self) -> bool:
        """Whether the next one is available without waiting."""
        ...


def chunks(items: Iterable[Item], lines: AtHand) -> Iterator[list[Item]]:
    """Groups of sentences to process together: those available without waiting for input."""
    chunk: list[Item] = []
    for item in items:
        chunk.append(item)
        if len(chunk) == CHUNK or not lines.at_hand():
            yield chunk
            chunk = []
    if chunk:
        yield chunk
