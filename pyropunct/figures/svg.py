"""Drawings as SVG files."""

import re
from collections.abc import Mapping, Sequence
from itertools import accumulate
from xml.sax.saxutils import escape, quoteattr

from pyropunct.figures.drawing import PunctuatedTree
from pyropunct.figures.layout import NOTE, RELATION, WIDTH, WORD, Drawing, Label, Stroke

_NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML does not allow."""

MOST_DRAWINGS = 20
"""The most drawings in one SVG file."""

INK, PALE, RED, BLUE, LINE = "#17202a", "#5d6d7e", "#b03a2e", "#2471a3", "#8892a0"

FRAME = {
    "font-family": "Georgia, 'DejaVu Serif', serif",
    "font-size": f"{WORD:g}",
    "text-anchor": "middle",
}
"""SVG attributes of a whole drawing."""

_MARKS = {"fill": RED, "font-weight": "bold"}
_SMALL = {"fill": PALE, "font-size": f"{RELATION:g}"}
# Notes and edits are English text around marks and names of any script.
_ENGLISH = {"font-size": f"{NOTE:g}", "text-anchor": "start", "unicode-bidi": "plaintext"}

STYLES: dict[str, dict[str, str]] = {
    "word": {"fill": INK},
    "relation": {**_SMALL, "font-style": "italic"},
    "left-puncteme": {**_MARKS, "text-anchor": "end"},
    "right-puncteme": {**_MARKS, "text-anchor": "start"},
    "slot": _MARKS,
    "before": {**_SMALL, "text-anchor": "end"},
    "after": {**_SMALL, "text-anchor": "start"},
    "note": {"fill": PALE, **_ENGLISH},
    "edit": {"fill": BLUE, **_ENGLISH},
    "arc": {"stroke": LINE, "stroke-width": "1.5", "fill": "none"},
    "rule": {"stroke": "#d5dbdb"},
    "arrow": {"stroke": BLUE, "stroke-width": "2", "fill": "none"},
}
"""For each kind of label and stroke its SVG attributes, beside those of `FRAME`."""


def drawn_svg(punctuated_trees: Sequence[PunctuatedTree], width: float = WIDTH) -> str:
    """Trees, one below the other, as an SVG file cut at ``width`` pixels; equal trees give equal files."""
    drawings = [Drawing(punctuated, width) for punctuated in punctuated_trees]
    tops = list(accumulate((drawing.height for drawing in drawings), initial=0.0))
    widest = max((drawing.width for drawing in drawings), default=0.0)
    pieces = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{widest:g}" height="{tops[-1]:g}" '
        f'viewBox="0 0 {widest:g} {tops[-1]:g}" {_attributes(FRAME)}>',
        "<title>Trees, their underlying punctuation and their surface punctuation</title>",
        f'<rect width="{widest:g}" height="{tops[-1]:g}" fill="#ffffff"/>',
    ]
    for drawing, top in zip(drawings, tops, strict=False):
        direction = "rtl" if drawing.punctuated.right_to_left else "ltr"
        pieces += [
            f'<g transform="translate(0 {top:g})" direction="{direction}">',
            *map(_element, drawing.elements()),
            "</g>",
        ]
    return "\n".join([*pieces, "</svg>", ""])


def _element(element: Label | Stroke) -> str:
    style = _attributes(STYLES[element.kind])
    if isinstance(element, Label):
        text = escape(_NOT_IN_XML.sub("\ufffd", element.text))
        return f'<text x="{element.x:.6g}" y="{element.y:.6g}" {style}>{text}</text>'
    points = " L".join(f"{x:.6g} {y:.6g}" for x, y in element.points)
    return f'<path d="M{points}" {style}/>'


def _attributes(values: Mapping[str, str]) -> str:
    return " ".join(f"{name}={quoteattr(value)}" for name, value in values.items())
