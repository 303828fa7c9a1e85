"""The slot tagger, p(x | words) without trees: its network, and the trained tagger."""

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from pyropunct.draws import Draws
from pyropunct.inference.forward import renumber
from pyropunct.nets.layers import SentenceDropout
from pyropunct.nets.parser.parser import BATCH_WORDS, BiaffineParser
from pyropunct.nets.recipes import SlotTaggerRecipe
from pyropunct.nets.tagger.labels import SlotString, SlotVocabulary
from pyropunct.nets.trained import TrainedNetwork
from pyropunct.nets.words import in_batches
from pyropunct.treebank.marks import START, Surface


class SlotNetwork(nn.Module):
    """Scores of the labels of the slots of sentences.

    With h_i the state of a parser's network at word i, and learned vectors h_0 and h_n+1 for the edges of a
    sentence of n words, slot i, between word i and word i + 1, has

        p(label of slot i | words) = softmax(S tanh(V [h_i; h_i+1] + a) + b)

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
        self.scores = nn.Linear(recipe.slot_size, len(vocabulary.labels.strings) + 1)
        self.float()

    def forward(self, states: Tensor, lengths: Tensor) -> Tensor:
        """The logits (sentences, longest n + 1, labels).

        :param states: (sentences, longest n, size) the states of the words.
        :param lengths: (sentences,) the number of words of each.
        """
        left, right = self.edges[:, None, None].expand(-1, len(states), 1, -1)
        words = torch.cat([left, self.dropout(states), right], 1)
        behind = torch.arange(words.shape[1]) > lengths[:, None]
        words = torch.where(behind[..., None], right, words)
        slots = self.slots(torch.cat([words[:, :-1], words[:, 1:]], -1)).tanh()
        scores: Tensor = self.scores(self.dropout(slots))
        return scores

    def loss(self, states: Tensor, lengths: Tensor, labels: Tensor) -> Tensor:
        """The negative log-probability of the right labels, per word.

        :param labels: (sentences, longest n + 1).
        """
        scores, present = self(states, lengths), torch.arange(labels.shape[1]) <= lengths[:, None]
        total = functional.cross_entropy(scores[present], labels[present], reduction="sum")
        return total / lengths.sum()


Probabilities = NDArray[np.float64]
"""(n + 1, labels) the probability of each label in each slot of a sentence of n words."""

Spell = Callable[[int, np.random.Generator], SlotString]
"""Draws the string of a slot that has no label."""


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

    def draw(
        self,
        probabilities: Probabilities,
        samples: int,
        generator: np.random.Generator,
        spell: Spell | None = None,
    ) -> Draws:
        """Draws from p(x | words) for one sentence.

        :param probabilities: as `read` gives them.
        :param spell: draws the string of a slot that has no label; by default without regard to the slot.
        """
        labels, (slots, number) = self.vocabulary.labels, probabilities.shape
        place = np.arange(slots)
        bounds = probabilities.cumsum(1) / probabilities.sum(1, keepdims=True) + place[:, None]
        places = np.searchsorted(bounds.ravel(), generator.random((samples, slots)) + place, side="right")
        drawn = np.minimum(places - number * place, number - 1)
        unknown = drawn == labels.unknown
        any_slot = self.vocabulary.spelling.draw
        spelt = [
            any_slot(generator) if spell is None else spell(slot, generator)
            for slot in np.nonzero(unknown)[1].tolist()
        ]
        row = {string: row for row, string in enumerate(dict.fromkeys(spelt), start=labels.unknown)}
        drawn[unknown] = [row[string] for string in spelt]
        strings = [*labels.strings, *row]
        drawn[:, 0] += len(strings)  # with START
        numbers, distinct = renumber(np.ascontiguousarray(drawn.T, np.int32), 2 * len(strings))
        started = [divmod(number, len(strings)) for number in distinct.tolist()]
        shown = tuple((START, *strings[row]) if starts else strings[row] for starts, row in started)
        return Draws(shown, numbers, np.full(samples, 1 / samples))


def generator_for(words: Sequence[str], seed: int) -> np.random.Generator:
    """Random numbers that depend on the words and on a seed alone."""
    digest = hashlib.sha256(repr(tuple(words)).encode()).digest()
    return np.random.default_rng([seed, int.from_bytes(digest)])
