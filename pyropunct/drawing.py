"""Drawings of a tree with its underlying punctuation and its surface string: as text and as SVG.

They show what Figure 1 of Li, Wang & Eisner (2019) shows: the tree T with the punctemes that its constituents
sprouted, the underlying string u, the edits of the noisy channel, and the surface string x.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from xml.sax.saxutils import escape

from pyropunct.derivations import SlotDerivation
from pyropunct.inference.forest import forest_of
from pyropunct.marks import START, display
from pyropunct.sentence import Sentence
from pyropunct.trees import Tree

Puncteme = Sequence[str]

_NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

NOTHING = "∅"
"""Stands for an empty string."""

MOST_DRAWINGS = 20
"""Drawings that may stand in one SVG file."""


@dataclass(frozen=True)
class PunctuatedTree:
    """All that is drawn of a sentence.

    :ivar sentence: the sentence.
    :ivar punctemes: T': the left and right puncteme of each word's constituent.
    :ivar derivations: of the slots 0..n, see `pyropunct.derivations.Derivations.of`.
    """

    sentence: Sentence
    punctemes: Sequence[tuple[Puncteme, Puncteme]]
    derivations: Sequence[SlotDerivation]

    @property
    def tree(self) -> Tree:
        """The tree T."""
        return self.sentence.tree

    @cached_property
    def children(self) -> list[list[int]]:
        """The children of each word, left to right; the root is the child of 0."""
        children: list[list[int]] = [[] for _ in range(len(self.tree) + 1)]
        for word, head in enumerate(self.tree.heads, 1):
            children[head].append(word)
        return children

    def sides(self, word: int) -> tuple[str, str]:
        """The left and right puncteme of a word's constituent, as a person reads them."""
        left, right = self.punctemes[word - 1]
        return _shown(left), _shown(right)

    @cached_property
    def underlying(self) -> list[str]:
        """The underlying string of each slot, without the sentence start."""
        return [_shown([sprouted.token for sprouted in slot.underlying]) for slot in self.derivations]

    @cached_property
    def surface(self) -> list[str]:
        """The surface string of each slot, without the sentence start."""
        return [_shown(slot.surface) for slot in self.derivations]


def _shown(tokens: Sequence[str]) -> str:
    return " ".join(display(token) for token in tokens if token != START)


def edit_lines(derivations: Sequence[SlotDerivation]) -> list[str]:
    """What the channel did, a line for each edit, in the order of the slots."""
    lines = []
    for slot in derivations:
        for edit in slot.edits:
            before, after = (" ".join(map(display, tokens)) for tokens in (edit.before, edit.after))
            lines.append(f"{before} becomes {after} ({edit.name})")
        if slot.slipped:
            ignored = _shown([sprouted.token for sprouted in slot.underlying]) or NOTHING
            lines.append(f"{ignored} becomes {_shown(slot.surface)} (slip)")
    return lines


def drawn_text(punctuated: PunctuatedTree) -> str:
    """The tree with a line for each word, the underlying and surface strings, and the edits.

    A word stands between the punctemes of its constituent, before its relation.  In the surface string,
    ``{u ⇒ x}`` is a slot that the channel changed; ``∅`` is an empty string.
    """
    derivations = punctuated.derivations
    changed = [
        f"{{{u or NOTHING} ⇒ {x or NOTHING}}}" if slot.changed else x
        for u, x, slot in zip(punctuated.underlying, punctuated.surface, derivations, strict=True)
    ]
    rows = [("underlying", punctuated.underlying), ("surface", changed)]
    lines = [f"# {punctuated.sentence.identifier}", *_outline(punctuated)]
    lines += [f"{name:<12}{_with_words(punctuated.tree, slots)}" for name, slots in rows]
    lines += [f"{'edit':<12}{line}" for line in edit_lines(derivations)]
    return "\n".join(lines) + "\n"


def _with_words(tree: Tree, slots: Sequence[str]) -> str:
    words = zip(slots[1:], tree.forms, strict=True)
    return " ".join(filter(None, [slots[0], *(part for slot, form in words for part in (form, slot))]))


