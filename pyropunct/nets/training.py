"""Training of networks: steps, averages, epochs, the choice of the best epoch, interruption and report."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from hashlib import sha256
from math import inf, isfinite
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from pyropunct.nets.divergence import DivergedError
from pyropunct.nets.trained import TrainedNetwork

LENGTH_NOISE = 0.1
"""The greatest random increase of a length, as a share, when sentences are batched by length."""

GRADIENT_NORM = 5.0
"""The norm to which greater gradients are clipped."""


class Epoch(NamedTuple):
    """The result of one epoch.

    :ivar number: counted from 1.
    :ivar loss: per word, or slot, of the training treebank, in natural logarithms: lower is better.
    :ivar scores: on the dev treebank, by their names, if there is one.
    :ivar seconds: spent since training began.
    """

    number: int
    loss: float
    scores: Mapping[str, float] | None
    seconds: float


class Progress(NamedTuple):
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
    last: Epoch | None
    epochs: int

    @property
    def finished(self) -> bool:
        """Whether the current epoch is finished, its scores known and the checkpoint written."""
        return self.last is not None and self.last.number == self.epoch


Watch = Callable[[Progress], None]
"""Called after every step, and when an epoch is finished."""


class NetworkCheckpoint(Protocol):
    """Where the state of a training is kept, such as a `pyropunct.train.checkpoints.Checkpoint`."""

    def load(self, training: Any) -> None:
        """Let a training go on from the state that is kept, if there is one."""

    def save(self, training: Any) -> None:
        """Keep the state of a training."""


Model = TypeVar("Model", bound=TrainedNetwork[Any, Any, Any])


class NetworkTraining(ABC, Generic[Model]):
    """The training of one network, an epoch at a time.

    A subclass defines the vocabulary, the loss of a batch, and the scores on dev.  A batch is a list of the
    numbers of training sentences, counted from 0.

    :param train: the training data; their number is in the report.
    :param dev: data whose scores choose the epoch that is kept; without them the last epoch is kept.
    :param recipe: the settings.
    :param seed: the seed of torch's random numbers, for the report.
    :param source: gives the features that the network reads.
    :param device: where the network is trained.
    :ivar kind: the class of the model.
    :ivar what: the name of the network in messages.
    :cvar unit: the unit of the training data in the report.
    :ivar model: the model with the network's first weights.
    :ivar lengths: the number of words of each training sentence.
    :ivar network: the module that is trained.
    :ivar planned: the number of epochs.
    :ivar patience: training stops after this many epochs without a gain on dev.
    """

    kind: type[Model]
    what: str
    unit: ClassVar[str] = "sentences"

    def __init__(
        self,
        train: Sequence[Any],
        dev: Sequence[Any] | None,
        recipe: Any,
        seed: int,
        source: Any = None,
        device: torch.device | str = "cpu",
    ) -> None:
        self.train, self.dev, self.recipe, self.seed = train, dev, recipe, seed
        self.source, self.device = source, device
        self.model = self.kind.untrained(self.vocabulary(), recipe, source)
        self.lengths = torch.tensor([self.length(sentence) for sentence in train])
        self.words = int(self.lengths.sum())
        self.planned = recipe.planned_epochs(self.words)
        self.patience = inf
        self.network = self.untrained().to(device)
        self.average = AveragedModel(self.network, multi_avg_fn=get_ema_multi_avg_fn(recipe.averaging))
        groups = self.groups()
        self._rates = [rate for _, rate in groups]
        self.optimiser = torch.optim.AdamW(
            [{"params": weights} for weights, _ in groups],
            recipe.learning_rate,
            (0.9, recipe.second_moment),
            weight_decay=recipe.weight_decay,
            fused=True,
        )
        self.steps = 0
        self.epochs: list[Epoch] = []
        self.best, self.best_merit, self.chosen = deepcopy(self.average.module), -1.0, 0

    @abstractmethod
    def vocabulary(self) -> Any:
        """The types in the training data."""

    def length(self, sentence: Any) -> int:
        """The number of words of a training sentence."""
        return len(sentence.tree)

    def untrained(self) -> nn.Module:
        """The module that is trained, with its first weights."""
        network: nn.Module = self.model.network
        return network

    def groups(self) -> list[tuple[list[nn.Parameter], float]]:
        """The weights that are trained, in groups, each with its greatest learning rate."""
        return [(list(self.network.parameters()), self.recipe.learning_rate)]

    def with_weights(self, network: Any) -> Model:
        """The model with a module of the same kind as `network`."""
        return replace(self.model, network=network)

    def batches(self) -> list[list[int]]:
        """The batches of one epoch, in random order: sentences of like length together."""
        blurred = self.lengths * (1 + LENGTH_NOISE * torch.rand(len(self.lengths)))
        batches: list[list[int]] = [[]]
        size = 0
        for number in blurred.argsort().tolist():
            if size >= self.recipe.batch_words:
                batches.append([])
                size = 0
            batches[-1].append(number)
            size += int(self.lengths[number])
        return [batches[number] for number in torch.randperm(len(batches)).tolist()]

    @abstractmethod
    def loss(self, batch: list[int]) -> Tensor:
        """The loss of a batch per word."""

    @abstractmethod
    def scores(self, model: Model, dev: Sequence[Any]) -> Any:
        """The scores of a model on dev: a named tuple of numbers.

        Its ``merit``, a number that is not negative, chooses the best epoch.
        """

    def data(self) -> Iterable[object]:
        """Everything else that determines the training: bytes, or objects with a faithful ``repr``.

        These are the pretrained features, the words and the punctuation.
        """
        if self.source is not None:
            yield self.source.identity()
        yield from ((sentence.tree.forms, sentence.surface) for sentence in [*self.train, *(self.dev or ())])

    def run(self, checkpoint: NetworkCheckpoint | None = None, watch: Watch | None = None) -> None:
        """Train until all planned epochs are done, or the patience is exhausted.

        :param checkpoint: if something is kept there, training goes on from it; it is written after every
            epoch.
        :param watch: called after every step, and when an epoch is finished.
        """
        if checkpoint is not None:
            checkpoint.load(self)
        while len(self.epochs) < self.planned and len(self.epochs) - self.chosen < self.patience:
            self.run_epoch(watch)
            if checkpoint is not None:
                checkpoint.save(self)
            if watch is not None:
                watch(self._progress(len(self.epochs), self.words))

    def run_epoch(self, watch: Watch | None = None) -> None:
        """One epoch of steps, and the scores of its averaged weights on dev.

        :raises DivergedError: if the loss or a score is not finite.
        """
        began, total, done = time.monotonic(), 0.0, 0
        for batch in self.batches():
            size = int(self.lengths[batch].sum())
            total += self.step(batch, done) * size
            done += size
            if watch is not None:
                watch(self._progress(len(self.epochs) + 1, done))
        merit, scores = self.best_merit, None
        if self.dev is not None:
            on_dev = self.scores(self.with_weights(self.average.module.eval()), self.dev)
            merit, scores = on_dev.merit, on_dev._asdict()
            for name, score in scores.items():
                self._require_finite(f"{name} on dev", score)
        if scores is None or merit > self.best_merit:
            self.best.load_state_dict(self.average.module.state_dict())
            self.best_merit, self.chosen = merit, len(self.epochs) + 1
        seconds = time.monotonic() - began + (self.epochs[-1].seconds if self.epochs else 0.0)
        self.epochs.append(Epoch(len(self.epochs) + 1, total / self.words, scores, seconds))

    def _progress(self, epoch: int, done: int) -> Progress:
        return Progress(epoch, done, self.words, self.epochs[-1] if self.epochs else None, self.planned)

    def step(self, batch: list[int], done: int) -> float:
        """One step on a batch; returns the loss per word.

        :param done: words of the current epoch that were seen before.
        :raises DivergedError: if the loss is not finite; then no step is taken.
        """
        for group, greatest in zip(self.optimiser.param_groups, self._rates, strict=True):
            group["lr"] = greatest * self.rate(done)
        self.network.train()
        self.optimiser.zero_grad()
        loss = self.loss(batch)
        value = float(loss.detach())
        self._require_finite("loss", value)
        loss.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), GRADIENT_NORM)
        self.optimiser.step()
        self.average.update_parameters(self.network)
        self.steps += 1
        return value

    def _require_finite(self, what: str, number: float) -> None:
        if not isfinite(number):
            raise DivergedError(
                f"the {self.what}'s training diverged in epoch {len(self.epochs) + 1}: its {what} is "
                f"{number}, with learning_rate={self.recipe.learning_rate:g}"
            )

    def rate(self, done: int) -> float:
        """The factor of the learning rate: it rises linearly from 0 to 1, then falls linearly to 0.

        :param done: words of the current epoch that are done.
        """
        passed = (len(self.epochs) + (done + 1) / self.words) / self.planned  # the first step counts
        warm_up: float = self.recipe.warm_up
        return min(passed / warm_up, (1 - passed) / (1 - warm_up))

    def fingerprint(self) -> str:
        """A checksum of the data, the settings and the seed."""
        settings = (self.recipe, self.seed, len(self.train), self.dev is None)
        digest = sha256(repr(settings).encode())
        for part in self.data():
            digest.update(part if isinstance(part, bytes) else repr(part).encode())
        return digest.hexdigest()

    def state(self) -> dict[str, Any]:
        """The state from which training can continue exactly as without an interruption."""
        return {
            "network": self.network.state_dict(),
            "average": self.average.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "best": self.best.state_dict(),
            "random": torch.get_rng_state(),
            "numbers": (self.best_merit, self.chosen, self.steps),
            "epochs": [tuple(epoch) for epoch in self.epochs],
        }

    def go_on_from(self, state: Mapping[str, Any]) -> None:
        """Continue from a `state`."""
        for name in ("network", "average", "optimiser", "best"):
            getattr(self, name).load_state_dict(state[name])
        torch.set_rng_state(state["random"])
        self.best_merit, self.chosen, self.steps = state["numbers"]
        self.epochs = [Epoch(*epoch) for epoch in state["epochs"]]

    def result(self) -> Model:
        """The model of the best epoch, on the CPU."""
        report = {
            "epochs": [epoch._asdict() for epoch in self.epochs],
            "chosen": self.chosen,
            "train_words": self.words,
            f"train_{self.unit}": len(self.train),
            "weights": sum(weight.numel() for weight in self.best.parameters()),
            "seed": self.seed,
        }
        return replace(self.with_weights(self.best.cpu().eval()), report=report)


def trained(
    make: Callable[[], NetworkTraining[Model]],
    seed: int,
    checkpoint: NetworkCheckpoint | None = None,
    watch: Watch | None = None,
) -> Model:
    """Train a network, and return the best epoch.

    :param make: makes the training, including the first weights of the network.
    :param seed: equal seeds give equal networks, on the same machine with the same number of threads.
    :param checkpoint: see `NetworkTraining.run`.
    :param watch: see `NetworkTraining.run`.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        training = make()
        training.run(checkpoint, watch)
        return training.result()


Item = TypeVar("Item")


def sequences(
    what: str, train: Iterable[Item], dev: Iterable[Item] | None
) -> tuple[tuple[Item, ...], tuple[Item, ...] | None]:
    """The sentences of a training treebank, and of a dev treebank if there is one.

    :param what: the name of the network that is trained.
    :raises ValueError: if one of the two has no sentence.
    """
    both = tuple(train), None if dev is None else tuple(dev)
    if not both[0]:
        raise ValueError(f"there is no sentence to train a {what} on")
    if both[1] == ():
        raise ValueError("there is no sentence to choose an epoch by")
    return both
