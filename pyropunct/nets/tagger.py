"""Slot taggers: predict punctuation from words alone, from the states of a parser's network.

Example::

    from pyropunct import read_treebank
    from pyropunct.nets.parser import train_parser
    from pyropunct.nets.tagger import train_slot_tagger

    train, dev = read_treebank("train.conllu"), read_treebank("dev.conllu")
    tagger = train_slot_tagger(train_parser(train, dev), train, dev)
    [probabilities] = tagger.read([["where", "is", "it"]])
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from pyropunct.nets.labels import Probabilities, SlotVocabulary
from pyropunct.nets.network_training import NetworkTraining, sequences, trained
from pyropunct.nets.networks import TrainedNetwork
from pyropunct.nets.parser import BATCH_WORDS, BiaffineParser
from pyropunct.nets.pretrained import with_cache
from pyropunct.nets.trainer import AnyCheckpoint, AveragedRecipe, Perplexity, Watch
from pyropunct.nets.word_batches import in_batches
from pyropunct.nets.word_embedding import SentenceDropout
from pyropunct.text.marks import Surface
from pyropunct.treebank.sentence import Sentence


@dataclass(frozen=True)
class SlotTaggerRecipe(AveragedRecipe):
    """All settings of a slot tagger, apart from the parser, the data and the seed.

    :ivar slot_size: features of a slot, from the states of the words on either side.
    """

    epochs: int = 8
    least_steps: int = 1200
    batch_words: int = 500
    learning_rate: float = 0.002
    averaging: float = 0.99
    dropout: float = 0.5
    slot_size: int = 200


class SlotNetwork(nn.Module):
    """Scores of the labels of the slots of sentences.

    With h_i the state of a parser's network at word i, and learned vectors h_0 and h_n+1 for the edges of a
    sentence of n words, slot i, between word i and word i + 1, has

        p(label of slot i | words) = softmax(S tanh(V [h_i; h_i+1] + a + [i = n] F h_1) + b)

    The last slot sees the first word, which often shows whether the sentence is a question.

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
        """(sentences, longest n + 1, labels) logits, from the states (sentences, longest n, size)."""
        left, right = self.edges[:, None, None].expand(-1, len(states), 1, -1)
        words = torch.cat([left, self.dropout(states), right], 1)
        place = torch.arange(words.shape[1], device=words.device)
        words = torch.where((place > lengths[:, None])[..., None], right, words)
        last = (place[:-1] == lengths[:, None])[..., None]
        slots = self.slots(torch.cat([words[:, :-1], words[:, 1:]], -1)) + last * self.first(words[:, 1:2])
        scores: Tensor = self.scores(self.dropout(slots.tanh()))
        return scores

    def loss(self, states: Tensor, lengths: Tensor, labels: Tensor) -> Tensor:
        """The negative log-probability of the gold labels (sentences, longest n + 1), per word."""
        scores = self(states, lengths)
        present = torch.arange(labels.shape[1], device=labels.device) <= lengths[:, None]
        total = functional.cross_entropy(scores[present], labels[present], reduction="sum")
        return total / lengths.sum()


