"""How wide a text is when it is shown.

A drawing is laid out before anybody knows in which font it will be shown.  Its texts are measured in DejaVu
Serif, which comes with matplotlib, and is wider than most of the fonts that may be there in its place: with
these, the gaps between texts are larger, and nothing overlaps.
"""

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
    """The width of a text in pixels.

    Marks above and below letters have no width.  That of characters that DejaVu Serif lacks is estimated.

    :param size: of the font, in pixels.
    """
    return size * sum(_width(character, bold) for character in text)


def shortened(text: str, size: float, width: float) -> str:
    """A text, or as much of its beginning as is not wider than some pixels, and an ellipsis."""
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
