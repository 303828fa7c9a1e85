"""Where things stand in a drawing: nothing hides anything, in however many rows."""

from itertools import combinations, pairwise
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from punctuated import french
from treebank_strategies import Written, sentences

from pyropunct.figures.drawing import PunctuatedTree
from pyropunct.figures.layout import Drawing, Label, Stroke
from pyropunct.figures.page import STYLES
from pyropunct.figures.text_width import shortened, text_width
from pyropunct.tasks.explain.derivations import SlotDerivation, underlying_strings
from pyropunct.treebank.reading import read_text

ANCHORS = {"start": 0.0, "middle": 0.5, "end": 1.0}


class Box(NamedTuple):
    """The place of a text."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "Box") -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def is_crossed(self, start: tuple[float, float], end: tuple[float, float]) -> bool:
        """Whether part of the line from start to end is inside."""
        first, last = 0.0, 1.0
        sides = ((self.left, self.right), (self.top, self.bottom))
        for (least, most), a, b in zip(sides, start, end, strict=True):
            if a == b and not least < a < most:
                return False
            if a != b:
                enters, leaves = sorted([(least - a) / (b - a), (most - a) / (b - a)])
                first, last = max(first, enters), min(last, leaves)
        return first < last


def box(label: Label) -> Box:
    style = STYLES[label.kind]
    size = float(style.get("font-size", 20))
    width = text_width(label.text, size, bold="font-weight" in style)
    left = label.x - ANCHORS[style.get("text-anchor", "middle")] * width
    return Box(left, label.y - 0.75 * size, left + width, label.y + 0.25 * size)


def punctuated(conllu: str, brackets: list[bool]) -> PunctuatedTree:
    """A sentence some of whose constituents have brackets, with a channel that changes nothing."""
    [sentence] = read_text(conllu)
    punctemes = [
        (("(",), (")",)) if some else ((), ()) for some, _ in zip(brackets, sentence.tree.forms, strict=False)
    ]
    derivations = [
        SlotDerivation(u, tuple(one.token for one in u), (None,) * len(u), (), False)
        for u in underlying_strings(sentence.tree, punctemes)
    ]
    return PunctuatedTree(sentence, punctemes, derivations)


def flat(size: int) -> PunctuatedTree:
    """The first word, and its dependents."""
    lines = [f"{word}\tword{word}\t_\tX\t_\t_\t{int(word > 1)}\tdep\t_\t_" for word in range(1, size + 1)]
    return punctuated("\n".join(lines) + "\n\n", [False] * size)


@given(sentences(), st.lists(st.booleans(), min_size=12, max_size=12), st.sampled_from([330, 450, 5_000]))
def test_nothing_hides_anything(written: Written, brackets: list[bool], width: int) -> None:
    drawing = Drawing(punctuated(written.conllu, brackets), width)
    elements = list(drawing.elements())
    boxes = [box(element) for element in elements if isinstance(element, Label)]
    assert not [pair for pair in combinations(boxes, 2) if pair[0].meets(pair[1])]
    assert all(one.left >= 0 and one.right <= drawing.width and one.bottom <= drawing.height for one in boxes)
    for stroke in elements:
        if isinstance(stroke, Stroke):
            lines = list(pairwise(stroke.points))
            assert not [one for one in boxes for line in lines if one.is_crossed(*line)]


def test_rows() -> None:
    """They are not wider than asked, have about equal numbers of words, and name what is in another row."""
    tree = flat(20)
    assert Drawing(tree, 5_000).width > 1_500
    drawing = Drawing(tree, 600)
    assert drawing.width <= 600
    words: dict[float, list[str]] = {}
    names: dict[str, list[str]] = {"before": [], "after": []}
    for element in drawing.elements():
        if isinstance(element, Label) and element.kind == "word":
            words.setdefault(element.y, []).append(element.text)
        elif isinstance(element, Label) and element.kind in names:
            names[element.kind].append(element.text)
    underlying = [row for row in words.values() if len(row) > 1][1::3]
    assert [form for row in underlying for form in row] == list(tree.tree.forms)
    assert max(map(len, underlying)) - min(map(len, underlying)) <= 1
    assert names == {"before": ["word1"] * (len(underlying) - 1), "after": ["word5, wo…"]}


def test_words_that_are_written_together_stay_together() -> None:
    """However narrow a drawing is to be: "L'UE" and "du" are two rows."""
    drawing = Drawing(french(), 10)
    strings = [element for element in drawing.elements() if isinstance(element, Label)]
    rows = {label.y for label in strings if label.text == "surface"}
    assert [label.text for label in strings if label.kind == "word" and label.y in rows] == [
        *("L'UE", "du", "Nord", "vote")
    ]
    assert len(rows) == 4


def test_text_width() -> None:
    """Of letters of DejaVu Serif, of an East Asian one, which it lacks, and of a mark above a letter."""
    assert text_width("am", 1000) == pytest.approx(596 + 948, abs=1)
    assert text_width(",", 1000, bold=True) == pytest.approx(348, abs=1)
    assert text_width("語", 10) == pytest.approx(10.5)
    assert text_width("n\u0303", 10) == text_width("n", 10)


def test_shortened() -> None:
    assert shortened("ammi", 1000, 2813) == "ammi"
    assert shortened("ammi", 1000, 2812) == "am…"
    assert shortened("ammi", 1000, 0) == "…"
