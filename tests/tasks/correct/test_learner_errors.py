"""The simulated errors of learners: each kind does what it says, as often as it says."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyropunct.embedded import embedded_treebank_path
from pyropunct.nets.parser import WeightedTree
from pyropunct.tasks.correct.learner_errors import ErrorRates, Occasion, occasions
from pyropunct.tasks.correct.simulation import make_errors, wrong_copies, wrong_surfaces
from pyropunct.text.marks import ABBREVIATION_DOT, START
from pyropunct.treebank.reading import read_treebank
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree

NEVER = ErrorRates(**dict.fromkeys(asdict(ErrorRates()), 0.0))
KINDS = [field.name for field in fields(ErrorRates)]


@pytest.fixture(scope="module")
def sentences() -> list[Sentence]:
    return list(read_treebank(embedded_treebank_path("train")))[:400]


def tree(text: str) -> Tree:
    """A tree of "word/head/relation" and so on."""
    words, heads, relations = zip(*(part.split("/") for part in text.split()), strict=True)
    return Tree(tuple(map(int, heads)), relations, ("X",) * len(words), words)


def surface(text: str) -> list[tuple[str, ...]]:
    """Slots, separated by bars."""
    first, *others = (tuple(slot.split()) for slot in text.split("|"))
    return [(START, *first), *others]


def outcomes(of: Tree, right: str, **rates: float) -> Counter[tuple[str, str]]:
    """What can become of a sentence: kinds of errors, and the slots that they leave."""
    found: Counter[tuple[str, str]] = Counter()
    given = surface(right)
    for occasion in occasions(of, given, replace(NEVER, **rates)):
        for option in occasion:
            if option.rate:
                slots = [option.changes.get(number, slot) for number, slot in enumerate(given)]
                text = "|".join(" ".join(mark for mark in slot if mark != START) for slot in slots)
                found[option.kind, text] += 1
    return found


CLAUSES = tree("Today/3/advmod he/3/nsubj sings/0/root and/3/cc she/6/nsubj dances/3/conj")
ASIDE = tree("Ann/3/nsubj queen/1/appos sings/0/root")


@pytest.mark.parametrize(
    ("kind", "of", "right", "wrong"),
    [
        ("introductory", CLAUSES, "|,|||||.", ["||||||."]),
        ("compound", CLAUSES, "|||,|||.", ["||||||."]),
        ("moved", CLAUSES, "|||,|||.", ["||||,||."]),
        ("series", tree("red/3/amod blue/1/conj cars/0/root"), "|,||", ["|||"]),
        ("nonrestrictive", ASIDE, "|,|,|.", ["|||."]),
        ("unbalanced", ASIDE, "|,|,|.", ["||,|.", "|,||."]),
        ("nonrestrictive", ASIDE, "||,|.", ["|||."]),
        ("moved", ASIDE, "||,|.", ["|,||."]),
        ("other_comma", tree("go/0/root home/1/advmod now/1/advmod"), "||,|.", ["|||."]),
        (
            "unnecessary",
            tree("the/2/det men/3/nsubj say/0/root so/5/mark go/3/ccomp"),
            "|||||.",
            ["||,|||.", "|||,||."],
        ),
        ("splice", CLAUSES, "|||;|||.", ["|||,|||."]),
        ("fused", CLAUSES, "|||;|||.", ["||||||."]),
        ("quote_order", ASIDE, "|||. ”", ["|||” ."]),
        ("quote_order", ASIDE, "|||” ?", ["|||? ”"]),
        ("quote_missing", ASIDE, "“|||. ”", ["|||. ”", "“|||."]),
        ("final_missing", ASIDE, "|||. )", ["|||)"]),
        ("question_wrong", ASIDE, "|||?", ["|||."]),
        ("final_wrong", ASIDE, "|||.", ["|||,"]),
        ("final_doubled", ASIDE, "|||! )", ["|||! ! )"]),
    ],
)
def test_what_each_kind_does(kind: str, of: Tree, right: str, wrong: list[str]) -> None:
    assert outcomes(of, right, **{kind: 0.5}) == Counter((kind, text) for text in wrong)


def test_commas_without_a_reason_tempt_nobody_twice() -> None:
    """A slot where a moved comma may go, and a slot with a mark, get no unnecessary comma."""
    of = tree("the/2/det men/3/nsubj say/0/root so/5/advmod go/3/ccomp")
    assert outcomes(of, "|||,||.", unnecessary=0.5) == Counter()
    assert outcomes(of, "|||;||.", unnecessary=0.5) == Counter({("unnecessary", "||,|;||."): 1})


def test_abbreviation_dots_and_the_start_stay() -> None:
    of = tree("etc/2/advmod so/0/root")
    given = [(START, "“"), (ABBREVIATION_DOT, ","), (ABBREVIATION_DOT, ".")]
    rates = replace(NEVER, introductory=1.0, final_missing=1.0, quote_missing=0.0)
    wrong = make_errors(of, given, rates, np.random.default_rng(0))
    assert wrong.surface == ((START, "“"), (ABBREVIATION_DOT,), (ABBREVIATION_DOT,))
    assert [error.kind for error in wrong.errors] == ["introductory", "final_missing"]


def test_each_slot_belongs_to_one_occasion(sentences: list[Sentence]) -> None:
    for sentence in sentences:
        found = occasions(sentence.tree, sentence.surface, ErrorRates())
        slots = [slot for some in found for slot in {slot for one in some for slot in one.changes}]
        assert len(slots) == len(set(slots))
        assert all(sum(option.rate for option in occasion) <= 1 for occasion in found)
        assert all(
            one.changes[slot] != sentence.surface[slot]
            for some in found
            for one in some
            for slot in one.changes
        )


def test_errors_are_as_frequent_as_their_rates(sentences: list[Sentence]) -> None:
    """Over many draws each kind comes up rate times the number of its occasions, but for chance."""
    rates, generator, draws = ErrorRates(), np.random.default_rng(5), 30
    expected: Counter[str] = Counter()
    variance: Counter[str] = Counter()
    made: Counter[str] = Counter()
    for sentence in sentences:
        for option in (one for some in occasions(sentence.tree, sentence.surface, rates) for one in some):
            expected[option.kind] += draws * option.rate  # type: ignore[assignment]
            variance[option.kind] += draws * option.rate * (1 - option.rate)  # type: ignore[assignment]
        for _ in range(draws):
            wrong = make_errors(sentence.tree, sentence.surface, rates, generator)
            made.update(error.kind for error in wrong.errors)
    assert len(expected) > 10
    for kind, number in expected.items():
        assert abs(made[kind] - number) <= 4.5 * variance[kind] ** 0.5, kind


def test_the_errors_that_were_made_are_told(sentences: list[Sentence]) -> None:
    """Nothing but their changes tells the wrong surface from the right one; each is of another occasion."""
    rates = ErrorRates().times(1.5)
    for sentence, wrong in zip(sentences, wrong_surfaces(sentences, rates, seed=3), strict=True):
        expected = list(map(tuple, sentence.surface))
        for error in wrong.errors:
            for slot, string in error.changes.items():
                expected[slot] = string
        assert tuple(expected) == wrong.surface
        found = occasions(sentence.tree, sentence.surface, rates)
        assert all(sum(option in wrong.errors for option in occasion) <= 1 for occasion in found)
        assert all(any(error in occasion for occasion in found) for error in wrong.errors)


def test_equal_seeds_give_equal_errors(sentences: list[Sentence]) -> None:
    one, again, other = (list(wrong_surfaces(sentences, seed=seed)) for seed in (1, 1, 2))
    assert one == again != other


def test_copies_have_different_errors(sentences: list[Sentence]) -> None:
    some = sentences[:50]
    copies = wrong_copies(some, copies=2, seed=3)
    first, second = (list(wrong_surfaces(some, seed=seed)) for seed in (3, 5))
    assert copies == list(zip(some * 2, first + second, strict=True))
    assert first != second


def test_no_errors_with_rates_of_zero(sentences: list[Sentence]) -> None:
    for sentence, wrong in zip(sentences, wrong_surfaces(sentences, NEVER), strict=True):
        assert (wrong.surface, wrong.errors) == (tuple(map(tuple, sentence.surface)), ())


@given(st.sampled_from(KINDS), st.floats(1.01, 5) | st.floats(-1, -0.01))
def test_rates_are_probabilities(kind: str, rate: float) -> None:
    with pytest.raises(ValueError, match=f"{kind} is .* no probability"):
        replace(ErrorRates(), **{kind: rate})


def test_rates_that_exclude_each_other_add_up_to_one_at_most() -> None:
    with pytest.raises(ValueError, match=r"compound, moved add up"):
        ErrorRates(compound=0.6, moved=0.5)
    assert ErrorRates().times(0.5).introductory == ErrorRates().introductory / 2


def test_a_surface_of_another_sentence_is_refused() -> None:
    with pytest.raises(ValueError, match="3 words have 4 slots, not 2"):
        occasions(ASIDE, [(START,), ()], ErrorRates())


def test_occasions_are_plain(sentences: list[Sentence]) -> None:
    some: list[Occasion] = occasions(sentences[0].tree, sentences[0].surface, ErrorRates())
    assert all(option.kind in KINDS for occasion in some for option in occasion)


@pytest.mark.parametrize("factor", [0.0, 1.0, 2.0, 9.0])
def test_capped_rates_are_rates(factor: float) -> None:
    rates = ErrorRates().capped(factor)
    assert all(0 <= rate <= 1 for rate in vars(rates).values())
    if factor <= 1:
        assert rates == ErrorRates().times(factor)
    else:
        assert rates.introductory > ErrorRates().introductory


class TwoTrees:
    """A parser that hangs all words on the first one, or each on the one before it."""

    def parse(self, sentences: Sequence[Sequence[str]], trees: int = 1) -> list[list[WeightedTree]]:
        assert trees == 2
        return [
            [
                WeightedTree(Tree(heads, ("root", *["dep"] * (n - 1)), ("X",) * n, tuple(words)), 0.5)
                for heads in ((0, *[1] * (n - 1)), tuple(range(n)))
            ]
            for words in sentences
            for n in [len(words)]
        ]


def test_every_second_copy_has_drawn_trees(sentences: list[Sentence]) -> None:
    some = sentences[:4]
    pairs = wrong_copies(some, copies=3)
    with_trees = wrong_copies(some, copies=3, parser=TwoTrees())
    assert [wrong for _, wrong in with_trees] == [wrong for _, wrong in pairs]
    assert [one.surface for one, _ in with_trees] == [one.surface for one, _ in pairs]
    assert with_trees[:4] == pairs[:4]
    assert with_trees[8:] == pairs[8:]
    for (one, _), sentence in zip(with_trees[4:8], some, strict=True):
        assert one.tree.heads == tuple(range(len(sentence.tree)))
        assert one.tree.forms == sentence.tree.forms
