"""Tells prose in raw text from operators, list markers, addresses and code."""

import re
import unicodedata
from typing import NamedTuple

HYPHENS = frozenset("-‐‑")
"""Marks that belong to words, in most cases."""

_SYMBOLS = frozenset("#%&*/@\\_{}§¶†‡•‣·‧⁃′″‴‰※")
"""Characters of the category of punctuation that are no marks of prose."""

_BESIDE_NUMBERS = frozenset("%&")

_VOWELS = frozenset("aeiouy")


class Kind(NamedTuple):
    """A kind of tokens or lines whose marks are no punctuation: a token of such a kind stays as it is.

    :ivar signs: patterns of what such a text has.
    :ivar least: how many of the signs it must have.
    """

    name: str
    signs: tuple[re.Pattern[str], ...]
    least: int = 1

    def has(self, text: str) -> bool:
        """Whether a text is of this kind."""
        return sum(sign.search(text) is not None for sign in self.signs) >= self.least


def _signs(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(map(re.compile, patterns))


_FACE = r"[:;=]['’]?[-^~o]?[()\[\]{}|/\\*]+\Z"

FACE = Kind("face", _signs(rf"\A{_FACE}"))

EMOTICON = Kind(
    "emoticon or emoji, which treebanks may tag as a mark",
    _signs(
        r"\A(?:[:;=]['’]?[-oO^]?[)(\][DPpOoSs/\\|*3}{]+|[)(\][]+[-oO^]?[:;=]|[xX]D+|<3+|\^[_.-]*\^"
        r"|[☹☺❤\U0001f300-\U0001faff]+)\Z"
    ),
)

OPERATOR = Kind(
    "sign between values, arguments or columns",
    _signs(rf"\A(?!{_FACE})(?:[^\w\s]*[*/\\^+<>=|~{{}}][^\w\s]*|&&|--?>)\Z"),
)

ADDRESS = Kind(
    "URL or e-mail address, perhaps with marks around it",
    _signs(r"(?i)://|@|^www\."),
)

RULER = Kind("line drawn with dashes", _signs(r"\A([-‐‑–—―])\1{3,}\Z"))

CODE = Kind(
    "address, path, option of a command or piece of code, whose case matters",
    _signs(r"[@_\\|<>={}\[\]()~^#*+:$%]|^[-./&]|/.*/|\w\.\w{2}|\w{3}\.\w"),
)

MARKUP = Kind(
    "line with markup, or that is a command",
    _signs(
        r"\]\([^\s()]+\)"  # a Markdown link
        r"|</?[A-Za-z][\w-]*(?:\s[^<>]*)?/?>"  # a tag
        r"|^\s*(?:```|~~~|#{1,6}\s|\|.*\|\s*$)"  # a fence, a heading, a row of a table
        r"|^\s*[A-Za-z_][\w.]*\([^()]*\);?\s*$"  # nothing but a call
        r"|^\s*[a-z][\w.-]* (?:-[A-Za-z](?:\s|$)|[a-z]+ -[A-Za-z] \"|(?:[\w./-]+ )*--[a-z])"  # a command
    ),
)

CODE_LINE = Kind(
    "line of code; prose may have one of its signs",
    _signs(
        r"[=!<>]=|&&|\|\||[-=]>|::|\w\s*[-+*/]=",
        r"\s=\s",
        r"\w{2}\((?!s\))[^()\s]*\)",  # a call
        r"\w\.\w+\(",
        r"\w\[\w+\]",
        r"[{};]\s*$",
        r"^\s*(?:class|const|def|elif|else|for|from|function|if|import|int|let|print|return|var|while)\b.*[:;(={]",
    ),
    least=2,
)

_LABELS = "Caution|Example|Hint|Important|Ingredients|Notes?|Reason|Remember|Result|Summary|Tip|Warning"
"""Words that begin a line with a colon behind them, as names of speakers do, but begin its sentence."""

MARKER = Kind(
    "line with list markers, signs of headings and of quoted lines, times, sounds, or names in front",
    _signs(
        r"\A\s*(?:(?:[-‐‑–—―+*#>•‣⁃·◦▪●○■□–]+|\d{1,4}[.)]|\(?(?:\d{1,4}|[^\W\d_]|[ivxIVX]+)\)"
        r"|\[\d[\d:.,]*\]"  # a time
        r"|[\[(][A-Z][A-Z ,'-]{1,30}[\])]"  # a sound
        rf"|(?!(?:{_LABELS}):)"
        r"(?:[A-Z][\w.'-]{0,20}(?: [A-Z\d][\w.'-]{0,20}){0,2}|[Ss]peaker[ _]?\w{1,3}):"  # a speaker
        r")[\s\u200b\ufeff]+)+"
    ),
)

KINDS = (FACE, EMOTICON, OPERATOR, ADDRESS, RULER, CODE, MARKUP, CODE_LINE, MARKER)


def beginning_of(line: str) -> int:
    """The offset of the text behind list markers and speakers; 0 without these or text."""
    match = MARKER.signs[0].match(line)
    return match.end() if match and match.end() < len(line) else 0


def is_mark(token: str) -> bool:
    """Whether a token can be a mark of prose: punctuation only, but not a symbol, face or ruler."""
    return (
        all(_is_punctuation(character) for character in token)
        and not FACE.has(token)
        and not RULER.has(token)
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


def is_between_numbers(before: str, token: str, behind: str) -> bool:
    """Whether a token is a dash between two numbers, as in "1841 – 1902"."""
    is_dash = all(unicodedata.category(character) == "Pd" for character in token)
    return is_dash and before[-1:].isdigit() and behind[:1].isdigit()


def is_code_line(line: str) -> bool:
    """Whether a line is code or markup."""
    return MARKUP.has(line) or CODE_LINE.has(line)


def is_pronounceable(word: str) -> bool:
    """Whether a word has a vowel; true for words that are not in lower-case ASCII letters."""
    return (
        len(word) == 1
        or not (word.isascii() and word.isalpha() and word.islower())
        or not _VOWELS.isdisjoint(word)
    )
