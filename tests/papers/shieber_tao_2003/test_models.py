"""Models restore commas as the formulas of the paper say; scores by hand."""

import numpy as np
import pytest

from pyropunct.papers.shieber_tao_2003.models import (
    COLUMNS,
    COMMA_SYMBOL,
    MODELS,
    CommaSystem,
    TrainedModel,
    sizes,
)
from pyropunct.papers.shieber_tao_2003.sentences import CommaScores, CommaSentence
from pyropunct.papers.shieber_tao_2003.smoothing import SMOOTHINGS, WittenBell

SYMBOLS, TAGS = 6, 5
SYMBOL, ENDS, TWO_ENDS, THREE_ENDS = map(COLUMNS.index, ("y", "ec", "ec>=2", "ec>=3"))

SIZES = sizes(SYMBOLS, TAGS)


def drawn(number: int, seed: int) -> np.ndarray:
    generator = np.random.default_rng(seed)
    symbols = generator.integers(1, SYMBOLS, (number, 3))
    tags = generator.integers(1, TAGS, (number, 3))
    starts, ends = generator.integers(1, 5, (2, number))
    return np.column_stack([symbols, tags, starts, ends, ends >= 2, ends >= 3])


TRUE, ASKED = drawn(300, 0), drawn(40, 1)


def scores(name: str) -> np.ndarray:
    return TrainedModel(MODELS[name], WittenBell, TRUE, SIZES).scores(ASKED)


def test_the_omission_penalty_is_on_words_alone() -> None:
    comma = ASKED[:, SYMBOL] == COMMA_SYMBOL
    assert 0 < comma.sum() < len(comma)
    with_comma = ASKED.copy()
    with_comma[:, SYMBOL] = COMMA_SYMBOL
    inserted = TrainedModel(MODELS["1"], WittenBell, TRUE, SIZES).scores(with_comma)
    expected = np.where(comma, 0, np.log(1 - np.exp(inserted)))
    np.testing.assert_allclose(scores("2") - scores("1"), expected)


def test_models_are_products() -> None:
    tags = scores("10") - scores("8")
    np.testing.assert_allclose(scores("10c") - scores("8c"), tags)
    np.testing.assert_allclose(scores("1t") - scores("1"), tags)
    np.testing.assert_allclose(scores("3t") - scores("3"), tags)
    assert (tags < 0).all()
    starts = scores("11s") - scores("10")
    assert not np.allclose(starts, 0)
    other_divisor = scores("8c") - scores("8")
    np.testing.assert_allclose(scores("11c") - scores("10c"), starts + other_divisor)


def test_ends_that_training_lacks_leave_the_symbol_before() -> None:
    """Model 8c, which divides by p(y | y'), is then model 1."""
    new = ASKED.copy()
    new[:, ENDS] = 9
    one, other = (TrainedModel(MODELS[name], WittenBell, TRUE, SIZES).scores(new) for name in ("1", "8c"))
    np.testing.assert_allclose(one, other)


def test_the_thresholds_differ_in_what_they_see() -> None:
    same = ASKED[:, THREE_ENDS] == ASKED[:, TWO_ENDS]
    assert not np.allclose(scores("3")[~same], scores("4")[~same])


def told_by_constituents(words: int, seed: int) -> list[CommaSentence]:
    """Sentences with commas, but for the end, wherever three or more constituents end."""
    generator = np.random.default_rng(seed)
    found = []
    for _ in range(60):
        ends = np.array([0, *generator.integers(1, 5, words - 1), 1])
        commas = ends >= 3
        names = tuple(generator.choice(list("abc"), words))
        found.append(CommaSentence(names, ("NN",) * words, commas, np.ones(words + 1, np.int64), ends))
    return found


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_what_constituents_tell_is_restored(smoothing: str) -> None:
    train, dev = told_by_constituents(9, 0), told_by_constituents(9, 1)
    gold = [sentence.commas for sentence in dev]
    found = {name: CommaScores.of(CommaSystem(train, name, smoothing).restore(dev), gold) for name in MODELS}
    assert found["3"].marks.f1 == found["3"].sentence_accuracy == 1
    assert found["8c"].marks.f1 == 1
    assert found["1"].sentence_accuracy < 0.5


def test_words_and_tags_that_training_lacks() -> None:
    system = CommaSystem(told_by_constituents(5, 0), "10")
    new = CommaSentence(("new",), ("XX",), np.array([True, False]), np.array([99, 0]), np.array([0, 99]))
    assert [commas.tolist() for commas in system.restore([new])] == [[False, False]]
    assert list(system.restore([])) == []


def test_without_sentences_nothing_is_trained() -> None:
    with pytest.raises(ValueError, match="no sentences to train on"):
        CommaSystem([])


def flags(text: str) -> np.ndarray:
    return np.array([character == "," for character in text])


def test_scores_by_hand() -> None:
    gold = [flags("-,-,-"), flags("---"), flags(",-,")]
    restored = [flags("-,---"), flags("-,-"), flags("--,")]
    found = CommaScores.of(restored, gold)
    assert found.marks.precision == 2 / 3
    assert found.marks.recall == 2 / 4
    assert found.marks.f1 == 2 * 2 / (3 + 4)
    assert found.token_accuracy == 6 / 8
    assert found.sentence_accuracy == 0  # the comma before the first word is missed too
    right = CommaScores.of(gold[:1] + restored[1:], gold)
    assert right.sentence_accuracy == 1 / 3
    assert right.error_reduction(found) == (1 / 3) / 0.86


def test_scores_of_nothing() -> None:
    nothing = CommaScores.of([], [])
    marks = nothing.marks
    assert marks.precision is marks.recall is marks.f1 is nothing.token_accuracy is None
    assert nothing.sentence_accuracy is nothing.error_reduction(nothing) is None
    perfect = CommaScores.of([flags("--")], [flags("--")])
    assert perfect.error_reduction(perfect) is None  # there is nothing that could be reduced
