"""What becomes of marks."""

import pytest

from pyropunct.papers.options import ALL, AWAY, PAIRED, TOKENS
from pyropunct.papers.transitions.marked_sentences import MarkedSentence, pair_sides, treated, tree_of

TAGS = {
    "“": "``",
    "”": "''",
    ".": ".",
    "!": ".",
    "?": ".",
    ",": ",",
    ";": ":",
    "--": ":",
    "(": "-LRB-",
    ")": "-RRB-",
}
MARKS = {*TAGS, '"', "«", "„"}


def sentence(text: str) -> MarkedSentence:
    """Words and marks between spaces; all depend on the first word."""
    forms = tuple(text.split())
    marks = tuple(form in MARKS for form in forms)
    root = marks.index(False)
    heads = tuple(0 if place == root else root + 1 for place in range(len(forms)))
    tags = tuple(TAGS.get(form, "NN") for form in forms)
    return MarkedSentence(forms, tags, marks, heads, ("d",) * len(forms))


def shown(text: str, treatment: str = ALL) -> str:
    """The tokens that are parsed, each with its property."""
    found = treated(sentence(text), treatment)
    columns = zip(found.forms, found.opened, found.closed, found.beside, strict=True)
    return " ".join(
        f"{'<' * opened.bit_count()}{form}{'>' * closed.bit_count()}{beside}"
        for form, opened, closed, beside in columns
    )


def test_the_example_of_the_paper() -> None:
    found = treated(sentence("( “ Congress 's Environmental Buccaneers , ” Sept. 18 ) ."), ALL)
    assert found.forms == ("Congress", "'s", "Environmental", "Buccaneers", "Sept.", "18")
    bracket, quotes = found.closed[-1], found.closed[3]
    assert bracket.bit_count() == quotes.bit_count() == 1 != bracket ^ quotes
    assert found.opened == (bracket | quotes, 0, 0, 0, 0, 0)
    assert found.closed == (0, 0, 0, quotes, 0, bracket)
    assert not any(found.beside)


@pytest.mark.parametrize(
    ("text", "properties"),
    [
        ("a , b ; c .", "a, b: c"),
        ("a ; , b", "a, b"),  # the last wins
        ("a b ! ?", "a b."),  # the final mark is none
        ("a b", "a b"),
        (", a", "a"),
        ("a , ( b ) , c", "a <b> c"),  # marks beside one of a pair leave nothing
        ("a , “ b ; ” . c", "a <b> c"),
        ("a -- b -- c", "a <b> c"),
        ("a -- b", "a: b"),  # an odd number of dashes are no pairs
        ("a -- b -- c -- d", "a: b: c: d"),
        ("a -- b -- c --", "a: b: c"),
        ("a ( b", "a <b"),
        ("a ) b", "a> b"),
        (") a (", "a"),
        ('" a " b', "<a> b"),
    ],
)
def test_properties(text: str, properties: str) -> None:
    assert shown(text) == properties


@pytest.mark.parametrize(
    ("treatment", "tokens"),
    [
        (TOKENS, "a , b ( c ; ) , d ! ."),
        (AWAY, "a b c d"),
        (PAIRED, "a , b <c> d ! ."),
        (ALL, "a, b <c> d."),
    ],
)
def test_treatments(treatment: str, tokens: str) -> None:
    assert shown("a , b ( c ; ) , d ! .", treatment) == tokens


@pytest.mark.parametrize(
    ("text", "sides"),
    [
        ("“ a ”", [1, 0, -1]),
        ("„ a “ b", [1, 0, -1, 0]),  # German
        ("“ a „ b ” c ”", [1, 0, 2, 0, -2, 0, -1]),
        ('" a " b', [1, 0, -1, 0]),
        ("a ”", [0, -1]),
    ],
)
def test_pairs_are_matched(text: str, sides: list[int]) -> None:
    ranks: dict[int, int] = {0: 0}
    found = pair_sides(sentence(text))
    kinds = [ranks.setdefault(abs(side), len(ranks)) for side in found]
    assert [kind if side > 0 else -kind for kind, side in zip(kinds, found, strict=True)] == sides


def test_directions_come_from_tags_and_not_from_heads() -> None:
    marked = MarkedSentence(
        ('"', "a", '"', "b", '"', "c"),
        ("''", "NN", "``", "NN", "''", "NN"),
        (True, False) * 3,
        (2, 0, 4, 2, 4, 2),
        ("d",) * 6,
    )
    assert [side > 0 for side in pair_sides(marked)] == [False, False, True, False, False, False]


def test_the_tree_of_the_tokens_that_are_kept() -> None:
    marked = MarkedSentence(
        ("a", ",", "b", "c"),
        ("X", ",", "X", "X"),
        (False, True, False, False),
        (4, 4, 1, 0),
        ("x", "p", "y", "r"),
    )
    assert tree_of(marked, treated(marked, AWAY).tokens) == ((3, 1, 0), ("x", "y", "r"), 0)
