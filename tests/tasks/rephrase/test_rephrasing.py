"""Sentences made of edited underlying trees."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_rules import TOKENS, made_up
from sentences import hung_by_slot
from test_underlying_tree import WENT, only, sprouting
from treebank_strategies import Written, sentences

from pyropunct.punctuator import Punctuator
from pyropunct.tasks.explain.derivations import Derivations
from pyropunct.tasks.rephrase.rephrasing import Rephraser, unchanged_slots
from pyropunct.tasks.rephrase.underlying_tree import UnderlyingTree
from pyropunct.text.conventions import Capitals, Conventions, SpacingStatistics
from pyropunct.text.marks import ABBREVIATION_DOT, START
from pyropunct.treebank.reading import read_text, read_treebank
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree

MARKS = (*TOKENS, "(", ")", "“", ";")

ENGLISH = made_up(
    {
        (START, ","): {"right absorption": 1.0},
        (",", "."): {"left absorption": 1.0},
        (",", ","): {"left absorption": 1.0},
        ("”", "."): {"transposition": 1.0},
    },
    tokens=MARKS,
)
"""Neighbouring commas are one, an initial or a final one is lost, and periods move inside quotation marks."""


def went(marks: dict[int, tuple[tuple[str, ...], tuple[str, ...]]] | None = None) -> UnderlyingTree:
    return sprouting(only(WENT), {4: ((",",), (",",)), 6: ((), (".",))} if marks is None else marks)


def test_moving_a_clause() -> None:
    """Its commas come along: one is absorbed, as by the word that opened the sentence, the other shown."""
    tree = went()
    rephraser = Rephraser(ENGLISH)
    moved = rephraser.best(tree.moved(tree.with_relation("advcl"), "last"))
    assert moved.text() == "And Anna left, if it rained, and sang aloud."
    behind = tree.without([1, 7, 8]).moved([4], "last")
    assert rephraser.best(behind).text() == "Anna left, if it rained."
    assert rephraser.best(behind.moved([4], "first")).text() == "If it rained, Anna left."


def test_deleting_a_clause() -> None:
    tree = went()
    shorter = Rephraser(ENGLISH).best(tree.without(tree.with_relation("advcl")))
    assert shorter.text() == "And Anna left and sang aloud."
    assert shorter.conllu() == (
        "# sent_id = went\n"
        "1\tAnd\tand\tCONJ\t_\t_\t3\tcc\t_\t_\n"
        "2\tAnna\tAnna\tPROPN\t_\t_\t3\tnsubj\t_\t_\n"
        "3\tleft\tleave\tVERB\t_\t_\t0\troot\t_\t_\n"
        "4\tand\tand\tCONJ\t_\t_\t3\tcc\t_\t_\n"
        "5\tsang\tsing\tVERB\t_\t_\t3\tconj\t_\t_\n"
        "6\taloud\taloud\tADV\t_\t_\t5\tadvmod\t_\tSpaceAfter=No\n"
        "7\t.\t.\tPUNCT\t_\t_\t3\tpunct\t_\t_\n\n"
    )


def test_new_marks_hang_as_high_as_they_can() -> None:
    tree = went()
    block = Rephraser(ENGLISH).best(tree.moved([4], "last")).layout.block
    marks = {token.columns[1]: token.head for token in block.tokens if token.columns[3] == "PUNCT"}
    assert block.tokens[2].columns[1] == "left"
    assert marks == {",": 3, ".": 3}


def test_capital_letters_follow() -> None:
    tree = went().without([1, 7, 8])
    assert Rephraser(ENGLISH).best(tree.moved([5], "first")).text() == "Anna, if it rained, left."
    shorter = tree.without([4])
    assert Rephraser(ENGLISH).best(shorter.reordered((6, 5))).text() == "Left Anna."
    assert Rephraser(ENGLISH, recapitalise=False).best(shorter.reordered((6, 5))).text() == "left Anna."
    pronoun = sprouting(only(WENT.replace("And\tand\tCONJ", "We\twe\tPRON")), {6: ((), (".",))})
    order = pronoun.without([4, 5, 7, 8]).reordered((6, 1))
    assert Rephraser(ENGLISH).best(order).text() == "Left we."
    known = replace(ENGLISH, conventions=Conventions(capitals=Capitals(words={"we": (9, 9)})))
    assert Rephraser(known).best(order).text() == "Left We."


def test_a_sentence_without_a_capital_letter_gets_none() -> None:
    small = sprouting(only(WENT.replace("And", "and")), {})
    assert Rephraser(ENGLISH).best(small.without([1])).text().startswith("if it rained")


def test_a_slot_where_nothing_has_changed_keeps_what_it_shows() -> None:
    """The comma on the page is explained by nothing: it stays, unless the slot is another one."""
    tree = went({6: ((), (".",))})
    assert set(unchanged_slots(tree.without([9]))) == set(range(8))
    rephraser = Rephraser(ENGLISH)
    assert rephraser.best(tree.without([9])).text() == "And if it rained, Anna left and sang."
    assert rephraser.best(tree.without([5])).text() == "And if it rained left and sang aloud."
    anew = Rephraser(ENGLISH, regenerate=True)
    assert anew.best(tree.without([9])).text() == "And if it rained Anna left and sang."


def test_quotation_marks_are_written_as_the_sentence_writes_them() -> None:
    text = (
        WENT.replace("\t,\t,\tPUNCT\t_", "\t''\t''\tPUNCT\t''")
        .replace("1\tAnd\tand\tCONJ\t_", "1\t``\t``\tPUNCT\t``")
        .replace("\tcc\t_\t_\n2", "\tpunct\t_\tSpaceAfter=No\n2")
    )
    sentence = only(text)
    tree = sprouting(sentence, {3: (("“",), ("”",)), 5: ((), (".",))})
    assert sentence.text() == "``if it rained'' Anna left and sang aloud."
    moved = Rephraser(ENGLISH).best(tree.without([6, 7]).moved([3], "last"))
    assert moved.text() == "Anna left ``if it rained.''"
    assert [slot for slot in moved.surface if slot] == [(START,), ("“",), (".", "”")]
    plain = sprouting(only(WENT), {4: (("“",), ("”",))})
    conventions = Conventions(quotes={"“": '"', "”": '"'})
    straight = Rephraser(replace(ENGLISH, conventions=conventions)).best(plain.moved([4], "last"))
    assert straight.text() == 'And Anna left "if it rained" and sang aloud.'


def test_spaces_between_new_neighbours_are_those_of_the_treebank() -> None:
    statistics = SpacingStatistics(enclitics=frozenset({"left"}))
    model = replace(ENGLISH, conventions=Conventions(statistics))
    tree = went().without([4])
    assert Rephraser(model).best(tree).text() == "And Anna left and sang aloud."
    assert Rephraser(model).best(tree.moved([5], "last")).text() == "Andleft Anna and sang aloud."


def test_abbreviations_keep_their_dots() -> None:
    text = WENT.replace("10\taloud", "10\tetc.").replace("11\t.\t.\tPUNCT", "11\t;\t;\tPUNCT")
    tree = sprouting(only(text), {6: ((), (";",))})
    assert (
        Rephraser(ENGLISH).best(tree.moved([9], "first")).text()
        == "And if it rained, Anna left and etc. sang;"
    )
    period = sprouting(only(text), {6: ((), (".",))})
    anew = Rephraser(ENGLISH, regenerate=True)
    assert anew.best(period.without([4])).text() == "And Anna left and sang etc."


CONTRACTED = """# sent_id = del
# text = Del mar , viene selo .
1-2	Del	_	_	_	_	_	_	_	_
1	De	de	ADP	_	_	3	case	_	_
2	el	el	DET	_	_	3	det	_	_
3	mar	mar	NOUN	_	_	5	nmod	_	_
4	,	,	PUNCT	_	_	5	punct	_	_
5	viene	venir	VERB	_	_	0	root	_	_
6-7	selo	_	_	_	_	_	_	_	_
6	se	se	PRON	_	_	5	expl	_	_
7	lo	lo	PRON	_	_	5	dobj	_	_
8	.	.	PUNCT	_	_	5	punct	_	_

