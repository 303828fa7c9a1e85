"""A sentence with other punctuation, as text and as CoNLL-U."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from limits import within
from treebank_strategies import Written, head_lists, sentences, surfaces

from pyropunct.text.marks import ABBREVIATION_DOT, START, UNKNOWN
from pyropunct.treebank.reading import read_text
from pyropunct.treebank.sentence import Sentence, by_document
from pyropunct.treebank.tree import Tree, mark_heads, projectivise

ENGLISH = """\
# sent_id = e1
# text = "Don't (ever) say well-known, etc.", he said.
1	"	"	PUNCT	``	_	7	punct	7:punct	SpaceAfter=No
2-3	Don't	_	_	_	_	_	_	_	_
2	Do	do	AUX	VBP	_	7	aux	7:aux	_
3	n't	not	PART	RB	_	7	advmod	7:advmod	_
4	(	(	PUNCT	-LRB-	_	5	punct	5:punct	SpaceAfter=No
5	ever	ever	ADV	RB	_	7	advmod	7:advmod	SpaceAfter=No
6	)	)	PUNCT	-RRB-	_	5	punct	5:punct	_
6.1	you	you	PRON	PRP	_	_	_	7:nsubj	CopyOf=-1
7	say	say	VERB	VB	_	16	ccomp	6.1:x|16:ccomp	_
8	well	well	ADV	RB	_	10	advmod	10:advmod	SpaceAfter=No
9	-	-	PUNCT	HYPH	_	10	punct	10:punct	SpaceAfter=No
10	known	know	VERB	VBN	_	7	obj	7:obj	SpaceAfter=No
11	,	,	PUNCT	,	_	12	punct	12:punct	_
12	etc.	etc.	X	FW	_	10	conj	10:conj	SpaceAfter=No
13	"	"	PUNCT	''	_	7	punct	7:punct	SpaceAfter=No
14	,	,	PUNCT	,	_	16	punct	16:punct	_
15	he	he	PRON	PRP	_	16	nsubj	14:x|16:nsubj	Key=a
16	said	say	VERB	VBD	_	0	root	0:root	SpaceAfter=No
17	.	.	PUNCT	.	_	16	punct	16:punct	_

