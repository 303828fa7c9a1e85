"""What commands show that was learned, with examples: punctemes of relations, and languages."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from types import MappingProxyType
from typing import Any, NamedTuple

from pyropunct.cli.progress import sentence_bar
from pyropunct.cli.report import Report
from pyropunct.punctuator import Punctuator
from pyropunct.tables import NO_VALUE, Table, cells_table
from pyropunct.tasks.explain.beside import PAGE
from pyropunct.tasks.explain.derivations import Example
from pyropunct.tasks.explain.rule_pairs import OCCURRING
from pyropunct.tasks.explain.shares import Share
from pyropunct.tasks.explain.sprouted import CLAUSES, DASHES, ENDS, RELATIONS
from pyropunct.tasks.explain.typology import PAIRS, Comparison
from pyropunct.text.marks import display
from pyropunct.treebank.sentence import Sentence

Found = Mapping[Any, Sequence[Example]]


class Learned(NamedTuple):
    """Something learned, in ``plain`` JSON types, and as a row for programs (``cells``).

    :ivar key: its key among the examples.
    :ivar title: the line above its examples.
    :ivar expected: the expected number of places in the sentences.
    :ivar query: finds its places with Grew.
    """

    key: Hashable
    cells: tuple[Any, ...]
    plain: dict[str, Any]
    title: str = ""
    expected: float = 0.0
    query: str | None = None

    @property
    def occurs(self) -> bool:
        """Whether it is expected about once or more."""
        return self.expected >= OCCURRING


@dataclass
class LearnedReport:
    """Everything learned, with places in sentences as examples.

    :ivar columns: of the table for programs; ``learned`` are its rows.
    :ivar whole: everything in plain JSON types, with those of the rows.
    :ivar tables: tables for people, and lines between them.
    :ivar prominent: the rows whose examples people see.
    :ivar examples: by their keys; None if they were not requested.
    """

    columns: Sequence[str]
    learned: Sequence[Learned]
    whole: dict[str, Any]
    tables: list[Table[Any] | str]
    prominent: Sequence[Learned] = ()
    examples: Found | None = None

    def find(
        self,
        examples: Callable[..., Found],
        model: Punctuator,
        sentences: Sequence[Sentence],
        most: int,
    ) -> None:
        """Find at most so many examples for each key; see `pyropunct.tasks.explain.derivations`."""
        if most:
            with sentence_bar("examples", len(sentences)) as advance:
                self.examples = examples(model, sentences, most, advance)

    def show(self, form: str) -> None:
        """Print in one of the formats of a `Report`."""
        Report(self._plain(), self._told(), self._rows()).show(form)

    def _plain(self) -> dict[str, Any]:
        """Everything, with the examples of each part."""
        if self.examples is not None:
            for one in self.learned:
                one.plain["examples"] = [example._asdict() for example in self.examples.get(one.key, ())]
                one.plain.update({} if one.query is None else {"grew": one.query})
        return self.whole

    def _told(self) -> Iterable[Table[Any] | str]:
        """The tables; then the examples, one a line, under titles. A title without examples says so."""
        yield from self.tables
        examples, number = self.examples or {}, count(1)
        for one in () if self.examples is None else self.prominent:
            found = examples.get(one.key, ())
            if found or one.occurs:
                yield ""
                yield one.title if found else f"{one.title}: nowhere in the best underlying trees"
            for example in found:
                yield f"  ({next(number)}) {example.id}: {example.text}"
            if found and one.query is not None:
                yield f"  Grew: {one.query}"

    def _rows(self) -> Table[Any]:
        """A row for each thing learned, or for each example of it."""
        example = () if self.examples is None else ("sentence", "before", "place", "after")
        found, nowhere = self.examples or {}, [(None,) * len(example)]
        rows = [(*one.cells, *place) for one in self.learned for place in found.get(one.key) or nowhere]
        return cells_table("", dict.fromkeys((*self.columns, *example)), rows)


def joined(reports: Sequence[LearnedReport]) -> LearnedReport:
    """One report of several treebanks, each with tables of its own."""
    if len(reports) == 1:
        return reports[0]
    report = LearnedReport(
        reports[0].columns,
        [],
        {"files": [one.whole for one in reports]},
        [table for one in reports for table in one.tables],
    )
    has_examples = any(one.examples is not None for one in reports)
    learned, prominent, examples = list[Learned](), list[Learned](), dict[Hashable, Sequence[Example]]()
    for number, one in enumerate(reports):
        learned += (row._replace(key=(number, row.key)) for row in one.learned)
        prominent += (row._replace(key=(number, row.key)) for row in one.prominent)
        examples |= {(number, key): found for key, found in (one.examples or {}).items()}
    return replace(report, learned=learned, prominent=prominent, examples=examples if has_examples else None)


# Languages

LANGUAGE_LEGEND = """\
Each cell has a share in percent, and an interval in parentheses.
*  the intervals of two languages do not overlap: languages differ in this
opening, closing   marks of pairs, by the side on which constituents sprout
                   them; a quote or bracket without this is on both or none
