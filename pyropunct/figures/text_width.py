"""The widths of texts in a drawing, in DejaVu Serif, which is wider than most fonts."""

import unicodedata
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.ft2font import FT2Font

UNITS = 1024
"""Pixels to an em at which the font is measured."""

WIDE, OTHER = 1.05, 0.65
"""The widths, in ems, of East Asian characters and of others that the font lacks."""


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """The width of a text in pixels; combining marks have none, missing characters get an estimate."""
    return size * sum(_width(character, bold) for character in text)


def shortened(text: str, size: float, width: float) -> str:
    """A text, cut and with an ellipsis if it is wider than some pixels."""
    if text_width(text, size) <= width:
        return text
    while text and text_width(text + "…", size) > width:
        text = text[:-1]
    return text + "…"


@cache
def _width(character: str, bold: bool) -> float:
    """The width of a character in ems."""
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return WIDE
    font, glyphs = _font(bold)
    if ord(character) not in glyphs:
        return OTHER
    return font.load_glyph(glyphs[ord(character)]).linearHoriAdvance / 2**16 / UNITS


@cache
def _font(bold: bool) -> "tuple[FT2Font, dict[int, Any]]":
    """A font, and the numbers of its glyphs by those of characters."""
    # Imported here, because matplotlib takes a while, and drawings as text do without it.
    from matplotlib import get_data_path
    from matplotlib.ft2font import FT2Font

    name = "DejaVuSerif-Bold.ttf" if bold else "DejaVuSerif.ttf"
    font = FT2Font(str(Path(get_data_path(), "fonts", "ttf", name)))
    font.set_size(UNITS, 72)  # a point is a pixel
    return font, font.get_charmap()
