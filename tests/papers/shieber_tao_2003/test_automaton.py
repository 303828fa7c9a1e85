"""The automaton of Figure 1: its paths, and the best of them against all others."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from pyropunct.papers.shieber_tao_2003.models import (
    COLUMNS,
    COMMA_SYMBOL,
    START,
    UNKNOWN,
    Alphabet,
    best_path,
    steps,
    steps_of_path,
)
from pyropunct.papers.shieber_tao_2003.sentences import CommaSentence

WORDS = ("a", "b", "c", "d")
A, B, C, D = range(UNKNOWN + 1, UNKNOWN + 5)


def sentence(commas: list[int]) -> CommaSentence:
    there = np.isin(np.arange(5), commas)
    return CommaSentence(WORDS, WORDS, there, np.arange(5), 10 * np.arange(5))


def alphabet() -> Alphabet:
    return Alphabet(Counter(WORDS))


@pytest.mark.parametrize("commas", [list(np.flatnonzero(c) + 1) for c in product([0, 1], repeat=4)])
def test_a_path_traverses_the_trigrams_of_the_restored_string(commas: list[int]) -> None:
    found = sentence(commas)
    path = steps(found, alphabet(), alphabet())[steps_of_path(found.commas)]
    restored = [START, START]
    positions = []
    for number, word in enumerate((A, B, C, D)):
        restored.append(word)
        positions.append(number)  # a word stands behind the word before it
        if number + 1 in commas:
            restored.append(COMMA_SYMBOL)
            positions.append(number + 1)
    trigrams = [restored[end - 2 : end + 1] for end in range(2, len(restored))]
    assert path[:, :3].tolist() == path[:, 3:6].tolist() == trigrams
    assert path[:, COLUMNS.index("sc")].tolist() == positions
    assert path[:, COLUMNS.index("ec")].tolist() == [10 * position for position in positions]
    assert path[:, -2:].tolist() == [[position > 0, position > 0] for position in positions]


@pytest.mark.parametrize("seed", range(20))
def test_the_best_path_is_the_best_of_all(seed: int) -> None:
    generator = np.random.default_rng(seed)
    words = int(generator.integers(1, 7))
    scores = generator.normal(size=5 * words)
    every = [np.array([False, *commas]) for commas in product([False, True], repeat=words)]
    best = max(every, key=lambda commas: scores[steps_of_path(commas)].sum())
    assert best_path(scores).tolist() == best.tolist()


def test_rare_symbols_are_unknown() -> None:
    found = Alphabet(Counter("aab"), least=2)
    assert found.numbers(["a", "b", "z"]).tolist() == [UNKNOWN + 1, UNKNOWN, UNKNOWN]
    assert len(found) == UNKNOWN + 2
