"""Errors that name a place in a treebank, and text in messages: one line in which nothing is hidden."""

import unicodedata

from pyropunct.errors import UserError

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


LONGEST_PROBLEM = 400
"""The most characters in which an error describes the problem."""

NO_SENTENCE = "there is no sentence in the file"
"""The problem of an empty file, of whatever format."""


class TreebankError(UserError, ValueError):
    """A treebank that cannot be used.

    Its text is one line, ``FILE:LINE: sentence 'ID': problem (remedy)``.  Parts that do
    not apply are left out.

    :ivar path: the file.
    :ivar line: the line, counted from 1, or None if the error is not about a line.
    :ivar sentence: the identifier of the sentence, or None if the error is not about a sentence.
    :ivar reason: the text without file and line.
    """

    def __init__(self, path: str, problem: str, line: int | None = None, sentence: str | None = None) -> None:
        self.path = path
        self.line = line
        self.sentence = sentence
        place = path if line is None else f"{path}:{line}"
        whose = "" if sentence is None else f"sentence {shortened(repr(sentence), LONGEST_PROBLEM)}: "
        self.reason = visible(f"{whose}{shortened(problem, LONGEST_PROBLEM)}")
        super().__init__(f"{visible(place)}: {self.reason}")
