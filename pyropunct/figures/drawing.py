"""Drawings of a tree with its underlying punctuation and its surface string: as text and as SVG.

Like Figure 1 of Li, Wang & Eisner (2019), they show the tree T with the punctemes that its constituents
sprouted, the underlying string u, the edits of the noisy channel, and the surface string x.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from pyropunct.explain.derivations import SlotDerivation
from pyropunct.treebank.marks import display, displayed
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree

Puncteme = Sequence[str]

_NOT_IN_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

NOTHING = "∅"
"""Stands for an empty string."""

MOST_DRAWINGS = 20
"""The most drawings in one SVG file."""


@dataclass(frozen=True)
class PunctuatedTree:
    """A sentence with everything that a drawing shows.

    :ivar sentence: the sentence.
    :ivar punctemes: T': the left and right puncteme of each word's constituent.
    :ivar derivations: of the slots 0..n, see `pyropunct.explain.derivations.Derivations.of`.
    """

    sentence: Sentence
    punctemes: Sequence[tuple[Puncteme, Puncteme]]
    derivations: Sequence[SlotDerivation]

    @property
    def tree(self) -> Tree:
        """The tree T."""
        return self.sentence.tree

    @cached_property
    def right_to_left(self) -> bool:
        """Whether most letters of the words belong to a script that is written from right to left."""
        kinds = Counter(unicodedata.bidirectional(letter) for form in self.tree.forms for letter in form)
        return kinds["R"] + kinds["AL"] > kinds["L"]

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

    def words_around(self, slots: Sequence[str]) -> list[str]:
        """The words as they are written, apart where a slot holds something or was edited."""
        return self.sentence.words_apart(
            {number for number, slot in enumerate(slots) if slot or self.derivations[number].changed}
        )


def _shown(tokens: Sequence[str]) -> str:
    return " ".join(displayed(tokens))


def edit_lines(derivations: Sequence[SlotDerivation]) -> list[str]:
    """A line for each edit of the channel, in the order of the slots."""
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

    Each line has the word between the punctemes of its constituent, then its relation.  In the surface
    string, ``{u ⇒ x}`` is a slot that the channel changed, and ``∅`` is an empty string.
    """
    derivations = punctuated.derivations
    changed = [
        f"{{{u or NOTHING} ⇒ {x or NOTHING}}}" if slot.changed else x
        for u, x, slot in zip(punctuated.underlying, punctuated.surface, derivations, strict=True)
    ]
    rows = [("underlying", punctuated.underlying), ("surface", changed)]
    lines = [f"# {punctuated.sentence.identifier}", *_outline(punctuated)]
    lines += [f"{name:<12}{_with_words(punctuated, slots)}" for name, slots in rows]
    lines += [f"{'edit':<12}{line}" for line in edit_lines(derivations)]
    return "\n".join(lines) + "\n"


def _with_words(punctuated: PunctuatedTree, slots: Sequence[str]) -> str:
    words = zip(slots[1:], punctuated.words_around(slots), strict=True)
    return " ".join(filter(None, [slots[0], *(part for slot, form in words for part in (form, slot))]))


def _outline(punctuated: PunctuatedTree) -> Iterator[str]:
    waiting = [(punctuated.tree.root, "", "")]
    while waiting:
        word, first, rest = waiting.pop()
        left, right = punctuated.sides(word)
        marked = " ".join(filter(None, (left, punctuated.tree.forms[word - 1], right)))
        yield f"{first}{marked}  [{punctuated.tree.relations[word - 1]}]"
        children = punctuated.tree.children[word]
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
"""The margin, the least gap between columns, and the width of the names of the two strings, in pixels."""

LEVEL = 70.0
"""The vertical distance of a word from its head, in pixels."""

INK, PALE, RED, BLUE, LINE = "#17202a", "#5d6d7e", "#b03a2e", "#2471a3", "#8892a0"

FRAME = {"font-family": "Georgia, serif", "font-size": f"{WORD:g}", "text-anchor": "middle"}
"""SVG attributes of a whole drawing."""

