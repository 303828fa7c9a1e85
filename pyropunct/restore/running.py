"""Finds the sentences of running text, in which sentences end anywhere.

A `pyropunct.nets.reader.RunningReader` finds sentence ends, unless marks show them.  It reads fixed windows
of a paragraph, so results do not depend on how the input is chunked, and memory is bounded.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from torch import Tensor, stack, tensor

from pyropunct.nets.reader import CORE, LIKELY, MARGIN, WINDOWS_AT_ONCE, RunningReader, TextWindow, windows_of
from pyropunct.restore.casing import loses_case, lowered, recased
from pyropunct.restore.settings import RestoreSettings
from pyropunct.text.marks import ABBREVIATION_DOT, PAUSE, parted, space_between_words
from pyropunct.text.raw_sentence import Multiword, RawSentence, Slot

LONGEST_SENTENCE, LEAST_CUT = 200, 50
"""The most words of a sentence.  A longer stretch without an end is cut at the likeliest place, so that the
sentence has at least the second number of words."""

LONGEST_MARKED = 60
"""Up to this many words between two marks that end sentences are one sentence, without a search for ends."""

AHEAD = max(MARGIN, LONGEST_MARKED) + 1
"""The words behind the core of a window that must be there before it is read."""

CORE_OF_STREAM = 4
"""The words of a core where less is known ahead."""

ENDS_IN_SILENCE = (-1.1, -1.6, -1.0, -0.2, 0.4, 0.9, 1.3, 1.7, 2.0, 2.0, 1.9)
MARKS_IN_SILENCE = (-0.5, -0.5, 0.1, 0.7, 1.0, 1.1, 1.2, 1.1, 1.2, 1.0, 0.9)
"""What silence of 0, 1, 2 ... tenths of a second adds to the log-odds of an end, or of another mark.

The logarithms of p(silence | end) / p(silence | no mark), and the same of commas, in 65,000 words of Polish
news that were read aloud (PolEval 2021), times 0.6, since words already tell part of what silence tells.
"""

ENDING = frozenset(".?!。！？؟।॥۔")
"""The characters of marks that end sentences; several dots do not end a sentence."""

INNER = frozenset(",;:،؛，；：、")
"""Marks behind which no sentence ends."""


class _PlacedWord(NamedTuple):
    """A word of a paragraph, with the slot behind it, and whether a sentence ends there, if decided."""

    form: str
    line: int
    slot: Slot
    closed: bool
    fixed: bool
    written: str | None
    ends: bool | None


class _Judged(NamedTuple):
    """The reader's predictions for a word; no cases if its case stays."""

    end: float
    cases: Tensor | None
    marks: Tensor


def _in_silence(string: Sequence[str]) -> Sequence[float]:
    """What silence adds to the log-odds of a string of marks."""
    if not string:
        return [0.0] * len(ENDS_IN_SILENCE)
    return ENDS_IN_SILENCE if ends_sentence(string, "") else MARKS_IN_SILENCE


