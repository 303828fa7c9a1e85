"""Training of the taggers: maximum likelihood, stopped early on dev."""

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import ceil, isfinite
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from pyropunct.divergence import DivergedError
from pyropunct.nets.pretrained import Pretrained, kept
from pyropunct.nets.tagger.labels import Labels, Spelling, collect_labels
from pyropunct.rivals.taggers.kinds import rival_class
from pyropunct.rivals.taggers.recipes import RivalRecipe
from pyropunct.rivals.taggers.rival import Rival, batch_slots
from pyropunct.rivals.taggers.words import WordVocabulary, collect_words
from pyropunct.treebank.sentence import Sentence

Variant = Callable[[WordVocabulary, Labels, Spelling, RivalRecipe], Rival]
"""Makes a tagger with random weights."""

LARGEST_GRADIENT = 5.0
"""The norm to which larger gradients are clipped."""


class RivalEpoch(NamedTuple):
    """The result of one epoch.

    :ivar number: counted from 1.
    :ivar loss: - log p of the labels per training slot, in natural logarithms, with dropout.
    :ivar perplexity: the perplexity per slot of the dev treebank.
    :ivar seconds: the time since training began.
    """

    number: int
    loss: float
    perplexity: float
    seconds: float


def train_rival(
    kind: str,
    train: Sequence[Sentence],
    dev: Sequence[Sentence],
    recipe: RivalRecipe | None = None,
    seed: int = 0,
    watch: Callable[[RivalEpoch], None] | None = None,
    *,
    device: str = "cpu",
    pretrained: Pretrained | None = None,
) -> Rival:
    """Train a tagger; keep its weights from the epoch with the highest likelihood of dev.

    :param kind: "crf" or "attention".
    :param train: training sentences; their trees are not used.
    :param dev: sentences on whose likelihood training is stopped.
    :param recipe: sizes and settings; by default ``RivalRecipe()``.
    :param seed: equal seeds give equal taggers, on the same machine with the same number of threads.
    :param watch: called after every epoch.
    :param device: where the tagger is trained, as torch names it.
    :param pretrained: gives features of words that it reads besides; they are computed once.
    :raises ValueError: if there is no such kind, or if one of the two treebanks is empty.
    """
    variant = rival_class(kind)
    if not train or not dev:
        raise ValueError(f"there is no sentence to {'stop on' if train else 'train on'}")
    recipe = RivalRecipe() if recipe is None else recipe
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        tagger = untrained(partial(variant, pretrained=kept(pretrained)), train, recipe)
        found = RivalTraining(tagger.to(device), train).run(dev, watch)
    found.pretrained = pretrained
    return found


def untrained(variant: Variant, train: Sequence[Sentence], recipe: RivalRecipe) -> Rival:
    """A tagger with random weights, for the words and labels of a training treebank."""
    labels = collect_labels([sentence.surface for sentence in train])
    strings = [string for sentence in train for string in labels.strings_of(sentence.surface)]
    words = collect_words(sentence.tree.forms for sentence in train)
    return variant(words, labels, Spelling(labels, strings), recipe)


class RivalTraining:
    """The training of a tagger, an epoch at a time.

    :param tagger: an untrained one.
    :param train: the training sentences.
    """

    def __init__(self, tagger: Rival, train: Sequence[Sentence]) -> None:
        self.tagger, self.recipe = tagger, tagger.recipe
        labels = tagger.labels
        self.forms = [sentence.tree.forms for sentence in train]
        self.words = [tagger.words.encode(forms) for forms in self.forms]
        self.labels = [torch.tensor(labels.encode(labels.strings_of(sentence.surface))) for sentence in train]
        self.planned = self.recipe.planned_epochs(len(train))
        self.patience = self.recipe.planned_patience(len(train))
        self.optimiser = torch.optim.AdamW(
            tagger.parameters(), self.recipe.learning_rate, weight_decay=self.recipe.weight_decay, fused=True
        )
        steps = ceil(len(train) / self.recipe.batch_size) * self.planned
        self.schedule = torch.optim.lr_scheduler.LinearLR(self.optimiser, 1.0, 0.0, steps)

    def run(self, dev: Sequence[Sentence], watch: Callable[[RivalEpoch], None] | None) -> Rival:
        """Train until all epochs are done, or until the recipe's patience is exhausted.

        :raises DivergedError: if the loss or the perplexity of dev is not finite.
        """
        epochs: list[RivalEpoch] = []
        best: dict[str, Tensor] = {}
        began, chosen = time.monotonic(), 0
        while len(epochs) < self.planned and len(epochs) - chosen < self.patience:
            loss = self.run_epoch()
            perplexity = self.tagger.evaluate(dev).perplexity
            if not isfinite(loss) or not isfinite(perplexity):
                raise DivergedError(
                    f"the training of {self.tagger.name} diverged in epoch {len(epochs) + 1}: its loss is "
                    f"{loss}, with learning_rate={self.recipe.learning_rate:g}"
                )
            epochs.append(RivalEpoch(len(epochs) + 1, loss, perplexity, time.monotonic() - began))
            if perplexity == min(epoch.perplexity for epoch in epochs):
                chosen = len(epochs)
                best = {name: value.clone() for name, value in self.tagger.state_dict().items()}
            if watch is not None:
                watch(epochs[-1])
        self.tagger.load_state_dict(best)
        self.tagger.report = {"epochs": [epoch._asdict() for epoch in epochs], "chosen": chosen}
        return self.tagger.eval()

    def run_epoch(self) -> float:
        """Pass once over the training sentences, and return - log p per slot."""
        self.tagger.train()
        total = sum(self.step(numbers) for numbers in self._batches())
        return total / sum(map(len, self.labels))

    def _batches(self) -> Iterator[list[int]]:
        """Sentences of similar length, in random order."""
        order = torch.randperm(len(self.words)).tolist()
        order.sort(key=lambda number: len(self.words[number]))
        size = self.recipe.batch_size
        for first in (torch.randperm(ceil(len(order) / size)) * size).tolist():
            yield order[first : first + size]

    def step(self, numbers: Sequence[int]) -> float:
        """Take one step on some training sentences, and return their total - log p.

        :param numbers: which sentences, counted from 0.
        """
        device = self.tagger.device
        labels = pad_sequence([self.labels[number] for number in numbers], batch_first=True).to(device)
        features = self.tagger.features([self.forms[number] for number in numbers])
        batch = batch_slots([self.words[number] for number in numbers], device, features)
        loss = -self.tagger(batch).log_prob(labels).sum()
        self.optimiser.zero_grad()
        (loss / batch.slots.sum()).backward()
        torch.nn.utils.clip_grad_norm_(self.tagger.parameters(), LARGEST_GRADIENT)
        self.optimiser.step()
        self.schedule.step()
        return float(loss.detach())
