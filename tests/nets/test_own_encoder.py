"""Encoders that a model file has whole, and readers that are tuned together with them."""

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from test_encoded_reader import TINY

from pyropunct.embedded import embedded_treebank_path
from pyropunct.nets.adapters import pretrained_from
from pyropunct.nets.encoder import Encoder
from pyropunct.nets.own_encoder import SPECIAL, OwnEncoder, WordPieces
from pyropunct.nets.reader import RunningReader
from pyropunct.nets.reader_training import ReaderTraining, train_reader
from pyropunct.nets.running_text import documents
from pyropunct.treebank.reading import read_treebank
from pyropunct.treebank.sentence import Sentence

pytestmark = pytest.mark.usefixtures("single_precision")

WORDS = ["the", "Naïve", "fox's", "1,000", "犬"]


@pytest.fixture(scope="module")
def some() -> list[Sentence]:
    return list(read_treebank(embedded_treebank_path("train")))[:12]


@pytest.fixture
def own(encoder: Path, monkeypatch: pytest.MonkeyPatch) -> OwnEncoder:
    """All layers of the small encoder."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
    from tuned_reader import first_layers

    found = first_layers(encoder, Counter(WORDS), 3, 1000, heads=2)
    del sys.modules["tuned_reader"]
    assert isinstance(found, OwnEncoder)
    return found


def test_it_computes_what_transformers_computes(own: OwnEncoder, encoder: Path) -> None:
    """Sentences of different lengths together; the pieces of the small encoder are letters."""
    sentences = [["the", "fox"], ["a", "quick", "fox", "2", "jumps"]]
    opened = Encoder(encoder).open()
    same = replace(opened, layers=(len(own.network.layers),))
    torch.testing.assert_close(own.features(sentences), same.features(sentences), rtol=1e-3, atol=2e-3)


def cuts(text: str, known: set[str]) -> Iterator[list[str]]:
    """All ways to cut a text into known pieces, or single unknown characters."""
    if not text:
        yield []
    for end in range(1, len(text) + 1):
        if text[:end] in known or end == 1:
            yield from ([text[:end], *rest] for rest in cuts(text[end:], known))


@pytest.mark.parametrize("word", ["banana", "anab", "nanx", "ba☃", "b", ""])
def test_a_word_is_cut_into_the_fewest_pieces(word: str) -> None:
    """Among equally many the first is the longest, then the second."""
    known = [" b", " ba", " ban", "an", "ana", "na", "a", "n", " an", "ab"]
    pieces = WordPieces([*SPECIAL, *known], uncased=True)
    found = [pieces.pieces[number] for number in pieces.cut(f" {word.upper()}")]
    best = min(cuts(f" {word}", set(known)), key=lambda cut: (len(cut), [-len(one) for one in cut]))
    assert found == [one if one in known else "[UNK]" for one in best]


def test_it_is_tuned_saved_and_read_again(own: OwnEncoder, some: list[Sentence]) -> None:
    recipe = replace(TINY, epochs=3)
    reader = train_reader(some, some[:10], recipe, pretrained=own, encoder_rate=0.001)
    source = reader.pretrained
    assert isinstance(source, OwnEncoder)
    assert not torch.equal(source.network.layers[0].into.weight, own.network.layers[0].into.weight)
    plain, tensors = reader.to_parts()
    again = RunningReader.from_parts(plain, tensors, pretrained_from(*source.to_parts()))
    for one, other in zip(reader.read(WORDS), again.read(WORDS), strict=True):
        assert torch.equal(one, other)
    losses = [epoch["loss"] for epoch in reader.report["epochs"]]
    assert losses[-1] < losses[0]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("pieces", [*SPECIAL, " a"], "do not fit its pieces"),
        ("pieces", [" a"], "does not begin with"),
        ("sizes", {"heads": 3}, "do not fit each other"),
        ("sizes", {"layers": 2}, "layers.2"),
        ("uncased", 1, "do not fit each other"),
    ],
)
def test_damaged_parts_are_refused(own: OwnEncoder, name: str, value: object, message: str) -> None:
    plain, tensors = own.to_parts()
    damaged = {**plain[name], **value} if isinstance(value, dict) else value
    with pytest.raises(ValueError, match=message):
        OwnEncoder.from_parts({**plain, name: damaged}, tensors)


def test_bfloat16_takes_nearly_the_same_steps(some: list[Sentence]) -> None:
    """The loss of an epoch.  Where the CPU has no such products, torch computes them all the same."""
    recipe = replace(TINY, dropout=0.0, word_dropout=0.0)
    losses = []
    for half in (False, True):
        torch.manual_seed(0)
        training = ReaderTraining(None, documents(some), None, recipe, 0)
        training.in_bfloat16 = half
        training.run_epoch()
        losses.append(training.epochs[0].loss)
    assert losses[1] == pytest.approx(losses[0], rel=0.01)
    assert losses[1] != losses[0]
