"""Draws of surface punctuation have the probabilities of the model, however they are made."""

import itertools
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyro
import pytest
import torch
from brute_force import chi_square_is_plausible, projective_trees
from problems import evidence_of_trees, seen
from torch import Tensor
from variants import PairFrequencies, Stutter

from pyropunct import draws as module
from pyropunct.draws import Draws
from pyropunct.fitted.recipes import Recipe
from pyropunct.inference import walk
from pyropunct.inference.views import Views
from pyropunct.models.attach.attach_model import Attach
from pyropunct.models.attach.log_linear import LogLinearAttach
from pyropunct.models.channel.noisy_channel import Channel, Identity
from pyropunct.models.channel.slip import Slip, TokenBigrams
from pyropunct.models.channel.window import SlidingWindow
from pyropunct.models.story import Story
from pyropunct.models.trees import TreeBatch
from pyropunct.punctuator import Punctuator
from pyropunct.text.marks import ABBREVIATION_DOT, START, UNKNOWN
from pyropunct.treebank.reading import read_treebank
from pyropunct.treebank.tree import Tree
from pyropunct.vocabulary import Vocabulary

SHOWN = tuple[tuple[str, ...], ...]

NOTHING = ((), ())
VOCABULARY = Vocabulary(
    tokens=(START, ABBREVIATION_DOT, UNKNOWN, ",", "("),
    relations=("", "a", "b"),
    tags=("", "X", "Y"),
    forms=("", "word"),
    pairs=((NOTHING,), (NOTHING, ((), (3,)), ((4,), ())), (NOTHING, ((3,), (4,)), ((), (4, 3)))),
)
MARKS = len(VOCABULARY.tokens)


def tree(heads: list[int]) -> Tree:
    """A tree whose words differ in relation and tag."""
    size = len(heads)
    return Tree(tuple(heads), ("a", "b", "a", "b")[:size], ("X", "Y", "Y", "X")[:size], ("word",) * size)


TREES = [tree(heads) for heads in ([0], [2, 0], [2, 0, 2], [0, 1, 2], [3, 1, 0], [2, 0, 4, 2])]


def log_linear(*families: str) -> Callable[[], LogLinearAttach]:
    def make() -> LogLinearAttach:
        attach = LogLinearAttach(VOCABULARY.inventory, VOCABULARY.tokens, families, least=1)
        trees = VOCABULARY.encode_trees(TREES)
        surfaces = [torch.randint(-3, MARKS, (trees.forest.num_slots, 1)).clamp(-1) for _ in range(40)]
        attach.learn([seen(trees, surface) for surface in surfaces])
        attach.weights = 0.5 * torch.randn(int(attach.starts[-1]))
        return attach

    return make


def pair_frequencies() -> PairFrequencies:
    attach = PairFrequencies(VOCABULARY.inventory)
    attach.table = torch.randn(len(VOCABULARY.inventory.rows))
    return attach


class Plain(Attach):
    """The log-linear model as somebody else's, which computes everything anew each time."""

    def __init__(self) -> None:
        super().__init__(VOCABULARY.inventory)
        self.inner = log_linear("head", "inside", "rhythm")()

    def scores(self, trees: TreeBatch, views: Views) -> Tensor:
        return self.inner.scores(trees, views)


ATTACH: dict[str, Callable[[], Attach]] = {
    "looks inside": log_linear("head", "inside", "rhythm"),
    "does not look": log_linear("head", "symmetry"),
    "pair frequencies": pair_frequencies,
    "plain": Plain,
}


def window(direction: str) -> SlidingWindow:
    channel = SlidingWindow(MARKS, direction)
    channel.edit_logits = torch.randn(MARKS, MARKS, 4)
    return channel


def stutter(direction: str) -> Stutter:
    channel = Stutter(MARKS, direction)
    channel.logit = torch.tensor(-0.5)
    return channel


def slipping(make: Callable[[str], Channel]) -> Callable[[str], Slip]:
    def of(direction: str) -> Slip:
        bigrams = TokenBigrams([(0,), (0, 4), (3,), (4,), (3, 4)], MARKS, 0)
        channel = Slip(make(direction), bigrams)
        channel.slip_logit = torch.tensor(-1.5)
        return channel

    return of


CHANNEL: dict[str, Callable[[str], Channel]] = {
    "window": window,
    "window that slips": slipping(window),
    "identity that slips": slipping(lambda direction: Identity(MARKS, direction)),
    "stutter": stutter,
    "stutter that slips": slipping(stutter),
}


