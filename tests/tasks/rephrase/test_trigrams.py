"""The trigram language model of Table 6."""

import numpy as np
import pytest

from pyropunct.tasks.rephrase.permuting import EDGE, TrigramModel, perplexity, trigrams, with_punctuation


def test_probabilities_sum_to_one() -> None:
    vocabulary = ["a", "b", "c", ","]
    model = TrigramModel([["a", ",", "b"], ["a", "b", "a"], ["b"]], vocabulary, smoothing=0.1)
    for first in ([], ["a"], ["c"], ["a", ","], ["b", "a"], ["c", "c"]):
        # the probability of each next word, and of the end
        nexts = [float(np.exp(model.log_probabilities([*first, word])[len(first)])) for word in vocabulary]
        end = float(np.exp(model.log_probabilities(first)[len(first)]))
        assert sum(nexts) + end == pytest.approx(1)


def test_a_hand_worked_example() -> None:
    """Counts of "he runs" twice and "he stops" once; V is 4: three words and the end."""
    model = TrigramModel([["he", "runs"], ["he", "runs"], ["he", "stops"]], ["he", "runs", "stops"])
    expected = [(3 + 0.001) / (3 + 0.004), (2 + 0.001) / (3 + 0.004), (2 + 0.001) / (2 + 0.004)]
    assert np.exp(model.log_probabilities(["he", "runs"])).tolist() == pytest.approx(expected)
    unseen = np.exp(model.log_probabilities(["stops", "he"]))
    assert unseen.tolist() == pytest.approx([0.001 / 3.004, 0.25, 0.25])


def test_trigrams_of_a_sentence() -> None:
    assert trigrams(["a", "b"]) == [(EDGE, EDGE, "a"), (EDGE, "a", "b"), ("a", "b", EDGE)]
    assert trigrams([]) == [(EDGE, EDGE, EDGE)]


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        ([False, False], [False, False, False]),
        ([True, False, False, False], [True, True, True, False, False]),
        # If true , the caper failed .
        (
            [False, False, True, False, False, False, True],
            [False, False, True, True, True, False, True, True],
        ),
    ],
)
def test_trigrams_with_punctuation(marks: list[bool], expected: list[bool]) -> None:
    assert with_punctuation(marks).tolist() == expected
    tokens = ["," if mark else "x" for mark in marks]
    assert expected == ["," in trigram for trigram in trigrams(tokens)]


def test_perplexity() -> None:
    """Two trigrams of probability 1/2 and 1/8: the geometric mean is 1/4."""
    assert perplexity(np.log([1 / 2, 1 / 8])) == pytest.approx(4)


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="smoothing is 0"):
        TrigramModel([], [], 0)
    with pytest.raises(ValueError, match="word b is not in the vocabulary"):
        TrigramModel([["b"]], ["a"])
    with pytest.raises(ValueError, match="word b is not in the vocabulary"):
        TrigramModel([["a"]], ["a"]).log_probabilities(["a", "b"])


def test_the_example_of_the_paper() -> None:
    """Trained on "the caper failed . If true ,", asked about "If true , the caper failed ." (section 6.3)."""
    surface = ["the", "caper", "failed", ".", "If", "true", ","]
    original = ["If", "true", ",", "the", "caper", "failed", "."]
    found = TrigramModel([surface], original).log_probabilities(original)
    seen, unseen, unknown = 1.001 / 1.008, 0.001 / 1.008, 1 / 8  # V is 8; an unknown context tells nothing
    expected = [unseen, unknown, seen, unseen, unknown, seen, seen, unseen]
    assert np.exp(found).tolist() == pytest.approx(expected)
    assert perplexity(found) == pytest.approx(np.prod(expected) ** (-1 / 8))
    punctuation = with_punctuation([token in ",." for token in original])
    some = [seen, unseen, unknown, seen, unseen]
    assert perplexity(found[punctuation]) == pytest.approx(np.prod(some) ** (-1 / 5))
