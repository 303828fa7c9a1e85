"""Plots as SVG files that do not change from run to run."""

import io
import unicodedata
from collections.abc import Callable
from typing import Any

from matplotlib import style
from matplotlib.figure import Figure

STYLE: dict[str, Any] = {"svg.hashsalt": "pyropunct", "svg.fonttype": "none", "font.size": 10}
"""Settings for identifiers that do not change from run to run, and for text that is not turned into paths."""


def label(text: str) -> str:
    """A text from a treebank for a plot, without the control characters that no SVG file may have.

    Give ``parse_math=False`` with it: dollar signs are marks, not TeX.
    """
    return "".join("\N{REPLACEMENT CHARACTER}" if _is_control(one) else one for one in text)


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs") or character in "\ufffe\uffff"


def svg(draw: Callable[[Figure], None], width: float, height: float) -> bytes:
    """A plot as an SVG file; equal plots give equal files.

    :param draw: puts the plot into a figure.
    :param width: in inches.
    :param height: in inches.
    """
    with style.context(["default", STYLE]):
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure)
        written = io.BytesIO()
        figure.savefig(written, format="svg", metadata={"Date": None})
    return written.getvalue()
