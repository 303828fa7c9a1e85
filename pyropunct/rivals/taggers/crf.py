"""BiLSTM-CRF: a recurrent network whose labels depend on their neighbours (Xu et al. 2016)."""

import torch
from torch import Tensor, nn

from pyropunct.rivals.taggers.chain import LinearChain
from pyropunct.rivals.taggers.network import RivalNetwork, beside_slots, run_layers
from pyropunct.rivals.taggers.recipes import RivalRecipe
from pyropunct.rivals.taggers.rival import Rival
from pyropunct.rivals.taggers.words import RivalVocabulary, SlotBatch

OPEN = 1.0
"""The bias of the forget gates before training (Jozefowicz et al. 2015)."""


class CRFNetwork(RivalNetwork):
    """A bidirectional LSTM over the words, and a linear-chain CRF with bigram topology over the slots.

    The state of a slot is made from the LSTM's states at the words on its left and on its right.  The word
    left of the first slot is BEGIN, and the word right of the last slot is END.
    """

    def __init__(self, vocabulary: RivalVocabulary, recipe: RivalRecipe, pretrained: int = 0) -> None:
        super().__init__(vocabulary, recipe, pretrained)
        size, layers, dropout = recipe.hidden_size, recipe.layers, self.between_layers
        self.layers = nn.LSTM(
            recipe.word_size, size, layers, batch_first=True, dropout=dropout, bidirectional=True
        )
        _remember_at_first(self.layers)
        self.slot_state = nn.Linear(4 * size, 2 * size)
        self.scores = nn.Linear(2 * size, self.labels)
        self.transitions = nn.Parameter(torch.zeros(self.labels, self.labels))

    def forward(self, batch: SlotBatch) -> LinearChain:
        """The distribution of the labels of the slots."""
        return self.chain(self.vectors(batch.words, batch.features), batch)

    def chain(self, vectors: Tensor, batch: SlotBatch) -> LinearChain:
        """The distribution given the vectors (B, longest n + 2, size) of the words."""
        states = self.dropout(run_layers(self.layers, vectors, batch.slots + 1))
        slots = self.dropout(self.slot_state(beside_slots(states)).tanh())
        return LinearChain(self.scores(slots), self.transitions, batch.present)


def _remember_at_first(layers: nn.LSTM) -> None:
    """Open the forget gates, so that gradients reach the far end of a sentence from the start."""
    for name, bias in layers.named_parameters():
        if name.startswith("bias_hh"):
            _, forget, _, _ = bias.detach().chunk(4)
            forget.fill_(OPEN)


class BiLSTMCRF(Rival):
    """The BiLSTM-CRF: see `CRFNetwork`."""

    kind = "crf"
    name = "BiLSTM-CRF"
    what = f"a {name}"
    kinds = (RivalVocabulary, RivalRecipe, CRFNetwork)
