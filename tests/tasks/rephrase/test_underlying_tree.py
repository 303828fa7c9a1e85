"""Edits of underlying trees."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from treebank_strategies import Written, sentences

from pyropunct.errors import InputError
from pyropunct.tasks.explain.derivations import SlotDerivation, SproutedToken, underlying_strings
from pyropunct.tasks.rephrase.underlying_tree import UnderlyingTree, is_relation
from pyropunct.text.marks import ABBREVIATION_DOT, CLAUSE, START, UNKNOWN
from pyropunct.treebank.reading import read_text
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import is_projective

WENT = """# sent_id = went
1	And	and	CONJ	_	_	7	cc	_	_
2	if	if	SCONJ	_	_	4	mark	_	_
3	it	it	PRON	_	_	4	nsubj	_	_
4	rained	rain	VERB	_	_	7	advcl	_	SpaceAfter=No
5	,	,	PUNCT	_	_	7	punct	_	_
6	Anna	Anna	PROPN	_	_	7	nsubj	_	_
7	left	leave	VERB	_	_	0	root	_	_
8	and	and	CONJ	_	_	7	cc	_	_
9	sang	sing	VERB	_	_	7	conj	_	_
10	aloud	aloud	ADV	_	_	9	advmod	_	SpaceAfter=No
11	.	.	PUNCT	_	_	7	punct	_	_

"""
"""Words: 1 And 2 if 3 it 4 rained 5 Anna 6 left 7 and 8 sang 9 aloud."""

NOTHING: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())


def only(text: str) -> Sentence:
    (sentence,) = read_text(text)
    return sentence


def sprouting(
    sentence: Sentence, marks: dict[int, tuple[tuple[str, ...], tuple[str, ...]]]
) -> UnderlyingTree:
    """A tree in which some words' constituents sprout punctemes."""
    words = range(1, len(sentence.tree) + 1)
    return UnderlyingTree(sentence, tuple(marks.get(word, NOTHING) for word in words), tuple(words))


@pytest.fixture
def went() -> UnderlyingTree:
    return sprouting(only(WENT), {4: ((",",), (",",)), 6: ((), (".",))})


def tokens(tree: UnderlyingTree) -> list[list[str]]:
    return [[one.token for one in string] for string in tree.strings]


def test_nothing_changes_without_an_edit(went: UnderlyingTree) -> None:
    assert went.tree == went.sentence.tree
    assert went.strings == underlying_strings(went.tree, went.punctemes, clauses=True)
    assert tokens(went) == [[START], [CLAUSE, ","], [CLAUSE], [], [","], [], [], [], [], ["."]]
    assert went.original == went


def test_deletion_takes_the_marks_of_the_constituent_alone(went: UnderlyingTree) -> None:
    shorter = went.without(went.with_relation("advcl"))
    assert shorter.words == (1, 5, 6, 7, 8, 9)
    assert shorter.tree.heads == (3, 3, 0, 3, 3, 5)
    assert shorter.tree.forms == ("And", "Anna", "left", "and", "sang", "aloud")
    assert tokens(shorter) == [[START], [CLAUSE], [], [], [], [], ["."]]
    assert shorter.strings[-1] == (SproutedToken(".", 6, 0),)
    assert shorter.original == went


def test_conjunctions_that_join_nothing_any_more(went: UnderlyingTree) -> None:
    """The "and" before "sang" goes with it; the one that opens the sentence, which joins more, stays."""
    assert went.conjunctions([8]) == [7]
    assert went.conjunctions([4]) == []
    without = went.without([8])
    assert without.conjunctions([8]) == []
    both = only(WENT.replace("1\tAnd\tand\tCONJ\t_\t_\t7\tcc", "1\tBoth\tboth\tCONJ\t_\t_\t7\tcc:preconj"))
    assert sprouting(both, {}).conjunctions([8]) == [1, 7]


def test_deletion_of_everything_is_refused(went: UnderlyingTree) -> None:
    with pytest.raises(
        InputError, match=r"^sentence 'went': word 6 \(left\) is the root: nothing would be left$"
    ):
        went.without(went.with_relation("root"))
    with pytest.raises(InputError, match="word 4 is not there"):
        went.without([4]).without([4])


def test_what_introduces_a_clause_stays_in_front(went: UnderlyingTree) -> None:
    assert went.moved([5], "first").words == (1, 5, 2, 3, 4, 6, 7, 8, 9)
    assert went.moved([3], "first").words == went.words


def test_what_is_coordinated_stays_behind(went: UnderlyingTree) -> None:
    moved = went.moved(went.with_relation("advcl"), "last")
    assert moved.words == (1, 5, 6, 2, 3, 4, 7, 8, 9)
    assert tokens(moved) == [[START], [CLAUSE], [], [","], [CLAUSE], [], [","], [], [], ["."]]
    assert moved.strings[3] == (SproutedToken(",", 4, 1),)


def test_several_moved_constituents_keep_their_order(went: UnderlyingTree) -> None:
    assert went.moved([4, 5], "last").words == (1, 6, 2, 3, 4, 5, 7, 8, 9)
    assert went.moved([5, 4], "last").words == (1, 6, 2, 3, 4, 5, 7, 8, 9)
    # under different heads
    assert went.moved([9, 4], "first").words == (1, 2, 3, 4, 5, 6, 7, 9, 8)


