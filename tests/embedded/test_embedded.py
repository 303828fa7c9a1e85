"""The embedded treebank: its files, its trees, its true parameters."""

import os
import subprocess
import sys
from collections import Counter
from itertools import islice
from math import exp, isfinite, isinf
from pathlib import Path
from random import Random
from typing import Literal

import pytest
from generator import lexicon
from generator.generate import (
    PUNCTEME_SEPARATOR,
    SEED,
    SIZES,
    files,
    punctuate,
    sample_survivors,
    sentences,
    underlying_marks,
)
from generator.grammar import Grammar
from true_rules import (
    ABBREVIATIONS,
    TRUE_DIRECTION,
    TRUE_EDITS,
    Constituent,
    Pair,
    surface_distribution,
    true_attach,
    true_log_prob,
)

from pyropunct.embedded import embedded_treebank_path
from pyropunct.text.marks import ABBREVIATION_DOT, START, display
from pyropunct.treebank.reading import Treebank, read_text, read_treebank
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree

Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = ("train", "dev", "test")

TESTS = Path(__file__).parents[1]

SENSIBLE_MARKS = """
, . ? ! ; : — “ ” ( ) ^ ^_“ ._” ,_” ?_” !_” ,_“ :_“
”_. ”_, ”_? ”_! ”_; ”_: ”_— ?_”_. ?_”_, !_”_. !_”_, )_. )_, )_? )_; )_: )_—
"""
SENSIBLE_SLOTS = frozenset(SENSIBLE_MARKS.split())
"""What a slot may show, without the abbreviation dot; an underscore separates tokens."""


@pytest.fixture(scope="module")
def treebanks() -> dict[Split, Treebank]:
    return {split: read_treebank(embedded_treebank_path(split)) for split in SPLITS}


@pytest.fixture(scope="module")
def train(treebanks: dict[Split, Treebank]) -> Treebank:
    return treebanks["train"]


def _misc(sentence: Sentence) -> list[dict[str, str]]:
    lines = [line.split("\t") for line in sentence.conllu().splitlines() if line[:1].isdigit()]
    words = [line for line in lines if line[3] != "PUNCT"]
    return [dict(item.split("=", 1) for item in line[9].split("|") if item != "_") for line in words]


def _true_pairs(sentence: Sentence) -> list[Pair]:
    tokens = {display(token): token for token in (START, ABBREVIATION_DOT)}

    def puncteme(text: str) -> tuple[str, ...]:
        return tuple(tokens.get(token, token) for token in text.split(PUNCTEME_SEPARATOR) if token)

    return [
        (puncteme(misc.get("PunctLeft", "")), puncteme(misc.get("PunctRight", "")))
        for misc in _misc(sentence)
    ]


# Files


def test_files_are_what_the_generator_gives() -> None:
    contents = files(SEED)
    for split in SPLITS:
        assert embedded_treebank_path(split).read_bytes() == contents[split].encode()


def test_command_writes_the_files(tmp_path: Path) -> None:
    out = tmp_path / "new"
    command = [sys.executable, "-m", "generator.generate", "--seed", "7", "--out", str(out)]
    path = os.pathsep.join([str(TESTS), str(TESTS.parent / "tutorials"), os.environ.get("PYTHONPATH", "")])
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": path})
    assert {path.stem: path.read_bytes().decode() for path in out.iterdir()} == files(7)
    assert files(7) != files(8)


def test_unknown_split_is_an_error() -> None:
    with pytest.raises(ValueError, match="train, dev and test, not 'all'"):
        embedded_treebank_path("all")  # type: ignore[arg-type]


def test_sizes_and_nothing_omitted(treebanks: dict[Split, Treebank]) -> None:
    for split, treebank in treebanks.items():
        assert len(treebank) == SIZES[split]
        assert not treebank.omitted
        assert treebank.lifted_arcs == 0


def test_no_sentence_occurs_twice(treebanks: dict[Split, Treebank]) -> None:
    texts = [sentence.text().lower() for treebank in treebanks.values() for sentence in treebank]
    assert len(set(texts)) == len(texts)


def test_text_comment_agrees_with_the_tokens(treebanks: dict[Split, Treebank]) -> None:
    for sentence in treebanks["dev"]:
        assert f"# text = {sentence.text()}\n" in sentence.conllu()


