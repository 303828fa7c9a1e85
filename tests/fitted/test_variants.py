"""Recipes, the texts that set them, and variants of attach models and channels by name."""

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import answer, complaint
from variants import Choosy, PairFrequencies

from pyropunct.errors import SettingError, VariantError
from pyropunct.fitted.recipes import (
    DEFAULT_FAMILIES,
    PAPER_FAMILIES,
    RECIPES,
    Recipe,
    named_recipe,
    parsed_setting,
)
from pyropunct.fitted.stories import build_story
from pyropunct.fitted.variants import ATTACH, CHANNEL, find, made, option_kinds, with_options
from pyropunct.models.attach.features import FAMILIES
from pyropunct.models.attach.log_linear import LogLinearAttach
from pyropunct.models.channel.noisy_channel import Identity
from pyropunct.models.channel.window import SlidingWindow
from pyropunct.punctuator import Punctuator
from pyropunct.text.marks import ABBREVIATION_DOT, START, UNKNOWN
from pyropunct.vocabulary import Vocabulary

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
    "scale=1": "no setting is called 'scale': take batch_size, clauses, decay, edit_learning_rate, ",
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


def test_the_recipe_of_the_paper() -> None:
    """Section 3.2 and 2.1 of Li, Wang & Eisner (2019)."""
    paper = RECIPES["paper"]
    assert (paper.batch_size, paper.sentences_per_epoch, paper.epochs) == (5, 400, 30)
    assert (paper.learning_rate, paper.edit_learning_rate, paper.symmetry_weight) == (0.07, 0.07, 1)
    assert (paper.families, paper.random_start, paper.guide) == (PAPER_FAMILIES, True, "map")
    assert (paper.flanking, paper.parts, paper.slip_mean) == (True, False, -20)


def test_the_recipe_for_reading() -> None:
    """What docs/guide/reading.md says that it stands for."""
    page = (Path(__file__).parents[2] / "docs" / "guide" / "reading.md").read_text(encoding="utf-8")
    rules = RECIPES["rules"]
    names = ("edit_prior_scale", "prior_keep", "edit_learning_rate", "least_steps")
    settings = {name: getattr(rules, name) for name in names}
    for option in (
        f"--channel {rules.channel}",
        *(f"--set {name}={value:g}" for name, value in settings.items()),
    ):
        assert option in " ".join(page.split())
    assert Recipe(channel=rules.channel, **settings) == rules


def test_small_treebanks_get_more_epochs() -> None:
    """The recipe for reading takes 300 steps; the sizes are those of Chinese and English, and a small one."""
    rules = named_recipe("rules")
    assert [rules.planned_epochs(size) for size in (12_543, 3_997, 900, 1)] == [5, 5, 20, 300]
    assert named_recipe("rules", epochs=3).planned_epochs(900) == 3
    assert named_recipe("rules", epochs=3, least_steps=90).planned_epochs(900) == 6
    assert named_recipe("paper", least_steps=4_000).planned_epochs(900) == 50  # of 400 sentences


def test_an_attach_model_with_a_recipe_of_its_own() -> None:
    """It is the default for it, unless another one is asked for."""
    assert named_recipe("default", attach="log-linear") == named_recipe("default") == Recipe()
    foreign = named_recipe("default", attach="variants:PairFrequencies")
    assert foreign == named_recipe("own", attach="variants:PairFrequencies")
    assert foreign.empty_score > 0 == Recipe().empty_score
    assert named_recipe("paper", attach="variants:PairFrequencies").optimiser == "adam"


def test_families_are_known() -> None:
    assert set(PAPER_FAMILIES) <= set(DEFAULT_FAMILIES) <= set(FAMILIES)


@pytest.mark.parametrize("name", RECIPES)
def test_json_gives_an_equal_recipe(name: str) -> None:
    recipe = named_recipe(name, epochs=3)
    assert Recipe.from_json(json.loads(json.dumps(recipe.to_json()))) == recipe
    assert recipe.epochs == 3