def punctuator(
    attach: str = "looks inside", channel: str = "window that slips", direction: str = "left", seed: int = 1
) -> Punctuator:
    """A model with random weights."""
    torch.manual_seed(seed)
    story = Story(VOCABULARY.inventory, ATTACH[attach](), CHANNEL[channel](direction))
    return Punctuator(VOCABULARY, Recipe(), story, {})


def surfaces_of(found: Draws) -> list[SHOWN]:
    return [tuple(found.surface(draw)) for draw in range(len(found))]


def probabilities(model: Punctuator, some: Tree, surfaces: list[SHOWN]) -> list[float]:
    """p(x | T) of some surfaces, by the inside algorithm."""
    trees = VOCABULARY.encode_trees([some] * len(surfaces))
    encoded = VOCABULARY.encode_surface([slot for surface in surfaces for slot in surface])
    return evidence_of_trees(model.story, trees, encoded).exp().tolist()


def agree(model: Punctuator, some: Tree, shown: list[SHOWN]) -> bool:
    """Whether the frequencies of surfaces are as they should be."""
    counts = Counter(shown)
    chances = probabilities(model, some, list(counts))
    return chi_square_is_plausible(list(counts.values()), chances, len(shown))


@pytest.mark.parametrize(
    ("attach", "channel", "direction"),
    [
        *itertools.product(["looks inside"], CHANNEL, ["left", "right"]),
        ("does not look", "window that slips", "right"),
        ("pair frequencies", "stutter that slips", "left"),
        ("plain", "window", "right"),
    ],
)
def test_draws_have_the_probabilities_of_the_model(attach: str, channel: str, direction: str) -> None:
    samples = 600 if "stutter" in channel else 1500 if "slips" in channel else 5000
    model = punctuator(attach, channel, direction)
    for some, found in zip(TREES, model.draws(TREES, samples, seed=3), strict=True):
        assert found.numbers.shape == (samples, len(some) + 1)
        shown = surfaces_of(found)
        assert len(set(shown)) > 2
        assert agree(model, some, shown)


def test_so_have_draws_of_the_story_told_forward() -> None:
    model, some = punctuator(), TREES[-1]
    trees = VOCABULARY.encode_trees([some] * 3000)
    strings = [VOCABULARY.decode_string(row) for row in model.story(trees).surface.tolist()]
    size = len(some) + 1
    assert agree(model, some, [tuple(strings[at : at + size]) for at in range(0, len(strings), size)])


def test_the_test_tells_models_apart() -> None:
    """Draws of one model do not pass for draws of another."""
    shown = surfaces_of(next(punctuator(seed=1).draws(TREES[-1:], 5000, seed=0)))
    assert agree(punctuator(seed=1), TREES[-1], shown)
    assert not agree(punctuator(seed=2), TREES[-1], shown)
    assert not agree(punctuator(attach="does not look"), TREES[-1], shown)


def test_draws_in_several_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DRAWS_AT_ONCE", 900)
    model = punctuator()
    found = next(model.draws(TREES[-1:], 5000, seed=3))
    assert len(found) == 5000
    assert agree(model, TREES[-1], surfaces_of(found))
    first, second = found.numbers[:900], found.numbers[900:1800]
    assert not np.array_equal(first, second)


EVERY = [tree(heads) for size in range(1, 4) for heads in projective_trees(size)] + TREES[-1:]


def test_a_plain_attach_model_is_asked_about_the_same_groups() -> None:
    """With equal random numbers it draws what the same model draws of which more is known."""
    one, other = punctuator("looks inside"), punctuator("plain")
    assert equal(list(one.draws(EVERY, 300, seed=0)), list(other.draws(EVERY, 300, seed=0)))


def equal(some: list[Draws], others: list[Draws]) -> bool:
    return [one.strings for one in some] == [one.strings for one in others] and all(
        np.array_equal(one.numbers, other.numbers) for one, other in zip(some, others, strict=True)
    )


def test_what_draws_are_made_of() -> None:
    (found,) = punctuator(channel="identity that slips").draws(TREES[-1:], 400, seed=0)
    assert found.numbers.dtype == np.int32
    assert found.weights.tolist() == pytest.approx([1 / 400] * 400)
    assert len(set(found.strings)) == len(found.strings)
    assert list(dict.fromkeys(found.numbers.ravel().tolist())) == list(range(len(found.strings)))
    assert all(surface[0][0] == START for surface in surfaces_of(found))
    assert all(START not in slot for surface in surfaces_of(found) for slot in surface[1:])


# Repeatability


