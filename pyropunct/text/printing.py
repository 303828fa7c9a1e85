"""Prints words and marks as text."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from pyropunct.text.conventions import Conventions, Written, at_the_beginning
from pyropunct.text.marks import ABBREVIATION_DOT, START, UNKNOWN, Surface, marks_of
from pyropunct.text.raw_sentence import Slot
from pyropunct.text.words import require_words


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
            real = [mark for mark in marks if mark not in (START, ABBREVIATION_DOT)]
            merged = int(dot and real[:1] == ["."])
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
