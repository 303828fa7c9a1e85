"""The results of a comparison as tables."""

from collections.abc import Callable, Iterable, Sequence

from pyropunct.rivals.restoration.columns import COLUMNS
from pyropunct.rivals.restoration.findings import SIGNIFICANT, Findings
from pyropunct.rivals.restoration.results import ParserResult, Result, Runs, SystemResult
from pyropunct.rivals.restoration.settings import Settings

NO_VALUE = "–"


def system_table(comparison: Findings, mark_best: Callable[[str], str]) -> tuple[list[str], list[list[str]]]:
    """The header and the rows of the table with a row for each system.

    :param mark_best: highlights the best values and those that are not significantly worse.
    """
    rows = [[system.first.title] for system in comparison.systems]
    for column in COLUMNS:
        best = comparison.leaders(column)
        for row, system in zip(rows, comparison.systems, strict=True):
            shown = _shown(system, column.value, column.decimals)
            row.append(mark_best(shown) if system.first.name in best else shown)
    return ["system", *(column.title for column in COLUMNS)], rows


def _shown(runs: Runs[Result], value: Callable[[Result], float | None], decimals: int) -> str:
    """The mean of a value over seeds, and behind it its standard deviation if there are several."""
    mean, spread = runs.mean(value), runs.spread(value)
    if mean is None:
        return NO_VALUE
    return f"{mean:.{decimals}f}" + ("" if spread is None else f" ± {spread:.{decimals}f}")


def parser_table(comparison: Findings) -> tuple[list[str], list[list[str]]]:
    """The header and the rows of the table with a row for each parser, and one for the gold trees."""
    sources = 1 + len(comparison.parsers)
    trees = [system for system in comparison.systems if system.first.uses_trees]
    systems = [system for system in trees if len(system.first.outcomes) == sources]
    header = ["trees", "sentences", "UAS", "LAS", "tags", "training seconds"]
    rows = []
    for number, parser in enumerate(comparison.parsers, start=1):
        source = f"parser, {parser.first.share}%", f"{parser.first.sentences:,}"
        rows.append([*source, *_parser_cells(parser), *_aed(systems, number)])
    rows.append(["gold", "", "100.00", "100.00", "100.00", "", *_aed(systems, 0)])
    return [*header, *(f"AED, {system.first.title}" for system in systems)], rows


def _parser_cells(parser: Runs[ParserResult]) -> list[str]:
    """The scores of a parser, and the seconds of its training."""
    return [
        _shown(parser, lambda result: result.scores.uas, 2),
        _shown(parser, lambda result: result.scores.las, 2),
        _shown(parser, lambda result: result.scores.upos, 2),
        _shown(parser, lambda result: result.training_seconds, 0),
    ]


def _aed(systems: Iterable[Runs[SystemResult]], number: int) -> list[str]:
    """The average edit distances of systems with one kind of trees."""
    return [_shown(system, lambda result: result.outcomes[number].aed, 4) for system in systems]


def notes(comparison: Findings, how: str) -> list[str]:
    """Lines that explain the tables.

    :param how: how the best values are highlighted.
    """
    settings = comparison.settings
    lines = [
        f"{how}: the best of a column and all that are not significantly worse (two-sided paired permutation "
        f"test, {settings.permutations:,} permutations, p < {SIGNIFICANT}).",
        f"Trained on {comparison.train.sentences:,} sentences, measured on "
        f"{comparison.measured.sentences:,} {'of dev' if comparison.test is None else 'of test'} with "
        f"{comparison.measured.slots:,} slots; {settings.samples} draws, decoder {settings.decoder}, "
        f"{_seeds(settings)}.",
    ]
    if comparison.test is None:
        lines.append("Dev also says when training stops, which flatters what is measured on it.")
    if comparison.parsers:
        share = comparison.parsers[-1].first.share
        lines.append(
            f"Predicted trees: at most {settings.trees} for each sentence, by the parser trained on "
            f"{share}%; the perplexity is that of their mixture."
        )
    return lines


def _seeds(settings: Settings) -> str:
    """Which seeds the numbers are of."""
    if settings.seeds == 1:
        return f"seed {settings.seed}"
    last = settings.seed + settings.seeds - 1
    return f"mean ± standard deviation of the seeds {settings.seed} to {last}"


def markdown(comparison: Findings) -> str:
    """Both tables and the notes in Markdown."""
    parts = [_markdown_table(*system_table(comparison, "**{}**".format)), *notes(comparison, "Bold")]
    if comparison.parsers:
        parts.append(_markdown_table(*parser_table(comparison)))
    return "\n\n".join(parts) + "\n"


def _markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows))
