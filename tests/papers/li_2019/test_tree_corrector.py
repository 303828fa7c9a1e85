"""The corrector of the paper: reading errors, training on them, deciding."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from pyropunct.draws import Draws
from pyropunct.errors import VariantError
from pyropunct.fitted.evaluation import average_edit_distance
from pyropunct.fitted.stories import build_story
from pyropunct.models.trees import string_number
from pyropunct.nets.parser import WeightedTree
from pyropunct.papers.li_2019.tree_corrector import (
    ERROR_COLUMNS,
    CorrectionTraining,
    ErrorTree,
    _staying_close,
    corrected,
    correction_recipe,
    error_examples,
    error_trees,
    train_writer,
    window_of,
)
from pyropunct.punctuator import Punctuator
from pyropunct.tasks.correct.edit_scores import edit_scores
from pyropunct.tasks.correct.simulation import wrong_copies, wrong_surfaces
from pyropunct.text.marks import ABBREVIATION_DOT, START, UNKNOWN, Surface
from pyropunct.treebank.sentence import Sentence
from pyropunct.treebank.tree import Tree

pytestmark = pytest.mark.usefixtures("single_precision")


@pytest.fixture(scope="module")
def wrong(dev: list[Sentence]) -> list[Surface]:
    return [one.surface for one in wrong_surfaces(dev, seed=1)]


@pytest.fixture(scope="module")
def clean(small: Path) -> Punctuator:
    return Punctuator.load(small / "model")


@pytest.fixture(scope="module")
def writer(train: list[Sentence], dev: list[Sentence], clean: Punctuator) -> Iterator[Punctuator]:
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float)  # as in a process of a user
    yield train_writer(train, dev, clean, correction_recipe(clean.recipe, epochs=3), 2, 0)
    torch.set_default_dtype(default)


Decide = Callable[[list[Sentence], list[Surface]], list[Surface]]


@pytest.fixture(scope="module")
def decided(clean: Punctuator, writer: Punctuator) -> Decide:
    """Corrects sentences, given their trees."""

    def decide(sentences: list[Sentence], wrong: list[Surface]) -> list[Surface]:
        parses = [[WeightedTree(one.tree, 1.0)] for one in sentences]
        return [one.surface for one in corrected(clean, writer, parses, wrong, 200, 0)]

    return decide


def read_errors(model: Punctuator, trees: Sequence[Tree], surfaces: Sequence[Surface]) -> list[ErrorTree]:
    return error_trees(model, [WeightedTree(tree, 1.0, given=True) for tree in trees], surfaces)


# Reading the wrong sentence


def test_errors_are_read_as_the_best_derivation(
    clean: Punctuator, dev: list[Sentence], wrong: list[Surface]
) -> None:
    found = read_errors(clean, [one.tree for one in dev], wrong)
    as_sentences = [replace(one, surface=surface) for one, surface in zip(dev, wrong, strict=True)]
    for tree, sentence, (best,) in zip(found, as_sentences, clean.underlying(as_sentences), strict=True):
        assert (tree.heads, tree.relations, tree.forms) == (
            sentence.tree.heads,
            sentence.tree.relations,
            sentence.tree.forms,
        )
        assert list(tree.punctemes) == best
        assert tree.wrong == tuple(map(tuple, sentence.surface))


@pytest.fixture(scope="module")
def both(clean: Punctuator, small: Path) -> Punctuator:
    """The same model, with another one for trees that a parser finds, which knows nothing."""
    parsed = Punctuator.load(small / "model")
    parsed.story.attach.weights.zero_()
    return replace(clean, parsed=parsed)


def test_trees_of_a_parser_are_read_by_what_knows_them(
    both: Punctuator, clean: Punctuator, dev: list[Sentence], wrong: list[Surface]
) -> None:
    trees = [one.tree for one in dev]
    parses = [WeightedTree(tree, 1.0, given=number % 3 > 0) for number, tree in enumerate(trees)]
    of_given, of_parsed = (
        error_trees(both, [WeightedTree(tree, 1.0, given=given) for tree in trees], wrong)
        for given in (True, False)
    )
    assert of_given == read_errors(clean, trees, wrong)
    assert of_given[::3] != of_parsed[::3]
    expected = [of_given[number] if number % 3 else of_parsed[number] for number in range(len(dev))]
    assert error_trees(both, parses, wrong) == expected
    pairs = wrong_copies(dev)
    examples = error_examples(both, pairs, period=3)
    parses = [WeightedTree(tree, 1.0, given=number % 6 < 3) for number, tree in enumerate(trees)]
    copies = [surface.surface for _, surface in pairs]
    assert [one.tree for one in examples] == error_trees(both, parses, copies)


def test_batches_of_error_trees_have_numbers_of_strings(clean: Punctuator, dev: list[Sentence]) -> None:
    number = clean.vocabulary.token_number
    tree = replace(read_errors(clean, [dev[0].tree], [dev[0].surface])[0])
    size = len(tree)
    punctemes = ((("“", ","), ("★",)), *([((), ())] * (size - 1)))
    batch = clean.vocabulary.encode_trees(
        [replace(tree, punctemes=punctemes, wrong=((START,), *[()] * (size - 1), (".",)))]
    )
    values = [batch.more[name].tolist() for name in ERROR_COLUMNS]
    assert values[0] == [string_number([number["“"], number[","]])] + [0] * (size - 1)
    assert values[1] == [string_number([number[UNKNOWN]])] + [0] * (size - 1)
    assert values[2] == [string_number([number[START]])] + [0] * (size - 1)
    assert values[3] == [0] * (size - 1) + [string_number([number["."]])]


# Training


def logits_of(model: Punctuator) -> Tensor:
    """The logits of the edits of the sliding window in its channel."""
    return window_of(model.story).edit_logits


def test_the_channel_stays_close(train: list[Sentence], clean: Punctuator) -> None:
    """The narrower the prior around the clean model's logits, the closer they stay."""
    some = train[:30]
    examples = error_examples(clean, wrong_copies(some))
    away = {}
    for scale in (0.01, 10.0):
        recipe = correction_recipe(clean.recipe, edit_prior_scale=scale, epochs=1, batch_size=5)
        training = CorrectionTraining(clean.vocabulary, examples, examples, recipe, 0, "cpu", clean=clean)
        untrained = training.punctuator()
        torch.testing.assert_close(logits_of(untrained), logits_of(clean))
        training.run()
        trained = training.punctuator()
        away[scale] = float((logits_of(trained) - logits_of(clean)).abs().max())
        before, after = untrained.values, trained.values
        assert all(not torch.equal(before[name], after[name]) for name in before), "a site did not move"
    assert 0 < away[0.01] < 0.5 < away[10.0]


