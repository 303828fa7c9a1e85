"""Bracketed files: trees as they are written, and a clear line for what is no tree."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from phrase_structures import EMPTY, MARKS, WORDS, leaf, phrase, phrases, written

from pyropunct.text.lines import TreebankError
from pyropunct.treebank.constituency import Conversion
from pyropunct.treebank.head_rules import load_head_rules
from pyropunct.treebank.phrase_trees import PhraseTree, category_of, function_tags, read_phrase_trees


@given(st.lists(phrases(WORDS + MARKS + EMPTY), max_size=3), st.sampled_from([" ", "\n", "\n\n\t", ""]))
def test_written_trees_are_read(trees: list[PhraseTree], space: str) -> None:
    """Any white space may stand around brackets, and none need to."""
    text = "".join(f"{space}{written(tree)}" for tree in trees)
    text = text.replace("(", f"({space}").replace(")", f"{space})")
    read = list(read_phrase_trees(text.splitlines(), "f"))
    assert [written(tree) for tree in read] == [written(tree) for tree in trees]


def test_lines_of_nodes() -> None:
    (tree,) = read_phrase_trees(["", "( (S", "(NP (NN a))", "(VB", "b)))"], "f")
    assert tree.line == 2
    assert [node.line for node in tree.daughters[0].daughters] == [3, 4]
    assert tree.daughters[0].daughters[1] == PhraseTree("VB", 4, "b")


def test_spaces_that_ascii_lacks_stand_inside_words_and_around_them() -> None:
    (tree,) = read_phrase_trees(["(NP\u3000(NN Xpd\u200aTTD)", "(NN \u200a†XP) )\u00a0"], "f")
    assert [leaf.word for leaf in tree.daughters] == ["Xpd\u200aTTD", "†XP"]


def test_markup_between_trees() -> None:
    text = ["<DOC a=(>", "<S ID=1>", "(NP (NN a)", "(NN <x>)", ")", "</S>"]
    (tree,) = read_phrase_trees(text, "f")
    assert written(tree) == written(phrase("NP", leaf("NN", "a"), leaf("NN", "<x>")))


@pytest.mark.parametrize(
    ("label", "category", "tags"),
    [
        ("NP", "NP", []),
        ("NP-SBJ-TPC-2", "NP", ["SBJ", "TPC"]),
        ("NP-SBJ=2", "NP", ["SBJ"]),
        ("PRT|ADVP-CLR", "PRT", []),
        ("-LRB-", "-LRB-", []),
        ("=", "=", []),
        ("", "", []),
    ],
)
def test_labels(label: str, category: str, tags: list[str]) -> None:
    assert (category_of(label), function_tags(label)) == (category, tags)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("(S (NP (NN b))", 3, "the text ends before a bracket is closed"),
        ("(S (NP\n(NN b", 3, "the text ends before 3 brackets are closed"),
        ("(NN b))", 3, "a closing bracket stands outside of all brackets"),
        ("(NN\nb) word", 4, "word stands outside of all brackets"),
        ("()", 3, "the bracket () holds no word"),
        ("(S (NP\n(NN)))", 4, "the bracket (NN) holds no word"),
        (
            "( (S (NN b))\n( (S (NN c)))",
            4,
            "a bracket inside the tree has no label (is one before it not closed?)",
        ),
        ("(S (NP b (NN c)))", 3, "the word b below NP has no tag (write it as (TAG b))"),
        ("(S (NP (NN b)\nc))", 4, "the word c has no tag (write it as (TAG c))"),
        ("(NP (NN b c))", 3, "the word c below NN has no tag (write it as (TAG c))"),
        (
            "( (NN b) (, ,) (NN c))",
            3,
            "the tree has several roots, NN, NN (put them into one bracket with a label)",
        ),
        (
            "((S (NN a))\n(. .) (FRAG (NN c)))",
            3,
            "the tree has several roots, S, FRAG (put them into one bracket with a label)",
        ),
    ],
)
def test_bad_brackets(text: str, line: int, problem: str) -> None:
    lines = ["(NN a)", "", *text.splitlines()]
    with pytest.raises(TreebankError) as caught:
        list(Conversion(load_head_rules("english")).blocks(lines, "some.mrg"))
    number = 3 if problem.endswith("outside of all brackets") else 2
    assert str(caught.value) == f"some.mrg:{line}: sentence '#{number}': {problem}"
    assert (caught.value.path, caught.value.line) == ("some.mrg", line)


def test_no_tree() -> None:
    with pytest.raises(TreebankError) as caught:
        list(Conversion(load_head_rules("english")).blocks(["", "<DOC>"], "some.mrg"))
    assert str(caught.value) == "some.mrg: there is no sentence in the file"