class SentenceFinder:
    """Takes the lines of a text one by one, and yields its sentences as soon as they are certain.

    A line without words is a sentence by itself, and ends a paragraph; a speaker or a time in front of a line
    begins one.  In a paragraph, sentences end

    - behind marks that end sentences, such as a period that is not an abbreviation's dot; but not if a mark
      closes behind “?” or “!” and the next word is in lower case, as in “Stop!” he said;
    - nowhere else between two such ends that are at most `LONGEST_MARKED` words apart, except at an
      abbreviation's dot;
    - elsewhere where the reader finds an end probable enough (``ends``), but never behind commas, semicolons
      or colons; and
    - at the end of the paragraph.

    Closing marks between two sentences belong to the first, opening marks after them to the second.

    :param settings: with fewer words ``ahead`` than `AHEAD`, the cores of windows are smaller too.  ``ends``
        is `LIKELY` by default.  Each window decides for ``case="auto"`` which words get new cases.
    """

    def __init__(self, reader: RunningReader, settings: RestoreSettings) -> None:
        self._reader, self._settings = reader, settings
        self._ahead = AHEAD if settings.ahead is None else settings.ahead
        self._core = CORE if self._ahead >= AHEAD else CORE_OF_STREAM
        self._likely = LIKELY if settings.ends is None else settings.ends
        strings = [*reader.vocabulary.slots.labels.strings, (",",)]  # the last label stands for all others
        self._in_silence = tensor([_in_silence(string) for string in strings]).T
        self._words: list[_PlacedWord] = []
        self._judged: list[_Judged] = []
        self._line, self._number = 0, 0  # those of the last sentence: see `RawSentence.number`
        self._return = ""  # at the end of the last line that has one
        self._clear()

    def _clear(self) -> None:
        """Begin a paragraph; places are indices of its stored words."""
        self._words.clear()
        self._judged.clear()
        self._begun, self._told = 0, -1  # the first word of the sentence, the last with an ending mark
        self._before, self._end = "", ""
        self._opening = Slot()

    def add(
        self, line: RawSentence, ends: Mapping[int, bool] | None = None, more: bool = False
    ) -> Iterator[RawSentence]:
        """The sentences that are certain with a further line.

        :param ends: whether sentences end behind words of the line, from 1, if that is decided.
        :param more: another line is at hand: words may wait to be read together with it, which is faster.
        """
        if "\n" in line.end:
            self._return = "\r" * line.end.endswith("\r\n")
        if not line.words:
            yield from self.finish()
            yield line
            return
        if line.before.rstrip().endswith((":", "]")):  # a speaker or a time
            yield from self.finish()
        self._append(line, ends or {})
        whole = max(0, len(self._words) - self._ahead - len(self._judged)) // self._core
        if not more or whole >= WINDOWS_AT_ONCE:
            yield from self._read(len(self._judged) + whole * self._core)
            self._forget()

    def finish(self, end: str = "") -> Iterator[RawSentence]:
        """The remaining sentences; ``end`` ends the last line, like the one before, if nothing else does."""
        if self._words:
            if end and "\n" not in self._end:
                self._end = self._end.removesuffix(self._return) + self._return + end
            yield from self._read(len(self._words))
            if self._begun < len(self._words):
                yield self._cut(len(self._words) - 1)
        self._clear()

    def _append(self, line: RawSentence, ends: Mapping[int, bool]) -> None:
        if self._words:
            last = self._words[-1]
            self._words[-1] = last._replace(slot=last.slot.joined(self._end + line.before, line.slots[0]))
        else:
            self._opening, self._before = line.slots[0], line.before
        closed = set(line.inside)
        written = {multiword.first: multiword.text for multiword in line.multiwords}
        self._words += [
            _PlacedWord(
                form,
                line.line,
                line.slots[slot],
                slot in closed,
                slot in line.fixed,
                written.get(slot),
                ends.get(slot),
            )
            for slot, form in enumerate(line.words, start=1)
        ]
        self._end = line.behind + line.end

    def _read(self, stop: int) -> Iterator[RawSentence]:
        """Read the words before a place, and yield the sentences that end there."""
        forms = [word.form for word in self._words]
        seen = min(MARGIN, self._ahead)
        windows = list(windows_of(forms, len(self._judged), stop, self._core, seen))
        for start in range(0, len(windows), WINDOWS_AT_ONCE):
            place = len(self._judged)
            self._judge(windows[start : start + WINDOWS_AT_ONCE])
            for number in range(place, len(self._judged)):
                end = self._end_known_at(number)
                if end is not None:
                    yield self._cut(end)

    def _judge(self, windows: Sequence[TextWindow]) -> None:
        lost = [loses_case(window.words, self._settings.case) for window in windows]
        seen = [
            TextWindow(lowered(window.words), window.core) if lower else window
            for window, lower in zip(windows, lost, strict=True)
        ]
        ends, cases, marks = self._reader.read_windows(seen)
        lower = [
            is_lost for is_lost, window in zip(lost, windows, strict=True) for _ in window.words[window.core]
        ]
        for number, end in enumerate(ends.tolist()):
            word, of_marks = self._words[len(self._judged)], marks[number]
            if pauses := word.slot.text.count(PAUSE):
                tenths = min(pauses, len(ENDS_IN_SILENCE)) - 1
                odds = math.exp(ENDS_IN_SILENCE[tenths])
                end = odds * end / (1 + (odds - 1) * end)
                of_marks = of_marks + self._in_silence[tenths]
            case = cases[number] if lower[number] else None
            self._judged.append(_Judged(0.0 if word.closed else end, case, of_marks))

    def _end_known_at(self, number: int) -> int | None:
        """The last word of the sentence, if its end is known once the words up to this one are read."""
        if self._ends(number):
            return number
        if number - self._begun + 1 < LONGEST_SENTENCE:
            return None
        places = range(self._begun + LEAST_CUT - 1, number + 1)
        open_places = [place for place in places if not self._is_closed(place)]
        # Where all words touch, as in "we—met—we—met", a sentence ends between touching words.
        candidates = open_places or [place for place in places if not self._words[place].closed]
        return max(candidates, key=lambda place: self._judged[place].end, default=None)

    def _ends(self, number: int) -> bool:
        word = self._words[number]
        if self._is_marked(number):
            self._told = number
            return not self._is_closed(number)
        if word.ends is not None:
            return word.ends
        tokens = word.slot.tokens
        if ABBREVIATION_DOT in tokens and self._goes_on_small(number):
            return False
        if self._is_closed(number) or any(mark in INNER for mark in tokens):
            return False
        most = min(self._told + LONGEST_MARKED, number + self._ahead)
        ahead = range(number + 1, min(most + 1, len(self._words)))
        if ABBREVIATION_DOT not in tokens and any(map(self._is_marked, ahead)):
            return False
        return self._judged[number].end > self._likely

    def _is_closed(self, number: int) -> bool:
        """Whether no sentence ends behind a word, because it touches the next one."""
        word, behind = self._words[number], self._words[number + 1 : number + 2]
        return word.closed or (bool(behind) and touch(word.slot, word.form, behind[0].form))

    def _goes_on_small(self, number: int) -> bool:
        """Whether the next word is in lower case, in text that has capitals."""
        judged, behind = self._judged[number], self._words[number + 1 : number + 2]
        return judged.cases is None and bool(behind) and behind[0].form[:1].islower()

    def _is_marked(self, number: int) -> bool:
        behind = self._words[number + 1].form if number + 1 < len(self._words) else ""
        return ends_sentence(self._words[number].slot.tokens, behind)

    def _cut(self, last: int) -> RawSentence:
        words = self._words[self._begun : last + 1]
        judged = self._judged[self._begun : last + 1]
        slot = words[-1].slot
        place = len(slot.marks)
        if last + 1 < len(self._words):
            place = _where_white_space_is(slot, len(parted(slot.tokens)[0]))
        closing, end, opening = slot.cut(place)
        slots = (self._opening, *(word.slot for word in words[:-1]), closing)
        self._number = self._number + 1 if words[0].line == self._line else 1
        self._line = words[0].line
        sentence = RawSentence(
            line=self._line,
            text="",
            words=tuple(word.form for word in words),
            slots=slots,
            multiwords=tuple(_multiwords(words)),
            fixed=frozenset(number for number, word in enumerate(words, 1) if word.fixed),
            before=self._before,
            end=self._end if last + 1 == len(self._words) else end,
            from_running_text=True,
            goes_on=last + 1 < len(self._words),
            number=self._number,
            marks=self._reader.mark_probabilities(
                stack([word.marks for word in judged]), [*[False] * (len(words) - 1), True]
            ),
        )
        forms, _, around = sentence.as_written(sentence.surface)
        behind = (form + slot.text for form, slot in zip(forms, around[1:], strict=True))
        sentence = replace(sentence, text="".join([around[0].text, *behind]))
        self._opening, self._before, self._begun = opening, "", last + 1
        cases = [word.cases for word in judged if word.cases is not None]
        if len(cases) < len(words):
            return sentence
        return recased(sentence, self._reader, stack(cases), self._settings.capital)

    def _forget(self) -> None:
        gone = max(0, min(self._begun, len(self._judged) - MARGIN))
        del self._words[:gone], self._judged[:gone]
        self._begun -= gone
        self._told -= gone


