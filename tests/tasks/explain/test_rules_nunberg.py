"""Nunberg's rules."""

from collections import Counter

import pytest

from pyropunct.embedded import embedded_treebank_path
from pyropunct.tasks.explain.nunberg import MARKS, SCHEMATA, is_english, nunberg_rules
from pyropunct.text.marks import ABBREVIATION_DOT
from pyropunct.treebank.reading import read_treebank

RULES = {rule.before: rule for rule in nunberg_rules()}


def becomes(text: str) -> str:
    """What becomes of two marks, written with a space between them and ``abbr`` for the abbreviation dot."""
    a, b = (ABBREVIATION_DOT if mark == "abbr" else mark for mark in text.split())
    after = RULES[a, b].after if (a, b) in RULES else (a, b)
    return " ".join("abbr" if mark == ABBREVIATION_DOT else mark for mark in after)


def test_numbers() -> None:
    """16 marks, and 192 rules for three quarters of their 256 pairs, as the paper says."""
    assert len(set(MARKS)) == len(MARKS) == 16
    assert len(nunberg_rules()) == len(RULES) == 192
    schemata = Counter(rule.schema for rule in nunberg_rules())
    assert [schemata[schema] for schema in SCHEMATA] == [54, 4, 6, 48, 80]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (", ,", ","),
        (", .", "."),
        ("- ,", "-"),
        ("- ;", ";"),
        ("; .", "."),
        ("” ,", ", ”"),
        ("” .", ". ”"),
        (". ?", "?"),
        (". !", "!"),
        ("abbr .", "abbr"),
        (", )", ")"),
        ("- )", ")"),
        ("( ,", "("),
        (", ”", "”"),
        ("“ ,", "“"),
    ],
)
def test_specimens_of_table_1(before: str, after: str) -> None:
    assert becomes(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("? .", "?"),
        ("! ,", "!"),
        (": ,", ":"),
        (". abbr", "abbr"),
        ("’ .", ". ’"),
        ("[ ;", "["),
        ("- ’", "’"),
        ("( ?", "("),
        ("! ”", "”"),
        ("( “", "("),
        ("” )", ")"),
    ],
)
def test_the_same_schemata_for_other_marks(before: str, after: str) -> None:
    assert becomes(before) == after


@pytest.mark.parametrize(
    "before", [", (", ") ,", ". “", "” ;", ") .", "] ?", "? !", "! ?", "; :", ": ;", "abbr ‘"]
)
def test_pairs_that_stay(before: str) -> None:
    """A bracket does not absorb what is outside of it, and neither of two equally strong points the other."""
    assert becomes(before) == before


def test_a_rule_deletes_or_transposes() -> None:
    for a, b in RULES:
        assert RULES[a, b].after in {(a,), (b,), (b, a)}


def test_the_language_of_treebanks() -> None:
    for part in ("train", "test"):
        words = [form for one in read_treebank(embedded_treebank_path(part)) for form in one.tree.forms]
        assert is_english([word.lower() for word in words])
    assert not is_english(["the", "of", "and", "to", "a", "in", "on", "for", "as", "die", "is", "his", "le"])
