"""Text without trees: what is learned from, what is left out and why, which parts of long texts are used."""

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyropunct.errors import InputError
from pyropunct.nets.parser import WeightedTree
from pyropunct.text.marks import ABBREVIATION_DOT, START
from pyropunct.text.raw_sentence import RawSentence, Slot, WrittenMark
from pyropunct.train.texts import (
    BLOCK,
    HELD_OUT,
    LEAST,
    LONGEST,
    MOST_HELD_OUT,
    REASONS,
    Texts,
    TextSentence,
    collected,
    documents_of,
    why_left_out,
    with_parses,
)
from pyropunct.treebank.tree import Tree

KNOWN = frozenset(["the", "cat", "saw", "a", "dog", "sat", "down", "it", "then"])


def sentence(text: str, text_number: int = 0) -> TextSentence:
    """A sentence whose tokens are words, unless they are marks."""
    words: list[str] = []
    slots: list[tuple[str, ...]] = [(START,)]
    for token in text.split():
        if any(map(str.isalnum, token)):
            words.append(token)
            slots.append(())
        else:
            slots[-1] = (*slots[-1], token)
    return TextSentence(tuple(words), tuple(slots), text_number)


def raw(text: str) -> RawSentence:
    """A line with the words and marks of `sentence`."""
    of_text = sentence(text)
    marks = ([WrittenMark(mark, mark) for mark in slot if mark != START] for slot in of_text.surface)
    return RawSentence(1, text, of_text.words, tuple(Slot(tuple(some)) for some in marks))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("the cat saw a dog .", None),
        ("The Cat", None),
        ("cat " * LONGEST + ".", None),
        ("cat " * (LONGEST + 1) + ".", "long"),
        ("1 2 3 cat .", "words"),
        ("12 | 13 | 14", "words"),
        ("1841", "words"),
        ("if ( x == 3 ) { return y [ 0 ] ; }", "words"),
        ("the cat sat . . . . . . .", "words"),
        ("the cat " * 8, "unmarked"),
        ("the cat " * 7 + "sat", None),
        ("die Katze sah einen Hund .", "foreign"),
        ("die Katze sah , the cat", "foreign"),
        ("the Katze saw a Hund .", None),
        ("die Katze .", None),
    ],
)
def test_why_a_sentence_is_left_out(text: str, reason: str | None) -> None:
    assert why_left_out(sentence(text), KNOWN) == reason
    assert reason is None or reason in REASONS


def test_abbreviation_dots_are_no_marks() -> None:
    words = ("the", "cat") * 8
    surface = ((START,), (ABBREVIATION_DOT,), *[()] * 15)
    assert why_left_out(TextSentence(words, surface, 0), KNOWN) == "unmarked"


def numbered(count: int, first: int = 0) -> Iterator[RawSentence]:
    """Different sentences."""
    return (raw(f"the cat {number} saw a dog .") for number in range(first, first + count))


def total(blocks: Sequence[Sequence[TextSentence]]) -> int:
    return sum(map(len, blocks))


def test_blocks_that_are_learned_from_and_held_out() -> None:
    """Every tenth block of neighbours is held out; blocks do not go beyond a text."""
    told: list[int] = []
    texts = [numbered(BLOCK * 25 + 7), numbered(12, 10**6)]
    found = collected(texts, KNOWN, 10**6, told.append)
    assert found.read == sum(told) == total(found.train) + total(found.dev) == BLOCK * 25 + 19
    assert not found.left_out
    assert [len(block) for block in found.dev] == [BLOCK, BLOCK]
    assert found.dev[0][0].words[2] == str(BLOCK * (HELD_OUT - 1))
    assert [len(block) for block in found.train[-2:]] == [7, 12]
    assert {one.text for block in found.train[-1:] for one in block} == {1}


def test_long_texts_are_used_in_all_parts() -> None:
    found = collected([numbered(BLOCK * 100)], KNOWN, BLOCK * 30)
    blocks = sorted(int(block[0].words[2]) // BLOCK for block in (*found.train, *found.dev))
    assert blocks == list(range(0, 100, 4))
    assert (found.every, found.read) == (4, BLOCK * 100)
    assert found.report()["every"] == 4


def test_no_more_is_held_out_than_scores_need() -> None:
    found = collected([numbered(3 * HELD_OUT * MOST_HELD_OUT)], KNOWN, 10**6)
    assert total(found.dev) == MOST_HELD_OUT


def test_repeated_sentences_are_left_out() -> None:
    lines = [*numbered(200), *numbered(100), *map(raw, ["the cat ."] * 5)]
    found = collected([lines], KNOWN, 10**6)
    assert found.left_out == {"repeated": 100}
    assert found.read == 305


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "no sentence"),
        (["the cat sat ."] * (LEAST - 1), f"{LEAST} sentences are the fewest"),
        (["die Katze sah einen Hund ."] * 300, "another language"),
        (["the cat sat down"] * 300, "no punctuation"),
        (["the cat " * 9] * 300, "no punctuation"),
        (["1 2 3 4 5 6"] * 300, "left out: 300 mostly of numbers, symbols or marks$"),
        (["the cat saw a dog ."] * 300, "left out: 299 repeated$"),
    ],
)
def test_texts_that_nothing_can_be_learned_from(lines: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        collected([map(raw, lines)], KNOWN, 10**6)


def test_documents_are_neighbours_of_one_text() -> None:
    blocks = [
        [sentence("the cat .", 0), sentence("a dog sat .", 0), sentence("it sat .", 1)],
        [sentence("then .", 1)],
    ]
    found = documents_of(blocks)
    assert [document.words for document in found] == [
        ("the", "cat", "a", "dog", "sat"),
        ("it", "sat"),
        ("then",),
    ]
    assert found[0].ends == (False, True, False, False, True)


class Drawn:
    """A parser whose draws are chains from the right, its best trees chains from the left."""

    def parse(self, sentences: Sequence[Sequence[str]], trees: int = 1) -> list[list[WeightedTree]]:
        return [self._trees(words, trees) for words in sentences]

    def _trees(self, words: Sequence[str], trees: int) -> list[WeightedTree]:
        size = len(words)
        left = tuple(range(size))
        right = (*range(2, size + 1), 0)
        rest = ("dep",) * size, ("X",) * size, tuple(words)
        if trees == 1:
            return [WeightedTree(Tree(left, *rest), 1.0)]
        share = 1 / trees  # one of the draws is the best tree, the others come first
        return [WeightedTree(Tree(right, *rest), 1 - share), WeightedTree(Tree(left, *rest), share)]


@given(st.integers(1, 7))
def test_the_best_tree_and_draws(trees: int) -> None:
    blocks = [[sentence("the cat sat .")], [sentence("a dog saw it .")]]
    told: list[int] = []
    found = with_parses(blocks, Drawn(), trees, told.append)
    assert sum(told) == len(found) == 2
    for [one], several in zip(blocks, found, strict=True):
        assert len(several) == trees
        assert {example.surface for example in several} == {one.surface}
        assert {example.tree.forms for example in several} == {one.words}
        assert several[0].tree.heads[0] == 0
        lefts = sum(example.tree.heads[0] == 0 for example in several)
        assert lefts == (2 if trees > 2 else 1)


def test_the_report_is_plain() -> None:
    assert Texts().report() == {"read": 0, "left_out": {}, "train": 0, "dev": 0, "every": 1}
