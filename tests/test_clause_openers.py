"""What is counted behind openers, and the statistics of the table."""

import runpy
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sentences import conllu_of

OPENERS = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).parents[1] / "benchmarks" / "clause_openers.py"))
)

RAINS = "if/{0}/mark it/{0}/nsubj rains/{1}/advcl ,/{0}/punct"


def test_what_is_counted(tmp_path: Path) -> None:
    """The kind of each place, whether a comma is in front, and whether it is alone and fronted."""
    sentences = [
        f"and/7/cc {RAINS.format(4, 7)} we/7/nsubj stay/0/root",
        f"that/8/mark ,/5/punct {RAINS.format(5, 8)} we/8/nsubj stay/0/root",
        f"we/7/nsubj ,/5/punct {RAINS.format(5, 7)} stay/0/root",
        f"{RAINS.format(3, 6)} we/6/nsubj stay/0/root",
        f"then/8/advmod ,/8/punct {RAINS.format(5, 8)} we/8/nsubj stay/0/root",
        "we/2/nsubj stay/0/root ,/6/punct if/6/mark it/6/nsubj rains/2/advcl ./2/punct",
    ]
    file = tmp_path / "a.conllu"
    file.write_text("".join(map(conllu_of, sentences)), encoding="utf-8")
    found = [
        (one.kind, one.kept, one.alone, one.fronted)
        for one in OPENERS.places("en", str(file), count())
        if one.relation == "advcl"
    ]
    assert found == [
        ("conjunction", False, True, True),
        ("subordinator", True, True, True),
        ("in the middle", True, True, False),
        ("in the middle", True, False, True),
        ("final", True, True, False),
    ]


def test_fisher_and_holm() -> None:
    assert OPENERS.fisher((3, 4), (1, 4)) == pytest.approx(34 / 70)  # Fisher's cups of tea
    assert OPENERS.holm({"a": 0.03, "b": 0.01, "c": 0.026}) == {"b"}


def test_the_model_without_priors_gives_the_odds_ratio_of_a_table() -> None:
    known = np.array([[1, 1], [1, 1], [0, 1], [0, 1]], float)
    kept, times = np.array([1.0, 0, 1, 0]), np.array([2.0, 7, 5, 3])
    effect = OPENERS.fitted(known, kept, np.zeros(2), times)
    assert np.exp(effect) == pytest.approx((2 / 7) / (5 / 3))


@pytest.mark.parametrize(("pairs", "fits"), [(((40, 50), (20, 50)), True), (((10, 50), (45, 50)), False)])
def test_one_rule_of_all_relations(pairs: tuple[tuple[int, int], ...], fits: bool) -> None:
    """In the middle, 80 and 40 of 100 have a comma: behind openers, one rule keeps the same part of both."""
    first, second = pairs
    rule = OPENERS.one_rule([first, (80, 100), second, (40, 100)])
    assert (rule.p > 0.5) == fits
    assert fits == (rule.kept == pytest.approx(1, abs=0.01))