def touch(slot: Slot, left: str, right: str) -> bool:
    """Whether neighbouring words touch although a space stands between words of their scripts."""
    return not slot.gap and space_between_words(left, right)


def ends_sentence(slot: Sequence[str], behind: str) -> bool:
    """Whether marks end a sentence; several dots do not always.  ``behind`` is the next word or empty."""
    ending = [mark for mark in slot if set(mark) <= ENDING and (len(mark) == 1 or set(mark) != {"."})]
    if not ending or (len(ending) > 1 and set(ending) == {"."}):
        return False
    closing, opening = parted(slot)
    quoted = ending[-1] != "." and closing[-1] != ending[-1]
    return not (quoted and behind[:1].islower() and not opening)


def _where_white_space_is(slot: Slot, place: int) -> int:
    """The nearest place with white space, or the place itself if there is none."""
    spaces = [*(mark.space for mark in slot.marks), slot.space]
    return min(
        (number for number, space in enumerate(spaces) if space), key=lambda n: abs(n - place), default=place
    )


def _multiwords(words: Sequence[_PlacedWord]) -> Iterator[Multiword]:
    place = 0
    while place < len(words):
        last = place
        while last + 1 < len(words) and words[last].closed:
            last += 1
        written = words[place].written
        if written is not None:
            yield Multiword(place + 1, last + 1, written)
        place = last + 1
