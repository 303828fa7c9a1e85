"""Tune a reader of running text as a whole with the first layers of a pretrained encoder.

    python benchmarks/tuned_reader.py FOLDER en-train.conllu en-dev.conllu [--text speeches.txt ...]
                                      [--talk podcasts-train.txt ...] [--talk-dev podcasts-dev.txt]
                                      [--every 3] [--out FILE] [--work tuned.unfinished]

FOLDER has a BERT without capital letters, such as all-MiniLM-L6-v2.  Of talk one piece in ``--every`` is
read.  The folder ``--work`` keeps finished epochs: after an interruption, the same command continues.  A
core takes 45 minutes for ten million words.  No model of the package has such a reader yet: F1 of ends and
commas in lower case is 68.1 on podcasts, 60.5 on TED talks and 59.0 on GUM dev, where the reader of `en` has
69.3, 61.3 and 58.4, and the mean of both 70.0, 62.5 and 61.3; but it takes six times as long to read.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import torch
from safetensors.torch import load_file
from texts import alone, running
from torch import Tensor

import pyropunct
from pyropunct import read_treebank
from pyropunct.fitted.model_file import write_model_file
from pyropunct.nets.own_encoder import SPECIAL, OwnEncoder, Sizes, Transformer, WordPieces, plain_letters
from pyropunct.nets.reader_training import train_reader
from pyropunct.nets.running_text import Document, ReaderRecipe, documents
from pyropunct.train.checkpoints import Checkpoint

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

HEADS, DEV_DOCUMENTS = 12, 20
"""The heads of the attention of MiniLM; the documents of talk that choose an epoch."""


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("train")
    parser.add_argument("dev")
    parser.add_argument("--text", action="append", type=Path, default=[])
    parser.add_argument("--talk", action="append", type=Path, default=[])
    parser.add_argument("--talk-dev", type=Path)
    parser.add_argument("--every", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("tuned-reader"))
    parser.add_argument("--work", type=Path, default=Path("tuned.unfinished"))
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.work.mkdir(parents=True, exist_ok=True)
    train, dev = (list(read_treebank(file)) for file in (options.train, options.dev))
    model = pyropunct.load("en")
    written = [document for file in options.text for document in running(model, file)]
    single = [part for document in written for part in alone(document)][::3]
    talk = [document for file in options.talk for document in running(model, file, options.every)]
    talk_dev = running(model, options.talk_dev)[:DEV_DOCUMENTS] if options.talk_dev else []
    texts = [*written, *single, *talk]
    reader = train_reader(
        train,
        dev,
        READER,
        texts=texts,
        dev_texts=talk_dev,
        pretrained=first_layers(options.encoder, words_of([*documents(train), *texts]), LAYERS, PIECES),
        encoder_rate=RATE,
        seed=options.seed,
        device=options.device,
        checkpoint=Checkpoint(options.work / "reader"),
    )
    assert isinstance(reader.pretrained, OwnEncoder)
    parts = {"reader": reader.to_parts(), "pretrained": reader.pretrained.to_parts()}
    plain = {name: described for name, (described, _) in parts.items()}
    write_model_file(
        options.out,
        plain,
        {f"{part}/{name}": one for part, (_, found) in parts.items() for name, one in found.items()},
    )
    print(reader.report["epochs"][reader.report["chosen"] - 1])


if __name__ == "__main__":
    main()
