"""Heads of marks from underlying trees."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

import pytest
from command_line import printed
from hypothesis import given
from hypothesis import strategies as st
from sentences import hung_by_slot
from treebank_strategies import Written, head_lists, sentences

from pyropunct.embedded import embedded_treebank_path
from pyropunct.tasks.explain.derivations import underlying_strings
from pyropunct.tasks.explain.hanging import uncrossed
from pyropunct.tasks.explain.reattaching import by_guidelines, reattached
from pyropunct.treebank.projective import projectivise
from pyropunct.treebank.reading import read_text, read_treebank
from pyropunct.treebank.tree import Tree

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


def test_heads_change_in_the_enhanced_graph_too() -> None:
    """And relations stay, as does a mark that has another relation than ``punct``."""
    [sentence] = read_text(AMERICAN)
    lines = by_guidelines(sentence, [((), ())] * 3).conllu().rstrip("\n").split("\n")
    assert [line.split("\t")[6:9] for line in lines[1:]] == [
        ["2", "nsubj", "2:nsubj"],
        ["0", "root", "0:root"],
        ["4", "punct", "4:punct"],
        ["2", "obj", "2:obj|2.1:obj"],
        ["2", "dep", "2:dep"],
        ["4", "punct", "2.1:punct|4:punct"],
    ]


def stray_marks(heads: Mapping[float, float]) -> list[float]:
    """Marks (between whole numbers) attached nonprojectively, or but for which an arc is projective."""

    def dominates(above: float, below: float) -> bool:
        while below and below != above:
            below = heads[below]
        return bool(below)

    def gap(token: float) -> list[float]:
        low, high = sorted((token, heads[token]))
        return [one for one in heads if low < one < high and not dominates(heads[token], one)]

    marks = [token for token in heads if token % 1]
    gaps = [gap(word) for word in heads if heads[word] and not word % 1]
    alone = [one for some in gaps if all(token % 1 for token in some) for one in some]
    return [mark for mark in marks if gap(mark)] + alone


def with_marks(heads: Sequence[int], of_slots: Sequence[Sequence[int]]) -> dict[float, float]:
    """The heads of words and of marks."""
    found: dict[float, float] = dict(enumerate(heads, 1))
    for slot, words in enumerate(of_slots):
        found |= {slot + place / (len(words) + 1): word for place, word in enumerate(words, 1)}
    return found


@given(head_lists(), st.data())
def test_no_mark_causes_nonprojectivity(heads: list[int], data: st.DataObject) -> None:
    """Whatever heads are wanted, in trees that are not projective."""
    word = st.integers(0, len(heads))
    wanted = [data.draw(st.lists(word, max_size=2)) for _ in range(len(heads) + 1)]
    barred = data.draw(st.sets(word))
    found = hung_by_slot(heads, wanted, barred)
    assert list(map(len, found)) == list(map(len, wanted))
    assert stray_marks(with_marks(heads, found)) == []


@pytest.mark.parametrize(
    ("heads", "wanted", "barred", "found"),
    [
        # What do you want to eat ?  The mark hangs on "want", though the arc of "What" passes over it.
        ([6, 4, 4, 0, 6, 4], {6: [4]}, (), {6: [4]}),
        # A hearing , is scheduled on it: the arc from "hearing" to "it" passes over mark and root.
        ([2, 4, 4, 0, 6, 2], {2: [4, 4]}, (), {2: [4, 4]}),
        # An arc passes over the mark alone.
        ([3, 3, 4, 0], {1: [4]}, (), {1: [3]}),
        # Two arcs over the mark cross each other, and a third inside passes over it.
        ([4, 5, 2, 0, 4], {2: [5, 1]}, (), {2: [2, 2]}),
        # of X , here : "of" is a function word.
        ([2, 3, 0], {1: [1], 2: [1]}, {1}, {1: [2], 2: [2]}),
        # Nothing but function words is beside the mark.
        ([0, 4, 5, 1, 1], {2: [1]}, {2, 3}, {2: [3]}),
    ],
)
def test_hard_cases(
    heads: list[int], wanted: dict[int, list[int]], barred: set[int], found: dict[int, list[int]]
) -> None:
    slots = range(len(heads) + 1)
    made = hung_by_slot(heads, [wanted.get(slot, []) for slot in slots], barred)
    assert stray_marks(with_marks(heads, made)) == []
    assert {slot: words for slot, words in enumerate(made) if words} == found


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
            assert new.head == heads[token]
            assert [new.columns[n] for n in (*range(6), 7, 9)] == [old.columns[n] for n in (*range(6), 7, 9)]
        else:
            assert new == old


def test_the_command(small: Path) -> None:
    arguments = ("underlying", small / "model", small / "dev.conllu", "--format", "conllu")
    plain, other_heads = (read_text(printed(*arguments, *more)) for more in ((), ("--attach-punctuation",)))
    changed = 0
    for one, other in zip(plain, other_heads, strict=True):
        assert (one.tree, one.text()) == (other.tree, other.text())
        block = other.layout.block
        arcs: list[tuple[float, float]] = [(i, t.head) for i, t in enumerate(block.tokens, 1) if t.head]
        assert not crossing(arcs)
        changed += one.layout.block != block
    assert changed


def test_the_validator_finds_nothing_new(small: Path, tmp_path: Path) -> None:
    """That of Universal Dependencies, without the rules of languages."""
    validator = pytest.importorskip("udtools.validator")

    def errors(text: str) -> Counter[str]:
        file = tmp_path / "file.conllu"
        file.write_text(text, encoding="utf-8")
        state = validator.Validator(lang="ud", level=3, output=None).validate_files([str(file)])
        return Counter(error.testid for error in state.error_tracker)

    dev = small / "dev.conllu"
    attached = printed("underlying", small / "model", dev, "--format", "conllu", "--attach-punctuation")
    assert errors(attached) <= errors(dev.read_text(encoding="utf-8"))
    first = next(iter(read_treebank(dev)))
    stray = reattached(first, {first.layout.marks[-1][0]: first.layout.words[0]})
    assert errors(stray.conllu()) == {"punct-is-nonproj": 1}