"""


def test_multiword_tokens() -> None:
    """One that is whole goes along, with its capital letter; of one that is not, words are left."""
    tree = sprouting(only(CONTRACTED), {3: ((), (",",)), 4: ((), (".",))})
    moved = Rephraser(ENGLISH).best(tree.moved([3], "last"))
    assert moved.text() == "Viene selo del mar."
    assert "# text = Viene selo del mar.\n" in moved.conllu()
    assert "4-5\tdel\t" in moved.conllu()
    assert Rephraser(ENGLISH).best(tree.without([5])).text() == "Del mar , viene lo ."


def test_an_unknown_mark_moves_along() -> None:
    tree = sprouting(only(WENT), {4: (("¤",), ()), 6: ((), (".",))})
    assert Rephraser(ENGLISH).best(tree.moved([4], "last")).text() == (
        "And Anna left ¤ if it rained and sang aloud."
    )


def test_draws_are_those_of_the_channel() -> None:
    model = made_up({(",", "."): {"left absorption": 0.75, "keep": 0.25}}, tokens=MARKS)
    tree = went().without([1, 7, 8]).moved([4], "last")
    rephraser, generator = Rephraser(model), np.random.default_rng(0)
    texts = [rephraser.draw(tree, generator).text() for _ in range(300)]
    assert set(texts) == {"Anna left, if it rained.", "Anna left, if it rained,."}
    assert texts.count("Anna left, if it rained.") / 300 == pytest.approx(0.75, abs=0.1)
    assert rephraser.best(tree).text() == "Anna left, if it rained."


def as_sprouted(sentence: Sentence) -> UnderlyingTree:
    """A tree in which each slot is as on the page: some constituent at its edge sprouts all that is there."""
    edges = sentence.tree.spans
    pairs: list[list[tuple[str, ...]]] = [[(), ()] for _ in edges]
    for slot, marks in enumerate(sentence.surface):
        real = tuple(mark for mark in marks if not mark.startswith("\t"))
        word, side = next(
            (word, side)
            for word, (first, last) in enumerate(edges)
            for side, edge in enumerate((first - 1, last))
            if edge == slot
        )
        pairs[word][side] += real
    words = tuple(range(1, len(edges) + 1))
    return UnderlyingTree(sentence, tuple((left, right) for left, right in pairs), words)


def merged(slot: tuple[str, ...]) -> tuple[str, ...]:
    """A slot with the periods behind an abbreviation dot left out: all are written as one."""
    while slot[:2] == (ABBREVIATION_DOT, "."):
        slot = (slot[0], *slot[2:])
    return slot


KEEPING = made_up()
"""A model that shows what is underlying."""


@given(sentences())
def test_no_edit_no_change(written: Written) -> None:
    """Multiword tokens, empty nodes, crossing arcs, abbreviations and straight quotation marks included."""
    sentence = only(written.conllu)
    tree = as_sprouted(sentence)
    for regenerate in (False, True):
        same = Rephraser(KEEPING, regenerate=regenerate).best(tree)
        assert same is sentence
    assert tree.strings == tree.original.strings


@given(sentences(tagged_quotes=True), st.data())
def test_any_edit_makes_a_sentence(written: Written, data: st.DataObject) -> None:
    """It is CoNLL-U that reads as the edited tree, with the surface that the channel made."""
    sentence = only(written.conllu)
    tree = as_sprouted(sentence)
    root = sentence.tree.heads.index(0) + 1
    for place in ("first", "last"):
        movable = [word for word in tree.words if word != root]
        if movable:
            tree = tree.moved(data.draw(st.lists(st.sampled_from(movable), max_size=2)), place)
            tree = tree.without(data.draw(st.lists(st.sampled_from(movable), max_size=1)))
    edited = Rephraser(KEEPING, recapitalise=False, regenerate=True).best(tree)
    again = only(edited.conllu()) if edited is not sentence else sentence
    assert again.tree == edited.tree == tree.tree
    assert again.text() == edited.text()
    expected = [tuple(one.token for one in string) for string in tree.strings]
    assert list(map(merged, edited.surface)) == list(map(merged, expected))
    assert [token.columns[4:6] for token in edited.layout.block.tokens if token.columns[7] != "punct"] == [
        sentence.layout.block.tokens[sentence.layout.words[word - 1] - 1].columns[4:6] for word in tree.words
    ]


@given(sentences(), st.data())
def test_arcs_of_marks_do_not_cross(written: Written, data: st.DataObject) -> None:
    sentence = only(written.conllu)
    tree = sentence.tree
    word = st.integers(0, len(tree))
    wanted = [data.draw(st.lists(word, max_size=3)) for _ in range(len(tree) + 1)]
    found = hung_by_slot(tree.heads, wanted)
    arcs = [(float(w), float(h)) for w, h in enumerate(tree.heads, 1) if h]
    for slot, heads in enumerate(found):
        arcs += [(slot + (place + 1) / (len(heads) + 1), float(head)) for place, head in enumerate(heads)]
    ordered = [sorted(arc) for arc in arcs]
    assert not any(a < c < b < d for a, b in ordered for c, d in ordered)
    assert [len(heads) for heads in found] == [len(heads) for heads in wanted]


def test_marks_keep_the_heads_that_they_can_have() -> None:
    sentence = only(WENT)
    number = {token: word for word, token in enumerate(sentence.layout.words, start=1)}
    heads = [
        [number[sentence.layout.block.tokens[mark - 1].head] for mark in slot]
        for slot in sentence.layout.marks
    ]
    assert hung_by_slot(sentence.tree.heads, heads) == heads
    inner = Tree((2, 0, 4, 2), ("r",) * 4, ("X",) * 4, ("a", "b", "c", "d"))
    assert hung_by_slot(inner.heads, [[], [1], [3], [1], [4]]) == [[], [1], [3], [4], [4]]


def test_a_fitted_model(small: Path, single_precision: None) -> None:
    """No edit, no change; a deletion leaves the marks of the others, slot by slot, as they were."""
    model, treebank = Punctuator.load(small / "model"), read_treebank(small / "dev.conllu")
    rephraser, derivations = Rephraser(model), Derivations(model)
    anew = Rephraser(model, regenerate=True)
    deleted = same = 0
    for tree, (best,) in zip(
        rephraser.underlying(list(treebank)), model.underlying(list(treebank)), strict=True
    ):
        assert rephraser.best(tree) is tree.sentence
        slots = derivations.of(tree.sentence, best)
        assert [[one.token for one in string] for string in tree.strings] == [
            [one.token for one in slot.underlying] for slot in slots
        ]
        same += anew.best(tree).text() == tree.sentence.text()
        for word in tree.words:
            if not tree.sentence.tree.heads[word - 1]:
                continue
            shorter = tree.without([word])
            gone = set(tree.words) - set(shorter.words)
            before, behind = (
                [one for string in some.strings for one in string if one.word] for some in (tree, shorter)
            )
            kept = [one for one in before if one.word not in gone]
            assert sorted(behind) == sorted(kept)
            deleted += len(kept) < len(before)
            text = rephraser.best(shorter).text()
            assert all(form in text for form in shorter.tree.forms[1:])
    assert deleted > 10
    assert same > 20


def test_unchanged_slots_are_between_the_same_words(small: Path, single_precision: None) -> None:
    model, treebank = Punctuator.load(small / "model"), read_treebank(small / "dev.conllu")
    for tree in Rephraser(model).underlying(list(treebank)):
        backwards = tree.moved([word for word in tree.words if tree.sentence.tree.heads[word - 1]], "last")
        places = list(pairwise([0, *backwards.words, len(tree.words) + 1]))
        kept = unchanged_slots(backwards)
        assert all(places[slot] == (old, old + 1) for slot, old in kept.items())


def test_errors_name_the_sentence() -> None:
    with pytest.raises(ValueError, match=r"^sentence '#2': "):
        sprouting(read_text(WENT + WENT.replace("# sent_id = went\n", "")).sentences[1], {}).without([6])
