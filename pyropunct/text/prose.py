"""Tells prose in raw text from operators, list markers, addresses and code, which stay as they are."""

import re
import unicodedata

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
    r"\s*(?:(?:[-‐‑–—―+*#>•‣⁃·◦▪●○■□–]+|\d{1,4}[.)]|\(?(?:\d{1,4}|[^\W\d_]|[ivxIVX]+)\))[\s\u200b\ufeff]+)+"
)
"""List markers, signs of headings and of quoted lines at the beginning of a line."""


def beginning_of(line: str) -> int:
    """The offset of the text behind list markers; 0 without markers or text."""
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
    """Whether a word has neither letters nor digits; signs of amounts such as "%" are not symbols."""
    return not has_text(word) and not any(
        character in _BESIDE_NUMBERS or unicodedata.category(character) == "Sc" for character in word
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
