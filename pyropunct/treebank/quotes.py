"""Directed quotation marks for straight ones (Li, Wang & Eisner 2019, section 4)."""

from collections.abc import Sequence

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
