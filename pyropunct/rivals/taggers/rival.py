"""Rivals and their recurrent networks, which predict a label for each slot from the words."""

from abc import ABC
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from pyropunct.fitted.evaluation import Evaluation
from pyropunct.fitted.model_file import write_model_file
from pyropunct.nets.networks import TrainedWordNetwork
from pyropunct.nets.word_embedding import by_length
from pyropunct.restore.scores import slot_distance
from pyropunct.rivals.taggers.chain import LabelDistribution
from pyropunct.rivals.taggers.words import RivalRecipe, RivalVocabulary, SlotBatch, WordVectors
from pyropunct.text.marks import Surface
from pyropunct.treebank.sentence import Sentence

BATCH_SLOTS = 4000
"""The most slots, padding included, that are processed together outside training."""


class RivalNetwork(nn.Module):
    """Word vectors, and bidirectional layers of ``cell`` over them; a subclass defines `forward`.

    :param pretrained: the number of pretrained features of a word.
    """

    cell: ClassVar[type[nn.LSTM] | type[nn.GRU]]

    def __init__(self, vocabulary: RivalVocabulary, recipe: RivalRecipe, pretrained: int = 0) -> None:
        super().__init__()
        self.labels = len(vocabulary.slots.labels.strings) + 1
        self.vectors = WordVectors(vocabulary, recipe, pretrained)
        self.dropout = nn.Dropout(recipe.dropout)
        sizes = recipe.word_size, recipe.hidden_size, recipe.layers
        dropout = recipe.dropout if recipe.layers > 1 else 0.0
        self.layers = self.cell(*sizes, batch_first=True, dropout=dropout, bidirectional=True)

    def forward(self, batch: SlotBatch) -> LabelDistribution:
        """The distribution of the labels of the slots."""
        raise NotImplementedError


def run_layers(layers: nn.RNNBase, vectors: Tensor, lengths: Tensor) -> Tensor:
    """(B, T, states) the states of recurrent layers over padded (B, T, size) vectors, zero in the padding."""
    packed = pack_padded_sequence(vectors, lengths, batch_first=True, enforce_sorted=False)
    return pad_packed_sequence(layers(packed)[0], batch_first=True)[0]


@dataclass(frozen=True)
class Rival(TrainedWordNetwork[RivalVocabulary, RivalRecipe, RivalNetwork], ABC):
    """Labels every slot of a sentence with its whole string, given the words alone.

    A string without a label has the probability of the label for unknown strings times the probability of its
    spelling, so that all strings add up to 1::

        p(x | words) = p(labels of x | words) * product of q(x_i | no label) over the unknown x_i

    :cvar kind: its name on the command line and in folders.
    :cvar name: its name in tables.
    """

    kind: ClassVar[str]
    name: ClassVar[str]

    @torch.no_grad()
    def log_prob(self, sentences: Sequence[Sentence]) -> Tensor:
        """(sentences,) log p(x | words) in natural logarithms, over all slots; START is given."""
        slots = self.vocabulary.slots
        total = torch.zeros(len(sentences), dtype=torch.double)
        for numbers, distribution in self._predict([sentence.tree.forms for sentence in sentences]):
            labels = slots.encode([sentences[number].surface for number in numbers]).to(self.device)
            total[numbers] = distribution.log_prob(labels).cpu().double()
        strings = (slots.labels.strings_of(sentence.surface) for sentence in sentences)
        return total + torch.tensor(list(map(slots.log_spelling, strings)), dtype=torch.double)

    def evaluate(self, sentences: Sequence[Sentence]) -> Evaluation:
        """The perplexity of the punctuation of sentences, given their words."""
        return Evaluation.of(sentences, self.log_prob(sentences))

    @torch.no_grad()
    def restore(self, sentences: Sequence[Sequence[str]]) -> list[Surface]:
        """The slots 0..n of each sentence with strings that have a label and consist of known marks.

        Each string has the least expected edit distance under its marginal. No words: ValueError.
        """
        labels, restored = self.vocabulary.slots.labels, dict[int, Surface]()
        printable = torch.tensor(labels.printable, device=self.device)
        for numbers, distribution in self._predict(sentences):
            marginals = distribution.among(printable).marginals()
            choice = (marginals @ self._distances.to(marginals)).argmin(-1)
            for number, row in zip(numbers, printable[choice].tolist(), strict=True):
                restored[number] = labels.surface(row[: len(sentences[number]) + 1])
        return [restored[number] for number in range(len(sentences))]

    @cached_property
    def _distances(self) -> Tensor:
        """(printable, printable) edit distances of the strings that can be restored."""
        labels = self.vocabulary.slots.labels
        strings = [labels.strings[number] for number in labels.printable]
        rows = [[float(slot_distance(string, other)) for other in strings] for string in strings]
        return torch.tensor(rows)

    @torch.no_grad()
    def _predict(self, sentences: Sequence[Sequence[str]]) -> Iterator[tuple[list[int], LabelDistribution]]:
        """Batches of sentences of similar length: their numbers, and the distribution of their labels."""
        for number, words in enumerate(sentences, 1):
            if not words:
                raise ValueError(f"sentence {number}: there is no word in it")
        for numbers in by_length([len(words) + 1 for words in sentences], BATCH_SLOTS):
            yield numbers, self.network(self.encode([sentences[number] for number in numbers]))

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """See `pyropunct.nets.networks.TrainedNetwork.to_parts`; the recipe tells the kind."""
        plain, tensors = super().to_parts()
        plain["recipe"]["kind"] = self.kind
        return plain, tensors

    def save(self, path: str | Path) -> None:
        """Write the rival to a model file, whole or not at all; failures raise ModelFileError."""
        write_model_file(Path(path), *self.to_parts())
