"""Punctuation marks: special tokens, pairs, quotation marks, and spaces beside marks."""

import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

Surface = Sequence[Sequence[str]]
"""The punctuation tokens of each of the n + 1 slots of a sentence of n words."""

START = "\t^"
"""The sentence start: the first token of slot 0 of every sentence.  It can absorb an initial comma
(Li, Wang & Eisner 2019, section 4)."""

ABBREVIATION_DOT = "\tabbr."
"""The dot of a word such as "etc.": it belongs to the word and not to a constituent."""

UNKNOWN = "\tUNK"
"""Any mark too rare in training to be a type of its own."""


SPECIAL = (START, ABBREVIATION_DOT, UNKNOWN)
"""The first tokens of every vocabulary."""


CLAUSE = "\t⟨"
"""The beginning of a clause behind a conjunction or subordinator, given by the tree: it can absorb a comma.
Encoded surfaces have it (`pyropunct.vocabulary.Vocabulary.encode_surface`); texts do not."""

BOUNDARIES = (START, CLAUSE)
"""The tokens that a tree gives, at the beginning of sentences and clauses; no constituent sprouts them."""

NO_MARKS = (*SPECIAL, CLAUSE)
"""All tokens that are not printed as marks."""


PAUSE = "\x1f"
"""A pause in running text: n + 1 of these characters between words mean n tenths of a second of silence."""

LONGEST_PAUSE = 1.0
"""Longer silence, in seconds, counts as this long."""

COMMAS = frozenset(",，、،")
"""The commas of all alphabets."""


def marks_of(slot: Sequence[str]) -> tuple[str, ...]:
    """The tokens of a slot without `BOUNDARIES`."""
    return tuple(token for token in slot if token not in BOUNDARIES)


def real_marks(slot: Sequence[str]) -> tuple[str, ...]:
    """The marks of a slot, without the sentence start and the dots of abbreviations."""
    return tuple(token for token in slot if token not in (START, ABBREVIATION_DOT))


def display(token: str) -> str:
    """The token for display: ``^``, ``abbr.``, ``UNK``, or the mark, escaped if it looks like these."""
    return f"\\{token}" if f"\t{token}" in NO_MARKS else token.removeprefix("\t")


def displayed_string(tokens: Iterable[str]) -> str:
    """Tokens for display, concatenated."""
    return " ".join(map(display, tokens))


def displayed(slot: Sequence[str]) -> list[str]:
    """The tokens of a slot for display, without `BOUNDARIES`."""
    return [display(token) for token in marks_of(slot)]


CLOSERS = {
    **{"(": ")", "[": "]", "{": "}", "（": "）", "［": "］", "【": "】", "〔": "〕", "〈": "〉"},
    **{"《": "》", "「": "」", "『": "』", "“": "”", "‘": "’", "«": "»", "‹": "›"},
    **{"„": "“”", "‚": "‘’", "»": "«", "›": "‹"},
}
"""The marks that open a pair, each with those that may close it: German writes „so“ and »so«, Polish „so”."""

CLOSING = frozenset().union(*CLOSERS.values())
"""The marks that close a pair."""

PAIRED = CLOSING.union(CLOSERS)
"""The marks that come in pairs."""


DASHES, PERIODS = frozenset("-‐‑–—―−"), frozenset(".。．।॥۔")
QUESTION_MARKS, EXCLAMATION_MARKS = frozenset("?？؟\u037e"), frozenset("!！")
"""The characters of marks: ``--`` and ``?!`` have several.  U+037E is Greek."""


def paired(
    marks: Sequence[Any], closers: Mapping[Any, Collection[Any]] = CLOSERS, *, nested: bool = False
) -> list[tuple[int, int]]:
    """The places of opening and closing marks that belong together, the inner pairs first.

    A mark that can do both closes if it can.

    :param marks: marks, or their numbers.
    :param closers: those that may close each of them.
    :param nested: a mark closes only the last open one, so ``( “ )`` has no pair: for what a model chooses.
        By default, for what people write, open marks without a partner are skipped.
    """
    pairs, waiting = list[tuple[int, int]](), list[int]()
    for place, mark in enumerate(marks):
        last = len(waiting) - 1
        fitting = (n for n in range(last, -1, -1) if mark in closers[marks[waiting[n]]])
        number = next(fitting, None)
        if number is not None and (number == last or not nested):
            pairs.append((waiting[number], place))
            del waiting[number:]
        elif closers.get(mark):
            waiting.append(place)
    return pairs


