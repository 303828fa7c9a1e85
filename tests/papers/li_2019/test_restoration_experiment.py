"""Whole comparisons on slices of the embedded treebank, with small recipes."""

import json
import math
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from pyropunct.embedded import embedded_treebank_path
from pyropunct.fitted.evaluation import average_edit_distance
from pyropunct.fitted.model_file import read_model_file
from pyropunct.fitted.recipes import Recipe
from pyropunct.nets.biaffine import ParserRecipe
from pyropunct.nets.parser import BiaffineParser, attachment_scores
from pyropunct.nets.tagger import SlotTaggerRecipe
from pyropunct.papers.experiment import Results, loader
from pyropunct.papers.li_2019.recurrent import RivalRecipe
from pyropunct.papers.li_2019.restoration_experiment import RestorationExperiment
from pyropunct.papers.li_2019.restorers import Conditions, ended_in, final_mark
from pyropunct.papers.li_2019.results import SystemResult
from pyropunct.papers.li_2019.rival import BiGRUAttention, BiLSTMCRF, Rival
from pyropunct.punctuator import Punctuator
from pyropunct.tasks import Advance
from pyropunct.treebank.reading import Treebank, read_treebank

SMALL = Conditions(
    shares=(50, 100),
    samples=20,
    trees=1,
    recipe=Recipe(epochs=2, families=("symmetry", "head")),
    rival_recipe=RivalRecipe(word_size=12, hidden_size=8, epochs=2, least_steps=0, batch_size=8),
    parser_recipe=ParserRecipe(
        epochs=4,
        least_steps=0,
        batch_words=40,
        learning_rate=0.01,
        form_size=20,
        character_size=8,
        spelling_size=16,
        tag_size=16,
        lstm_size=32,
        arc_size=32,
        relation_size=16,
    ),
    slot_tagger_recipe=SlotTaggerRecipe(epochs=2, least_steps=0, batch_words=40, slot_size=16),
    folds=2,
    seed=5,
)

SEED = "parts/seed-5"
"""Where a comparison's folder has what was trained with this seed."""


def compared(*data: Any, **options: Any) -> Results:
    results = RestorationExperiment(*data, **options).run()
    assert isinstance(results, Results)
    return results


def slice_of(split: Any, number: int) -> Treebank:
    whole = read_treebank(embedded_treebank_path(split))
    return replace(whole, sentences=whole.sentences[:number])


@pytest.fixture(scope="module")
def train() -> Treebank:
    return slice_of("train", 61)


@pytest.fixture(scope="module")
def dev() -> Treebank:
    return slice_of("dev", 16)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("comparison") / "out"


@pytest.fixture(scope="module")
def experiment_results(train: Treebank, dev: Treebank, folder: Path) -> Iterator[Results]:
    """As a user has it: in single precision."""
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float)
    torch.set_num_threads(1)
    yield compared(train, dev, SMALL, folder)
    torch.set_default_dtype(default)


pytestmark = pytest.mark.usefixtures("single_precision")


def by_name(comparison: Results) -> dict[str, SystemResult]:
    return {system.first.name: system.first for system in comparison.tables["systems"].rows}


def timeless(comparison: Results) -> Any:
    """All results but how long they took."""

    def without_seconds(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without_seconds(one) for key, one in value.items() if "seconds" not in key}
        return [without_seconds(one) for one in value] if isinstance(value, list) else value

    return without_seconds(json.loads(json.dumps(comparison.to_json())))


def test_trivial(experiment_results: Results, train: Treebank, dev: Treebank) -> None:
    system = by_name(experiment_results)["trivial"]
    restored = ended_in(final_mark(train), [sentence.tree.forms for sentence in dev])
    assert system.with_gold_trees.perplexity is None
    assert [one.aed for one in system.outcomes] == [
        average_edit_distance(restored, [sentence.surface for sentence in dev])
    ]


