"""The English reader of running text: the first layers of a pretrained encoder, tuned as a whole with it.

    python benchmarks/tuned_reader.py en_ewt-ud-train.conllu en_ewt-ud-dev.conllu --encoder FOLDER
                                      --talk podcasts-train.txt --talk-dev podcasts-dev.txt [--more FILE ...]
                                      [--every 3] [--out FILE] [--work tuned.unfinished]

The encoder is a folder with a BERT without capital letters, such as MiniLM-L6-H384-uncased.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import torch
from safetensors.torch import load_file
from shipped import DEV_WORDS, DOCUMENT_WORDS, alone, running
from torch import Tensor

import pyropunct
from pyropunct import read_treebank
from pyropunct.fitted.model_file import write_model_file
from pyropunct.nets.own_encoder import SPECIAL, OwnEncoder, Sizes, Transformer, WordPieces, plain_letters
from pyropunct.nets.reader_training import train_reader
from pyropunct.nets.running_text import Document, ReaderRecipe, documents
from pyropunct.nets.trainer import Progress
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("train")
    parser.add_argument("dev")
    parser.add_argument("--encoder", type=Path, required=True)
    parser.add_argument("--more", action="append", type=Path, default=[])
    parser.add_argument("--talk", action="append", type=Path, default=[])
    parser.add_argument("--talk-dev", type=Path)
    parser.add_argument("--every", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("tuned"))
    parser.add_argument("--work", type=Path, default=Path("tuned.unfinished"))
    parser.add_argument("--epochs", type=int, default=READER.epochs)
    parser.add_argument("--epoch-words", type=int, default=READER.epoch_words)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    options.work.mkdir(parents=True, exist_ok=True)
    train, dev = list(read_treebank(options.train)), list(read_treebank(options.dev))
    model = pyropunct.load("en")
    written = [document for file in options.more for document in running(model, file)]
    single = [part for document in written for part in alone(document)][::3]
    talk = [document for file in options.talk for document in running(model, file, options.every)]
    texts = [*written, *single, *talk]
    print(len(texts), sum(len(one.words) for one in texts), flush=True)
    talk_dev = running(model, options.talk_dev) if options.talk_dev else ()
    source = first_layers(options.encoder, words_of([*documents(train), *texts]), LAYERS, PIECES)
    print(len(source.pieces.pieces), "pieces", flush=True)

    def watch(progress: Progress) -> None:
        if progress.finished:
            print(progress.last, flush=True)

    reader = train_reader(
        train,
        dev,
        replace(READER, epochs=options.epochs, epoch_words=options.epoch_words),
        texts=texts,
        dev_texts=talk_dev[: DEV_WORDS // DOCUMENT_WORDS // 2],
        pretrained=source,
        encoder_rate=RATE,
        seed=options.seed,
        device=options.device,
        checkpoint=Checkpoint(options.work / "reader"),
        watch=watch,
    )
    plain, tensors = reader.to_parts()
    of_encoder = reader.pretrained.to_parts()
    write_model_file(
        options.out,
        {"reader": plain, "reader_pretrained": of_encoder[0]},
        {
            **{f"reader/{name}": one for name, one in tensors.items()},
            **{f"reader_pretrained/{name}": one for name, one in of_encoder[1].items()},
        },
    )


if __name__ == "__main__":
    main()
