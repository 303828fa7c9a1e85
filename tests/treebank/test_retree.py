"""Sentences of a treebank with other trees."""

from dataclasses import replace

import pytest
from sentences import embedded

from pyropunct.treebank.reading import read_again, read_text
from pyropunct.treebank.sentence import with_tree
from pyropunct.treebank.tree import Tree

WRITTEN = """# sent_id = one
# text = “Go home,” she said.
1	“	“	PUNCT	``	_	2	punct	2:punct	SpaceAfter=No
2	Go	go	VERB	VB	Mood=Imp	7	ccomp	7:ccomp	_
3	home	home	ADV	RB	_	2	advmod	2:advmod	SpaceAfter=No
4	,	,	PUNCT	,	_	6	punct	6:punct	SpaceAfter=No
5	”	”	PUNCT	''	_	2	punct	2:punct	_
6	she	she	PRON	PRP	_	7	nsubj	7:nsubj	_
7	said	say	VERB	VBD	_	0	root	0:root	SpaceAfter=No
8	.	.	PUNCT	.	_	7	punct	7:punct	_

"""


def test_words_and_marks_get_the_heads_of_the_new_tree() -> None:
    [sentence] = read_text(WRITTEN)
    tree = Tree(
        (0, 1, 4, 1),
        ("root", "obl", "nsubj", "parataxis"),
        ("NOUN", "ADV", "PRON", "VERB"),
        sentence.tree.forms,
    )
    found = with_tree(sentence, tree)
    rows = [line.split("\t") for line in found.conllu().split("\n") if line and line[0] != "#"]
    assert [row[6] for row in rows] == ["2", "0", "2", "2", "2", "7", "2", "2"]
    assert [row[7] for row in rows] == [
        "punct",
        "root",
        "obl",
        "punct",
        "punct",
        "nsubj",
        "parataxis",
        "punct",
    ]
    assert [row[3] for row in rows] == ["PUNCT", "NOUN", "ADV", "PUNCT", "PUNCT", "PRON", "VERB", "PUNCT"]
    assert {row[8] for row in rows} == {"_"}
    old = [line.split("\t") for line in WRITTEN.split("\n") if line and line[0] != "#"]
    for column in (0, 1, 2, 4, 5, 9):
        assert [row[column] for row in rows] == [row[column] for row in old]
    assert (found.tree, found.surface) == (tree, sentence.surface)
    assert read_again(found.conllu(), tree) == replace(
        found, layout=read_text(found.conllu()).sentences[0].layout
    )


def test_the_same_tree_leaves_words_as_they_are() -> None:
    for sentence in embedded("dev", 30):
        assert with_tree(sentence, sentence.tree).tree == sentence.tree
        assert read_again(with_tree(sentence, sentence.tree).conllu(), sentence.tree) is not None


def test_what_is_refused() -> None:
    [sentence] = read_text(WRITTEN)
    with pytest.raises(ValueError, match="not of the words"):
        with_tree(sentence, replace(sentence.tree, forms=("a", "b", "c", "d")))
    assert read_again(WRITTEN, replace(sentence.tree, tags=("X",) * 4)) is None
