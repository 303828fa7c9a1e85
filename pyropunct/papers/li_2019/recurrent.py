"""Recurrent networks that score the labels of slots, from words as sums of vectors of attributes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import ceil
from typing import Any, ClassVar, NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from pyropunct.nets.labels import SlotVocabulary
from pyropunct.nets.pretrained import Pretrained
from pyropunct.nets.trainer import Layers, TrainingRecipe
from pyropunct.nets.word_batches import frequent, numbers_of
from pyropunct.nets.word_embedding import standardised
from pyropunct.papers.chain import IndependentSlots, LabelDistribution, LinearChain
from pyropunct.treebank.sentence import Sentence
from pyropunct.untrusted import types
from pyropunct.vocabulary import word_shape


@dataclass(frozen=True)
class RivalRecipe(TrainingRecipe):
    """All settings that determine a rival, apart from its kind, the data and the seed.

    The learning rate of AdamW falls linearly to zero.  Word vectors, the states between layers and the final
    states have the same rate of dropout.

    :ivar word_size: the length of the word vectors.
    :ivar hidden_size: the length of the state of each direction of the recurrent layers.
    :ivar layers: the number of bidirectional recurrent layers.
    :ivar word_dropout: the probability that a form counts as unknown in training.
    :ivar weight_decay: AdamW's.
    :ivar batch_size: the number of sentences in a step.
    :ivar patience: training stops after this many epochs without a gain on dev.  If ``least_steps`` increases
        the number of epochs, the patience grows in proportion.
    """

    second_moment: ClassVar[float] = 0.999
    averaging: ClassVar[float] = 0.0

    epochs: int = 8
    least_steps: int = 1000
    dropout: float = 0.5
    word_size: int = 200
    hidden_size: int = 200
    layers: Layers = 1
    word_dropout: float = 0.2
    weight_decay: float = 0.01
    batch_size: int = 32
    patience: int = 3

    def planned_epochs(self, sentences: int) -> int:
        """The greatest number of epochs for a number of training sentences."""
        return max(self.epochs, ceil(self.least_steps / ceil(sentences / self.batch_size)))

    def planned_patience(self, sentences: int) -> int:
        """The number of epochs without a gain that end training, for a number of training sentences."""
        return ceil(self.patience * self.planned_epochs(sentences) / self.epochs)


BEGIN, END = "\t^", "\t$"
"""Words before the first and after the last word of every sentence; no form contains a tab."""

ATTRIBUTE_COUNT = 2
"""An attribute seen less often in training counts as unknown."""

FORM = 0
"""The index of the form among the attributes of a word."""


@lru_cache(1 << 16)
def word_attributes(word: str) -> tuple[str, ...]:
    """The lower-cased form, its last three, two and one characters, its first character, and its shape."""
    form = word.lower()
    values = (form, form[-3:], form[-2:], form[-1:], form[:1], str(word_shape(word)))
    return tuple(f"{kind}={value}" for kind, value in zip(KINDS, values, strict=True))


KINDS = ("form", "last three", "last two", "last", "first", "shape")
UNKNOWNS = tuple(f"unknown {kind}" for kind in KINDS)


class SlotBatch(NamedTuple):
    """Sentences as tensors.

    :ivar words: (B, longest n + 2, 6) attributes of the words.
    :ivar slots: (B,) the number of slots n + 1 of each sentence, on the CPU.
    :ivar present: (B, longest n + 1) whether a slot is real and not padding.
    :ivar features: (B, longest n + 2, size) pretrained features, 0 in the padding; None without them.
    """

    words: Tensor
    slots: Tensor
    present: Tensor
    features: Tensor | None = None

    def to(self, device: torch.device | str) -> "SlotBatch":
        """The same with all tensors but `slots` on a device."""
        features = None if self.features is None else self.features.to(device)
        return SlotBatch(self.words.to(device), self.slots, self.present.to(device), features)


@dataclass(frozen=True)
class RivalVocabulary:
    """Numbers for the attributes of words, unknown attributes of all kinds first, and for slot strings."""

    attributes: tuple[str, ...]
    slots: SlotVocabulary

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return numbers_of(self.attributes)

    def encode(self, sentences: Sequence[Sequence[str]], pretrained: Pretrained | None = None) -> SlotBatch:
        """The words of sentences, with their features from ``pretrained``."""
        encoded = [self.encode_words(words) for words in sentences]
        slots = torch.tensor([len(words) - 1 for words in encoded])
        present = torch.arange(int(slots.max())) < slots[:, None]
        features = None
        if pretrained is not None:  # there are words before the first and after the last
            features = functional.pad(pretrained.features(sentences), (0, 0, 1, 1))
        return SlotBatch(pad_sequence(encoded, batch_first=True), slots, present, features)

    def encode_words(self, words: Sequence[str]) -> Tensor:
        """(n + 2, 6) the numbers of the attributes of BEGIN, the n words, and END."""
        rows = [
            [self._numbers.get(attribute, kind) for kind, attribute in enumerate(word_attributes(word))]
            for word in (BEGIN, *words, END)
        ]
        return torch.tensor(rows)

    @classmethod
    def collect(cls, train: Sequence[Sentence]) -> Self:
        """The attributes that occur at least twice in a training treebank, and its slot strings."""
        seen = (
            attribute
            for sentence in train
            for word in (BEGIN, *sentence.tree.forms, END)
            for attribute in word_attributes(word)
        )
        known = sorted(frequent(seen, ATTRIBUTE_COUNT))
        slots = SlotVocabulary.collect([sentence.surface for sentence in train])
        return cls((*UNKNOWNS, *known), slots)

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """The vocabulary of a dictionary of its parts. Raises ValueError if one is missing or damaged."""
        attributes = types("the list of attributes", plain["attributes"], UNKNOWNS)
        return cls(attributes, SlotVocabulary.from_json(plain["slots"]))


class WordVectors(nn.Module):
    """The sum of the vectors of a word's attributes, and of a linear function of its pretrained features."""

    def __init__(self, vocabulary: RivalVocabulary, recipe: RivalRecipe, pretrained: int = 0) -> None:
        super().__init__()
        self.vectors = nn.Embedding(len(vocabulary.attributes), recipe.word_size)
        nn.init.normal_(self.vectors.weight, std=0.3)
        self.dropout, self.word_dropout = nn.Dropout(recipe.dropout), recipe.word_dropout
        self.pretrained = nn.Linear(pretrained, recipe.word_size) if pretrained else None

    def forward(self, words: Tensor, features: Tensor | None = None) -> Tensor:
        """(..., size) vectors of the words (..., 6); ``features`` are normalised to mean 0 and variance 1."""
        if self.training:
            words = words.clone()
            forms = words[..., FORM]
            forms[torch.rand(forms.shape, device=forms.device) < self.word_dropout] = FORM
        vectors = self.vectors(words).sum(-2)
        if self.pretrained is not None and features is not None:
            vectors = vectors + self.pretrained(standardised(features))
        return self.dropout(vectors)


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


