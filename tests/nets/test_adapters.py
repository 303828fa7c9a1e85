"""Adapters or first layers of an encoder, which are trained together with a reader of running text."""

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from test_encoded_reader import TINY

from pyropunct.embedded import embedded_treebank_path
from pyropunct.errors import MissingPartError
from pyropunct.fitted.model_file import read_model_file, write_model_file
from pyropunct.nets.adapters import AdaptedEncoder, Adapters, FirstLayers, first_layers, pretrained_from
from pyropunct.nets.encoder import Encoder
from pyropunct.nets.pretrained import CachedFeatures
from pyropunct.nets.reader import RunningReader
from pyropunct.nets.reader_training import AdaptingReaderTraining, train_reader
from pyropunct.nets.running_text import documents
from pyropunct.nets.trainer import Progress
from pyropunct.train.checkpoints import Checkpoint
from pyropunct.treebank.reading import read_treebank
from pyropunct.treebank.sentence import Sentence

CALM = replace(TINY, dropout=0.0, word_dropout=0.0)

pytestmark = pytest.mark.usefixtures("single_precision")


@pytest.fixture(scope="module")
def treebank() -> list[Sentence]:
    return list(read_treebank(embedded_treebank_path("train")))[:12]


@pytest.fixture(scope="module")
def words(treebank: list[Sentence]) -> list[tuple[str, ...]]:
    return [sentence.tree.forms for sentence in treebank]


def test_an_encoder_reads_as_if_its_maps_were_others(encoder: Path, words: list[tuple[str, ...]]) -> None:
    """W + B A in place of W; B is zero at first."""
    opened, changed = Encoder(encoder).opened_anew(), Encoder(encoder).opened_anew()
    before = opened.features(words)
    adapters = Adapters(opened.model, 3)
    with adapters.attached(opened.model):
        torch.testing.assert_close(opened.features(words), before)
        torch.manual_seed(0)
        for up in adapters.up:
            torch.nn.init.normal_(up, std=0.3)
        found = opened.features(words)
    maps = [
        one
        for name, one in changed.model.named_modules()
        if isinstance(one, torch.nn.Linear) and "pooler" not in name
    ]
    for one, down, up in zip(maps, adapters.down, adapters.up, strict=True):
        one.weight.data += up @ down
    torch.testing.assert_close(found, changed.features(words), rtol=1e-3, atol=1e-4)
    assert (found - before).abs().max() > 0.01
    assert torch.equal(opened.features(words), before)  # they are detached


def test_adapters_alone_are_trained(treebank: list[Sentence], encoder: Path) -> None:
    """At their own rate; the first step of Adam moves each weight by about the rate."""
    training = AdaptingReaderTraining(
        None, documents(treebank), None, CALM, 0, Encoder(encoder), encoder_rate=1e-3, layers=0
    )
    before = {name: weight.clone() for name, weight in training.opened.model.state_dict().items()}
    adapters = training.network.adapters
    ups = [up.detach().clone() for up in adapters.up]
    training.step(training.batches()[0], training.size)
    rates = [group["lr"] for group in training.optimiser.param_groups]
    assert rates[1] == pytest.approx(rates[0] * 1e-3 / CALM.learning_rate)
    moved = [float((up.detach() - old).abs().max()) for up, old in zip(adapters.up, ups, strict=True)]
    assert max(moved) == pytest.approx(rates[1], rel=0.1)
    assert min(moved) > 0
    for name, weight in training.opened.model.state_dict().items():
        assert torch.equal(weight, before[name])


@pytest.mark.parametrize("layers", [0, 2])
def test_going_on_after_an_interruption(
    treebank: list[Sentence], encoder: Path, layers: int, tmp_path: Path
) -> None:
    """Those of another reader are trained further, and interrupted after an epoch: the result is the same."""
    first = train_reader(treebank, None, TINY, pretrained=Encoder(encoder), encoder_rate=1e-2, layers=layers)
    options = {"first": first, "pretrained": first.pretrained, "encoder_rate": 1e-2}
    whole = train_reader(treebank, treebank[:4], TINY, **options)

    def interrupt(told: Progress) -> None:
        if told.epoch == 2:
            raise KeyboardInterrupt

    checkpoint = Checkpoint(tmp_path / "reader")
    with pytest.raises(KeyboardInterrupt):
        train_reader(treebank, treebank[:4], TINY, checkpoint=checkpoint, watch=interrupt, **options)
    again = train_reader(treebank, treebank[:4], TINY, checkpoint=checkpoint, **options)
    assert again.pretrained.identity() == whole.pretrained.identity() != first.pretrained.identity()
    state = whole.network.state_dict()
    assert all(torch.equal(weight, state[name]) for name, weight in again.network.state_dict().items())


