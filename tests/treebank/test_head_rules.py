"""Head rules: their language, the built-in tables, and bad ones."""

from pathlib import Path

import pytest
from phrase_structures import leaf, phrase

from pyropunct.errors import InputError
from pyropunct.treebank.head_rules import ANY, Rule, load_head_rules, parse_head_rules


@pytest.mark.parametrize(("side", "expected"), [("left", 2), ("right", 3), ("leftmost", 1), ("rightmost", 4)])
def test_sides(side: str, expected: int) -> None:
    """B before A in the list: left and right look for any B first."""
    assert Rule(side, ("B", "A")).find(["X", "A", "B", "B", "A", "X"]) == expected
    assert Rule(side, ("B", "A")).find(["X"]) is None
    assert Rule(side, ()).find(["X"]) is None


def head(rules: str, category: str, *daughters: str) -> int:
    """The position of the head among daughters; those in capitals are phrases, the others words."""
    nodes = [phrase(one, leaf("x", "x")) if one.isupper() else leaf(one, "x") for one in daughters]
    return parse_head_rules(rules.splitlines(), "r").head(category, nodes)


def test_lines_are_tried_in_turn() -> None:
    rules = "A leftmost X\n # no rule\nA,B right Y Z\n* left"
    assert head(rules, "A", "Y", "X", "X") == 1
    assert head(rules, "A", "Y", "Z", "Z") == 0
    assert head(rules, "A", "P", "Q") == 1
    assert head(rules, "B", "X", "P") == 1
    assert head(rules, "C", "X", "P") == 0


def test_coordination() -> None:
    """The conjunct before the conjunction is the head, of phrases."""
    rules = "* right\ncoordination cc"
    assert head(rules, "A", "A", "A", "cc", "A") == 1
    assert head(rules, "A", "A", "A", "A") == 2
    assert head(rules, "A", "cc", "A") == 1
    assert head(rules, "A", "n", "cc", "n") == 2
    assert head("* right", "A", "A", "cc", "A") == 2


@pytest.mark.parametrize("name", ["english", "chinese"])
def test_built_in_tables(name: str) -> None:
    rules = load_head_rules(name)
    assert rules.rules[ANY] == (Rule({"english": "left", "chinese": "right"}[name], ()),)
    assert not rules.knows("UNHEARD-OF")
    categories = [one for some in rules.rules.values() for rule in some for one in rule.categories]
    assert all(category.isupper() or category == "$" for category in categories)


def test_base_noun_phrases() -> None:
    """A possessive, the last noun, an inner noun phrase, a number, and else the last word."""
    rules = load_head_rules("english")

    def of(*tags: str) -> int:
        return rules.head(
            "NP", [phrase(tag, leaf("X", "x")) if tag == "NP" else leaf(tag, "x") for tag in tags]
        )

    assert of("NNP", "POS") == 1
    assert of("NN", "NNS", "CD") == 1
    assert of("NP", "DT", "NP") == 0
    assert of("DT", "CD", "RB") == 1
    assert of("DT", "FW", "PRP") == 2


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "* left\nNP lft NN",
            "2: write LABEL, then one of left, right, leftmost, rightmost, then the labels of daughters",
        ),
        ("NP", "1: write LABEL, then one of left, right, leftmost, rightmost, then the labels of daughters"),
        ("NP left NN", " there is no rule for other labels (add the line: * left)"),
    ],
)
def test_bad_rules(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "rules"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_head_rules(str(path))
    assert str(caught.value) == f"{path}:{problem}"


def test_unreadable_rules(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        load_head_rules("german")
    assert str(caught.value) == "german: there is no such file, and the built-in rules are english, chinese"
    with pytest.raises(InputError, match=r": the file cannot be read: Is a directory$"):
        load_head_rules(str(tmp_path))
    path = tmp_path / "rules"
    path.write_bytes(b"\xff")
    with pytest.raises(InputError, match="rules:1: byte 0 is 0xff, which is not UTF-8"):
        load_head_rules(str(path))
