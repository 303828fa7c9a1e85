"""Splits lines of raw text into words and marks, by the model's marks, words and abbreviations.

A written word can consist of several words, such as French "du".
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, pairwise
from typing import NamedTuple, Protocol

from pyropunct.text.abbreviations import Abbreviations
from pyropunct.text.conventions import Conventions
from pyropunct.text.marks import ABBREVIATION_DOT, direct_quotes, in_common_marks
from pyropunct.text.prose import (
    ADDRESS,
    CODE,
    OPERATOR,
    beginning_of,
    has_text,
    is_between_numbers,
    is_code_line,
    is_mark,
    is_pronounceable,
)
from pyropunct.text.raw_sentence import Multiword, RawSentence, Slot, WrittenMark
from pyropunct.text.split_words import split_word
from pyropunct.text.typed_marks import TypedMarks
from pyropunct.text.unspaced import words_without_spaces

_TOKEN = re.compile(r"[^\s\u200b\ufeff]+")
"""Text without white space, non-breaking included, and without the two characters for a space of no width."""

_QUOTED = re.compile(r"‘([^‘]*?)’(?!\w)")
"""A quotation, whose closing mark is not an apostrophe."""

_OPENED = re.compile(r"\w\([^()]*$")
"""A call whose bracket is closed by a later token, as in "f(x, y)"."""

_BEHIND_DOTS = frozenset(",;:?!")
"""Marks that follow an abbreviation dot, but no period."""

REMEMBERED = 1 << 14
"""Different tokens whose pieces are remembered."""

LONGEST_REMEMBERED = 100
"""Longer tokens are not remembered, for they take much memory and hardly come again."""

_OPEN, _CLOSED = "``", "''"
"""Tags that make a quotation mark opening or closing; see `direct_quotes`."""


class KnownTypes(Protocol):
    """The types that a model knows, such as a `pyropunct.vocabulary.Vocabulary`."""

    @property
    def tokens(self) -> Sequence[str]:
        """Its marks."""
        ...

    @property
    def forms(self) -> Sequence[str]:
        """Its words, lower-cased."""
        ...


class _MarkPiece(NamedTuple):
    """A mark of the text, the space before it, and the tag of a visibly directed quotation mark."""

    form: str
    tag: str = ""
    space: str = ""


class _WordPiece(NamedTuple):
    """A written word, and the words (forms) that it consists of."""

    text: str
    forms: Sequence[str]
    dot: bool = False


_Piece = _MarkPiece | _WordPiece


def _as_one_word(text: str) -> _WordPiece:
    return _WordPiece(text, [text])


class _Found:
    """The words of a line, and the marks and white space of its slots."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.marks: list[list[_MarkPiece]] = [[]]
        self.spaces = [""]
        self.together: list[Multiword] = []
        self.fixed: set[int] = set()
        self._behind_operator = False

    def add_word(self, word: _WordPiece, space: str, *, is_fixed: bool) -> None:
        first, last = len(self.words) + 1, len(self.words) + len(word.forms)
        self.spaces[-1] = space
        self.words += word.forms
        self.marks += [[] for _ in word.forms]
        self.spaces += [""] * len(word.forms)
        self.marks[-1] += [_MarkPiece(".", ABBREVIATION_DOT)] * word.dot
        if last > first:
            self.together.append(Multiword(first, last, word.text))
        operates = OPERATOR.has(word.text)
        if is_fixed or self._behind_operator:
            self.fixed.update(range(first, last + 1))
        if operates:
            self.fixed.add(first - 1)
        self._behind_operator = operates