def test_correction_is_better_than_restoration(
    decided: Decide, clean: Punctuator, dev: list[Sentence], wrong: list[Surface]
) -> None:
    right = [one.surface for one in dev]
    found = decided(dev, wrong)
    restored = clean.restore([one.tree for one in dev], samples=200, seed=0)
    assert average_edit_distance(found, right) < 0.75 * average_edit_distance(restored, right)
    assert edit_scores(wrong, found, right).f() > edit_scores(wrong, restored, right).f() > 0


def test_draws_have_the_probabilities_of_the_model(
    clean: Punctuator, writer: Punctuator, dev: list[Sentence]
) -> None:
    """p(x_c | T, T'_e) by inference, and by how often it is drawn."""
    sentence = min(dev, key=lambda one: len(one.tree))
    tree = read_errors(clean, [sentence.tree], [sentence.surface])[0]
    draws, samples = next(writer.draws([tree], 4000, seed=1)), 4000
    shown = [tuple(draws.surface(draw)) for draw in range(samples)]
    for one in sorted(set(shown), key=shown.count)[-3:]:
        example = replace(sentence, tree=tree, surface=one)
        chance = float(writer.log_prob([example]).exp())
        assert abs(shown.count(one) / samples - chance) < 4.5 * math.sqrt(chance / samples)


