from collections import Counter
from fractions import Fraction

import pyro
import pytest
from brute_force import chi_square_is_plausible
from problems import tree_batch
from pyro import poutine

from pyropunct.models.syntax import HeadOutward
from pyropunct.models.trees import TreeBatch
from pyropunct.models.written_words import SHAPES, Words

RELATIONS, TAGS, FORMS = 3, 2, 3
WORDS = FORMS * SHAPES

SEEN = [(0, 0, 1, 2), (0, 0, 1, 2), (0, 0, 2, 1), (1, 0, 2, 1), (1, 1, 1, 1)]
"""The relation, tag, form and shape of all words of a treebank."""


def words_of(rows: list[tuple[int, int, int, int]]) -> TreeBatch:
    """Trees of a word each."""
    relation, tag, form, shape = (list(column) for column in zip(*rows, strict=True))
    return tree_batch([[0]] * len(rows), relation, tag=tag, form=form, shape=shape)


def fitted() -> Words:
    words = Words(RELATIONS, TAGS, FORMS)
    words.fit_counts([words_of(SEEN[:2]), words_of(SEEN[2:])])
    return words


def probability(relation: int, tag: int, word: int) -> Fraction:
    """The same by fractions, from the definition."""
    seen = [(r, t, form * SHAPES + shape) for r, t, form, shape in SEEN]
    found = Fraction(1, WORDS)
    for context in (
        [w for _, _, w in seen],
        [w for _, t, w in seen if t == tag],
        [w for r, t, w in seen if (r, t) == (relation, tag)],
    ):
        if context:
            types = len(set(context))
            found = (context.count(word) + types * found) / (len(context) + types)
    return found


CONTEXTS = [(relation, tag) for relation in range(RELATIONS) for tag in range(TAGS)]


@pytest.mark.parametrize(("relation", "tag"), CONTEXTS)
def test_probabilities(relation: int, tag: int) -> None:
    rows = [(relation, tag, word // SHAPES, word % SHAPES) for word in range(WORDS)]
    trace = poutine.trace(fitted()).get_trace(words_of(rows), are_written=True)
    trace.compute_log_prob()
    found = trace.nodes["word"]["log_prob"].exp()
    expected = [probability(relation, tag, word) for word in range(WORDS)]
    assert found.tolist() == pytest.approx([float(p) for p in expected], rel=1e-14)
    assert sum(expected) == 1


@pytest.mark.parametrize(("relation", "tag"), [(0, 0), (2, 1)])
def test_frequencies_of_draws(relation: int, tag: int) -> None:
    pyro.set_rng_seed(0)
    draws = 20_000
    drawn = fitted()(words_of([(relation, tag, 0, 0)] * draws), are_written=False)
    counts = Counter((drawn.form * SHAPES + drawn.shape).tolist())
    chances = [float(probability(relation, tag, word)) for word in range(WORDS)]
    assert chi_square_is_plausible([counts[word] for word in range(WORDS)], chances, draws)


def test_drawn_trees_have_words_that_are_scored_like_given_ones() -> None:
    syntax = HeadOutward(RELATIONS, TAGS, Words(RELATIONS, TAGS, FORMS))
    syntax.fit_counts([words_of(SEEN)])
    pyro.set_rng_seed(1)
    trace = poutine.trace(syntax).get_trace(num_trees=30)
    drawn = trace.nodes["_RETURN"]["value"]
    assert {1, 2} <= set(drawn.form.tolist())
    again = poutine.trace(syntax).get_trace(drawn)
    assert float(again.log_prob_sum()) == pytest.approx(float(trace.log_prob_sum()), rel=1e-12)


def test_nothing_is_written_where_nothing_was_seen() -> None:
    syntax = HeadOutward(RELATIONS, TAGS, Words(RELATIONS, TAGS, FORMS))
    pyro.set_rng_seed(0)
    trace = poutine.trace(syntax).get_trace(num_trees=5)
    drawn = trace.nodes["_RETURN"]["value"]
    assert "word" not in trace
    assert not drawn.form.any()
    assert not drawn.shape.any()
