"""Training: from a treebank to a `BiaffineParser`."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from hashlib import sha256
from typing import Any, NamedTuple, Protocol

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from pyropunct.divergence import DivergedError
from pyropunct.parsing.biaffine import BiaffineNetwork
from pyropunct.parsing.encoding import build_parser_vocabulary
from pyropunct.parsing.parser import BiaffineParser
from pyropunct.parsing.recipes import ParserRecipe
from pyropunct.parsing.scores import AttachmentScores, attachment_scores
from pyropunct.treebank.sentence import Sentence

LENGTH_NOISE = 0.1
"""The greatest random increase of a sentence's length, as a share, when sentences are batched by length."""

GRADIENT_NORM = 5.0
"""The norm to which greater gradients are clipped."""


class ParserEpoch(NamedTuple):
    """What one epoch came to.

    :ivar number: counted from 1.
    :ivar loss: per word of the training treebank, in natural logarithms: lower is better.
    :ivar scores: on the dev treebank, if there is one.
    :ivar seconds: spent since training began.
    """

    number: int
    loss: float
    scores: AttachmentScores | None
    seconds: float


class ParserProgress(NamedTuple):
    """How far training is.

    :ivar epoch: the current epoch, counted from 1.
    :ivar done: words of this epoch that are done.
    :ivar words: words of this epoch.
    :ivar last: the last finished epoch.
    """

    epoch: int
    done: int
    words: int
    last: ParserEpoch | None

    @property
    def finished(self) -> bool:
        """Whether the current epoch is finished, its scores known and the checkpoint written."""
        return self.last is not None and self.last.number == self.epoch


ParserWatch = Callable[[ParserProgress], None]


class ParserCheckpoint(Protocol):
    """Where the state of a training is kept, such as a `pyropunct.training.checkpoints.Checkpoint`."""

    def load(self, training: "ParserTraining") -> None:
        """Let a training go on from what is kept, if anything is."""

    def save(self, training: "ParserTraining") -> None:
        """Keep the state of a training."""


def train_parser(
    train: Iterable[Sentence],
    dev: Iterable[Sentence] | None = None,
    recipe: ParserRecipe | None = None,
    *,
    seed: int = 0,
    checkpoint: ParserCheckpoint | None = None,
    watch: ParserWatch | None = None,
) -> BiaffineParser:
    """Train a tagger and parser of unpunctuated words on the unpunctuated trees of a treebank.

    :param train: the sentences to learn from; their punctuation is not looked at.
    :param dev: sentences whose LAS chooses the epoch that is kept; without them the last epoch is kept.
    :param recipe: the settings.
    :param seed: equal seeds give equal parsers, on the same machine with the same number of threads.
    :param checkpoint: if something is kept there, training goes on from it; it is written after every epoch.
    :param watch: called after every step, and when an epoch is finished.
    :raises ValueError: if there is no sentence in one of the two.
    """
    train, dev = tuple(train), None if dev is None else tuple(dev)
    if not train or dev == ():
        raise ValueError(f"there is no sentence to {'choose an epoch by' if train else 'train a parser on'}")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        training = ParserTraining(train, dev, ParserRecipe() if recipe is None else recipe, seed)
        training.run(checkpoint, watch)
    return training.parser()


