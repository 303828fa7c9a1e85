"""Named settings and named variants."""

import json
from pathlib import Path

import pytest
from variants import PairFrequencies

from pyropunct.fitted.recipes import DEFAULT_FAMILIES, PAPER_FAMILIES, RECIPES, Recipe, named_recipe
from pyropunct.fitted.registry import ATTACH, CHANNEL, UnknownVariantError, find
from pyropunct.models.attach.log_linear import LogLinearAttach
from pyropunct.models.attach.templates import FAMILIES
from pyropunct.models.channel.identity import Identity
from pyropunct.models.channel.window import SlidingWindow


def test_the_recipe_of_the_paper() -> None:
    """Section 3.2 and 2.1 of Li, Wang & Eisner (2019)."""
    paper = RECIPES["paper"]
    assert (paper.batch_size, paper.sentences_per_epoch, paper.epochs) == (5, 400, 30)
    assert (paper.learning_rate, paper.edit_learning_rate, paper.symmetry_weight) == (0.07, 0.07, 1)
    assert (paper.families, paper.random_start, paper.guide) == (PAPER_FAMILIES, True, "map")


def test_the_recipe_for_reading() -> None:
    """What docs/guide/rules.md says that it stands for."""
    page = (Path(__file__).parents[2] / "docs" / "guide" / "rules.md").read_text(encoding="utf-8")
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
    assert named_recipe("default", attach="neural", epochs=2) == named_recipe("neural", epochs=2)
    assert named_recipe("neural").attach == "neural"
    assert named_recipe("default", attach="log-linear") == named_recipe("default") == Recipe()
    foreign = named_recipe("default", attach="variants:PairFrequencies")
    assert foreign == named_recipe("own", attach="variants:PairFrequencies")
    assert foreign.empty_score > 0 == Recipe().empty_score
    assert named_recipe("paper", attach="neural").optimiser == "adam"


def test_families_are_known() -> None:
    assert set(PAPER_FAMILIES) <= set(DEFAULT_FAMILIES) <= set(FAMILIES)


@pytest.mark.parametrize("name", RECIPES)
def test_json_gives_an_equal_recipe(name: str) -> None:
    recipe = named_recipe(name, epochs=3)
    assert Recipe.from_json(json.loads(json.dumps(recipe.to_json()))) == recipe
    assert recipe.epochs == 3


def test_known_names_and_classes() -> None:
    assert find("log-linear", ATTACH) is LogLinearAttach
    assert [find(name, CHANNEL) for name in ("sliding-window", "identity")] == [SlidingWindow, Identity]
    assert find("variants:PairFrequencies", ATTACH) is PairFrequencies


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("deep", "no variant is called 'deep': take log-linear, neural, or module:Class"),
        ("", "no variant is called ''"),
        ("variants:", "no variant is called 'variants:'"),
        (":C", "no variant is called ':C'"),
        (".relative:C", "cannot import '.relative' for the variant '.relative:C'"),
        ("no.such.module:C", "cannot import 'no.such.module'"),
        ("variants:Missing", "the module 'variants' has no class 'Missing'"),
        (
            "variants:NoModule",
            "'variants:NoModule' is no variant: it is not a subclass of pyropunct.models.attach.base.Attach",
        ),
        ("torch.nn:Linear", "'torch.nn:Linear' is no variant: it is not a subclass of pyropunct.models"),
        ("variants:called", "'variants:called' is no variant"),
    ],
)
def test_no_such_variant(name: str, problem: str) -> None:
    with pytest.raises(UnknownVariantError) as caught:
        find(name, ATTACH)
    assert str(caught.value).startswith(problem)
    assert "\n" not in str(caught.value)
