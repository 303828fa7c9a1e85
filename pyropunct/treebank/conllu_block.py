"""One sentence of a CoNLL-U file."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pyropunct.text.lines import TreebankError

ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(10)
COLUMN_NAMES = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")


@dataclass(frozen=True, slots=True)
class Token:
    """A syntactic word or a mark: a line whose id is an integer, at index ``row`` of the block."""

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
    """A node of the enhanced graph without a word, after the token ``after``."""

    columns: tuple[str, ...]
    after: int
    row: int


@dataclass(frozen=True, slots=True)
class Block:
    """One sentence of a CoNLL-U file, checked but otherwise as written.

    :ivar lines: all its lines, comments first, without line ends.
    :ivar tokens: the token with id i is ``tokens[i - 1]``.
    """

    path: str
    identifier: str
    first_line: int
    lines: tuple[str, ...]
    tokens: tuple[Token, ...]
    ranges: tuple[MultiwordRange, ...]
    empty_nodes: tuple[EmptyNode, ...]

    def changed(self, columns: Mapping[int, Mapping[int, str]]) -> "Block":
        """The block with new columns: for each token id the columns by their numbers."""
        tokens, lines = list(self.tokens), list(self.lines)
        for number, new in columns.items():
            row, whole = tokens[number - 1].row, list(tokens[number - 1].columns)
            for column, value in new.items():
                whole[column] = value
            tokens[number - 1], lines[row] = Token(tuple(whole), int(whole[HEAD]), row), "\t".join(whole)
        return replace(self, tokens=tuple(tokens), lines=tuple(lines))

    def error(self, problem: str, row: int = 0) -> TreebankError:
        """An error about the line with index ``row``."""
        return TreebankError(self.path, problem, self.first_line + row, self.identifier)


def misc_entries(column: str) -> list[str]:
    """The entries of a MISC column; an empty list for ``_``."""
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
