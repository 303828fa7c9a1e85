"""The numbers that a comparison found, and which of them differ significantly."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pyropunct.rivals.restoration.columns import COLUMNS, Column
from pyropunct.rivals.restoration.results import ParserResult, Runs, SystemResult, TreebankSize
from pyropunct.rivals.restoration.settings import Settings

FORMAT = "pyropunct comparison"
"""The name of the format, which the JSON object of a comparison states."""

SIGNIFICANT = 0.05
"""A difference with a smaller p-value is significant."""


@dataclass(frozen=True)
class Findings:
    """All systems side by side.

    :ivar settings: the settings of the comparison.
    :ivar train: the training treebank.
    :ivar dev: the treebank by which training stopped, and settings were chosen.
    :ivar test: the treebank on which everything was measured; None if that is ``dev``.
    :ivar parsers: the parsers, the one with most training data last; empty if no system uses trees.
    :ivar systems: the systems; like the parsers, each with a result for every seed.
    :ivar environment: the versions of software, and the number of threads.
    """

    settings: Settings
    train: TreebankSize
    dev: TreebankSize
    test: TreebankSize | None
    parsers: tuple[Runs[ParserResult], ...]
    systems: tuple[Runs[SystemResult], ...]
    environment: Mapping[str, Any]

    @property
    def treebanks(self) -> dict[str, TreebankSize]:
        """The treebanks by their names."""
        both = {"train": self.train, "dev": self.dev}
        return both if self.test is None else {**both, "test": self.test}

    @property
    def measured(self) -> TreebankSize:
        """The treebank on which everything was measured."""
        return self.dev if self.test is None else self.test

    @cached_property
    def p_values(self) -> dict[str, dict[tuple[str, str], float]]:
        """For each column, by its key, the p-value of each pair of systems that can be tested."""
        settings = self.settings
        return {
            column.key: column.p_values(self.systems, settings.permutations, settings.seed)
            for column in COLUMNS
        }

    def leaders(self, column: Column) -> list[str]:
        """The best system in a column and all that are not significantly worse; empty without a test."""
        tested = column.tested(self.systems)
        if not tested:
            return []
        values = {
            system.first.name: system.mean(column.value)
            for system in self.systems
            if system.first.name in tested
        }
        best = column.best(values, key=values.__getitem__)
        different = [pair for pair, p in self.p_values[column.key].items() if p < SIGNIFICANT]
        return [name for name in values if not {(name, best), (best, name)}.intersection(different)]

    def to_json(self) -> dict[str, Any]:
        """All that was found, in plain JSON types."""
        return {
            "format": FORMAT,
            "checksums": {"train": self.train.checksum, "dev": self.dev.checksum},
            "settings": self.settings.to_json(),
            "environment": dict(self.environment),
            "treebanks": {name: one.to_json() for name, one in self.treebanks.items()},
            "parsers": [[result.to_json() for result in parser.results] for parser in self.parsers],
            "systems": [_system_json(system) for system in self.systems],
            "columns": {column.key: self._column_json(column) for column in COLUMNS},
        }

    def _column_json(self, column: Column) -> dict[str, Any]:
        tests = [{"systems": list(pair), "p": p} for pair, p in self.p_values[column.key].items()]
        return {"best": self.leaders(column), "p_values": tests}


def _system_json(system: Runs[SystemResult]) -> dict[str, Any]:
    return {
        "name": system.first.name,
        "title": system.first.title,
        **{column.key: system.mean(column.value) for column in COLUMNS},
        "spread": {column.key: system.spread(column.value) for column in COLUMNS},
        "runs": [
            {
                "outcomes": [outcome.to_json() for outcome in result.outcomes],
                "training_seconds": result.training_seconds,
                "report": dict(result.report),
            }
            for result in system.results
        ],
    }
