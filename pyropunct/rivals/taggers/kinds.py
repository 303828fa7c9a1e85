"""The kinds of rivals: training and loading."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from pyropunct.errors import ModelFileError
from pyropunct.fitted.model_file import read_model_file
from pyropunct.nets.networks import NetworkTraining, sequences, trained
from pyropunct.nets.pretrained import Pretrained, kept
from pyropunct.nets.tagger import SlotScores
from pyropunct.nets.training import Watch
from pyropunct.rivals.taggers.chain import IndependentSlots, LinearChain
from pyropunct.rivals.taggers.rival import Rival, RivalNetwork, run_layers
from pyropunct.rivals.taggers.words import RivalRecipe, RivalVocabulary, SlotBatch
from pyropunct.treebank.sentence import Sentence

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


class BiLSTMCRF(Rival):
    """The BiLSTM-CRF: see `CRFNetwork`."""

    kind = "crf"
    name = "BiLSTM-CRF"
    what = f"a {name}"
    kinds = (RivalVocabulary, RivalRecipe, CRFNetwork)


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


class BiGRUAttention(Rival):
    """The BiGRU with attention: see `AttentionNetwork`."""

    kind = "attention"
    name = "BiGRU with attention"
    what = f"a {name}"
    kinds = (RivalVocabulary, RivalRecipe, AttentionNetwork)


RIVALS: dict[str, type[Rival]] = {rival.kind: rival for rival in (BiLSTMCRF, BiGRUAttention)}
"""The rivals by kind."""


def rival_class(kind: object) -> type[Rival]:
    """The class of a kind of rival. Raises ValueError if there is no such kind."""
    if not isinstance(kind, str) or kind not in RIVALS:
        raise ValueError(f"no rival is called {kind!r}: take {' or '.join(sorted(RIVALS))}")
    return RIVALS[kind]


def load_rival(path: str | Path, pretrained: Pretrained | None = None) -> Rival:
    """Read a rival that `Rival.save` wrote, without running code in the file.

    :param pretrained: gives the pretrained features of words that it reads, if any.
    :raises ModelFileError: if the file is missing or damaged, or does not hold a rival of this program.
    """
    plain, tensors = read_model_file(Path(path))
    try:
        return rival_class(dict(plain["recipe"]).get("kind")).from_parts(plain, tensors, pretrained)
    except (TypeError, ValueError) as error:
        raise ModelFileError(f"{path}: {error}") from error


def train_rival(
    kind: str | type[Rival],
    train: Iterable[Sentence],
    dev: Iterable[Sentence],
    recipe: RivalRecipe | None = None,
    seed: int = 0,
    watch: Watch | None = None,
    *,
    device: str = "cpu",
    pretrained: Pretrained | None = None,
) -> Rival:
    """Train a rival; keep its weights from the epoch with the highest likelihood of dev. Trees are ignored.

    :param kind: "crf" or "attention", or a class of rivals.
    :param device: where the rival is trained, as torch names it; the returned rival is on the CPU.
    :param pretrained: gives features of words that it reads as well; they are computed once.
    :raises ValueError: if there is no such kind, or if one of the two treebanks is empty.
    """
    rival = rival_class(kind) if isinstance(kind, str) else kind
    data = sequences(rival.name, train, dev)
    make = partial(RivalTraining, rival, *data, recipe or RivalRecipe(), seed, kept(pretrained), device)
    return replace(trained(make, seed, None, watch), pretrained=pretrained)


class RivalTraining(NetworkTraining[Rival]):
    """The training of a rival of one class."""

    def __init__(self, rival: type[Rival], *arguments: Any) -> None:
        self.kind, self.what = rival, rival.name
        super().__init__(*arguments)
        size = len(self.train)
        self.planned, self.patience = self.recipe.planned_epochs(size), self.recipe.planned_patience(size)
        self._planned_steps = ceil(size / self.recipe.batch_size) * self.planned

    def vocabulary(self) -> RivalVocabulary:
        """The attributes of words, and the slot strings."""
        vocabulary: RivalVocabulary = self.kind.kinds[0].collect(self.train)
        return vocabulary

    def length(self, sentence: Sentence) -> int:
        """The number of slots."""
        return len(sentence.surface)

    def batches(self) -> list[list[int]]:
        """Equally many sentences of similar length, in random order."""
        order = torch.randperm(len(self.train)).tolist()
        order.sort(key=lambda number: int(self.lengths[number]))
        size = self.recipe.batch_size
        starts = (torch.randperm(ceil(len(order) / size)) * size).tolist()
        return [order[start : start + size] for start in starts]

    def rate(self, done: int) -> float:
        """The factor of the learning rate: it falls linearly from 1 to 0."""
        return 1 - self.steps / self._planned_steps

    def loss(self, batch: list[int]) -> Tensor:
        """- log p of the labels per slot."""
        sentences = [self.train[number] for number in batch]
        encoded = self.model.encode([sentence.tree.forms for sentence in sentences])
        labels = self.model.vocabulary.slots.encode([sentence.surface for sentence in sentences])
        log_prob: Tensor = self.network(encoded).log_prob(labels.to(self.device))
        return -log_prob.sum() / encoded.slots.sum()

    def scores(self, model: Rival, dev: Sequence[Sentence]) -> SlotScores:
        """The perplexity."""
        return SlotScores.of(model.log_prob(dev), [sentence.surface for sentence in dev])
