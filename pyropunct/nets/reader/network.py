"""The network of a reader of running text: sentence ends and cases from words that cross sentences."""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from pyropunct.nets.layers import WordNetwork, mirror, stack
from pyropunct.nets.reader.case import CASES
from pyropunct.nets.reader.encoding import NO_CASE, ReaderVocabulary
from pyropunct.nets.reader.recipes import ReaderRecipe
from pyropunct.nets.words import WordBatch


class Answers(NamedTuple):
    """The right answers for a batch of windows; each (windows, longest).

    :ivar ends: 1 where a sentence ends behind a word, 0 elsewhere.
    :ivar starts: 1 where a sentence starts with a word.
    :ivar cases: of the words, `NO_CASE` where no case is to be learned and in the padding.
    """

    ends: Tensor
    starts: Tensor
    cases: Tensor


class RunningNetwork(WordNetwork):
    """Scores for each word: whether a sentence ends behind it, and how it is written.

    With h_i the state of the LSTMs at word i and s_i = 1 if a sentence starts with it,

        p(end behind i) = sigmoid(u' h_i + a)        p(case of i | s_i) = softmax(V h_i + b + s_i c)

    so that the cases depend on the starts of sentences that were decided on.

    :param vocabulary: the types of words.
    :param recipe: the sizes of everything.
    :param pretrained: see `pyropunct.nets.layers.WordNetwork`.
    """

    def __init__(self, vocabulary: ReaderVocabulary, recipe: ReaderRecipe, pretrained: int = 0) -> None:
        super().__init__(vocabulary, recipe, pretrained)
        self.recipe = recipe
        self.layers = stack(recipe.layers, self.word_size, recipe.lstm_size)
        self.ends = nn.Linear(2 * recipe.lstm_size, 1)
        self.cases = nn.Linear(2 * recipe.lstm_size, CASES)
        self.at_start = nn.Parameter(torch.zeros(CASES))
        self.float()

    def forward(self, batch: WordBatch) -> tuple[Tensor, Tensor]:
        """The logits of ends (windows, longest), and of cases inside of sentences (windows, longest, 4)."""
        reverse, words = mirror(batch), self.embed(batch)
        for layer in self.layers:
            words = layer(self.dropout(words), reverse)
        words = self.dropout(words)
        return self.ends(words)[..., 0], self.cases(words)

    def loss(self, batch: WordBatch, answers: Answers) -> Tensor:
        """The negative log-probability of the right ends and, with a weight, cases, per word."""
        ends, cases = self(batch)
        word, cased = batch.words > 0, answers.cases != NO_CASE
        end_loss = functional.binary_cross_entropy_with_logits(ends[word], answers.ends[word])
        cases = cases[cased] + answers.starts[cased][:, None] * self.at_start
        case_loss = functional.cross_entropy(cases, answers.cases[cased], reduction="sum") / word.sum()
        return end_loss + self.recipe.case_weight * case_loss
