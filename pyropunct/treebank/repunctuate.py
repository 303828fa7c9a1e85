"""The tokens of a sentence with other punctuation; kept neighbours keep the space between them."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import NamedTuple

from pyropunct.text.conventions import Conventions, Written
from pyropunct.text.marks import ABBREVIATION_DOT, STRAIGHT, UNKNOWN, Surface, real_marks, space_between_words
from pyropunct.treebank.conllu_block import FORM, MultiwordRange
from pyropunct.treebank.layout import Layout, original_spaces

USUAL = Conventions()
"""The usual rules of spacing, without those of a treebank."""


@dataclass(frozen=True, slots=True)
class Item:
    """A token of the new sentence; ``token`` is its original id, 0 if new.

    :ivar slot: the slot of a mark; i for the i-th word.
    """

    form: str
    token: int
    slot: int
    mark: str = ""


def arrange(layout: Layout, surface: Surface, conventions: Conventions = USUAL) -> list[Item]:
    """The words of the sentence with the marks of ``surface`` between them.

    An abbreviation dot becomes part of the word before its slot, and a period directly after it is written
    only if both were in the original.  An unknown mark becomes the original mark in its place, if any.
    """
    if len(surface) != len(layout.words) + 1:
        raise ValueError(f"{len(layout.words)} words have {len(layout.words) + 1} slots, not {len(surface)}")
    style = {**conventions.quotes, **quote_style(layout)}
    items = []
    for slot, marks in enumerate(surface):
        if slot:
            items.append(_word(layout, slot, ABBREVIATION_DOT in marks))
        items.extend(_slot_items(layout, slot, marks, style))
    return items


def _word(layout: Layout, word: int, dot: bool) -> Item:
    token = layout.words[word - 1]
    form = layout.form(token)
    had_dot = ABBREVIATION_DOT in layout.surface[word]
    if had_dot and not dot:
        form = form[:-1]
    elif dot and not had_dot:
        form += "."
    return Item(form, token, word)


def _slot_items(layout: Layout, slot: int, marks: Sequence[str], style: dict[str, str]) -> Iterator[Item]:
    """Align the new marks of a slot with its old ones; aligned marks remain the tokens that they were."""
    old = real_marks(layout.surface[slot])
    new = real_marks(marks)
    tokens = layout.marks[slot]
    had_dot = ABBREVIATION_DOT in layout.surface[slot]
    has_dot = slot > 0 and ABBREVIATION_DOT in marks
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for change, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        for offset, mark in enumerate(new[new_start:new_end]):
            position = old_start + offset
            stays = change == "equal" or (mark == UNKNOWN and position < old_end)
            # "etc." at the end of a sentence has one dot, unless the original had two.
            merged = has_dot and mark == "." and new_start + offset == 0 and not (stays and had_dot)
            if stays and not merged:
                yield Item(layout.form(tokens[position]), tokens[position], slot, old[position])
            elif mark != UNKNOWN and not merged:
                yield Item(style.get(mark, mark), 0, slot, mark)


def quote_style(layout: Layout) -> dict[str, str]:
    """The form of each mark that this sentence writes in another way, mostly straight quotation marks."""
    style: dict[str, str] = {}
    for token, mark in layout.directed():
        form = layout.form(token)
        if form != mark:
            style[mark] = form
            if form not in ("``", "`"):
                style |= {other: style.get(other, form) for other in STRAIGHT.get(form, ())}
    return style


def kept_ranges(layout: Layout, items: Sequence[Item]) -> dict[int, MultiwordRange]:
    """The multiword tokens in which no mark was added or removed, by the position of their first item."""
    positions = {item.token: position for position, item in enumerate(items) if item.token}
    kept = {}
    for multiword in layout.block.ranges:
        start = positions.get(multiword.first)
        length = multiword.last - multiword.first
        if start is not None and positions.get(multiword.last) == start + length:
            inside = items[start : start + length + 1]
            if [item.token for item in inside] == list(range(multiword.first, multiword.last + 1)):
                kept[start] = multiword
    return kept


def range_form(layout: Layout, multiword: MultiwordRange, last: Item) -> str:
    """The form of a multiword token, whose last word may have lost or gained its abbreviation dot."""
    form = multiword.columns[FORM]
    old = layout.form(last.token)
    if last.form == old + ".":
        return form + "."
    if last.form + "." == old:
        return form.removesuffix(".") or form
    return form


def units(layout: Layout, items: Sequence[Item]) -> Iterator[tuple[str, int, int]]:
    """The multiword tokens and the other items: the form, and the places of the first item and the last."""
    ranges, first = kept_ranges(layout, items), 0
    while first < len(items):
        form, last = items[first].form, first
        if first in ranges:
            last += ranges[first].last - ranges[first].first
            form = range_form(layout, ranges[first], items[last])
        yield form, first, last
        first = last + 1


def spaces_after(layout: Layout, items: Sequence[Item], conventions: Conventions = USUAL) -> list[bool]:
    """Whether a space follows each item; ``conventions`` decide between items that were not neighbours."""
    original = original_spaces(layout.block)
    spaces = []
    for left, right in pairwise(items):
        if left.token and right.token == left.token + 1:
            spaces.append(original[left.token])
        else:
            written = (Written(item.form, item.mark) for item in (left, right))
            spaces.append(conventions.spacing.space(*written))
    return [*spaces, original[-1]]


def written_words(layout: Layout, apart: Collection[int]) -> list[str]:
    """The n words as the original writes them, for display with spaces between them.

    Words written together, as in French "du" or "l'UE", become one text followed by empty ones, except at
    slots in ``apart`` and in scripts without spaces.
    """
    items = []
    for word in range(1, len(layout.words) + 1):
        items.append(_word(layout, word, dot=False))
        if word in apart:
            items.append(Item("", 0, word, "\t"))
    spaces, texts = spaces_after(layout, items), list[str]()
    whole, together = 0, False  # the text that the next word may belong to, and whether it does
    for form, first, last in units(layout, items):
        if items[first].mark:
            together = False
            continue
        if not together:
            whole = len(texts)
        texts += [""] * (last + 1 - first)
        texts[whole] += form
        following = items[last + 1].form if last + 1 < len(items) else ""
        together = not spaces[last] and following != "" and space_between_words(items[last].form, following)
    return texts


class Printed(NamedTuple):
    """A text, and the start and end of each item; the words of a multiword token share a place."""

    text: str
    places: tuple[tuple[int, int], ...]


def printed(layout: Layout, items: Sequence[Item], conventions: Conventions = USUAL) -> Printed:
    """The text of the items, and where they stand in it; see `spaces_after`."""
    spaces = spaces_after(layout, items, conventions)
    text, places = "", list[tuple[int, int]]()
    for form, first, last in units(layout, items):
        places += [(len(text), len(text) + len(form))] * (last + 1 - first)
        text += form + " " * spaces[last]
    return Printed(text.rstrip(" "), tuple(places))