@dataclass(frozen=True)
class SlotTagger(TrainedNetwork[SlotVocabulary, SlotTaggerRecipe, SlotNetwork]):
    """Punctuates words without trees, each slot on its own; trained by `train_slot_tagger`.

    The probability of a string without a label is that of the label for such strings, times that of its
    spelling.  So the probabilities of all strings add up to 1::

        p(x | words) = product over i of p(label of x_i | words) q(x_i | no label, if it has none)
    """

    what = "a slot tagger"
    kinds = (SlotVocabulary, SlotTaggerRecipe, SlotNetwork)

    parser: BiaffineParser

    @classmethod
    def features_of(cls, source: BiaffineParser) -> int:
        """The size of a state of the parser."""
        return source.state_size

    def read(self, sentences: Sequence[Sequence[str]]) -> list[Probabilities]:
        """The probabilities of the labels of each sentence; raises `ValueError` if one has no word."""
        return in_batches(sentences, BATCH_WORDS, self._read)

    def log_odds(self, sentences: Sequence[Sequence[str]], tokens: Sequence[str]) -> list[Tensor]:
        """For each sentence of n words the (n + 1, tokens) log-odds that a story reads."""
        distinct = list(dict.fromkeys(map(tuple, sentences)))
        rows = (self.vocabulary.log_odds(each, tokens) for each in self.read(distinct))
        found = dict(zip(distinct, rows, strict=True))
        return [found[tuple(words)] for words in sentences]

    @torch.inference_mode()
    def _read(self, sentences: Sequence[Sequence[str]]) -> list[Probabilities]:
        states = self.parser.states(sentences).to(self.device)
        lengths = torch.tensor([len(words) for words in sentences], device=self.device)
        rows = zip(self.network(states, lengths).cpu(), sentences, strict=True)
        return [row[: len(words) + 1].double().softmax(-1).numpy() for row, words in rows]

    def log_prob(self, sentences: Sequence[Sequence[str]], surfaces: Sequence[Surface]) -> Tensor:
        """(sentences,) log p(x | words) in natural logarithms, over all slots; START is given."""
        pairs = zip(self.read(sentences), surfaces, strict=True)
        return torch.tensor([self._log_prob(*pair) for pair in pairs], dtype=torch.double)

    def _log_prob(self, probabilities: Probabilities, surface: Surface) -> float:
        strings = self.vocabulary.labels.strings_of(surface)
        numbers = self.vocabulary.labels.encode(strings)
        of_labels = np.log(probabilities[np.arange(len(numbers)), numbers])
        return math.fsum(of_labels.tolist()) + self.vocabulary.log_spelling(strings)


def train_slot_tagger(
    parser: BiaffineParser,
    train: Iterable[Sentence],
    dev: Iterable[Sentence] | None = None,
    recipe: SlotTaggerRecipe | None = None,
    *,
    tokens: Sequence[str] | None = None,
    seed: int = 0,
    device: torch.device | str = "cpu",
    checkpoint: AnyCheckpoint | None = None,
    watch: Watch | None = None,
) -> SlotTagger:
    """Train a slot tagger on the words and punctuation of a treebank; trees are ignored.

    :param parser: gives the states; it is not changed, and may have seen the sentences.
    :param dev: sentences whose perplexity chooses the best epoch; without them the last epoch is kept.
    :param device: for training; the result is on the CPU.
    :raises ValueError: if one of the treebanks has no sentence.
    """
    data = sequences("tagger", train, dev)
    reading = replace(parser, pretrained=with_cache(parser.pretrained))
    make = partial(SlotTaggerTraining, tokens, *data, recipe or SlotTaggerRecipe(), seed, reading, device)
    return replace(trained(make, seed, checkpoint, watch), parser=parser)


class SlotTaggerTraining(NetworkTraining[SlotTagger]):
    """The training of one slot tagger; ``tokens`` as for `train_slot_tagger`."""

    kind = SlotTagger
    what = "tagger"

    def __init__(self, tokens: Sequence[str] | None, *arguments: Any) -> None:
        self.tokens = tokens
        super().__init__(*arguments)

    def vocabulary(self) -> SlotVocabulary:
        """The slot strings."""
        return SlotVocabulary.collect([sentence.surface for sentence in self.train], self.tokens)

    def loss(self, batch: list[int]) -> Tensor:
        """See `SlotNetwork.loss`."""
        sentences = [self.train[number] for number in batch]
        states = self.source.states([sentence.tree.forms for sentence in sentences])
        labels = self.model.vocabulary.encode([sentence.surface for sentence in sentences])
        arguments = states, self.lengths[batch], labels
        return self.model.network.loss(*(tensor.to(self.device) for tensor in arguments))

    def scores(self, model: SlotTagger, dev: Sequence[Sentence]) -> Perplexity:
        """The perplexity."""
        forms, surfaces = [sentence.tree.forms for sentence in dev], [sentence.surface for sentence in dev]
        return Perplexity.of(model.log_prob(forms, surfaces), surfaces)

    def data(self) -> Iterable[object]:
        """The marks, the parser, words and punctuation."""
        yield self.model.vocabulary.labels.marks
        for name, weight in self.source.network.state_dict().items():
            yield name.encode() + weight.cpu().numpy().tobytes()
        yield from ((sentence.tree.forms, sentence.surface) for sentence in [*self.train, *(self.dev or ())])
