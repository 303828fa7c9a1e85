"""Marks of punctuation: marks that are not on the page, marks in pairs, directed quotation marks."""

from collections.abc import Iterable, Sequence

Surface = Sequence[Sequence[str]]
"""The punctuation tokens of each of the n + 1 slots of a sentence of n words."""

START = "\t^"
"""The sentence start: the first token of slot 0 of every sentence.  It can absorb an initial comma
(Li, Wang & Eisner 2019, section 4)."""

ABBREVIATION_DOT = "\tabbr."
"""The dot of a word such as "etc.": it belongs to the word and not to a constituent."""

UNKNOWN = "\tUNK"
"""Any mark too rare in training to be a type of its own."""


def marks_of(slot: Sequence[str]) -> tuple[str, ...]:
    """The tokens of a slot without the sentence start."""
    return tuple(token for token in slot if token != START)


def display(token: str) -> str:
    """The token as a person reads it: ``^``, ``abbr.``, ``UNK``, or the mark itself."""
    return token.removeprefix("\t")


def displayed_string(tokens: Iterable[str]) -> str:
    """Tokens side by side, each as a person reads it."""
    return " ".join(map(display, tokens))


def displayed(slot: Sequence[str]) -> list[str]:
    """The tokens of a slot as a person reads them, without the sentence start."""
    return [display(token) for token in marks_of(slot)]


CLOSERS = {
    **{"(": ")", "[": "]", "{": "}", "（": "）", "［": "］", "【": "】", "〔": "〕", "〈": "〉"},
    **{"《": "》", "「": "」", "『": "』", "“": "”", "‘": "’", "«": "»", "‹": "›"},
    **{"„": "“”", "‚": "‘’", "»": "«", "›": "‹"},
}
"""The marks that open a pair, each with those that may close it: German writes „so“ and »so«, Polish „so”."""

PAIRED = frozenset(CLOSERS).union(*CLOSERS.values())
"""The marks that come in pairs."""


def unpaired(surface: Surface) -> int:
    """The number of marks that open a pair that is not closed, or close one that is not open.

    A mark closes the last open pair if it can; otherwise it opens one, if it can do that.
    """
    waiting: list[str] = []
    alone = 0
    for mark in (mark for slot in surface for mark in slot if mark in PAIRED):
        if waiting and mark in CLOSERS[waiting[-1]]:
            waiting.pop()
        elif mark in CLOSERS:
            waiting.append(mark)
        else:
            alone += 1
    return alone + len(waiting)


DOUBLE = ("“", "”")
SINGLE = ("‘", "’")

STRAIGHT = {'"': DOUBLE, "''": DOUBLE, "``": DOUBLE, "＂": DOUBLE, "'": SINGLE, "`": SINGLE, "＇": SINGLE}
"""Marks that do not show their direction, or show it in ASCII, each with its directed pair."""

_OPENING = {"``", "`"}
_CLOSING = {"''"}


def direct_quotes(forms: Sequence[str], tags: Sequence[str], heads: Sequence[int]) -> list[str]:
    """Replace straight quotation marks by directed ones.

    A language-specific tag of one or two backticks, as English treebanks have, makes a mark opening,
    and a tag of two apostrophes makes it closing.  Without these tags, a form of backticks makes it
    opening.  Any other mark closes the last mark of the same kind (double or single) that has the
    same head and is not closed yet, and makes that one opening.  A mark without a partner is unchanged.

    :param forms: the punctuation tokens of one sentence, left to right.
    :param tags: their language-specific tags.
    :param heads: their heads.
    :returns: the forms; only those that are in :data:`STRAIGHT` may differ.
    """
    directed = list(forms)
    waiting: dict[tuple[int, tuple[str, str]], list[int]] = {}
    for index, (form, tag, head) in enumerate(zip(forms, tags, heads, strict=True)):
        if form not in STRAIGHT:
            continue
        opening, closing = STRAIGHT[form]
        partners = waiting.setdefault((head, STRAIGHT[form]), [])
        if tag in _OPENING or (form in _OPENING and tag not in _CLOSING):
            directed[index] = opening
            partners.append(index)
        elif partners:
            directed[partners.pop()] = opening
            directed[index] = closing
        elif tag in _CLOSING:
            directed[index] = closing
        else:
            partners.append(index)
    return directed
