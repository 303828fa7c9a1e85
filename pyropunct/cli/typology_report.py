"""What `typology` shows of languages side by side."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pyropunct.cli.report import Report, Row
from pyropunct.tables import NO_VALUE, Table, cells_table
from pyropunct.tasks.explain.relations import grew_query
from pyropunct.tasks.explain.sprouted import COPULA_DASHES, FINAL_MARKS, IN_CLAUSE, PAGE, PUNCTEMES, RELATIONS
from pyropunct.tasks.explain.tallies import Share
from pyropunct.tasks.explain.typology import PAIRS, Comparison
from pyropunct.text.marks import display

LANGUAGE_LEGEND = """\
Each cell has a share in percent, an interval in parentheses, and how many
constituents or pairs it is of. A cell is empty if these are fewer than --least.
*  the intervals of two languages do not overlap: languages differ in this
opening, closing   marks of pairs, by the side on which constituents sprout
                   them; a quote or bracket without this is on both or none
abbr., ^           the dot of an abbreviation; the beginning of the sentence
–                  the treebank never uses the relation: perhaps annotators
                   differ, not languages
initial, final     nothing of its head's clause stands before it, or behind
                   it, but conjunctions and conjuncts; medial: between"""

PUNCTEME_LEGEND = """\
a | b              a constituent sprouts a on its left, b on its right; "beside"
                   is what it has there on the page; ε is nothing
symmetric          the same on both sides, or marks that face each other"""

LEAST_SHOWN = 0.1
"""People see the outcomes with this share or more in some language, and all outcomes of `SHORT` tables."""

SHORT = (IN_CLAUSE, FINAL_MARKS, COPULA_DASHES)

TITLES = {
    RELATIONS: "What constituents of each relation sprout",
    PUNCTEMES: "Pairs of punctemes, the most symmetric relations first",
    PAGE: "What stands beside constituents on the page",
    IN_CLAUSE: "Where constituents stand in the clause, and commas that set them off",
    FINAL_MARKS: "Final marks",
    COPULA_DASHES: "Dashes for a copula, on the page",
    PAIRS: "What becomes of neighbouring underlying marks",
}

_SHARE = ("share", "low", "high", "expected", "total")
_NOTHING = (None,) * len(_SHARE)
LANGUAGE_COLUMNS = ("table", "of", "outcome", "language", *_SHARE, "differs", "seed", "note", "file")
"""Of the table for programs, which has a row for each outcome in each language; shares are from 0 to 1."""

NOT_ANNOTATED = "not annotated"
"""The note of a language whose treebank never uses a relation."""


def typology_report(
    languages: Mapping[str, Mapping[str, str]],
    compared: Sequence[Comparison],
    shown: Sequence[Comparison],
    files: Mapping[str, str] = MappingProxyType({}),
) -> Report:
    """Languages, with functions of marks, side by side; people see the rows that are ``shown``.

    :param files: the treebank of each language, for programs.
    """
    rows, prominent = list[Row](), list[Row]()
    for one in compared:
        for place, (language, share) in enumerate(zip(languages, one.shares, strict=True)):
            note = NOT_ANNOTATED if place in one.unused else None
            if share is None and note is None:
                continue
            numbers = _NOTHING if share is None else (share.value, share.low, share.high, *share[:2])
            key = one.table, one.of, one.outcome, language
            cells = (*key, *numbers, one.differs, one.seed, note, files.get(language))
            plain = dict(zip(LANGUAGE_COLUMNS, cells, strict=True))
            title = f"{language}  {one.name}  {_cell(share)}"
            query = grew_query(one.of, one.outcome) if one.table == PUNCTEMES else None
            rows.append(Row(cells, plain, key, title, share.expected if share else 0.0, query))
            prominent += rows[-1:] if one in shown and one.table != PAIRS else []
    functions = {
        name: {display(mark): function for mark, function in of_marks.items()}
        for name, of_marks in languages.items()
    }
    whole = {"languages": list(languages), "functions": functions, "shares": [row.plain for row in rows]}
    prominent.sort(key=lambda row: [*TITLES].index(row.cells[0]))
    return Report(whole, _languages(list(languages), shown), LANGUAGE_COLUMNS, rows, prominent)


def _languages(languages: Sequence[str], shown: Sequence[Comparison]) -> Iterator[Table[Any]]:
    """Tables for people, with a column for each language."""
    columns = dict.fromkeys(("of", "outcome", "differs", *languages))
    for table, title in TITLES.items():
        if rows := [one for one in shown if one.table == table]:
            written = [(one.of, one.outcome, "*" if one.differs else "", *_row(one)) for one in rows]
            notes = [LANGUAGE_LEGEND] if rows[-1] is shown[-1] else []
            yield cells_table(title, columns, written, [PUNCTEME_LEGEND] * (table == PUNCTEMES) + notes)


def shown_rows(compared: Sequence[Comparison], most: int, *, rare: bool = False) -> list[Comparison]:
    """The rows that people see, at most so many of each table; ``rare``: with those below `LEAST_SHOWN`."""
    frequent = [
        one
        for one in compared
        if rare or one.table in SHORT or max(share.value for share in one.known) >= LEAST_SHOWN
    ]
    tables = ([one for one in frequent if one.table == table] for table in TITLES)
    return [one for table in tables for one in table[:most]]


def _row(one: Comparison) -> list[str]:
    """The cells of a row; `NO_VALUE` stands for relations that are not annotated."""
    return [NO_VALUE if place in one.unused else _cell(share) for place, share in enumerate(one.shares)]


def _cell(share: Share | None) -> str:
    """A share in percent; empty if it is unknown, or if its interval holds all shares."""
    value, low, high = (
        (0, 0, 100) if share is None else (round(100 * one) for one in (share.value, *share[2:]))
    )
    return "" if share is None or high - low == 100 else f"{value} ({low}–{high}) of {share.total:,.0f}"
