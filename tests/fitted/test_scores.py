"""Scores of restored punctuation: edit distance, and marks, worked out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyropunct.fitted.evaluation import (
    MarkScore,
    RestorationScores,
    average_edit_distance,
    slot_distance,
    surface_distance,
)
from pyropunct.text.marks import ABBREVIATION_DOT, START

slots = st.lists(st.sampled_from([",", ".", "...", "\tabbr."]), max_size=5)


def recursive_distance(one: list[str], other: list[str]) -> int:
    """From the definition: the last token is deleted, inserted, or replaced, which is free if it stays."""
    if not one or not other:
        return len(one) + len(other)
    return min(
        recursive_distance(one[:-1], other) + 1,
        recursive_distance(one, other[:-1]) + 1,
        recursive_distance(one[:-1], other[:-1]) + (one[-1] != other[-1]),
    )


@given(slots, slots)
def test_slots_against_the_recursive_definition(one: list[str], other: list[str]) -> None:
    assert slot_distance(one, other) == recursive_distance(one, other)


def test_edits_are_of_whole_tokens() -> None:
    assert slot_distance(["..."], [".", ".", "."]) == 3
    assert slot_distance(["..."], [".."]) == 1


def test_start_never_counts() -> None:
    assert slot_distance((START,), ()) == 0
    assert slot_distance((START, "“"), ("“",)) == 0
    assert slot_distance((START, "“"), (START,)) == 1


def test_surface_distance_adds_up_over_slots() -> None:
    assert surface_distance([(START,), (",",), (".",)], [(START, "“"), (), (".", "”")]) == 3
    assert surface_distance([(START,), (",",), ()], [(START,), (), (",",)]) == 2  # no token changes its slot


def test_average_is_over_all_slots_of_all_sentences() -> None:
    found = [[(START,), (".",)], [(START,), (), (".",)]]
    wanted = [[(START,), ("?",)], [(START,), (",",), ("!", ".")]]
    assert average_edit_distance(found, wanted) == 3 / 5
    assert average_edit_distance(wanted, wanted) == 0


def test_what_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="2 slots from 1"):
        surface_distance([(), ()], [()])
    with pytest.raises(ValueError, match="1 sentences cannot be compared with 2"):
        average_edit_distance([[()]], [[()], [()]])
    with pytest.raises(ValueError, match="no sentence"):
        average_edit_distance([], [])


GOLD = [(START, "“"), (",",), (ABBREVIATION_DOT, "!", "!"), (".", "”")]
RESTORED = [(START,), (",", ","), ("!", "”"), ("”", ".")]


@pytest.fixture
def scores() -> RestorationScores:
    scores = RestorationScores()
    scores.add(RESTORED, GOLD)
    scores.add([(START,), (",",)], [(START,), (".",)])
    return scores


def test_counts_by_slot(scores: RestorationScores) -> None:
    """The order within a slot does not count, and a mark is right no more often than it is there."""
    assert scores.of_marks() == {
        ".": (2, 1, 1),
        "!": (2, 1, 1),
        ",": (1, 3, 1),
        "”": (1, 2, 1),
        ABBREVIATION_DOT: (1, 0, 0),
        "“": (1, 0, 0),
    }
    assert scores.overall() == (8, 7, 4)
    assert (scores.sentences, scores.slots) == (2, 6)


def test_most_frequent_mark_first(scores: RestorationScores) -> None:
    assert list(scores.of_marks()) == ["!", ".", ",", "”", ABBREVIATION_DOT, "“"]


def test_average_edit_distance(scores: RestorationScores) -> None:
    found, wanted = [RESTORED, [(START,), (",",)]], [GOLD, [(START,), (".",)]]
    assert scores.average_edit_distance == average_edit_distance(found, wanted) == (1 + 1 + 2 + 2 + 1) / 6


@pytest.mark.parametrize(
    ("score", "shares"),
    [
        (MarkScore(8, 5, 4), (4 / 5, 1 / 2, 2 / (5 / 4 + 2))),
        (MarkScore(3, 3, 3), (1, 1, 1)),
        (MarkScore(3, 3, 0), (0, 0, 0)),
        (MarkScore(0, 2, 0), (0, None, 0)),
        (MarkScore(2, 0, 0), (None, 0, 0)),
        (MarkScore(0, 0, 0), (None, None, None)),
    ],
)
def test_shares(score: MarkScore, shares: tuple[float | None, ...]) -> None:
    assert (score.precision, score.recall, score.f1) == pytest.approx(shares)


def test_nothing_to_score() -> None:
    assert RestorationScores().average_edit_distance is None
    assert RestorationScores().overall() == (0, 0, 0)


def test_other_number_of_slots(scores: RestorationScores) -> None:
    with pytest.raises(ValueError, match="slots"):
        scores.add([()], [(), ()])
    assert scores.sentences == 2
