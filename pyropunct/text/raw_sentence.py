"""A line or a sentence of raw text: its words, and the marks and spaces between them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from pyropunct.text.marks import START, Surface
from pyropunct.text.prose import is_symbol

if TYPE_CHECKING:
    from numpy.typing import NDArray


class WrittenMark(NamedTuple):
    """A mark, directed and as written, and the white space before it."""

    token: str
    form: str
    space: str = ""


class Slot(NamedTuple):
    """The marks (abbreviation dots too) between neighbouring words, and the white space behind them."""

    marks: tuple[WrittenMark, ...] = ()
    space: str = ""

    @property
    def tokens(self) -> tuple[str, ...]:
        """The marks alone."""
        return tuple(mark.token for mark in self.marks)

    @property
    def text(self) -> str:
        """The slot as written."""
        return "".join(mark.space + mark.form for mark in self.marks) + self.space

    @property
    def gap(self) -> str | None:
        """The white space between the words for other marks; None where marks stand without any."""
        spaces = [*(mark.space for mark in self.marks), self.space]
        return next(filter(None, reversed(spaces)), None if self.marks else "")

    def joined(self, space: str, other: "Slot") -> "Slot":
        """This slot followed by white space and another slot."""
        space = self.space + space
        if not other.marks:
            return Slot(self.marks, space + other.space)
        first, *more = other.marks
        return Slot((*self.marks, first._replace(space=space + first.space), *more), other.space)

    def cut(self, place: int) -> "tuple[Slot, str, Slot]":
        """Its parts before mark number ``place`` (from 0) and from there on, and the white space between."""
        if place == len(self.marks):
            return Slot(self.marks), self.space, Slot()
        first, *more = self.marks[place:]
        return Slot(self.marks[:place]), first.space, Slot((first._replace(space=""), *more), self.space)


class Multiword(NamedTuple):
    """A written word, without abbreviation dot, that was read as the words ``first`` to ``last``, from 1."""

    first: int
    last: int
    text: str

    def contracted(self, words: Sequence[str]) -> bool:
        """Whether it differs from its words side by side, as French "du" does."""
        return "".join(words[self.first - 1 : self.last]) != self.text


@dataclass(frozen=True)
class RawSentence:
    """A sentence of raw text: a line, or a sentence of running text.

    :ivar text: the original line; for running text, what follows ``before``.
    :ivar fixed: the words, counted from 1, whose case stays, such as code.
    :ivar before: the white space at the beginning of the line, with list markers.
    :ivar behind: the white space at its end.
    :ivar end: the line end, or what separates it from the next sentence in running text.
    :ivar found: whether it is a sentence of running text, whose case is decided.
    :ivar settled: whether it stays as it is, because it is code or markup.
    :ivar number: its number among the sentences that begin in its line, counted from 1.
    :ivar marks: (n, labels) the reader's probabilities of the strings behind its words.
    """

    line: int
    text: str
    words: tuple[str, ...]
    slots: tuple[Slot, ...]
    multiwords: tuple[Multiword, ...] = ()
    fixed: frozenset[int] = frozenset()
    before: str = ""
    behind: str = ""
    end: str = "\n"
    found: bool = False
    settled: bool = False
    number: int = 1
    marks: "NDArray[Any] | None" = field(default=None, compare=False)

    @cached_property
    def surface(self) -> tuple[tuple[str, ...], ...]:
        """Its punctuation, in the slots 0..n."""
        first, *others = (slot.tokens for slot in self.slots)
        return ((START, *first), *others)

    @property
    def identifier(self) -> str:
        """Its unique line and, if it is not the first there, its number."""
        return str(self.line) if self.number == 1 else f"{self.line}-{self.number}"

    def part(self, first: int, last: int) -> "RawSentence":
        """The words between two slots, as a line of its own, without the marks of the first slot."""
        shifted = (
            multiword._replace(first=multiword.first - first, last=multiword.last - first)
            for multiword in self.multiwords
        )
        start = self.slots[0] if first == 0 else Slot()
        return RawSentence(
            self.line,
            self.text,
            self.words[first:last],
            (start, *self.slots[first + 1 : last + 1]),
            tuple(
                multiword for multiword in shifted if multiword.first > 0 and multiword.last <= last - first
            ),
            frozenset(word - first for word in self.fixed if first < word <= last),
        )

    @property
    def inside(self) -> list[int]:
        """The slots inside written words, where no mark can stand."""
        return [slot for multiword in self.multiwords for slot in range(multiword.first, multiword.last)]

    @cached_property
    def closed(self) -> list[int]:
        """The slots where no mark is put: inside written words, and beside symbols, such as "=" and ":)"."""
        symbols = [number for number, word in enumerate(self.words, 1) if is_symbol(word)]
        return sorted({*self.inside, *symbols, *(number - 1 for number in symbols)})

    def as_written(self, surface: Surface) -> tuple[Sequence[str], Surface, Sequence[Slot]]:
        """The written words, with the marks of a surface around them, and the original slots."""
        texts, closed = list(self.words), set(self.inside)
        for multiword in self.multiwords:
            texts[multiword.first - 1] = multiword.text
        kept = [slot for slot in range(len(surface)) if slot not in closed]
        starts = [slot for slot in kept if slot < len(texts)]
        return (
            [texts[slot] for slot in starts],
            [surface[slot] for slot in kept],
            [self.slots[slot] for slot in kept],
        )


def line_of(words: Sequence[str]) -> RawSentence:
    """Words as a line of raw text without punctuation."""
    slots = (Slot(), *[Slot(space=" ")] * (len(words) - 1), *[Slot()] * bool(words))
    return RawSentence(1, " ".join(words), tuple(words), slots)
