"""Numbers, tables and JSON of results that can be worked out by hand."""

import json
import math
import re

import pytest
from made_up import SENTENCES, TRUTH, comparison, four_systems, outcome, repeated, system

from pyropunct.papers.experiment import Results
from pyropunct.papers.li_2019.results import COLUMNS, GOLD, NONE, PREDICTED, Outcome
from pyropunct.text.marks import START

BY_KEY = {column.key: column for column in COLUMNS}


def leaders(found: Results) -> dict[str, list[str]]:
    """The leading systems of each column."""
    table = found.tables["systems"]
    return {
        column.key: [table.rows[row].first.name for row in table.leaders(column)]
        for column in COLUMNS
        if column.evidence is not None
    }


def p_values(found: Results, key: str) -> dict[str, float]:
    """The p-values of a column against its best system, by tested systems."""
    return {one["name"]: one["p"][key] for one in found.to_json()["systems"] if key in one["p"]}


def test_one_sentence_by_hand() -> None:
    """A missing comma and two wrong marks: 1 + 2 edits in 4 slots; of 3 restored marks, 1 is right."""
    gold = [(START,), (",", "("), (), (".",)]
    restored = [(START,), ("(",), (), ("!", "”")]
    one = Outcome(NONE, None, [restored], [gold], -math.log(2) * outcome([3]).edits[:, 0])
    assert one.aed == 3 / 4
    assert (one.edits.tolist(), one.marks.tolist()) == ([[3]], [[3, 3, 1]])
    assert one.f1 == 1 / 3
    assert one.perplexity == pytest.approx(2 ** (3 / 4))


def test_values_of_columns() -> None:
    values = {
        one.first.name: [column.value(one) for column in COLUMNS]
        for one in four_systems().tables["systems"].rows
    }
    assert values["bad"] == [None, None, 2 / 4, 2 / 4, 2 * 2 / (2 + 4), 0.0]
    assert values["good"] == [*[pytest.approx(math.exp(1 / 4))] * 2, 1 / 4, 1 / 4, 2 * 2 / (2 + 3), 20.0]
    perplexities = [pytest.approx(math.exp(log_prob / 4)) for log_prob in (0.4, 0.8)]
    assert values["full"] == [*perplexities, 0.0, 0.0, 1.0, 20.0]
    assert values["attach"][2:4] == [2 / (4 * SENTENCES)] * 2


def test_several_seeds() -> None:
    """Means, deviations by hand, and a test of what is averaged over seeds."""
    runs = [four_systems(seconds) for seconds in (20.0, 22.0, 27.0)]
    found = repeated(
        [[one.first for one in run.tables["systems"].rows] for run in runs],
        [[one.first for one in run.tables["parsers"].rows[:-1]] for run in runs],
    )
    assert BY_KEY["training_seconds"].value(found.tables["systems"].rows[1]) == 23
    assert BY_KEY["training_seconds"].spread(found.tables["systems"].rows[1]) == pytest.approx(math.sqrt(13))
    assert BY_KEY["perplexity_gold_trees"].value(found.tables["systems"].rows[0]) is None
    assert "| **0.0125 ± 0.0000** |" in found.to_markdown()
    assert "| parser, 20% | 40 | 65.00 ± 0.00 |" in found.to_markdown()
    assert "| 23 ± 4 |" in found.to_markdown()
    assert "mean ± standard deviation of the seeds 0 to 2" in found.to_markdown()
    assert all(p_values(found, key) == p_values(four_systems(), key) for key in BY_KEY)


def test_seeds_that_disagree() -> None:
    """The second system is worse with one seed and better with the other, by as much: no difference."""
    first, second = outcome([0, 2] * 20), outcome([2, 0] * 20)
    same = outcome([1] * SENTENCES)
    found = repeated([[system("a", same), system("b", one)] for one in (first, second)])
    assert p_values(found, "aed_gold_trees") == {"a": 1.0, "b": 1.0}
    assert leaders(found)["aed_gold_trees"] == ["a", "b"]


