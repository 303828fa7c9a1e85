"""Sentences with new orders of dependents, and the trigram model that tells how natural they are."""

from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from made_up_rules import made_up
from test_rephrasing import ENGLISH
from test_underlying_tree import WENT, only, sprouting
from treebank_strategies import Written, sentences
from trigrams import EDGE, TrigramModel, perplexity, trigrams, with_punctuation

from pyropunct.punctuator import Punctuator
from pyropunct.tasks import BASE, FULL, HALF
from pyropunct.tasks.rephrase.ordering import Family, WordOrder, families
from pyropunct.tasks.rephrase.rephrasing import (
    Rephraser,
    learn_surface_order,
    learn_underlying_order,
    permuted,
    surface_tree,
    words_among,
)
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
    """The paper's example: the dependents of "failed" on both sides change places."""

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


def test_probabilities_sum_to_one() -> None:
    vocabulary = ["a", "b", "c", ","]
    model = TrigramModel([["a", ",", "b"], ["a", "b", "a"], ["b"]], vocabulary, smoothing=0.1)
    for first in ([], ["a"], ["c"], ["a", ","], ["b", "a"], ["c", "c"]):
        # the probability of each next word, and of the end
        nexts = [float(np.exp(model.log_probabilities([*first, word])[len(first)])) for word in vocabulary]
        end = float(np.exp(model.log_probabilities(first)[len(first)]))
        assert sum(nexts) + end == pytest.approx(1)


def test_a_hand_worked_example() -> None:
    """Counts of "he runs" twice and "he stops" once; V is 4: three words and the end."""
    model = TrigramModel([["he", "runs"], ["he", "runs"], ["he", "stops"]], ["he", "runs", "stops"])
    expected = [(3 + 0.001) / (3 + 0.004), (2 + 0.001) / (3 + 0.004), (2 + 0.001) / (2 + 0.004)]
    assert np.exp(model.log_probabilities(["he", "runs"])).tolist() == pytest.approx(expected)
    unseen = np.exp(model.log_probabilities(["stops", "he"]))
    assert unseen.tolist() == pytest.approx([0.001 / 3.004, 0.25, 0.25])


def test_trigrams_of_a_sentence() -> None:
    assert trigrams(["a", "b"]) == [(EDGE, EDGE, "a"), (EDGE, "a", "b"), ("a", "b", EDGE)]
    assert trigrams([]) == [(EDGE, EDGE, EDGE)]


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        ([False, False], [False, False, False]),
        ([True, False, False, False], [True, True, True, False, False]),
        # If true , the caper failed .
        (
            [False, False, True, False, False, False, True],
            [False, False, True, True, True, False, True, True],
        ),
    ],
)
def test_trigrams_with_punctuation(marks: list[bool], expected: list[bool]) -> None:
    assert with_punctuation(marks).tolist() == expected
    tokens = ["," if mark else "x" for mark in marks]
    assert expected == ["," in trigram for trigram in trigrams(tokens)]


def test_perplexity() -> None:
    """Two trigrams of probability 1/2 and 1/8: the geometric mean is 1/4."""
    assert perplexity(np.log([1 / 2, 1 / 8])) == pytest.approx(4)


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="smoothing is 0"):
        TrigramModel([], [], 0)
    with pytest.raises(ValueError, match="word b is not in the vocabulary"):
        TrigramModel([["b"]], ["a"])
    with pytest.raises(ValueError, match="word b is not in the vocabulary"):
        TrigramModel([["a"]], ["a"]).log_probabilities(["a", "b"])


def test_trigrams_of_the_example_of_the_paper() -> None:
    """Trained on "the caper failed . If true ,", asked about "If true , the caper failed ." (section 6.3)."""
    surface = ["the", "caper", "failed", ".", "If", "true", ","]
    original = ["If", "true", ",", "the", "caper", "failed", "."]
    found = TrigramModel([surface], original).log_probabilities(original)
    seen, unseen, unknown = 1.001 / 1.008, 0.001 / 1.008, 1 / 8  # V is 8; an unknown context tells nothing
    expected = [unseen, unknown, seen, unseen, unknown, seen, seen, unseen]
    assert np.exp(found).tolist() == pytest.approx(expected)
    assert perplexity(found) == pytest.approx(np.prod(expected) ** (-1 / 8))
    punctuation = with_punctuation([token in ",." for token in original])
    some = [seen, unseen, unknown, seen, unseen]
    assert perplexity(found[punctuation]) == pytest.approx(np.prod(some) ** (-1 / 5))