@pytest.mark.parametrize(("kind", "rival"), [("crf", BiLSTMCRF), ("attention", BiGRUAttention)])
def test_taggers(
    experiment_results: Results, dev: Treebank, folder: Path, kind: str, rival: type[Rival]
) -> None:
    system, tagger = by_name(experiment_results)[kind], loader(rival.from_parts)(folder / SEED / kind)
    assert tagger.recipe == SMALL.rival_recipe
    assert system.with_gold_trees.perplexity == pytest.approx(tagger.evaluate(list(dev)).perplexity, 1e-12)
    restored = tagger.restore([sentence.tree.forms for sentence in dev])
    expected = average_edit_distance(restored, [sentence.surface for sentence in dev])
    assert [one.aed for one in system.outcomes] == [expected]
    assert len(tagger.report["epochs"]) == 2


@pytest.mark.parametrize(("name", "channel"), [("attach", "identity"), ("full", "sliding-window")])
def test_models(experiment_results: Results, dev: Treebank, folder: Path, name: str, channel: str) -> None:
    system, model = by_name(experiment_results)[name], Punctuator.load(folder / SEED / name)
    assert model.recipe == SMALL.recipe.changed(channel=channel, direction=model.recipe.direction)
    assert len(model.report["directions"]) == (1 if name == "attach" else 2)
    assert system.with_gold_trees.perplexity == pytest.approx(model.evaluate(list(dev)).perplexity, 1e-12)
    gold = [sentence.surface for sentence in dev]
    trees = [sentence.tree for sentence in dev]
    expected = [average_edit_distance(model.restore(trees, samples=20, seed=5), gold)]
    for share in (50, 100):
        parser = BiaffineParser.from_parts(*read_model_file(folder / SEED / f"parser-{share}"))
        parsing = replace(model, parser=parser)
        restored = parsing.restore([tree.forms for tree in trees], samples=20, trees=1, seed=5)
        expected.append(average_edit_distance(restored, gold))
    assert [one.aed for one in system.outcomes] == expected


@pytest.mark.parametrize("name", ["attach", "full"])
def test_models_have_learned_from_trees_of_parsers(
    experiment_results: Results, train: Treebank, dev: Treebank, folder: Path, name: str
) -> None:
    """Those that the parsers of the folds have found in what they had not seen."""
    model = Punctuator.load(folder / SEED / name)
    assert model.parsed is not None
    trees = []
    for fold in range(2):
        plain, tensors = read_model_file(folder / SEED / f"fold-{fold + 1}")
        parser = BiaffineParser.from_parts(plain, tensors)
        assert len(parser.report["epochs"]) == 2
        unseen = [sentence for number, sentence in enumerate(train) if number % 2 == fold]
        assert parser.report["train_sentences"] == 61 - len(unseen)
        parsed = parser.parse([sentence.tree.forms for sentence in unseen])
        trees += [(one[0].tree, sentence.tree) for one, sentence in zip(parsed, unseen, strict=True)]
    scores = attachment_scores(*map(list, zip(*trees, strict=True)))
    assert model.parsed.report["scores"] == scores._asdict()
    assert model.parsed.report["train_sentences"] == 2 * 61


def test_the_model_with_a_tagger(
    experiment_results: Results, train: Treebank, dev: Treebank, folder: Path
) -> None:
    """It is the full model where trees are given, and mixed with the tagger where a parser finds them."""
    system, full = by_name(experiment_results)["mixed"], by_name(experiment_results)["full"]
    model = Punctuator.load(folder / SEED / "mixed-100")
    assert model.tagger is not None
    assert model.tagger.recipe == SMALL.slot_tagger_recipe
    assert system.with_gold_trees.perplexity == full.with_gold_trees.perplexity
    assert system.with_gold_trees.aed == full.with_gold_trees.aed
    assert len(system.outcomes) == 2
    words = [sentence.tree.forms for sentence in dev]
    restored = model.restore(words, samples=20, trees=1, seed=5)
    expected = average_edit_distance(restored, [sentence.surface for sentence in dev])
    assert system.with_predicted_trees.aed == expected
    assert model.parser is not None
    log_probs = model.log_prob_over_trees(list(dev), model.parser.parse(words)).numpy()
    assert system.with_predicted_trees.log_probs == pytest.approx(log_probs, 1e-9)
    assert system.with_predicted_trees.perplexity != full.with_predicted_trees.perplexity


