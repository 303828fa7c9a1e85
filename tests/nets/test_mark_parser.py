"""A parser that reads marks beside words: its trees are of the words."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from pyropunct.embedded import embedded_treebank_path
from pyropunct.nets.biaffine import ParserRecipe
from pyropunct.nets.eisner import best_tree
from pyropunct.nets.encoder import Encoder
from pyropunct.nets.parser import BESIDE, BiaffineParser, train_parser
from pyropunct.nets.word_batches import with_marks
from pyropunct.text.marks import ABBREVIATION_DOT, START
from pyropunct.treebank.reading import read_treebank
from pyropunct.treebank.sentence import Sentence

TINY = ParserRecipe(epochs=2, least_steps=0, lstm_size=8, arc_size=8, relation_size=8)

pytestmark = pytest.mark.usefixtures("single_precision")


@pytest.fixture(scope="module")
def treebank() -> list[Sentence]:
    return list(read_treebank(embedded_treebank_path("train")))[:30]


@pytest.fixture(scope="module")
def parser(treebank: list[Sentence]) -> BiaffineParser:
    return train_parser(treebank, treebank[:9], TINY, marks=True)


def test_marks_stand_where_they_are_on_the_page() -> None:
    surface = [[START, "“"], [ABBREVIATION_DOT, ","], [], [".", "”"]]
    assert with_marks(["Inc", "a", "b"], surface) == (
        ("\t“", "Inc", "\tabbr.", "\t,", "a", "b", "\t.", "\t”")  # no word has a tab
    )


def test_trees_are_of_words_and_do_not_depend_on_other_sentences(
    parser: BiaffineParser, treebank: list[Sentence]
) -> None:
    read = [with_marks(one.tree.forms, one.surface) for one in treebank]
    together = parser.parse(read, trees=5)
    assert [trees[0].tree.forms for trees in together] == [one.tree.forms for one in treebank]
    assert together == [parser.parse([text], trees=5)[0] for text in read]
    with pytest.raises(ValueError, match="sentence 2 of 2 has no word"):
        parser.parse([read[0], ["\t.", "\t."]])


def test_pretrained_features_are_of_marks_too(treebank: list[Sentence], encoder: Path) -> None:
    parser = train_parser(treebank[:4], None, TINY, pretrained=Encoder(encoder), marks=True)
    texts = ["a", "\t,", "b"], ["a", ",", "b"]
    marked, plain = (parser.encode([text]).features for text in texts)
    assert marked is not None
    assert torch.equal(marked, plain)
    assert parser.parse([texts[0]])[0][0].tree.forms == ("a", "b")


def test_marks_are_the_context_of_words_and_nothing_else(
    parser: BiaffineParser, treebank: list[Sentence]
) -> None:
    words = treebank[0].tree.forms
    bare: list[list[str]] = [[] for _ in range(len(words) + 1)]
    text = with_marks(words, [*bare[:2], [","], *bare[3:]])
    batch, network = parser.encode([text]), parser.network
    with torch.no_grad():
        own, whole = network.contexts(batch).upper[0], network.contexts(batch._replace(places=None)).upper[0]
        arcs, plain = network(batch).arcs, network(parser.encode([words])).arcs
    assert torch.equal(own, whole[[place for place in range(len(text)) if place != 2]])
    assert arcs.shape == plain.shape == (1, len(words), len(words) + 1)
    assert not torch.allclose(arcs, plain, atol=1e-6)


def test_a_parser_of_words_beside_it_counts_with_its_power(
    parser: BiaffineParser, treebank: list[Sentence]
) -> None:
    other = train_parser(treebank, None, TINY, seed=1)
    changed = 0
    for tree, surface in ((one.tree, one.surface) for one in treebank):
        read = with_marks(tree.forms, surface)
        with torch.no_grad():
            pairs = ((parser, 1.0, read), (other, BESIDE, tree.forms))
            arcs = sum(
                power * one.network(one.encode([text])).arcs[0].log_softmax(-1) for one, power, text in pairs
            )
        [[found]] = replace(parser, beside=other).parse([read])
        assert list(found.tree.heads) == best_tree(np.asarray(arcs)).tolist()
        changed += found.tree.heads != parser.parse([read])[0][0].tree.heads
    assert changed
