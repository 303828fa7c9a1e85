"""The trivial restorer."""

from dataclasses import replace

import pytest
from sentences import sentence

from pyropunct.rivals.taggers.trivial import trivial_restorer
from pyropunct.treebank.marks import ABBREVIATION_DOT, START


def test_most_frequent_final_mark_and_nothing_else() -> None:
    train = [
        sentence("so what", "", ",", "?"),
        sentence("he said so", "“", "", ",", "” ."),
        sentence("it is", "", "", "."),
        sentence("yes", ",", ","),
    ]
    assert trivial_restorer(train).restore([["a", "b"], ["c"]]) == [
        [(START,), (), (".",)],
        [(START,), (".",)],
    ]


def test_of_equally_frequent_marks_the_first() -> None:
    train = [sentence("a", "", "?"), sentence("b", "", "!"), sentence("c", "", ""), sentence("d", "", "")]
    assert trivial_restorer(train).final == ("!",)


def test_an_abbreviation_dot_ends_no_sentence() -> None:
    dotted = replace(sentence("and so on etc"), surface=((START,), (), (), (), (ABBREVIATION_DOT,)))
    assert trivial_restorer([dotted]).restore([["a"]]) == [[(START,), ()]]
    assert trivial_restorer([dotted, dotted, sentence("a", "", "!")]).final == ("!",)


def test_no_sentence() -> None:
    with pytest.raises(ValueError, match="no sentence to learn a final mark from"):
        trivial_restorer([])
