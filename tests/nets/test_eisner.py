"""Eisner's algorithm against all projective trees of a few words, one by one."""

from collections import Counter
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from pyropunct.nets.eisner import arc_marginals, best_tree, draw_trees, log_total
from pyropunct.treebank.tree import is_projective

SIZES = [1, 2, 3, 4, 5]


def projective_trees(words: int) -> Iterator[tuple[int, ...]]:
    """The heads of all projective trees with one root."""
    for heads in product(range(words + 1), repeat=words):
        if heads.count(0) == 1 and reaches_root(heads) and is_projective(heads):
            yield heads


def reaches_root(heads: tuple[int, ...]) -> bool:
    def steps_up(word: int) -> int:
        for _ in heads:
            word = heads[word - 1] if word else 0
        return word

    return not any(steps_up(word) for word in range(1, len(heads) + 1))


def random_scores(words: int, seed: int) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(scale=2, size=(words, words + 1))


def scores_of_trees(scores: NDArray[np.float64]) -> dict[tuple[int, ...], float]:
    words = range(len(scores))
    return {
        heads: sum(scores[word, heads[word]] for word in words) for heads in projective_trees(len(scores))
    }


def test_there_are_as_many_trees_as_there_should_be() -> None:
    # Projective trees with one root of n words: n-th member of A006013, binomial(3 n - 2, n - 1) / n.
    assert [len(list(projective_trees(words))) for words in SIZES] == [1, 2, 7, 30, 143]


@pytest.mark.parametrize("words", SIZES)
@pytest.mark.parametrize("seed", range(5))
def test_the_best_tree_is_the_best_of_all(words: int, seed: int) -> None:
    scores = random_scores(words, seed)
    trees = scores_of_trees(scores)
    assert tuple(best_tree(scores)) == max(trees, key=lambda heads: trees[heads])


@pytest.mark.parametrize("words", SIZES)
@pytest.mark.parametrize("seed", range(5))
def test_the_total_is_the_sum_over_all(words: int, seed: int) -> None:
    scores = random_scores(words, seed)
    assert log_total(scores) == pytest.approx(
        np.logaddexp.reduce(list(scores_of_trees(scores).values())), abs=1e-12
    )


@pytest.mark.parametrize("words", SIZES)
def test_draws_are_as_frequent_as_they_should_be(words: int) -> None:
    scores, draws = random_scores(words, 7), 20_000
    found = Counter(map(tuple, draw_trees(scores, draws, np.random.default_rng(0)).tolist()))
    trees = scores_of_trees(scores)
    assert set(found) <= set(trees)
    for heads, score in trees.items():
        probability = np.exp(score - log_total(scores))
        deviation = (probability * (1 - probability) / draws) ** 0.5
        assert found[heads] / draws == pytest.approx(probability, abs=5 * deviation + 1e-12)


def test_great_differences_between_scores_do_no_harm() -> None:
    scores = 1e4 * random_scores(40, 1)
    best = best_tree(scores)
    assert is_projective(best.tolist())
    assert (draw_trees(scores, 3, np.random.default_rng(0)) == best).all()
    assert log_total(scores) == pytest.approx(scores[np.arange(40), best].sum())


def test_a_long_sentence_gives_a_tree() -> None:
    heads = best_tree(random_scores(300, 0)).tolist()
    assert heads.count(0) == 1
    assert is_projective(heads)


@pytest.mark.parametrize("words", SIZES)
def test_marginals_are_sums_over_the_trees_of_each_arc(words: int) -> None:
    scores = random_scores(words, 3)
    wanted = np.zeros_like(scores)
    for heads, score in scores_of_trees(scores).items():
        wanted[np.arange(words), heads] += np.exp(score - log_total(scores))
    np.testing.assert_allclose(arc_marginals(scores), wanted, atol=1e-12)
