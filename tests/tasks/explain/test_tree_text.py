"""Underlying trees as text."""

import pytest
from punctuated import french

from pyropunct.tasks.explain.derivations import underlying_strings
from pyropunct.tasks.explain.tree_text import ENTRIES, bracketed, puncteme_entries
from pyropunct.tasks.rephrase.underlying_tree import UnderlyingTree
from pyropunct.text.marks import ABBREVIATION_DOT, UNKNOWN
from pyropunct.treebank.reading import read_text
from pyropunct.treebank.sentence import MarkedPart, Sprouts
from pyropunct.treebank.tree import Tree

WENT = """1	I	_	PRON	_	_	2	nsubj	_	_
2	went	_	VERB	_	_	0	root	_	_
3	to	_	ADP	_	_	6	case	_	_
4	the	_	DET	_	_	6	det	_	_
5	special	_	ADJ	_	_	6	amod	_	_
6	place	_	NOUN	_	_	2	obl	_	_
"""

NOTHING: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
TREE = Tree((2, 0, 4, 2), ("nsubj", "root", "amod", "obj"), ("X",) * 4, ("Dale", "means", "river", "valley"))


@pytest.mark.parametrize(
    ("punctemes", "text"),
    [
        ([NOTHING] * 4, "Dale means river valley"),
        (
            [(("“",), ("”",)), ((), (".",)), NOTHING, (("“",), ("”",))],
            "root[nsubj[“ Dale ”] means obj[“ river valley ”] .]",
        ),
        ([NOTHING, NOTHING, ((), (",",)), NOTHING], "Dale means amod[river ,] valley"),
        ([NOTHING, ((":", "“"), ("!", "”")), NOTHING, NOTHING], "root[: “ Dale means river valley ! ”]"),
        (
            [NOTHING, NOTHING, NOTHING, ((UNKNOWN,), (ABBREVIATION_DOT,))],
            "Dale means obj[UNK river valley abbr.]",
        ),
    ],
)
def test_bracketed(punctemes: list[tuple[tuple[str, ...], tuple[str, ...]]], text: str) -> None:
    assert bracketed(TREE, punctemes) == text


def test_words_are_written_as_in_the_sentence() -> None:
    shown, parted = french(), french(parted=True)
    assert bracketed(shown.sentence, shown.punctemes) == "root[L'UE du Nord vote .]"
    assert bracketed(shown.tree, shown.punctemes) == "root[L' UE de le Nord vote .]"
    assert bracketed(parted.sentence, parted.punctemes) == "root[det[( L' )] UE case[“ de ”] le Nord vote .]"


def test_words_of_scripts_without_spaces_stay_apart() -> None:
    lines = ["1\t我\t_\tX\t_\t_\t2\tx\t_\tSpaceAfter=No", "2\t去\t_\tX\t_\t_\t0\troot\t_\tSpaceAfter=No"]
    (sentence,) = read_text("\n".join(lines))
    assert bracketed(sentence, [Sprouts(), Sprouts()]) == "我 去"


def test_marks_around_a_part() -> None:
    """They stand between the dependents, and are the innermost marks in MISC."""
    (sentence,) = read_text(WENT)
    part = MarkedPart("“", "”", 2, 0)
    sprouts = [Sprouts(), Sprouts((), (".",)), *[Sprouts()] * 3, Sprouts(("(",), (")",), part)]
    assert bracketed(sentence, sprouts) == "root[I went obl[( to the “ special place ” )] .]"
    assert puncteme_entries(sprouts)[5] == {"PunctLeft": "(+“", "PunctRight": "”+)", "PunctPart": "2+0"}
    strings = underlying_strings(sentence.tree, sprouts)
    assert [[one.token for one in string] for string in strings[1:]] == [
        [],
        ["("],
        [],
        ["“"],
        [],
        ["”", ")", "."],
    ]
    tree = UnderlyingTree(sentence, tuple(sprouts), tuple(range(1, 7)))
    for gone, expected in (([3], (1, 0)), ([5], (2, 0)), ([3, 4], (0, 0)), ([4, 5], (1, 0))):
        left = tree.without(gone)
        assert left._of_word(6).part == part._replace(left_out=expected[0], right_out=expected[1])
    turned = tree.reordered([1, 2, 5, 3, 4, 6])
    assert [[one.token for one in string] for string in turned.strings[1:]][1] == ["(", "“"]


def test_a_deep_tree() -> None:
    """Deeper than Python recurses."""
    size = 5_000
    tree = Tree(tuple(range(size)), ("x",) * size, ("X",) * size, ("w",) * size)
    assert bracketed(tree, [Sprouts((), (",",))] * size).count("[") == size


def test_misc_entries() -> None:
    sprouts = [Sprouts(), Sprouts((",", "“"), ("”",)), Sprouts((), (ABBREVIATION_DOT, "."))]
    assert puncteme_entries(sprouts) == [
        {},
        {"PunctLeft": ",+“", "PunctRight": "”"},
        {"PunctRight": "abbr.+."},
    ]


def test_entries_of_another_tree_are_removed() -> None:
    """And nothing else is, nor is an empty column filled."""
    lines = "1\tGo\t_\tX\t_\t_\t0\troot\t_\tA=1|PunctRight=,|B\n2\ton\t_\tX\t_\t_\t1\tx\t_\t\n\n"
    [sentence] = read_text(lines)
    entries = puncteme_entries([Sprouts(("(",), ()), Sprouts()])
    written = sentence.conllu([ENTRIES | own for own in entries])
    assert written == lines.replace("A=1|PunctRight=,|B", "A=1|B|PunctLeft=(")
