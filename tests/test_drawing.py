"""Drawings of punctuated trees."""

import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

import pytest
from command_line import complaint, printed
from hypothesis import given
from hypothesis import strategies as st
from treebank_strategies import Written, sentences

from pyropunct.derivations import SlotDerivation, SlotEdit, underlying_strings
from pyropunct.drawing import PunctuatedTree, drawn_svg, drawn_text, edit_lines
from pyropunct.treebank import read_text, read_treebank

SVG = "{http://www.w3.org/2000/svg}"

CLARA = """# sent_id = clara <1>
1	Clara	_	PROPN	_	_	3	nsubj	_	_
2	my	_	DET	_	_	1	appos	_	_
3	sings	_	VERB	_	_	0	root	_	_
4	AT&T	_	NOUN	_	_	3	obj	_	_

"""


def clara() -> PunctuatedTree:
    """Clara, my, sings “AT&T.”"""
    [sentence] = read_text(CLARA)
    punctemes = [((), ()), ((",",), (",",)), ((), (".",)), (("“",), ("”",))]
    strings = underlying_strings(sentence.tree, punctemes)
    derivations = [
        SlotDerivation(u, tuple(one.token for one in u), tuple(range(len(u))), (), False) for u in strings
    ]
    transposition = SlotEdit(("”", "."), "transposition", (".", "”"))
    derivations[-1] = SlotDerivation(strings[-1], (".", "”"), (1, 0), (transposition,), False)
    return PunctuatedTree(sentence, punctemes, derivations)


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


def test_a_slip_in_words() -> None:
    drawing = clara()
    slipped = drawing.derivations[1]._replace(surface=("!",), origins=(None,), slipped=True)
    nothing = drawing.derivations[-1]._replace(underlying=(), surface=("?",), edits=(), slipped=True)
    assert edit_lines([slipped, nothing]) == [", becomes ! (slip)", "∅ becomes ? (slip)"]


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
    assert sum("marker-end" in path.attrib for path in root.iter(f"{SVG}path")) == 1
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
    assert texts(drawn_svg([drawing]))["w"] == 3 * size


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
