"""The columns of CoNLL-U: the ten in their order, or those that CoNLL-U Plus names, and entries of MISC.

A row in memory has the ten columns in their order, whatever the order of the file, then the other columns.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyropunct.text.lines import TreebankError

COLUMN_NAMES = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")

NEEDED = ("ID", "FORM", "UPOS", "HEAD", "DEPREL")
"""The columns without which there are no words, no marks or no tree."""

NEVER_LOST = ("DEPS", "MISC")
"""Columns with information that the other columns do not repeat."""

_NAMES = re.compile(r"#\s*global\.columns\s*=(.*)")


@dataclass(frozen=True, slots=True)
class ColumnOrder:
    """The columns of a file.

    :ivar header: the line that names them; empty for plain CoNLL-U.
    """

    path: str = ""
    header: str = ""
    names: tuple[str, ...] = COLUMN_NAMES

    @property
    def _others(self) -> tuple[str, ...]:
        return tuple(name for name in self.names if name not in COLUMN_NAMES)

    def row(self, line: str) -> tuple[str, ...]:
        """The columns of a line, which has as many as the file; those that the file lacks are ``_``."""
        cells = line.split("\t")
        if not self.header:
            return tuple(cells)
        named = dict(zip(self.names, cells, strict=True))
        return tuple(named.get(name, "_") for name in (*COLUMN_NAMES, *self._others))

    def line(self, row: Sequence[str]) -> str:
        """The line of a row; a new row need not have the other columns.

        :raises TreebankError: if DEPS or MISC has a value, and the file lacks this column.
        """
        if not self.header:
            return "\t".join(row)
        named = dict(zip((*COLUMN_NAMES, *self._others), row, strict=False))
        for name in NEVER_LOST:
            if name not in self.names and named[name] != "_":
                problem = (
                    f"the file has no column {name} for {named[name]} (add the column, with _ in each line)"
                )
                raise TreebankError(self.path, problem, 1)
        return "\t".join(named.get(name, "_") for name in self.names)


PLAIN = ColumnOrder()
"""The ten columns of plain CoNLL-U."""


def names_columns(line: str) -> bool:
    """Whether a line names the columns of CoNLL-U Plus."""
    return _NAMES.match(line) is not None


def header_of(lines: Sequence[str], end: str) -> str:
    """The line that names the columns, with its end, if the lines begin with it."""
    return lines[0] + end if lines and names_columns(lines[0]) else ""


def column_order(line: str, path: str, number: int) -> ColumnOrder:
    """The columns of a file with this first line; raises `TreebankError` if it lacks a needed one."""
    found = _NAMES.match(line)
    if found is None:
        return PLAIN
    names = tuple(found[1].split())
    for name in NEEDED:
        if name not in names:
            raise TreebankError(
                path, f"global.columns does not name the column {name}, which is needed", number
            )
    for name in names:
        if names.count(name) > 1:
            raise TreebankError(path, f"global.columns names the column {name} twice", number)
    return ColumnOrder(path, line, names)


def misc_entries(column: str) -> list[str]:
    """The entries of a MISC column; an empty list for ``_``."""
    return [] if column.strip() in ("", "_") else column.split("|")


def with_space_after(column: str, space: bool) -> str:
    """The MISC column, changed if necessary to say whether a space follows."""
    if space == ("SpaceAfter=No" not in misc_entries(column)):
        return column
    return with_misc(column, {"SpaceAfter": None if space else "No"})


_ESCAPES = {"\\": "\\\\", "|": "\\p", "\t": "\\t", "\n": "\\n"}


def with_misc(column: str, entries: Mapping[str, str | None]) -> str:
    """The MISC column with other entries, escaped, behind the rest; None only removes an entry."""
    before = misc_entries(column)
    kept = [entry for entry in before if entry.partition("=")[0] not in entries]
    if kept == before and not any(entries.values()):
        return column
    values = {
        name: "".join(_ESCAPES.get(character, character) for character in value)
        for name, value in entries.items()
        if value is not None
    }
    return "|".join([*kept, *(f"{name}={value}" for name, value in values.items())]) or "_"
