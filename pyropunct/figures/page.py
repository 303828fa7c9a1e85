"""Drawings of trees in a file: an SVG file, or an interactive page with a search."""

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from itertools import accumulate
from pathlib import Path
from string import Template
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from pyropunct.figures.drawing import PunctuatedTree
from pyropunct.figures.layout import NOTE, RELATION, WIDTH, WORD, Drawing, Label, Stroke
from pyropunct.fitted.recipes import Recipe
from pyropunct.tasks.explain.derivations import SLIPPED, SlotDerivation, token_fates
from pyropunct.tasks.explain.tree_text import bracket_slots
from pyropunct.text.marks import display, displayed
from pyropunct.treebank.reading import Treebank
from pyropunct.treebank.sentence import part_of

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
            *map(_svg_element, drawing.elements()),
            "</g>",
        ]
    return "\n".join([*pieces, "</svg>", ""])


def _svg_element(element: Label | Stroke) -> str:
    style = _attributes(STYLES[element.kind])
    if isinstance(element, Label):
        text = escape(_NOT_IN_XML.sub("\ufffd", element.text))
        return f'<text x="{element.x:.6g}" y="{element.y:.6g}" {style}>{text}</text>'
    points = " L".join(f"{x:.6g} {y:.6g}" for x, y in element.points)
    return f'<path d="M{points}" {style}/>'


def _attributes(values: Mapping[str, str]) -> str:
    return " ".join(f"{name}={quoteattr(value)}" for name, value in values.items())


def page_html(treebank: Treebank, trees: Sequence[PunctuatedTree], model: str, recipe: Recipe) -> str:
    """A page with a search over trees; equal arguments give equal pages.

    The page is a single file that loads nothing else: its Content-Security-Policy allows only its own style
    sheet and script, by their hashes.  Drawings are laid out here, see `pyropunct.figures.layout.Drawing`;
    the script turns them into SVG when they are shown.

    :param treebank: the source of the trees; the page lists its omitted sentences.
    :param trees: the trees to show; several trees of one sentence are posterior draws.
    """
    style, script = _part("page.css"), _part("page.js")
    data = {"about": _about(treebank, model, recipe), **_data(trees)}
    return Template(_part("page.html")).substitute(
        title=html.escape(f"{_name(treebank.path)}: underlying punctuation"),
        style_hash=_hash(style),
        script_hash=_hash(script),
        style=style,
        script=script,
        # In a script element only "<" can end the data too early.
        data=json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c"),
    )


@cache
def _part(name: str) -> str:
    return files("pyropunct.figures").joinpath(name).read_text(encoding="utf-8")


def _hash(content: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


def _name(path: str) -> str:
    """The name of a file or folder without the folders around it, so that the page does not reveal them."""
    return path if path == "<stdin>" else Path(path).resolve().name


def _about(treebank: Treebank, model: str, recipe: Recipe) -> dict[str, Any]:
    return {
        "file": _name(treebank.path),
        "sentences": len(treebank),
        "omitted": [[one.identifier, one.line, one.reason] for one in treebank.omitted],
        "lifted": list(treebank.lifted_sentences),
        "model": _name(model),
        "recipe": recipe.to_json(),
        "version": version("pyropunct"),
    }


class _Names(dict[str, int]):
    """Numbers for names, in the order in which they are first asked for."""

    def __missing__(self, name: str) -> int:
        return self.setdefault(name, len(self))

    def each(self, names: Sequence[str]) -> list[int]:
        return [self[name] for name in names]


_Tables = Mapping[str, _Names]
"""The tables of names that the data refer to by number."""


def _data(trees: Sequence[PunctuatedTree]) -> dict[str, Any]:
    """All trees, in the format that the page's script reads."""
    tables = {name: _Names() for name in ("relations", "marks", "edits", "kinds")}
    plain = [_tree(tree, tables) for tree in trees]
    names = {name: list(table) for name, table in tables.items()}
    return {"tables": names, "frame": FRAME, "styles": STYLES, "trees": plain}


def _tree(tree: PunctuatedTree, tables: _Tables) -> dict[str, Any]:
    return {
        "id": tree.sentence.identifier,
        "rightToLeft": tree.right_to_left,
        "words": tree.tree.forms,
        **_written_together(tree),
        "relations": tables["relations"].each(tree.tree.relations),
        "constituents": list(_constituents(tree, tables)),
        "slots": [
            [number, *_slot(slot, tables)]
            for number, slot in enumerate(tree.derivations)
            if slot.changed or _marks(slot.surface, tables)
        ],
        "fates": [
            [word, -1 if token is None else tables["marks"][display(token)], slot, tables["edits"][edit]]
            for word, token, slot, edit in token_fates(tree.derivations)
        ],
        "drawing": _drawing(tree, tables),
    }


def _written_together(tree: PunctuatedTree) -> dict[str, list[str]]:
    """The words of both strings where some are written together, all in the place of the first of them."""
    strings = {
        "surfaceWords": tree.words_around(tree.surface),
        "underlyingWords": tree.sentence.words_apart(bracket_slots(tree.tree, tree.punctemes)),
    }
    return {name: words for name, words in strings.items() if "" in words}


def _constituents(tree: PunctuatedTree, tables: _Tables) -> Iterator[list[Any]]:
    """The constituents that sprout something, outer ones first: head, first and last word, both punctemes."""
    for word in tree.tree.top_down:
        pair, part = tree.punctemes[word - 1], part_of(tree.punctemes[word - 1])
        left, right = ((*pair[0], part.left), (part.right, *pair[1])) if part else pair
        punctemes = [_marks(side, tables) for side in (left, right)]
        if any(punctemes):
            yield [word, *tree.tree.spans[word - 1], *punctemes]


def _slot(slot: SlotDerivation, tables: _Tables) -> list[Any]:
    """The underlying and the surface string, whether they differ, and the edits."""
    underlying = [sprouted.token for sprouted in slot.underlying]
    names = dict.fromkeys(edit.name for edit in slot.edits)
    edits = tables["edits"].each([SLIPPED] if slot.slipped else list(names))
    return [_marks(underlying, tables), _marks(slot.surface, tables), int(slot.changed), edits]


def _marks(tokens: Sequence[str], tables: _Tables) -> list[int]:
    return tables["marks"].each(displayed(tokens))


def _drawing(tree: PunctuatedTree, tables: _Tables) -> list[Any]:
    """Width, height, and the elements: kind, text, x, y of a label; kind, x, y, x, y... of a stroke."""
    drawing = Drawing(tree)
    return [drawing.width, round(drawing.height), [_element(one, tables) for one in drawing.elements()]]


def _element(element: Label | Stroke, tables: _Tables) -> list[int | str]:
    kind = tables["kinds"][element.kind]
    if isinstance(element, Label):
        return [kind, element.text, round(element.x), round(element.y)]
    return [kind, *(round(place) for point in element.points for place in point)]
