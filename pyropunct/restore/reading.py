"""Reading sentences to restore one by one, from raw text or CoNLL-U of any length."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
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
)
from pyropunct.text.raw_reader import RawReader
from pyropunct.text.raw_sentence import RawSentence
from pyropunct.treebank.conllu_reader import recognised
from pyropunct.treebank.reading import Omission, sentences_or_errors
from pyropunct.treebank.sentence import Sentence


@dataclass(frozen=True)
class BadLine:
    """A line of raw text, or a piece of one, or a sentence of CoNLL-U, that cannot be read.

    :ivar text: the line as it was, with its end; bytes that are not UTF-8 are surrogates.  Empty for CoNLL-U.
    :ivar problem: what is wrong with it; None for what follows the first piece of a line.
    """

    text: str
    problem: TreebankError | None


Item = RawSentence | Sentence | Omission | BadLine
"""A line of raw text, a sentence of a treebank, or one that cannot be used."""

CHUNK = 100
"""Sentences that are worked on together."""

LONGEST_PIECE = LONGEST_LINE // 4
"""The most bytes of a line of running text that are read together, but for a word that begins before."""


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
    """The sentences of a file, one after the other; no more than one is in memory.

    :param kind: "text", "conllu", or "auto": CoNLL-U if the file is called so, or if the first line that is
        neither blank nor a comment starts with an id and has tabs.
    :param reader: for raw text.
    :param running: whether it is running text: a line of any length is read in pieces, cut between words.
    :param start: where the stream begins in the file.
    :param tolerant: whether sentences of CoNLL-U that are malformed are bad lines too.
    :raises TreebankError: at the first line that is no CoNLL-U, or no UTF-8 in CoNLL-U, unless that is
        tolerated; if running text is CoNLL-U, or CoNLL-U has no sentence.
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
    """Lines of bytes, and pieces of long ones, as pieces that end with white space if there is any."""
    rest = b""
    for line in lines:
        piece = rest + line
        cut = len(piece) if piece.endswith(b"\n") else max(map(piece.rfind, (b" ", b"\t"))) + 1
        rest = piece[cut:]
        if len(rest) >= LONGEST_PIECE:
            cut, rest = len(piece), b""
        if cut:
            yield piece[:cut]
    if rest:
        yield rest


def _raw_lines(
    lines: Iterable[bytes], name: str, reader: RawReader, running: bool, start: Start
) -> Iterator[RawSentence | BadLine]:
    """:param running: whether a line that has no end goes on in the next one."""
    number, offset, whole = start.line, start.offset, True
    for line in lines:
        end = "\r\n" if line.endswith(b"\r\n") else "" if running and not line.endswith(b"\n") else "\n"
        try:
            text = decoded(line, name, number, offset) if whole or running else None
            yield (
                BadLine(_kept(line), None)
                if text is None
                else reader.read(text.removesuffix(end), number, end)
            )
        except TreebankError as error:
            yield BadLine(_kept(line), error)
        offset += len(line)
        whole = line.endswith(b"\n")
        number += whole


def _kept(line: bytes) -> str:
    return line.decode(errors="surrogateescape")


class AtHand(Protocol):
    """Lines that are read."""

    def at_hand(self) -> bool:
        """Whether the next one can be had without waiting."""
        ...


def chunks(items: Iterable[Item], lines: AtHand) -> Iterator[list[Item]]:
    """Groups of sentences to process together: those that can be had without waiting for more input."""
    chunk: list[Item] = []
    for item in items:
        chunk.append(item)
        if len(chunk) == CHUNK or not lines.at_hand():
            yield chunk
            chunk = []
    if chunk:
        yield chunk