def test_known_names_and_classes() -> None:
    assert find("attach", "log-linear") is LogLinearAttach
    assert [find("channel", name) for name in ("sliding-window", "identity")] == [SlidingWindow, Identity]
    assert find("attach", "variants:PairFrequencies") is PairFrequencies
    assert find("attach", "pyropunct.models.attach.frequencies:PairFrequencies") is PairFrequencies


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("deep", "no variant is called 'deep': take local, log-linear, or module:Class"),
        ("", "no variant is called ''"),
        ("variants:", "no variant is called 'variants:'"),
        (":C", "no variant is called ':C'"),
        (".relative:C", "cannot import '.relative' for the variant '.relative:C'"),
        ("no.such.module:C", "cannot import 'no.such.module'"),
        ("variants:Missing", "the module 'variants' has no class 'Missing'"),
        (
            "variants:NoModule",
            "'variants:NoModule' is no variant: it is not a subclass of "
            "pyropunct.models.attach.attach_model.Attach",
        ),
        ("torch.nn:Linear", "'torch.nn:Linear' is no variant: it is not a subclass of pyropunct.models"),
        ("variants:called", "'variants:called' is no variant"),
    ],
)
def test_no_such_variant(name: str, problem: str) -> None:
    with pytest.raises(VariantError) as caught:
        find("attach", name)
    assert str(caught.value).startswith(problem)
    assert "\n" not in str(caught.value)


CHOOSY, FREQUENCIES = "variants:Choosy", "variants:PairFrequencies"
NOTHING = (((((), ())),), ((((), ())),))
VOCABULARY = Vocabulary((START, ABBREVIATION_DOT, UNKNOWN, ","), ("", "root"), ("",), ("",), NOTHING)


def test_options_that_there_are() -> None:
    assert option_kinds("channel", "inserting") == dict.fromkeys(
        ("prior_scale", "prior_keep", "prior_insertion", "insertion_scale"), float
    )
    assert option_kinds("channel", "identity") == {}
    assert option_kinds("attach", "local").items() >= {"families": tuple, "least": int}.items()
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


OPTION_PROBLEMS = {
    "channel.depth=3": "inserting has no option 'depth'; it has: insertion_scale, prior_insertion, ",
    "channel.direction=left": "inserting has no option 'direction'",
    "channel.prior_insertion=low": "channel.prior_insertion is a number, not 'low'",
    "channel.prior_insertion=nan": "channel.prior_insertion is a finite number, not 'nan'",
    "channel.prior_scale=0": "edit_prior_scale is above 0, not 0",
    "channel.prior_insertion": "'channel.prior_insertion' is not of the form channel.NAME=VALUE",
    "attach.num_tags=3": "log-linear has no option 'num_tags'; it has: completes, families, least, prior_",
    "attach.least=1.5": "least is a whole number, not '1.5'",
    "syntax.depth=3": "no part of a model is called 'syntax': take attach or channel",
}


@pytest.mark.parametrize(("text", "problem"), OPTION_PROBLEMS.items(), ids=OPTION_PROBLEMS)
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
    with pytest.raises(SettingError, match=f"^{problem}"):
        build_story(VOCABULARY, Recipe(channel=CHOOSY, channel_options=options))


def test_options_of_no_variant() -> None:
    with pytest.raises(VariantError, match="no variant is called 'deep'"):
        with_options(Recipe(attach="deep"), ["attach.depth=3"])


def test_a_corrector_has_no_options_of_the_other_channel() -> None:
    from pyropunct.papers.li_2019.tree_corrector import correction_recipe

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
        (("--set", "scale=1"), "--set: no setting is called 'scale'"),
        (("--set", "batch_size=0"), "--set: batch_size is 1 or more"),
        (("--set", "families=head"), "--set: families has an option of its own"),
        (("--set", "epochs=3"), "--set: epochs has an option of its own"),
        (("--set", "direction=left"), "--set: direction has an option of its own"),
        (("--channel", "identity", "--set", "prior_keep=2"), "--set: prior_keep is of no use"),
        (("--attach", FREQUENCIES, "--set", "least=3"), "--set: least is of no use"),
        (("--attach", FREQUENCIES, "--families", "head"), "families is of no use"),
        (("--set", "channel.depth=3"), "--set: sliding-window has no option 'depth'"),
        (("--set", "attach.families=tails"), "--families takes some of "),
        (("--channel", CHOOSY), f"{CHOOSY} needs a value: --set channel.size=VALUE"),
    ],
)
def test_no_setting_and_no_option_on_the_command_line(
    small: Path, tmp_path: Path, options: tuple[str, ...], problem: str
) -> None:
    found = complaint(BAD_INPUT, "fit", small / "train.conllu", "--out", tmp_path / "m", *options)
    assert found.startswith(problem)
    assert not (tmp_path / "m").exists()
