"""The columns of CoNLL-U: the ten in their order, or those that the first line of CoNLL-U Plus names.

A row in memory has the ten columns in their order, whatever the order of the file, then the other columns.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pyropunct.text.lines import TreebankError

COLUMN_NAMES = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")

NEEDED = ("ID", "FORM", "UPOS", "HEAD", "DEPREL")
"""The columns without which there are no words, no marks or no tree."""

NEVER_LOST = ("DEPS", "MISC")
"""The columns that hold what the other columns do not say again."""

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


def header_of(lines: Sequence[str]) -> str:
    """The line that names the columns, with its end, if the lines begin with it."""
    return f"{lines[0]}\n" if lines and names_columns(lines[0]) else ""


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