@dataclass(frozen=True)
class RawReader:
    """Splits raw text into the words and marks of a model.

    - A token is a mark if the model knows it as a mark of prose, see `pyropunct.text.prose`.  Otherwise it
      is a word if the model knows it as a word, such as "&" or ":)".  Any other token is a mark if it can be
      one of prose.  Operators are words, and so are dashes between two numbers.
    - List markers at the beginning of a line belong to its white space.
    - Known marks are split off at both ends of a token: opening ones in front, closing ones behind, dashes
      at either end.  Brackets that close or open within the word stay, as in "f(x)" and "f(x, y)".
    - Known dashes, other than the hyphen, and marks of scripts without spaces split a token that they are in,
      but not between two digits, and not in an address.
    - Chinese and Japanese without spaces are cut into words, if the extra ``unspaced`` is installed.
    - A straight quotation mark behind a digit is a sign of inches or seconds, unless a quotation is open.
    - A mark that the model does not know, such as one of full width, is read as the one that does the same.
    - A dot after an abbreviation belongs to it: after letters with dots between them, after a single capital
      letter, after a word that has a dot in the treebank, and before a mark such as a comma.  A dot after an
      abbreviation of the language belongs to it too; if it is an ordinary word of the treebank as well, such
      as "no" or "art", only before a digit, before a small letter in text with capital letters, and with a
      capital letter inside of a line.
    """

    vocabulary: KnownTypes
    conventions: Conventions

    def read(self, text: str, line: int = 1, end: str = "\n") -> RawSentence:
        """Read line number ``line`` of raw text, which ``end`` ends."""
        if not has_text(text):
            marks = (mark for _, token in _tokens(text) for mark in self._marks.any.apart(token))
            return RawSentence(
                line, text, (), (Slot(tuple(WrittenMark(mark, mark) for mark in marks)),), end=end
            )
        before = text[: beginning_of(text)]
        tokens = list(_tokens(text[len(before) :]))
        behind = text[len(before) + sum(len(space) + len(token) for space, token in tokens) :]
        before += tokens[0][0]
        found = _Found()
        for space, pieces, called in self._read_tokens(tokens):
            for piece in pieces:
                if isinstance(piece, _MarkPiece):
                    found.marks[-1].append(piece._replace(space=space))
                else:
                    found.add_word(piece, space, is_fixed=called or self._is_fixed(piece, found.words))
                space = ""
        slots = tuple(map(Slot, self._directed(found.marks), found.spaces))
        of_words = tuple(found.words), slots, tuple(found.together), frozenset(found.fixed)
        sentence = RawSentence(line, text, *of_words, before, behind, end)
        return sentence.as_it_is() if is_code_line(text) else sentence

    def _is_fixed(self, word: _WordPiece, before: Sequence[str]) -> bool:
        """Whether the case of a word stays, given the words before it."""
        unit = word.dot and bool(before) and before[-1][-1].isdigit()
        known = word.dot or word.text.lower() in self._words or is_pronounceable(word.text)
        return unit or CODE.has(word.text) or not known

    def _read_tokens(self, tokens: Sequence[tuple[str, str]]) -> Iterator[tuple[str, Sequence[_Piece], bool]]:
        """The white space before each token but the first, its pieces, and whether it is inside a call."""
        forms = ["", *(token for _, token in tokens), ""]
        has_capitals = any(map(str.isupper, chain.from_iterable(forms)))
        quoted, called = False, 0
        for number, (space, token) in enumerate(tokens):
            before, behind = forms[number], forms[number + 2]
            pieces = self._pieces_of(token)
            match pieces:
                case _ if is_between_numbers(before, token, behind):
                    pieces = [_as_one_word(token)]
                case [*front, _WordPiece() as word, _MarkPiece(".")] if self._abbreviations.has_between(
                    word.text, before, behind, has_capitals
                ):
                    pieces = [*front, word._replace(dot=True)]
                case [_WordPiece() as word, _MarkPiece(")"), *rest] if called:
                    pieces = [_as_one_word(word.text + ")"), *rest]
                case [_WordPiece() as word, _MarkPiece('"'), *rest] if word.text[-1].isdigit() and not quoted:
                    pieces = [_as_one_word(word.text + '"'), *rest]  # inches, as in 6"
            quoted ^= sum(isinstance(piece, _MarkPiece) and piece.form == '"' for piece in pieces) % 2 == 1
            yield space if number else "", pieces, called > 0
            for text in (piece.text for piece in pieces if isinstance(piece, _WordPiece)):
                called += (text.count("(") - text.count(")")) * bool(called or _OPENED.search(text))

    def _directed(self, slots: Sequence[Sequence[_MarkPiece]]) -> Iterator[tuple[WrittenMark, ...]]:
        """The marks of each slot, quotation marks directed."""
        marks = [mark for slot in slots for mark in slot]
        forms = in_common_marks([mark.form for mark in marks], self._marks.narrow)
        directed = iter(direct_quotes(forms, [mark.tag for mark in marks]))
        for slot in slots:
            tokens = islice(directed, len(slot))
            yield tuple(
                WrittenMark(
                    ABBREVIATION_DOT if mark.tag == ABBREVIATION_DOT else token, mark.form, mark.space
                )
                for mark, token in zip(slot, tokens, strict=True)
            )

    def _pieces_of(self, token: str) -> Sequence[_Piece]:
        if len(token) > LONGEST_REMEMBERED:
            return tuple(self._pieces(token))
        if token not in self._remembered:
            if len(self._remembered) == REMEMBERED:
                self._remembered.clear()
            self._remembered[token] = tuple(self._pieces(token))
        return self._remembered[token]

    @cached_property
    def _remembered(self) -> dict[str, Sequence[_Piece]]:
        return {}

    def _pieces(self, token: str) -> Iterator[_Piece]:
        known = token.lower() in self._words
        if token in self._marks.known or (not known and is_mark(token)):
            yield from map(_MarkPiece, self._marks.any.apart(token))
        elif known or not has_text(token):
            yield _WordPiece(token, self._words_of(token))
        elif ADDRESS.has(token):
            yield from self._word(token)
        else:
            yield from self._split(token)

    def _split(self, token: str) -> Iterator[_Piece]:
        """An unknown token, split at the marks inside it."""
        start = 0
        for separator in self._marks.separators.finditer(token):
            first, end = separator.span()
            if not (token[max(0, first - 1) : first].isdigit() and token[end : end + 1].isdigit()):
                yield from self._word(token[start:first])
                yield _MarkPiece(separator.group())
                start = end
        yield from self._word(token[start:])

    def _word(self, token: str) -> Iterator[_Piece]:
        """A word with marks at its ends."""
        front, core, back = self._marks.peeled(token)
        yield from (_MarkPiece(form, _OPEN) for form in front)
        if core:
            dot = back[:1] == ["."] and (self._abbreviations.has(core) or bool(_BEHIND_DOTS & set(back[1:2])))
            *others, last = words_without_spaces(core)
            yield from map(_as_one_word, others)
            yield _WordPiece(last, self._words_of(last), dot)
            back = back[dot:]
        yield from (_MarkPiece(form, _CLOSED) for form in back)

    def _words_of(self, token: str) -> list[str]:
        """The words that the treebank makes of a written word.  Known words have no clitics."""
        clitics = ((), ()) if token.lower() in self._words else self._clitics
        return split_word(token, self.conventions.splits, *clitics)

    @cached_property
    def _clitics(self) -> tuple[list[str], list[str]]:
        """The clitics at the beginning and at the end of words."""
        spacing = self.conventions.spacing
        return self._signed(spacing.proclitics), self._signed(spacing.enclitics)

    def _signed(self, clitics: Iterable[str]) -> list[str]:
        """Clitics with an apostrophe or another sign, which can be split off any word."""
        signed = [clitic for clitic in clitics if clitic not in self._marks.known and not clitic.isalnum()]
        straight = {clitic.replace("’", "'") for clitic in signed}
        return sorted(straight, key=lambda clitic: (-len(clitic), clitic))

    @cached_property
    def _abbreviations(self) -> Abbreviations:
        return Abbreviations(self.conventions)

    @cached_property
    def _marks(self) -> TypedMarks:
        return TypedMarks(self.vocabulary.tokens, self.conventions.meant(self.vocabulary.tokens))

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(self.vocabulary.forms)


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """The tokens of a line, each with the white space before it; a closing quotation mark is one."""
    quotes = [match.end() - 1 for match in _QUOTED.finditer(text)]
    cuts = sorted({place for quote in quotes for place in (quote, quote + 1)})
    end = 0
    for match in _TOKEN.finditer(text):
        inside = cuts[bisect_right(cuts, match.start()) : bisect_left(cuts, match.end())]
        for first, last in pairwise([match.start(), *inside, match.end()]):
            yield text[end:first], text[first:last]
            end = last