def test_the_best_and_what_is_not_significantly_worse() -> None:
    """Two sentences make no significant difference: all four sign patterns, or swaps, are as extreme."""
    found = four_systems()
    assert leaders(found) == {
        "perplexity_gold_trees": ["full"],
        "perplexity_predicted_trees": ["full"],
        "aed_gold_trees": ["attach", "full"],
        "aed_predicted_trees": ["attach", "full"],
        "f1_predicted_trees": ["attach", "full"],
    }
    tests = p_values(found, "aed_gold_trees")
    assert (tests["attach"], tests["full"], tests["bad"]) == (2 / 4, 1, 1 / 10_001)
    assert set(p_values(found, "perplexity_gold_trees")) == {"good", "attach", "full"}
    assert len(tests) == 4
    assert p_values(found, "training_seconds") == {}


def test_a_single_system_is_the_best() -> None:
    found = comparison([system("only", outcome([0] * SENTENCES, log_prob=-1.0))])
    assert leaders(found)["aed_gold_trees"] == ["only"]
    assert p_values(found, "perplexity_gold_trees") == {"only": 1}
    assert "the only one" in found.to_markdown()
    assert "LAS" not in found.to_markdown()


def test_sentences_without_any_marks() -> None:
    """F1 is not defined then, and there is nothing to test."""
    nothing = [[(START,), ()]] * 2
    found = comparison([system(name, Outcome(NONE, None, nothing, nothing)) for name in "ab"])
    assert leaders(found)["f1_predicted_trees"] == []
    assert found.to_json()["systems"][0]["f1_predicted_trees"] is None
    assert "| the a one | – | – | **0.0000** | **0.0000** | – | 20 |" in found.to_markdown()


def test_markdown() -> None:
    lines = four_systems().to_markdown().splitlines()
    assert lines[:8] == [
        "## Comparison",
        "",
        "| system | perplexity, gold trees | perplexity, predicted trees | AED, gold trees "
        "| AED, predicted trees | micro F1, predicted trees | training seconds |",
        "| --- | --- | --- | --- | --- | --- | --- |",
        "| the bad one | – | – | 0.5000 | 0.5000 | 0.6667 | 0 |",
        "| the good one | 1.2840 | 1.2840 | 0.2500 | 0.2500 | 0.8000 | 20 |",
        "| the attach one | 1.2214 | 1.4918 | **0.0125** | **0.0125** | **0.9877** | 20 |",
        "| the full one | **1.1052** | **1.2214** | **0.0000** | **0.0000** | **1.0000** | 20 |",
    ]
    assert lines[-3:] == [
        "| parser, 20% | 40 | 65.00 | 60.00 | 95.00 | 10 | 0.5000 | 0.5000 |",
        "| parser, 100% | 200 | 85.00 | 80.00 | 95.00 | 10 | 0.0125 | 0.0000 |",
        "| gold | – | 100.00 | 100.00 | 100.00 | – | 0.0125 | 0.0000 |",
    ]


def test_markdown_and_json_agree() -> None:
    found = four_systems()
    value = json.loads(json.dumps(found.to_json()))
    _, rows = found.tables["systems"].cells("*{}".format)
    for row, plain in zip(rows, value["systems"], strict=True):
        assert row[0] == plain["title"]
        for cell, column in zip(row[1:], COLUMNS, strict=True):
            number = plain[column.key]
            assert cell.lstrip("*") == ("–" if number is None else f"{number:.{column.decimals}f}")
            assert cell.startswith("*") == (plain["name"] in leaders(found).get(column.key, ()))
    _, rows = found.tables["parsers"].cells(str)
    for row, plain in zip(rows, value["parsers"], strict=False):
        assert re.findall(r"\d+", row[0]) == [str(plain[0]["share"])]
        assert row[3] == f"{plain[0]['scores']['las']:.2f}"
    points = [
        [(one["trees"], one["share"], one["las"]) for one in plain["runs"][0]["outcomes"]]
        for plain in value["systems"]
    ]
    with_trees = [(GOLD, None, 100.0), (PREDICTED, 20, 60.0), (PREDICTED, 100, 80.0)]
    assert points == [[(NONE, None, None)]] * 2 + [with_trees] * 2


def test_the_sizes_of_treebanks_are_in_the_json() -> None:
    assert four_systems().to_json()["treebanks"]["dev"]["slots"] == SENTENCES * len(TRUTH)
