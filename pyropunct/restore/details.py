"""The words of restored text with their offsets, and the marks around them with probabilities."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from pyropunct.restore.restoring import Restored, Source
from pyropunct.text.conventions import Conventions
from pyropunct.text.marks import ABBREVIATION_DOT, marks_of, parted
from pyropunct.text.raw_sentence import RawSentence

Marks = tuple[str, ...]

CLOSING, OPENING = slice(0, 1), slice(1, 2)
"""The part of the marks between two words that belongs to the first, and to the second."""


class Side(NamedTuple):
    """The marks on one side of a word.

    :ivar others: the likeliest alternative, maybe none; a threshold can make it likelier than ``marks``.
    :ivar others_probability: of the alternative; 0 if none was drawn.
    """

    marks: Marks
    probability: float
    others: Marks
    others_probability: float


class Word(NamedTuple):
    """A word of restored text, its offsets in characters, and the marks before and behind it."""

    text: str
    start: int
    end: int
    before: Side
    behind: Side

    def to_json(self) -> dict[str, Any]:
        """Plain types of JSON."""
        sides = {"before": self.before._asdict(), "behind": self.behind._asdict()}
        return {**self._asdict(), **sides}


def length(source: Source) -> int:
    """The length of a sentence of raw text in characters, with its line end."""
    if not isinstance(source, RawSentence):
        return 0
    return len(source.before) * source.found + len(source.text) + len(source.end)


def details_of_text(sentences: Iterable[Restored], conventions: Conventions) -> list[Word]:
    """The words of a text, given all of its sentences: see `details`."""
    words, start = list[Word](), 0
    for restored in sentences:
        words += details(restored, conventions, start)
        start += length(restored.source)
    return words


def details(restored: Restored, conventions: Conventions, start: int) -> Iterator[Word]:
    """The written words of a sentence of raw text that starts at an offset, in characters."""
    source = restored.source
    if not isinstance(source, RawSentence) or not restored.shares:
        return
    whole = source.before * source.found + source.text
    forms, surface, slots = source.as_written(restored.surface)
    inside = set(source.inside)
    shares = [share for slot, share in enumerate(restored.shares) if slot not in inside]
    place = len(source.before) + len(slots[0].text)
    for number, (form, slot) in enumerate(zip(forms, slots[1:], strict=True)):
        end = _end(whole, place, form)
        dotted = end + sum(len(mark.form) for mark in slot.marks[:1] if mark.token == ABBREVIATION_DOT)
        before = _side(surface[number], shares[number], conventions, slice(None) if number == 0 else OPENING)
        after, is_last = number + 1, number + 1 == len(forms)
        behind = _side(surface[after], shares[after], conventions, slice(None) if is_last else CLOSING)
        yield Word(whole[place:dotted], start + place, start + dotted, before, behind)
        place = end + len(slot.text)


def _end(text: str, place: int, form: str) -> int:
    """Where a word ends in a text; another case may have changed its length."""
    lengths = sorted(range(1, len(form) + 2), key=lambda size: abs(size - len(form)))
    fits = (size for size in lengths if text[place : place + size].casefold() == form.casefold())
    return place + next(fits, len(form))


def _side(
    string: Sequence[str], shares: Mapping[Marks, float], conventions: Conventions, part: slice
) -> Side:
    """The marks of a slot on one side, with summed probabilities; ``part`` is a part of `parted`."""

    def written(marks: Sequence[str]) -> Marks:
        parts = parted([mark for mark in marks_of(marks) if mark != ABBREVIATION_DOT])[part]
        return tuple(conventions.written(mark).form for mark in chain.from_iterable(parts))

    probability = defaultdict[Marks, float](float)
    for marks, share in shares.items():
        probability[written(marks)] += share
    chosen = written(string)
    of_chosen = probability.pop(chosen)
    others: Marks = max(probability, key=lambda marks: probability[marks], default=())
    return Side(
        chosen, min(of_chosen, 1.0), others, min(probability.get(others, 0.0), 1.0)
    )  # sums are rounded
