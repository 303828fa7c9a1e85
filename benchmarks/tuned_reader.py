"""Readers of running text that are tuned as a whole with the first layers of a pretrained encoder."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import Tensor

from pyropunct import Sentence
from pyropunct.nets.own_encoder import SPECIAL, OwnEncoder, Sizes, Transformer, WordPieces, plain_letters
from pyropunct.nets.reader import RunningReader
from pyropunct.nets.reader_training import train_reader
from pyropunct.nets.running_text import Document, ReaderRecipe, documents
from pyropunct.nets.trainer import AnyCheckpoint

READER = ReaderRecipe(
    epochs=10,
    epoch_words=1_000_000,
    least_steps=0,
    batch_words=1_900,
    learning_rate=0.002,
    averaging=0.997,
    dropout=0.1,
    form_count=20,
    form_size=16,
    character_size=16,
    spelling_size=32,
    lstm_size=128,
    layers=1,
    lower_cased=0.6,
    window=100,
)
"""What the encoder knows of words, the reader need not learn."""

RATE = 4e-4
"""The greatest learning rate of the encoder."""

LAYERS, PIECES, LONGEST = 3, 9_000, 256
"""The layers that are kept, the most frequent pieces, and the most pieces of a window."""

HEADS = 12


def first_layers(
    folder: Path, words: Mapping[str, int], layers: int, most: int, heads: int = HEADS
) -> OwnEncoder:
    """The first layers of a BERT in a folder, with the pieces that are most frequent in words.

    A single letter or mark that is known only within words, or only before them, is known in both places.
    """
    known = json.loads((folder / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    row = {as_begun(piece): number for piece, number in known.items()}
    single = {one.strip() for one in row if len(one.strip()) == 1}
    for letter in single:
        row.setdefault(letter, row.get(f" {letter}", -1))
        row.setdefault(f" {letter}", row[letter])
    whole = WordPieces([*SPECIAL, *(one for one in row if one not in SPECIAL)], True)
    counts: Counter[int] = Counter()
    for word, count in words.items():
        for number in whole.cut(f" {word}"):
            counts[number] += count
    often = [whole.pieces[n] for n, _ in counts.most_common() if n >= len(SPECIAL)][:most]
    letters = [one for one in row if len(one.strip()) == 1 and one.isascii()]
    pieces = [*SPECIAL, *dict.fromkeys([*often, *letters])]
    saved = load_file(folder / "model.safetensors")
    tensors = {name.removeprefix("bert."): one for name, one in saved.items()}
    table = tensors["embeddings.word_embeddings.weight"]
    size, inner = table.shape[1], len(tensors["encoder.layer.0.intermediate.dense.bias"])
    places = tensors["embeddings.position_embeddings.weight"]
    longest = min(LONGEST, len(places))
    network = Transformer(Sizes(len(pieces), size, layers, heads, inner, longest))
    state: dict[str, Tensor] = {
        "words.weight": table[[row[one] for one in pieces]],
        "places.weight": places[:longest] + tensors["embeddings.token_type_embeddings.weight"][0],
        "norm.weight": tensors["embeddings.LayerNorm.weight"],
        "norm.bias": tensors["embeddings.LayerNorm.bias"],
    }
    names = {
        "given": "attention.output.dense",
        "after_attention": "attention.output.LayerNorm",
        "into": "intermediate.dense",
        "out": "output.dense",
        "after": "output.LayerNorm",
    }
    for layer in range(layers):
        before = f"encoder.layer.{layer}"
        for kind in ("weight", "bias"):
            of_heads = [
                tensors[f"{before}.attention.self.{part}.{kind}"] for part in ("query", "key", "value")
            ]
            state[f"layers.{layer}.asked.{kind}"] = torch.cat(of_heads)
            for ours, theirs in names.items():
                state[f"layers.{layer}.{ours}.{kind}"] = tensors[f"{before}.{theirs}.{kind}"]
    network.load_state_dict(state)
    return OwnEncoder(WordPieces(pieces, True), network.eval())


def as_begun(piece: str) -> str:
    """A piece of BERT, which says what goes on, as one of ours, which says what begins."""
    if piece in SPECIAL:
        return piece
    return piece[2:] if piece.startswith("##") else f" {piece}"


def words_of(texts: Iterable[Document]) -> Counter[str]:
    """How often each word occurs, in small letters."""
    counts = Counter(word for text in texts for word in text.words)
    found: Counter[str] = Counter()
    for word, count in counts.items():
        found[plain_letters(word)] += count
    return found


def tuned_reader(
    folder: Path,
    train: Sequence[Sentence],
    dev: Sequence[Sentence],
    texts: Sequence[Document],
    dev_texts: Sequence[Document],
    seed: int,
    device: str,
    checkpoint: AnyCheckpoint,
) -> RunningReader:
    """A reader that is trained together with the first layers of an encoder, on a treebank and texts."""
    source = first_layers(folder, words_of([*documents(train), *texts]), LAYERS, PIECES)
    return train_reader(
        train,
        dev,
        READER,
        texts=texts,
        dev_texts=dev_texts,
        pretrained=source,
        encoder_rate=RATE,
        seed=seed,
        device=device,
        checkpoint=checkpoint,
    )
