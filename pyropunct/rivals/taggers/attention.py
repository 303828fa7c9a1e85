"""BiGRU with attention: a recurrent network that looks at the whole sentence (Tilk & Alumäe 2016)."""

from torch import nn

from pyropunct.rivals.taggers.chain import IndependentSlots
from pyropunct.rivals.taggers.network import RivalNetwork, run_layers
from pyropunct.rivals.taggers.recipes import RivalRecipe
from pyropunct.rivals.taggers.rival import Rival
from pyropunct.rivals.taggers.words import RivalVocabulary, SlotBatch


class AttentionNetwork(RivalNetwork):
    """A bidirectional GRU over the words, a GRU over the slots that attends to it, and late fusion.

    Slot t, in front of a word or of END, has the state s_t of a GRU that reads the bidirectional states
    h_1 .. h_t.  The attention-weighted sum a_t of all h is combined with it by late fusion::

        f_t = A a_t * sigmoid(B A a_t + C s_t + b) + s_t
        p(label of slot t | words) = softmax(D f_t + d)

    The query of the attention is s_t, and its scores are scaled inner products.  In the original the query is
    s_t-1, and the scores are additive.
    """

    def __init__(self, vocabulary: RivalVocabulary, recipe: RivalRecipe, pretrained: int = 0) -> None:
        super().__init__(vocabulary, recipe, pretrained)
        size, layers, dropout = recipe.hidden_size, recipe.layers, self.between_layers
        self.layers = nn.GRU(
            recipe.word_size, size, layers, batch_first=True, dropout=dropout, bidirectional=True
        )
        self.slot_layer = nn.GRU(2 * size, size, batch_first=True)
        self.attention = nn.MultiheadAttention(
            size, num_heads=1, kdim=2 * size, vdim=2 * size, batch_first=True
        )
        self.gate_attended = nn.Linear(size, size, bias=False)
        self.gate_state = nn.Linear(size, size)
        self.scores = nn.Linear(size, self.labels)

    def forward(self, batch: SlotBatch) -> IndependentSlots:
        """The distribution of the labels of the slots."""
        vectors = self.vectors(batch.words, batch.features)
        words = self.dropout(run_layers(self.layers, vectors, batch.slots + 1))[:, 1:]
        states = run_layers(self.slot_layer, words, batch.slots)
        attended, _ = self.attention(
            states, words, words, key_padding_mask=~batch.present, need_weights=False
        )
        gate = (self.gate_attended(attended) + self.gate_state(states)).sigmoid()
        return IndependentSlots(self.scores(self.dropout(attended * gate + states)), batch.present)


class BiGRUAttention(Rival):
    """The BiGRU with attention: see `AttentionNetwork`."""

    kind = "attention"
    name = "BiGRU with attention"
    what = f"a {name}"
    kinds = (RivalVocabulary, RivalRecipe, AttentionNetwork)
