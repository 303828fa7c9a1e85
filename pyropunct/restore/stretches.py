"""Cuts a text into stretches of one language each, for models of several languages.

A line of raw text has one language.  So has a paragraph of running text, and a whole treebank.  A pipe gives
the same results as a file, however many bytes it delivers at a time.
"""

import io
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain, groupby
from operator import itemgetter
from typing import Any, BinaryIO, cast

from pyropunct.text.inputs import contents
from pyropunct.text.languages import HEAD, LanguagesOfLines, head_of, likely_language
from pyropunct.text.lines import BEGINNING, ByteLines, Start, TextPart
from pyropunct.treebank.conllu_block import FORM, MISC
from pyropunct.treebank.reading import LINES_LOOKED_AT, recognised

WORDS = 60
"""The words of a treebank by which its language is found."""


class _Lines:
    """Lines, or pieces of long ones, as a stream; its other attributes are those of the original stream."""

    def __init__(self, lines: Iterator[bytes], stream: BinaryIO) -> None:
        self._lines, self._stream = lines, stream

    def read1(self, size: int) -> bytes:
        """The next line."""
        return next(self._lines, b"")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def text_in_languages(text: str, known: Collection[str], running: bool = False) -> list[tuple[str, str]]:
    """The stretches of a string: the language of each, and its text; see `in_languages`."""
    part = TextPart(io.BytesIO(text.encode(errors="surrogatepass")), "text", "text")
    found = [(code, b"".join(ByteLines(one.stream))) for code, one in in_languages(part, known, running)]
    return [(code, stretch.decode(errors="surrogatepass")) for code, stretch in found]


def in_languages(part: TextPart, known: Collection[str], running: bool) -> Iterator[tuple[str, TextPart]]:
    """The stretches of a text in one language, one after the other, each with the code of its language.

    Each must be read to its end before the next one is taken.

    :param known: the languages of the model.
    :param running: it is running text, whose paragraphs have languages.
    """
    lines: Iterator[bytes] = ByteLines(part.stream, eager=running)
    kind = part.kind
    if kind == "auto":
        lines, kind = recognised(lines, part.name)
    if kind == "conllu":
        yield _as_treebank(lines, part._replace(kind=kind), known)
        return
    of_lines = LanguagesOfLines(known)
    if part.start != BEGINNING:
        with contents(part.name) as beginning:
            of_lines.begin(line.decode(errors="ignore") for line in ByteLines(beginning))
    yield from _stretches(_with_languages(lines, of_lines.of, running), part._replace(kind=kind))


def language_of_treebank(part: TextPart, known: Collection[str]) -> tuple[str, TextPart]:
    """The language of a text of one language, such as a treebank, and the text."""
    return _as_treebank(ByteLines(part.stream), part, known)


def _as_treebank(lines: Iterator[bytes], part: TextPart, known: Collection[str]) -> tuple[str, TextPart]:
    """The language of a treebank, and its text.  A part of a file has the language of the file."""
    head, words = _words_of(lines)
    if part.start != BEGINNING:
        with contents(part.name) as beginning:
            _, words = _words_of(ByteLines(beginning))
    stream = cast(BinaryIO, _Lines(chain(head, lines), part.stream))
    return likely_language(" ".join(words), known), part._replace(stream=stream)


def _words_of(lines: Iterator[bytes]) -> tuple[list[bytes], list[str]]:
    """The first lines, as they are, and the words in them."""
    head, words = list[bytes](), list[str]()
    for line in lines:
        head.append(line)
        row = line.decode(errors="ignore").split("\t")
        if len(row) > MISC and row[0].isdigit():
            words.append(row[FORM])
        if len(words) == WORDS or len(head) == LINES_LOOKED_AT:
            break
    return head, words


def _stretches(pieces: Iterable[tuple[str, bytes]], part: TextPart) -> Iterator[tuple[str, TextPart]]:
    """The stretches of raw text, each with its place in the text."""
    place = part.start

    def counted(stretch: Iterable[tuple[str, bytes]]) -> Iterator[bytes]:
        nonlocal place
        for _, piece in stretch:
            line, offset, sentence = place
            place = Start(line + piece.count(b"\n"), offset + len(piece), sentence)
            yield piece

    for code, stretch in groupby(pieces, itemgetter(0)):
        stream = cast(BinaryIO, _Lines(counted(stretch), part.stream))
        yield code, part._replace(stream=stream, start=place)


def _with_languages(
    lines: Iterable[bytes], language: Callable[[str], str], running: bool
) -> Iterator[tuple[str, bytes]]:
    """The lines, or pieces of long ones, with the language of their line or paragraph.

    An empty text is one empty line.
    """
    code, waiting, is_blank, is_empty = "", b"", True, True
    for piece in lines:
        is_blank = is_blank and not piece.strip()
        is_whole = piece.endswith(b"\n")
        is_last = is_whole and (is_blank or not running)
        is_blank, is_empty = is_blank or is_whole, False
        waiting += piece
        if not code and (is_last or not running or len(waiting) >= HEAD):
            code = language(head_of(waiting))
        if code:
            yield code, waiting
            waiting = b""
        if is_last:
            code = ""
    if waiting or is_empty:
        yield language(head_of(waiting)), waiting
