"""The results of a comparison as tables."""

from collections.abc import Callable, Iterable, Sequence

from pyropunct.comparison.columns import COLUMNS
from pyropunct.comparison.findings import SIGNIFICANT, Findings
from pyropunct.comparison.results import SystemResult

NO_VALUE = "–"


def system_table(comparison: Findings, mark_best: Callable[[str], str]) -> tuple[list[str], list[list[str]]]:
    """The header and the rows of the table with a row for each system.

    :param mark_best: highlights the best values and those that are not significantly worse.
    """
    rows = [[system.title] for system in comparison.systems]
    for column in COLUMNS:
        best = comparison.leaders(column)
        for row, system in zip(rows, comparison.systems, strict=True):
            value = column.value(system)
            shown = NO_VALUE if value is None else f"{value:.{column.decimals}f}"
            row.append(mark_best(shown) if system.name in best else shown)
    return ["system", *(column.title for column in COLUMNS)], rows


def parser_table(comparison: Findings) -> tuple[list[str], list[list[str]]]:
    """The header and the rows of the table with a row for each parser, and one for the gold trees."""
    systems = [system for system in comparison.systems if system.uses_trees]
    header = ["trees", "sentences", "UAS", "LAS", "tags", "training seconds"]
    rows = []
    for number, parser in enumerate(comparison.parsers, start=1):
        scores = (f"{value:.2f}" for value in (parser.scores.uas, parser.scores.las, parser.scores.upos))
        source = f"parser, {parser.share}%", f"{parser.sentences:,}"
        rows.append([*source, *scores, f"{parser.training_seconds:.0f}", *_aed(systems, number)])
    rows.append(["gold", "", "100.00", "100.00", "100.00", "", *_aed(systems, 0)])
    return [*header, *(f"AED, {system.title}" for system in systems)], rows


def _aed(systems: Iterable[SystemResult], number: int) -> list[str]:
    """The average edit distances of systems with one kind of trees."""
    return [f"{system.outcomes[number].aed:.4f}" for system in systems]


def notes(comparison: Findings, how: str) -> list[str]:
    """Lines that explain the tables.

    :param how: how the best values are highlighted.
    """
    settings = comparison.settings
    lines = [
        f"{how}: the best of a column and all that are not significantly worse (two-sided paired permutation "
        f"test, {settings.permutations:,} permutations, p < {SIGNIFICANT}).",
        f"Trained on {comparison.train.sentences:,} sentences, measured on {comparison.dev.sentences:,} with "
        f"{comparison.dev.slots:,} slots; {settings.samples} draws, decoder {settings.decoder}, seed "
        f"{settings.seed}.",
    ]
    if comparison.parsers:
        share = comparison.parsers[-1].share
        lines.append(
            f"Predicted trees: at most {settings.trees} for each sentence, by the parser trained on {share}%."
        )
    return lines


def markdown(comparison: Findings) -> str:
    """Both tables and the notes in Markdown."""
    parts = [_markdown_table(*system_table(comparison, "**{}**".format)), *notes(comparison, "Bold")]
    if comparison.parsers:
        parts.append(_markdown_table(*parser_table(comparison)))
    return "\n\n".join(parts) + "\n"


def _markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows))
