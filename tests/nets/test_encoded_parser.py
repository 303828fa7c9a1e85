"""A parser that reads what an encoder says of words."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from emulated_device import other_device
from encoders import made_encoder

from pyropunct.embedded import embedded_treebank_path
from pyropunct.errors import ModelFileError
from pyropunct.fitted.model_file import read_model_file, write_model_file
from pyropunct.nets.biaffine import ParserRecipe
from pyropunct.nets.encoder import Encoder
from pyropunct.nets.jackknife import jackknifed
from pyropunct.nets.parser import BiaffineParser, train_parser
from pyropunct.nets.tagger import SlotTagger, SlotTaggerRecipe, train_slot_tagger
from pyropunct.nets.word_embedding import standardised
from pyropunct.train.checkpoints import Checkpoint
from pyropunct.treebank.reading import read_treebank
from pyropunct.treebank.sentence import Sentence

TINY = ParserRecipe(
    epochs=2,
    least_steps=0,
    form_size=8,
    character_size=4,
    spelling_size=8,
    tag_size=8,
    lstm_size=8,
    arc_size=8,
    relation_size=8,
)

CALM = replace(TINY, dropout=0.0, word_dropout=0.0, learning_rate=1e-3)
"""Nothing is left to chance but the first weights and the order of the batches."""

pytestmark = pytest.mark.usefixtures("single_precision")


@pytest.fixture(scope="module")
def treebank() -> list[Sentence]:
    return list(read_treebank(embedded_treebank_path("train")))[:12]


def test_it_is_trained_saved_and_read_again(treebank: list[Sentence], encoder: Path, tmp_path: Path) -> None:
    words = [sentence.tree.forms for sentence in treebank]
    before = torch.get_rng_state()
    parser = train_parser(treebank, treebank[:4], TINY, pretrained=Encoder(encoder))
    assert torch.equal(torch.get_rng_state(), before)
    assert isinstance(parser.pretrained, Encoder)  # and nothing is kept in memory
    write_model_file(tmp_path / "parser", *parser.to_parts())
    plain, tensors = read_model_file(tmp_path / "parser")
    assert plain["pretrained"] == Encoder(encoder).identity()
    assert {name for name in tensors if "pretrained" in name} == {"pretrained.weight", "pretrained.bias"}
    loaded = BiaffineParser.from_parts(plain, tensors, Encoder(encoder))
    assert loaded.parse(words, trees=3) == parser.parse(words, trees=3)
    for wrong in (None, Encoder(made_encoder(tmp_path / "other", seed=1))):
        with pytest.raises(ValueError, match="it was trained with other pretrained features of words"):
            BiaffineParser.from_parts(plain, tensors, wrong)


def test_what_the_encoder_says_counts(treebank: list[Sentence], encoder: Path) -> None:
    parser = train_parser(treebank, None, TINY, pretrained=Encoder(encoder))
    batch = parser.encode([treebank[0].tree.forms])
    assert batch.features is not None
    network = parser.network.eval()
    with torch.no_grad():
        own, other = network(batch), network(batch._replace(features=batch.features.flip(-1)))
    assert (own.arcs - other.arcs).abs().max() > 1e-6


def test_a_tagger_reads_what_the_encoder_says_too(treebank: list[Sentence], encoder: Path) -> None:
    parser, words = train_parser(treebank, None, TINY, pretrained=Encoder(encoder)), [treebank[0].tree.forms]
    assert parser.pretrained is not None
    features, lstms = parser.pretrained.features(words), 4 * TINY.lstm_size
    states = parser.states(words)
    assert states.shape[-1] == parser.state_size == lstms + features.shape[-1]
    torch.testing.assert_close(states[..., lstms:], standardised(features))

    recipe = SlotTaggerRecipe(epochs=1, least_steps=0, slot_size=4)
    tagger = train_slot_tagger(parser, treebank, None, recipe)
    plain, tensors = tagger.to_parts()
    again = SlotTagger.from_parts(plain, tensors, parser)
    np.testing.assert_array_equal(again.read(words)[0], tagger.read(words)[0])
    blind = dict(tensors, **{"slots.weight": tensors["slots.weight"].clone()})
    for side in blind["slots.weight"].chunk(2, 1):
        side[:, lstms:] = 0
    of_lstms = SlotTagger.from_parts(plain, blind, parser)
    assert abs(of_lstms.read(words)[0] - tagger.read(words)[0]).max() > 1e-6


def test_a_training_goes_on_with_the_same_encoder_only(
    treebank: list[Sentence], encoder: Path, tmp_path: Path
) -> None:
    checkpoint = Checkpoint(tmp_path / "checkpoint")
    whole = train_parser(treebank, None, TINY, pretrained=Encoder(encoder), checkpoint=checkpoint)
    again = train_parser(treebank, None, TINY, pretrained=Encoder(encoder), checkpoint=checkpoint)
    assert all(map(torch.equal, whole.network.parameters(), again.network.parameters()))
    for other in (None, Encoder(made_encoder(tmp_path / "other", seed=1))):
        with pytest.raises(ModelFileError, match="of other data, settings or another seed"):
            train_parser(treebank, None, TINY, pretrained=other, checkpoint=checkpoint)


def test_folds_read_each_sentence_once(
    treebank: list[Sentence], encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[str, ...]] = []

    class Watched(Encoder):
        def features(self, sentences):  # type: ignore[no-untyped-def]
            seen.extend(map(tuple, sentences))
            return super().features(sentences)

    jackknifed(treebank, TINY, folds=2, pretrained=Watched(encoder))
    words = [sentence.tree.forms for sentence in treebank]
    assert sorted(seen) == sorted(set(words))


@pytest.mark.parametrize("name", ["emulated", "cuda"])
@pytest.mark.parametrize("kind", ["alone", "frozen"])
def test_training_elsewhere(treebank: list[Sentence], encoder: Path, name: str, kind: str) -> None:
    pretrained = None if kind == "alone" else Encoder(encoder)
    dev = treebank[:3] if name == "cuda" else None  # inference mode and emulated tensors exclude each other
    here = train_parser(treebank, dev, CALM, pretrained=pretrained)
    with other_device(name) as device:
        there = train_parser(treebank, dev, CALM, pretrained=pretrained, device=device)
    for one, other in zip(here.network.parameters(), there.network.parameters(), strict=True):
        assert other.device.type == "cpu"
        torch.testing.assert_close(one, other, rtol=0, atol=2e-3)