def test_parsers(experiment_results: Results, dev: Treebank, folder: Path) -> None:
    trees = [sentence.tree for sentence in dev]
    results = [one.first for one in experiment_results.tables["parsers"].rows[:-1]]
    assert [(one.share, one.sentences) for one in results] == [(50, 31), (100, 61)]
    for result in results:
        parser = BiaffineParser.from_parts(*read_model_file(folder / SEED / f"parser-{result.share}"))
        parsed = parser.parse([tree.forms for tree in trees])
        assert result.scores == attachment_scores([one[0].tree for one in parsed], trees)
        assert parser.report["train_sentences"] == result.sentences


def test_what_is_told_of_the_data(experiment_results: Results, train: Treebank, dev: Treebank) -> None:
    sizes = experiment_results.data["treebanks"]
    assert (sizes["train"]["path"], sizes["train"]["sentences"]) == (train.path, 61)
    assert sizes["dev"]["slots"] == sum(len(sentence.surface) for sentence in dev)
    assert list(by_name(experiment_results)) == ["trivial", "crf", "attention", "attach", "full", "mixed"]
    outcomes = [one for system in by_name(experiment_results).values() for one in system.outcomes]
    assert {one.scores.slots for one in outcomes} == {sizes["dev"]["slots"]}
    assert experiment_results.data["environment"]["torch"] == torch.__version__


def test_the_same_again(experiment_results: Results, train: Treebank, dev: Treebank, folder: Path) -> None:
    """Trained anew without a folder, given sentences alone; and measured anew with what was trained."""
    anew = timeless(compared(list(train), list(dev), SMALL))
    assert [anew["treebanks"][name].pop("path") for name in ("train", "dev")] == [None, None]
    before = timeless(experiment_results)
    for name in ("train", "dev"):
        del before["treebanks"][name]["path"]
    assert anew == before
    measured = compared(train, dev, SMALL, folder)
    assert timeless(measured) == timeless(experiment_results)
    for one, other in zip(
        *(comparison.tables["systems"].rows for comparison in (measured, experiment_results)), strict=True
    ):
        assert one.first.training_seconds == other.first.training_seconds


def test_several_seeds(experiment_results: Results, train: Treebank, dev: Treebank, folder: Path) -> None:
    """The first seed is there already, the second gives other results: as by itself."""
    settings = replace(SMALL, systems=("crf",))
    results = compared(train, dev, replace(settings, seeds=2), folder).tables["systems"].rows[0].results
    assert results[0].training_seconds == by_name(experiment_results)["crf"].training_seconds
    alone = by_name(compared(train, dev, replace(settings, seed=6)))["crf"]
    perplexities = [one.with_gold_trees.perplexity for one in results]
    assert perplexities[1] == alone.with_gold_trees.perplexity != perplexities[0]


def test_the_mixture_of_predicted_trees(
    experiment_results: Results, train: Treebank, dev: Treebank, folder: Path
) -> None:
    """p(x | words) is the sum over the distinct trees that the parser drew, a share of the draws each."""
    settings = replace(SMALL, systems=("full",), shares=(100,), trees=4)
    log_probs = by_name(compared(train, dev, settings, folder))["full"].with_predicted_trees.log_probs
    model = Punctuator.load(folder / SEED / "full")
    parser = BiaffineParser.from_parts(*read_model_file(folder / SEED / "parser-100"))
    assert log_probs is not None
    assert model.parsed is not None
    for sentence, found_log_prob in zip(dev, log_probs, strict=True):
        trees = parser.parse([sentence.tree.forms], 4, seed=5)[0]
        total = sum(
            one.weight * model.parsed.log_prob([replace(sentence, tree=one.tree)]).exp().item()
            for one in trees
        )
        assert found_log_prob == pytest.approx(math.log(total), 1e-9)


