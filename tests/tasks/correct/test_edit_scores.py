"""Edits of corrections against gold edits: all ways from one string to another are tried."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from pyropunct.tasks.correct.edit_scores import (
    EditScores,
    MarkEdit,
    edit_scores,
    gold_edits,
    shared_edits,
)
from pyropunct.text.marks import START

strings = st.lists(st.sampled_from([",", ".", "”"]), max_size=4)

Script = tuple[tuple[MarkEdit, ...], int]


def scripts(wrong: list[str], new: list[str], gold: list[MarkEdit], i: int, j: int) -> Iterator[Script]:
    """All segmentations into edits of all alignments of what is left of two strings, with their costs."""
    if (i, j) == (len(wrong), len(new)):
        yield (), 0
    for end in range(i, len(wrong) + 1):
        for to in range(j, len(new) + 1):
            if (end, to) == (i, j):
                continue
            replaced, marks = wrong[i:end], tuple(new[j:to])
            for rest, cost in scripts(wrong, new, gold, end, to):
                yield (MarkEdit(i, end, marks), *rest), cost + max(len(replaced), len(marks))
    if i < len(wrong) and j < len(new) and wrong[i] == new[j]:
        yield from scripts(wrong, new, gold, i + 1, j + 1)


def best_script(wrong: list[str], new: list[str], right: list[str]) -> tuple[int, int]:
    """The most gold edits, and with them the fewest edits, on any shortest way, by trying all of them."""
    gold = gold_edits(wrong, right)
    found = [
        (sum(edit in gold for edit in script), -len(script))
        for script, cost in scripts(wrong, new, gold, 0, 0)
        if cost == Levenshtein.distance(wrong, new)
    ]
    return max(found)


def applied(wrong: list[str], edits: list[MarkEdit]) -> list[str]:
    result = list(wrong)
    for edit in reversed(edits):
        result[edit.start : edit.end] = edit.marks
    return result


@given(strings, strings)
def test_gold_edits_make_the_wrong_string_right(wrong: list[str], right: list[str]) -> None:
    edits = gold_edits(wrong, right)
    assert applied(wrong, edits) == right
    assert sum(max(e.end - e.start, len(e.marks)) for e in edits) == Levenshtein.distance(wrong, right)
    assert all(one.end < other.start for one, other in pairwise(edits))


@given(strings, strings, strings)
def test_shared_edits_are_the_most_on_any_shortest_way(
    wrong: list[str], new: list[str], right: list[str]
) -> None:
    shared = shared_edits(wrong, new, right)
    assert (shared.right, -shared.proposed) == best_script(wrong, new, right)
    assert shared.gold == len(gold_edits(wrong, right))


@given(strings, strings)
def test_a_perfect_system_and_an_idle_one(wrong: list[str], right: list[str]) -> None:
    gold = len(gold_edits(wrong, right))
    assert shared_edits(wrong, right, right) == EditScores(gold, gold, gold)
    assert shared_edits(wrong, wrong, right) == EditScores(0, 0, gold)


def test_edits_side_by_side_count_as_gold_has_them() -> None:
    """A system that puts ”. for a comma does one thing, or two if gold asks for one of them."""
    assert gold_edits(["”", "."], [".", "”"]) == [MarkEdit(0, 0, (".",)), MarkEdit(1, 2, ())]
    assert shared_edits([","], ["”", "."], ["."]) == EditScores(1, 2, 1)
    assert shared_edits([","], ["”", "."], [","]) == EditScores(0, 1, 0)


def test_scores_are_of_sums_over_the_corpus() -> None:
    source = [[(START, ","), (), (".",)], [(START,), ("?",)]]
    found = [[(START,), (",",), (".",)], [(START,), (".",)]]
    wanted = [[("“",), (",",), (".",)], [(START,), (".",)]]
    scores = edit_scores(source, found, wanted)
    assert (scores.right, scores.proposed, scores.gold) == (2, 3, 3)
    assert scores.precision == scores.recall == pytest.approx(2 / 3)
    assert scores.f() == pytest.approx(2 / 3)
    uneven = EditScores(right=3, proposed=4, gold=12)
    assert uneven.f() == pytest.approx(1.25 * 0.75 * 0.25 / (0.25 * 0.75 + 0.25))
    assert uneven.f(1.0) == pytest.approx(2 * 3 / (4 + 12))


def test_scores_without_edits() -> None:
    nothing = EditScores()
    assert (nothing.precision, nothing.recall, nothing.f()) == (1.0, 1.0, 1.0)
    idle = EditScores(gold=3)
    assert (idle.precision, idle.recall, idle.f()) == (1.0, 0.0, 0.0)


def test_sentences_and_slots_need_partners() -> None:
    with pytest.raises(ValueError, match="zip"):
        edit_scores([[()]], [[()]], [])
    with pytest.raises(ValueError, match="zip"):
        edit_scores([[()]], [[(), ()]], [[()]])