def test_punctuation_hangs_on_no_crossing_arc(train: Treebank) -> None:
    for sentence in train:
        lines = [line.split("\t") for line in sentence.conllu().splitlines() if line[:1].isdigit()]
        arcs = [sorted((int(line[0]), int(line[6]))) for line in lines if line[6] != "0"]
        crossing = [(a, b) for a in arcs for b in arcs if a[0] < b[0] < a[1] < b[1]]
        assert not crossing, sentence.text()


# Trees


def _is_projective(tree: Tree) -> bool:
    arcs = [sorted((word, head)) for word, head in enumerate(tree.heads, start=1)]
    return not any(a[0] < b[0] < a[1] < b[1] for a in arcs for b in arcs)


def test_trees_are_valid(train: Treebank) -> None:
    for sentence in train:
        tree = sentence.tree
        assert len(tree.heads) == len(tree.relations) == len(tree.tags) == len(tree.forms)
        assert tree.heads.count(0) == 1
        assert tree.relations[tree.heads.index(0)] == "root"
        assert tree.relations.count("root") == 1
        assert _is_projective(tree)
        assert all(form and not form.endswith(".") for form in tree.forms)


CONSTRUCTIONS = {
    "apposition with commas": lambda c, pair: c.relation == "appos" and pair == ((",",), (",",)),
    "apposition with parentheses": lambda c, pair: c.relation == "appos" and pair == (("(",), (")",)),
    "restrictive relative clause": lambda c, pair: c.relation == "acl:relcl" and pair == ((), ()),
    "other relative clause": lambda c, pair: c.relation == "acl:relcl" and pair == ((",",), (",",)),
    "remark in parentheses": lambda c, pair: c.relation == "parataxis" and pair == (("(",), (")",)),
    "remark with dashes": lambda c, pair: c.relation == "parataxis" and pair == (("—",), ("—",)),
    "semicolon": lambda c, pair: c.relation == "parataxis" and pair[0] == (";",),
    "colon": lambda c, pair: c.relation == "parataxis" and pair[0] == (":",),
    "dash": lambda c, pair: c.relation == "parataxis" and pair == (("—",), ()),
    "announced list": lambda c, pair: c.relation == "appos" and pair[0] == (":",),
    "aside": lambda c, pair: c.relation == "parataxis" and pair == ((",",), (",",)),
    "speech before the verb": lambda c, pair: c.relation == "ccomp" and c.on_left,
    "speech after the verb": lambda c, pair: (
        c.relation == "ccomp" and not c.on_left and pair[0] == (",", "“")
    ),
    "speech after a colon": lambda c, pair: c.relation == "ccomp" and pair[0] == (":", "“"),
    "reported clause": lambda c, pair: c.relation == "ccomp" and pair == ((), ()),
    "question": lambda c, pair: c.relation == "root" and pair[1] == ("?",),
    "question in speech": lambda c, pair: c.relation == "ccomp" and pair[1][:1] == ("?",),
    "exclamation": lambda c, pair: c.relation == "root" and pair[1] == ("!",),
    "heading": lambda c, pair: c.relation == "root" and pair[1] == () and c.tag == "NOUN",
    "request": lambda c, pair: c.relation == "root" and c.tag == "VERB" and not c.has("nsubj"),
    "initial clause": lambda c, pair: c.relation == "advcl" and c.first == 1 and pair[1] == (",",),
    "initial adverb": lambda c, pair: c.relation == "advmod" and c.first == 1 and pair[1] == (",",),
    "initial time": lambda c, pair: c.relation == "obl" and c.first == 1 and pair[1][-1:] == (",",),
    "adverb in the middle": lambda c, pair: c.relation == "advmod" and c.first > 1 and pair[1] == (",",),
    "final participle": lambda c, pair: (
        c.relation == "advcl" and not c.on_left and not c.has("mark") and pair[0] == (",",)
    ),
    "vocative": lambda c, pair: c.relation == "vocative",
    "answer or interjection": lambda c, pair: c.relation == "discourse",
    "title": lambda c, pair: c.relation == "obj" and pair == (("“",), ("”",)),
    "nickname": lambda c, pair: c.relation == "flat" and pair == (("“",), ("”",)),
    "quoted verdict": lambda c, pair: c.relation == "xcomp" and pair == (("“",), ("”",)),
    "foreign word": lambda c, pair: c.tag == "X" and pair == (("“",), ("”",)),
    "two adjectives": lambda c, pair: c.relation == "amod" and pair[1] == (",",),
    "year of a date": lambda c, pair: c.relation == "nummod" and pair == ((",",), (",",)),
    "country of a city": lambda c, pair: c.relation == "nmod" and pair == ((",",), (",",)),
    "clause as conjunct": lambda c, pair: c.relation == "conj" and pair == ((",",), ()) and c.has("cc"),
    "abbreviated title": lambda c, pair: c.form in {"Dr", "Mr", "Mrs", "Prof"},
    "abbreviated company": lambda c, pair: c.form in {"Inc", "Corp", "Ltd", "Co"},
    "half of the day": lambda c, pair: c.form in {"a.m", "p.m"},
    "et cetera": lambda c, pair: c.form == "etc",
}


