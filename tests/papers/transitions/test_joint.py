"""Scores of marks, ends and trees by hand; which differences are tested."""

import numpy as np
import pytest

from pyropunct.papers.options import CASCADED, CRF, UNIFIED, JointSettings
from pyropunct.papers.transitions.joint_experiment import (
    COLUMNS,
    MARKS,
    JointExperiment,
    JointResult,
    mark_counts,
    tree_counts,
)
from pyropunct.papers.transitions.machine import FULL, MIDDLE, NONE
from pyropunct.papers.transitions.streams import Reading, Stream
from pyropunct.significance import f1, permutation_test

GOLD = Stream(
    forms=tuple("abcde"),
    tags=("X",) * 5,
    marks=(MIDDLE, NONE, NONE, MIDDLE, FULL),
    heads=(2, 0, 2, 5, 0),
    relations=("s", "root", "o", "s", "root"),
    sizes=(3, 2),
)


def test_marks_ends_and_trees_are_counted() -> None:
    found = Reading(
        marks=(MIDDLE, NONE, FULL, FULL, FULL),
        ends=(False, False, True, True, True),
        heads=(2, 0, 2, 0, 0),
        relations=("s", "root", "x", "root", "root"),
    )

    def measured(*readings: Reading) -> JointResult:
        gold = [GOLD] * len(readings)
        return JointResult("a", 3, mark_counts(readings, gold), tree_counts(readings, gold), None, 10.0)

    result = measured(found, found)
    counts = {column: tuple(result.counts(column)) for column in MARKS}
    assert counts == {"middle": (4, 2, 2), "full": (2, 6, 2), "any": (6, 8, 6), "ends": (2, 4, 2)}
    without = measured(found, found._replace(heads=None))
    values = [{column.key: column.value(one) for column in COLUMNS} for one in (result, without)]
    assert [(one["uas"], one["las"]) for one in values] == [(80, 60), (None, None)]
    assert without.counts("full") == result.counts("full")


def test_differences_are_from_the_row_above_of_the_same_size() -> None:
    random = np.random.default_rng(0)

    def row(name: str, size: int) -> JointResult:
        right = random.integers(0, 5, (30, 4, 1))
        more = right + random.integers(0, 5, (30, 4, 2))
        trees = np.sort(random.integers(0, 9, (30, 3)))[:, ::-1]
        parsed = None if name == CRF else trees
        return JointResult(name, size, np.concatenate([more, right], 2), parsed, None, 10.0)

    rows = [row(name, size) for size in (3, 10) for name in (CRF, CASCADED, UNIFIED)]
    settings = JointSettings(permutations=100)
    comparison = JointExperiment([GOLD], {3: [GOLD], 10: [GOLD]}, settings=settings).tabled(rows)
    found = [row["p"] for row in comparison.to_json()["rows"]]
    assert [set(one) for one in found[:2]] == [set(), set(MARKS)]
    assert set(found[2]) == {*MARKS, "uas", "las"}
    assert found[3] == {}
    one, two = rows[5], rows[4]
    assert found[5]["ends"] == permutation_test(one.marks[:, 3], two.marks[:, 3], 100, statistic=f1)
    assert one.trees is not None
    assert two.trees is not None
    assert found[5]["las"] == permutation_test(one.trees[:, 2], two.trees[:, 2], 100)
    _, table = comparison.tables["rows"].cells(str)
    assert [line[:2] for line in table[:2]] == [["3", CRF], ["3", CASCADED]]
    assert table[0][10] == "–"
    assert table[1][2] == f"{rows[1].counts('middle').f1:.2f}"
    header, shares = comparison.tables["precision_and_recall"].cells(str)
    found_place, true_place = header.index("F P"), header.index("F R")
    [gold, places, right] = rows[1].counts("full")
    assert shares[1][found_place] == f"{100 * right / places:.2f}"
    assert shares[1][true_place] == f"{100 * right / gold:.2f}"
    plain = comparison.to_json()["rows"][5]
    assert (plain["system"], plain["sentences"], plain["p"]) == (UNIFIED, 10, found[5])
    assert plain["ends"] == pytest.approx(rows[5].counts("ends").f1)
