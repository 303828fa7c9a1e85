"""What can be chosen, and what cannot."""

import re
from dataclasses import replace
from typing import Any

import pytest

from pyropunct.errors import SettingError
from pyropunct.fitted.recipes import named_recipe
from pyropunct.papers.li_2019.restorers import SYSTEMS, Conditions


def test_systems_and_shares_are_put_in_order() -> None:
    conditions = Conditions(systems=("full", "trivial", "crf"), shares=(100, 10, 50, 10))
    assert conditions.systems == ("trivial", "crf", "full")
    assert conditions.shares == (10, 50, 100)
    assert Conditions().systems == tuple(SYSTEMS)


@pytest.mark.parametrize(
    ("choice", "problem"),
    [
        ({"systems": ("crf", "oracle")}, "there is no system 'oracle'; there are trivial, crf, attention, "),
        ({"systems": ()}, "there is no system ''"),
        ({"shares": ()}, "give percents from 1 to 100 with commas between them, not ''"),
        ({"shares": (10, 101)}, "not '10,101'"),
        ({"shares": (0,)}, "not '0'"),
        ({"folds": 1}, "folds are two or more, or 0 for none, not 1"),
        ({"decoder": "beam"}, "no decoder is called 'beam': take mbr"),
        ({"samples": 0}, "samples is 0: it must be 1 or more"),
        ({"trees": 0}, "trees is 0"),
        ({"permutations": 9_999}, "permutations is 9999: it must be 10000 or more"),
    ],
)
def test_choices_that_make_no_sense(choice: dict[str, Any], problem: str) -> None:
    with pytest.raises(SettingError, match=re.escape(problem)):
        Conditions(**choice)


def test_quick() -> None:
    conditions = Conditions(seed=7, shares=(20,), recipe=named_recipe("paper")).quick()
    epochs = (conditions.recipe.epochs, conditions.rival_recipe.epochs, conditions.parser_recipe.epochs)
    assert epochs == (1, 1, 1)
    assert conditions.samples == 50
    assert conditions.recipe == replace(named_recipe("paper"), epochs=1)
    assert (conditions.seed, conditions.shares) == (7, (20,))
    assert Conditions(samples=20).quick().samples == 20


def test_parts_depend_on_all_but_the_choices_of_measuring() -> None:
    """Parts of other seeds have folders of their own; others are trained again if a setting changes."""
    measuring = {"permutations", "seed", "seeds", "systems", "shares", "samples", "decoder", "trees"}
    assert set(Conditions().to_json()) == {*measuring, *Conditions.TRAINING}
