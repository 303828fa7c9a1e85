"""Punctuated words as text and as CoNLL-U, made from words and marks alone, without an original layout."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from pyropunct.text.marks import ABBREVIATION_DOT, DOUBLE, SINGLE, START, UNKNOWN, Surface, marks_of
from pyropunct.treebank.conllu_writer import as_written
from pyropunct.treebank.conventions import Conventions, Written, at_the_beginning
from pyropunct.treebank.sentence import mark_heads
from pyropunct.treebank.tree import Tree, require_words

_OPENING = (DOUBLE[0], SINGLE[0])


class WrittenMark(NamedTuple):
    """A mark of a text.

    :ivar token: the mark; a quotation mark is directed.
    :ivar form: how it is written.
    :ivar space: the white space in front of it.
    """

    token: str
    form: str
    space: str = ""


class Slot(NamedTuple):
    """What stands between two neighbouring words of a text, or at its beginning or end.

    :ivar marks: the marks, an abbreviation dot included.
    :ivar space: the white space behind them, or between the words if there are none.
    """

    marks: tuple[WrittenMark, ...] = ()
    space: str = ""

    @property
    def tokens(self) -> tuple[str, ...]:
        """The marks alone."""
        return tuple(mark.token for mark in self.marks)

    @property
    def text(self) -> str:
        """The slot as it is written."""
        return "".join(mark.space + mark.form for mark in self.marks) + self.space

    @property
    def gap(self) -> str | None:
        """The white space between the words, which other marks leave; None where marks stand without any."""
        spaces = [*(mark.space for mark in self.marks), self.space]
        return next(filter(None, reversed(spaces)), None if self.marks else "")

    def joined(self, space: str, other: "Slot") -> "Slot":
        """The slot that this one makes with another, with more white space between them."""
        space = self.space + space
        if not other.marks:
            return Slot(self.marks, space + other.space)
        first, *more = other.marks
        return Slot((*self.marks, first._replace(space=space + first.space), *more), other.space)

    def cut(self, place: int) -> "tuple[Slot, str, Slot]":
        """Its parts in front of a mark and from this mark on, and the white space between them.

        :param place: the number of the mark, counted from 0.
        """
        if place == len(self.marks):
            return Slot(self.marks), self.space, Slot()
        first, *more = self.marks[place:]
        return Slot(self.marks[:place]), first.space, Slot((first._replace(space=""), *more), self.space)


class _Token(NamedTuple):
    """A word or a mark in its place.

    :ivar written: how it is written.
    :ivar slot: for a mark, the slot in which it stands; for the i-th word, i.
    :ivar space: the white space that stood in front of it, if its slot is as it was.
    """

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
    """The text of n words with punctuation in the slots 0..n.

    Spaces and quotation marks follow the conventions.  An abbreviation dot becomes part of the word before
    its slot, and absorbs a period directly after it.  Unknown marks are left out.

    :param conventions: those of a treebank.
    :param capital: whether the first word gets a capital letter; a word that has one anywhere stays.
    :param slots: what stood in the slots of a text.  A slot with the same marks stays as it is.  Elsewhere
        white space between words stays: marks come in front of it, opening ones behind it.
    :raises ValueError: if there are not n + 1 slots.
    :raises TypeError: if the words are one string.
    """
    tokens = _tokens(words, surface, conventions, capital, slots)
    return _text(tokens, _spaces(tokens, conventions, slots))


def print_conllu(
    tree: Tree,
    surface: Surface,
    conventions: Conventions,
    identifier: str,
    *,
    capital: bool = False,
    slots: Sequence[Slot] | None = None,
    text: str | None = None,
    multiword: Mapping[int, tuple[int, str]] | None = None,
) -> str:
    """The tree with its punctuation as CoNLL-U, and the blank line behind it.

    Words and marks are written as by `print_words`, with single spaces.  A mark depends, with relation
    ``punct``, on the highest word from which its arc crosses no other arc.

    :param identifier: for the comment ``sent_id``.
    :param text: the text, if it is not just words and marks.
    :param multiword: for the first word of each multiword token the last word, and its form; no mark stands
        inside.
    :raises ValueError: if the tree has n words and there are not n + 1 slots, or if a word, a tag or a
        relation is empty or has a tab or a line end, so that nobody could read it again.
    """
    _require_readable((*tree.forms, *tree.tags, *tree.relations))
    _require_readable(form for _, form in (multiword or {}).values())
    tokens = _tokens(tree.forms, surface, conventions, capital, slots)
    spaces = [" " if space else "" for space in _spaces(tokens, conventions, slots)]
    numbers = [0, *(number for number, token in enumerate(tokens, 1) if not token.written.mark)]
    word_heads = [numbers[head] for head in tree.heads]
    heads_of_marks = [numbers[head] for head in mark_heads(tree)]
    lines = [f"# sent_id = {identifier}", f"# text = {text or _text(tokens, spaces)}"]
    spaces.append(" ")  # the text behind the last token is unknown
    covered = 0
    for number, (token, space) in enumerate(zip(tokens, spaces, strict=True), 1):
        if multiword and not token.written.mark and token.slot in multiword:
            last, form = multiword[token.slot]
            covered = number + last - token.slot
            lines.append(_range_line(number, covered, form, spaces[covered - 1]))
        space = " " if number <= covered else space
        is_mark = bool(token.written.mark)
        columns = _mark_columns(token, heads_of_marks) if is_mark else _word_columns(token, tree, word_heads)
        lines.append("\t".join([str(number), *columns, "_", "_" if space else "SpaceAfter=No"]))
    return as_written(lines)


def _range_line(first: int, last: int, form: str, space: str) -> str:
    """The line of a multiword token."""
    return "\t".join([f"{first}-{last}", form, *["_"] * 7, "_" if space else "SpaceAfter=No"])


def _require_readable(columns: Iterable[str]) -> None:
    """:raises ValueError: if one of them would not be read again."""
    for column in columns:
        if not column or not set(column).isdisjoint("\t\n\r"):
            raise ValueError(f"{column!r} cannot be written: it is empty, or has a tab or a line end")


def _word_columns(token: _Token, tree: Tree, heads: Sequence[int]) -> list[str]:
    """The columns FORM to DEPREL of a word."""
    word = token.slot - 1
    return [token.written.form, "_", tree.tags[word], "_", "_", str(heads[word]), tree.relations[word]]


def _mark_columns(token: _Token, heads: Sequence[int]) -> list[str]:
    """The columns FORM to DEPREL of a mark.  The tag of a straight quotation mark tells its direction."""
    form, mark = token.written
    tag = "_" if form == mark else "``" if mark in _OPENING else "''"
    return [form, form, "PUNCT", tag, "_", str(heads[token.slot]), "punct"]


def _tokens(
    words: Sequence[str],
    surface: Surface,
    conventions: Conventions,
    capital: bool,
    slots: Sequence[Slot] | None,
) -> list[_Token]:
    require_words(words)
    if len(surface) != len(words) + 1:
        raise ValueError(f"{len(words)} words have {len(words) + 1} slots, not {len(surface)}")
    tokens: list[_Token] = []
    space: str | None = None
    for number, marks in enumerate(surface):
        dot = number > 0 and ABBREVIATION_DOT in marks
        if number:
            word = at_the_beginning(words[0]) if capital and number == 1 else words[number - 1]
            tokens.append(_Token(Written(word + "." * dot), number, space))
        there = Slot() if slots is None else slots[number]
        same = slots is not None and marks_of(marks) == there.tokens
        space = there.space if same else None
        if same:
            kept = (mark for mark in there.marks if not (dot and mark.token == ABBREVIATION_DOT))
            tokens += [_Token(Written(form, token), number, before) for token, form, before in kept]
        else:
            forms = {mark.token: mark.form for mark in there.marks}
            new = map(conventions.written, _printed(marks, dot))
            tokens += [_Token(Written(forms.get(mark, form), mark), number) for form, mark in new]
    return tokens


def _printed(marks: Sequence[str], dot: bool) -> Iterator[str]:
    """The marks of a slot that are printed.

    :param dot: whether they follow an abbreviation dot.
    """
    real = [mark for mark in marks if mark not in (START, ABBREVIATION_DOT)]
    if dot and real[:1] == ["."]:
        del real[0]
    return (mark for mark in real if mark != UNKNOWN)


def _spaces(tokens: Sequence[_Token], conventions: Conventions, slots: Sequence[Slot] | None) -> list[str]:
    """The white space between neighbouring tokens."""
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
    """Put the white space between two words to the last place where marks between them leave some.

    :param spaces: ends with the spaces around the marks; a mark that sticks to both words, as many a dash,
        stands alone instead.
    :param first: the place of the space between the first word and the first mark.
    """
    places = [place for place in range(first, len(spaces)) if spaces[place]]
    if not places:
        spaces[first] = " "
    spaces[places[-1] if places else -1] = gap


def _text(tokens: Sequence[_Token], spaces: Sequence[str]) -> str:
    pairs = zip(tokens, (*spaces, ""), strict=False)  # without tokens, there is one space too many
    return "".join(token.written.form + space for token, space in pairs)
