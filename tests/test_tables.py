"""DrawTables of typed columns: every format by hand, and marks and p-values where they belong."""

import csv
from typing import NamedTuple

from pyropunct.tables import Baseline, Column, Table


class Result(NamedTuple):
    name: str
    edits: tuple[int, ...] | None
    words: int = 1234

    @property
    def total(self) -> float | None:
        return None if self.edits is None else float(sum(self.edits))


COLUMNS: tuple[Column[Result], ...] = (
    Column("system", "system", lambda row: row.name),
    Column("words", "words", lambda row: row.words),
    Column("edits", "edits & more", lambda row: row.total, 2, evidence=lambda row: row.edits),
)
BAD, GOOD, NEAR = Result("a|b_", (3,) * 20), Result("good\t", (1,) * 20), Result("near", (1,) * 19 + (2,))
ROWS = (BAD, GOOD, NEAR, Result("none", None))
ABOVE = Baseline("the row above", lambda rows, index: index - 1 if index else None)


def table(*, baseline: Baseline | None = None) -> Table[Result]:
    return Table("Four systems", COLUMNS, ROWS, ("A note.",), baseline, permutations=999)


def test_the_best_and_what_is_not_significantly_worse() -> None:
    edits, found = COLUMNS[2], table()
    assert found.best(edits) == 1
    assert found.leaders(edits) == [1, 2]
    assert found.p_values(edits) == [1 / 1000, 1.0, 1.0, None]
    assert found.leaders(COLUMNS[0]) == []


def test_rows_that_find_a_sentence_impossible_are_not_tested() -> None:
    lost = Result("lost", (1,) * 19 + (float("inf"),))  # type: ignore[arg-type]
    found = Table("", COLUMNS, (lost, GOOD, NEAR), permutations=999)
    assert found.p_values(COLUMNS[2]) == [None, 1.0, 1.0]
    assert found.leaders(COLUMNS[2]) == [1, 2]


def test_a_column_whose_highest_value_is_the_best() -> None:
    column = Column[Result]("e", "e", lambda row: row.total, evidence=lambda row: row.edits, best=max)
    assert Table("", [column], ROWS).leaders(column) == [0]


def test_markdown_marks_the_best() -> None:
    assert table().markdown() == (
        "| system | words | edits & more |\n"
        "| --- | --- | --- |\n"
        "| a\\|b_ | 1,234 | 60.00 |\n"
        "| good\t | 1,234 | **20.00** |\n"
        "| near | 1,234 | **21.00** |\n"
        "| none | 1,234 | – |\n\n"
        "Bold: the best of a column and all that are not significantly worse (two-sided paired permutation "
        "test, 999 permutations, p < 0.05).\n\n"
        "A note.\n"
    )


def test_text_with_a_baseline_has_p_values() -> None:
    title, _, header, *rest = table(baseline=ABOVE).text().splitlines()
    assert title == "Four systems"
    assert header == "┃ system ┃ words ┃ edits & more ┃      p ┃"
    assert rest[1:5] == [
        "│ a|b_   │ 1,234 │        60.00 │      – │",
        "│ good\\t │ 1,234 │        20.00 │ 0.0010 │",
        "│ near   │ 1,234 │        21.00 │ 1.0000 │",
        "│ none   │ 1,234 │            – │      – │",
    ]
    assert rest[-2:] == [
        "A note.",
        "p: against the row above (two-sided paired permutation test, 999 permutations).",
    ]


def test_a_narrow_table_folds_cells_and_cuts_nothing_off() -> None:
    folded = Table("t", COLUMNS[:1], [Result("abcdefghij", None)]).text(8)
    assert [line.strip("│ ") for line in folded.splitlines()[5:8]] == ["abcd", "efgh", "ij"]


def test_formats_for_programs_have_keys_and_all_digits() -> None:
    found = table()
    assert found.tsv().splitlines()[:3] == [
        "system\twords\tedits\tp_edits",
        "a|b_\t1234\t60.0\t0.001",
        "good\\t\t1234\t20.0\t1.0",
    ]
    read = csv.DictReader(found.tsv().splitlines(), delimiter="\t")
    assert [row["edits"] for row in read] == ["60.0", "20.0", "21.0", ""]
    assert found.to_json()[3] == {"system": "none", "words": 1234, "edits": None, "p": {}}


def test_every_format_writes_an_empty_table() -> None:
    empty = Table("nothing", COLUMNS, [])
    assert empty.text().startswith("nothing\n")
    assert all(text.endswith("\n") for text in (empty.markdown(), empty.tsv()))


def test_spreads_and_cells_of_their_own() -> None:
    columns: tuple[Column[float], ...] = (
        Column("mean", "mean", lambda row: row, 1, spread=lambda row: row / 10 if row else None),
        Column("share", "share", lambda row: row / 100, shown=lambda row: f"{row:.0f}%"),
        Column("any", "any", lambda row: row > 0),
    )
    found = Table("t", columns, [25.0, 0.0])
    assert found.cells(str)[1] == [["25.0 ± 2.5", "25%", "yes"], ["0.0", "0%", "no"]]
    assert found.to_json()[0] == {"mean": 25.0, "share": 0.25, "any": True, "spread": {"mean": 2.5}}
    assert found.tsv().splitlines()[0] == "mean\tshare\tany\tspread_mean"
