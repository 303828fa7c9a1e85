"""Reading sentences to restore one by one, from raw text or CoNLL-U of any length."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import BinaryIO

from pyropunct.restore.raw_words import RawReader, RawSentence
from pyropunct.treebank.conllu_reader import is_comment
from pyropunct.treebank.lines import read_lines
from pyropunct.treebank.reading import Omission, read_sentences
from pyropunct.treebank.sentence import Sentence

Item = RawSentence | Sentence | Omission
"""A line of raw text, a sentence of a treebank, or one that cannot be used."""

CHUNK = 100
"""Sentences that are worked on together."""

LINES_LOOKED_AT = 1000
"""The most comments and blank lines before the line by which CoNLL-U and raw text are distinguished."""

_TOKEN_LINE = re.compile(r"\d+(?:[-.]\d+)?\t.*\t")


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
        return read_sentences(lines, name)
    return (reader.read(line, number) for number, line in enumerate(lines, start=1))


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


def chunks(items: Iterable[Item], stream: BinaryIO) -> Iterator[list[Item]]:
    """Groups of sentences to process together; from a terminal single sentences, to answer each at once."""
    rest, size = iter(items), 1 if stream.isatty() else CHUNK
    while chunk := list(islice(rest, size)):
        yield chunk