abbr., ^           the dot of an abbreviation; the beginning of the sentence
–                  the treebank never uses the relation: perhaps annotators
                   differ, not languages
initial, final     nothing of its head's clause stands before it, or behind
                   it, but conjunctions and conjuncts; medial: between"""

LEAST_SHOWN = 0.1
"""People see the outcomes that have this share or more in some language; of `SHORT` tables, all."""

SHORT = (CLAUSES, ENDS, DASHES)

TITLES = {
    RELATIONS: "What constituents of each relation sprout",
    PAGE: "What stands beside constituents on the page",
    CLAUSES: "Where constituents stand in the clause, and commas that set them off",
    ENDS: "Final marks",
    DASHES: "Dashes for a copula, on the page",
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
) -> LearnedReport:
    """Languages, with functions of marks, side by side; people see the rows that are ``shown``.

    :param files: the treebank of each language, for programs.
    """
    learned, prominent = list[Learned](), list[Learned]()
    for one in compared:
        for place, (language, share) in enumerate(zip(languages, one.shares, strict=True)):
            note = NOT_ANNOTATED if place in one.unused else None
            if share is not None or note:
                numbers = _NOTHING if share is None else (share.value, share.low, share.high, *share[:2])
                cells = (
                    one.table,
                    one.of,
                    one.outcome,
                    language,
                    *numbers,
                    one.differs,
                    one.seed,
                    note,
                    files.get(language),
                )
                plain = dict(zip(LANGUAGE_COLUMNS, cells, strict=True))
                title = f"{language}  {one.name}  {_cell(share)}"
                learned.append(Learned(cells[:4], cells, plain, title, share.expected if share else 0.0))
                prominent += learned[-1:] if one in shown and one.table != PAIRS else []
    functions = {
        name: {display(mark): function for mark, function in of_marks.items()}
        for name, of_marks in languages.items()
    }
    whole = {
        "languages": list(languages),
        "functions": functions,
        "shares": [one.plain for one in learned],
    }
    columns = {"of": None, "outcome": None, "differs": None, **dict.fromkeys(languages)}
    tables = list[Table[Any] | str]()
    for table, title in TITLES.items():
        if rows := [one for one in shown if one.table == table]:
            written = [(one.of, one.outcome, "*" if one.differs else "", *_row(one)) for one in rows]
            notes = [LANGUAGE_LEGEND] if rows[-1] is shown[-1] else []
            tables.append(cells_table(title, columns, written, notes))
    prominent.sort(key=lambda one: [*TITLES].index(one.cells[0]))
    return LearnedReport(LANGUAGE_COLUMNS, learned, whole, tables, prominent)


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
    if share is None:
        return ""
    return f"{100 * share.value:.0f} ({100 * share.low:.0f}–{100 * share.high:.0f})"
