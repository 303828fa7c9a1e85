"""Permuted sentences: base, half and full."""

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from made_up_rules import made_up
from test_rephrasing import ENGLISH
from test_underlying_tree import WENT, only, sprouting
from treebank_strategies import Written, sentences

from pyropunct.punctuator import Punctuator
from pyropunct.tasks.rephrase.ordering import Family, WordOrder, families
from pyropunct.tasks.rephrase.permuting import (
    learn_surface_order,
    learn_underlying_order,
    permuted,
    surface_tree,
    words_among,
)
from pyropunct.tasks.rephrase.rephrasing import Rephraser
from pyropunct.tasks.settings import BASE, FULL, HALF
from pyropunct.treebank.conllu_block import FORM
from pyropunct.treebank.reading import read_treebank
from pyropunct.treebank.tree import is_projective

FAILED = """# sent_id = failed
1	If	if	SCONJ	_	_	2	mark	_	_
2	true	true	ADJ	_	_	6	advcl	_	SpaceAfter=No
3	,	,	PUNCT	_	_	6	punct	_	_
4	the	the	DET	_	_	5	det	_	_
5	caper	caper	NOUN	_	_	6	nsubj	_	_
6	failed	fail	VERB	_	_	0	root	_	SpaceAfter=No
7	.	.	PUNCT	_	_	6	punct	_	_

"""
"""The example of Li, Wang & Eisner (2019, section 6.3)."""


class Turned(WordOrder):
    """The order of the example in the paper: the dependents of "failed" before it change places with those
    behind it."""

    def __init__(self, full: bool) -> None:
        super().__init__({}, None)  # type: ignore[arg-type]  # there are no weights
        self._full = full

    def draw(self, some: list[Family], generator: np.random.Generator) -> list[tuple[int, ...]]:  # type: ignore[override]
        """The caper failed . If true ,"""
        verb = (4, 5, 2) if self._full else (5, 6, 7, 2, 3)
        return [verb if family.group == "verb" else tuple(sorted(family.words)) for family in some]


def test_the_example_of_the_paper() -> None:
    """The surface marks are swapped with their words; the underlying ones do as they should."""
    tree = sprouting(only(FAILED), {2: ((",",), (",",)), 5: ((), (".",))})
    rephraser, generator = Rephraser(ENGLISH, regenerate=True), np.random.default_rng(0)
    texts = {}
    for variant in (BASE, HALF, FULL):
        (found,) = permuted(variant, Turned(variant == FULL), rephraser, [tree], generator)
        texts[variant] = found.text()
    assert texts == {
        BASE: "the caper failed. If true,",
        HALF: "The caper failed, if true.",
        FULL: "The caper failed, if true.",
    }


def test_the_surface_tree_has_the_heads_of_the_treebank() -> None:
    sentence = only(WENT)
    tree = surface_tree(sentence)
    block = sentence.layout.block
    assert list(tree.heads) == [token.head for token in block.tokens]
    assert list(tree.forms) == [token.columns[FORM] for token in block.tokens]
    assert tree.tags[4] == "PUNCT"
    assert tree.relations[4] == "punct"


@given(sentences())
def test_surface_trees_are_projective(written: Written) -> None:
    """And without its marks each is the tree of the words."""
    sentence = only(written.conllu)
    tree = surface_tree(sentence)
    assert is_projective(tree.heads)
    words = sentence.layout.words
    number = {0: 0} | {token: word for word, token in enumerate(words, start=1)}
    assert tuple(number[tree.heads[token - 1]] for token in words) == sentence.tree.heads
    assert words_among(sentence, range(1, len(tree) + 1)) == tuple(range(1, len(words) + 1))


@given(sentences())
def test_any_order_of_tokens_makes_a_sentence(written: Written) -> None:
    """Base permutes whatever there is: here all tokens of nouns, in unlearned orders."""
    sentence = only(written.conllu.replace("\tX\t", "\tNOUN\t"))
    tree = sprouting(sentence, {})
    order = WordOrder({}, torch.zeros(0, 6))
    rephraser = Rephraser(made_up(), recapitalise=False)
    (found,) = permuted(BASE, order, rephraser, [tree], np.random.default_rng(1))
    forms = [token.columns[FORM] for token in found.layout.block.tokens]
    assert sorted(forms) == sorted(written.forms)
    assert only(found.conllu()).text() == found.text()
    (half,) = permuted(HALF, order, rephraser, [tree], np.random.default_rng(1))
    assert half.tree.forms == found.tree.forms


def test_half_has_the_words_of_base(small: Path, single_precision: None) -> None:
    model, treebank = Punctuator.load(small / "model"), read_treebank(small / "dev.conllu")
    rephraser = Rephraser(model, recapitalise=False, regenerate=True)
    trees = list(rephraser.underlying(list(treebank)))
    surface, underlying = learn_surface_order(treebank), learn_underlying_order(trees)

    def rephrased(variant: str, order: WordOrder, seed: int = 0, best: bool = True) -> list[str]:
        some = list(permuted(variant, order, rephraser, trees, np.random.default_rng(seed), best=best))
        words.append([one.tree.forms for one in some])
        return [one.text() for one in some]

    words: list[list[tuple[str, ...]]] = []
    base, half = rephrased(BASE, surface), rephrased(HALF, surface)
    assert words[0] == words[1]
    assert base != half
    full = rephrased(FULL, underlying, best=False)
    assert full == rephrased(FULL, underlying, best=False)
    assert full != rephrased(FULL, underlying, seed=1, best=False)
    assert [sorted(some) for some in words[2]] == [sorted(tree.tree.forms) for tree in trees]


def test_models_see_marks_or_punctemes() -> None:
    tree = sprouting(only(FAILED), {2: ((), (",",)), 5: ((), (".",))})
    surface, underlying = learn_surface_order([tree.sentence]), learn_underlying_order([tree])
    assert any("punct" in feature for feature in surface._features)
    assert not any("punct" in feature for feature in underlying._features)
    assert any(((), (",",)) in feature for feature in underlying._features)
    assert [len(family.items) for family in families(surface_tree(tree.sentence))] == [2, 5]


def test_there_are_three_variants() -> None:
    with pytest.raises(ValueError, match="full, half, base, not third"):
        list(permuted("third", Turned(True), Rephraser(ENGLISH), [], np.random.default_rng(0)))
