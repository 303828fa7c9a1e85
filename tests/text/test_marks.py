"""Marks of punctuation: quotation marks, halves of pairs, runs."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyropunct.text.marks import SPECIAL, direct_quotes, display, unpaired
from pyropunct.text.typed_marks import RunsOfMarks


@pytest.mark.parametrize(
    ("forms", "tags", "directed"),
    [
        # by tags
        ('" "', "`` ''", "“ ”"),
        ("' '", "`` ''", "‘ ’"),
        ('"', "''", "”"),
        ('" "', "`` ``", "“ “"),
        # a tag on something that is no quotation mark
        (", 「 -", "`` '' ''", ", 「 -"),
        # marks of ASCII typesetting, with and without tags
        ("`` ''", "`` ''", "“ ”"),
        ("`` ''", "_ _", "“ ”"),
        ("` '", "`` '", "‘ ’"),
        ("`` &#39;&#39;", "`` &#39;&#39;", "“ ”"),
        ("`` '' ''", "_ _ _", "“ ” ''"),
        # by order
        ('" , "', "_ _ _", "“ , ”"),
        ('" " " "', "_ _ _ _", "“ ” “ ”"),
        ("\" ' ' \"", "_ _ _ _", "“ ‘ ’ ”"),
        # the last one that is open is closed
        ('" `` "', "_ _ _", '" “ ”'),
        # unpaired
        ("\" '", "_ _", "\" '"),
        ('" " "', "_ _ _", '“ ” "'),
        # one of two has a tag
        ('" "', ", ''", "“ ”"),
        ('" "', "`` ,", "“ ”"),
        # already directed
        ("“ ” ’", "_ _ _", "“ ” ’"),
    ],
)
def test_directions(forms: str, tags: str, directed: str) -> None:
    assert direct_quotes(forms.split(), tags.split()) == directed.split()


@pytest.mark.parametrize(
    ("surface", "alone"),
    [
        ([("“",), (",", "”")], 0),
        ([("(", "“"), ("”",), (")", ".")], 0),
        ([("„",), ("“", ".")], 0),
        ([("„",), ("”", ".")], 0),
        ([("»",), ("«",)], 0),
        ([("«",), ("»",), ("«", "“"), ("”", "»")], 0),
        ([(), (",",), (".",)], 0),
        ([("“",), (".",)], 1),
        ([(), (")",)], 1),
        ([("”",), ("“",)], 2),
        ([("(",), ("”",), (")",)], 1),
    ],
)
def test_halves_of_pairs(surface: list[tuple[str, ...]], alone: int) -> None:
    assert unpaired(surface) == alone


LONGEST = 5
MARKS = st.lists(st.text("ab.", min_size=1, max_size=3), max_size=4)


@given(marks=MARKS, text=st.text("ab.", max_size=LONGEST))
def test_runs_are_the_longest(marks: list[str], text: str) -> None:
    """Among all ways to put marks together."""
    runs = {"".join(some) for count in range(LONGEST + 1) for some in product(set(marks), repeat=count)}
    found = RunsOfMarks(marks)
    assert found.end_of_first(text) == max(end for end in range(len(text) + 1) if text[:end] in runs)
    assert found.start_of_last(text) == min(start for start in range(len(text) + 1) if text[start:] in runs)
    apart = found.apart(text)
    assert "".join(apart) == text
    assert set(apart) <= (set(marks) if text in runs else {text})


def test_longer_marks_come_first_where_nothing_is_left_over() -> None:
    runs = RunsOfMarks([".", "...", "?", "?!", "!!"])
    assert runs.apart("....?!!") == ["...", ".", "?", "!!"]
    assert runs.apart("...a") == ["...a"]
    assert runs.apart("") == []


def test_marks_are_told_apart_from_special_tokens() -> None:
    assert list(map(display, (*SPECIAL, ","))) == ["^", "abbr.", "UNK", ","]
    assert list(map(display, ("^", "abbr.", "UNK"))) == ["\\^", "\\abbr.", "\\UNK"]