class ParserTraining:
    """The training of one parser, an epoch at a time.

    :param seed: that of torch's random numbers, for the report.
    :ivar planned: the number of epochs.
    """

    def __init__(
        self, train: Sequence[Sentence], dev: Sequence[Sentence] | None, recipe: ParserRecipe, seed: int
    ) -> None:
        self.train, self.dev, self.recipe, self.seed = train, dev, recipe, seed
        self.lengths = torch.tensor([len(sentence.tree) for sentence in train])
        self.words = int(self.lengths.sum())
        self.planned = recipe.planned_epochs(self.words)
        self.vocabulary = build_parser_vocabulary(train, recipe.form_count)
        self.network = BiaffineNetwork(self.vocabulary, recipe)
        self.average = AveragedModel(self.network, multi_avg_fn=get_ema_multi_avg_fn(recipe.averaging))
        betas = (0.9, recipe.second_moment)
        self.optimiser = torch.optim.Adam(self.network.parameters(), recipe.learning_rate, betas, fused=True)
        self.epochs: list[ParserEpoch] = []
        self.best, self.best_las = deepcopy(self.averaged), -1.0
        self._spent = 0.0

    @property
    def averaged(self) -> BiaffineNetwork:
        """The network with the moving average of its weights."""
        network = self.average.module
        assert isinstance(network, BiaffineNetwork)
        return network

    def run(self, checkpoint: ParserCheckpoint | None = None, watch: ParserWatch | None = None) -> None:
        """Train until all planned epochs are done.

        :param checkpoint: see `train_parser`.
        """
        if checkpoint is not None:
            checkpoint.load(self)
        while len(self.epochs) < self.planned:
            self.run_epoch(watch)
            if checkpoint is not None:
                checkpoint.save(self)
            if watch is not None:
                watch(ParserProgress(len(self.epochs), self.words, self.words, self.epochs[-1]))

    def run_epoch(self, watch: ParserWatch | None = None) -> None:
        """One epoch of steps, and the scores of its averaged weights on dev."""
        began, total, done = time.monotonic(), 0.0, 0
        for numbers in self._batches():
            size = int(self.lengths[numbers].sum())
            total += self.step(numbers, done) * size
            done += size
            if watch is not None:
                last = self.epochs[-1] if self.epochs else None
                watch(ParserProgress(len(self.epochs) + 1, done, self.words, last))
        scores = None if self.dev is None else self._evaluate(self.dev)
        if scores is None or scores.las > self.best_las:
            self.best.load_state_dict(self.averaged.state_dict())
            self.best_las = -1.0 if scores is None else scores.las
        self._spent += time.monotonic() - began
        self.epochs.append(ParserEpoch(len(self.epochs) + 1, total / self.words, scores, self._spent))

    def _batches(self) -> list[list[int]]:
        """The numbers of the sentences, those of like length together, the batches in random order."""
        blurred = self.lengths * (1 + LENGTH_NOISE * torch.rand(len(self.lengths)))
        batches: list[list[int]] = [[]]
        size = 0
        for number in blurred.argsort().tolist():
            if size >= self.recipe.batch_words:
                batches.append([])
                size = 0
            batches[-1].append(number)
            size += len(self.train[number].tree)
        return [batches[number] for number in torch.randperm(len(batches)).tolist()]

    def step(self, numbers: Sequence[int], done: int) -> float:
        """One step on some training sentences; returns the loss per word.

        :param numbers: which sentences, counted from 0.
        :param done: how many words of the current epoch have been seen before.
        :raises DivergedError: if the loss is not finite; then no step is taken.
        """
        sentences = [self.train[number] for number in numbers]
        batch = self.vocabulary.encode([sentence.tree.forms for sentence in sentences])
        for group in self.optimiser.param_groups:
            group["lr"] = self.recipe.learning_rate * self.rate(done)
        self.network.train()
        self.optimiser.zero_grad()
        loss = self.network.loss(batch, self.vocabulary.answers(sentences))
        if not loss.isfinite():
            raise DivergedError(
                f"the parser's training diverged in epoch {len(self.epochs) + 1}: its loss is "
                f"{float(loss.detach())}, with learning_rate={self.recipe.learning_rate:g}"
            )
        loss.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), GRADIENT_NORM)
        self.optimiser.step()
        self.average.update_parameters(self.network)
        return float(loss.detach())

    def rate(self, done: int) -> float:
        """The factor of the learning rate: it rises linearly from 0 to 1, then falls linearly to 0.

        :param done: words of the current epoch that are done.
        """
        passed = (len(self.epochs) + (done + 1) / self.words) / self.planned  # the first step counts
        return min(passed / self.recipe.warm_up, (1 - passed) / (1 - self.recipe.warm_up))

    def _evaluate(self, dev: Sequence[Sentence]) -> AttachmentScores:
        trees = [sentence.tree for sentence in dev]
        parser = BiaffineParser(self.vocabulary, self.recipe, self.averaged, {})
        found = parser.parse([tree.forms for tree in trees])
        return attachment_scores([best[0].tree for best in found], trees)

    def state(self) -> dict[str, Any]:
        """The state from which training can continue exactly as without an interruption."""
        return {
            "network": self.network.state_dict(),
            "average": self.average.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "best": self.best.state_dict(),
            "best_las": self.best_las,
            "random": torch.get_rng_state(),
            "epochs": [
                (*epoch[:2], None if epoch.scores is None else tuple(epoch.scores), epoch.seconds)
                for epoch in self.epochs
            ],
        }

    def go_on_from(self, state: Mapping[str, Any]) -> None:
        """Take over what `state` gave."""
        self.network.load_state_dict(state["network"])
        self.average.load_state_dict(state["average"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.best.load_state_dict(state["best"])
        self.best_las = state["best_las"]
        torch.set_rng_state(state["random"])
        self.epochs = [
            ParserEpoch(number, loss, None if scores is None else AttachmentScores(*scores), seconds)
            for number, loss, scores, seconds in state["epochs"]
        ]
        self._spent = self.epochs[-1].seconds

    def fingerprint(self) -> str:
        """A checksum of the data, the settings and the seed."""
        digest = sha256(repr((self.recipe, self.seed, len(self.train), self.dev is None)).encode())
        for part in (self.train, self.dev or ()):
            for sentence in part:
                digest.update(repr(sentence.tree).encode())
        return digest.hexdigest()

    def parser(self) -> BiaffineParser:
        """The parser of the best epoch."""
        report = {
            "epochs": [
                epoch._asdict() | {"scores": None if epoch.scores is None else epoch.scores._asdict()}
                for epoch in self.epochs
            ],
            "train_sentences": len(self.train),
            "train_words": self.words,
            "weights": sum(weight.numel() for weight in self.best.parameters()),
            "seed": self.seed,
        }
        return BiaffineParser(self.vocabulary, self.recipe, self.best.eval(), report)
