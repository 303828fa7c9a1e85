"""The reader of running text: what it learns, what it gives, what it keeps, what it refuses."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pyropunct.embedded import embedded_treebank_path
from pyropunct.nets.reader import CORE, RunningReader, count_ends, count_labels, reader_scores, windows_of
from pyropunct.nets.reader_training import ReaderTraining, train_reader
from pyropunct.nets.running_text import (
    CAPITAL,
    LOWER,
    OTHER,
    UPPER,
    Document,
    ReaderRecipe,
    case_of,
    documents,
    in_case,
)
from pyropunct.treebank.reading import read_text, read_treebank
from pyropunct.treebank.sentence import Sentence

SMALL = ReaderRecipe(
    epochs=20,
    least_steps=0,
    batch_words=120,
    learning_rate=0.03,
    averaging=0.9,
    form_size=24,
    character_size=6,
    spelling_size=16,
    lstm_size=20,
    dropout=0.1,
    word_dropout=0.1,
    layers=1,
    window=40,
)


def sentences(split: Any, number: int) -> list[Sentence]:
    return list(read_treebank(embedded_treebank_path(split)))[:number]


def smaller(**changes: Any) -> ReaderRecipe:
    return replace(SMALL, **changes)


@pytest.fixture(scope="module")
def train() -> list[Sentence]:
    return sentences("train", 300)


@pytest.fixture(scope="module")
def dev() -> list[Sentence]:
    return sentences("dev", 60)


@pytest.fixture(scope="module")
def reader(train: list[Sentence], dev: list[Sentence]) -> RunningReader:
    torch.set_num_threads(1)
    return train_reader(train, dev, SMALL)


def running(some: Sequence[Sentence]) -> list[str]:
    return [word for sentence in some for word in sentence.tree.forms]


def test_sentence_ends_and_cases_of_new_text(reader: RunningReader, dev: list[Sentence]) -> None:
    scores = reader_scores(reader, documents(dev))
    assert scores.words == len(running(dev))
    assert scores.f1 > 45
    assert scores.lower_f1 > 30
    assert scores.case > 85
    assert scores.lower_marks > 20
    best = max(reader.report["epochs"], key=lambda epoch: sum(list(epoch["scores"].values())[1:]))
    assert scores._asdict() == best["scores"]
    assert len(reader.sentences(running(dev))) == pytest.approx(len(dev), rel=0.8)


def test_words_come_out_as_they_went_in(reader: RunningReader) -> None:
    odd = ["x", "Ωμέγα", "犬", "\N{PILE OF POO}", "a" * 5000, "two words", "", "ǆ", "ß", "3rd", "İ"]
    for words in ([], odd[:1], odd, odd * 100):
        assert [word for sentence in reader.sentences(words) for word in sentence] == words
        assert all(reader.sentences(words))


def test_what_is_said_of_a_word_does_not_depend_on_other_windows(
    reader: RunningReader, train: list[Sentence]
) -> None:
    """Nor on how many of them are read together."""
    words = running(train)[: 4 * CORE + 9]
    whole = reader.read(words)
    assert len(whole.ends) == len(whole.cases) == len(words)
    for number, window in enumerate(windows_of(words, 0, len(words))):
        core = slice(number * CORE, (number + 1) * CORE)
        part = reader.read_windows([window])
        torch.testing.assert_close(part.ends, whole.ends[core], atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(part.cases, whole.cases[core], atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(part.marks, whole.marks[core], atol=1e-4, rtol=1e-4)
    some = [words[:3], [], words[3 : CORE + 5]]
    for text, found in zip(some, reader.read_all(some), strict=True):
        torch.testing.assert_close(found.ends, reader.read(text).ends, atol=1e-5, rtol=1e-4)


def test_documents_start_where_comments_say() -> None:
    word = "{number}\t{form}\t{form}\tX\t_\t_\t{head}\t{relation}\t_\t_\n"
    one = word.format(number=1, form="A", head=0, relation="root")
    two = one + word.format(number=2, form="b", head=1, relation="dep")
    two += "".join(
        f"{number}\t{mark}\t_\tPUNCT\t_\t_\t1\tpunct\t_\t_\n" for number, mark in ((3, "."), (4, "”"))
    )
    text = f"# newdoc id = x\n{one}\n{two}\n# newdoc\n{two}\n# newpar\n{one}\n"
    found = documents(read_text(text))
    assert found == [
        Document(("A", "A", "b"), (True, False, True), ((), (), (".", "”"))),
        Document(("A", "b", "A"), (False, True, True), ((), (".", "”"), ())),
    ]
    assert found[1].starts == (True, False, True)
    assert len(documents(read_text(text.replace("# newdoc", "# nodoc")))) == 1


@pytest.mark.parametrize(
    ("word", "case"),
    [
        ("the", LOWER),
        ("3rd", LOWER),
        ("Paris", CAPITAL),
        ("I", CAPITAL),
        ("3D", CAPITAL),
        ("USA", UPPER),
        ("U.S", UPPER),
        ("iPhone", OTHER),
        ("McDonald", OTHER),
        ("1999", None),
        ("猫", None),
        ("", None),
    ],
)
def test_cases(word: str, case: int | None) -> None:
    assert case_of(word) == case
    if case not in (None, OTHER):
        assert in_case(word.lower(), case or 0) == word


@given(st.text(max_size=9), st.sampled_from([LOWER, CAPITAL, UPPER, OTHER]))
def test_lower_case_gives_the_word_back(word: str, case: int) -> None:
    assert in_case(word.lower(), case).lower() in (word.lower(), word.lower().lower())


def test_words_in_their_cases(reader: RunningReader) -> None:
    """A word with the class of all others is as it was in training, or as in the next best class."""
    words = ["iphone", "oslo", "nasa", "oslo", "x"]
    logits = torch.tensor([[0.0, 0, 1, 9], [0, 5, 0, 9], [0, 0, 5, 0], [5, 0, 0, 0], [5, 0, 0, 0]])
    vocabulary = replace(reader.vocabulary, others=("iPhone",))
    known = RunningReader(vocabulary, reader.recipe, reader.network, {})
    assert known.in_cases(words, logits, [False] * 5) == ["iPhone", "Oslo", "NASA", "oslo", "x"]
    weak = torch.zeros(1, 4)
    assert reader.in_cases(["then"], weak, [True]) == ["Then"]


def test_an_epoch_may_have_a_share_of_the_words(train: list[Sentence]) -> None:
    """Each draws its own, of about the right size."""
    training = ReaderTraining(None, documents(train), None, smaller(epochs=2, epoch_words=500), 0)
    assert training.size == 500
    for _ in range(3):
        drawn = training.batches()
        assert abs(sum(map(training.size_of, drawn)) - 500) <= SMALL.batch_words + SMALL.window


def test_a_treebank_of_one_word() -> None:
    [single] = read_text("1\tNo\tno\tINTJ\t_\t_\t0\troot\t_\t_\n\n")
    reader = train_reader([single], [single], smaller(epochs=2))
    assert reader.sentences(["No"]) == [["No"]]
    assert reader.report["epochs"][0]["scores"]["f1"] == 100


def test_a_reader_beside_counts_as_much(train: list[Sentence], reader: RunningReader) -> None:
    """Logits are means, those of marks by their strings; strings that one lacks are among its others."""
    torch.manual_seed(0)
    other = train_reader(train[:30], None, smaller(epochs=1))
    both, words = replace(reader, beside=other), running(train[40:44])
    (ends, cases, marks), (other_ends, other_cases, other_marks) = (
        one.read(words) for one in (reader, other)
    )
    found = both.read(words)
    torch.testing.assert_close(found.ends.logit(), (ends.logit() + other_ends.logit()) / 2)
    torch.testing.assert_close(found.cases, (cases + other_cases) / 2)
    known, labels = other.vocabulary.slots.labels, reader.vocabulary.slots.labels
    for number, string in enumerate(labels.strings):
        same = known.strings.index(string) if string in known.strings else known.unknown
        torch.testing.assert_close(found.marks[:, number], (marks[:, number] + other_marks[:, same]) / 2)
    at_ends = [True] * len(words)
    log_odds = np.log(both.mark_probabilities(found.marks, at_ends)[:, :2])
    each = [
        np.log(one.mark_probabilities(of_marks, at_ends)[:, column])
        for one, of_marks, column in (
            (reader, marks, [0, 1]),
            (other, other_marks, known.encode(labels.strings[:2])),
        )
    ]
    np.testing.assert_allclose(np.diff(log_odds), np.diff((each[0] + each[1]) / 2), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("layers", [0, 1])
def test_bfloat16_takes_nearly_the_same_steps(train: list[Sentence], layers: int) -> None:
    """The loss of an epoch.  Where the CPU has no such products, torch computes them all the same."""
    recipe = ReaderRecipe(
        epochs=1, least_steps=0, batch_words=300, dropout=0.0, word_dropout=0.0, layers=layers
    )
    losses = []
    for half in (False, True):
        torch.manual_seed(0)
        training = ReaderTraining(None, documents(train[:40]), None, recipe, 0)
        training.in_bfloat16 = half
        training.run_epoch()
        losses.append(training.epochs[0].loss)
    assert losses[1] == pytest.approx(losses[0], rel=0.01)
    assert losses[1] != losses[0]


def test_scores_of_a_worked_example() -> None:
    counts = count_ends([[True, True, False, True], [True]], [[True, False, True, True], [True]])
    assert counts == (2, 2, 1)
    assert (counts.precision, counts.recall, counts.f1) == (50, 50, 50)
    assert count_ends([[True]], [[True]]).f1 == 100
    assert count_labels([1, 2, 0, 0, 1], [1, 1, 0, 2, 0]) == (3, 3, 1)
