"""What can be chosen, and what cannot."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from pyropunct.fitted.recipes import Recipe, named_recipe
from pyropunct.rivals.restoration import Settings
from pyropunct.rivals.restoration.systems import SYSTEMS


def test_systems_and_shares_are_put_in_order() -> None:
    settings = Settings(systems=("full", "trivial", "crf"), shares=(100, 10, 50, 10))
    assert settings.systems == ("trivial", "crf", "full")
    assert settings.shares == (10, 50, 100)
    assert Settings().systems == tuple(SYSTEMS) == ("trivial", "crf", "attention", "attach", "full", "mixed")


@pytest.mark.parametrize(
    ("choice", "problem"),
    [
        (
            {"systems": ("crf", "oracle")},
            "attention,attach,full,mixed, not oracle",
        ),
        ({"systems": ()}, "not none"),
        ({"shares": ()}, "shares are percents from 1 to 100, not none"),
        ({"shares": (10, 101)}, "not 10,101"),
        ({"shares": (0,)}, "not 0"),
        ({"decoder": "beam"}, "no decoder is called 'beam': take mbr, slot-mbr, map"),
        ({"samples": 0}, "samples is 0: it must be 1 or more"),
        ({"trees": 0}, "trees is 0"),
        ({"permutations": 0}, "permutations is 0"),
    ],
)
def test_choices_that_make_no_sense(choice: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=re.escape(problem)):
        Settings(**choice)


def test_quick() -> None:
    settings = Settings(seed=7, shares=(20,), recipe=named_recipe("paper")).quick()
    epochs = (settings.recipe.epochs, settings.rival_recipe.epochs, settings.parser_recipe.epochs)
    assert epochs == (1, 1, 1)
    assert settings.samples == 50
    assert settings.recipe == replace(named_recipe("paper"), epochs=1)
    assert (settings.seed, settings.shares) == (7, (20,))


def test_which_settings_decide_training() -> None:
    settings = Settings(seed=3)
    plain = json.loads(json.dumps(settings.to_json()))
    assert settings.differences(plain) == []
    others = replace(
        settings,
        samples=5,
        shares=(10,),
        decoder="map",
        systems=("crf",),
        permutations=9,
        trees=2,
        seed=4,
        seeds=2,
    )
    assert others.differences(plain) == []
    assert replace(settings, device="cuda").differences(plain) == ["device"]
    assert replace(settings, encoder="some/place").differences(plain) == ["encoder"]
    del plain["encoder"]  # a comparison of an older version
    assert settings.differences(plain) == []
    assert replace(settings, recipe=Recipe(epochs=9)).differences(plain) == ["recipe"]
    assert settings.quick().differences(plain) == [
        "recipe",
        "rival_recipe",
        "parser_recipe",
        "slot_tagger_recipe",
    ]