"""


@pytest.fixture
def english() -> Sentence:
    return read_text(ENGLISH).sentences[0]


def changed(sentence: Sentence, slots: dict[int, list[str]]) -> list[Sequence[str]]:
    """The surface of the sentence with other marks in some slots."""
    return [slots.get(slot, marks) for slot, marks in enumerate(sentence.surface)]


def test_surface(english: Sentence) -> None:
    assert english.surface == (
        (START, "“"), (), ("(",), (")",), (), ("-",), (",",), (ABBREVIATION_DOT, "”", ","), (), (".",),
    )  # fmt: skip
    assert english.text() == '"Don\'t (ever) say well-known, etc.", he said.'


@pytest.mark.parametrize(
    ("slots", "text"),
    [
        # a mark goes, and the space is as the words need it
        ({2: [], 3: []}, '"Don\'t ever say well-known, etc.", he said.'),
        ({5: []}, '"Don\'t (ever) say well known, etc.", he said.'),
        ({6: []}, '"Don\'t (ever) say well-known etc.", he said.'),
        ({0: [START]}, "Don't (ever) say well-known, etc.\", he said."),
        # the sentence start may be left out
        ({0: ["“"]}, '"Don\'t (ever) say well-known, etc.", he said.'),
        # the abbreviation dot
        ({7: ["”", ","]}, '"Don\'t (ever) say well-known, etc", he said.'),
        ({7: [ABBREVIATION_DOT, "."]}, "\"Don't (ever) say well-known, etc. he said."),
        ({7: [",", ABBREVIATION_DOT]}, "\"Don't (ever) say well-known, etc., he said."),
        ({9: [ABBREVIATION_DOT, "."]}, '"Don\'t (ever) say well-known, etc.", he said.'),
        ({2: [ABBREVIATION_DOT, "("]}, '"Don\'t. (ever) say well-known, etc.", he said.'),
        ({0: [START, ABBREVIATION_DOT, "."]}, ". Don't (ever) say well-known, etc.\", he said."),
        # a mark comes
        ({9: ["!"]}, '"Don\'t (ever) say well-known, etc.", he said!'),
        ({4: ["--"]}, '"Don\'t (ever) say -- well-known, etc.", he said.'),
        ({4: ["("], 5: [")"]}, '"Don\'t (ever) say (well) known, etc.", he said.'),
        ({8: ["-"]}, '"Don\'t (ever) say well-known, etc.", he-said.'),
        # inside a multiword token
        ({1: [","]}, '"Do, n\'t (ever) say well-known, etc.", he said.'),
        # as the sentence writes its quotation marks
        ({4: ["“"], 6: ["”", ","]}, '"Don\'t (ever) say "well-known", etc.", he said.'),
        ({4: ["‘"], 6: ["’", ","]}, '"Don\'t (ever) say ‘well-known’, etc.", he said.'),
        # an unknown mark
        ({5: [UNKNOWN]}, '"Don\'t (ever) say well-known, etc.", he said.'),
        ({4: [UNKNOWN]}, '"Don\'t (ever) say well-known, etc.", he said.'),
        ({7: [ABBREVIATION_DOT, UNKNOWN, ","]}, '"Don\'t (ever) say well-known, etc.", he said.'),
    ],
)
def test_text_with_other_punctuation(english: Sentence, slots: dict[int, list[str]], text: str) -> None:
    surface = changed(english, slots)
    assert english.text(surface) == text
    assert f"\n# text = {text}\n" in english.conllu_with_surface(surface)


@pytest.mark.parametrize(
    ("words", "slots", "text"),
    [
        (["你", "好"], [[], ["，"], ["。"]], "你，好。"),
        (["你", "好"], [["「"], [], ["」"]], "「你好」"),
        (["너", "나"], [[], [","], ["."]], "너, 나."),
        (["qué", "es"], [["¿"], [], ["?"]], "¿qué es?"),
        (["हम", "हैं"], [[], [","], ["।"]], "हम, हैं।"),
    ],
)
def test_spacing_in_other_scripts(words: list[str], slots: list[list[str]], text: str) -> None:
    # Between the two words stands a mark that goes, without spaces around it.
    lines = [f"1\t{words[0]}\t_\tX\t_\t_\t0\troot\t_\tSpaceAfter=No"]
    lines += ["2\t★\t_\tPUNCT\t_\t_\t1\tpunct\t_\tSpaceAfter=No"]
    lines += [f"3\t{words[1]}\t_\tX\t_\t_\t1\tdep\t_\t_"]
    (sentence,) = read_text("\n".join(lines)).sentences
    assert sentence.text([[], ["★"], []]) == f"{words[0]}★{words[1]}"
    assert sentence.text(slots) == text


def test_conllu_with_other_punctuation(english: Sentence) -> None:
    surface = changed(english, {0: [], 1: [","], 2: [], 3: [], 5: [], 7: ["”"]})
    assert (
        english.conllu_with_surface(surface)
        == """\
# sent_id = e1
# text = Do, n't ever say well known, etc" he said.
1	Do	do	AUX	VBP	_	5	aux	5:aux	SpaceAfter=No
2	,	,	PUNCT	_	_	5	punct	5:punct	_
3	n't	not	PART	RB	_	5	advmod	5:advmod	_
4	ever	ever	ADV	RB	_	5	advmod	5:advmod	_
4.1	you	you	PRON	PRP	_	_	_	5:nsubj	CopyOf=-1
5	say	say	VERB	VB	_	12	ccomp	4.1:x|12:ccomp	_
6	well	well	ADV	RB	_	7	advmod	7:advmod	_
7	known	know	VERB	VBN	_	5	obj	5:obj	SpaceAfter=No
8	,	,	PUNCT	,	_	9	punct	9:punct	_
9	etc	etc.	X	FW	_	7	conj	7:conj	SpaceAfter=No
10	"	"	PUNCT	''	_	5	punct	5:punct	_
11	he	he	PRON	PRP	_	12	nsubj	12:nsubj	Key=a
12	said	say	VERB	VBD	_	0	root	0:root	SpaceAfter=No
13	.	.	PUNCT	.	_	12	punct	12:punct	_

