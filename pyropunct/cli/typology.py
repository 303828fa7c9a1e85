"""The command ``pyropunct typology``, and its tables."""

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
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
opening, closing   marks of pairs, by the side on which constituents sprout
                   them; a quote or bracket without this is on both or none
abbr., ^           the dot of an abbreviation; the beginning of the sentence"""

POOLED, HELD_OUT = "The same, pooled with other languages", "Perplexity per pair in held-out sentences"

POOLED_LEGEND = """\
count  how often the pair is expected in all languages
→      behind the share in the language alone (half a count is added to each
       outcome) stands the share that is pooled with other languages"""

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
    pool: bool = False,
    held_out: Annotated[tuple[str, ...], Placeholder("FILE")] = (),
    plot: str | None = None,
    format: TableFormat = "table",
    use: ModelUse,
    json: Json = False,
) -> None:
    """Compare the punctuation of several languages: a MODEL of each, and a FILE, its treebank in CoNLL-U.

    Marks are aligned by function: they open, close, end the sentence, are commas, dashes, colons or others.
    Shows outcomes of neighbouring underlying marks, how often each relation sprouts commas, brackets or
    quotation marks, and how many final marks the root sprouts, with intervals.  All counts are expectations
    under q(T').  Each language is named after the file of its model.

    :param rows: rows of each table and of the plot; tables for programs have all.
    :param pool: also show the shares of outcomes of neighbours under a hierarchical model, in which a
        language with few marks borrows from the others; in tables for people, and JSON.
    :param held_out: with --pool, another treebank of a language, to see which shares predict it better;
        repeatable, one for each MODEL in their order.
    :param plot: SVG file for a plot with a dot and an interval for each row and language.
    """
    from pyropunct.tasks.explain.typology import side_by_side

    languages = _languages(models)
    if held_out and (not pool or len(held_out) != len(languages)):
        raise click.UsageError("--held-out needs --pool, and one FILE for each MODEL")
    check_output(plot, SVG, (*models, *held_out))
    counts = [_counts(use, *places) for places in languages.values()]
    compared = side_by_side(counts, **vars(settings))
    report = TypologyReport(list(languages), counts, compared, rows)
    if plot is not None:
        from pyropunct.figures.plots import typology_svg

        write_output(plot, typology_svg(list(languages), report.prominent_rows))
    if pool:
        others = zip(languages.values(), held_out, counts, strict=False)
        unseen = [_counts(use, model, file, one.functions) for (model, _), file, one in others]
        report.add_pooled(counts, unseen, settings.least)
    report.show("json" if json else format)


def _languages(given: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Each model and its treebank, by the name of the language."""
    if len(given) % 2:
        raise click.UsageError(f"each MODEL needs a FILE behind it: {given[-1]} has none")
    places = list(zip(given[::2], given[1::2], strict=True))
    named = {Path(model).name.removesuffix(".safetensors"): (model, file) for model, file in places}
    if len(named) < len(places):
        raise click.UsageError("two languages have the same name: give their models other file names")
    return named


def _counts(
    use: ModelUse, model: str, file: str, functions: Mapping[str, str] | None = None
) -> "LanguageCounts":
    from pyropunct.errors import MissingPartError
    from pyropunct.tasks.explain.typology import language_counts

    loaded, sentences = use.load(model), list(read_file(file, tell=True))
    with console.sentence_bar(model, 2 * len(sentences)) as advance:
        try:
            return language_counts(loaded, sentences, advance, functions)
        except MissingPartError as error:
            raise UserError(f"{model}: {error}") from error


class TypologyReport(LearnedReport):
    """Languages side by side; people see the ``most`` rows of each table."""

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
        self.languages, self.most = languages, most

    def add_pooled(
        self, counts: "Sequence[LanguageCounts]", unseen: "Sequence[LanguageCounts]", least: float
    ) -> None:
        """Show pooled shares last, and how well they predict counts in other treebanks.

        :param least: leave out pairs with a smaller total expected count.
        """
        from pyropunct.compare.table import cells_table
        from pyropunct.tasks.explain.pooling import pair_counts, perplexities, pool

        found, rows = pool(counts), list[tuple[Any, ...]]()
        for place, (pair, outcomes) in enumerate(found.outcomes.items()):
            total = float(found.counts[:, place].sum())
            for edit, outcome in enumerate(outcomes) if total >= least else ():
                at = slice(None), place, edit
                shares = zip(found.own[at].tolist(), found.pooled[at].tolist(), strict=True)
                rows.append((pair, outcome, total, *shares))
        rows.sort(key=itemgetter(2), reverse=True)
        shown = [row for row in rows if max(pooled for _, pooled in row[3:]) >= LEAST_SHOWN][: self.most]
        columns = {"of": None, "outcome": None, "count": 1, **dict.fromkeys(self.languages, _own_and_pooled)}
        self.tables = [*self.tables, cells_table(POOLED, columns, shown, [POOLED_LEGEND])]
        self.whole["pooled"] = [dict(zip(columns, row, strict=True)) for row in rows]
        if unseen:
            others, _ = pair_counts(unseen)
            both = (perplexities(kind, others) for kind in (found.own, found.pooled))
            scores = list(zip(self.languages, others.sum((-1, -2)).tolist(), *both, strict=True))
            columns = {"language": None, "pairs": 1, "own": 3, "pooled": 3}
            self.tables = [*self.tables, cells_table(HELD_OUT, columns, scores)]
            self.whole["held_out"] = [dict(zip(columns, score, strict=True)) for score in scores]


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


def _own_and_pooled(shares: tuple[float, float]) -> str:
    return " → ".join(f"{100 * share:.0f}" for share in shares)
