import math
import random
from dataclasses import replace

import pytest
import torch
from brute_force import projective_trees, sliding_window, underlying_strings
from problems import PAIRS, edits_of, inventory, padded, tree_batch, walls, window

from pyropunct.inference.story_inputs import StoryInputs
from pyropunct.inference.strings import SurfaceStrings, Underlying
from pyropunct.inference.walk import walk

DIRECTIONS = pytest.mark.parametrize("direction", ["left", "right"])
WALLS = pytest.mark.parametrize("ends", [(0, None), (None, None), (1, 2), (None, 1)])


def random_underlying(
    trees: list[list[int]], ends: tuple[int | None, int | None], seed: int = 0
) -> tuple[Underlying, list[tuple[int, ...]]]:
    """Random punctemes on trees, and the underlying strings by definition."""
    rng, some = random.Random(seed), inventory(*ends)
    relations = [[rng.randrange(len(PAIRS)) for _ in heads] for heads in trees]
    choices = [[rng.randrange(len(PAIRS[relation])) for relation in row] for row in relations]
    strings = []
    for heads, row, chosen in zip(trees, relations, choices, strict=True):
        pairs = [PAIRS[relation][choice] for relation, choice in zip(row, chosen, strict=True)]
        strings += underlying_strings(heads, pairs, *walls(some))
    batch = tree_batch(trees, [relation for row in relations for relation in row])
    flat = torch.tensor([choice for row in choices for choice in row])
    slots = torch.arange(batch.forest.num_slots)
    return Underlying(batch.forest, some, batch.relation, flat, slots), strings


def without_padding(rows: list[list[int]]) -> list[tuple[int, ...]]:
    return [tuple(token for token in row if token >= 0) for row in rows]


@WALLS
@pytest.mark.parametrize("words", [1, 2, 3, 4, 5])
def test_underlying_strings_of_all_trees(words: int, ends: tuple[int | None, int | None]) -> None:
    underlying, strings = random_underlying(projective_trees(words), ends, words)
    assert without_padding(underlying.tokens.tolist()) == strings


def test_some_slots_under_several_choices() -> None:
    whole, strings = random_underlying(projective_trees(3), (0, None))
    both = torch.stack([whole.choices, torch.zeros_like(whole.choices)])
    slots = torch.tensor([5, 0, 17, 27, 5, 2])
    tokens = replace(whole, choices=both, slots=slots).tokens
    assert tokens.shape[:-1] == (2, 6)
    rows, some = without_padding(tokens.flatten(0, 1).tolist()), slots.tolist()
    assert rows == [strings[slot] for slot in some] + [(0,) if slot % 4 == 0 else () for slot in some]
    for wrong in (-1, len(PAIRS[int(whole.relation[1])])):
        outside = whole.choices.index_fill(0, torch.tensor([1]), wrong)
        with pytest.raises(ValueError, match="outside of the pairs that its node may sprout"):
            _ = replace(whole, choices=outside).tokens


@DIRECTIONS
@WALLS
def test_probabilities_of_surfaces(direction: str, ends: tuple[int | None, int | None]) -> None:
    """Of possible and of impossible surfaces, with the padding anywhere."""
    channel, trees = window(direction), [*projective_trees(3), *projective_trees(4)]
    underlying, strings = random_underlying(trees, ends)
    rewritings, rng = sliding_window(edits_of(channel), direction), random.Random(2)
    surface = [
        string if rng.random() < 0.5 else tuple(rng.sample(string, rng.randint(0, len(string))))
        for string in strings
    ]
    found = SurfaceStrings(underlying, channel.transducer, channel.probabilities()).log_prob(padded(surface))
    possible = 0
    for value, string, shown in zip(found.tolist(), strings, surface, strict=True):
        chance = sum(rewritings(string, shown))
        assert math.exp(value) == pytest.approx(chance, rel=1e-12, abs=1e-300)
        possible += 0 < chance < 1
    assert possible > 20
    assert found.isneginf().any()


@DIRECTIONS
def test_draws_are_possible_and_padded(direction: str) -> None:
    channel = window(direction)
    underlying, strings = random_underlying(projective_trees(4), (0, None))
    scores = torch.zeros(int(underlying.inventory.choice_start(underlying.relation)[-1]))
    given = StoryInputs(underlying, underlying.inventory, scores, channel.transducer, channel.probabilities())
    _, drawn = walk(given, torch.Size((3,)), underlying.choices)
    assert drawn.shape == (3, len(strings), underlying.tokens.shape[-1])
    rewritings = sliding_window(edits_of(channel), direction)
    for rows in drawn.tolist():
        for row, string, shown in zip(rows, strings, without_padding(rows), strict=True):
            assert row[: len(shown)] == list(shown)
            assert rewritings(string, shown)
    assert not torch.equal(drawn[0], drawn[1])


def test_gradients_are_finite_beside_impossible_slots() -> None:
    channel = window("left")
    underlying, strings = random_underlying([[0], [2, 0]], (0, None))
    weights = channel.probabilities().requires_grad_()
    shown = [*strings]
    shown[0] = (1, 1, 1, 1)
    found = SurfaceStrings(underlying, channel.transducer, weights).log_prob(padded(shown))
    assert found.isneginf().tolist() == [True, False, False, False, False]
    (gradient,) = torch.autograd.grad(found.logsumexp(-1), weights)
    assert gradient.isfinite().all()
    assert gradient.any()


def test_weights_of_several_joint_values() -> None:
    underlying, strings = random_underlying([[2, 0, 2]], (0, None), 3)
    channels = [window("left", 1), window("left", 2)]
    weights = torch.stack([channel.probabilities() for channel in channels])
    value = padded(strings)
    found = SurfaceStrings(underlying, channels[0].transducer, weights).log_prob(value)
    assert found.shape == (2, 4)
    choices = torch.stack([underlying.choices, torch.zeros_like(underlying.choices)])[:, None]
    mixed = SurfaceStrings(replace(underlying, choices=choices), channels[0].transducer, weights)
    joint = mixed.log_prob(value)  # several underlying strings on the left, several weights beside them
    assert joint.shape == (2, 2, 4)
    for row, channel in enumerate(channels):
        one = SurfaceStrings(underlying, channel.transducer, channel.probabilities()).log_prob(value)
        torch.testing.assert_close(found[row], one, rtol=1e-13, atol=0)
        torch.testing.assert_close(joint[0, row], one, rtol=1e-13, atol=0)
