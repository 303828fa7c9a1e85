"""Tells prose in raw text from operators, list markers, addresses and code, and finds marks as typed."""

import re
import unicodedata
from collections.abc import Iterable, Mapping

from pyropunct.text.marks import STRAIGHT, closes, opens, space_between_words

HYPHENS = frozenset("-‐‑")
"""Marks that belong to words, in most cases."""

_SYMBOLS = frozenset("#%&*/@\\_{}§¶†‡•‣·‧⁃′″‴‰※")
"""Characters of the category of punctuation that are no marks of prose."""

_FACE = re.compile(r"[:;=]['’]?[-^~o]?[()\[\]{}|/\\*]+")
"""A face such as ";-)"."""

_OPERATOR = re.compile(r"[^\w\s]*[*/\\^+<>=|~{}][^\w\s]*|&&|--?>")
"""A sign between values, arguments or columns."""

_ADDRESS = re.compile(r"://|@|^www\.", re.IGNORECASE)

_RULER = re.compile(r"([-‐‑–—―])\1{3,}")
"""A line that is drawn with dashes."""

_BESIDE_NUMBERS = frozenset("%&")

_CODE = re.compile(r"[@_\\|<>={}\[\]()~^#*+:$%]|^[-./&]|/.*/|\w\.\w{2}|\w{3}\.\w")
"""What shows that a token is an address, a path, a command's option or a piece of code."""

_VOWELS = frozenset("aeiouy")

_MARKER = re.compile(
    r"\s*(?:(?:[-‐‑–—―+*#>•‣⁃·◦▪●○■□–]+|\d{1,4}[.)]|\(?(?:\d{1,4}|[^\W\d_]|[ivxIVX]+)\)"
    r"|\[\d[\d:.,]*\]"  # a time
    r"|(?:[A-Z][A-Z\d_.'-]{0,20}(?: [A-Z\d_.'-]{1,20}){0,2}|[Ss]peaker[ _]?\w{1,3}):"  # a speaker
    r")[\s\u200b\ufeff]+)+"
)
"""What may stand in front of the text of a line: list markers, signs of headings and of quoted lines, times,
and names of speakers in capital letters."""


def beginning_of(line: str) -> int:
    """The offset of the text behind list markers and speakers; 0 without these or text."""
    match = _MARKER.match(line)
    return match.end() if match and match.end() < len(line) else 0


def is_mark(token: str) -> bool:
    """Whether a token can be a mark of prose: punctuation only, but not a symbol, face or ruler."""
    return (
        all(_is_punctuation(character) for character in token)
        and not _FACE.fullmatch(token)
        and not _RULER.fullmatch(token)
    )


def is_restorable(mark: str) -> bool:
    """Whether a mark can be restored in raw text: not a hyphen, which would join words."""
    return is_mark(mark) and mark not in HYPHENS


def _is_punctuation(character: str) -> bool:
    return (unicodedata.category(character).startswith("P") and character not in _SYMBOLS) or character == "`"


def has_text(line: str) -> bool:
    """Whether a line has a letter, a digit or a picture; other lines are left as they are."""
    return any(character.isalnum() or unicodedata.category(character) == "So" for character in line)


def is_symbol(word: str) -> bool:
    """Whether a word has neither letters nor digits, like an emoji; signs of amounts ("%") are no symbols."""
    return not any(
        character.isalnum() or character in _BESIDE_NUMBERS or unicodedata.category(character) == "Sc"
        for character in word
    )


def is_operator(word: str) -> bool:
    """Whether a word is an operator or a separator of columns, such as "=" and "|"."""
    return _OPERATOR.fullmatch(word) is not None and _FACE.fullmatch(word) is None


def is_address(token: str) -> bool:
    """Whether a token is a URL or an e-mail address, perhaps with marks around it."""
    return _ADDRESS.search(token) is not None


def is_between_numbers(before: str, token: str, behind: str) -> bool:
    """Whether a token is a dash between two numbers, as in "1841 – 1902"."""
    is_dash = all(unicodedata.category(character) == "Pd" for character in token)
    return is_dash and before[-1:].isdigit() and behind[:1].isdigit()


def is_code(word: str) -> bool:
    """Whether a word is an address, a path, an option or code, whose case matters."""
    return _CODE.search(word) is not None


_MARKUP = re.compile(
    r"\]\([^\s()]+\)"  # a Markdown link
    r"|</?[A-Za-z][\w-]*(?:\s[^<>]*)?/?>"  # a tag
    r"|^\s*(?:```|~~~|#{1,6}\s|\|.*\|\s*$)"  # a fence, a heading, a row of a table
    r"|^\s*[A-Za-z_][\w.]*\([^()]*\);?\s*$"  # nothing but a call
    r"|^\s*[a-z][\w.-]* (?:-[A-Za-z](?:\s|$)|[a-z]+ -[A-Za-z] \"|(?:[\w./-]+ )*--[a-z])"  # a command
)

_SIGNS_OF_CODE = tuple(
    map(
        re.compile,
        (
            r"[=!<>]=|&&|\|\||[-=]>|::|\w\s*[-+*/]=",
            r"\s=\s",
            r"\w{2}\((?!s\))[^()\s]*\)",  # a call
            r"\w\.\w+\(",
            r"\w\[\w+\]",
            r"[{};]\s*$",
            r"^\s*(?:class|const|def|elif|else|for|from|function|if|import|int|let|print|return|var|while)\b.*[:;(={]",
        ),
    )
)
"""What lines of code have; prose may have one of them."""


def is_code_line(line: str) -> bool:
    """Whether a line is code or markup: at least two signs of code, or one of markup."""
    return bool(_MARKUP.search(line)) or sum(bool(sign.search(line)) for sign in _SIGNS_OF_CODE) > 1


def is_pronounceable(word: str) -> bool:
    """Whether a word has a vowel; true for words that are not in lower-case ASCII letters."""
    return (
        len(word) == 1
        or not (word.isascii() and word.isalpha() and word.islower())
        or not _VOWELS.isdisjoint(word)
    )


_APOSTROPHES = frozenset("'`’")
"""Marks that are often letters of a word, as in "dogs'", and so are not split off."""

_BRACKETS = {")": "(", "]": "[", "}": "{"}


class TypedMarks:
    """The marks of prose that a model knows, as they may be typed.

    :param meant: the model's mark for each mark that it does not know, see `Conventions.meant`.
    :ivar narrow: the same, for marks of prose.
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
