"""The results of a comparison of systems that restore punctuation: tables, significance and a plot."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any

from pyropunct.compare.comparison import Comparison
from pyropunct.compare.runner import FORMAT
from pyropunct.compare.seeds import Runs, over_seeds
from pyropunct.compare.significance import f1
from pyropunct.compare.table import Column, Table
from pyropunct.files import written_whole
from pyropunct.rivals.restoration.conditions import Conditions
from pyropunct.rivals.restoration.results import Outcome, ParserResult, SystemResult, TreebankSize


def _of_both(
    key: str, title: str, value: Callable[[Outcome], Any], evidence: Callable[[Outcome], Any]
) -> Iterator[Column[SystemResult]]:
    """The columns of a score with gold and with predicted trees."""

    def column(trees: str) -> Column[SystemResult]:
        outcome: Callable[[SystemResult], Outcome] = attrgetter(f"with_{trees}_trees")
        names = f"{key}_{trees}_trees", f"{title}, {trees} trees"
        return Column(
            *names,
            lambda system: value(outcome(system)),
            4,
            evidence=lambda system: evidence(outcome(system)),
        )

    return map(column, ("gold", "predicted"))


SCORES: tuple[Column[SystemResult], ...] = (
    *_of_both("perplexity", "perplexity", attrgetter("perplexity"), attrgetter("log_probs")),
    *_of_both("aed", "AED", attrgetter("aed"), lambda outcome: outcome.counts[:, 0]),
    Column(
        "f1_predicted_trees",
        "micro F1, predicted trees",
        lambda system: system.with_predicted_trees.scores.overall().f1,
        4,
        evidence=lambda system: system.with_predicted_trees.counts[:, 1:],
        statistic=f1,
        best=max,
    ),
    Column("training_seconds", "training seconds", lambda system: system.training_seconds, 0),
)
"""All systems have the same slots, so the tests compare totals instead of averages per slot."""

COLUMNS = tuple(map(over_seeds, SCORES))

PARSER_SCORES: tuple[Column[ParserResult], ...] = (
    Column("uas", "UAS", lambda parser: parser.scores.uas, 2),
    Column("las", "LAS", lambda parser: parser.scores.las, 2),
    Column("tags", "tags", lambda parser: parser.scores.upos, 2),
    Column("training_seconds", "training seconds", lambda parser: parser.training_seconds, 0),
)


@dataclass(frozen=True)
class RestorationComparison(Comparison):
    """All systems side by side.

    :ivar conditions: the conditions of the comparison.
    :ivar train: the training treebank.
    :ivar dev: the treebank by which training stopped, and settings were chosen.
    :ivar test: the treebank on which everything was measured; None if that is ``dev``.
    :ivar parsers: the parsers, the one with most training data last; empty if no system uses trees.
    :ivar systems: the systems; like the parsers, each with a result for every seed.
    :ivar environment: the versions of software, and the number of threads.
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
        """A row for each system, and if there are parsers, a row for each of these and for the gold trees."""
        return [self.system_table, *([self.parser_table] if self.parsers else [])]

    @cached_property
    def system_table(self) -> Table[Runs[SystemResult]]:
        """A row for each system."""
        title: Column[Runs[SystemResult]] = Column("title", "system", lambda system: system.first.title)
        columns, (permutations, seed) = (
            (title, *COLUMNS),
            (self.conditions.permutations, self.conditions.seed),
        )
        return Table("Comparison", columns, self.systems, tuple(self._notes()), None, permutations, seed)

    @property
    def parser_table(self) -> Table[int | None]:
        """A row for each parser, by its index, and one for the gold trees, whose scores are 100."""
        columns: list[Column[int | None]] = [
            Column("trees", "trees", lambda row: "gold" if row is None else f"parser, {self._share(row)}%"),
            Column(
                "sentences",
                "sentences",
                lambda row: None if row is None else self.parsers[row].first.sentences,
            ),
            *(self._of_parser(column) for column in PARSER_SCORES),
        ]
        for system in self.systems:
            if system.first.uses_trees and len(system.first.outcomes) == 1 + len(self.parsers):
                columns.append(self._of_system(system))
        return Table("Trees", columns, [*range(len(self.parsers)), None])

    def _share(self, row: int) -> int:
        return self.parsers[row].first.share

    def _of_parser(self, column: Column[ParserResult]) -> Column[int | None]:
        """A score of the parsers; that of gold trees is 100, unless it is a time."""
        gold = None if column.decimals == 0 else 100.0
        return Column(
            column.key,
            column.title,
            lambda row: gold if row is None else self.parsers[row].mean(column.value),
            column.decimals,
            spread=lambda row: None if row is None else self.parsers[row].spread(column.value),
        )

    def _of_system(self, system: Runs[SystemResult]) -> Column[int | None]:
        """The average edit distances of a system with the trees of each row; the first outcome is of gold."""

        def aed(row: int | None) -> Any:
            return lambda result: result.outcomes[0 if row is None else row + 1].aed

        return Column(
            f"aed_{system.first.name}",
            f"AED, {system.first.title}",
            lambda row: system.mean(aed(row)),
            4,
            spread=lambda row: system.spread(aed(row)),
        )

    def _notes(self) -> Iterable[str]:
        """Lines that explain the tables."""
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

    def to_svg(self) -> bytes:
        """The plot of edit distance against the quality of trees, as an SVG file."""
        from pyropunct.rivals.restoration.plot import svg  # matplotlib takes a while to import

        return svg(self.parsers, self.systems)

    def plot(self, path: str | Path) -> None:
        """Write the plot to an SVG file.

        :raises OSError: if it cannot be written.
        """
        with written_whole(Path(path)) as stream:
            stream.write(self.to_svg())

    def files(self) -> dict[str, bytes]:
        """The tables, and the plot."""
        return {**super().files(), "comparison.svg": self.to_svg()}


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