OPEN = 1.0
"""The bias of the forget gates before training (Jozefowicz et al. 2015)."""


class CRFNetwork(RivalNetwork):
    """BiLSTM-CRF: a recurrent network whose labels depend on their neighbours (Xu et al. 2016).

    A bidirectional LSTM reads the words; the state of a slot is made from its states at the words on both
    sides, BEGIN and END included.  A linear-chain CRF with bigram topology stands over the slots.
    """

    cell = nn.LSTM

    def __init__(self, vocabulary: RivalVocabulary, recipe: RivalRecipe, pretrained: int = 0) -> None:
        super().__init__(vocabulary, recipe, pretrained)
        size = recipe.hidden_size
        for name, bias in self.layers.named_parameters():  # so that gradients reach far ends from the start
            if name.startswith("bias_hh"):
                _, forget, _, _ = bias.detach().chunk(4)
                forget.fill_(OPEN)
        self.slot_state = nn.Linear(4 * size, 2 * size)
        self.scores = nn.Linear(2 * size, self.labels)
        self.transitions = nn.Parameter(torch.zeros(self.labels, self.labels))

    def forward(self, batch: SlotBatch) -> LinearChain:
        """The distribution of the labels of the slots."""
        return self.chain(self.vectors(batch.words, batch.features), batch)

    def chain(self, vectors: Tensor, batch: SlotBatch) -> LinearChain:
        """The distribution given the vectors (B, longest n + 2, size) of the words."""
        states = self.dropout(run_layers(self.layers, vectors, batch.slots + 1))
        beside = torch.cat([states[:, :-1], states[:, 1:]], -1)
        slots = self.dropout(self.slot_state(beside).tanh())
        return LinearChain(self.scores(slots), self.transitions, batch.present)


class AttentionNetwork(RivalNetwork):
    """BiGRU with attention: a recurrent network that looks at the whole sentence (Tilk & Alumäe 2016).

    Slot t, in front of a word or of END, has the state s_t of a GRU that reads the bidirectional states h_1
    .. h_t.  The attention-weighted sum a_t of all h is combined with it by late fusion::

        f_t = A a_t * sigmoid(B A a_t + C s_t + b) + s_t
        p(label of slot t | words) = softmax(D f_t + d)

    The query is s_t, with scaled inner products; in the original it is s_t-1, and scores are additive.
    """

    cell = nn.GRU

    def __init__(self, vocabulary: RivalVocabulary, recipe: RivalRecipe, pretrained: int = 0) -> None:
        super().__init__(vocabulary, recipe, pretrained)
        size = recipe.hidden_size
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
