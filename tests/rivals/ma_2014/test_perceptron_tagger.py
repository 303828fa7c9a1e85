"""The tagger with a perceptron, and its jackknife."""

from collections.abc import Sequence
from typing import Any

import pytest

from pyropunct.rivals.ma_2014 import tagger
from pyropunct.rivals.ma_2014.tagger import (
    PerceptronTagger,
    train_perceptron_tagger,
    with_jackknifed_tags,
    with_tags,
)
from pyropunct.rivals.ma_2014.treatments import MarkedSentence


def sentence(text: str) -> MarkedSentence:
    forms, tags = zip(*(token.split("/") for token in text.split()), strict=True)
    return MarkedSentence(
        forms, tags, (False,) * len(forms), (0, *[1] * (len(forms) - 1)), ("d",) * len(forms)
    )


SENTENCES = [
    sentence(text)
    for text in (
        "the/DT walk/NN ends/VBZ",
        "they/PRP walk/VBP home/NN",
        "the/DT dogs/NNS walked/VBD",
        "Clara/NNP walked/VBD in/IN 1999/CD",
        "they/PRP hated/VBD the/DT ends/NNS",
    )
]


def test_a_tagger_learns_words_from_their_neighbours() -> None:
    found = with_tags(SENTENCES, train_perceptron_tagger(SENTENCES))
    assert found == SENTENCES
    assert train_perceptron_tagger(SENTENCES).tag(["they", "jumped", "in", "2001"]) == (
        "PRP",
        "VBD",
        "IN",
        "CD",
    )


def test_seeds_order_the_sentences() -> None:
    one, same, other = (train_perceptron_tagger(SENTENCES, iterations=1, seed=seed) for seed in (0, 0, 1))
    assert one.rows.values.tolist() == same.rows.values.tolist() != other.rows.values.tolist()


@pytest.mark.parametrize("folds", [2, 3, 5])
def test_no_sentence_is_tagged_by_what_was_learned_from_it(
    folds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned: list[Sequence[MarkedSentence]] = []
    train = train_perceptron_tagger

    def watched(sentences: Sequence[MarkedSentence], **options: Any) -> PerceptronTagger:
        learned.append(sentences)
        return train(sentences, **options)

    monkeypatch.setattr(tagger, "train_perceptron_tagger", watched)
    done: list[int] = []
    found = with_jackknifed_tags(SENTENCES, folds=folds, advance=done.append)
    assert [one.forms for one in found] == [one.forms for one in SENTENCES]
    assert len(done) == len(learned) == folds
    for fold, others in enumerate(learned):
        part = SENTENCES[fold::folds]
        assert [one for one in SENTENCES if one not in part] == sorted(others, key=SENTENCES.index)
        tagged = with_tags(part, train(others, seed=0))
        assert tagged == found[fold::folds]


def test_there_must_be_tags_and_others_to_learn_from() -> None:
    with pytest.raises(ValueError, match="there are 0 tags"):
        train_perceptron_tagger([])
    with pytest.raises(ValueError, match="1 sentences in 10 folds"):
        with_jackknifed_tags(SENTENCES[:1])
