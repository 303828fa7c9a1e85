r"""Stretches of text that consist of marks, found in time that is linear in their length.

A regular expression such as ``(?:\.|\.\.|\.\.\.)*$`` tries every way to take dots together, and there are
exponentially many.  Here each place is looked at once for each length that a mark may have.
"""

from collections.abc import Iterable


class RunsOfMarks:
    """Finds runs of marks, each directly after the one before.

    :param marks: not empty.
    """

    def __init__(self, marks: Iterable[str]) -> None:
        self._marks = frozenset(marks)
        self._sizes = sorted({len(mark) for mark in self._marks}, reverse=True)

    def end_of_first(self, text: str) -> int:
        """Where the longest run at the beginning of a text ends."""
        reached = bytearray([True]) + bytearray(len(text))
        place = end = 0
        while place <= end:
            for size in self._sizes if reached[place] else ():
                if place + size <= len(text) and text[place : place + size] in self._marks:
                    reached[place + size] = True
                    end = max(end, place + size)
            place += 1
        return end

    def start_of_last(self, text: str) -> int:
        """Where the longest run at the end of a text starts."""
        return self._leading_to_the_end(text).index(True)

    def apart(self, text: str) -> list[str]:
        """The marks of a run, the longest first where there is a choice; the text itself if it is no run."""
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
        """For each place, the end too, whether what is behind it is a run."""
        leads = bytearray(len(text)) + bytearray([True])
        place = start = len(text)
        while place >= start:
            for size in self._sizes if leads[place] else ():
                if size <= place and text[place - size : place] in self._marks:
                    leads[place - size] = True
                    start = min(start, place - size)
            place -= 1
        return leads
