"""Tables and significance of a comparison of systems that restore punctuation."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from pyropunct.papers.experiment import FORMAT, Results
from pyropunct.papers.li_2019.restorers import Conditions
from pyropunct.papers.li_2019.results import (
    GOLD_TREES,
    ParserResult,
    Runs,
    SystemResult,
    TreebankSize,
    over_seeds,
)
from pyropunct.significance import f1
from pyropunct.tables import Column, Table


def _score(key: str, title: str, trees: str, evidence: str, **test: Any) -> Column[SystemResult]:
    """The column of a score with gold or with predicted trees."""
    outcome = f"with_{trees}_trees."
    value, counts = attrgetter(outcome + key), attrgetter(outcome + evidence)
    return Column(f"{key}_{trees}_trees", f"{title}, {trees} trees", value, 4, evidence=counts, **test)


SCORES: tuple[Column[SystemResult], ...] = (
    *(_score("perplexity", "perplexity", trees, "log_probs") for trees in ("gold", "predicted")),
    *(_score("aed", "AED", trees, "edits") for trees in ("gold", "predicted")),
    _score("f1", "micro F1", "predicted", "marks", statistic=f1, best=max),
    Column("training_seconds", "training seconds", attrgetter("training_seconds"), 0),
)
"""All systems have the same slots, so the tests compare totals instead of averages per slot."""

COLUMNS = tuple(map(over_seeds, SCORES))

PARSER_SCORES: tuple[Column[ParserResult], ...] = (
    Column("uas", "UAS", attrgetter("scores.uas"), 2),
    Column("las", "LAS", attrgetter("scores.las"), 2),
    Column("tags", "tags", attrgetter("scores.upos"), 2),
    Column("training_seconds", "training seconds", attrgetter("training_seconds"), 0),
)


def restoration_results(
    conditions: Conditions,
    sizes: Mapping[str, TreebankSize],
    parsers: Sequence[Runs[ParserResult]],
    systems: Sequence[Runs[SystemResult]],
    environment: Mapping[str, Any],
) -> Results:
    """All systems side by side, and with parsers a table of these and of the gold trees.

    :param sizes: of "train", "dev", which decides when training stops, and of "test" if that is measured on.
    :param parsers: the parsers, the one with most training data last; empty if no system uses trees.
    :param systems: the systems; like the parsers, each with a result for every seed.
    """
    title: Column[Runs[SystemResult]] = Column("title", "system", attrgetter("first.title"))
    notes, tests = tuple(_notes(conditions, sizes, parsers)), (conditions.permutations, conditions.seed)
    table = Table("Comparison", (title, *COLUMNS), systems, notes, None, *tests)
    tables: dict[str, Table[Any]] = {"systems": table}
    if parsers:
        tables["parsers"] = _parser_table(parsers, systems)
    data = {
        "format": FORMAT,
        "checksums": {name: sizes[name].checksum for name in ("train", "dev")},
        "settings": conditions.to_json(),
        "environment": dict(environment),
        "treebanks": {name: size.to_json() for name, size in sizes.items()},
        "parsers": [[result.to_json() for result in parser.results] for parser in parsers],
        "systems": [_system_json(system) for system in systems],
        "columns": {column.key: _column_json(table, column) for column in COLUMNS},
    }
    return Results(tables, data)


def _parser_table(
    parsers: Sequence[Runs[ParserResult]], systems: Sequence[Runs[SystemResult]]
) -> Table[Runs[ParserResult]]:
    """A row for each parser, and one for the gold trees, whose scores are 100."""
    columns: list[Column[Runs[ParserResult]]] = [
        Column("trees", "trees", lambda row: f"parser, {row.first.share}%" if row.first.share else "gold"),
        Column("sentences", "sentences", attrgetter("first.sentences")),
        *map(over_seeds, PARSER_SCORES),
    ]
    for system in systems:
        if system.first.uses_trees and len(system.first.outcomes) == 1 + len(parsers):
            columns.append(_edits_of(system))
    return Table("Trees", columns, [*parsers, Runs((GOLD_TREES,))])


def _edits_of(system: Runs[SystemResult]) -> Column[Runs[ParserResult]]:
    """The average edit distances of a system with the trees of each row."""

    def aed(row: Runs[ParserResult]) -> Callable[[SystemResult], float]:
        return lambda result: result.aed_at(row.first.share)

    key, title = f"aed_{system.first.name}", f"AED, {system.first.title}"
    return Column(key, title, lambda row: system.mean(aed(row)), 4, lambda row: system.spread(aed(row)))


def _notes(
    conditions: Conditions, sizes: Mapping[str, TreebankSize], parsers: Sequence[Runs[ParserResult]]
) -> Iterable[str]:
    *_, (name, measured) = sizes.items()
    seed, seeds = conditions.seed, conditions.seeds
    several = f"mean ± standard deviation of the seeds {seed} to {seed + seeds - 1}"
    yield (
        f"Trained on {sizes['train'].sentences:,} sentences, measured on {measured.sentences:,} of {name} "
        f"with {measured.slots:,} slots; {conditions.samples} draws, decoder {conditions.decoder}, "
        f"{several if seeds > 1 else f'seed {seed}'}."
    )
    if name == "dev":
        yield "Dev also says when training stops, which flatters what is measured on it."
    if parsers:
        yield (
            f"Predicted trees: at most {conditions.trees} for each sentence, by the parser trained on "
            f"{parsers[-1].first.share}%; the perplexity is that of their mixture."
        )


def _column_json(table: Table[Runs[SystemResult]], column: Column[Runs[SystemResult]]) -> dict[str, Any]:
    """The best systems of a column, and the p-value of each pair of systems."""
    names, pairs = [system.first.name for system in table.rows], table.pairs(column)
    return {
        "best": [names[row] for row in table.leaders(column)],
        "p_values": [{"systems": [names[row] for row in pair], "p": p} for pair, p in pairs.items()],
    }


def _system_json(system: Runs[SystemResult]) -> dict[str, Any]:
    return {
        "name": system.first.name,
        "title": system.first.title,
        **{column.key: system.mean(column.value) for column in SCORES},
        "spread": {column.key: system.spread(column.value) for column in SCORES},
        "runs": [
            {
                "outcomes": [outcome.to_json() for outcome in result.outcomes],
                "training_seconds": result.training_seconds,
                "report": dict(result.report),
            }
            for result in system.results
        ],
    }
