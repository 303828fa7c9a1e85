"""The slot tagger, p(x | words) without trees: its network, and the trained tagger."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from pyropunct.nets.labels import Probabilities, SlotVocabulary
from pyropunct.nets.layers import SentenceDropout
from pyropunct.nets.parser.parser import BATCH_WORDS, BiaffineParser
from pyropunct.nets.recipes import SlotTaggerRecipe
from pyropunct.nets.trained import TrainedNetwork
from pyropunct.nets.words import in_batches
from pyropunct.text.marks import Surface


class SlotNetwork(nn.Module):
    """Scores of the labels of the slots of sentences.

    With h_i the state of a parser's network at word i, and learned vectors h_0 and h_n+1 for the edges of a
    sentence of n words, slot i, between word i and word i + 1, has

        p(label of slot i | words) = softmax(S tanh(V [h_i; h_i+1] + a + [i = n] F h_1) + b)

    The last slot sees the first word, for this is where most questions show themselves.

    :param vocabulary: the labels.
    :param recipe: the size of a slot.
    :param size: features of a state.
    """

    def __init__(self, vocabulary: SlotVocabulary, recipe: SlotTaggerRecipe, size: int) -> None:
        super().__init__()
        self.dropout = SentenceDropout(recipe.dropout)
        self.edges = nn.Parameter(torch.empty(2, size))
        nn.init.normal_(self.edges, std=0.1)
        self.slots = nn.Linear(2 * size, recipe.slot_size)
        self.first = nn.Linear(size, recipe.slot_size, bias=False)
        self.scores = nn.Linear(recipe.slot_size, len(vocabulary.labels.strings) + 1)
        self.float()

    def forward(self, states: Tensor, lengths: Tensor) -> Tensor:
        """The logits (sentences, longest n + 1, labels).

        :param states: (sentences, longest n, size) the states of the words.
        :param lengths: (sentences,) the number of words of each.
        """
        left, right = self.edges[:, None, None].expand(-1, len(states), 1, -1)
        words = torch.cat([left, self.dropout(states), right], 1)
        place = torch.arange(words.shape[1])
        words = torch.where((place > lengths[:, None])[..., None], right, words)
        last = (place[:-1] == lengths[:, None])[..., None]
        slots = self.slots(torch.cat([words[:, :-1], words[:, 1:]], -1)) + last * self.first(words[:, 1:2])
        scores: Tensor = self.scores(self.dropout(slots.tanh()))
        return scores

    def loss(self, states: Tensor, lengths: Tensor, labels: Tensor) -> Tensor:
        """The negative log-probability of the right labels, per word.

        :param labels: (sentences, longest n + 1).
        """
        scores, present = self(states, lengths), torch.arange(labels.shape[1]) <= lengths[:, None]
        total = functional.cross_entropy(scores[present], labels[present], reduction="sum")
        return total / lengths.sum()


@dataclass(frozen=True)
class SlotTagger(TrainedNetwork[SlotVocabulary, SlotTaggerRecipe, SlotNetwork]):
    """Punctuates words without trees, each slot by itself; trained by
    `pyropunct.nets.tagger.train_slot_tagger`.

    It reads the states of a parser's network.  The probability of a string without a label is the probability
    of the label for such strings, times the probability of its spelling.  So the probabilities of all strings
    add up to 1::

        p(x | words) = product over i of p(label of x_i | words) q(x_i | no label, if it has none)

    :ivar parser: whose states it reads.
    """

    what = "a slot tagger"
    kinds = (SlotVocabulary, SlotTaggerRecipe, SlotNetwork)

    parser: BiaffineParser

    @classmethod
    def features_of(cls, source: BiaffineParser) -> int:
        """The size of a state of the parser."""
        return source.state_size

    def read(self, sentences: Sequence[Sequence[str]]) -> list[Probabilities]:
        """The probabilities of the labels of each sentence.

        :raises ValueError: if a sentence has no word.
        """
        return in_batches(sentences, BATCH_WORDS, self._read)

    @torch.inference_mode()
    def _read(self, sentences: Sequence[Sequence[str]]) -> list[Probabilities]:
        lengths = torch.tensor([len(words) for words in sentences])
        rows = zip(self.network(self.parser.states(sentences), lengths), sentences, strict=True)
        return [row[: len(words) + 1].double().softmax(-1).numpy() for row, words in rows]

    def log_prob(self, sentences: Sequence[Sequence[str]], surfaces: Sequence[Surface]) -> Tensor:
        """(sentences,) log p(x | words) in natural logarithms, over all slots; START is given.

        :param sentences: the words of each.
        :param surfaces: the punctuation of each.
        """
        pairs = zip(self.read(sentences), surfaces, strict=True)
        return torch.tensor([self._log_prob(*pair) for pair in pairs], dtype=torch.double)

    def _log_prob(self, probabilities: Probabilities, surface: Surface) -> float:
        strings = self.vocabulary.labels.strings_of(surface)
        numbers = self.vocabulary.labels.encode(strings)
        of_labels = np.log(probabilities[np.arange(len(numbers)), numbers])
        return math.fsum(of_labels.tolist()) + self.vocabulary.log_spelling(strings)


def generator_for(words: Sequence[str], seed: int) -> np.random.Generator:
    """Random numbers that depend on the words and on a seed alone."""
    digest = hashlib.sha256(repr(tuple(words)).encode()).digest()
    return np.random.default_rng([seed, int.from_bytes(digest)])
