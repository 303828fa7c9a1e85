"""Stretches of text that consist of marks."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from pyropunct.text.marks import RunsOfMarks

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
