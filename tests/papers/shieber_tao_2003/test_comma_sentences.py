"""Constituents that start and end between words, once the commas have left the tree."""

from pathlib import Path

import pytest

from pyropunct.papers.shieber_tao_2003.sentences import (
    CommaSentence,
    comma_sentences,
    read_comma_sentences,
    require_commas,
)
from pyropunct.text.lines import TreebankError
from pyropunct.treebank.phrase_trees import read_phrase_trees


def sentence(text: str) -> CommaSentence:
    (only,) = comma_sentences(read_phrase_trees([text], "t"))
    return only


def test_counts_of_a_tree_like_that_of_figure_2() -> None:
    first = "(S (NPB (JJ big) (NNS dogs)) (VP (VBP are) (ADJP (RB not) (JJ shy))))"
    found = sentence(f"( (S {first} (, ,) (NPB (DT the) (NN cat))) )")
    assert found.words == ("big", "dogs", "are", "not", "shy", "the", "cat")
    assert found.tags == ("JJ", "NNS", "VBP", "RB", "JJ", "DT", "NN")
    assert found.commas.nonzero()[0].tolist() == [5]
    assert found.starts.tolist() == [4, 1, 2, 2, 1, 2, 1, 0]  # JJ NPB S S; NNS; VBP VP; ...; DT NPB
    assert found.ends.tolist() == [0, 1, 2, 1, 1, 4, 1, 3]  # ...; JJ ADJP VP S; DT; NN NPB S


@pytest.mark.parametrize(
    ("tree", "ends"),
    [
        ("(S (NP (NN a)) (VP (VB b)))", [0, 2, 3]),
        ("(S (NP (NN a)) (PRN (, ,)) (VP (VB b)))", [0, 2, 3]),  # a phrase of a comma alone leaves with it
        ("(S (NP (NN a) (, ,)) (VP (VB b)))", [0, 2, 3]),  # the comma was in the phrase
        ("(S (NP (NN a)) (VP (VB b) (NP (-NONE- *T*-1))))", [0, 2, 3]),  # a trace
        ("(S (NP (NN a)) (SBAR (-NONE- 0) (, ,)) (VP (VB b)))", [0, 2, 3]),  # both
    ],
)
def test_what_is_empty_without_commas_and_traces_does_not_count(tree: str, ends: list[int]) -> None:
    found = sentence(tree)
    assert found.ends.tolist() == ends
    assert found.starts.tolist() == [3, 2, 0]


def test_where_the_commas_are() -> None:
    found = sentence("(S (, ,) (NN a) (, ,) (-NONE- *) (, ,) (NN b) (. .) (, ,))")
    assert found.commas.tolist() == [True, True, False, True]
    assert found.words == ("a", "b", ".")


def test_trees_of_commas_alone_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "two.mrg"
    path.write_text("(S (, ,))\n(S (NN a))", encoding="utf-8")
    assert [(one.words, one.number) for one in read_comma_sentences(path)] == [(("a",), 2)]


def test_a_file_without_sentences_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty.mrg"
    path.write_text("(S (, ,))", encoding="utf-8")
    with pytest.raises(TreebankError, match=r"empty\.mrg: there is no sentence in the file"):
        read_comma_sentences(path)


def test_sentences_without_commas_teach_nothing() -> None:
    with pytest.raises(TreebankError, match=r"^t: there is no comma in the file"):
        require_commas([sentence("(S (NN a))")], "t")
    require_commas([sentence("(S (NN a))"), sentence("(S (NN a) (, ,) (NN b))")], "t")
