"""Finds the sentences of lines: of running text, and of lines that have several.

`pyropunct.restore.running` finds the ends of sentences, after `pyropunct.restore.line_ends` has decided which
lines have several.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from pyropunct.errors import MissingPartError
from pyropunct.nets.reader import RunningReader
from pyropunct.restore.casing import loses_case, lowered, recased
from pyropunct.restore.items import AtHand, Item
from pyropunct.restore.line_ends import ends_shown, hidden_ends
from pyropunct.restore.running import LONGEST_SENTENCE, SentenceFinder
from pyropunct.restore.settings import RestoreSettings
from pyropunct.text.raw_sentence import RawSentence

LINES_AT_ONCE = 32
"""The most lines that the reader looks at together."""


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
