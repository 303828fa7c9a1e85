"""One sentence of a CoNLL-U file, and the error that names a place in it."""

import unicodedata
from dataclasses import dataclass

ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(10)
_UNSEEN = frozenset(["Cc", "Cs", "Zl", "Zp"])
"""Categories of characters that end a line, do something to a terminal, or cannot be printed."""

_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that change the direction of what follows."""

LONGEST_PROBLEM = 400
"""The most characters of what an error says of a treebank."""

COLUMN_NAMES = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")


NO_SENTENCE = "there is no sentence in the file"
"""What is wrong with an empty file, of whatever format."""


class TreebankError(ValueError):
    """A treebank that cannot be used.

    Its text is one line, ``FILE:LINE: sentence 'ID': what is wrong (and what to do)``.  Parts that do
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


@dataclass(frozen=True, slots=True)
class Token:
    """A syntactic word or a mark of punctuation: one line whose id is a whole number.

    :ivar columns: the ten columns as written.
    :ivar head: the id of its head, 0 for the root.
    :ivar row: the index of its line in the block.
    """

    columns: tuple[str, ...]
    head: int
    row: int


@dataclass(frozen=True, slots=True)
class MultiwordRange:
    """A multiword token: the tokens ``first`` to ``last`` are written as one form."""

    columns: tuple[str, ...]
    first: int
    last: int
    row: int


@dataclass(frozen=True, slots=True)
class EmptyNode:
    """A node of the enhanced graph without a word in the text; it stands after the token ``after``."""

    columns: tuple[str, ...]
    after: int
    row: int


@dataclass(frozen=True, slots=True)
class Block:
    """One sentence of a CoNLL-U file, checked but otherwise as written.

    :ivar path: the file.
    :ivar identifier: the ``sent_id`` comment, else ``#17`` for the 17th sentence of the file.
    :ivar first_line: the line of the file at which the block starts, counted from 1.
    :ivar lines: all its lines, comments first, without line ends.
    :ivar tokens: the tokens; the token with id i is ``tokens[i - 1]``.
    :ivar ranges: the multiword tokens.
    :ivar empty_nodes: the empty nodes.
    """

    path: str
    identifier: str
    first_line: int
    lines: tuple[str, ...]
    tokens: tuple[Token, ...]
    ranges: tuple[MultiwordRange, ...]
    empty_nodes: tuple[EmptyNode, ...]

    def error(self, problem: str, row: int = 0) -> TreebankError:
        """An error about the line with index ``row``."""
        return TreebankError(self.path, problem, self.first_line + row, self.identifier)


def misc_entries(column: str) -> list[str]:
    """The entries of a MISC column, none for ``_``."""
    return [] if column.strip() in ("", "_") else column.split("|")


def has_space_after(columns: tuple[str, ...]) -> bool:
    """Whether a space follows the token: it does unless MISC says ``SpaceAfter=No``."""
    return "SpaceAfter=No" not in misc_entries(columns[MISC])


def with_space_after(column: str, space: bool) -> str:
    """The MISC column, changed if necessary to say whether a space follows."""
    entries = misc_entries(column)
    if space == ("SpaceAfter=No" not in entries):
        return column
    kept = [entry for entry in entries if not entry.startswith("SpaceAfter=")]
    return "|".join(kept + ([] if space else ["SpaceAfter=No"])) or "_"
