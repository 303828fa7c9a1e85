"""BiLSTM-CRF: a recurrent tagger whose labels depend on their neighbours (Xu et al. 2016)."""

import torch
from torch import Tensor, nn

from pyropunct.nets.pretrained import Pretrained
from pyropunct.nets.tagger.labels import Labels, Spelling
from pyropunct.rivals.taggers.chain import LinearChain
from pyropunct.rivals.taggers.recipes import RivalRecipe
from pyropunct.rivals.taggers.rival import Rival, SlotBatch, run_layers
from pyropunct.rivals.taggers.words import WordVocabulary

OPEN = 1.0
"""The bias of the forget gates before training (Jozefowicz et al. 2015)."""


class BiLSTMCRF(Rival):
    """A bidirectional LSTM over the words, and a linear-chain CRF with bigram topology over the slots.

    The state of a slot is made from the LSTM's states at the words on its left and on its right.  The word
    left of the first slot is BEGIN, and the word right of the last slot is END.
    """

    kind = "crf"
    name = "BiLSTM-CRF"

    def __init__(
        self,
        words: WordVocabulary,
        labels: Labels,
        spelling: Spelling,
        recipe: RivalRecipe,
        pretrained: Pretrained | None = None,
    ) -> None:
        super().__init__(words, labels, spelling, recipe, pretrained)
        size, number = recipe.hidden_size, len(labels.strings) + 1
        between = recipe.dropout if recipe.layers > 1 else 0.0
        self.layers = nn.LSTM(
            recipe.word_size, size, recipe.layers, batch_first=True, dropout=between, bidirectional=True
        )
        _remember_at_first(self.layers)
        self.slot_state = nn.Linear(4 * size, 2 * size)
        self.scores = nn.Linear(2 * size, number)
        self.transitions = nn.Parameter(torch.zeros(number, number))

    def forward(self, batch: SlotBatch) -> LinearChain:
        """The distribution of the labels of the slots."""
        vectors = self.vectors(batch.words, batch.features)
        states = self.dropout(run_layers(self.layers, vectors, batch.slots + 1))
        beside: Tensor = torch.cat([states[:, :-1], states[:, 1:]], -1)
        slots = self.dropout(self.slot_state(beside).tanh())
        return LinearChain(self.scores(slots), self.transitions, batch.present)


def _remember_at_first(layers: nn.LSTM) -> None:
    """Open the forget gates, so that gradients reach the far end of a sentence from the start."""
    for name, bias in layers.named_parameters():
        if name.startswith("bias_hh"):
            _, forget, _, _ = bias.detach().chunk(4)
            forget.fill_(OPEN)
