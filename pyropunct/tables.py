"""A table of typed columns, with tests of significance, for people and for programs.

Example::

    table = Table(
        "Systems",
        (
            Column("system", "system", lambda result: result.name),
            Column("aed", "AED", lambda result: result.aed, 4, evidence=lambda result: result.edits),
        ),
        results,
    )
    print(table.text())  # or markdown(), tsv(); to_json() gives plain types
"""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from io import StringIO
from operator import itemgetter
from textwrap import indent
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from pyropunct.significance import PERMUTATIONS, Statistic, Totals, permutation_test, total
from pyropunct.text.lines import visible

NO_VALUE = "–"
"""The cell of a missing number."""

SIGNIFICANT = 0.05
"""A difference with a smaller p-value is significant."""

WIDE = 100_000
"""The width of a text table without a terminal: wider than any table."""

Row = TypeVar("Row")
"""What a row describes: the result of a system, a relation, an epoch."""

Value = str | int | float | bool | None


@dataclass(frozen=True)
class Column(Generic[Row]):
    """A column of a table, and how its values are tested.

    :ivar key: its name for programs; ``title`` for people.
    :ivar value: gives the value of a row, None without one; ``spread``, its standard deviation.
    :ivar decimals: how many decimals people see; None for whole numbers and text.
    :ivar shown: gives the cell for people if `value` and `decimals` do not suffice.
    :ivar evidence: gives (sentences,) or (sentences, k) quantities of each sentence, which the test permutes;
        None for a column without test, or a row without quantities.
    :ivar statistic: turns the totals of these quantities into the compared value.
    :ivar best: `min` or `max`.
    """

    key: str
    title: str
    value: Callable[[Row], Value]
    decimals: int | None = None
    spread: Callable[[Row], float | None] | None = None
    shown: Callable[[Row], str] | None = None
    evidence: Callable[[Row], ArrayLike | None] | None = None
    statistic: Statistic = total
    best: Callable[..., Any] = min

    def cell(self, row: Row) -> str:
        """The value of a row as people see it, behind it ``±`` and its spread if there is one."""
        if self.shown is not None:
            return self.shown(row)
        value = self.value(row)
        spread = None if self.spread is None else self.spread(row)
        return self._written(value) + ("" if spread is None else f" ± {self._written(spread)}")

    def _written(self, value: Value) -> str:
        if isinstance(value, (str, bool)):
            return _plain_text(value)
        if value is None:
            return NO_VALUE
        return f"{value:,}" if self.decimals is None else f"{value:,.{self.decimals}f}"


class Baseline(NamedTuple):
    """The row against which each row is tested, named for people as in "the row above".

    :ivar of: gives its index, from all rows and the index of the tested row; None to leave the row untested.
    """

    name: str
    of: Callable[[Sequence[Any], int], int | None]


