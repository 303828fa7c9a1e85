"""The networks of rivals: from the words of sentences to distributions over the labels of slots."""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence

from pyropunct.rivals.taggers.chain import LabelDistribution
from pyropunct.rivals.taggers.recipes import RivalRecipe
from pyropunct.rivals.taggers.words import RivalVocabulary, SlotBatch, WordVectors


class RivalNetwork(nn.Module):
    """Word vectors; a subclass defines `forward`.

    :param vocabulary: the attributes of words, and the labels.
    :param recipe: the sizes of its layers.
    :param pretrained: the number of pretrained features of a word.
    """

    def __init__(self, vocabulary: RivalVocabulary, recipe: RivalRecipe, pretrained: int = 0) -> None:
        super().__init__()
        self.labels = len(vocabulary.slots.labels.strings) + 1
        self.vectors = WordVectors(
            len(vocabulary.attributes), recipe.word_size, recipe.dropout, recipe.word_dropout, pretrained
        )
        self.dropout = nn.Dropout(recipe.dropout)
        self.between_layers = recipe.dropout if recipe.layers > 1 else 0.0

    def forward(self, batch: SlotBatch) -> LabelDistribution:
        """The distribution of the labels of the slots."""
        raise NotImplementedError


def run_layers(layers: nn.RNNBase, vectors: Tensor, lengths: Tensor) -> Tensor:
    """(B, T, states) the states of recurrent layers over padded sequences, zero in the padding.

    :param vectors: (B, T, size) the inputs.
    :param lengths: (B,) the length of each sequence.
    """
    packed: PackedSequence = pack_padded_sequence(vectors, lengths, batch_first=True, enforce_sorted=False)
    return pad_packed_sequence(layers(packed)[0], batch_first=True)[0]


def beside_slots(states: Tensor) -> Tensor:
    """(B, T, 2 states) the states of the words (B, T + 1, states) on either side of each slot."""
    return torch.cat([states[:, :-1], states[:, 1:]], -1)
