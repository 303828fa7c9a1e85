"""Streams of sentences to restore, from raw text, running text or CoNLL-U of any length."""

import re
import reprlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import BinaryIO, Protocol

from pyropunct.errors import MissingPartError
from pyropunct.nets.reader import RunningReader
from pyropunct.restore.casing import loses_case, lowered, recased
from pyropunct.restore.line_ends import ends_shown, hidden_ends
from pyropunct.restore.running import LONGEST_SENTENCE, SentenceFinder
from pyropunct.restore.settings import RestoreSettings
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

LINES_AT_ONCE = 32
"""The most lines that the reader looks at together."""

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


def require_reader(reader: RunningReader | None, settings: RestoreSettings) -> None:
    """Raise `MissingPartError` if the settings need a reader of running text and there is none."""
    if reader is None and (settings.running or settings.case == "restore"):
        raise MissingPartError(
            "the model has no reader of running text, so it finds neither sentences nor capital letters: "
            "fit one with `pyropunct fit TRAIN --parser`, or give one sentence a line, as it is written"
        )


class SentenceStream(Iterator[Item]):
    """The sentences of lines of raw text, as soon as they are certain; without a reader, one for each line.

    A line that is not running text is a sentence, unless it is too long (`tell_long`), marks inside it end
    sentences, or the reader finds that it probably has several: see `hidden_ends`.

    :param lines: the source of the items, for `at_hand`; by default all are available.
    """

    def __init__(
        self,
        items: Iterable[Item],
        reader: RunningReader | None,
        settings: RestoreSettings,
        *,
        lines: AtHand | None = None,
        tell_long: Callable[[RawSentence], None] | None = None,
        last_end: str = "",
    ) -> None:
        self._items, self._reader, self._settings = items, reader, settings
        self._lines, self._tell_long, self._last_end = lines, tell_long, last_end
        self._groups = self._sentences_of_each()
        self._group: Iterator[Item] = iter(())
        self._next: Item | None = None

    def _sentences_of_each(self) -> Iterator[Iterator[Item]]:
        """The sentences that become certain with each item, if any."""
        if self._reader is None:
            yield from (iter((item,)) for item in self._items)
            return
        settings = self._settings
        finder = SentenceFinder(self._reader, settings)
        waiting: list[RawSentence] = []
        for item in self._items:
            if not settings.running and isinstance(item, RawSentence) and item.words and not item.settled:
                waiting.append(item)
                is_long = len(item.words) > LONGEST_SENTENCE
                if is_long and self._tell_long is not None:
                    self._tell_long(item)
                at_hand = self._lines is None or self._lines.at_hand()
                if is_long or not at_hand or len(waiting) == LINES_AT_ONCE:
                    yield self._split(waiting, self._reader, finder)
                    waiting = []
                continue
            if waiting:
                yield self._split(waiting, self._reader, finder)
                waiting = []
            if not isinstance(item, RawSentence):
                yield finder.finish()
                yield iter((item,))
            elif settings.running:
                yield finder.add(item, more=self._lines is not None and self._lines.at_hand())
            else:
                yield iter((item,))
        yield self._split(waiting, self._reader, finder)
        yield finder.finish(self._last_end)

    def _split(
        self, lines: Sequence[RawSentence], reader: RunningReader, finder: SentenceFinder
    ) -> Iterator[RawSentence]:
        """Lines, in sentences where marks or `hidden_ends` show that they have several."""
        settings = self._settings
        lower = [loses_case(line.words, settings.case) for line in lines]
        seen = [self._seen(line, lost) for line, lost in zip(lines, lower, strict=True)]
        readings = iter(reader.read_all([words for words in seen if words is not None]))
        for line, words, lost in zip(lines, seen, lower, strict=True):
            reading = None if words is None else next(readings)
            ends, splits = dict[int, bool](), not _is_usual(line)
            if reading is not None and settings.ends is not None:
                splits = splits or bool((reading.ends[:-1] > settings.ends).any())
            elif reading is not None:
                ends = hidden_ends(line, reading.ends.tolist(), lost)
                splits = splits or any(ends.values())
            if splits:
                yield from finder.add(line, ends)
                yield from finder.finish()
            elif reading is not None and lost:  # so that nobody needs to read it again
                yield recased(line, reader, reading.cases, settings.capital)
            else:
                yield line

    def _seen(self, line: RawSentence, lost: bool) -> Sequence[str] | None:
        """The words of a line as the reader sees them to find hidden ends, or None where it need not.

        Where marks are missing, the capital letters behind them are missing too.  In text with capital
        letters, a line without a capital inside, or with a mark only at its end, nearly always is one
        sentence.
        """
        settings, shown = self._settings, ends_shown(line)
        if not _is_usual(line):
            asked = settings.ends is None and settings.hidden is None and bool(shown)
            return lowered(line.words) if asked else None
        if lost:
            return lowered(line.words)
        return line.words if not shown and _has_capital_inside(line.words) else None

    def groups(self) -> Iterator[list[Item]]:
        """The sentences, those together that become certain without waiting for input between them."""
        yield from filter(None, map(list, self._groups))

    def __next__(self) -> Item:
        item, self._next = self._next, None
        while item is None:
            item = next(self._group, None)
            if item is None:
                self._group = next(self._groups)
        return item

    def at_hand(self) -> bool:
        """Whether the next sentence is available without waiting for input."""
        if self._next is None:
            self._next = next(self._group, None)
        return self._next is not None or self._lines is None or self._lines.at_hand()


def _has_capital_inside(words: Sequence[str]) -> bool:
    """Whether a capitalised word follows one in small letters."""
    return any(left[-1:].islower() and right[:1].isupper() for left, right in pairwise(words))


def _is_usual(line: RawSentence) -> bool:
    """Whether a line seems to be one sentence: no marks inside it end sentences, and it is not long."""
    return len(line.words) <= LONGEST_SENTENCE and not set(ends_shown(line)) - {len(line.words)}
