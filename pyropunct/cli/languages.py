"""Cuts a text into stretches of one language each, for models of several languages.

A line of raw text has one language.  So has a paragraph of running text, and a whole treebank.  A pipe gives
the same results as a file, however many bytes it delivers at a time.
"""

from collections.abc import Callable, Iterator
from itertools import chain, islice
from typing import Any, BinaryIO, cast

from pyropunct.text.inputs import contents
from pyropunct.text.languages import HEAD, LanguagesOfLines, head_of, likely_language
from pyropunct.text.lines import BEGINNING, ByteLines, Start, TextPart
from pyropunct.treebank.conllu_block import FORM, MISC
from pyropunct.treebank.reading import LINES_LOOKED_AT, recognised

WORDS = 60
"""The words of a treebank by which its language is found."""


class _Lines:
    """A stream of lines, or pieces of long ones, with the file descriptor of another stream."""

    def __init__(self, lines: Iterator[bytes], stream: BinaryIO) -> None:
        self._lines, self._stream = lines, stream

    def read1(self, size: int) -> bytes:
        """The next line."""
        return next(self._lines, b"")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def in_languages(part: TextPart, known: tuple[str, ...], running: bool) -> Iterator[tuple[str, TextPart]]:
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
    yield from _Stretches(lines, part._replace(kind=kind), of_lines.of, running)


def language_of_treebank(part: TextPart, known: tuple[str, ...]) -> tuple[str, TextPart]:
    """The language of a text of one language, such as a treebank, and the text."""
    return _as_treebank(ByteLines(part.stream), part, known)


def _as_treebank(lines: Iterator[bytes], part: TextPart, known: tuple[str, ...]) -> tuple[str, TextPart]:
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


class _Stretches(Iterator[tuple[str, TextPart]]):
    """The stretches of raw text."""

    def __init__(
        self, lines: Iterator[bytes], part: TextPart, language: Callable[[str], str], running: bool
    ) -> None:
        self._lines, self._part, self._language, self._running = lines, part, language, running
        self._place, self._begins, self._blank = part.start, True, True  # the line so far is blank
        self._next, self._code = list[bytes](), ""

    def __next__(self) -> tuple[str, TextPart]:
        if not self._next and not self._read_on():
            if self._code:
                raise StopIteration
            self._code = self._language("")  # an empty text is one stretch
        stream = cast(BinaryIO, _Lines(self._stretch(), self._part.stream))
        return self._code, self._part._replace(stream=stream, start=self._place)

    def _stretch(self) -> Iterator[bytes]:
        code = self._code
        while (self._next or self._read_on()) and self._code == code:
            taken, self._next = b"".join(self._next), []
            line, offset, sentence = self._place
            self._place = Start(line + taken.count(b"\n"), offset + len(taken), sentence)
            yield taken

    def _read_on(self) -> bool:
        """Read a line, or more of it, and the language of what begins with it; whether there was any."""
        begins, self._next = self._begins, [*self._piece()]
        if self._next and begins:
            while self._running and not self._begins and sum(map(len, self._next)) < HEAD:
                if not (more := [*self._piece()]):
                    break
                self._next += more
            self._code = self._language(head_of(b"".join(self._next)))
        return bool(self._next)

    def _piece(self) -> Iterator[bytes]:
        """The next line, or piece of one; notes whether a line or paragraph begins behind it."""
        for piece in islice(self._lines, 1):
            self._blank = self._blank and not piece.strip()
            is_whole = piece.endswith(b"\n")
            self._begins = is_whole and (self._blank or not self._running)
            self._blank = self._blank or is_whole
            yield piece
