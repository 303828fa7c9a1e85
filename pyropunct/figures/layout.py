"""The layout of drawings: where words, marks, arcs and notes stand."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import NamedTuple

from pyropunct.figures.drawing import PunctuatedTree, edit_lines
from pyropunct.figures.text_width import shortened, text_width

WIDTH = 1200
"""The width of a drawing in pixels, if its words fit into it."""

WORD, RELATION, NOTE = 20.0, 13.0, 14.0
"""Sizes of the font of words and marks, of relations, and of notes, in pixels."""

MARGIN, GAP, NAMES = 20.0, 14.0, 110.0
"""The margin, the least gap between words, and the room for names at an end of a row, in pixels."""

LEFT = MARGIN + NAMES
"""Where the words of a row begin."""

ABOVE, BELOW, BAND = 20.0, 24.0, 26.0
"""How far a level of the tree reaches above and below its baseline, and the height of the arcs below it."""


class Label(NamedTuple):
    """A text: its kind in `pyropunct.figures.page.STYLES`, the place of its anchor, and its content."""

    kind: str
    x: float
    y: float
    text: str


class Stroke(NamedTuple):
    """Straight lines from point to point, and their kind in `pyropunct.figures.page.STYLES`."""

    kind: str
    points: tuple[tuple[float, float], ...]


class Drawing:
    """The layout of a drawing, in pixels from the left and from the top.

    A puncteme stands beside the head word of its constituent. Below the tree are the underlying and the
    surface string, with an arrow in each changed slot, and the edits in words. In right-to-left scripts, the
    first word is at the right, and "start" and "end" of an anchor follow the same direction, as in SVG.
    """

    def __init__(self, punctuated: PunctuatedTree, width: float = WIDTH) -> None:
        """Lay a sentence out; rows wider than ``width`` are cut, unless they have a single word."""
        self.punctuated = punctuated
        columns = _Columns(punctuated)
        self._rows: list[_Row] = []
        top = MARGIN + 40
        for words in columns.rows(width):
            self._rows.append(_Row(columns, words, top))
            top = self._rows[-1].bottom
        names = NAMES if len(self._rows) > 1 else 0.0
        notes = [punctuated.sentence.identifier, *edit_lines(punctuated.derivations)]
        ends = [row.right + names for row in self._rows]
        ends += [LEFT + text_width(note, NOTE) for note in notes]
        self.width, self.height = round(max(ends) + MARGIN), top

    def elements(self) -> Iterator[Label | Stroke]:
        """All labels and strokes of the drawing."""
        title = Label("note", MARGIN, MARGIN + 10, self.punctuated.sentence.identifier)
        for element in chain([title], *(row.elements(self.width - MARGIN) for row in self._rows)):
            if not self.punctuated.right_to_left:
                yield element
            elif isinstance(element, Label):
                yield element._replace(x=self.width - element.x)
            else:
                yield element._replace(points=tuple((self.width - x, y) for x, y in element.points))


class _Columns:
    """The room for words and slots in a row.

    :ivar halves: half of the width of each word.
    :ivar slots: the width of each slot 0..n, the wider of its two strings.
    :ivar left: the width of each word's text left of its middle in the tree; ``right``, with the slot behind.
    :ivar steps: the distances between the middles of neighbouring words.
    """

    def __init__(self, punctuated: PunctuatedTree) -> None:
        self.punctuated = punctuated
        strings = zip(punctuated.underlying, punctuated.surface, strict=True)
        self.slots = [max(_marks_width(underlying), _marks_width(surface)) for underlying, surface in strings]
        self.halves = [text_width(form, WORD) / 2 for form in punctuated.tree.forms]
        beside = [self._beside(word) for word in range(1, len(self.halves) + 1)]
        self.left = [left for left, _ in beside]
        behind = [half + _with_gap(slot) for half, slot in zip(self.halves, self.slots[1:], strict=True)]
        self.right = [max(width, right) for width, (_, right) in zip(behind, beside, strict=True)]
        self.steps = [
            GAP + max(behind[word] + self.halves[word + 1], beside[word][1] + beside[word + 1][0])
            for word in range(len(beside) - 1)
        ]

    def _beside(self, word: int) -> tuple[float, float]:
        """The widths of the text left and right of the middle of a word in the tree."""
        tree = self.punctuated.tree
        relation = text_width(tree.relations[word - 1], RELATION) / 2
        left, right = (
            max(relation, self.halves[word - 1] + (_marks_width(side) + GAP / 2 if side else 0))
            for side in self.punctuated.sides(word)
        )
        return left, right

    def start(self, words: range) -> float:
        """The middle of the first of some words in their row, which has slot 0 before word 1."""
        return LEFT + (_with_gap(self.slots[0]) if words[0] == 1 else 0) + self.left[words[0] - 1]

    def end(self, words: range) -> float:
        """The right end of a row of some words."""
        inner = sum(self.steps[word - 1] for word in words[:-1])
        return self.start(words) + inner + self.right[words[-1] - 1]

    def rows(self, width: float) -> list[range]:
        """The words of each row of a drawing; there are as few rows as can be, of about equal widths."""
        whole = range(1, len(self.halves) + 1)
        if self.end(whole) + MARGIN <= width:
            return [whole]
        rows = self._filled(width - MARGIN - NAMES)
        while len(narrower := self._filled(self._widest(rows) - 1)) == len(rows):
            if self._widest(narrower) == self._widest(rows):  # a word that is wider
                break
            rows = narrower
        return rows

    def _filled(self, end: float) -> list[range]:
        """Rows of as many words as there is room for up to an end."""
        rows = [self._together[0]]
        for some in self._together[1:]:
            longer = range(rows[-1].start, some.stop)
            if self.end(longer) <= end:
                rows[-1] = longer
            else:
                rows.append(some)
        return rows

    def _widest(self, rows: Sequence[range]) -> float:
        return max(map(self.end, rows))

    @cached_property
    def _together(self) -> list[range]:
        """Groups of words that are written together in one of both strings, and so stand in one row."""
        strings = self.punctuated.underlying, self.punctuated.surface
        written = list(zip(*map(self.punctuated.words_around, strings), strict=True))
        starts = [word for word, forms in enumerate(written, 1) if all(forms)]
        return [range(start, stop) for start, stop in pairwise([*starts, len(written) + 1])]


def _marks_width(marks: str) -> float:
    return text_width(marks, WORD, bold=True)


def _with_gap(width: float) -> float:
    return width + GAP if width else 0.0


class _Row:
    """The layout of some words of a sentence, side by side, levels of the tree below each other.

    An arc between words of two rows is cut in two, and each half ends with the name of the other word.  Trees
    are projective, so at most one head has arcs of a level that pass an end, and names do not collide.

    :ivar right: the right end of the words and marks; ``bottom``, where the next row may begin.
    """

    def __init__(self, columns: _Columns, words: range, top: float) -> None:
        self._punctuated, self._words = columns.punctuated, words
        self._tree, self._halves = columns.punctuated.tree, columns.halves
        self.right = columns.end(words)
        self._place_words(columns)
        self._rule = self._place_levels(top) + 16
        self._underlying_y, self._surface_y = self._rule + 35, self._rule + 95
        self._edits = edit_lines([self._punctuated.derivations[slot] for slot in self._slot_x])
        self.bottom = self._surface_y + 30 + 20 * len(self._edits) + MARGIN

    def _place_words(self, columns: _Columns) -> None:
        """Set the middle of each word and of each slot."""
        self._word_x, self._slot_x = {}, {}
        x = columns.start(self._words)
        if self._words[0] == 1:
            self._slot_x[0] = LEFT + columns.slots[0] / 2
        for word in self._words:
            self._word_x[word] = x
            if word == self._words[-1]:
                self._slot_x[word] = x + self._halves[word - 1] + GAP + columns.slots[word] / 2
            else:
                step = columns.steps[word - 1]
                self._slot_x[word] = x + (self._halves[word - 1] + step - self._halves[word]) / 2
                x += step

    def _place_levels(self, top: float) -> float:
        """Set the baseline of each level and the top of the arcs below it; return the bottom of the tree."""
        self._baseline: dict[int, float] = {}
        self._arcs_top: dict[int, float] = {}
        with_words = {self._depth(word) for word in self._words}
        with_arcs = {self._depth(word) - 1 for word in self._words if self._head(word)}
        with_arcs |= {self._depth(word) for word in self._words if any(self._elsewhere(word))}
        for level in sorted(with_words | with_arcs):
            if level in with_words:
                self._baseline[level] = top + ABOVE
                top += ABOVE + BELOW
            if level in with_arcs:
                self._arcs_top[level] = top
                top += BAND
        return top

    def _depth(self, word: int) -> int:
        return self._tree.depths[word - 1]

    def _head(self, word: int) -> int:
        return self._tree.heads[word - 1]

    def _elsewhere(self, head: int) -> Iterator[list[int]]:
        """The dependents of a word of this row that stand in rows before it, and in rows after it, if any."""
        children = self._tree.children[head]
        before = [child for child in children if child < self._words.start]
        after = [child for child in children if child >= self._words.stop]
        yield from filter(None, (before, after))

    def elements(self, end: float) -> Iterator[Label | Stroke]:
        """All labels and strokes; ``end`` is the right end of the drawing's rules."""
        yield from dict.fromkeys(element for word in self._words for element in self._arcs(word))
        for word in self._words:
            yield from self._node(word)
        yield Stroke("rule", ((MARGIN, self._rule), (end, self._rule)))
        yield from self._string("underlying", self._punctuated.underlying, self._underlying_y)
        for slot, x in self._slot_x.items():
            if self._punctuated.derivations[slot].changed:
                tip, barbs = (x, self._surface_y - 20), self._surface_y - 26
                yield Stroke(
                    "arrow", ((x, self._underlying_y + 10), tip, (x - 4, barbs), tip, (x + 4, barbs))
                )
        yield from self._string("surface", self._punctuated.surface, self._surface_y)
        for number, line in enumerate(self._edits):
            yield Label("edit", LEFT, self._surface_y + 30 + 20 * number, line)

    def _arcs(self, word: int) -> Iterator[Label | Stroke]:
        """The arc from the head of a word, and arcs to dependents in other rows."""
        if head := self._head(word):
            level = self._depth(word) - 1
            below = self._word_x[word], self._arcs_top[level] + BAND
            if head in self._word_x:
                yield Stroke("arc", ((self._word_x[head], self._arcs_top[level]), below))
            else:
                yield Stroke("arc", (self._end(level, head), below))
                yield self._name([head], level)
        for elsewhere in self._elsewhere(word):
            level = self._depth(word)
            above = self._word_x[word], self._arcs_top[level]
            yield Stroke("arc", (above, self._end(level, elsewhere[0])))
            yield self._name(elsewhere, level)

    def _end(self, level: int, other: int) -> tuple[float, float]:
        """The end of this row at which the arcs of a level to or from some word of another row are cut."""
        x = LEFT - GAP if other < self._words.start else self.right + GAP
        return x, self._arcs_top[level] + BAND / 2

    def _name(self, words: Sequence[int], level: int) -> Label:
        """The names of words of other rows, where their arcs are cut."""
        x, y = self._end(level, words[0])
        kind, shift = ("before", -4) if words[0] < self._words.start else ("after", 4)
        names = ", ".join(self._tree.forms[word - 1] for word in words)
        return Label(kind, x + shift, y + RELATION / 3, shortened(names, RELATION, NAMES - 2 * GAP))

    def _node(self, word: int) -> Iterator[Label]:
        x, y = self._word_x[word], self._baseline[self._depth(word)]
        yield Label("word", x, y, self._tree.forms[word - 1])
        yield Label("relation", x, y + 18, self._tree.relations[word - 1])
        side = self._halves[word - 1] + GAP / 2
        left, right = self._punctuated.sides(word)
        if left:
            yield Label("left-puncteme", x - side, y, left)
        if right:
            yield Label("right-puncteme", x + side, y, right)

    def _string(self, name: str, slots: Sequence[str], y: float) -> Iterator[Label]:
        yield Label("note", MARGIN, y, name)
        forms = self._punctuated.words_around(slots)
        starts = [word for word in self._words if forms[word - 1]]
        for start, stop in pairwise([*starts, self._words.stop]):
            x = (self._word_x[start] + self._word_x[stop - 1]) / 2
            yield Label("word", x, y, forms[start - 1])
        for slot, x in self._slot_x.items():
            if slots[slot]:
                yield Label("slot", x, y, slots[slot])