def _outline(punctuated: PunctuatedTree) -> Iterator[str]:
    waiting = [(punctuated.children[0][0], "", "")]
    while waiting:
        word, first, rest = waiting.pop()
        left, right = punctuated.sides(word)
        marked = " ".join(filter(None, (left, punctuated.tree.forms[word - 1], right)))
        yield f"{first}{marked}  [{punctuated.tree.relations[word - 1]}]"
        children = punctuated.children[word]
        waiting += [
            (
                child,
                rest + ("└─ " if child == children[-1] else "├─ "),
                rest + ("   " if child == children[-1] else "│  "),
            )
            for child in reversed(children)
        ]


WORD, RELATION, NOTE = 20.0, 13.0, 14.0
"""Sizes of the font of words and marks, of relations, and of notes, in pixels."""

MARGIN, GAP, NAMES = 20.0, 14.0, 110.0
"""The free border, the least gap between columns, and the room for the names of the two strings."""

LEVEL = 70.0
"""The distance of a word from its head, downwards."""

INK, PALE, RED, BLUE, LINE = "#17202a", "#5d6d7e", "#b03a2e", "#2471a3", "#8892a0"


def drawn_svg(drawings: Sequence[PunctuatedTree]) -> str:
    """Some trees, one below the other, as an SVG file that needs nothing else; equal trees give equal files.

    Words stand in columns.  A puncteme stands beside the head word of the constituent that sprouted it; below
    are the underlying and the surface string, an arrow wherever the channel changed a slot, and the edits in
    words.
    """
    canvases = [_Canvas(drawing) for drawing in drawings]
    tops = list(accumulate((canvas.height for canvas in canvases), initial=0.0))
    width = max((canvas.width for canvas in canvases), default=0.0)
    pieces = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{tops[-1]:g}" '
        f'viewBox="0 0 {width:g} {tops[-1]:g}" font-family="Georgia, serif" font-size="{WORD:g}">',
        "<title>Trees, their underlying punctuation and their surface punctuation</title>",
        '<defs><marker id="arrow" markerWidth="6" markerHeight="6" refX="5" refY="3" orient="auto">'
        f'<path d="M0 0 L6 3 L0 6 z" fill="{BLUE}"/></marker></defs>',
        f'<rect width="{width:g}" height="{tops[-1]:g}" fill="#ffffff"/>',
    ]
    for canvas, top in zip(canvases, tops, strict=False):
        pieces += [f'<g transform="translate(0 {top:g})">', *canvas.elements(), "</g>"]
    return "\n".join([*pieces, "</svg>", ""])


