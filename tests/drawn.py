"""Draws made by hand, for the tests of what is done with draws."""

from collections.abc import Sequence

import numpy as np

from pyropunct.draws import Draws
from pyropunct.text.marks import Surface


def draws_of(surfaces: Sequence[Surface], weights: Sequence[float] | None = None) -> Draws:
    """Draws of one sentence, one for each surface, of equal weights if none are given."""
    strings: dict[tuple[str, ...], int] = {}
    numbers = [[strings.setdefault(tuple(slot), len(strings)) for slot in surface] for surface in surfaces]
    shares = np.ones(len(surfaces)) if weights is None else np.array(weights, float)
    return Draws(tuple(strings), np.array(numbers, np.int32), shares / shares.sum())


def surfaces_of(draws: Draws) -> list[list[tuple[str, ...]]]:
    """The surface of each draw."""
    return [draws.surface(draw) for draw in range(len(draws))]


def random_draws(seed: int, words: int = 4, number: int = 30, kinds: int = 8) -> Draws:
    """Draws of random strings of up to three tokens, several of them equal, with random weights."""
    random = np.random.default_rng(seed)
    strings = [tuple(random.choice(list(".,”)"), random.integers(4))) for _ in range(kinds)]
    different = [[strings[one] for one in random.integers(kinds, size=words + 1)] for _ in range(number // 2)]
    surfaces = [different[one] for one in random.integers(len(different), size=number)]
    return draws_of(surfaces, random.random(number))
