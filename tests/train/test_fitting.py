"""Fitting, as called from Python."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyro
import pytest
import torch

from pyropunct.errors import ModelFileError, VariantError
from pyropunct.fitted.recipes import Recipe, named_recipe
from pyropunct.inference.inside import expected_cost
from pyropunct.inference.problem import Problem
from pyropunct.models.economy import Economy
from pyropunct.nets.biaffine import ParserRecipe
from pyropunct.nets.running_text import ReaderRecipe
from pyropunct.nets.tagger import SlotTaggerRecipe
from pyropunct.nets.trainer import Epoch, Perplexity, Progress
from pyropunct.nets.word_batches import with_marks
from pyropunct.punctuator import Punctuator
from pyropunct.train.fitting import NetworkRecipes, fit, fit_story
from pyropunct.train.optimisers import SparseAdagrad
from pyropunct.train.story_training import Training, held_out
from pyropunct.train.texts import HELD_OUT
from pyropunct.treebank.reading import read_text, read_treebank
from pyropunct.treebank.sentence import Sentence
from pyropunct.vocabulary import build_vocabulary

pytestmark = pytest.mark.usefixtures("single_precision")

SHORT = Recipe(epochs=2)


@pytest.fixture(scope="module")
def train(small: Path) -> tuple[Sentence, ...]:
    return read_treebank(small / "train.conllu").sentences[:50]


@pytest.fixture(scope="module")
def dev(small: Path) -> tuple[Sentence, ...]:
    return read_treebank(small / "dev.conllu").sentences[:10]


def equal(one: Punctuator, other: Punctuator) -> bool:
    return all(torch.equal(value, other.values[name]) for name, value in one.values.items())


def perplexities(model: Punctuator) -> list[float]:
    return [epoch["perplexity"] for epoch in model.report["epochs"]]


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe(epochs=2, batch_size=20),
        Recipe(epochs=1, batch_size=20, random_start=True),
        Recipe(epochs=1, batch_size=20, guide="normal"),
    ],
)
def test_seeds(train: tuple[Sentence, ...], dev: tuple[Sentence, ...], recipe: Recipe) -> None:
    first = fit(train, dev, recipe, direction="left", seed=1)
    torch.manual_seed(99)
    pyro.get_param_store().clear()
    again = fit(train, dev, recipe, direction="left", seed=1)
    other = fit(train, dev, recipe, direction="left", seed=2)
    assert equal(first, again)
    assert perplexities(first) == perplexities(again)
    assert not equal(first, other)


def training(train: tuple[Sentence, ...], recipe: Recipe) -> Training:
    vocabulary = build_vocabulary([(sentence.tree, sentence.surface) for sentence in train])
    return Training(vocabulary, train, train[:5], recipe, 0, "cpu")


def test_unmatched_marks_cost_from_half_of_the_epochs_on(train: tuple[Sentence, ...]) -> None:
    run, settled = training(train, Recipe(epochs=4, families=("symmetry",))), []
    for _ in range(4):
        run.step(range(5), 0)
        settled.append(run.story.is_settled)
        run.epochs.append(Epoch(len(settled), 0.0, None, 0.0))
    assert settled == [False, False, True, True]


def test_learning_rates_fall_to_a_hundredth(train: tuple[Sentence, ...]) -> None:
    run = training(train, Recipe(epochs=4, families=("symmetry",)))
    assert [run.decay(done) for done in (0, 100, 197, 200)] == pytest.approx([1, 0.5, 0.015, 0.01])
    run.epochs = [Epoch(1, 0.0, None, 0.0)] * 3
    assert run.decay(25) == pytest.approx(0.125)


@pytest.fixture(scope="module")
def auto(train: tuple[Sentence, ...], dev: tuple[Sentence, ...]) -> Punctuator:
    """The better of both directions."""
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float)
    try:
        return fit(train, dev, SHORT)
    finally:
        torch.set_default_dtype(default)


def test_auto_trains_each_direction_as_if_alone_and_keeps_the_better(
    train: tuple[Sentence, ...], dev: tuple[Sentence, ...], auto: Punctuator
) -> None:
    alone = {direction: fit(train, dev, SHORT, direction=direction) for direction in ("left", "right")}
    assert auto.report["directions"] == {name: perplexities(model)[-1] for name, model in alone.items()}
    better = min(alone, key=lambda name: perplexities(alone[name])[-1])
    assert auto.recipe.direction == better
    assert equal(auto, alone[better])
    assert perplexities(alone["left"]) != perplexities(alone["right"])


def test_training_makes_progress(small: Path) -> None:
    train, dev = (read_treebank(small / f"{split}.conllu").sentences for split in ("train", "dev"))
    model = fit(train, dev, Recipe(epochs=4), direction="right")
    assert not model.scales
    objectives = [epoch["objective"] for epoch in model.report["epochs"]]
    assert objectives == sorted(objectives, reverse=True)
    assert perplexities(model) == sorted(perplexities(model), reverse=True)
    assert perplexities(model)[-1] == model.evaluate(dev).perplexity


def test_without_dev_every_tenth_sentence_is_held_out(train: tuple[Sentence, ...]) -> None:
    model = fit(train, recipe=Recipe(epochs=1), direction="left")
    assert (model.report["train_sentences"], model.report["dev_sentences"]) == (45, 5)
    assert perplexities(model)[-1] == model.evaluate(train[HELD_OUT - 1 :: HELD_OUT]).perplexity


def test_what_is_held_out(train: tuple[Sentence, ...]) -> None:
    most, rest = held_out(train[:25])
    assert rest == (train[9], train[19])
    assert most == (*train[:9], *train[10:19], *train[20:25])
    assert held_out(train[:3]) == (train[:2], train[2:3])
    assert held_out(train[:1]) == (train[:1], train[:1])


@pytest.mark.parametrize("size", [1, 2, 9])
def test_very_small_treebanks(train: tuple[Sentence, ...], size: int) -> None:
    model = fit(train[:size], recipe=Recipe(epochs=1, least=1), direction="left")
    assert math.isfinite(perplexities(model)[-1])


def test_a_single_word_and_a_mark() -> None:
    hello = "1\tHello\t_\tX\t_\t_\t0\troot\t_\t_\n2\t!\t_\tPUNCT\t_\t_\t1\tpunct\t_\t_\n\n"
    model = fit(read_text(hello), recipe=Recipe(epochs=1), direction="left")
    assert math.isfinite(perplexities(model)[-1])
    assert len(next(iter(model.sample(read_text(hello).sentences)))) == 1


def test_the_recipe_of_the_paper(train: tuple[Sentence, ...], dev: tuple[Sentence, ...]) -> None:
    """Random start, small batches, the regulariser: it learns, and on few sentences an epoch is short."""
    recipe = named_recipe("paper", epochs=3, sentences_per_epoch=30)
    model = fit(train, dev, recipe, direction="left")
    assert perplexities(model)[-1] < perplexities(model)[0]
    assert model.recipe.symmetry_weight == 1


def test_economical_trees(train: tuple[Sentence, ...], dev: tuple[Sentence, ...]) -> None:
    """With the weight kappa the learned posterior expects fewer sproutings."""
    plain, economical = (
        fit(train, dev, Recipe(epochs=3, economy_weight=weight), direction="left") for weight in (0.0, 0.5)
    )
    economy = Economy(plain.vocabulary.inventory, plain.vocabulary.tokens, plain.vocabulary.functions)

    def number(problem: Problem) -> float:
        sizes = torch.from_numpy(problem.choice_start).diff()
        rows = problem.inventory.choice_rows(problem.relation)
        cost = economy.cost(problem.forest)(torch.repeat_interleave(sizes), rows)
        return float(expected_cost(problem, cost)[1].sum())

    def sproutings(model: Punctuator) -> float:
        return sum(number(problem) for _, problem in model.problems(dev))

    assert sproutings(economical) < 0.9 * sproutings(plain)


def test_a_normal_posterior_of_the_channel_alone(
    train: tuple[Sentence, ...], dev: tuple[Sentence, ...]
) -> None:
    """Its weights have scales; the others are points, with sparse gradients."""
    recipe = Recipe(epochs=2, guide="channel")
    model = fit(train, dev, recipe, direction="left")
    assert {name for name in model.values if name.startswith("channel.")} == set(model.scales)
    assert perplexities(model)[-1] < perplexities(model)[0]
    assert all((scale > 0.1).any() for scale in model.scales.values())  # they began at 0.1
    training = Training(model.vocabulary, train, dev, recipe, 0, "cpu")
    assert any(isinstance(optimiser, SparseAdagrad) for optimiser in training.optimisers)


def test_a_normal_guide_has_scales(train: tuple[Sentence, ...], dev: tuple[Sentence, ...]) -> None:
    model = fit(train, dev, Recipe(epochs=2, guide="normal"), direction="left")
    assert set(model.scales) == set(model.values)
    for name, scale in model.scales.items():
        assert scale.shape == model.values[name].shape
        assert (scale > 0).all()


def test_fewer_families_have_fewer_weights(train: tuple[Sentence, ...], dev: tuple[Sentence, ...]) -> None:
    def weights(*families: str) -> int:
        recipe = Recipe(epochs=1, families=families)
        return int(fit(train, dev, recipe, direction="left").report["weights"])

    assert weights("symmetry") < weights("symmetry", "head") < weights("symmetry", "head", "words")


def test_progress_is_told(train: tuple[Sentence, ...], dev: tuple[Sentence, ...]) -> None:
    told: list[Progress] = []
    fit_story(train, dev, Recipe(epochs=2, batch_size=20), direction="left", watch=told.append)
    assert [(one.what, one.epoch, one.done, one.size, one.finished) for one in told] == [
        ("left", epoch, done, 50, finished)
        for epoch in (1, 2)
        for done, finished in ((20, False), (40, False), (50, False), (50, True))
    ]
    assert [one.last and one.last.number for one in told] == [None] * 3 + [1] * 4 + [2]


def test_going_on_from_a_checkpoint(
    train: tuple[Sentence, ...], dev: tuple[Sentence, ...], auto: Punctuator, tmp_path: Path
) -> None:
    """Stopped after the last epoch of a direction or after the first, a resumed fit gives the same model."""
    for stop in [("left", 2), ("right", 1)]:
        kept: dict[str, Any] = {"checkpoint": tmp_path / f"{stop}" / "checkpoint"}

        def watch(progress: Progress, stop: tuple[str, int] = stop) -> None:
            if (progress.what, progress.epoch) == stop:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            fit_story(train, dev, SHORT, watch=watch, **kept)
        resumed = fit(train, dev, SHORT, resume=True, **kept)
        assert equal(resumed, auto)
        assert resumed.report["directions"] == auto.report["directions"]


@pytest.mark.parametrize(("least_steps", "chosen"), [(0, 1), (4, 3), (7, 4)])
def test_dev_chooses_no_epoch_before_half_of_the_least_steps(
    train: tuple[Sentence, ...],
    dev: tuple[Sentence, ...],
    monkeypatch: pytest.MonkeyPatch,
    least_steps: int,
    chosen: int,
) -> None:
    """An epoch is one step here."""
    scores = [1.5, 2.0, 1.8, 1.9]
    monkeypatch.setattr(Training, "score_on_dev", lambda training: Perplexity(scores[len(training.epochs)]))
    vocabulary = build_vocabulary([(sentence.tree, sentence.surface) for sentence in train])
    recipe = Recipe(epochs=4, families=("symmetry",), batch_size=len(train), least_steps=least_steps)
    training = Training(vocabulary, train, dev, recipe, 0, "cpu")
    for _ in scores:
        training.run_epoch()
    assert training.chosen == chosen


def test_dev_chooses_the_epoch(
    train: tuple[Sentence, ...], dev: tuple[Sentence, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two that are as good, the later one.  Interrupted behind it, a resumed fit gives this one too."""
    scores = [2.0, 2.001, 4.0]
    monkeypatch.setattr(Training, "score_on_dev", lambda training: Perplexity(scores[len(training.epochs)]))
    recipe = Recipe(epochs=3, families=("symmetry",), clauses=False)
    vocabulary = build_vocabulary([(sentence.tree, sentence.surface) for sentence in train])
    training = Training(vocabulary, train, dev, recipe, 0, "cpu")
    models = []
    for _ in scores:
        training.run_epoch()
        models.append(training.punctuator())
    assert not equal(models[0], models[1])
    assert equal(models[1], models[2])
    assert models[2].report["chosen"] == 2

    def watch(progress: Progress) -> None:
        if progress.finished and progress.epoch == 3:
            raise KeyboardInterrupt

    kept: dict[str, Any] = {"direction": "left", "checkpoint": tmp_path / "checkpoint"}
    with pytest.raises(KeyboardInterrupt):
        fit_story(train, dev, recipe, watch=watch, **kept)
    resumed = fit_story(train, dev, recipe, resume=True, **kept)
    assert equal(resumed, models[1])
    assert resumed.report["directions"] == {"left": 2.001}