def test_the_first_layers_are_an_encoder_of_fewer_layers(
    encoder: Path, words: list[tuple[str, ...]], tmp_path: Path
) -> None:
    """Before they are tuned, their states are those of an encoder that was made with so many layers."""
    fewer = Path(shutil.copytree(encoder, tmp_path / "fewer"))
    config = json.loads((fewer / "config.json").read_text("utf-8"))
    (fewer / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 2}), "utf-8")
    opened, known = Encoder(encoder).opened_anew(), Encoder(fewer).opened_anew()
    first = first_layers(opened, 2)
    before = opened.features(words)
    with FirstLayers(first.model, 2).attached(first.model):
        found = first.features(words)
    assert torch.equal(opened.features(words), before)  # they are detached
    torch.testing.assert_close(found, first_layers(known, 2).features(words))
    assert (found - before).abs().max() > 0.01


@pytest.mark.parametrize("layers", [0, 2])
def test_they_are_kept_with_the_reader(
    treebank: list[Sentence], encoder: Path, words: list[tuple[str, ...]], layers: int, tmp_path: Path
) -> None:
    frozen = Encoder(encoder)
    before = frozen.features(words)
    cached = CachedFeatures(frozen)
    reader = train_reader(treebank, treebank[:4], TINY, pretrained=cached, encoder_rate=1e-2, layers=layers)
    assert isinstance(reader.pretrained, AdaptedEncoder)
    assert torch.equal(frozen.features(words), before)  # the encoder is as it was
    found = reader.pretrained.features(words)
    assert torch.equal(found, found.half().float())
    assert (found - before).abs().max() > 1e-3
    described, tensors = reader.pretrained.to_parts()
    write_model_file(tmp_path / "reader", *reader.to_parts())
    write_model_file(tmp_path / "encoder", {"pretrained": described}, tensors)
    plain, weights = read_model_file(tmp_path / "encoder")
    moved = shutil.copytree(encoder, tmp_path / "moved")
    for place in (None, moved):
        again = pretrained_from(plain["pretrained"], weights, place)
        assert again is not None
        assert torch.equal(again.features(words), found)
        loaded = RunningReader.from_parts(*read_model_file(tmp_path / "reader"), again)
        assert torch.equal(loaded.read(words[0]).ends, reader.read(words[0]).ends)
    with pytest.raises(ValueError, match="it was trained with other pretrained features of words"):
        RunningReader.from_parts(*read_model_file(tmp_path / "reader"), frozen)


def test_what_is_refused(
    treebank: list[Sentence], encoder: Path, words: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ValueError, match="there is no encoder that could be trained further"):
        train_reader(treebank, None, TINY, encoder_rate=1e-3)
    adapted = AdaptedEncoder(Encoder(encoder), Adapters(Encoder(encoder).opened_anew().model).state_dict())
    described, tensors = adapted.to_parts()
    plain = json.loads(json.dumps(described))
    with pytest.raises(ValueError, match="the adapters of an encoder"):
        pretrained_from(plain, {})
    fewer = pretrained_from(plain, {name: one for name, one in tensors.items() if name != "up.0"})
    assert fewer is not None
    with pytest.raises(MissingPartError, match="the model's adapters are of another encoder"):
        fewer.features(words)
    with pytest.raises(MissingPartError, match="a whole encoder that was trained further"):
        pretrained_from({**plain, "kind": "tuned encoder"}, tensors)
    monkeypatch.setitem(sys.modules, "transformers", None)
    unopened = pretrained_from(plain, tensors)
    assert unopened is not None
    with pytest.raises(MissingPartError, match=f"^encoder {encoder}: needs the package"):
        unopened.features(words)
