"""The trivial system."""

from dataclasses import replace

import pytest
from sentences import sentence

from pyropunct.papers.li_2019.restorers import ended_in, final_mark
from pyropunct.text.marks import ABBREVIATION_DOT, START


def test_most_frequent_final_mark_and_nothing_else() -> None:
    train = [
        sentence("so what", "", ",", "?"),
        sentence("he said so", "“", "", ",", "” ."),
        sentence("it is", "", "", "."),
        sentence("yes", ",", ","),
    ]
    assert ended_in(final_mark(train), [["a", "b"], ["c"]]) == [
        [(START,), (), (".",)],
        [(START,), (".",)],
    ]


def test_of_equally_frequent_marks_the_first() -> None:
    train = [sentence("a", "", "?"), sentence("b", "", "!"), sentence("c", "", ""), sentence("d", "", "")]
    assert final_mark(train) == ("!",)


def test_an_abbreviation_dot_ends_no_sentence() -> None:
    dotted = replace(sentence("and so on etc"), surface=((START,), (), (), (), (ABBREVIATION_DOT,)))
    assert ended_in(final_mark([dotted]), [["a"]]) == [[(START,), ()]]
    assert final_mark([dotted, dotted, sentence("a", "", "!")]) == ("!",)


def test_no_sentence() -> None:
    with pytest.raises(ValueError, match="no sentence to learn a final mark from"):
        final_mark([])
