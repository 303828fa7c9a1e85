"""Tables and significance of a comparison of systems that restore punctuation."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
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


@dataclass(frozen=True)
class RestorationResults(Results):
    """All systems side by side.

    :ivar test: the treebank to measure on; None if that is ``dev``, the one for early stopping and choices.
    :ivar parsers: the parsers, the one with most training data last; empty if no system uses trees.
    :ivar systems: the systems; like the parsers, each with a result for every seed.
    """

    conditions: Conditions
    train: TreebankSize
    dev: TreebankSize
    test: TreebankSize | None
    parsers: tuple[Runs[ParserResult], ...]
    systems: tuple[Runs[SystemResult], ...]
    environment: Mapping[str, Any]

    @property
    def tables(self) -> Sequence[Table[Any]]:
        """A row for each system; with parsers, also a row for each parser and for the gold trees."""
        return [self.system_table, *([self.parser_table] if self.parsers else [])]

    @cached_property
    def system_table(self) -> Table[Runs[SystemResult]]:
        """A row for each system."""
        title: Column[Runs[SystemResult]] = Column("title", "system", attrgetter("first.title"))
        tests = self.conditions.permutations, self.conditions.seed
        return Table("Comparison", (title, *COLUMNS), self.systems, tuple(self._notes()), None, *tests)

    @property
    def parser_table(self) -> Table[Runs[ParserResult]]:
        """A row for each parser, and one for the gold trees, whose scores are 100."""
        columns: list[Column[Runs[ParserResult]]] = [
            Column(
                "trees", "trees", lambda row: f"parser, {row.first.share}%" if row.first.share else "gold"
            ),
            Column("sentences", "sentences", attrgetter("first.sentences")),
            *map(over_seeds, PARSER_SCORES),
        ]
        for system in self.systems:
            if system.first.uses_trees and len(system.first.outcomes) == 1 + len(self.parsers):
                columns.append(self._of_system(system))
        return Table("Trees", columns, [*self.parsers, Runs((GOLD_TREES,))])

    def _of_system(self, system: Runs[SystemResult]) -> Column[Runs[ParserResult]]:
        """The average edit distances of a system with the trees of each row."""

        key, title = f"aed_{system.first.name}", f"AED, {system.first.title}"

        def aed(row: Runs[ParserResult]) -> Callable[[SystemResult], float]:
            return lambda result: result.aed_at(row.first.share)

        def spread(row: Runs[ParserResult]) -> float | None:
            return system.spread(aed(row))

        return Column(key, title, lambda row: system.mean(aed(row)), 4, spread)

    def _notes(self) -> Iterable[str]:
        conditions, test = self.conditions, self.test
        name, measured = ("dev", self.dev) if test is None else ("test", test)
        yield (
            f"Trained on {self.train.sentences:,} sentences, measured on {measured.sentences:,} of {name} "
            f"with {measured.slots:,} slots; {conditions.samples} draws, decoder {conditions.decoder}, "
            f"{self._seeds()}."
        )
        if test is None:
            yield "Dev also says when training stops, which flatters what is measured on it."
        if self.parsers:
            yield (
                f"Predicted trees: at most {conditions.trees} for each sentence, by the parser trained on "
                f"{self.parsers[-1].first.share}%; the perplexity is that of their mixture."
            )

    def _seeds(self) -> str:
        first, seeds = self.conditions.seed, self.conditions.seeds
        if seeds == 1:
            return f"seed {first}"
        return f"mean ± standard deviation of the seeds {first} to {first + seeds - 1}"

    def to_json(self) -> dict[str, Any]:
        """All results, in plain JSON types."""
        treebanks = {"train": self.train, "dev": self.dev}
        if self.test is not None:
            treebanks["test"] = self.test
        return {
            "format": FORMAT,
            "checksums": {"train": self.train.checksum, "dev": self.dev.checksum},
            "settings": self.conditions.to_json(),
            "environment": dict(self.environment),
            "treebanks": {name: size.to_json() for name, size in treebanks.items()},
            "parsers": [[result.to_json() for result in parser.results] for parser in self.parsers],
            "systems": [_system_json(system) for system in self.systems],
            "columns": {column.key: self._column_json(column) for column in COLUMNS},
        }

    def _column_json(self, column: Column[Runs[SystemResult]]) -> dict[str, Any]:
        """The best systems of a column, and the p-value of each pair of systems."""
        names = [system.first.name for system in self.systems]
        pairs = self.system_table.pairs(column)
        return {
            "best": [names[row] for row in self.system_table.leaders(column)],
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