@pytest.mark.parametrize("channel", ["window that slips", "stutter that slips"])
def test_draws_of_a_tree_do_not_depend_on_the_others(channel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = punctuator(channel=channel)
    together = list(model.draws(EVERY, 50, seed=5))
    alone = [next(model.draws([one], 50, seed=5)) for one in EVERY]
    assert equal(together, alone)
    assert equal(together[::-1], list(model.draws(EVERY[::-1], 50, seed=5)))
    monkeypatch.setattr(module, "WORDS_AT_ONCE", 7)
    assert equal(together, list(model.draws(EVERY, 50, seed=5)))


def test_each_tree_may_have_a_number_of_draws_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DRAWS_AT_ONCE", 20)
    model, numbers = punctuator(), [1 + 7 * number % 50 for number in range(len(EVERY))]
    alone = [next(model.draws([one], number, seed=5)) for one, number in zip(EVERY, numbers, strict=True)]
    assert [len(found) for found in alone] == numbers
    assert equal(alone, list(model.draws(EVERY, numbers, seed=5)))


@pytest.mark.parametrize("attach", ["looks inside", "plain"])
def test_draws_do_not_depend_on_threads(attach: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "PLACES_PER_THREAD", 1)
    model, found = punctuator(attach), []
    for threads in (1, 2, 3):
        torch.set_num_threads(threads)
        found.append(list(model.draws(EVERY, 60, seed=5)))
    assert equal(found[0], found[1])
    assert equal(found[0], found[2])


def test_equal_trees_get_draws_of_their_own() -> None:
    first, second = punctuator().draws([TREES[-1]] * 2, 100, seed=0)
    assert not np.array_equal(first.numbers, second.numbers)


@pytest.mark.parametrize("channel", ["window that slips", "stutter that slips"])
def test_seeds(channel: str) -> None:
    model = punctuator(channel=channel)

    def drawn(seed: int | None) -> list[Draws]:
        return list(model.draws(TREES, 60, seed))

    assert equal(drawn(1), drawn(1))
    assert not equal(drawn(1), drawn(2))
    assert not equal(drawn(None), drawn(None))
    found = []
    for _ in range(2):
        pyro.set_rng_seed(4)
        found.append(drawn(None))
    assert equal(*found)


@pytest.mark.parametrize("channel", ["window that slips", "stutter that slips"])
def test_a_seed_leaves_other_random_numbers_alone(channel: str) -> None:
    model = punctuator(channel=channel)
    torch.manual_seed(8)
    expected = torch.rand(3)
    torch.manual_seed(8)
    list(model.draws(TREES, 20, seed=1))
    assert torch.equal(torch.rand(3), expected)


# Bad questions


def test_nothing_to_draw() -> None:
    assert list(punctuator().draws([], 5)) == []


def test_bad_questions() -> None:
    model = punctuator()
    with pytest.raises(ValueError, match=r"^samples is 0: at least one draw is needed$"):
        model.draws(TREES, 0)
    with pytest.raises(ValueError, match="there are 6 trees, and numbers of draws for 2"):
        model.draws(TREES, [1, 2])
    with pytest.raises(ValueError, match=r"^seed is -1: it must not be negative$"):
        model.draws(TREES, 1, -1)
    crossing = replace(TREES[-1], heads=(3, 4, 0, 3))
    with pytest.raises(ValueError, match="one span"):
        next(model.draws([crossing], 1))


# A fitted model


@pytest.mark.usefixtures("single_precision")
def test_long_trees(small: Path) -> None:
    """A deep chain, a flat tree, one that branches to the left; and one word."""
    model, size = Punctuator.load(small / "model"), 300
    relations = sorted({relation for relation in model.vocabulary.relations if relation})
    some = list(itertools.islice(itertools.cycle(relations), size))
    shapes = [range(size), [0] + [1] * (size - 1), [*range(2, size + 1), 0], [0]]
    trees = [
        Tree(tuple(heads), tuple(some[: len(heads)]), ("NOUN",) * len(heads), ("word",) * len(heads))
        for heads in shapes
    ]
    for one, found in zip(trees, model.draws(trees, 20, seed=0), strict=True):
        assert found.numbers.shape == (20, len(one) + 1)


@pytest.mark.usefixtures("single_precision")
def test_frequencies_of_the_marks_of_a_fitted_model(small: Path) -> None:
    """Half of a sentence's own probability mass is as likely to be drawn as the model says."""
    model = Punctuator.load(small / "model")
    sentences = [one for one in read_treebank(small / "dev.conllu") if len(one.surface) < 9]
    expected = model.log_prob(sentences).exp().tolist()
    assert max(expected) > 0.2
    found = model.draws([sentence.tree for sentence in sentences], 2000, seed=0)
    for sentence, chance, some in zip(sentences, expected, found, strict=True):
        hits = surfaces_of(some).count(tuple(tuple(slot) for slot in sentence.surface))
        assert chi_square_is_plausible([hits, 2000 - hits], [chance, 1 - chance], 2000)