def unpaired(surface: Surface) -> int:
    """The number of opening or closing marks without partner, where pairs are nested."""
    marks = [mark for slot in surface for mark in slot if mark in PAIRED]
    return len(marks) - 2 * len(paired(marks, nested=True))


DOUBLE = ("“", "”")
SINGLE = ("‘", "’")

STRAIGHT = {'"': DOUBLE, "''": DOUBLE, "``": DOUBLE, "＂": DOUBLE, "'": SINGLE, "`": SINGLE, "＇": SINGLE}
STRAIGHT |= {"&#39;&#39;": DOUBLE}  # two apostrophes, written as HTML
"""Marks that do not show their direction, or show it in ASCII, each with its directed pair.

The Russian treebank of UD has HTML entities.
"""

STRAIGHT_DOUBLE = frozenset('"＂')
"""Straight double quotation marks, which look alike on both sides."""

COMMON = {
    **dict.fromkeys("，،﹐", ","),
    **dict.fromkeys("。．।॥۔", "."),
    **dict.fromkeys("？؟", "?"),
    **dict.fromkeys("；؛", ";"),
    **{"！": "!", "：": ":", "（": "(", "）": ")", "［": "[", "］": "]"},
    **dict.fromkeys("«„「", "“"),
    **dict.fromkeys("»」", "”"),
    **dict.fromkeys("『‹‚", "‘"),
    **dict.fromkeys("』›", "’"),
}
"""Marks of some languages, each with the common mark for the same use.  A model of several languages writes
common marks in all of them."""

WIDE = {narrow: narrow + 0xFEE0 for narrow in range(ord("!"), ord("~") + 1)} | {ord("."): ord("。")}
"""The form of full width of each narrow mark (the block of Unicode has them in the order of ASCII)."""

ENUMERATION_COMMA = "、"
"""The comma of Japanese.  Chinese has a comma too, and writes this one in lists."""


def common_marks(marks: Mapping[str, int]) -> dict[str, str]:
    """The common mark for each of `COMMON`, and for the comma of a language, given its marks with counts."""
    commas = sum(marks.get(comma, 0) for comma in (",", *(one for one in COMMON if COMMON[one] == ",")))
    quotes = {",,": "“", "''": "”"} if ",," in marks else {}  # two commas are typed for a low quotation mark
    quotes |= {DOUBLE[1]: DOUBLE[1]} if marks.get(DOUBLE[1], 0) > 3 * marks.get(DOUBLE[0], 0) else {}
    comma = {ENUMERATION_COMMA: ","} if commas < marks.get(ENUMERATION_COMMA, 0) else {}
    return {**COMMON, **quotes, **comma}


EITHER_WAY = {"”": "”", "»": "«»", "›": "‹›"}
"""Closing quotation marks that may open, with those that then close: Swedish writes ”so”, Danish »so«."""


CLOSING_QUOTES = {**dict.fromkeys("“”«»", DOUBLE[1]), **dict.fromkeys("‘’‹›", SINGLE[1])}
"""The common closing mark for each quotation mark that closes a pair."""


def in_common_marks(marks: Sequence[str], common: Mapping[str, str]) -> list[str]:
    """The marks of a sentence, from left to right, with the common one for each that has one.

    Of quotation marks the first of a pair opens and the second closes, whatever their characters are:
    „so“, »so« and ”so” become “so”.
    """
    last = {mark: place for place, mark in enumerate(marks)}
    found, waiting = list[str](), list[str]()
    for place, mark in enumerate(marks):
        closers = EITHER_WAY.get(mark, "") if mark in common else ""
        if waiting and mark in waiting[-1]:
            waiting.pop()
            found.append(CLOSING_QUOTES.get(mark, common.get(mark, mark)))
        elif any(last.get(closer, -1) > place for closer in closers):
            waiting.append(closers)
            found.append(SINGLE[0] if mark == "›" else DOUBLE[0])
        else:
            if common.get(mark, mark) in (DOUBLE[0], SINGLE[0]):
                waiting.append(CLOSERS.get(mark, ""))
            found.append(common.get(mark, mark))
    return found