def test_a_checkpoint_of_another_seed(
    train: tuple[Sentence, ...], dev: tuple[Sentence, ...], tmp_path: Path
) -> None:
    checkpoint = tmp_path / "checkpoint"
    fit(train, dev, Recipe(epochs=1), direction="left", checkpoint=checkpoint)
    with pytest.raises(ModelFileError, match=r"checkpoint\.left: this checkpoint is of other data"):
        fit(train, dev, Recipe(epochs=1), direction="left", seed=1, checkpoint=checkpoint, resume=True)


def test_unknown_names(train: tuple[Sentence, ...]) -> None:
    with pytest.raises(VariantError, match="no variant is called 'deep': take local"):
        fit(train, recipe=Recipe(attach="deep"))
    with pytest.raises(KeyError):
        named_recipe("unheard-of")


def test_all_parts_in_one_call(
    train: tuple[Sentence, ...], dev: tuple[Sentence, ...], tmp_path: Path
) -> None:
    """Each part is watched and can be resumed, and the model restores raw text."""
    parts: list[str] = []

    @contextmanager
    def watching(part: str) -> Iterator[Callable[..., None]]:
        told: list[object] = []
        yield lambda *progress: told.append(progress)
        assert told
        parts.append(part)

    networks = NetworkRecipes(
        ParserRecipe(epochs=1, least_steps=0, lstm_size=20),
        ReaderRecipe(epochs=2, least_steps=0, lstm_size=12),
        SlotTaggerRecipe(epochs=2, least_steps=0, slot_size=20),
    )
    recipe, checkpoint = Recipe(epochs=1), tmp_path / "fit"
    settings = {
        "parser": True,
        "mark_parser": True,
        "networks": networks,
        "folds": 2,
        "direction": "left",
        "checkpoint": checkpoint,
    }
    model = fit(train[:12], dev[:4], recipe, **settings, watching=watching)  # type: ignore[arg-type]
    assert parts == ["story", "parser", "reader", "mark_parser", "folds", "parsed", "tagger"]
    assert model.parsed is not None
    assert model.tagger is not None
    assert model.mark_parser is not None
    model.save(tmp_path.with_suffix(".safetensors"))
    loaded = Punctuator.load(tmp_path.with_suffix(".safetensors")).mark_parser
    assert loaded is not None
    read = [with_marks(one.tree.forms, one.surface) for one in dev[:4]]
    assert loaded.parse(read) == model.mark_parser.parse(read)
    text = model("Ann sings, and my sister sings", samples=50)
    saved = {file.name for file in tmp_path.iterdir()}
    assert saved == {f"fit.{part}" for part in ("left", *parts[1:4], "fold-1", "fold-2", *parts[5:])}
    again = fit(train[:12], dev[:4], recipe, **settings, resume=True)  # type: ignore[arg-type]
    assert again("Ann sings, and my sister sings", samples=50) == text
    bare = fit(train[:12], dev[:4], recipe, parser=True, folds=0, tagger=False, networks=networks)
    assert (bare.parser is None, bare.parsed, bare.tagger) == (False, None, None)
    assert {file.name for file in tmp_path.iterdir()} == saved
    with pytest.raises(ValueError, match="together with a parser"):
        fit(train[:12], dev[:4], recipe, fine_tune=True)
