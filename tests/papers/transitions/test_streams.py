"""Sentences of a treebank as streams of words."""

import pytest
from sentences import sentence

from pyropunct.papers.transitions.machine import FULL, MIDDLE, NONE
from pyropunct.papers.transitions.streams import marks_in, streams
from pyropunct.treebank.reading import read_text

TEXT = """# newdoc
1	Who	_	PRON	WP	_	2	nsubj	_	_
2	knows	_	VERB	VBZ	_	0	root	_	_
3	?!	_	PUNCT	.	_	2	punct	_	_

1	Dear	_	ADJ	JJ	_	2	amod	_	_
2	Ann	_	PROPN	NNP	_	0	root	_	_
3	,	_	PUNCT	,	_	2	punct	_	_

1	Yes	_	INTJ	UH	_	3	discourse	_	_
2	!	_	PUNCT	.	_	1	punct	_	_
3	go	_	VERB	VB	_	0	root	_	_
4	"	_	PUNCT	''	_	3	punct	_	_

# newdoc
1	A	_	X	W	_	3	d	_	_
2	B	_	X	W	_	4	d	_	_
3	c	_	X	W	_	0	root	_	_
4	d	_	X	W	_	3	d	_	_

# newdoc
1	?	_	PUNCT	.	_	0	root	_	_

"""


def test_streams_are_lower_cased_sentences_of_a_document() -> None:
    one, two, other = streams(read_text(TEXT), 2)
    assert (one.forms, two.forms, other.forms) == (
        ("who", "knows", "dear", "ann"),
        ("yes", "go"),
        ("a", "b", "c", "d"),
    )
    assert one.tags == ("WP", "VBZ", "JJ", "NNP")
    assert (one.heads, one.relations) == ((2, 0, 4, 0), ("nsubj", "root", "amod", "root"))
    assert (one.sizes, two.sizes, other.sizes) == ((2, 2), (2,), (4,))
    assert (one.ends, two.ends) == ((False, True, False, True), (False, True))
    assert streams(read_text(TEXT), universal=True)[0].tags[0] == "PRON"


def test_a_full_stop_is_predicted_behind_the_last_word_of_a_sentence_and_nowhere_else() -> None:
    one, two, _ = streams(read_text(TEXT), 2)
    assert (one.marks, one.targets) == ((NONE, FULL, NONE, MIDDLE), (NONE, FULL, NONE, FULL))
    assert (two.marks, two.targets) == ((FULL, NONE), (MIDDLE, FULL))


def test_trees_that_are_not_projective_are_lifted_and_counted() -> None:
    *_, crossing = streams(read_text(TEXT))
    assert (crossing.heads, crossing.lifted) == ((3, 3, 0, 3), 1)


def test_documents_of_marks_alone_have_no_stream() -> None:
    assert len(streams(read_text(TEXT))) == 2


@pytest.mark.parametrize(
    ("slot", "mark"),
    [
        (", ”", MIDDLE),
        ("! ?", FULL),
        ("...", FULL),
        (") ; .", FULL),
        (":", MIDDLE),
        ("- (", NONE),
        ("", NONE),
    ],
)
def test_marks_are_full_stops_pauses_or_nothing(slot: str, mark: int) -> None:
    assert marks_in(sentence("a b", ", .", slot, "").surface) == (mark, NONE)
