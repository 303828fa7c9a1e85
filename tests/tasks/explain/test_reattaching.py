"""Heads of marks from underlying trees."""

from itertools import combinations
from pathlib import Path

import pytest
from command_line import printed
from hypothesis import given
from hypothesis import strategies as st
from treebank_strategies import Written, head_lists, sentences

from pyropunct.embedded import embedded_treebank_path
from pyropunct.tasks.explain.derivations import SlotDerivation, SproutedTree, underlying_strings
from pyropunct.tasks.explain.reattaching import mark_attachments, reattached, uncrossed
from pyropunct.treebank.reading import read_text, read_treebank
from pyropunct.treebank.tree import Tree, projectivise

EMBEDDED = [sentence.tree for sentence in read_treebank(embedded_treebank_path("dev"))]


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    """A projective tree: of the embedded treebank, or random."""
    if draw(st.booleans()):
        return draw(st.sampled_from(EMBEDDED))
    heads = tuple(projectivise(draw(head_lists())))
    filler = ("x",) * len(heads)
    return Tree(heads, filler, filler, filler)


def crossing(arcs: list[tuple[float, float]]) -> bool:
    ordered = [sorted(arc) for arc in arcs]
    return any(a < c < b < d or c < a < d < b for (a, b), (c, d) in combinations(ordered, 2))


@given(trees(), st.data())
def test_arcs_never_cross(tree: Tree, data: st.DataObject) -> None:
    """Whatever constituents sprout, and however the marks of a slot are then ordered."""
    puncteme = st.lists(st.just(","), max_size=2).map(tuple)
    size = len(tree)
    sides = data.draw(st.lists(st.tuples(puncteme, puncteme), min_size=size, max_size=size))
    arcs: list[tuple[float, float]] = [(w, h) for w, h in enumerate(tree.heads, 1) if h]
    for slot, string in enumerate(underlying_strings(tree, sides)):
        words = [sprouted.word for sprouted in string if sprouted.word]
        assert uncrossed(words, slot) == words
        some = data.draw(st.permutations(words)) if len(words) > 1 else words
        heads = uncrossed(some, slot)
        assert set(heads) <= set(words)
        arcs += [(slot + (place + 1) / (len(some) + 1), head) for place, head in enumerate(heads)]
    assert not crossing(arcs)


AMERICAN = """# sent_id = american
1	She	_	PRON	_	_	2	nsubj	2:nsubj	_
2	sings	_	VERB	_	_	0	root	0:root	_
3	“	_	PUNCT	_	_	2	punct	2:punct	SpaceAfter=No
4	Yesterday	_	NOUN	_	_	2	obj	2:obj|2.1:obj	SpaceAfter=No
5	.	_	PUNCT	_	_	2	dep	2:dep	SpaceAfter=No
6	”	_	PUNCT	_	_	2	punct	2:punct|2.1:punct	_

"""


def slot(underlying: list[SproutedTree], surface: str, origins: tuple[int | None, ...]) -> SlotDerivation:
    return SlotDerivation(tuple(underlying), tuple(surface.split()), origins, (), False)


def test_a_period_inside_quotation_marks() -> None:
    """It belongs to the whole sentence, but its arc there would cross that of the quotation mark."""
    [sentence] = read_text(AMERICAN)
    opening = SproutedTree("“", 3, 1)
    closing, period = opening._replace(token="”"), SproutedTree(".", 2, 0)
    start = SlotDerivation((SproutedTree("\t^", 0, -1),), ("\t^",), (0,), (), False)
    moved = [start, slot([], "", ()), slot([opening], "“", (0,)), slot([closing, period], ". ”", (1, 0))]
    assert mark_attachments(sentence, moved) == {3: 4, 5: 4, 6: 4}
    unexplained = [*moved[:3], slot([closing, period], ". ”", (None, 0))]
    assert mark_attachments(sentence, unexplained) == {3: 4, 6: 4}
    lines = reattached(sentence, {3: 4, 5: 4, 6: 4}).conllu().rstrip("\n").split("\n")
    assert [line.split("\t")[6:9] for line in lines[1:]] == [
        ["2", "nsubj", "2:nsubj"],
        ["0", "root", "0:root"],
        ["4", "punct", "4:punct"],
        ["2", "obj", "2:obj|2.1:obj"],
        ["4", "punct", "4:punct"],
        ["4", "punct", "2.1:punct|4:punct"],
    ]


@pytest.mark.parametrize("attachments", [{4: 2}, {3: 5}, {3: 9}, {9: 2}, {3: 0}])
def test_only_marks_hang_only_on_words(attachments: dict[int, int]) -> None:
    [sentence] = read_text(AMERICAN)
    with pytest.raises(ValueError, match="marks hang on words"):
        reattached(sentence, attachments)


@given(sentences(), st.data())
def test_all_but_heads_of_marks_stays(written: Written, data: st.DataObject) -> None:
    [sentence] = read_text(written.conllu)
    marks = [mark for slot in sentence.layout.marks for mark in slot]
    heads = {mark: data.draw(st.sampled_from(sentence.layout.words)) for mark in marks}
    [again] = read_text(reattached(sentence, heads).conllu())  # which checks that it is a tree
    assert (again.tree, again.text()) == (sentence.tree, sentence.text())
    for token, (old, new) in enumerate(
        zip(sentence.layout.block.tokens, again.layout.block.tokens, strict=True), 1
    ):
        if token in heads:
            assert (new.head, new.columns[7]) == (heads[token], "punct")
            assert (new.columns[:6], new.columns[9]) == (old.columns[:6], old.columns[9])
        else:
            assert new == old


def test_the_command(small: Path) -> None:
    arguments = ("underlying", small / "model", small / "dev.conllu", "--format", "conllu")
    plain, hung = (read_text(printed(*arguments, *more)) for more in ((), ("--attach-punctuation",)))
    changed = 0
    for one, other in zip(plain, hung, strict=True):
        assert (one.tree, one.text()) == (other.tree, other.text())
        block = other.layout.block
        arcs: list[tuple[float, float]] = [(i, t.head) for i, t in enumerate(block.tokens, 1) if t.head]
        assert not crossing(arcs)
        changed += one.layout.block != block
    assert changed
