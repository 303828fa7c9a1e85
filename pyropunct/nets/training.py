"""Training of networks, with a moving average of their weights, an epoch at a time."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from pyropunct.divergence import DivergedError
from pyropunct.nets.recipes import TrainingRecipe

LENGTH_NOISE = 0.1
"""The greatest random increase of a length, as a share, when sentences are batched by length."""

GRADIENT_NORM = 5.0
"""The norm to which greater gradients are clipped."""


class Scores(Protocol):
    """What a network came to on a dev treebank: a named tuple."""

    def _asdict(self) -> dict[str, Any]:
        """The scores by their names."""

    def __iter__(self) -> Iterator[Any]:
        """The scores, from which the same can be made."""


S = TypeVar("S", bound=Scores)
Network = TypeVar("Network", bound=nn.Module)
Batch = TypeVar("Batch")


class Epoch(NamedTuple, Generic[S]):
    """What one epoch came to.

    :ivar number: counted from 1.
    :ivar loss: per word of the training treebank, in natural logarithms: lower is better.
    :ivar scores: on the dev treebank, if there is one.
    :ivar seconds: spent since training began.
    """

    number: int
    loss: float
    scores: S | None
    seconds: float


class Progress(NamedTuple, Generic[S]):
    """How far training is.

    :ivar epoch: the current epoch, counted from 1.
    :ivar done: words of this epoch that are done.
    :ivar words: words of this epoch.
    :ivar last: the last finished epoch.
    :ivar epochs: the number of epochs.
    """

    epoch: int
    done: int
    words: int
    last: Epoch[S] | None
    epochs: int

    @property
    def finished(self) -> bool:
        """Whether the current epoch is finished, its scores known and the checkpoint written."""
        return self.last is not None and self.last.number == self.epoch


class NetworkCheckpoint(Protocol):
    """Where the state of a training is kept, such as a `pyropunct.train.checkpoints.Checkpoint`."""

    def load(self, training: Any) -> None:
        """Let a training go on from what is kept, if anything is."""

    def save(self, training: Any) -> None:
        """Keep the state of a training."""


class NetworkTraining(ABC, Generic[Network, Batch, S]):
    """The training of one network, an epoch at a time.

    A subclass says what the batches are, and gives their losses and the scores on dev.

    :param network: the network with its first weights.
    :param recipe: the settings.
    :param words: how many words an epoch has.
    :ivar planned: the number of epochs.
    """

    what: ClassVar[str]
    """What is trained, for messages."""

    scores_type: ClassVar[Callable[..., Any]]
    """Makes the scores again from what they consist of."""

    def __init__(self, network: Network, recipe: TrainingRecipe, words: int) -> None:
        self.network, self.words, self._settings = network, words, recipe
        self.planned = recipe.planned_epochs(words)
        self.average = AveragedModel(network, multi_avg_fn=get_ema_multi_avg_fn(recipe.averaging))
        betas = (0.9, recipe.second_moment)
        groups = self.groups()
        self._rates = [rate for _, rate in groups]
        parameters = [{"params": some} for some, _ in groups]
        self.optimiser = torch.optim.Adam(parameters, recipe.learning_rate, betas, fused=True)
        self.epochs: list[Epoch[S]] = []
        self.best, self.best_merit = deepcopy(self.averaged), -1.0
        self._spent = 0.0

    def groups(self) -> list[tuple[list[nn.Parameter], float]]:
        """The weights that are trained, each with the greatest learning rate that it gets."""
        return [(list(self.network.parameters()), self._settings.learning_rate)]

    @abstractmethod
    def batches(self) -> list[Batch]:
        """The batches of one epoch, in random order."""

    @abstractmethod
    def size(self, batch: Batch) -> int:
        """How many words there are in a batch."""

    @abstractmethod
    def loss(self, batch: Batch) -> Tensor:
        """The loss per word of a batch."""

    @abstractmethod
    def evaluate(self) -> S | None:
        """The scores of the averaged network on dev, if there is a dev treebank."""

    @abstractmethod
    def merit(self, scores: S) -> float:
        """The number, not negative, by which the best epoch is chosen."""

    @abstractmethod
    def fingerprint(self) -> str:
        """A checksum of the data, the settings and the seed."""

    @property
    def averaged(self) -> Network:
        """The network with the moving average of its weights."""
        network: Network = self.average.module  # type: ignore[assignment]  # a copy of the network
        return network

    def run(
        self,
        checkpoint: NetworkCheckpoint | None = None,
        watch: Callable[[Progress[S]], None] | None = None,
    ) -> None:
        """Train until all planned epochs are done.

        :param checkpoint: if something is kept there, training goes on from it; it is written after every
            epoch.
        :param watch: called after every step, and when an epoch is finished.
        """
        if checkpoint is not None:
            checkpoint.load(self)
        while len(self.epochs) < self.planned:
            self.run_epoch(watch)
            if checkpoint is not None:
                checkpoint.save(self)
            if watch is not None:
                watch(self._progress(len(self.epochs), self.words))

    def run_epoch(self, watch: Callable[[Progress[S]], None] | None = None) -> None:
        """One epoch of steps, and the scores of its averaged weights on dev."""
        began, total, done = time.monotonic(), 0.0, 0
        for batch in self.batches():
            size = self.size(batch)
            total += self.step(batch, done) * size
            done += size
            if watch is not None:
                watch(self._progress(len(self.epochs) + 1, done))
        scores = self.evaluate()
        merit = -1.0 if scores is None else self.merit(scores)
        if scores is None or merit > self.best_merit:
            self.best.load_state_dict(self.averaged.state_dict())
            self.best_merit = merit
        self._spent += time.monotonic() - began
        self.epochs.append(Epoch(len(self.epochs) + 1, total / self.words, scores, self._spent))

    def _progress(self, epoch: int, done: int) -> Progress[S]:
        return Progress(epoch, done, self.words, self.epochs[-1] if self.epochs else None, self.planned)

    def step(self, batch: Batch, done: int) -> float:
        """One step on a batch; returns the loss per word.

        :param done: how many words of the current epoch have been seen before.
        :raises DivergedError: if the loss is not finite; then no step is taken.
        """
        for group, greatest in zip(self.optimiser.param_groups, self._rates, strict=True):
            group["lr"] = greatest * self.rate(done)
        self.network.train()
        self.optimiser.zero_grad()
        loss = self.loss(batch)
        if not loss.isfinite():
            raise DivergedError(
                f"the {self.what}'s training diverged in epoch {len(self.epochs) + 1}: its loss is "
                f"{float(loss.detach())}, with learning_rate={self._settings.learning_rate:g}"
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
        warm_up = self._settings.warm_up
        return min(passed / warm_up, (1 - passed) / (1 - warm_up))

    def state(self) -> dict[str, Any]:
        """The state from which training can continue exactly as without an interruption."""
        return {
            "network": self.network.state_dict(),
            "average": self.average.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "best": self.best.state_dict(),
            "best_merit": self.best_merit,
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
        self.best_merit = state["best_merit"]
        torch.set_rng_state(state["random"])
        self.epochs = [
            Epoch(number, loss, None if scores is None else type(self).scores_type(*scores), seconds)
            for number, loss, scores, seconds in state["epochs"]
        ]
        self._spent = self.epochs[-1].seconds

    def report(self) -> dict[str, Any]:
        """What happened, in plain JSON types."""
        return {
            "epochs": [
                epoch._asdict() | {"scores": None if epoch.scores is None else epoch.scores._asdict()}
                for epoch in self.epochs
            ],
            "train_words": self.words,
            "weights": sum(weight.numel() for weight in self.best.parameters()),
        }


def batched(lengths: Tensor, batch_words: int) -> list[list[int]]:
    """The numbers of sentences or windows, those of like length together, the batches in random order.

    :param lengths: of each its number of words.
    :param batch_words: a batch is full when it has so many.
    """
    blurred = lengths * (1 + LENGTH_NOISE * torch.rand(len(lengths)))
    batches: list[list[int]] = [[]]
    size = 0
    for number in blurred.argsort().tolist():
        if size >= batch_words:
            batches.append([])
            size = 0
        batches[-1].append(number)
        size += int(lengths[number])
    return [batches[number] for number in torch.randperm(len(batches)).tolist()]


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Inside, torch's random numbers are those of a seed; outside they go on as if nothing had been drawn."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield
