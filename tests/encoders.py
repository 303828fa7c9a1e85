"""Small encoders that have learned nothing, and other sources of features of words."""

import string
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor


class MadeUp:
    """Features that depend on the word and on how long the sentence is; ``asked`` are the sentences."""

    def __init__(self, size: int = 3) -> None:
        self.size = size
        self.asked: list[tuple[str, ...]] = []

    def features(self, sentences: Sequence[Sequence[str]]) -> Tensor:
        found = torch.zeros(len(sentences), max(map(len, sentences), default=0), self.size)
        for row, words in zip(found, sentences, strict=True):
            self.asked.append(tuple(words))
            for place, word in enumerate(words):
                generator = torch.Generator().manual_seed(zlib.crc32(f"{word} {len(words)}".encode()))
                row[place] = torch.randn(self.size, generator=generator).half()
        return found

    def identity(self) -> dict[str, Any]:
        return {"kind": "made up", "size": self.size}

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        return self.identity(), {}


def made_encoder(folder: Path, seed: int = 0, size: int = 16, others: str = "") -> Path:
    """A small BERT with random weights, which reads words letter by letter, ``others`` besides."""
    transformers = pytest.importorskip("transformers")
    letters = [*string.ascii_lowercase, *string.digits, *".,'-", *others]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{one}" for one in letters)]
    config = transformers.BertConfig(
        vocab_size=len(pieces),
        hidden_size=size,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=66,
        initializer_range=0.3,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        transformers.BertModel(config).float().save_pretrained(folder)
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    transformers.BertTokenizer(vocab=vocabulary).save_pretrained(folder)
    return folder
