"""The results of a comparison: tables for people, one object for programs, and the files of both."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from pyropunct.compare.table import Table


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