def test_every_construction_is_frequent(train: Treebank) -> None:
    counts: Counter[str] = Counter()
    for sentence in train:
        for word, pair in enumerate(_true_pairs(sentence), start=1):
            constituent = Constituent(sentence.tree, word)
            counts.update(name for name, holds in CONSTRUCTIONS.items() if holds(constituent, pair))
    assert {name: counts[name] for name in CONSTRUCTIONS if counts[name] < 25} == {}


def _conjuncts(sentence: Sentence) -> list[tuple[int, bool]]:
    """The number of conjuncts of each list with a conjunction, and whether a comma stands before it."""
    lists = []
    for word in range(1, len(sentence.tree) + 1):
        conjuncts = [c for c in Constituent(sentence.tree, word).children if c.relation == "conj"]
        if conjuncts and conjuncts[-1].has("cc"):
            lists.append((len(conjuncts) + 1, "," in sentence.surface[conjuncts[-1].first - 1]))
    return lists


def test_lists_have_two_to_four_conjuncts_with_and_without_oxford_comma(train: Treebank) -> None:
    counts = Counter(item for sentence in train for item in _conjuncts(sentence))
    for shape in [(2, False), (3, True), (3, False), (4, True), (4, False)]:
        assert counts[shape] >= 25, counts


def test_quotation_marks_follow_the_american_style_mostly(train: Treebank) -> None:
    slots = Counter(slot for sentence in train for slot in sentence.surface)
    for mark in ",.":
        inside, outside = slots[mark, "”"], slots["”", mark]
        assert 0.84 < inside / (inside + outside) < 0.97


# Parameters


def test_abbreviations_are_those_of_the_lexicon() -> None:
    dotted = {*lexicon.PERSONAL_TITLES, *lexicon.COMPANY_ENDINGS, *lexicon.HALVES_OF_DAY, "etc"}
    assert dotted == ABBREVIATIONS


def test_direction_is_right_to_left() -> None:
    assert TRUE_DIRECTION == "right"


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


@pytest.mark.parametrize("underlying", ["” .", "? ” ,", ", ” ,", "a b c a"])
def test_sampler_agrees_with_exact_distribution(underlying: str) -> None:
    tokens = tuple(underlying.split())
    edits = {**TRUE_EDITS, ("c", "a"): (0.1, 0.2, 0.3, 0.4), ("b", "a"): (0.4, 0.3, 0.2, 0.1)}
    random, draws = Random(5), 20_000
    counts = Counter(
        tuple(tokens[position] for position in sample_survivors(tokens, edits, random)) for _ in range(draws)
    )
    exact = surface_distribution(tokens, edits)
    assert set(counts) <= set(exact)
    chi_square = sum((counts[x] - draws * p) ** 2 / (draws * p) for x, p in exact.items())
    degrees = len(exact) - 1
    assert chi_square < degrees + 4 * (2 * degrees) ** 0.5 + 4


# Probability of a sentence


def test_truth_in_misc_explains_the_surface(treebanks: dict[Split, Treebank]) -> None:
    for sentence in treebanks["train"]:
        pairs = _true_pairs(sentence)
        for word, pair in enumerate(pairs, start=1):
            assert pair in true_attach(sentence.tree, word)
        for marks, surface in zip(underlying_marks(sentence.tree, pairs), sentence.surface, strict=True):
            underlying = tuple(mark.token for mark in marks)
            assert surface in surface_distribution(underlying, TRUE_EDITS)


@pytest.mark.parametrize("split", SPLITS)
def test_every_sentence_is_possible_and_predictable(treebanks: dict[Split, Treebank], split: Split) -> None:
    treebank = treebanks[split]
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


def test_reader_recovers_the_generated_sentence() -> None:
    content = files(SEED)["dev"]
    source = islice(sentences(SEED), SIZES["train"], SIZES["train"] + SIZES["dev"])
    for read, generated in zip(read_text(content), source, strict=True):
        assert read.tree == generated.tree
        assert read.surface == generated.surface
