"""The numbers that a comparison found, and which of them differ significantly."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pyropunct.comparison.columns import COLUMNS, Column
from pyropunct.comparison.results import ParserResult, SystemResult, TreebankSize
from pyropunct.comparison.settings import Settings

FORMAT = "pyropunct comparison"
"""The name of the format, which the JSON object of a comparison states."""

SIGNIFICANT = 0.05
"""A difference with a smaller p-value is significant."""


@dataclass(frozen=True)
class Findings:
    """All systems side by side.

    :ivar settings: the settings of the comparison.
    :ivar train: the training treebank.
    :ivar dev: the treebank on which everything was measured.
    :ivar parsers: the parsers, the one with most training data last; empty if no system uses trees.
    :ivar systems: the systems.
    :ivar environment: the versions of software, and the number of threads.
    """

    settings: Settings
    train: TreebankSize
    dev: TreebankSize
    parsers: tuple[ParserResult, ...]
    systems: tuple[SystemResult, ...]
    environment: Mapping[str, Any]

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
        values = {system.name: column.value(system) for system in self.systems if system.name in tested}
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
            "treebanks": {"train": self.train.to_json(), "dev": self.dev.to_json()},
            "parsers": [parser.to_json() for parser in self.parsers],
            "systems": [_system_json(system) for system in self.systems],
            "columns": {column.key: self._column_json(column) for column in COLUMNS},
        }

    def _column_json(self, column: Column) -> dict[str, Any]:
        tests = [{"systems": list(pair), "p": p} for pair, p in self.p_values[column.key].items()]
        return {"best": self.leaders(column), "p_values": tests}


def _system_json(system: SystemResult) -> dict[str, Any]:
    return {
        "name": system.name,
        "title": system.title,
        **{column.key: column.value(system) for column in COLUMNS},
        "log_likelihood": system.log_likelihood,
        "restorations": [outcome.to_json() for outcome in system.outcomes],
        "report": dict(system.report),
    }
