"""The results of a comparison: tables for people, one object for programs, and the files of both."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic

from pyropunct.compare.settings import ExperimentSettings
from pyropunct.compare.table import Row, Table


class Comparison(ABC):
    """The results of a comparison."""

    @property
    @abstractmethod
    def tables(self) -> Sequence[Table[Any]]:
        """Tables with their notes."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """All numbers in plain JSON types."""

    def to_markdown(self) -> str:
        """All tables in Markdown, each below its title."""
        return "\n".join(f"## {table.title}\n\n{table.markdown()}" for table in self.tables)

    def files(self) -> dict[str, bytes]:
        """The files for people in the folder of the comparison, by name."""
        return {"comparison.md": self.to_markdown().encode()}


@dataclass(frozen=True)
class TableComparison(Comparison, Generic[Row]):
    """The results of a comparison in one table.

    :ivar settings: the settings.
    :ivar data: the data of training and of measuring, in plain JSON types.
    :ivar table: a row for each result.
    :ivar key: the name of the rows for programs.
    """

    settings: ExperimentSettings
    data: Mapping[str, Any]
    table: Table[Row]
    key: str = "systems"

    @property
    def tables(self) -> Sequence[Table[Row]]:
        """The table."""
        return [self.table]

    def to_json(self) -> dict[str, Any]:
        """The settings, the data and the rows of the table."""
        return {**self.settings.to_json(), **self.data, self.key: self.table.to_json()}
