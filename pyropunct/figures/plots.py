"""What all plots share: text without control characters, and SVG files that are always the same."""

import io
import unicodedata
import warnings
from collections.abc import Callable
from typing import Any

from matplotlib import style
from matplotlib.figure import Figure

STYLE: dict[str, Any] = {"svg.hashsalt": "pyropunct", "svg.fonttype": "none", "font.size": 10}
"""Settings for identifiers that do not change from run to run, and for text that is not turned into paths."""

FRAME_HEIGHT = 1.3
"""The height in inches of what surrounds the rows of a plot: its axis and its legend."""


def label(text: str) -> str:
    """A text for a plot, without control characters that SVG forbids; give ``parse_math=False`` with it."""
    controls = {one for one in text if unicodedata.category(one) in ("Cc", "Cs") or one in "\ufffe\uffff"}
    return text.translate(dict.fromkeys(map(ord, controls), "\N{REPLACEMENT CHARACTER}"))


def svg(draw: Callable[[Figure], None], width: float, height: float) -> bytes:
    """A plot of some inches, put into a figure by ``draw``, as an SVG file; equal plots give equal files."""
    with style.context(["default", STYLE]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # whoever shows the text has fonts of his own
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure)
        written = io.BytesIO()
        figure.savefig(written, format="svg", metadata={"Date": None})
    return written.getvalue()