STYLES: dict[str, dict[str, str]] = {
    "word": {"fill": INK},
    "relation": {"fill": PALE, "font-size": f"{RELATION:g}", "font-style": "italic"},
    "left-puncteme": {"fill": RED, "font-weight": "bold", "text-anchor": "end"},
    "right-puncteme": {"fill": RED, "font-weight": "bold", "text-anchor": "start"},
    "slot": {"fill": RED, "font-weight": "bold"},
    # Notes and edits are English text around marks and names of any script.
    "note": {"fill": PALE, "font-size": f"{NOTE:g}", "text-anchor": "start", "unicode-bidi": "plaintext"},
    "edit": {"fill": BLUE, "font-size": f"{NOTE:g}", "text-anchor": "start", "unicode-bidi": "plaintext"},
    "arc": {"stroke": LINE, "stroke-width": "1.5", "fill": "none"},
    "rule": {"stroke": "#d5dbdb"},
    "arrow": {"stroke": BLUE, "stroke-width": "2", "fill": "none"},
}
"""For each kind of label and stroke its SVG attributes, beside those of `FRAME`."""


class Label(NamedTuple):
    """A text of a drawing: its kind in `STYLES`, the place of its anchor, and its content."""

    kind: str
    x: float
    y: float
    text: str


class Stroke(NamedTuple):
    """Straight lines of a drawing from point to point, and their kind in `STYLES`."""

    kind: str
    points: tuple[tuple[float, float], ...]


class Drawing:
    """The layout of a drawing, in pixels from the left and from the top.

    Words stand in columns.  A puncteme stands beside the head word of the constituent that sprouted it.
    Below the tree are the underlying and the surface string, with an arrow in each slot that the channel
    changed, and the edits in words.  In scripts that are written from right to left, the first word stands at
    the right, and "start" and "end" of an anchor follow the same direction, as in SVG.

    :ivar punctuated: the sentence that is drawn.
    :ivar width: of the whole drawing.
    :ivar height: of the whole drawing.
    """

    def __init__(self, punctuated: PunctuatedTree) -> None:
        self.punctuated, self._tree = punctuated, punctuated.tree
        self._depth = self._tree.depths
        self._edits = edit_lines(punctuated.derivations)
        self._place_columns()
        self._tree_bottom = MARGIN + 60 + max(self._depth) * LEVEL + 40
        self._underlying_y, self._surface_y = self._tree_bottom + 35, self._tree_bottom + 95
        self.height = self._surface_y + 30 + 20 * len(self._edits) + MARGIN

    def _place_columns(self) -> None:
        """Set the middle of each word's column and of each slot, and the width of the drawing."""
        slots = [
            max(text_width(underlying), text_width(surface))
            for underlying, surface in zip(self.punctuated.underlying, self.punctuated.surface, strict=True)
        ]
        self._word_x, self._slot_x = [], [NAMES + MARGIN + slots[0] / 2]
        edge = NAMES + MARGIN + slots[0] + GAP
        for word, slot in enumerate(slots[1:], 1):
            # Punctemes stand beside the word, which gets the width of the wider one on either side.
            form, side = (
                text_width(self._tree.forms[word - 1]),
                max(map(text_width, self.punctuated.sides(word))),
            )
            relation = text_width(self._tree.relations[word - 1], RELATION)
            half = max(form / 2 + (side + GAP / 2 if side else 0), relation / 2)
            self._word_x.append(edge + half)
            edge += 2 * half + GAP
            self._slot_x.append(edge + slot / 2)
            edge += slot + GAP if slot else 0
        notes = max(
            (text_width(line, NOTE) for line in [*self._edits, self.punctuated.sentence.identifier]),
            default=0,
        )
        self.width = round(max(edge, NAMES + MARGIN + notes) + MARGIN)

    def elements(self) -> Iterator[Label | Stroke]:
        """All labels and strokes of the drawing."""
        for element in self._from_left_to_right():
            if not self.punctuated.right_to_left:
                yield element
            elif isinstance(element, Label):
                yield element._replace(x=self.width - element.x)
            else:
                yield element._replace(points=tuple((self.width - x, y) for x, y in element.points))

    def _from_left_to_right(self) -> Iterator[Label | Stroke]:
        yield Label("note", MARGIN, MARGIN + 10, self.punctuated.sentence.identifier)
        for word, head in enumerate(self._tree.heads, 1):
            if head:
                yield self._arc(word, head)
        for word in range(1, len(self._tree) + 1):
            yield from self._node(word)
        yield Stroke("rule", ((MARGIN, self._tree_bottom), (self.width - MARGIN, self._tree_bottom)))
        yield from self._string("underlying", self.punctuated.underlying, self._underlying_y)
        for x, slot in zip(self._slot_x, self.punctuated.derivations, strict=True):
            if slot.changed:
                yield _arrow(x, self._underlying_y + 10, self._surface_y - 20)
        yield from self._string("surface", self.punctuated.surface, self._surface_y)
        for row, line in enumerate(self._edits):
            yield Label("edit", NAMES + MARGIN, self._surface_y + 30 + 20 * row, line)

    def _y(self, word: int) -> float:
        """The baseline of a word in the tree."""
        return MARGIN + 60 + LEVEL * self._depth[word - 1]

    def _arc(self, word: int, head: int) -> Stroke:
        start = (self._word_x[head - 1], self._y(head) + 24)
        return Stroke("arc", (start, (self._word_x[word - 1], self._y(word) - 20)))

    def _node(self, word: int) -> Iterator[Label]:
        form, x, y = self._tree.forms[word - 1], self._word_x[word - 1], self._y(word)
        yield Label("word", x, y, form)
        yield Label("relation", x, y + 18, self._tree.relations[word - 1])
        side = text_width(form) / 2 + GAP / 2
        left, right = self.punctuated.sides(word)
        if left:
            yield Label("left-puncteme", x - side, y, left)
        if right:
            yield Label("right-puncteme", x + side, y, right)

    def _string(self, name: str, slots: Sequence[str], y: float) -> Iterator[Label]:
        yield Label("note", MARGIN, y, name)
        words = self.punctuated.words_around(slots)
        starts = [place for place, form in enumerate(words) if form]
        for start, end in pairwise([*starts, len(words)]):
            yield Label("word", (self._word_x[start] + self._word_x[end - 1]) / 2, y, words[start])
        for x, slot in zip(self._slot_x, slots, strict=True):
            if slot:
                yield Label("slot", x, y, slot)


