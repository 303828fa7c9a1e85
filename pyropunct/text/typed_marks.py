"""Finds the marks of a model in raw text as they may be typed: at the ends of words, inside, in runs."""

import re
import unicodedata
from collections.abc import Iterable, Mapping

from pyropunct.text.marks import STRAIGHT, closes, opens, space_between_words
from pyropunct.text.prose import HYPHENS, is_mark

_APOSTROPHES = frozenset("'`’")
"""Marks that are often letters of a word, as in "dogs'", and so are not split off."""

_BRACKETS = {")": "(", "]": "[", "}": "{"}


class TypedMarks:
    """The marks of prose that a model knows, as they may be typed.

    :param meant: the model's mark for each mark that it does not know, see `Conventions.meant`.
    :ivar narrow: ``meant`` without tokens that are no marks of prose.
    :ivar separators: a pattern for marks that split a token, longer ones first; may match nothing.
    """

    def __init__(self, tokens: Iterable[str], meant: Mapping[str, str]) -> None:
        marks = frozenset(filter(is_mark, tokens))
        self.narrow = {form: mark for form, mark in meant.items() if is_mark(form)}
        straight = {form for form, pair in STRAIGHT.items() if marks & set(pair)}
        self.known = marks | straight | frozenset(self.narrow)
        dashes = frozenset(filter(_is_dash, self.known))
        at_ends = self.known - _APOSTROPHES
        self.any = RunsOfMarks(self.known)
        self._front = RunsOfMarks(mark for mark in at_ends if opens(mark) or mark in (*dashes, *"»›"))
        self._back = RunsOfMarks(mark for mark in at_ends if closes(mark) or mark in (*dashes, *"“‘«‹"))
        parting = [mark for mark in self.known if mark in dashes or not space_between_words(mark, mark)]
        longest_first = sorted(parting, key=lambda mark: (-len(mark), mark))
        self.separators = re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")

    def peeled(self, token: str) -> tuple[list[str], str, list[str]]:
        """The known marks in front of a word, the word, and those behind it."""
        start = self._front.end_of_first(token)
        end = max(start, self._back.start_of_last(token))
        for closing, opening in _BRACKETS.items():
            core = token[start:end]
            if core.count(opening) > core.count(closing) and token[end : end + 1] == closing:
                end += 1
            elif core.count(closing) > core.count(opening) and token[start - 1 : start] == opening:
                start -= 1
        return self.any.apart(token[:start]), token[start:end], self.any.apart(token[end:])


def _is_dash(mark: str) -> bool:
    """Whether a mark is a dash other than the hyphen, which belongs to words."""
    return mark not in HYPHENS and all(unicodedata.category(character) == "Pd" for character in mark)


class RunsOfMarks:
    r"""Finds runs of adjacent marks (at least one is known) in linear time.

    A regular expression such as ``(?:\.|\.\.|\.\.\.)*$`` would take exponential time.
    """

    def __init__(self, marks: Iterable[str]) -> None:
        self._marks = frozenset(marks)
        self._backwards = frozenset(mark[::-1] for mark in self._marks)
        self._sizes = sorted({len(mark) for mark in self._marks}, reverse=True)

    def end_of_first(self, text: str) -> int:
        """Where the longest run at the beginning of a text ends."""
        return self._reached(text, self._marks).rindex(True)

    def start_of_last(self, text: str) -> int:
        """Where the longest run at the end of a text starts."""
        return self._leading_to_the_end(text).index(True)

    def apart(self, text: str) -> list[str]:
        """The marks of a run, longest first; the text itself if it is not a run."""
        leads = self._leading_to_the_end(text)
        if not leads[0]:
            return [text]
        marks, place = [], 0
        while place < len(text):
            following = (text[place : place + size] for size in self._sizes)
            mark = next(mark for mark in following if mark in self._marks and leads[place + len(mark)])
            marks.append(mark)
            place += len(mark)
        return marks

    def _leading_to_the_end(self, text: str) -> bytearray:
        """For each place and the end, whether the rest is a run."""
        return self._reached(text[::-1], self._backwards)[::-1]

    def _reached(self, text: str, marks: frozenset[str]) -> bytearray:
        """For each place and the end, whether what comes before is a run of marks."""
        reached = bytearray([True]) + bytearray(len(text))
        place = end = 0
        while place <= end:
            for size in self._sizes if reached[place] else ():
                if place + size <= len(text) and text[place : place + size] in marks:
                    reached[place + size] = True
                    end = max(end, place + size)
            place += 1
        return reached
