"""Rivals: recurrent networks that predict labels of slots from words, and their training."""

from abc import ABC
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import ceil
from typing import Any, ClassVar

import torch
from torch import Tensor

from pyropunct.fitted.evaluation import Evaluation, slot_distance
from pyropunct.nets.networks import NetworkTraining, TrainedWordNetwork, sequences, trained
from pyropunct.nets.tagger import SlotScores
from pyropunct.nets.trainer import Watch
from pyropunct.nets.word_embedding import Pretrained, by_length, with_cache
from pyropunct.papers.li_2019.chain import LabelDistribution
from pyropunct.papers.li_2019.recurrent import (
    AttentionNetwork,
    CRFNetwork,
    RivalNetwork,
    RivalRecipe,
    RivalVocabulary,
)
from pyropunct.text.marks import Surface
from pyropunct.treebank.sentence import Sentence

BATCH_SLOTS = 4000
"""The most slots, padding included, that are processed together outside training."""


@dataclass(frozen=True)
class Rival(TrainedWordNetwork[RivalVocabulary, RivalRecipe, RivalNetwork], ABC):
    """Labels every slot of a sentence with its whole string, given the words alone.

    A string without a label has the probability of the label for unknown strings times the probability of its
    spelling, so that all strings add up to 1::

        p(x | words) = p(labels of x | words) * product of q(x_i | no label) over the unknown x_i

    :cvar name: its name in tables.
    """

    name: ClassVar[str]

    @torch.no_grad()
    def log_prob(self, sentences: Sequence[Sentence]) -> Tensor:
        """(sentences,) log p(x | words) in natural logarithms, over all slots; START is given."""
        slots = self.vocabulary.slots
        total = torch.zeros(len(sentences), dtype=torch.double)
        for numbers, distribution in self._predict([sentence.tree.forms for sentence in sentences]):
            labels = slots.encode([sentences[number].surface for number in numbers]).to(self.device)
            total[numbers] = distribution.log_prob(labels).cpu().double()
        strings = (slots.labels.strings_of(sentence.surface) for sentence in sentences)
        return total + torch.tensor(list(map(slots.log_spelling, strings)), dtype=torch.double)

    def evaluate(self, sentences: Sequence[Sentence]) -> Evaluation:
        """The perplexity of the punctuation of sentences, given their words."""
        return Evaluation.of(sentences, self.log_prob(sentences))

    @torch.no_grad()
    def restore(self, sentences: Sequence[Sequence[str]]) -> list[Surface]:
        """The slots 0..n of each sentence with strings that have a label and consist of known marks.

        Each string has the least expected edit distance under its marginal. No words: ValueError.
        """
        labels, restored = self.vocabulary.slots.labels, dict[int, Surface]()
        printable = torch.tensor(labels.printable, device=self.device)
        for numbers, distribution in self._predict(sentences):
            marginals = distribution.among(printable).marginals()
            choice = (marginals @ self._distances.to(marginals)).argmin(-1)
            for number, row in zip(numbers, printable[choice].tolist(), strict=True):
                restored[number] = labels.surface(row[: len(sentences[number]) + 1])
        return [restored[number] for number in range(len(sentences))]

    @cached_property
    def _distances(self) -> Tensor:
        """(printable, printable) edit distances of the strings that can be restored."""
        labels = self.vocabulary.slots.labels
        strings = [labels.strings[number] for number in labels.printable]
        rows = [[float(slot_distance(string, other)) for other in strings] for string in strings]
        return torch.tensor(rows)

    @torch.no_grad()
    def _predict(self, sentences: Sequence[Sequence[str]]) -> Iterator[tuple[list[int], LabelDistribution]]:
        """Batches of sentences of similar length: their numbers, and the distribution of their labels."""
        for number, words in enumerate(sentences, 1):
            if not words:
                raise ValueError(f"sentence {number}: there is no word in it")
        for numbers in by_length([len(words) + 1 for words in sentences], BATCH_SLOTS):
            yield numbers, self.network(self.encode([sentences[number] for number in numbers]))


class BiLSTMCRF(Rival):
    """The BiLSTM-CRF: see `CRFNetwork`."""

    name = "BiLSTM-CRF"
    what = f"a {name}"
    kinds = (RivalVocabulary, RivalRecipe, CRFNetwork)


class BiGRUAttention(Rival):
    """The BiGRU with attention: see `AttentionNetwork`."""

    name = "BiGRU with attention"
    what = f"a {name}"
    kinds = (RivalVocabulary, RivalRecipe, AttentionNetwork)


def train_rival(
    rival: type[Rival],
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

    :param device: where the rival is trained, as torch names it; the returned rival is on the CPU.
    :param pretrained: gives features of words that it reads as well; they are computed once.
    :raises ValueError: if one of the two treebanks is empty.
    """
    data = sequences(rival.name, train, dev)
    make = partial(RivalTraining, rival, *data, recipe or RivalRecipe(), seed, with_cache(pretrained), device)
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