def _arrow(x: float, start: float, end: float) -> Stroke:
    return Stroke("arrow", ((x, start), (x, end), (x - 4, end - 6), (x, end), (x + 4, end - 6)))


def drawn_svg(punctuated_trees: Sequence[PunctuatedTree]) -> str:
    """Some trees, one below the other, as a self-contained SVG file; equal trees give equal files.

    See `Drawing` for the layout.
    """
    drawings = [Drawing(punctuated) for punctuated in punctuated_trees]
    tops = list(accumulate((drawing.height for drawing in drawings), initial=0.0))
    width = max((drawing.width for drawing in drawings), default=0.0)
    pieces = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{tops[-1]:g}" '
        f'viewBox="0 0 {width:g} {tops[-1]:g}" {_attributes(FRAME)}>',
        "<title>Trees, their underlying punctuation and their surface punctuation</title>",
        f'<rect width="{width:g}" height="{tops[-1]:g}" fill="#ffffff"/>',
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
        return f'<text x="{element.x:g}" y="{element.y:g}" {style}>{_xml(element.text)}</text>'
    points = " L".join(f"{x:g} {y:g}" for x, y in element.points)
    return f'<path d="M{points}" {style}/>'


def _attributes(values: Mapping[str, str]) -> str:
    return " ".join(f"{name}={quoteattr(value)}" for name, value in values.items())


def _xml(content: str) -> str:
    """Text as XML; a character that XML does not allow becomes a replacement character."""
    return escape(_NOT_IN_XML.sub("\ufffd", content))


def text_width(text: str, size: float = WORD) -> float:
    """The approximate width of a text in pixels.

    East Asian characters are about twice as wide as others; marks above and below letters have no width.
    """
    return size * sum(map(_relative_width, text))


def _relative_width(character: str) -> float:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0.0
    return 1.05 if unicodedata.east_asian_width(character) in "WF" else 0.58
