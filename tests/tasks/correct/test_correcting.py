"""Correction: reading errors, training on them, deciding, saving."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from pyropunct.draws import Draws
from pyropunct.errors import MissingPartError, ModelFileError, VariantError
from pyropunct.fitted.evaluation import average_edit_distance
from pyropunct.fitted.stories import build_story
from pyropunct.models.attach.correcting_attach import ERROR_COLUMNS
from pyropunct.models.trees import string_number
from pyropunct.nets.parser import WeightedTree
from pyropunct.punctuator import Punctuator
from pyropunct.tasks import CorrectingSettings
from pyropunct.tasks.correct.correcting import TreeCorrector, load_corrector, staying_close
from pyropunct.tasks.correct.corrector_training import (
    CorrectionTraining,
    correction_recipe,
    error_examples,
    fit_correction,
    window_of,
    wrong_copies,
    wrong_surfaces,
)
from pyropunct.tasks.correct.edit_scores import edit_scores
from pyropunct.tasks.correct.error_trees import ErrorTree, SlotChange, changes, read_errors, read_parses
from pyropunct.tasks.correct.hearing import wrong_sentences
from pyropunct.text.marks import ABBREVIATION_DOT, START, UNKNOWN, Surface
from pyropunct.text.raw_sentence import RawSentence, Slot, WrittenMark
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
def corrector(train: list[Sentence], dev: list[Sentence], clean: Punctuator) -> Iterator[TreeCorrector]:
    default = torch.get_default_dtype()
    torch.set_default_dtype(torch.float)  # as in a process of a user
    yield fit_correction(train, dev, clean)
    torch.set_default_dtype(default)


def decided(corrector: TreeCorrector, sentences: list[Sentence], wrong: list[Surface]) -> list[Surface]:
    parses = [[WeightedTree(one.tree, 1.0)] for one in sentences]
    return [
        one.surface
        for one in corrector.decide(wrong_sentences(parses, wrong), CorrectingSettings(samples=200))
    ]


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
    of_given, of_parsed = (read_errors(one, trees, wrong) for one in (clean, both.for_parsed))
    assert of_given[::3] != of_parsed[::3]
    expected = [of_given[number] if number % 3 else of_parsed[number] for number in range(len(dev))]
    assert read_parses(both, parses, wrong) == expected
    pairs = wrong_copies(dev)
    examples = error_examples(both, pairs[: len(dev)], range(0, len(dev), 3))
    copies = [surface.surface for _, surface in pairs[: len(dev)]]
    assert [one.tree for one in examples] == read_parses(both, parses, copies)


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
    window = window_of(model.story)
    assert window is not None
    return window.edit_logits


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
    corrector: TreeCorrector, dev: list[Sentence], wrong: list[Surface]
) -> None:
    right = [one.surface for one in dev]
    corrected = decided(corrector, dev, wrong)
    restored = corrector.model.restore([one.tree for one in dev], samples=200, seed=0)
    assert average_edit_distance(corrected, right) < 0.75 * average_edit_distance(restored, right)
    assert edit_scores(wrong, corrected, right).f() > edit_scores(wrong, restored, right).f() > 0


def test_draws_have_the_probabilities_of_the_model(corrector: TreeCorrector, dev: list[Sentence]) -> None:
    """p(x_c | T, T'_e) by inference, and by how often it is drawn."""
    sentence = min(dev, key=lambda one: len(one.tree))
    tree = read_errors(corrector.model, [sentence.tree], [sentence.surface])[0]
    draws, samples = next(corrector.writer.draws([tree], 4000, seed=1)), 4000
    shown = [tuple(draws.surface(draw)) for draw in range(samples)]
    for one in sorted(set(shown), key=shown.count)[-3:]:
        example = replace(sentence, tree=tree, surface=one)
        chance = float(corrector.writer.log_prob([example]).exp())
        assert abs(shown.count(one) / samples - chance) < 4.5 * math.sqrt(chance / samples)


class TwoTrees:
    """A parser that hangs all words on the first one, or each on the one before it."""

    def parse(self, sentences: Sequence[Sequence[str]], trees: int = 1) -> list[list[WeightedTree]]:
        assert trees == 2
        return [
            [
                WeightedTree(Tree(heads, ("root", *["dep"] * (n - 1)), ("X",) * n, tuple(words)), 0.5)
                for heads in ((0, *[1] * (n - 1)), tuple(range(n)))
            ]
            for words in sentences
            for n in [len(words)]
        ]


def test_every_second_copy_has_drawn_trees(train: list[Sentence]) -> None:
    some = train[:4]
    pairs = wrong_copies(some, copies=3)
    with_trees = wrong_copies(some, copies=3, parser=TwoTrees())
    assert [wrong for _, wrong in with_trees] == [wrong for _, wrong in pairs]
    assert [one.surface for one, _ in with_trees] == [one.surface for one, _ in pairs]
    assert with_trees[:4] == pairs[:4]
    assert with_trees[8:] == pairs[8:]
    for (one, _), sentence in zip(with_trees[4:8], some, strict=True):
        assert one.tree.heads == tuple(range(len(sentence.tree)))
        assert one.tree.forms == sentence.tree.forms


def test_equal_seeds_give_equal_correctors(
    train: list[Sentence], dev: list[Sentence], clean: Punctuator
) -> None:
    recipe = correction_recipe(clean.recipe, epochs=1)
    one, again = (fit_correction(train[:20], dev[:5], clean, recipe=recipe, seed=4) for _ in range(2))
    assert all(torch.equal(value, again.writer.values[name]) for name, value in one.writer.values.items())


def test_a_model_without_a_window_is_refused(clean: Punctuator) -> None:
    recipe = replace(clean.recipe, channel="identity")
    other = replace(clean, recipe=recipe, story=build_story(clean.vocabulary, recipe))
    with pytest.raises(VariantError, match="the channel 'identity'"):
        fit_correction([], [], other)


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
    staying = staying_close(wrong, clean.vocabulary)(drawn)
    assert [staying.surface(draw) for draw in range(3)] == [
        [(START, "★"), (ABBREVIATION_DOT,), (".", "☆")],
        [(START,), (ABBREVIATION_DOT,), ("☆", "★")],
        [(START, "★"), (ABBREVIATION_DOT, ","), (".",)],
    ]
    closed = staying_close(wrong, clean.vocabulary, range(3))(drawn)
    assert [closed.surface(draw) for draw in range(3)] == [wrong] * 3


def test_pairs_stay_whole(clean: Punctuator) -> None:
    """Draws are conditioned on no more halves of pairs than there were."""
    whole, none = [(START, "“"), ("”", ","), (".",)], [(START,), (",",), (".",)]
    halves = [[(START, "“"), (",",), (".",)], [(START,), ("”", ","), (".",)]]
    drawn = draws_of(*halves, whole, none, *halves)

    def kept(given: list[tuple[str, ...]], draws: Draws) -> list[list[tuple[str, ...]]]:
        staying = staying_close(given, clean.vocabulary)(draws)
        assert staying.weights.sum() == pytest.approx(1)
        return [staying.surface(draw) for draw in range(len(staying))]

    assert kept(whole, drawn) == kept(none, drawn) == [whole, none]
    assert kept(halves[0], drawn) == [*halves, whole, none, *halves]
    assert kept(whole, draws_of(*halves)) == [whole]


def test_changes() -> None:
    wrong = [(START,), (",", "“"), (), (".",)]
    right = [("“",), ("“",), (), (START, ".")]
    assert changes(wrong, right) == [SlotChange(0, (), ("“",)), SlotChange(1, (",", "“"), ("“",))]
    assert changes(wrong, wrong) == []
    with pytest.raises(ValueError, match="zip"):
        changes(wrong, right[:2])


def test_equal_seeds_give_equal_corrections(
    corrector: TreeCorrector, dev: list[Sentence], wrong: list[Surface]
) -> None:
    one = decided(corrector, dev, wrong)
    assert one == decided(corrector, dev, wrong)
    assert one[3:5] == decided(corrector, dev[3:5], wrong[3:5])
    assert one != decided(corrector, dev, [sentence.surface for sentence in dev])


def test_several_trees_share_the_draws(
    corrector: TreeCorrector, dev: list[Sentence], wrong: list[Surface]
) -> None:
    tree = dev[0].tree
    other = replace(tree, relations=("dep",) * len(tree))
    both = [[WeightedTree(tree, 0.9), WeightedTree(other, 0.1)]]
    (decision,) = corrector.decide(wrong_sentences(both, wrong[:1]), CorrectingSettings(samples=100))
    assert len(decision.surface) == len(tree) + 1
    assert decision.risk > 0


def test_sentences_are_corrected_and_lines_without_words_stay(
    corrector: TreeCorrector, dev: list[Sentence], wrong: list[Surface]
) -> None:
    sentence = replace(dev[0], surface=wrong[0])
    empty = RawSentence(1, " ?!", (), (Slot((WrittenMark("?", "?"), WrittenMark("!", "!"))),))
    first, second = corrector.correct([sentence, empty], CorrectingSettings(samples=200))
    assert first.surface == decided(corrector, dev[:1], wrong[:1])[0]
    assert (first.source, first.tree is None) == (sentence, False)
    assert (second.surface, second.risk, second.tree) == (empty.surface, 0.0, None)
    with pytest.raises(MissingPartError, match="has no parser"):
        list(corrector.correct([RawSentence(1, "go", ("go",), (Slot(), Slot()))]))
    with pytest.raises(MissingPartError, match="has no parser"):
        list(corrector.correct([sentence], CorrectingSettings(parse=True)))


# Saving


def test_a_corrector_comes_back(
    corrector: TreeCorrector, dev: list[Sentence], wrong: list[Surface], tmp_path: Path
) -> None:
    corrector.save(tmp_path / "one")
    corrector.save(tmp_path / "one")  # in its place
    again = load_corrector(tmp_path / "one")
    assert [path.name for path in tmp_path.iterdir()] == ["one.safetensors"]
    assert decided(again, dev[:5], wrong[:5]) == decided(corrector, dev[:5], wrong[:5])
    assert Punctuator.load(tmp_path / "one").recipe == corrector.model.recipe


def test_a_loaded_writer_reads_error_trees(
    corrector: TreeCorrector, dev: list[Sentence], tmp_path: Path
) -> None:
    corrector.save(tmp_path / "one")
    examples = error_examples(corrector.model, wrong_copies(dev[:5]))
    again = load_corrector(tmp_path / "one")
    assert isinstance(again, TreeCorrector)
    found = again.writer.log_prob(examples)
    torch.testing.assert_close(found, corrector.writer.log_prob(examples), atol=0.02, rtol=0.002)


def test_files_that_are_no_correctors(corrector: TreeCorrector, small: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="no such model"):
        load_corrector(tmp_path / "none")
    with pytest.raises(ModelFileError, match="is a model, not a corrector"):
        load_corrector(small / "model")
    replace(corrector, writer=corrector.model).save(tmp_path / "two")
    with pytest.raises(ModelFileError, match="its writer is not the model of a corrector"):
        load_corrector(tmp_path / "two")
    (tmp_path / "other.safetensors").write_text("mine")
    with pytest.raises(ModelFileError, match="is not the file of a model"):
        corrector.save(tmp_path / "other")


def test_error_trees_are_trees(corrector: TreeCorrector, dev: list[Sentence]) -> None:
    (tree,) = read_errors(corrector.model, [dev[0].tree], [dev[0].surface])
    assert isinstance(tree, ErrorTree)
    assert len(tree) == len(dev[0].tree)
    assert hash(tree) == hash(replace(tree))
