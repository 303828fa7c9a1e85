"""Settings of a recipe as text, and as the option --set of fit."""

from pathlib import Path
from typing import Any

import pytest
from command_line import answer, complaint

from pyropunct.fitted.recipes import RECIPES, Recipe
from pyropunct.fitted.variant_options import SettingError, parsed_setting
from pyropunct.punctuator import Punctuator

BAD_INPUT = 2


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("edit_prior_scale=1", "edit_prior_scale", 1.0),
        (" prior_keep = -0.5 ", "prior_keep", -0.5),
        ("batch_size=32", "batch_size", 32),
        ("symmetry_weight=0", "symmetry_weight", 0.0),
        ("decay=false", "decay", False),
        ("random_start=true", "random_start", True),
        ("optimiser=adam", "optimiser", "adam"),
        ("channel=my_module:MyChannel", "channel", "my_module:MyChannel"),
    ],
)
def test_a_setting(text: str, name: str, value: Any) -> None:
    found = parsed_setting(text)
    assert found == (name, value)
    assert type(found[1]) is type(value)


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_every_plain_setting_can_be_written(recipe: Recipe) -> None:
    others = ("families", "attach_options", "channel_options")
    plain = {name: value for name, value in recipe.to_json().items() if name not in others}
    texts = {
        name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in plain.items()
    }
    assert dict(parsed_setting(f"{name}={text}") for name, text in texts.items()) == plain


PROBLEMS = {
    "edit_prior_scale": "'edit_prior_scale' is not of the form NAME=VALUE",
    "": "'' is not of the form NAME=VALUE",
    "=1": "no setting is called '': take ",
    "scale=1": "no setting is called 'scale': take batch_size, decay, edit_learning_rate, ",
    "families=head": "no setting is called 'families'",
    "edit_prior_scale=": "edit_prior_scale is a number, not ''",
    "edit_prior_scale=wide": "edit_prior_scale is a number, not 'wide'",
    "edit_prior_scale=nan": "edit_prior_scale is a finite number, not 'nan'",
    "edit_prior_scale=inf": "edit_prior_scale is a finite number, not 'inf'",
    "edit_prior_scale=0": "edit_prior_scale is above 0, not 0",
    "edit_learning_rate=-1": "edit_learning_rate is above 0, not -1",
    "sentences_per_epoch=-1": "sentences_per_epoch is 0 or more, not -1",
    "batch_size=1.5": "batch_size is a whole number, not '1.5'",
    "batch_size=0": "batch_size is 1 or more, not 0",
    "decay=yes": "decay is true or false, not 'yes'",
    "optimiser=sgd": "optimiser is adagrad or adam, not 'sgd'",
    "network_share=1": "network_share is 0 or more and below 1, not 1",
    "epochs=3": "epochs has an option of its own",
    "direction=left": "direction has an option of its own",
}


@pytest.mark.parametrize(("text", "problem"), PROBLEMS.items(), ids=PROBLEMS)
def test_no_setting(text: str, problem: str) -> None:
    elsewhere = ("attach", "channel", "direction", "epochs", "guide", "symmetry_weight", "economy_weight")
    with pytest.raises(SettingError) as caught:
        parsed_setting(text, elsewhere)
    assert str(caught.value).startswith(problem)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("text", "problem"), PROBLEMS.items(), ids=PROBLEMS)
def test_no_setting_on_the_command_line(small: Path, tmp_path: Path, text: str, problem: str) -> None:
    found = complaint(BAD_INPUT, "fit", small / "train.conllu", "--out", tmp_path / "m", "--set", text)
    if text == "families=head":
        problem = "families has an option of its own"
    assert found.startswith(f"--set: {problem}")
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (
            ("--channel", "identity", "--set", "prior_keep=2"),
            "--set: prior_keep is of no use: the channel 'identity'",
        ),
        (
            ("--attach", "variants:PairFrequencies", "--set", "least=3"),
            "--set: least is of no use: the attach model 'variants:PairFrequencies'",
        ),
        (("--attach", "variants:PairFrequencies", "--families", "head"), "families is of no use: the attach"),
    ],
)
def test_a_setting_of_no_use(small: Path, tmp_path: Path, options: tuple[str, ...], problem: str) -> None:
    found = complaint(BAD_INPUT, "fit", small / "train.conllu", "--out", tmp_path / "m", *options)
    assert found.startswith(problem)
    assert not (tmp_path / "m").exists()


@pytest.mark.usefixtures("single_precision")
def test_settings_are_kept_with_the_model(small: Path, tmp_path: Path) -> None:
    """They change the recipe that is named, and the last of two values counts."""
    given = ("edit_prior_scale=2", "prior_keep=-1", "sentences_per_epoch=100", "edit_prior_scale=3.5")
    options = [part for text in given for part in ("--set", text)]
    train = small / "train.conllu"
    answer(
        "fit",
        train,
        "--out",
        tmp_path / "m",
        "--recipe",
        "paper",
        "--epochs",
        1,
        "--direction",
        "left",
        *options,
    )
    recipe = Punctuator.load(tmp_path / "m").recipe
    assert (recipe.edit_prior_scale, recipe.prior_keep, recipe.sentences_per_epoch) == (3.5, -1.0, 100)
    assert (recipe.epochs, recipe.edit_learning_rate, recipe.random_start) == (1, 0.07, True)