@dataclass(frozen=True)
class Table(Generic[Row]):
    """Rows and typed columns, the first of which names the rows; ``notes`` are lines below.

    Marks the best value of each tested column, and all values that are not significantly worse; or, with a
    baseline, shows the p-value of the difference from the baseline after each tested column.

    :ivar permutations: the number of permutations of each test.
    :ivar details: gives further values of a row for programs.
    """

    title: str
    columns: Sequence[Column[Row]]
    rows: Sequence[Row]
    notes: Sequence[str] = ()
    baseline: Baseline | None = None
    permutations: int = PERMUTATIONS
    seed: int = 0
    details: Callable[[Row], Mapping[str, Any]] | None = None
    _p_values: dict[tuple[str, int, int], float] = field(default_factory=dict, repr=False, compare=False)

    # Tests of significance

    @cached_property
    def _evidence(self) -> dict[str, dict[int, Totals]]:
        """For each column, by its key, the evidence of the rows that have a value and finite evidence."""
        return {column.key: dict(self._tested(column)) for column in self.columns}

    def _tested(self, column: Column[Row]) -> Iterator[tuple[int, Totals]]:
        for index, row in enumerate(self.rows):
            counts = None if column.evidence is None else column.evidence(row)
            if counts is None or column.value(row) is None:
                continue
            numbers = np.asarray(counts, float)
            if np.isfinite(numbers).all():  # no test can do with a system that finds a sentence impossible
                yield index, numbers

    def best(self, column: Column[Row]) -> int | None:
        """The index of the best of the tested rows; None without tested rows."""
        values = {index: column.value(self.rows[index]) for index in self._evidence[column.key]}
        return column.best(values, key=values.__getitem__) if values else None

    def leaders(self, column: Column[Row]) -> list[int]:
        """The best row of a column and all that are not significantly worse; empty without test."""
        best = self.best(column)
        if best is None:
            return []
        return [
            index for index in self._evidence[column.key] if self._p_value(column, index, best) >= SIGNIFICANT
        ]

    def p_values(self, column: Column[Row]) -> list[float | None]:
        """The p-value of each row against its baseline, by default against the best row."""
        best, tested = self.best(column), self._evidence[column.key]
        found = list[float | None]()
        for index in range(len(self.rows)):
            other = best if self.baseline is None else self.baseline.of(self.rows, index)
            both = index in tested and other in tested
            found.append(self._p_value(column, index, other) if both and other is not None else None)
        return found

    def _p_value(self, column: Column[Row], first: int, second: int) -> float:
        low, high = min(first, second), max(first, second)  # the test is symmetric
        key = column.key, low, high
        if key not in self._p_values:
            evidence = self._evidence[column.key]
            self._p_values[key] = permutation_test(
                evidence[low],
                evidence[high],
                self.permutations,
                seed=self.seed,
                statistic=column.statistic,
            )
        return self._p_values[key]

    # For people

    def text(self, width: int | None = WIDE) -> str:
        """The table as lines of text with title and notes; cells are folded if it is wider than ``width``."""
        from rich.console import Console  # takes a while to import
        from rich.table import Table as RichTable
        from rich.text import Text

        header, rows = self.cells("* {}".format)
        lined = RichTable()
        for name, words in zip(header, self._of_words(), strict=True):
            lined.add_column(Text(name), justify="left" if words else "right", overflow="fold")
        for row in rows:  # marks such as [ are text, not markup of rich
            lined.add_row(*(Text("\n".join(map(visible, cell.split("\n")))) for cell in row))
        # Into memory: on standard output, rich would end the program when its reader has gone.
        console = Console(file=StringIO(), width=width)
        with console.capture() as captured:
            console.print(lined)
        lines = [line.rstrip() for line in captured.get().rstrip("\n").split("\n")]
        # The title stands apart, as rich folds titles that are wider than their table.
        return "\n".join([visible(self.title), *lines, *self.all_notes("*")])

    def markdown(self) -> str:
        """The table in Markdown, and a paragraph for each note."""
        header, rows = self.cells("**{}**".format)
        cells = ([cell.replace("|", "\\|") for cell in row] for row in (header, ["---"] * len(header), *rows))
        lines = "\n".join(f"| {' | '.join(row)} |" for row in cells)
        # A note of several lines is aligned by spaces, which a block of code keeps.
        notes = (indent(note, "    ") if "\n" in note else note for note in self.all_notes("Bold"))
        return "\n\n".join([lines, *notes]) + "\n"

    def cells(self, mark: Callable[[str], str]) -> tuple[list[str], list[list[str]]]:
        """The header and the rows for people, with the best values marked."""
        rows: list[list[str]] = [[] for _ in self.rows]
        for column in self.columns:
            leaders = self.leaders(column) if self.baseline is None else []
            p_values = self.p_values(column) if self._shows_p(column) else None
            for index, (row, shown) in enumerate(zip(self.rows, rows, strict=True)):
                shown.append(mark(column.cell(row)) if index in leaders else column.cell(row))
                if p_values is not None:
                    p = p_values[index]
                    shown.append(NO_VALUE if p is None else f"{p:.4f}")
        return [title for column in self.columns for title in self._titles(column)], rows

    def all_notes(self, mark: str) -> list[str]:
        """The notes, and a line that explains marks or p-values if there are any."""
        if all(column.evidence is None for column in self.columns):
            return list(self.notes)
        test = f"two-sided paired permutation test, {self.permutations:,} permutations"
        if self.baseline is not None:
            return [*self.notes, f"p: against {self.baseline.name} ({test})."]
        best = "the best of a column and all that are not significantly worse"
        return [f"{mark}: {best} ({test}, p < {SIGNIFICANT}).", *self.notes]

    def _shows_p(self, column: Column[Row]) -> bool:
        return self.baseline is not None and column.evidence is not None

    def _titles(self, column: Column[Row]) -> list[str]:
        return [column.title, "p"] if self._shows_p(column) else [column.title]

    def _of_words(self) -> list[bool]:
        """For each column that people see, whether it has words, which are aligned on the left."""
        return [
            title == column.title and any(isinstance(column.value(row), str) for row in self.rows)
            for column in self.columns
            for title in self._titles(column)
        ]

    # For programs

    def tsv(self) -> str:
        """A header of keys and a line for each row, with tabs between cells; quoted as in CSV."""
        stream = StringIO()
        lines = (map(visible, line) for line in self._lines())
        csv.writer(stream, delimiter="\t", lineterminator="\n").writerows(lines)
        return stream.getvalue()

    def _lines(self) -> Iterable[list[str]]:
        """The keys and all rows, numbers with all digits; nothing for missing values."""
        plain = [dict(_flat(row)) for row in self.to_json()]
        keys = list(dict.fromkeys(key for row in plain for key in row)) or [one.key for one in self.columns]
        return [keys, *([_plain_text(row.get(key)) for key in keys] for row in plain)]

    def to_json(self) -> list[dict[str, Any]]:
        """An object for each row, with values by key, and objects of spreads and of p-values."""
        columns = self.columns
        rows: list[dict[str, Any]] = [{one.key: one.value(row) for one in columns} for row in self.rows]
        spreads = {column.key: column.spread for column in self.columns if column.spread is not None}
        p_values = {column.key: self.p_values(column) for column in self.columns if column.evidence}
        for index, (row, plain) in enumerate(zip(self.rows, rows, strict=True)):
            if spreads:
                plain["spread"] = {key: spread(row) for key, spread in spreads.items()}
            if p_values:
                plain["p"] = {key: p[index] for key, p in p_values.items() if p[index] is not None}
            if self.details is not None:
                plain.update(self.details(row))
        return rows


def cells_table(
    title: str,
    columns: Mapping[str, int | Callable[[Any], str] | None],
    rows: Sequence[Sequence[Any]],
    notes: Sequence[str] = (),
) -> Table[Sequence[Any]]:
    """A table whose rows are sequences of cells; titles have decimals or a function that shows a cell."""

    def column(place: int, name: str, how: int | Callable[[Any], str] | None) -> Column[Sequence[Any]]:
        value = itemgetter(place)
        if callable(how):
            return Column(name, name, value, shown=lambda row: how(value(row)))
        return Column(name, name, value, how)

    return Table(title, [column(place, *named) for place, named in enumerate(columns.items())], rows, notes)


def _flat(row: Mapping[str, Any]) -> Iterator[tuple[str, Value]]:
    """The cells of a row for programs; those in an object are called by both keys, such as ``p_aed``."""
    for key, value in row.items():
        if isinstance(value, Mapping):
            yield from ((f"{key}_{column}", cell) for column, cell in value.items())
        else:
            yield key, value


def _plain_text(value: Value) -> str:
    """A value with all digits, nothing for None."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)
