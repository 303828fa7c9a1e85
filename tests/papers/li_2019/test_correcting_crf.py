"""The rival that reads the punctuation of its input."""

from dataclasses import replace

import pytest
import torch

from pyropunct.embedded import embedded_treebank_path
from pyropunct.fitted.evaluation import average_edit_distance
from pyropunct.papers.li_2019.recurrent import KINDS, RivalRecipe, RivalVocabulary
from pyropunct.papers.li_2019.rival import (
    MARKS_READ,
    CorrectingCRF,
    PunctuatedVocabulary,
    PunctuatedWords,
    train_correcting_crf,
)
from pyropunct.tasks.correct.simulation import wrong_surfaces
from pyropunct.text.marks import ABBREVIATION_DOT, START, Surface
from pyropunct.treebank.reading import read_treebank
from pyropunct.treebank.sentence import Sentence

SMALL = RivalRecipe(
    word_size=16, hidden_size=16, epochs=4, least_steps=0, learning_rate=0.02, batch_size=8, dropout=0.0
)

Pairs = list[tuple[Sentence, Surface]]


def pairs(split: str, size: int, seed: int) -> Pairs:
    sentences = list(read_treebank(embedded_treebank_path(split)))[:size]
    return [
        (one, wrong.surface)
        for one, wrong in zip(sentences, wrong_surfaces(sentences, seed=seed), strict=True)
    ]


@pytest.fixture(scope="module")
def train() -> Pairs:
    return pairs("train", 80, 0)


@pytest.fixture(scope="module")
def dev() -> Pairs:
    return pairs("dev", 30, 1)


def untrained(train: Pairs) -> CorrectingCRF:
    torch.manual_seed(0)
    rival = CorrectingCRF.untrained(PunctuatedVocabulary.collect([right for right, _ in train]), SMALL)
    rival.network.eval()
    return rival


def test_what_it_reads(train: Pairs) -> None:
    """Beside its attributes, of each word the string behind it as a whole and mark by mark."""
    rival = untrained(train)
    labels, known = rival.vocabulary.slots.labels, len(KINDS)
    surface = [(START, "“"), (",",), (), ("★", ".", ".", ".", ".")]
    read = rival.vocabulary.encode_words(PunctuatedWords(("a", "b", "c"), surface))
    mark = {name: number + 1 for name, number in labels.mark_number.items()}
    empty = labels.strings.index(()) + 1
    rows = [
        [labels.encode([("“",)])[0] + 1, mark["“"], 0, 0],
        [labels.encode([(",",)])[0] + 1, mark[","], 0, 0],
        [empty, 0, 0, 0],
        [labels.unknown + 1, mark["\tUNK"], mark["."], mark["."]],
        [0] * (1 + MARKS_READ),
    ]
    assert read[:, known:].tolist() == rows
    plain = RivalVocabulary.collect([right for right, _ in train]).encode_words(("a", "b", "c"))
    assert torch.equal(read[:, :known], plain)


def test_the_punctuation_matters_and_padding_does_not(train: Pairs) -> None:
    rival = untrained(train)
    silent, comma = (PunctuatedWords(("a", "b"), [(START,), slot, (".",)]) for slot in [(), (",",)])
    longer = PunctuatedWords(("a", "b", "c"), [(START,), (), (), ()])
    alone = rival.network(rival.encode([silent])).scores[0]
    beside = rival.network(rival.encode([silent, longer])).scores[0, :3]
    torch.testing.assert_close(alone, beside)
    assert not torch.allclose(alone, rival.network(rival.encode([comma])).scores[0])


def test_every_weight_is_trained(train: Pairs) -> None:
    rival = untrained(train)
    sentence, wrong = train[0]
    encoded = rival.encode([PunctuatedWords(sentence.tree.forms, wrong)])
    labels = rival.vocabulary.slots.encode([sentence.surface])
    rival.network(encoded).log_prob(labels).sum().backward()
    assert all(weight.grad is not None and weight.grad.any() for weight in rival.network.parameters())


def test_it_learns_to_correct(train: Pairs, dev: Pairs) -> None:
    """Far better than a rival that does not see the input could be on so little text."""
    rival = train_correcting_crf(train, dev, SMALL)
    wrong = [surface for _, surface in dev]
    found = rival.correct([one.tree.forms for one, _ in dev], wrong)
    right = [one.surface for one, _ in dev]
    blind = rival.correct(
        [one.tree.forms for one, _ in dev], [[(START,), *[()] * len(one.tree)] for one, _ in dev]
    )
    assert average_edit_distance(found, right) < 0.6 * average_edit_distance(blind, right)


def test_equal_seeds_give_equal_rivals(train: Pairs, dev: Pairs) -> None:
    recipe = replace(SMALL, epochs=1)
    one, again = (train_correcting_crf(train[:10], dev[:3], recipe, seed=2) for _ in range(2))
    pairs = zip(one.network.parameters(), again.network.parameters(), strict=True)
    assert all(torch.equal(*both) for both in pairs)


def test_what_has_no_label_stays(train: Pairs) -> None:
    rival = untrained(train)
    wrong = [(START,), ("★",), (ABBREVIATION_DOT, ";", ";"), ()]
    (found,) = rival.correct([("a", "b", "c")], [wrong])
    assert found[1:3] == wrong[1:3]


def test_words_and_slots_must_fit() -> None:
    with pytest.raises(ValueError, match="2 words have 3 slots, not 2"):
        PunctuatedWords(("a", "b"), [(), ()])
    words = PunctuatedWords(("a",), [(START,), (".",)])
    assert (words, words.surface) == (("a",), [(START,), (".",)])


def test_trees_keep_punctuated_words(train: Pairs) -> None:
    sentence, wrong = train[0]
    tree = replace(sentence.tree, forms=PunctuatedWords(sentence.tree.forms, wrong))
    assert tree == sentence.tree
    assert isinstance(tree.forms, PunctuatedWords)
