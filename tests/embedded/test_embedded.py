"""The embedded treebank: its files, its trees, its true parameters."""

from collections import Counter
from itertools import islice
from math import exp, isfinite, isinf
from pathlib import Path
from random import Random
from typing import Literal

import pytest
from generator import lexicon
from generator.generate import SEED, SIZES, punctuate, sentences, underlying_marks, write
from generator.grammar import Grammar
from true_rules import ABBREVIATIONS, TRUE_EDITS, surface_distribution, true_attach, true_log_prob

from pyropunct.embedded import embedded_treebank_path
from pyropunct.text.marks import ABBREVIATION_DOT, START
from pyropunct.treebank.reading import read_treebank
from pyropunct.treebank.tree import Tree

SPLITS: tuple[Literal["train", "dev", "test"], ...] = ("train", "dev", "test")

SENSIBLE_MARKS = """
, . ? ! ; : — “ ” ( ) ^ ^_“ ._” ,_” ?_” !_” ,_“ :_“
”_. ”_, ”_? ”_! ”_; ”_: ”_— ?_”_. ?_”_, !_”_. !_”_, )_. )_, )_? )_; )_: )_—
"""
SENSIBLE_SLOTS = frozenset(SENSIBLE_MARKS.split())
"""What a slot may show, without the abbreviation dot; an underscore separates tokens."""


# Files


def test_files_are_what_the_generator_gives(tmp_path: Path) -> None:
    """So a change of the grammar, of the true rules or of the writing shows here."""
    write(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {f"{split}.conllu" for split in SIZES}
    for split in SPLITS:
        assert (tmp_path / f"{split}.conllu").read_bytes() == embedded_treebank_path(split).read_bytes()


def test_reader_recovers_the_generated_sentences() -> None:
    generated = islice(sentences(SEED), sum(SIZES.values()))
    for split in SPLITS:
        treebank = read_treebank(embedded_treebank_path(split))
        for read, one in zip(treebank, islice(generated, SIZES[split]), strict=True):
            assert (read.tree, read.surface, read.lifted) == (one.tree, one.surface, 0)


def test_unknown_split_is_an_error() -> None:
    with pytest.raises(ValueError, match="train, dev and test, not 'all'"):
        embedded_treebank_path("all")  # type: ignore[arg-type]


# Parameters


def test_abbreviations_are_those_of_the_lexicon() -> None:
    dotted = {*lexicon.PERSONAL_TITLES, *lexicon.COMPANY_ENDINGS, *lexicon.HALVES_OF_DAY, "etc"}
    assert dotted == ABBREVIATIONS


def test_edit_probabilities_sum_to_one() -> None:
    for probabilities in TRUE_EDITS.values():
        assert sum(probabilities) == pytest.approx(1)
        assert min(probabilities) >= 0


def test_attach_probabilities_sum_to_one() -> None:
    grammar = Grammar(Random(3))
    for _ in range(300):
        tree = grammar.sentence()
        for word in range(1, len(tree) + 1):
            probabilities = true_attach(tree, word).values()
            assert sum(probabilities) == pytest.approx(1)
            assert min(probabilities) > 0


def test_every_underlying_string_is_rewritten_to_something_sensible() -> None:
    underlying = {
        tuple(mark.token for mark in slot)
        for sentence in islice(sentences(11), 3000)
        for slot in underlying_marks(sentence.tree, sentence.pairs)
    }
    for tokens in underlying - {()}:
        for surface in surface_distribution(tokens, TRUE_EDITS):
            marks = "_".join(surface[surface[0] == ABBREVIATION_DOT :]).replace(START, "^")
            assert marks in SENSIBLE_SLOTS | {""}, (tokens, surface)


# Channel


@pytest.mark.parametrize(
    ("underlying", "surfaces"),
    [
        ("", {"": 1.0}),
        (", ,", {",": 1.0}),
        ("” .", {". ”": 0.9, "” .": 0.1}),
        ("? ” .", {"? ”": 0.9, "? ” .": 0.1}),
        (", ” .", {". ”": 0.9, "” .": 0.1}),
        (", ” ,", {", ”": 0.9, "” ,": 0.1}),
        (", ) .", {") .": 1.0}),
        ("— , ,", {"—": 1.0}),
        ("— —", {"—": 1.0}),
    ],
)
def test_exact_distribution(underlying: str, surfaces: dict[str, float]) -> None:
    exact = surface_distribution(tuple(underlying.split()), TRUE_EDITS)
    assert {" ".join(surface): probability for surface, probability in exact.items()} == pytest.approx(
        surfaces
    )


def test_all_four_edits_by_hand() -> None:
    edits = {
        ("a", "b"): (0.4, 0.3, 0.2, 0.1),
        ("c", "a"): (0.0, 1.0, 0.0, 0.0),
        ("c", "b"): (0.0, 0.0, 0.0, 1.0),
    }
    expected = {("a", "b"): 0.4, ("b", "c"): 0.3, ("a",): 0.2, ("b", "c", "a"): 0.1}
    assert surface_distribution(("c", "a", "b"), edits) == pytest.approx(expected)


# Probability of a sentence


def test_every_sentence_is_possible_and_predictable() -> None:
    treebank = read_treebank(embedded_treebank_path("dev"))
    total = sum(true_log_prob(sentence.tree, sentence.surface) for sentence in treebank)
    slots = sum(len(sentence.surface) for sentence in treebank)
    assert isfinite(total)
    assert 1.06 < exp(-total / slots) < 1.09


SMALL = Tree((2, 0), ("vocative", "root"), ("PROPN", "VERB"), ("Anna", "wait"))


def test_log_prob_by_hand() -> None:
    assert exp(true_log_prob(SMALL, [[START], [","], ["."]])) == pytest.approx(0.8)
    assert exp(true_log_prob(SMALL, [[START], [","], ["!"]])) == pytest.approx(0.2)
    assert isinf(true_log_prob(SMALL, [[START], [], ["."]]))


@pytest.mark.parametrize(
    "conllu_forms",
    [
        "he/PRON/2/nsubj wrote/VERB/0/root The/DET/5/det Last/ADJ/5/amod Snow/PROPN/2/obj at/ADP/8/case "
        "5/NUM/8/nummod p.m/NOUN/2/obl",
        "go/VERB/3/ccomp Anna/PROPN/1/vocative said/VERB/0/root they/PRON/3/nsubj",
    ],
)
def test_log_prob_agrees_with_sampled_frequencies(conllu_forms: str) -> None:
    forms, tags, heads, relations = zip(*(item.split("/") for item in conllu_forms.split()), strict=True)
    tree = Tree(tuple(map(int, heads)), relations, tags, forms)
    random, draws = Random(17), 4000
    counts = Counter(punctuate(tree, random).surface for _ in range(draws))
    exact = {surface: exp(true_log_prob(tree, surface)) for surface in counts}
    assert sum(exact.values()) == pytest.approx(1, abs=0.01)
    for surface, probability in exact.items():
        tolerance = 4.5 * (probability * (1 - probability) / draws) ** 0.5 + 1 / draws
        assert counts[surface] / draws == pytest.approx(probability, abs=tolerance)