def test_measured_on_test(experiment_results: Results, train: Treebank, dev: Treebank, folder: Path) -> None:
    """What was trained with dev is measured on other sentences, as on these alone."""
    test = slice_of("test", 9)
    settings = replace(SMALL, systems=("trivial", "crf"))
    results = compared(train, dev, settings, folder, test=test)
    crf = by_name(results)["crf"]
    assert crf.training_seconds == by_name(experiment_results)["crf"].training_seconds
    tagger = loader(BiLSTMCRF.from_parts)(folder / SEED / "crf")
    assert crf.with_gold_trees.perplexity == pytest.approx(tagger.evaluate(list(test)).perplexity, 1e-12)
    size = results.to_json()["treebanks"]["test"]
    assert (size["sentences"], size["path"]) == (9, test.path)
    assert "measured on 9 of test" in results.to_markdown()


def test_more_of_the_same_parts(
    train: Treebank, dev: Treebank, folder: Path, experiment_results: Results
) -> None:
    """Other systems, shares, decoders and numbers of trees and draws, from what was trained before."""
    settings = replace(SMALL, systems=("full", "trivial"), shares=(100,), decoder="f1", samples=30, trees=4)
    more = compared(train, dev, settings, folder)
    assert list(by_name(more)) == ["trivial", "full"]
    assert by_name(more)["full"].training_seconds == by_name(experiment_results)["full"].training_seconds
    gold = [by_name(one)["full"].with_gold_trees.perplexity for one in (more, experiment_results)]
    assert gold[0] == gold[1]
    assert more.data["parsers"][0][0]["scores"] == experiment_results.data["parsers"][1][0]["scores"]


def test_gold_trees_alone(
    experiment_results: Results, train: Treebank, dev: Treebank, tmp_path: Path
) -> None:
    settings = replace(SMALL, systems=("attach",), shares=(100,), folds=0)
    attach, before = (
        by_name(compared(train, dev, settings, tmp_path))["attach"],
        by_name(experiment_results)["attach"],
    )
    assert Punctuator.load(tmp_path / SEED / "attach").parsed is None
    assert sorted(path.stem for path in (tmp_path / SEED).iterdir()) == ["attach", "parser-100"]
    assert attach.with_gold_trees.perplexity == before.with_gold_trees.perplexity
    assert attach.with_predicted_trees.perplexity != before.with_predicted_trees.perplexity


def test_without_trees_there_is_no_parser(train: Treebank, dev: Treebank, tmp_path: Path) -> None:
    experiment_results = compared(train, dev, replace(SMALL, systems=("trivial",)), tmp_path)
    assert experiment_results.data["parsers"] == []
    assert [path.stem for path in (tmp_path / SEED).iterdir()] == ["trivial"]


def test_progress(train: Treebank, dev: Treebank) -> None:
    sizes: dict[str, int] = {}
    done: Counter[str] = Counter()

    @contextmanager
    def watch(what: str, size: int) -> Iterator[Advance]:
        assert what not in sizes
        sizes[what] = size
        yield lambda number: done.update({what: number})

    settings = replace(
        SMALL,
        recipe=replace(SMALL.recipe, sentences_per_epoch=20),
        parser_recipe=replace(SMALL.parser_recipe, epochs=1, least_steps=30),
        shares=(100,),
    )
    compared(train, dev, replace(settings, systems=("crf", "attach", "full")), watch=watch)
    assert done == sizes
    assert sizes["training attach only: sentences"] == 2 * 20
    assert sizes["training full model: sentences"] == 2 * 2 * 20
    assert sizes["training full model on trees of parsers: sentences"] == 2 * 20
    assert sizes["restoring, full model, trees: 100%: sentences"] == len(dev)


def test_nothing_to_train_or_measure_on(train: Treebank) -> None:
    for some in ((train, []), ([], train)):
        with pytest.raises(ValueError, match="needs sentences to train on and sentences to measure on"):
            compared(*some, SMALL)
