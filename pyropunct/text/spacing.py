"""Whether a space stands between two neighbours that were not neighbours in the original."""

import unicodedata

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
    """Whether to write a space between two tokens, one or both of them marks.

    Opening marks stick to the next token, closing marks to the previous one, hyphens and slashes to
    both; dashes and all other marks stand alone.  Quotation marks must be directed already.
    """
    if left_is_mark and (set(left) <= _OPENING or left in _JOINING):
        return False
    if right_is_mark and (set(right) <= _CLOSING or right in _JOINING):
        return False
    return space_between_words(left, right)
