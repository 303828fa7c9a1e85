"""A line or a sentence of raw text: its words, the marks and spaces between, and how they are printed."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from pyropunct.text.conventions import Conventions, Written, at_the_beginning
from pyropunct.text.marks import ABBREVIATION_DOT, START, UNKNOWN, Surface, marks_of, real_marks
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
        """The white space between the two words, to keep beside other marks; None if marks fill the slot."""
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
    :ivar from_running_text: whether it is a sentence of running text, whose case is decided.
    :ivar settled: whether it stays as it is, because it is code or markup, or in another language.
    :ivar goes_on: whether it is followed by another sentence of its paragraph.
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
    from_running_text: bool = False
    settled: bool = False
    goes_on: bool = False
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

    def as_it_is(self) -> "RawSentence":
        """The sentence, settled: nothing in it is changed."""
        return replace(self, fixed=frozenset(range(1, len(self.words) + 1)), settled=True)

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
        """The slots where no mark is put: inside written words and telephone numbers, and beside symbols.

        Symbols are words such as "=" and ":)".
        """
        symbols = [number for number, word in enumerate(self.words, 1) if is_symbol(word)]
        digits = [word.isdecimal() and len(word) > 1 for word in self.words]
        of_call = (n for n in range(1, len(digits) - 1) if all(digits[n - 1 : n + 2]))
        number_slots = (slot for place in of_call for slot in (place, place + 1))
        return sorted({*self.inside, *symbols, *(number - 1 for number in symbols), *number_slots})

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


SHOWN = 40
"""Characters of a string that an error shows."""


def require_words(words: object) -> None:
    """Raise `TypeError` if the words of a sentence are one string."""
    if isinstance(words, str):
        start = words if len(words) <= SHOWN else words[:SHOWN] + "..."
        raise TypeError(f"{start!r} is a string: a sequence of words is needed, such as its split()")


class PlacedToken(NamedTuple):
    """A word or mark in its slot (i for the i-th word), with the original space, if its slot stays."""

    written: Written
    slot: int
    space: str | None = None


def print_words(
    words: Sequence[str],
    surface: Surface,
    conventions: Conventions,
    *,
    capital: bool = False,
    slots: Sequence[Slot] | None = None,
) -> str:
    """The text of n words with punctuation in the slots 0..n; ``capital`` capitalises its first word.

    An abbreviation dot becomes part of the word before its slot, and absorbs a period directly after it.
    Unknown marks are skipped.

    :param slots: the original slots of a text.  A slot with the same marks stays.  Elsewhere marks come
        before the white space between words, opening ones after it.
    """
    return as_text(*placed_tokens(words, surface, conventions, capital=capital, slots=slots))


def placed_tokens(
    words: Sequence[str],
    surface: Surface,
    conventions: Conventions,
    *,
    capital: bool,
    slots: Sequence[Slot] | None,
) -> tuple[list[PlacedToken], list[str]]:
    """Words and marks as `print_words` writes them, and the white space between neighbours."""
    require_words(words)
    if len(surface) != len(words) + 1:
        raise ValueError(f"{len(words)} words have {len(words) + 1} slots, not {len(surface)}")
    tokens: list[PlacedToken] = []
    space: str | None = None
    for number, marks in enumerate(surface):
        dot = number > 0 and ABBREVIATION_DOT in marks
        if number:
            word = at_the_beginning(words[0]) if capital and number == 1 else words[number - 1]
            tokens.append(PlacedToken(Written(word + "." * dot), number, space))
        there = Slot() if slots is None else slots[number]
        same = slots is not None and marks_of(marks) == there.tokens
        space = there.space if same else None
        if same:
            kept = (mark for mark in there.marks if not (dot and mark.token == ABBREVIATION_DOT))
            tokens += [PlacedToken(Written(form, token), number, before) for token, form, before in kept]
        else:
            forms = {mark.token: mark.form for mark in there.marks}
            real = real_marks(marks)
            merged = int(dot and real[:1] == (".",))
            new = map(conventions.written, (mark for mark in real[merged:] if mark != UNKNOWN))
            tokens += [PlacedToken(Written(forms.get(mark, form), mark), number) for form, mark in new]
    return tokens, _spaces(tokens, conventions, slots)


def _spaces(
    tokens: Sequence[PlacedToken], conventions: Conventions, slots: Sequence[Slot] | None
) -> list[str]:
    spaces: list[str] = []
    first = 0  # the place of the first white space of the slot, which is that behind the word before it
    for left, right in pairwise(tokens):
        is_first = not left.written.mark
        first = len(spaces) if is_first else first
        if right.space is not None:
            spaces.append(right.space)
            continue
        spaces.append(" " * conventions.spacing.space(left.written, right.written))
        gap = slots[left.slot].gap if slots is not None and left.slot and not right.written.mark else None
        if gap is not None and is_first:
            spaces[-1] = gap
        elif gap:
            _put(gap, spaces, first)
    return spaces


def _put(gap: str, spaces: list[str], first: int) -> None:
    """Put white space between two words at the last place that the marks allow, or around a dash."""
    places = [place for place in range(first, len(spaces)) if spaces[place]]
    if not places:
        spaces[first] = " "
    spaces[places[-1] if places else -1] = gap


def as_text(tokens: Sequence[PlacedToken], spaces: Sequence[str]) -> str:
    """The text of tokens, with spaces between neighbours and maybe behind the last."""
    pairs = zip(tokens, (*spaces, ""), strict=False)  # without tokens, there is one space too many
    return "".join(token.written.form + space for token, space in pairs)
