"""A parser that is trained together with an encoder, and training on another device."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from emulated_device import other_device
from test_encoded_parser import TINY

from pyropunct.embedded import embedded_treebank_path
from pyropunct.fitted.model_file import read_model_file, write_model_file
from pyropunct.nets.encoder import Encoder
from pyropunct.nets.parser import BiaffineParser, TunedParserTraining, train_parser
from pyropunct.nets.pretrained import Kept, PretrainedError
from pyropunct.nets.tuning import TunedEncoder, pretrained_from
from pyropunct.treebank.reading import read_treebank
from pyropunct.treebank.sentence import Sentence

CALM = replace(TINY, dropout=0.0, word_dropout=0.0, learning_rate=1e-3)
"""Nothing is left to chance but the first weights, the order of the batches and the encoder's own dropout."""

pytestmark = pytest.mark.usefixtures("single_precision")


@pytest.fixture(scope="module")
def some() -> list[Sentence]:
    return list(read_treebank(embedded_treebank_path("train")))[:12]


def test_both_are_trained_and_kept(
    some: list[Sentence], encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [sentence.tree.forms for sentence in some]
    frozen = Encoder(encoder)
    before = frozen.features(words)
    parser = train_parser(some, some[:4], TINY, pretrained=Kept(frozen), encoder_rate=1e-3)
    assert torch.equal(frozen.features(words), before)  # it is a copy that was trained
    assert isinstance(parser.pretrained, TunedEncoder)
    tuned = parser.pretrained.features(words)
    assert torch.equal(tuned, tuned.half().float())
    assert (tuned - before).abs().max() > 1e-3
    assert parser.pretrained.identity() != frozen.identity()
    assert (
        parser.states(words).shape[-1] == parser.state_size == 4 * TINY.lstm_size
    )  # what it knows is not told
    described, weights = parser.pretrained.to_parts()
    write_model_file(tmp_path / "parser", *parser.to_parts())
    write_model_file(tmp_path / "encoder", {"pretrained": described}, weights)
    plain, tensors = read_model_file(tmp_path / "encoder")
    again = pretrained_from(plain["pretrained"], tensors)
    assert again is not None
    assert torch.equal(again.features(words), tuned)
    loaded = BiaffineParser.from_parts(*read_model_file(tmp_path / "parser"), again)
    assert loaded.parse(words, trees=3) == parser.parse(words, trees=3)
    with pytest.raises(ValueError, match="it was trained with other pretrained features of words"):
        BiaffineParser.from_parts(*read_model_file(tmp_path / "parser"), frozen)
    with pytest.raises(PretrainedError, match=f"--encoder {encoder}: the model has its own in it"):
        pretrained_from(plain["pretrained"], tensors, encoder)
    with pytest.raises(ValueError, match="files and the weights"):
        pretrained_from({**plain["pretrained"], "files": {"../x": {}}}, tensors)
    unopened = pretrained_from(plain["pretrained"], tensors)
    monkeypatch.setitem(sys.modules, "transformers", None)
    assert unopened is not None
    with pytest.raises(PretrainedError, match=f"^encoder {encoder}, trained further: needs the package"):
        unopened.features(words)


def test_the_gradient_goes_into_the_encoder(some: list[Sentence], encoder: Path) -> None:
    """At its own rate; the first step of Adam moves each weight by about the rate."""
    training = TunedParserTraining(some, None, CALM, 0, Encoder(encoder), encoder_rate=1e-4)
    network = training.network
    before = {name: weight.detach().clone() for name, weight in network.named_parameters()}
    batch = training.batches()[0]
    network.eval()
    words = [some[number].tree.forms for number in batch]
    features = training.encoded(words).features
    assert features is not None
    torch.testing.assert_close(features.detach(), Encoder(encoder).features(words), rtol=2e-3, atol=2e-3)
    training.step(batch, len(some))
    rates = [group["lr"] for group in training.optimiser.param_groups]
    assert rates[1] == pytest.approx(rates[0] * 1e-4 / CALM.learning_rate)
    moved = [
        float((weight.detach() - before[name]).abs().max())
        for name, weight in network.named_parameters()
        if name.startswith("encoder.") and "pooler" not in name
    ]
    assert max(moved) == pytest.approx(rates[1], rel=0.1)
    assert moved.count(0.0) < len(moved) / 4


def test_no_encoder(some: list[Sentence]) -> None:
    with pytest.raises(ValueError, match="there is no encoder that could be trained further"):
        train_parser(some, None, TINY, encoder_rate=1e-4)


@pytest.mark.parametrize("name", ["emulated", "cuda"])
@pytest.mark.parametrize("kind", ["alone", "frozen", "tuned"])
def test_training_elsewhere(some: list[Sentence], encoder: Path, name: str, kind: str) -> None:
    pretrained = None if kind == "alone" else Encoder(encoder)
    rate = 1e-4 if kind == "tuned" else 0.0
    dev = some[:3] if name == "cuda" else None  # inference mode and emulated tensors exclude each other
    here = train_parser(some, dev, CALM, pretrained=pretrained, encoder_rate=rate)
    with other_device(name) as device:
        there = train_parser(some, dev, CALM, pretrained=pretrained, encoder_rate=rate, device=device)
    for one, other in zip(here.network.parameters(), there.network.parameters(), strict=True):
        assert other.device.type == "cpu"
        torch.testing.assert_close(one, other, rtol=0, atol=2e-3)
