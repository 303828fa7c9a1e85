"""A reader of running text that gets what an encoder says of words."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from torch import Tensor

from pyropunct.embedded import embedded_treebank_path
from pyropunct.nets.encoder import Encoder
from pyropunct.nets.pretrained import CachedFeatures
from pyropunct.nets.reader import RunningReader, windows_of
from pyropunct.nets.reader_training import train_reader
from pyropunct.nets.running_text import ReaderRecipe
from pyropunct.treebank.reading import read_treebank
from pyropunct.treebank.sentence import Sentence

TINY = ReaderRecipe(epochs=2, least_steps=0, batch_words=200, window=30, form_size=8, lstm_size=12, layers=1)

pytestmark = pytest.mark.usefixtures("single_precision")


@pytest.fixture(scope="module")
def treebank() -> list[Sentence]:
    return list(read_treebank(embedded_treebank_path("train")))[:30]


class Watched(Encoder):
    """Remembers what it was asked for."""

    seen: list[tuple[str, ...]]

    def features(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        """Those of the encoder."""
        self.seen = [*getattr(self, "seen", []), *map(tuple, sentences)]
        return super().features(sentences)


def test_it_is_trained_saved_and_read_again(treebank: list[Sentence], encoder: Path) -> None:
    words = [word for sentence in treebank for word in sentence.tree.forms]
    reader = train_reader(treebank, treebank[:10], TINY, pretrained=CachedFeatures(Encoder(encoder)))
    assert isinstance(reader.pretrained, Encoder)
    again = RunningReader.from_parts(*reader.to_parts(), Encoder(encoder))
    assert torch.equal(reader.read(words).ends, again.read(words).ends)
    with pytest.raises(ValueError, match="it was trained with other pretrained features of words"):
        RunningReader.from_parts(*reader.to_parts())


def test_each_document_is_encoded_once_in_either_case(treebank: list[Sentence], encoder: Path) -> None:
    source = Watched(encoder)
    train_reader(treebank, None, TINY, pretrained=source)
    words = [word for sentence in treebank for word in sentence.tree.forms]
    lower = [word.lower() for word in words]
    windows = [tuple(one.words) for text in (words, lower) for one in windows_of(text, 0, len(text))]
    assert sorted(source.seen) == sorted(windows)