def test_equal_seeds_give_equal_correctors(
    train: list[Sentence], dev: list[Sentence], clean: Punctuator
) -> None:
    recipe = correction_recipe(clean.recipe, epochs=1)
    one, again = (train_writer(train[:20], dev[:5], clean, recipe, 2, 4) for _ in range(2))
    assert all(torch.equal(value, again.values[name]) for name, value in one.values.items())


def test_a_model_without_a_window_is_refused(clean: Punctuator) -> None:
    recipe = replace(clean.recipe, channel="identity")
    other = replace(clean, recipe=recipe, story=build_story(clean.vocabulary, recipe))
    with pytest.raises(VariantError, match="needs a model with a sliding window"):
        train_writer([], [], other, correction_recipe(recipe), 1, 0)


# Deciding


def draws_of(*surfaces: list[tuple[str, ...]]) -> Draws:
    strings = tuple({slot: None for surface in surfaces for slot in surface})
    numbers = np.array([[strings.index(slot) for slot in surface] for surface in surfaces], np.int32)
    return Draws(strings, numbers, np.full(len(surfaces), 1 / len(surfaces)))


def test_unknown_marks_and_dots_stay(clean: Punctuator) -> None:
    wrong = [(START, "★"), (ABBREVIATION_DOT, ","), ("☆", ".", "★")]
    drawn = draws_of(
        [(START, UNKNOWN), (), (".", UNKNOWN)],
        [(START,), (UNKNOWN, ABBREVIATION_DOT), (UNKNOWN, UNKNOWN, UNKNOWN)],
        [(START, UNKNOWN), (",",), (ABBREVIATION_DOT, ".")],
    )
    staying = _staying_close(wrong, clean)(drawn)
    assert [staying.surface(draw) for draw in range(3)] == [
        [(START, "★"), (ABBREVIATION_DOT,), (".", "☆")],
        [(START,), (ABBREVIATION_DOT,), ("☆", "★")],
        [(START, "★"), (ABBREVIATION_DOT, ","), (".",)],
    ]


def test_pairs_stay_whole(clean: Punctuator) -> None:
    """Draws are conditioned on no more halves of pairs than there were."""
    whole, none = [(START, "“"), ("”", ","), (".",)], [(START,), (",",), (".",)]
    halves = [[(START, "“"), (",",), (".",)], [(START,), ("”", ","), (".",)]]
    drawn = draws_of(*halves, whole, none, *halves)

    def kept(given: list[tuple[str, ...]], draws: Draws) -> list[list[tuple[str, ...]]]:
        staying = _staying_close(given, clean)(draws)
        assert staying.weights.sum() == pytest.approx(1)
        return [staying.surface(draw) for draw in range(len(staying))]

    assert kept(whole, drawn) == kept(none, drawn) == [whole, none]
    assert kept(halves[0], drawn) == [*halves, whole, none, *halves]
    assert kept(whole, draws_of(*halves)) == [whole]


def test_equal_seeds_give_equal_corrections(
    decided: Decide, dev: list[Sentence], wrong: list[Surface]
) -> None:
    one = decided(dev, wrong)
    assert one == decided(dev, wrong)
    assert one[3:5] == decided(dev[3:5], wrong[3:5])
    assert one != decided(dev, [sentence.surface for sentence in dev])


def test_several_trees_share_the_draws(
    clean: Punctuator, writer: Punctuator, dev: list[Sentence], wrong: list[Surface]
) -> None:
    tree = dev[0].tree
    other = replace(tree, relations=("dep",) * len(tree))
    both = [[WeightedTree(tree, 0.9), WeightedTree(other, 0.1)]]
    (decision,) = corrected(clean, writer, both, wrong[:1], 100, 0)
    assert len(decision.surface) == len(tree) + 1
    assert decision.risk > 0
