"""Whether the words of a line are one sentence, and where other sentences end inside."""

from itertools import product

import numpy as np
import pytest

from pyropunct.restore.line_ends import (
    AMONG_MARKS,
    OMITTED,
    OMITTING,
    UNMARKED,
    are_several,
    ends_shown,
    hidden_ends,
)
from pyropunct.restore.running import LONGEST_MARKED
from pyropunct.text.conventions import Conventions
from pyropunct.text.marks import ABBREVIATION_DOT, START, UNKNOWN
from pyropunct.text.raw_reader import RawReader
from pyropunct.vocabulary import Vocabulary

MARKS = (START, ABBREVIATION_DOT, UNKNOWN, ",", ".", "?")
LINES = RawReader(Vocabulary(MARKS, ("",), ("",), ("",), ((),)), Conventions(splits={"du": ("de", "le")}))


def ends_in(text: str, ends: list[float], lost: bool = False) -> list[int]:
    decided = hidden_ends(LINES.read(text), ends, lost)
    return [place for place, end in decided.items() if end]


@pytest.mark.parametrize(
    "one", [[0.3], [0.05, 0.9, 0.2], [0.01] * 4, [0.6, 0.97, 0.99, 0.02], [1e-9] + [0.99] * 9]
)
def test_several_by_enumeration(one: list[float]) -> None:
    """Over whether the line leaves out ends, and whether each stretch is several."""
    joint = {}
    for omits, *several in product((False, True), repeat=len(one) + 1):
        p = OMITTING if omits else 1 - OMITTING
        for is_several, single in zip(several, one, strict=True):
            share = OMITTED * omits
            p *= share * (1 - single) if is_several else (1 - share) * single
        joint[omits, *several] = p
    total = sum(joint.values())
    expected = [sum(p for key, p in joint.items() if key[n]) / total > 0.5 for n in range(1, len(one) + 1)]
    assert are_several(one) == expected


def test_a_line_of_one_stretch_has_the_prior_of_one_sentence() -> None:
    least = 1 - 0.9
    assert are_several([least + 1e-6]) == [False]
    assert are_several([least - 1e-6]) == [True]


def test_other_stretches_tell_about_one() -> None:
    assert are_several([0.3]) == [False]
    assert are_several([0.3, 0.01, 0.01]) == [True] * 3
    assert are_several([0.05, *[0.99] * 20])[0] is False
    assert are_several([0.0] * 5000) == [True] * 5000


def test_improbable_ends_tell_together_that_there_are_some() -> None:
    assert ends_in("a b", [0.5, 0.9]) == []
    assert ends_in("a b c d e f", [0.5, 0.4, 0.5, 0.4, 0.4, 0.9]) == [1, 2, 3, 4, 5]
    assert ends_in("a b c d e f", [0.9, UNMARKED, 0.5, 0.2, 0.4, 0.9]) == [1, 3, 5]


def test_ends_among_marks_are_more_probable_than_not() -> None:
    above, below = AMONG_MARKS + 0.01, AMONG_MARKS - 0.01
    assert ends_in("a b c d. E f g h.", [above, below, 0.9, 1, 0.9, below, above, 1]) == [1, 3, 5, 7]


def test_no_end_is_hidden_where_none_can_be() -> None:
    """Behind a comma, inside written words, at the dot of an abbreviation."""
    sure = [0.99] * 4
    assert ends_in("a, b c d", sure) == [2, 3]
    assert ends_in("a du b", sure) == [1, 3]
    assert ends_in("a J. b c", sure) == [1, 3]
    assert ends_in("a J. b c", sure, lost=True) == [1, 2, 3]


def test_what_stays_undecided_among_marks() -> None:
    """Places behind the dots of abbreviations, and all places of a long stretch."""
    line = LINES.read("a J. B c. D")
    assert ends_shown(line) == [4]
    assert set(hidden_ends(line, [0.9] * 5, False)) == {1, 3}
    for size, decided in ((LONGEST_MARKED, LONGEST_MARKED - 1), (LONGEST_MARKED + 1, 0)):
        line = LINES.read("w " * (size - 1) + "w. End")
        assert len(hidden_ends(line, np.full(size + 1, 0.9).tolist(), False)) == decided