class _Canvas:
    """Where everything of one drawing stands."""

    def __init__(self, punctuated: PunctuatedTree) -> None:
        self.punctuated, self.tree = punctuated, punctuated.tree
        self.depth = forest_of([self.tree.heads]).depth.tolist()
        self.edits = edit_lines(punctuated.derivations)
        self._place_columns()
        self.tree_bottom = MARGIN + 60 + max(self.depth) * LEVEL + 40
        self.underlying_y, self.surface_y = self.tree_bottom + 35, self.tree_bottom + 95
        self.height = self.surface_y + 30 + 20 * len(self.edits) + MARGIN

    def _place_columns(self) -> None:
        """The middle of each word's column and of each slot's, and the width of it all."""
        slots = [
            max(text_width(underlying), text_width(surface))
            for underlying, surface in zip(self.punctuated.underlying, self.punctuated.surface, strict=True)
        ]
        self.word_x, self.slot_x = [], [NAMES + MARGIN + slots[0] / 2]
        edge = NAMES + MARGIN + slots[0] + GAP
        for word, slot in enumerate(slots[1:], 1):
            # Punctemes stand beside the word, so it has room for the wider one on either side.
            form, side = (
                text_width(self.tree.forms[word - 1]),
                max(map(text_width, self.punctuated.sides(word))),
            )
            relation = text_width(self.tree.relations[word - 1], RELATION)
            half = max(form / 2 + (side + GAP / 2 if side else 0), relation / 2)
            self.word_x.append(edge + half)
            edge += 2 * half + GAP
            self.slot_x.append(edge + slot / 2)
            edge += slot + GAP if slot else 0
        notes = max(
            (text_width(line, NOTE) for line in [*self.edits, self.punctuated.sentence.identifier]), default=0
        )
        self.width = round(max(edge, NAMES + MARGIN + notes) + MARGIN)

    def elements(self) -> Iterator[str]:
        yield _text(MARGIN, MARGIN + 10, self.punctuated.sentence.identifier, PALE, NOTE, "start")
        for word, head in enumerate(self.tree.heads, 1):
            if head:
                yield self._arc(word, head)
        for word in range(1, len(self.tree) + 1):
            yield from self._node(word)
        yield f'<path d="M{MARGIN:g} {self.tree_bottom:g} H{self.width - MARGIN:g}" stroke="#d5dbdb"/>'
        yield from self._string("underlying", self.punctuated.underlying, self.underlying_y)
        for x, slot in zip(self.slot_x, self.punctuated.derivations, strict=True):
            if slot.changed:
                start, end = self.underlying_y + 10, self.surface_y - 22
                yield (
                    f'<path d="M{x:g} {start:g} V{end:g}" stroke="{BLUE}" stroke-width="2" '
                    'marker-end="url(#arrow)"/>'
                )
        yield from self._string("surface", self.punctuated.surface, self.surface_y)
        for row, line in enumerate(self.edits):
            yield _text(NAMES + MARGIN, self.surface_y + 30 + 20 * row, line, BLUE, NOTE, "start")

    def _y(self, word: int) -> float:
        """The baseline of a word in the tree."""
        return MARGIN + 60 + LEVEL * self.depth[word - 1]

    def _arc(self, word: int, head: int) -> str:
        start = f"M{self.word_x[head - 1]:g} {self._y(head) + 24:g}"
        end = f"L{self.word_x[word - 1]:g} {self._y(word) - 20:g}"
        return f'<path d="{start} {end}" stroke="{LINE}" stroke-width="1.5" fill="none"/>'

    def _node(self, word: int) -> Iterator[str]:
        form, x, y = self.tree.forms[word - 1], self.word_x[word - 1], self._y(word)
        yield _text(x, y, form, INK)
        yield _text(x, y + 18, self.tree.relations[word - 1], PALE, RELATION, italic=True)
        side = text_width(form) / 2 + GAP / 2
        left, right = self.punctuated.sides(word)
        if left:
            yield _text(x - side, y, left, RED, anchor="end", bold=True)
        if right:
            yield _text(x + side, y, right, RED, anchor="start", bold=True)

    def _string(self, name: str, slots: Sequence[str], y: float) -> Iterator[str]:
        yield _text(MARGIN, y, name, PALE, NOTE, "start")
        for x, form in zip(self.word_x, self.tree.forms, strict=True):
            yield _text(x, y, form, INK)
        for x, slot in zip(self.slot_x, slots, strict=True):
            if slot:
                yield _text(x, y, slot, RED, bold=True)


def _text(
    x: float,
    y: float,
    content: str,
    colour: str,
    size: float = WORD,
    anchor: str = "middle",
    *,
    bold: bool = False,
    italic: bool = False,
) -> str:
    style = f' font-size="{size:g}"' if size != WORD else ""
    style += ' font-weight="bold"' if bold else ""
    style += ' font-style="italic"' if italic else ""
    place = f'x="{x:g}" y="{y:g}" text-anchor="{anchor}"'
    return f'<text {place}{style} fill="{colour}">{_xml(content)}</text>'


def _xml(content: str) -> str:
    """Text as XML; a character that XML does not allow becomes a replacement character."""
    return escape(_NOT_IN_XML.sub("\ufffd", content))


def text_width(text: str, size: float = WORD) -> float:
    """About how wide a text is, in pixels: East Asian characters are about twice as wide as others."""
    widths = (1.05 if unicodedata.east_asian_width(c) in "WF" else 0.58 for c in text)
    return size * sum(widths)
