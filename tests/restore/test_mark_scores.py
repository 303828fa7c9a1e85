"""Scores of marks, worked out by hand."""

import pytest

from pyropunct.restore.edit_distance import average_edit_distance
from pyropunct.restore.mark_scores import MarkScore, RestorationScores
from pyropunct.text.marks import ABBREVIATION_DOT, START

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
