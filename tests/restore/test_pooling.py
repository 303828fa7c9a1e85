"""What networks read and what a story draws, pooled slot by slot."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pyropunct.draws import Draws
from pyropunct.nets.labels import Labels, Probabilities, SlotVocabulary
from pyropunct.restore.pooling import (
    BREAKS_OFF,
    FAINT,
    FEW_WORDS,
    LEAST,
    TRUSTED,
    UNSEEN,
    Voice,
    Voices,
    _read_lines,
    pooled,
)
from pyropunct.restore.rewriting import rewritten, with_marks_only
from pyropunct.text.marks import ABBREVIATION_DOT, START, UNKNOWN

LABELS = Labels((ABBREVIATION_DOT, UNKNOWN, ",", "."), ((), (",",), (".",), (".", ",")))
VOCABULARY = SlotVocabulary(LABELS, ())
STRINGS = ((START,), (), (",",), (".",))
DRAWS = Draws(STRINGS, np.array([[0, 1, 3], [0, 2, 3], [0, 1, 1], [0, 1, 3]], np.int32), np.full(4, 0.25))
READ = np.array([[0.97, 0.01, 0.01, 0.005, 0.005], [0.5, 0.4, 0.04, 0.05, 0.01], [0.1, 0.1, 0.7, 0.05, 0.05]])


def spoken(probabilities: Probabilities) -> Voice:
    return Voice(VOCABULARY, probabilities, np.ones(len(probabilities)))


def share(draws: Draws, slot: int, string: tuple[str, ...]) -> float:
    assert draws.shares is not None
    return float(draws.shares[slot, draws.strings.index(string)])


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
def test_the_pool_is_the_weighted_geometric_mean(weight: float) -> None:
    found = pooled(DRAWS, [spoken(READ)], weight)
    drawn = {(): 0.75, (",",): 0.25, (".",): 0.0, (".", ","): 0.0}
    read = dict(zip(drawn, READ[1], strict=False))
    assert min(read.values()) > FAINT
    pool = {s: read[s] ** weight * (drawn[s] + UNSEEN / 4) ** (1 - weight) for s in drawn}
    for string, value in pool.items():
        assert share(found, 1, string) == pytest.approx(value / sum(pool.values()))
    assert found.shares is not None
    np.testing.assert_allclose(found.shares.sum(1), 1)
    assert share(found, 1, (START,)) == 0
    assert share(found, 0, (START,)) == 1


def test_voices_are_averaged_in_logarithms_by_their_weights() -> None:
    other, weights = np.full((3, 5), 0.2), np.array([0.0, 0.3, 0.3])
    voices = Voice(VOCABULARY, READ, 1 - weights), Voice(VOCABULARY, other, weights)
    both = pooled(DRAWS, voices, 1.0)
    mean = READ[1, :4] ** 0.7 * 0.2**0.3
    expected = mean / mean.sum()
    assert [share(both, 1, string) for string in LABELS.strings] == pytest.approx(expected.tolist())
    assert share(both, 0, (START,)) == share(pooled(DRAWS, [spoken(READ)], 1.0), 0, (START,))
    odds = Voices(voices, 1.0).log_odds((",", ".", START))
    of_comma = np.log((READ[1, 1] + READ[1, 3]) / READ[1, 0])
    assert float(odds[1, 0]) == pytest.approx(of_comma, rel=1e-5)


@pytest.mark.parametrize(("weight", "is_trusted"), [(TRUSTED, True), (TRUSTED - 0.01, False)])
def test_a_reader_is_trusted_from_half_of_the_weight_on(weight: float, is_trusted: bool) -> None:
    """Its weight between words decides. The tagger alone is not a reader."""
    weights = np.array([1.0, weight, 1.0])
    tagger, reader = Voice(VOCABULARY, READ, 1 - weights), Voice(VOCABULARY, READ, weights)
    assert pooled(DRAWS, [tagger, reader], 0.5).is_read == is_trusted
    assert not pooled(DRAWS, [spoken(READ)], 0.5).is_read


@pytest.mark.parametrize(
    ("words", "share", "end", "breaks_off"),
    [
        (FEW_WORDS + 1, TRUSTED, 0.0, True),
        (FEW_WORDS, TRUSTED, 0.0, False),
        (FEW_WORDS + 1, TRUSTED - 0.01, 0.0, False),
        (FEW_WORDS + 1, TRUSTED, BREAKS_OFF, False),
    ],
)
def test_lines_that_break_off(words: int, share: float, end: float, breaks_off: bool) -> None:
    """Lines of more than two words whose end a trusted reader finds improbable."""
    reader = SimpleNamespace(
        read_all=lambda lines: [SimpleNamespace(marks=None, ends=[end]) for _ in lines],
        mark_probabilities=lambda marks, ends: READ,
    )
    model: Any = SimpleNamespace(reader=reader, reader_share=share)
    assert [found for _, found in _read_lines(model, [["word"] * words])] == [breaks_off]


def test_what_is_neither_drawn_nor_read_is_impossible() -> None:
    found = pooled(DRAWS, [spoken(np.where(READ < FAINT, LEAST, READ))], 0.5)
    assert share(found, 0, (START,)) == 1
    assert (START, ".", ",") not in found.strings


def test_a_rewriting_moves_the_shares() -> None:
    found = pooled(DRAWS, [spoken(READ)], 0.5)
    only = with_marks_only(found, ",")
    assert share(only, 1, (",",)) == pytest.approx(share(found, 1, (",",)) + share(found, 1, (".", ",")))
    assert share(only, 1, ()) == pytest.approx(share(found, 1, ()) + share(found, 1, (".",)))
    none = rewritten(found, lambda _: (), [1])
    assert share(none, 1, ()) == pytest.approx(1)
    assert share(none, 2, (".",)) == share(found, 2, (".",))


def test_the_spread_says_how_far_the_pool_of_other_draws_is() -> None:
    """Means over the pool of many draws from one slot vary as the delta method has it."""
    random, shares, scores = np.random.default_rng(0), np.array([0.6, 0.25, 0.15]), np.array([0.0, 1.0, 3.0])
    voice = spoken(np.array([[0.2] * 5, [0.3, 0.5, 0.15, 0.03, 0.02]]))
    means, variances = [], []
    for _ in range(2000):
        drawn = np.column_stack([np.zeros(400, np.int32), 1 + random.choice(3, 400, p=shares)])
        found = pooled(Draws(STRINGS, drawn.astype(np.int32), np.full(400, 1 / 400)), [voice], 0.4)
        assert found.shares is not None
        assert found.spread is not None
        means.append(mean := found.shares[1, 1:4] @ scores / found.shares[1, 1:4].sum())
        variances.append(found.spread[1, 1:4] @ (scores - mean) ** 2 / 400)
    assert np.mean(variances) == pytest.approx(np.var(means), rel=0.1)