def test_moves_that_are_refused(went: UnderlyingTree) -> None:
    with pytest.raises(InputError, match=r"word 6 \(left\) is the root: there is nowhere to move it"):
        went.moved([6, 4], "first")
    with pytest.raises(ValueError, match="first or last, not middle"):
        went.moved([4], "middle")
    with pytest.raises(InputError, match="word 12 is not there"):
        went.moved([12], "first")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ((), "the edit leaves no word"),
        ((6, 6), "word 6 (left) is there twice"),
        ((6, 12), "there is no word 12: it has 9 words"),
        ((6, 9), "word 9 (aloud) is there, but its head, word 8 (sang), is not"),
        ((1, 2, 5, 3, 4, 6, 7, 8, 9), "the constituent of word 4 (rained) is torn apart"),
    ],
)
def test_trees_that_are_none(went: UnderlyingTree, words: tuple[int, ...], problem: str) -> None:
    with pytest.raises(InputError) as caught:
        UnderlyingTree(went.sentence, went.punctemes, words)
    assert str(caught.value) == f"sentence 'went': {problem}"


def test_another_order_needs_the_same_words(went: UnderlyingTree) -> None:
    assert went.reordered((6, 7, 8, 9, 5, 1, 2, 3, 4)).words[0] == 6
    with pytest.raises(InputError, match="the same words, each once"):
        went.reordered((6, 5))


def test_relations_and_their_subtypes() -> None:
    assert is_relation("nmod:poss", "nmod")
    assert is_relation("nmod:poss", "nmod:poss")
    assert not is_relation("nmod", "nmod:poss")
    assert not is_relation("nmods", "nmod")


DOTS = """1	Mr.	_	PROPN	_	_	0	root	_	_
2	Smith	_	PROPN	_	_	1	name	_	_
3	Jr.	_	PROPN	_	_	2	name	_	_
4	;	_	PUNCT	_	_	1	punct	_	_

"""


def test_abbreviation_dots_belong_to_words() -> None:
    """The dot of Mr. stays, although T' has it sprouted by the constituent that is deleted."""
    sentence = only(DOTS)
    punctemes = [((), (";",)), ((ABBREVIATION_DOT,), (ABBREVIATION_DOT,)), ((), ())]
    strings = underlying_strings(sentence.tree, punctemes)
    surface = sentence.surface
    derivations = [
        SlotDerivation(u, x, tuple(range(len(x))), (), False) for u, x in zip(strings, surface, strict=True)
    ]
    tree = UnderlyingTree.of(sentence, punctemes, derivations)
    assert tokens(tree) == [[START], [ABBREVIATION_DOT], [], [ABBREVIATION_DOT, ";"]]
    assert tokens(tree) == [[one.token for one in string] for string in strings]
    assert tokens(tree.without([2])) == [[START], [ABBREVIATION_DOT, ";"]]
    assert tokens(tree.without([3])) == [[START], [ABBREVIATION_DOT], [";"]]


def test_unknown_marks_are_named() -> None:
    """The mark on the page is the second token of the left puncteme of the second word."""
    sentence = only(WENT.replace("\t,\t,", "\t¤\t¤"))
    punctemes = [NOTHING] * 9
    punctemes[4] = ((",", UNKNOWN), ())
    strings = underlying_strings(sentence.tree, punctemes)
    derivations = [SlotDerivation(u, (), (), (), False) for u in strings]
    derivations[4] = SlotDerivation(strings[4], ("¤",), (1,), (), False)
    tree = UnderlyingTree.of(sentence, punctemes, derivations)
    assert tree.punctemes[4] == ((",", "¤"), ())


@given(sentences(), st.data())
def test_any_edit_leaves_a_projective_tree_with_its_punctemes(written: Written, data: st.DataObject) -> None:
    sentence = only(written.conllu)
    size = len(sentence.tree)
    marks = {word: ((f"<{word}",), (f">{word}",)) for word in range(1, size + 1)}
    tree = sprouting(sentence, marks)
    root = sentence.tree.heads.index(0) + 1
    others = [word for word in tree.words if word != root]
    if others:
        tree = tree.without(data.draw(st.lists(st.sampled_from(others), max_size=2)))
        rest = [word for word in tree.words if word != root]
        if rest:
            moving = data.draw(st.lists(st.sampled_from(rest), max_size=2))
            tree = tree.moved(moving, data.draw(st.sampled_from(["first", "last"])))
    assert is_projective(tree.tree.heads)
    sprouted = [
        one.token
        for string in tree.strings
        for one in string
        if one.word and one.token[1:] in map(str, range(99))
    ]
    assert sorted(sprouted) == sorted(f"{side}{word}" for word in tree.words for side in "<>")
    # each pair encloses the words of its constituent, and pairs are nested
    place = {token: number for number, token in enumerate(sprouted)}
    spans = [(place[f"<{word}"], place[f">{word}"]) for word in tree.words]
    assert not any(a < c < b < d or c < a < d < b for (a, b), (c, d) in combinations(spans, 2))
