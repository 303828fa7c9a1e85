"""Readers of running text that are tuned as a whole with the first layers of a pretrained encoder."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from pyropunct import Sentence
from pyropunct.nets.networks import multiplies_bfloat16, trained
from pyropunct.nets.own_encoder import SPECIAL, OwnEncoder, Sizes, Transformer, WordPieces, plain_letters
from pyropunct.nets.reader import Reading, RunningReader
from pyropunct.nets.reader_training import ReaderTraining, train_reader
from pyropunct.nets.running_text import NO_CASE, Document, ReaderAnswers, ReaderRecipe, documents
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


GOLD, TAUGHT_TOGETHER = 0.3, 40
"""The share of what stands in a text beside what readers say of it; documents that are labelled together."""


class Taught(ReaderTraining):
    """Teaches a reader what it and a teacher say of words in lower case: the mean of both.

    :param teacher: its strings of marks may be others.
    """

    def __init__(self, teacher: RunningReader, first: RunningReader, *arguments: Any) -> None:
        super().__init__(first, *arguments)
        labels, theirs = first.vocabulary.slots.labels, teacher.vocabulary.slots.labels
        self._size = len(first.network.at_end)
        same = self._one_hot(torch.tensor([*labels.encode(theirs.strings), self._size - 1]))
        self._soft = list[tuple[Tensor, Tensor]]()
        for start in range(0, len(self.train), TAUGHT_TOGETHER):
            words = [lower for _, lower in self._words[start : start + TAUGHT_TOGETHER]]
            with torch.autocast("cpu", torch.bfloat16, enabled=multiplies_bfloat16()):
                of_teacher = teacher.read_all(words)
            gold = (lower for _, lower in self._answers[start : start + TAUGHT_TOGETHER])
            for answers, read, own in zip(gold, of_teacher, first.read_all(words), strict=True):
                marks = marks_given(teacher, read, answers.ends) @ same + marks_given(
                    first, own, answers.ends
                )
                ends = read.ends.float() + own.ends.float()
                share = (1 - GOLD) / 2
                both = share * ends + GOLD * answers.ends, share * marks + GOLD * self._one_hot(answers.marks)
                self._soft.append((both[0], both[1].half()))

    def _one_hot(self, marks: Tensor) -> Tensor:
        return functional.one_hot(marks, self._size).float()

    def loss(self, batch: list[int]) -> Tensor:
        """See `pyropunct.nets.running_text.RunningNetwork.loss`; as written, words teach what stands there."""
        windows, network = [self.windows[number] for number in batch], self.network
        seen = [self._words[number][lower][part] for number, part, lower in windows]
        words = self.model.vocabulary.encode(seen)
        gold, soft = list[ReaderAnswers](), list[tuple[Tensor, Tensor]]()
        for number, part, lower in windows:
            gold.append(ReaderAnswers(*(row[part] for row in self._answers[number][lower])))
            of_window = tuple(row[part] for row in self._soft[number])
            soft.append(of_window if lower else (gold[-1].ends, self._one_hot(gold[-1].marks)))
        of_ends, of_marks = (pad_sequence(list(column), True).float() for column in zip(*soft, strict=True))
        paddings = (0, 0, NO_CASE, 0)
        columns = zip(zip(*gold, strict=True), paddings, strict=True)
        answers = ReaderAnswers(*(pad_sequence(list(column), True, padding) for column, padding in columns))
        ends, cases, marks = network(words)
        word, cased = words.words > 0, answers.cases != NO_CASE
        cases = cases[cased] + answers.starts[cased][:, None] * network.at_start
        marks = marks[word] + answers.ends[word][:, None] * network.at_end
        case_loss = functional.cross_entropy(cases, answers.cases[cased], reduction="sum") / word.sum()
        end_loss = functional.binary_cross_entropy_with_logits(ends[word].float(), of_ends[word])
        return (
            end_loss + functional.cross_entropy(marks, of_marks[word]) + case_loss * self.recipe.case_weight
        )


def marks_given(reader: RunningReader, read: Reading, ends: Tensor) -> Tensor:
    """(n, labels) the probabilities of the strings behind n words, given the ends."""
    at_end: Tensor = reader.network.at_end.detach()
    return (read.marks.float() + ends[:, None] * at_end).softmax(-1)


def taught_reader(
    first: RunningReader,
    teacher: RunningReader,
    texts: Sequence[Document],
    dev: Sequence[Document],
    seed: int,
    checkpoint: AnyCheckpoint,
) -> RunningReader:
    """A reader that goes on to learn from a teacher."""
    recipe = replace(
        first.recipe,
        epochs=5,
        epoch_words=700_000,
        batch_words=3_000,
        learning_rate=0.0015,
        averaging=0.995,
        lower_cased=0.7,
        dropout=0.1,
    )
    return trained(lambda: Taught(teacher, first, texts, dev, recipe, seed), seed, checkpoint)
