"""Small encoders that have learned nothing."""

import string
from pathlib import Path

import pytest
import torch


def made_encoder(folder: Path, seed: int = 0, size: int = 16, others: str = "") -> Path:
    """A small BERT with random weights, which reads words letter by letter.

    :param others: letters that it knows besides.
    """
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
