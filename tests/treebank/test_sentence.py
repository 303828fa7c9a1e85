"""Sentences: printed with other punctuation, and with another tree."""

from collections.abc import Sequence
from dataclasses import replace

import networkx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from limits import within
from sentences import embedded
from treebank_strategies import Written, head_lists, sentences, surfaces

from pyropunct.text.marks import ABBREVIATION_DOT, START, UNKNOWN
from pyropunct.treebank.projective import projectivise
from pyropunct.treebank.reading import read_again, read_text
from pyropunct.treebank.sentence import Sentence, by_document, with_tree
from pyropunct.treebank.tree import Tree, mark_heads

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


@given(sentences())
def test_the_graph_is_the_tree(written: Written) -> None:
    [sentence] = read_text(written.conllu)
    tree, graph = sentence.tree, sentence.graph()
    assert networkx.is_arborescence(graph)
    assert list(graph) == list(range(1, len(tree) + 1))
    assert {dependent: head for head, dependent in graph.edges} == {
        word: head for word, head in enumerate(tree.heads, 1) if head
    }
    for name, column in ("form", tree.forms), ("tag", tree.tags), ("relation", tree.relations):
        assert tuple(graph.nodes[word][name] for word in graph) == column
    assert all(graph.edges[edge]["relation"] == tree.relations[edge[1] - 1] for edge in graph.edges)


def test_marks_and_punctemes_of_the_graph() -> None:
    [sentence] = read_text(ENGLISH)
    none: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    graph = sentence.graph([none] * 2 + [(("(",), (")",))] + [none] * 6)
    assert graph.nodes[3] == {
        "form": "ever",
        "tag": "ADV",
        "relation": "advmod",
        "before": ["("],
        "behind": [")"],
        "left": ["("],
        "right": [")"],
    }
    assert (graph.nodes[1]["before"], graph.nodes[7]["behind"]) == (["“"], ["abbr.", "”", ","])
    with pytest.raises(ValueError, match="shorter"):
        sentence.graph([none])
