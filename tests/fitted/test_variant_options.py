"""Options of attach models and channels: in recipes, in folders, on the command line."""

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import answer, complaint
from variants import Choosy

from pyropunct.fitted.recipes import Recipe, named_recipe
from pyropunct.fitted.registry import ATTACH, CHANNEL, UnknownVariantError
from pyropunct.fitted.stories import build_story
from pyropunct.fitted.variant_options import (
    SettingError,
    VariantOptionError,
    made,
    option_kinds,
    with_options,
)
from pyropunct.punctuator import Punctuator
from pyropunct.text.marks import ABBREVIATION_DOT, START, UNKNOWN
from pyropunct.vocabulary import Vocabulary

BAD_INPUT = 2
CHOOSY = "variants:Choosy"
NOTHING = (((((), ())),), ((((), ())),))
VOCABULARY = Vocabulary((START, ABBREVIATION_DOT, UNKNOWN, ","), ("", "root"), ("",), ("",), NOTHING)


def test_options_that_there_are() -> None:
    assert option_kinds("channel", "inserting") == dict.fromkeys(
        ("prior_scale", "prior_keep", "prior_insertion", "insertion_scale"), float
    )
    assert option_kinds("channel", "identity") == {}
    assert option_kinds("attach", "neural").items() >= {"families": tuple, "least": int}.items()
    assert option_kinds("attach", "variants:TagNetwork") == {}
    assert option_kinds("channel", CHOOSY) == {
        "size": int,
        "rate": float,
        "name": str,
        "names": tuple,
        "flag": bool,
        "table": None,
    }
    for part, names in (("attach", ATTACH), ("channel", CHANNEL)):
        assert all(None not in option_kinds(part, name).values() for name in names)


def test_they_reach_the_variant() -> None:
    texts = ("size=3", " rate = 2", "name=a=b", "names=a, b", "flag=true", "size=4")
    recipe = with_options(Recipe(channel=CHOOSY), [f"channel.{text}" for text in texts])
    channel = made("channel", recipe, 4, "left")
    assert isinstance(channel, Choosy)
    assert channel.given == (4, 2.0, "a=b", ("a", "b"), True, None)
    story = build_story(VOCABULARY, Recipe(channel="inserting", channel_options={"prior_insertion": -5}))
    assert set(story.channel.channel._prior_insertion.tolist()) == {-5}  # type: ignore[attr-defined]


def test_recipes_with_options_are_equal_hashed_and_written() -> None:
    options = {"size": 3, "names": ["a", "b"]}
    recipe = Recipe(channel=CHOOSY, channel_options=options)
    assert recipe.channel_options == (("names", ("a", "b")), ("size", 3))
    assert recipe == Recipe(channel=CHOOSY, channel_options=dict(reversed(options.items())))
    assert hash(recipe) != hash(Recipe(channel=CHOOSY))
    assert Recipe.from_json(json.loads(json.dumps(recipe.to_json()))) == recipe
    assert recipe.changed(epochs=2).channel_options == recipe.channel_options
    assert recipe.changed(channel="identity").channel_options == ()
    with pytest.raises(TypeError, match="channel_options is 3"):
        Recipe.from_json({**recipe.to_json(), "channel_options": 3})


def test_settings_that_every_recipe_has_are_options_too() -> None:
    given = {"prior_scale": 2.0, "prior_keep": -1.0}
    recipe = Recipe(attach_options={"families": ["head"], "least": 3}, channel_options=given)
    assert recipe == Recipe(families=("head",), least=3, edit_prior_scale=2.0, prior_keep=-1.0)
    texts = ("attach.families=head", "attach.least=3", "channel.prior_scale=2", "channel.prior_keep=-1")
    assert with_options(Recipe(), texts) == recipe


PROBLEMS = {
    "channel.depth=3": "inserting has no option 'depth'; it has: insertion_scale, prior_insertion, ",
    "channel.direction=left": "inserting has no option 'direction'",
    "channel.prior_insertion=low": "channel.prior_insertion is a number, not 'low'",
    "channel.prior_insertion=nan": "channel.prior_insertion is a finite number, not 'nan'",
    "channel.prior_scale=0": "edit_prior_scale is above 0, not 0",
    "channel.prior_insertion": "'channel.prior_insertion' is not of the form channel.NAME=VALUE",
    "attach.num_tags=3": "log-linear has no option 'num_tags'; it has: families, least, prior_scale",
    "attach.least=1.5": "least is a whole number, not '1.5'",
    "syntax.depth=3": "no part of a model is called 'syntax': take attach or channel",
}


@pytest.mark.parametrize(("text", "problem"), PROBLEMS.items(), ids=PROBLEMS)
def test_no_option(text: str, problem: str) -> None:
    with pytest.raises(SettingError) as caught:
        with_options(Recipe(channel="inserting"), [text])
    assert str(caught.value).startswith(problem)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (
            {"size": 3, "depth": 3},
            "variants:Choosy has no option 'depth'; it has: flag, name, ",
        ),
        ({"size": True}, "channel.size is a whole number, not True"),
        ({"size": 3, "names": (1,)}, r"channel.names is some texts, not \(1,\)"),
        ({"size": 3, "table": {}}, "channel.table cannot be set: it is no number, truth value or text"),
        ({}, "variants:Choosy needs a value: --set channel.size=VALUE"),
    ],
)
def test_options_from_python_are_looked_at_too(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(VariantOptionError, match=f"^{problem}"):
        build_story(VOCABULARY, Recipe(channel=CHOOSY, channel_options=options))


def test_options_of_no_variant() -> None:
    with pytest.raises(UnknownVariantError, match="no variant is called 'deep'"):
        with_options(Recipe(attach="deep"), ["attach.depth=3"])


def test_a_corrector_has_no_options_of_the_other_channel() -> None:
    from pyropunct.tasks.correct.fitting import correction_recipe

    clean = Recipe(channel="inserting", channel_options={"prior_insertion": -5.0})
    assert correction_recipe(clean).channel_options == ()


# On the command line


@pytest.mark.usefixtures("single_precision")
def test_options_are_kept_with_the_model(small: Path, tmp_path: Path) -> None:
    given = ("channel.prior_insertion=-6", "attach.least=3", "prior_keep=2")
    options = [part for text in given for part in ("--set", text)]
    shorter = ("--channel", "inserting", "--families", "head", "--direction", "left", "--epochs", 1)
    answer("fit", small / "train.conllu", "--out", tmp_path / "m", *shorter, *options)
    model = Punctuator.load(tmp_path / "m")
    assert model.recipe == named_recipe(
        "default",
        channel="inserting",
        channel_options={"prior_insertion": -6.0},
        families=("head",),
        direction="left",
        epochs=1,
        least=3,
        prior_keep=2.0,
    )
    assert set(model.story.channel.channel._prior_insertion.tolist()) == {-6}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--set", "channel.depth=3"), "--set: sliding-window has no option 'depth'; it has: prior_keep, "),
        (("--set", "attach.families=tails"), "--families takes some of "),
        (("--channel", CHOOSY), "variants:Choosy needs a value: --set channel.size=VALUE"),
    ],
)
def test_no_option_on_the_command_line(
    small: Path, tmp_path: Path, options: tuple[str, ...], problem: str
) -> None:
    found = complaint(BAD_INPUT, "fit", small / "train.conllu", "--out", tmp_path / "m", *options)
    assert found.startswith(problem)
