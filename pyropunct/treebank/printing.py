"""Punctuated words as text and as CoNLL-U, made from words and marks alone, without an original layout."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from pyropunct.treebank.conllu_writer import as_written
from pyropunct.treebank.conventions import Conventions, Written, at_the_beginning
from pyropunct.treebank.marks import ABBREVIATION_DOT, DOUBLE, SINGLE, START, UNKNOWN, Surface
from pyropunct.treebank.sentence import mark_heads
from pyropunct.treebank.tree import Tree, require_words

_OPENING = (DOUBLE[0], SINGLE[0])


class _Token(NamedTuple):
    """A word or a mark in its place.

    :ivar written: how it is written.
    :ivar slot: for a mark, the slot in which it stands; for the i-th word, i.
    """

    written: Written
    slot: int


Gaps = Sequence[str | None]
"""For each of the slots 0..n the white space that stood there, empty where two words touched; None where only
marks stood, so that it is not known."""


def print_words(
    words: Sequence[str],
    surface: Surface,
    conventions: Conventions,
    *,
    capital: bool = False,
    gaps: Gaps | None = None,
) -> str:
    """The text of n words with punctuation in the slots 0..n.

    Spaces and quotation marks follow the conventions.  An abbreviation dot becomes part of the word before
    its slot, and absorbs a period directly after it.  Unknown marks are left out.

    :param conventions: those of a treebank.
    :param capital: whether the first word gets a capital letter; a word that has one anywhere stays.
    :param gaps: the white space between the words, which is kept where there is no mark; behind marks a line
        break is kept in the place of a space.
    :raises ValueError: if there are not n + 1 slots.
    :raises TypeError: if the words are one string.
    """
    tokens = _tokens(words, surface, conventions, capital)
    return _text(tokens, [_space(*pair, conventions, gaps) for pair in pairwise(tokens)])


def print_conllu(
    tree: Tree,
    surface: Surface,
    conventions: Conventions,
    identifier: str,
    *,
    capital: bool = False,
    gaps: Gaps | None = None,
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
    :raises ValueError: if the tree has n words and there are not n + 1 slots.
    """
    tokens = _tokens(tree.forms, surface, conventions, capital)
    spaces = [" " if _space(*pair, conventions, gaps) else "" for pair in pairwise(tokens)]
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


def _word_columns(token: _Token, tree: Tree, heads: Sequence[int]) -> list[str]:
    """The columns FORM to DEPREL of a word."""
    word = token.slot - 1
    return [token.written.form, "_", tree.tags[word], "_", "_", str(heads[word]), tree.relations[word]]


def _mark_columns(token: _Token, heads: Sequence[int]) -> list[str]:
    """The columns FORM to DEPREL of a mark.  The tag of a straight quotation mark tells its direction."""
    form, mark = token.written
    tag = "_" if form == mark else "``" if mark in _OPENING else "''"
    return [form, form, "PUNCT", tag, "_", str(heads[token.slot]), "punct"]


def _tokens(words: Sequence[str], surface: Surface, conventions: Conventions, capital: bool) -> list[_Token]:
    require_words(words)
    if len(surface) != len(words) + 1:
        raise ValueError(f"{len(words)} words have {len(words) + 1} slots, not {len(surface)}")
    tokens = []
    for slot, marks in enumerate(surface):
        dot = slot > 0 and ABBREVIATION_DOT in marks
        if slot:
            word = at_the_beginning(words[0]) if capital and slot == 1 else words[slot - 1]
            tokens.append(_Token(Written(word + "." * dot), slot))
        tokens += [_Token(conventions.written(mark), slot) for mark in _printed(marks, dot)]
    return tokens


def _printed(marks: Sequence[str], dot: bool) -> Iterator[str]:
    """The marks of a slot that are printed.

    :param dot: whether they follow an abbreviation dot.
    """
    real = [mark for mark in marks if mark not in (START, ABBREVIATION_DOT)]
    if dot and real[:1] == ["."]:
        del real[0]
    return (mark for mark in real if mark != UNKNOWN)


def _space(left: _Token, right: _Token, conventions: Conventions, gaps: Gaps | None) -> str:
    """The white space between two neighbours."""
    gap = gaps[left.slot] if gaps is not None and not right.written.mark else None
    if gap is not None and not left.written.mark:
        return gap
    if not conventions.spacing.space(left.written, right.written):
        return ""
    return gap if gap is not None and "\n" in gap else " "


def _text(tokens: Sequence[_Token], spaces: Sequence[str]) -> str:
    pairs = zip(tokens, (*spaces, ""), strict=False)  # without tokens, there is one space too many
    return "".join(token.written.form + space for token, space in pairs)
