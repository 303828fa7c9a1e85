"""The parser: what it learns, what it gives, what it keeps, what it refuses."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import pytest
import torch

from pyropunct.embedded import embedded_treebank_path
from pyropunct.nets.biaffine import ParserRecipe
from pyropunct.nets.parser import BiaffineParser, WeightedTree, attachment_scores, train_parser
from pyropunct.treebank.reading import read_text, read_treebank
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree, is_projective

SMALL = ParserRecipe(
    epochs=6,
    least_steps=0,
    batch_words=60,
    learning_rate=0.015,
    averaging=0.9,
    form_size=32,
    character_size=8,
    spelling_size=32,
    tag_size=16,
    lstm_size=32,
    arc_size=32,
    relation_size=16,
    dropout=0.1,
    word_dropout=0.1,
)


def sentences(split: Literal["train", "dev"], number: int) -> list[Sentence]:
    return list(read_treebank(embedded_treebank_path(split)))[:number]


def words(some: Sequence[Sentence]) -> list[tuple[str, ...]]:
    return [sentence.tree.forms for sentence in some]


def best(parsed: Sequence[Sequence[WeightedTree]]) -> list[Tree]:
    return [trees[0].tree for trees in parsed]


@pytest.fixture(scope="module")
def train() -> list[Sentence]:
    return sentences("train", 400)


@pytest.fixture(scope="module")
def dev() -> list[Sentence]:
    return sentences("dev", 60)


@pytest.fixture(scope="module")
def parser(train: list[Sentence], dev: list[Sentence]) -> BiaffineParser:
    torch.set_num_threads(1)
    return train_parser(train, dev, SMALL)


def test_new_sentences_are_parsed_well(parser: BiaffineParser, dev: list[Sentence]) -> None:
    scores = attachment_scores(best(parser.parse(words(dev))), [sentence.tree for sentence in dev])
    assert scores.words == sum(len(sentence.tree) for sentence in dev)
    assert scores.uas > 80
    assert scores.las > 75
    assert scores.upos > 88


def test_the_report_tells_the_scores_of_the_best_epoch(parser: BiaffineParser, dev: list[Sentence]) -> None:
    scores = attachment_scores(best(parser.parse(words(dev))), [sentence.tree for sentence in dev])
    epochs = parser.report["epochs"]
    assert len(epochs) == SMALL.epochs
    assert epochs[-1]["loss"] < epochs[0]["loss"] / 3
    assert scores.las == max(epoch["scores"]["las"] for epoch in epochs)


def test_trees_are_whole(parser: BiaffineParser, dev: list[Sentence]) -> None:
    for sentence, trees in zip(dev, parser.parse(words(dev), trees=20), strict=True):
        assert sum(one.weight for one in trees) == pytest.approx(1)
        assert [one.weight for one in trees] == sorted((one.weight for one in trees), reverse=True)
        assert len({one.tree for one in trees}) == len(trees) <= 20
        for tree in (one.tree for one in trees):
            assert tree.forms == sentence.tree.forms
            assert len(tree.relations) == len(tree.tags) == len(tree)
            assert [relation == "root" for relation in tree.relations] == [not head for head in tree.heads]
            assert tree.heads.count(0) == 1
            assert is_projective(tree.heads)


def test_draws_are_about_the_best_tree(parser: BiaffineParser, dev: list[Sentence]) -> None:
    several, single = parser.parse(words(dev), trees=50), best(parser.parse(words(dev)))
    assert sum(trees[0].tree == tree for trees, tree in zip(several, single, strict=True)) > 0.7 * len(dev)
    assert any(len(trees) > 1 for trees in several)
    assert parser.parse(words(dev), trees=50) == several
    assert parser.parse(words(dev), trees=50, seed=1) != several


@pytest.mark.parametrize("trees", [1, 10])
def test_a_sentence_by_itself_has_the_same_trees(
    parser: BiaffineParser, dev: list[Sentence], trees: int
) -> None:
    together = parser.parse(words(dev), trees)
    assert together == [parser.parse([forms], trees)[0] for forms in words(dev)]


def test_padding_leaves_the_scores_of_arcs_alone(parser: BiaffineParser, dev: list[Sentence]) -> None:
    long, short = max(words(dev), key=len), min(words(dev), key=len)
    with torch.no_grad():
        both = parser.network(parser.vocabulary.encode([long, short])).arcs[1, : len(short), : len(short) + 1]
        alone = parser.network(parser.vocabulary.encode([short])).arcs[0]
    torch.testing.assert_close(both, alone, atol=1e-4, rtol=1e-4)


def test_states_of_parsed_words_are_those_that_are_computed_anew(
    parser: BiaffineParser, dev: list[Sentence], monkeypatch: pytest.MonkeyPatch
) -> None:
    some = words(dev)[:5]
    anew = replace(parser).states(some)
    parser.parse(some)
    with monkeypatch.context() as patch:
        patch.setattr(BiaffineParser, "encode", None)  # so that nothing can be read again
        remembered = parser.states(some)
    for own, forms, other in zip(remembered, some, anew, strict=True):
        torch.testing.assert_close(own[: len(forms)], other[: len(forms)], atol=1e-4, rtol=1e-4)


def test_the_states_of_few_words_are_remembered(
    parser: BiaffineParser, dev: list[Sentence], monkeypatch: pytest.MonkeyPatch
) -> None:
    some, several = replace(parser), words(dev)
    monkeypatch.setattr("pyropunct.nets.parser.REMEMBERED_WORDS", len(several[-1]))
    some.parse(several[:-1])
    some.parse(several[-1:])
    assert list(some._recent.rows) == [tuple(several[-1])]


def test_odd_words(parser: BiaffineParser) -> None:
    odd = [["x"], ["Ωμέγα", "犬", "\N{PILE OF POO}"], ["a" * 5000, "b"], ["see"] * 300, ["two words", ""]]
    parsed = parser.parse(odd)
    assert [tree.forms for tree in best(parsed)] == [tuple(forms) for forms in odd]
    assert parsed[0][0].tree.heads == (0,)
    assert parsed[0][0].tree.relations == ("root",)


def test_nothing_to_parse(parser: BiaffineParser) -> None:
    assert parser.parse([]) == []
    with pytest.raises(ValueError, match="sentence 2 of 2 has no word to parse"):
        parser.parse([["a"], []])
    with pytest.raises(ValueError, match="cannot give 0 trees"):
        parser.parse([["a"]], trees=0)


def test_a_small_treebank_is_passed_over_more_often(train: list[Sentence]) -> None:
    recipe = replace(SMALL, epochs=1, least_steps=10)
    few = train[:20]
    epochs = train_parser(few, None, recipe).report["epochs"]
    total = sum(len(sentence.tree) for sentence in few)
    assert (len(epochs) - 1) * total < 10 * recipe.batch_words <= len(epochs) * total


def test_one_sentence_of_one_word_is_enough_to_train() -> None:
    [single] = read_text("1\tNo\tno\tINTJ\t_\t_\t0\troot\t_\t_\n\n")
    parser = train_parser([single], None, SMALL)
    [[best_tree]] = parser.parse([["No"]])
    assert best_tree == WeightedTree(single.tree, 1.0)
    assert sorted(parser.parse([["yes", "no"]])[0][0].tree.relations) == ["dep", "root"]


def test_scores_of_a_worked_example() -> None:
    gold = Tree((2, 0, 2), ("nsubj", "root", "obj"), ("PRON", "VERB", "NOUN"), ("I", "see", "it"))
    found = Tree((2, 0, 1), ("expl", "root", "obj"), ("PRON", "VERB", "PRON"), ("I", "see", "it"))
    words, uas, las, upos = attachment_scores([found, gold], [gold, gold])
    assert words == 6
    assert uas == pytest.approx(100 * 5 / 6)
    assert las == pytest.approx(100 * 4 / 6)
    assert upos == pytest.approx(100 * 5 / 6)


def test_scores_of_nothing_and_of_other_words() -> None:
    one = Tree((0,), ("root",), ("X",), ("a",))
    other = Tree((0,), ("root",), ("X",), ("b",))
    with pytest.raises(ValueError, match="no word"):
        attachment_scores([], [])
    with pytest.raises(ValueError, match="not of the same words"):
        attachment_scores([one], [other])
    with pytest.raises(ValueError, match="not of the same words"):
        attachment_scores([one], [one, one])