"""
    )


def test_new_straight_quotes_say_their_direction(english: Sentence) -> None:
    surface = changed(english, {4: ["“"], 6: ["”", ","]})
    (again,) = read_text(english.conllu_with_surface(surface)).sentences
    assert again.surface == tuple(map(tuple, surface))


def test_old_text_comment() -> None:
    text = "# sentence-text: a!\n1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n2\t!\t_\tPUNCT\t_\t_\t1\tpunct\t_\t_\n\n"
    (sentence,) = read_text(text).sentences
    assert sentence.conllu_with_surface([[], ["?"]]).startswith("# sentence-text: a?\n")


def test_wrong_number_of_slots(english: Sentence) -> None:
    with pytest.raises(ValueError, match=r"^9 words have 10 slots, not 2$"):
        english.text([[], []])


def test_misc(english: Sentence) -> None:
    misc: list[dict[str, str]] = [{} for _ in range(9)]
    misc[0] = {"PunctLeft": "|", "PunctRight": "\\"}
    misc[7] = {"Key": "b"}
    misc[8] = {"Key": "c"}
    expected = (
        ENGLISH.replace("7:aux\t_", "7:aux\tPunctLeft=\\p|PunctRight=\\\\")
        .replace("Key=a", "Key=b")
        .replace("0:root\tSpaceAfter=No", "0:root\tSpaceAfter=No|Key=c")
    )
    assert english.conllu(misc) == expected
    with pytest.raises(ValueError, match=r"^MISC entries are for 8 words, not 9$"):
        english.conllu(misc[1:])


@given(st.data(), sentences(tagged_quotes=True))
def test_rewritten_conllu_reads_back(data: st.DataObject, written: Written) -> None:
    (sentence,) = read_text(written.conllu).sentences
    surface = data.draw(surfaces(len(sentence.surface)))
    surface[0].insert(0, START)
    (again,) = read_text(sentence.conllu_with_surface(surface)).sentences
    assert again.surface == tuple(map(tuple, surface))
    assert again.text() == sentence.text(surface)
    assert again.tree == sentence.tree or sentence.lifted
    assert again.tree.forms == sentence.tree.forms
    assert len(again.layout.block.empty_nodes) == len(sentence.layout.block.empty_nodes)


@given(head_lists())
def test_new_marks_hang_where_no_arc_is_crossed(heads: list[int]) -> None:
    heads = list(projectivise(heads))
    names = ("x",) * len(heads)
    found = mark_heads(Tree(tuple(heads), names, names, names))

    def crosses(slot: int, head: int) -> bool:
        """Whether an arc from the head to the slot crosses an arc of the tree, or covers the root."""
        place = slot + 0.5
        left, right = min(place, head), max(place, head)
        over_root = left < heads.index(0) + 1 < right
        arcs = [(min(arc), max(arc)) for arc in enumerate(heads, 1) if arc[1]]
        return over_root or any(a < left < b < right or left < a < right < b for a, b in arcs)

    def depth(word: int) -> int:
        return 0 if word == 0 else 1 + depth(heads[word - 1])

    for slot, head in enumerate(found):
        possible = [word for word in range(1, len(heads) + 1) if not crosses(slot, word)]
        assert head in possible
        assert depth(head) == min(map(depth, possible))


def test_a_range_has_a_form_without_its_dot() -> None:
    lines = ["1-1\t." + "\t_" * 8, "1\ta.\t_\tX\t_\t_\t0\troot\t_\t_"]
    (sentence,) = read_text("\n".join(lines)).sentences
    (again,) = read_text(sentence.conllu_with_surface([[START], []]))
    assert (again.text(), again.tree.forms) == (".", ("a",))


def test_rewriting_a_long_sentence_takes_linear_time() -> None:
    """All words hang on the first; each is a range of its own, with an empty node behind it."""
    size = 8000
    rows = []
    for word in range(1, size + 1):
        head, relation = (0, "root") if word == 1 else (1, "dep")
        rows.append(f"{word}-{word}\tw" + "\t_" * 8)
        rows.append(f"{word}\tw\t_\tX\t_\t_\t{head}\t{relation}\t_\t_")
        rows.append(f"{word}.1\te" + "\t_" * 8)
    with within(8):
        (sentence,) = read_text("\n".join(rows))
        text = sentence.conllu_with_surface([[START], *[[","]] * size])
        (again,) = read_text(text)
    assert again.surface == ((START,), *[(",",)] * size)
    assert again.tree == sentence.tree
    assert [node.after for node in again.layout.block.empty_nodes] == list(range(1, 2 * size, 2))


def test_documents_begin_where_comments_say() -> None:
    word = "1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    treebank = read_text(f"{word}{word}# newdoc id = b\n{word}")
    assert [len(part) for part in by_document(treebank.sentences)] == [2, 1]
    assert [len(part) for part in by_document(treebank.sentences[:2])] == [2]
