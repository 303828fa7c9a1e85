"""Training of rivals: maximum likelihood, stopped early on dev."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from math import ceil
from typing import Any

import torch
from torch import Tensor

from pyropunct.nets.networks import NetworkTraining, sequences, trained
from pyropunct.nets.pretrained import Pretrained, kept
from pyropunct.nets.tagger import SlotScores
from pyropunct.nets.training import Watch
from pyropunct.rivals.taggers.kinds import rival_class
from pyropunct.rivals.taggers.recipes import RivalRecipe
from pyropunct.rivals.taggers.rival import Rival
from pyropunct.rivals.taggers.words import RivalVocabulary
from pyropunct.treebank.sentence import Sentence


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
    """Train a rival; keep its weights from the epoch with the highest likelihood of dev.

    :param kind: "crf" or "attention", or a class of rivals.
    :param train: training sentences; their trees are not used.
    :param dev: sentences on whose likelihood training is stopped.
    :param recipe: sizes and settings; by default ``RivalRecipe()``.
    :param seed: equal seeds give equal rivals, on the same machine with the same number of threads.
    :param watch: called after every step, and when an epoch is finished.
    :param device: where the rival is trained, as torch names it; the rival itself is on the CPU.
    :param pretrained: gives features of words that it reads as well; they are computed once.
    :raises ValueError: if there is no such kind, or if one of the two treebanks is empty.
    """
    rival = rival_class(kind) if isinstance(kind, str) else kind
    data = sequences(rival.name, train, dev)
    make = partial(RivalTraining, rival, *data, recipe or RivalRecipe(), seed, kept(pretrained), device)
    return replace(trained(make, seed, None, watch), pretrained=pretrained)


class RivalTraining(NetworkTraining[Rival]):
    """The training of one rival.

    :param rival: its class.
    """

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
