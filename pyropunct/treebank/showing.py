"""Text in messages: one line, no longer than it may be, in which nothing is hidden."""

import unicodedata

_UNSEEN = frozenset(["Cc", "Cs", "Zl", "Zp"])
"""Categories of characters that end a line, do something to a terminal, or cannot be printed."""

_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that change the direction of the following text."""


def visible(text: str) -> str:
    """The text with all that is not seen itself but does something as escapes, so that it is one line."""
    return "".join(
        repr(character)[1:-1]
        if unicodedata.category(character) in _UNSEEN or character in _TURNING
        else character
        for character in text
    )


def shortened(text: str, most: int) -> str:
    """A text of at most so many characters; of a longer one the middle is left out."""
    if len(text) <= most:
        return text
    left_out = " ... "
    end = (most - len(left_out)) // 3
    return text[: most - len(left_out) - end] + left_out + text[-end:]
