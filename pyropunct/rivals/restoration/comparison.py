"""The results of a comparison, as tables and as a plot."""

from pathlib import Path

from pyropunct.files import written_whole
from pyropunct.rivals.restoration.findings import Findings
from pyropunct.rivals.restoration.tables import markdown


class Comparison(Findings):
    """All systems side by side, with ways to show them."""

    def to_markdown(self) -> str:
        """The table, with the best results in bold, and a table of the parsers."""
        return markdown(self)

    def to_svg(self) -> bytes:
        """The plot of edit distance against the quality of trees, as an SVG file."""
        from pyropunct.rivals.restoration.plot import svg  # matplotlib takes a while to import

        return svg(self)

    def plot(self, path: str | Path) -> None:
        """Write the plot to an SVG file.

        :raises OSError: if it cannot be written.
        """
        with written_whole(Path(path)) as stream:
            stream.write(self.to_svg())