QUOTE_TAGS = ("``", "''")
"""The language-specific tags of an opening and a closing quotation mark, as in English treebanks."""

_APOSTROPHES = frozenset(["''", "&#39;&#39;"])
_OPENING_TAGS, _CLOSING_TAGS = {QUOTE_TAGS[0], "`"}, {QUOTE_TAGS[1]}


def direct_quotes(forms: Sequence[str], tags: Sequence[str]) -> list[str]:
    """Replace straight quotation marks (:data:`STRAIGHT`) by directed ones.

    Two apostrophes close a mark of backticks. Otherwise, a tag of one or two backticks, as in English
    treebanks, or a form of backticks makes a mark opening. A tag of two apostrophes makes it closing. Any
    other mark closes the last open mark of its kind (double or single). If no mark is open, it waits for a
    mark that closes it, and stays straight if none comes.
    """
    directed = list(forms)
    open_marks: dict[tuple[str, str], list[int]] = {DOUBLE: [], SINGLE: []}
    for index, (form, tag) in enumerate(zip(forms, tags, strict=True)):
        if form not in STRAIGHT:
            continue
        opening, closing = pair = STRAIGHT[form]
        waiting = open_marks[pair]
        if waiting and form in _APOSTROPHES and forms[waiting[-1]] in _OPENING_TAGS:
            directed[waiting.pop()], directed[index] = opening, closing
        elif tag in _OPENING_TAGS or (form in _OPENING_TAGS and tag not in _CLOSING_TAGS):
            directed[index] = opening
            waiting.append(index)
        elif waiting:
            directed[waiting.pop()], directed[index] = opening, closing
        elif tag in _CLOSING_TAGS:
            directed[index] = closing
        else:
            waiting.append(index)
    return directed


_OPENING = frozenset("([{“‘„‚«‹¿¡「『《〈【〔〖（［｛")
_CLOSING = frozenset(".,;:!?…)]}”’»›\"'%、。，．；：！？」』》〉】〕〗）］｝।॥،؛؟۔")
_JOINING = frozenset("-/‐‑·‧・ـ")


def _is_unspaced(character: str) -> bool:
    """Whether the character belongs to a script without spaces, such as Chinese, Japanese or Thai."""
    if unicodedata.category(character) == "So":  # such as emoji, which are wide too
        return False
    if unicodedata.east_asian_width(character) in "WF":
        return not unicodedata.name(character, "").startswith("HANGUL")
    return unicodedata.name(character, "").startswith(("THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN"))


def space_between_words(left: str, right: str) -> bool:
    """Whether a space stands between two neighbouring words: in most scripts it does."""
    return not (_is_unspaced(left[-1]) or _is_unspaced(right[0]))


def space_beside_mark(left: str, right: str, left_is_mark: bool, right_is_mark: bool) -> bool:
    """Whether to write a space between two tokens, at least one of them a mark.

    Opening marks stick to the next token, closing marks to the previous one, hyphens and slashes to both;
    dashes and all other marks stand alone.  Quotation marks must be directed.
    """
    if left_is_mark and (set(left) <= _OPENING or left in _JOINING):
        return False
    if right_is_mark and (set(right) <= _CLOSING or right in _JOINING):
        return False
    return space_between_words(left, right)


def opens(mark: str) -> bool:
    """Whether a mark sticks only to the word after it; a straight quotation mark may."""
    before, behind = _spaces_beside(mark)
    return (before and not behind) or mark in STRAIGHT


def parted(slot: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The marks between two words: those that stick to the first, and opening ones of the second."""
    place = len(slot)
    while place and slot[place - 1] != ABBREVIATION_DOT and opens(slot[place - 1]):
        place -= 1
    return tuple(slot[:place]), tuple(slot[place:])


def closes(mark: str) -> bool:
    """Whether a mark sticks only to the word before it; a straight quotation mark may."""
    before, behind = _spaces_beside(mark)
    return (behind and not before) or mark in STRAIGHT


def _spaces_beside(mark: str) -> tuple[bool, bool]:
    """Whether a mark between words has a space before it, and whether it has one after it."""
    return space_beside_mark("x", mark, False, True), space_beside_mark(mark, "x", True, False)
