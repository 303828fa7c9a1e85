"""The network of a slot tagger: from states of words to scores of the strings in the slots between them."""

import torch
from torch import Tensor, nn
from torch.nn import functional

from pyropunct.nets.layers import SentenceDropout
from pyropunct.nets.tagger.recipes import SlotTaggerRecipe
from pyropunct.nets.tagger.vocabulary import SlotVocabulary


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
