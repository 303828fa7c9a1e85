"""The command ``pyropunct typology``, and its tables."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from pyropunct.cli import console
from pyropunct.cli.command import command
from pyropunct.cli.loading import SVG, Json, ModelUse, check_output, read_file, write_output
from pyropunct.cli.report import Learned, LearnedReport, TableFormat
from pyropunct.errors import UserError
from pyropunct.limits import Count, Placeholder
from pyropunct.tasks.settings import TypologySettings
from pyropunct.text.marks import display

if TYPE_CHECKING:
    from pyropunct.compare.table import Table
    from pyropunct.tasks.explain.typology import Comparison, LanguageCounts, Share

LEGEND = """\
Each cell has a share in percent, and an interval in parentheses.
*  the intervals of two languages do not overlap: languages differ in this
opening, closing   brackets and quotation marks, by the side on which
                   constituents sprout them; either is a mark that does both
abbr., ^           the dot of an abbreviation; the beginning of the sentence"""

LEAST_SHOWN = 0.1
"""People see the outcomes that have this share or more in some language."""

TITLES = {
    "pairs": "What becomes of neighbouring underlying marks",
    "relations": "What constituents of each relation sprout",
    "final marks": "Which final marks the root sprouts",
}

COLUMNS = ("table", "of", "outcome", "language", "share", "low", "high", "expected", "total", "differs")
"""Of the table for programs, which has a row for each outcome in each language; shares are from 0 to 1."""


@command
def typology(
    models: Annotated[tuple[str, ...], Placeholder("MODEL FILE [MODEL FILE]...")],
    *,
    settings: TypologySettings,
    rows: Count = 30,
    plot: str | None = None,
    format: TableFormat = "table",
    use: ModelUse,
    json: Json = False,
) -> None:
    """Compare the punctuation of several languages: a MODEL of each, and a FILE, its treebank in CoNLL-U.

    Marks are aligned by what they do: they open, close, end the sentence, are commas, dashes, colons or
    others.  Shows what becomes of neighbouring underlying marks, how often each relation sprouts commas,
    brackets or quotation marks, and how many final marks the root sprouts, with intervals.  All counts are
    expectations under p(T' | T, x).  Each language is named after the file of its model.

    :param rows: rows of each table and of the plot; tables for programs have all.
    :param plot: SVG file to write a plot to, with a dot and an interval for each row and language.
    """
    from pyropunct.tasks.explain.typology import side_by_side

    languages = _languages(models)
    check_output(plot, SVG, models)
    counts = [_counts(use, *places) for places in languages.values()]
    compared = side_by_side(counts, **vars(settings))
    report = TypologyReport(list(languages), counts, compared, rows)
    if plot is not None:
        from pyropunct.figures.plots import typology_svg

        write_output(plot, typology_svg(list(languages), report.prominent_rows))
    report.show("json" if json else format)


def _languages(given: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Each model and its treebank, by the name of the language.

    :raises UsageError: if a treebank is missing, or two languages have the same name.
    """
    if len(given) % 2:
        raise click.UsageError(f"each MODEL needs a FILE behind it: {given[-1]} has none")
    places = list(zip(given[::2], given[1::2], strict=True))
    named = {Path(model).name.removesuffix(".safetensors"): (model, file) for model, file in places}
    if len(named) < len(places):
        raise click.UsageError("two languages have the same name: give their models other file names")
    return named


def _counts(use: ModelUse, model: str, file: str) -> "LanguageCounts":
    """What a model expects in its treebank.

    :raises UserError: if its channel has no edits.
    """
    from pyropunct.tasks.explain.rules import NoEditsError
    from pyropunct.tasks.explain.typology import language_counts

    loaded, sentences = use.load(model), list(read_file(file, tell=True))
    with console.sentence_bar(model, 2 * len(sentences)) as advance:
        try:
            return language_counts(loaded, sentences, advance)
        except NoEditsError as error:
            raise UserError(f"{model}: {error}") from error


class TypologyReport(LearnedReport):
    """Languages side by side.

    :param languages: their names.
    :param most: how many rows people see of each table.
    :ivar prominent_rows: these rows.
    """

    def __init__(
        self,
        languages: Sequence[str],
        counts: "Sequence[LanguageCounts]",
        compared: "Sequence[Comparison]",
        most: int,
    ) -> None:
        self.columns, self.learned, self.parts = COLUMNS, [], []
        for one in compared:
            for language, share in zip(languages, one.shares, strict=True):
                if share is not None:
                    numbers = (share.value, share.low, share.high, share.expected, share.total)
                    cells = (one.table, one.of, one.outcome, language, *numbers, one.differs)
                    self.learned.append(Learned(cells[:4], "", share.expected, cells))
                    self.parts.append(dict(zip(COLUMNS, cells, strict=True)))
        functions = {
            name: {display(mark): function for mark, function in one.functions.items()}
            for name, one in zip(languages, counts, strict=True)
        }
        self.whole = {"languages": list(languages), "functions": functions, "shares": self.parts}
        shown = {
            table: [one for one in compared if one.table == table and _is_shown(one)][:most]
            for table in TITLES
        }
        self.prominent_rows = [one for some in shown.values() for one in some]
        self.tables = list(_tables(languages, shown))


def _is_shown(one: "Comparison") -> bool:
    return max(share.value for share in one.known) >= LEAST_SHOWN


def _tables(languages: Sequence[str], shown: "Mapping[str, Sequence[Comparison]]") -> "Iterator[Table[Any]]":
    """The tables for people, the last with the legend."""
    from pyropunct.compare.table import cells_table

    columns = {"of": None, "outcome": None, "differs": None, **dict.fromkeys(languages, _cell)}
    for table, some in shown.items():
        cells = [(one.of, one.outcome, "*" if one.differs else "", *one.shares) for one in some]
        yield cells_table(TITLES[table], columns, cells, [LEGEND] if table == list(shown)[-1] else [])


def _cell(share: "Share | None") -> str:
    if share is None:
        return ""
    return f"{100 * share.value:.0f} ({100 * share.low:.0f}–{100 * share.high:.0f})"
