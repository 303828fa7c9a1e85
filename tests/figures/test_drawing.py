"""Drawings of punctuated trees."""

import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

import pytest
from command_line import complaint, printed
from hypothesis import given
from hypothesis import strategies as st
from punctuated import arabic, clara, french
from treebank_strategies import Written, sentences

from pyropunct.figures.drawing import PunctuatedTree, drawn_text, edit_lines, slip_notes
from pyropunct.figures.page import drawn_svg
from pyropunct.tasks.explain.derivations import SlotDerivation, underlying_strings
from pyropunct.treebank.reading import read_text, read_treebank

SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str) -> Counter[str]:
    return Counter(element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text"))


def test_text() -> None:
    assert drawn_text(clara()).splitlines() == [
        "# clara <1>",
        "sings .  [root]",
        "├─ Clara  [nsubj]",
        "│  └─ , my ,  [appos]",
        "└─ “ AT&T ”  [obj]",
        "underlying  Clara , my , sings “ AT&T ” .",
        "surface     Clara , my , sings “ AT&T {” . ⇒ . ”}",
        "edit        ” . becomes . ” (transposition)",
    ]


def test_words_are_written_as_in_the_sentence() -> None:
    assert drawn_text(french()).splitlines()[-2:] == [
        "underlying  L'UE du Nord vote .",
        "surface     L'UE du Nord vote .",
    ]
    parted = drawn_text(french(parted=True)).splitlines()
    assert parted[-2:] == [f"{name:<12}( L' ) UE “ de ” le Nord vote ." for name in ("underlying", "surface")]
    shown = texts(drawn_svg([french()]))
    assert (shown["L'UE"], shown["du"], shown["L'"], shown["de"]) == (2, 2, 1, 1)


def test_a_slip_in_words() -> None:
    drawing = clara()
    slipped = drawing.derivations[1]._replace(surface=("!",), origins=(None,), slipped=True)
    nothing = drawing.derivations[-1]._replace(underlying=(), surface=("?",), edits=(), slipped=True)
    assert edit_lines([slipped, nothing]) == [", becomes ! (slip)", "∅ becomes ? (slip)"]
    assert slip_notes([drawing.derivations[0], slipped, nothing]) == ["{1: , ⇒ !}", "{2: ∅ ⇒ ?}"]


def test_svg() -> None:
    drawing = clara()
    svg = drawn_svg([drawing])
    assert texts(svg) == Counter(
        ["clara <1>", "underlying", "surface", "” . becomes . ” (transposition)"]
        + 3 * ["Clara", "my", "sings", "AT&T"]  # in the tree, the underlying and the surface string
        + ["nsubj", "appos", "root", "obj"]
        + [",", ",", "“", "”", "."]
        + [",", ",", "“", "” ."]
        + [",", ",", "“", ". ”"]
    )
    root = ElementTree.fromstring(svg)
    # An arrow has five points, where it changes direction.
    assert sum(path.attrib["d"].count("L") == 4 for path in root.iter(f"{SVG}path")) == 1
    assert svg == drawn_svg([clara()])
    assert texts(drawn_svg([drawing, drawing])) == texts(svg) + texts(svg)


def test_nothing_overlaps_in_a_row() -> None:
    """Underlying and surface strings read from left to right."""
    elements = list(ElementTree.fromstring(drawn_svg([clara()])).iter(f"{SVG}text"))
    rows: dict[str, list[tuple[float, str]]] = {}
    for element in elements:
        rows.setdefault(element.attrib["y"], []).append((float(element.attrib["x"]), element.text or ""))
    strings = [" ".join(text for _, text in sorted(row)) for row in rows.values()]
    assert "underlying Clara , my , sings “ AT&T ” ." in strings
    assert "surface Clara , my , sings “ AT&T . ”" in strings


def test_words_from_right_to_left() -> None:
    """As they are read; only the drawing is mirrored, and what is English in it is not."""
    drawing, from_left = arabic(), clara()
    assert drawing.right_to_left
    assert not from_left.right_to_left
    root = ElementTree.fromstring(drawn_svg([drawing]))
    assert [group.attrib["direction"] for group in root.iter(f"{SVG}g")] == ["rtl"]
    elements = [(float(text.attrib["x"]), text) for text in root.iter(f"{SVG}text")]
    row = max(float(text.attrib["y"]) for _, text in elements if text.text == "surface")
    in_row = sorted(
        ((x, text.text or "") for x, text in elements if float(text.attrib["y"]) == row), reverse=True
    )
    assert [text for _, text in in_row] == ["surface", "قال", "(", "UD", ") ،", "مرحبا", "."]
    edits = [text.attrib for _, text in elements if text.text == "، . becomes . (left absorption)"]
    assert [edit["unicode-bidi"] for edit in edits] == ["plaintext"]


@given(sentences(), st.sampled_from([",", "<", "]]>", "\x01"]))
def test_whatever_is_written_is_xml(written: Written, mark: str) -> None:
    [sentence] = read_text(written.conllu)
    punctemes = [((mark,), ())] * len(sentence.tree)
    derivations = [
        SlotDerivation(u, x, (None,) * len(x), (), True)
        for u, x in zip(underlying_strings(sentence.tree, punctemes), sentence.surface, strict=True)
    ]
    found = texts(drawn_svg([PunctuatedTree(sentence, punctemes, derivations)]))
    assert all(found[form] >= 3 for form in sentence.tree.forms)
    assert found[mark.replace("\x01", "\ufffd")] >= len(sentence.tree)


def test_a_deep_tree() -> None:
    """Nothing recurses."""
    size = 2_000
    lines = [f"{i}\tw\t_\tX\t_\t_\t{i - 1}\tr\t_\t_" for i in range(1, size + 1)]
    [sentence] = read_text("\n".join(lines) + "\n\n")
    empty = SlotDerivation((), (), (), (), False)
    drawing = PunctuatedTree(sentence, [((), ())] * size, [empty] * (size + 1))
    assert drawn_text(drawing).count("└─") == size - 1
    assert texts(drawn_svg([drawing], width=100 * size))["w"] == 3 * size


# the command line


def test_the_command_draws(small: Path) -> None:
    dev = small / "dev.conllu"
    one = list(read_treebank(dev))[3]
    chosen = ("underlying", small / "model", dev, "--sentence", one.identifier, "--format")
    drawing = printed(*chosen, "svg")
    assert all(texts(drawing)[form] >= 3 for form in one.tree.forms)
    text = printed(*chosen, "text")
    assert text.startswith(f"# {one.identifier}\n")
    assert all(form in text for form in one.tree.forms)
    assert printed(*chosen, "svg") == drawing
    assert texts(printed(*chosen, "svg", "--samples", 2))[one.identifier] == 2
    everything = printed("underlying", small / "model", dev, "--format", "text")
    assert everything.count("underlying  ") == 30


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--format", "svg"), "draws at most 20 trees, not 30: choose one with --sentence"),
        (("--sentence", "nobody"), "sentence 'nobody' is not there"),
        (("--attach-punctuation",), "--attach-punctuation writes trees: use it with --format conllu"),
    ],
)
def test_bad_input(small: Path, options: tuple[str, ...], problem: str) -> None:
    assert problem in complaint(2, "underlying", small / "model", small / "dev.conllu", *options)
