"""Training: epochs, the choice of the best one, interruption, report and divergence; steps of networks."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from math import inf, isfinite
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from pyropunct.errors import UserError
from pyropunct.nets.trained import TrainedNetwork

LARGEST = 1e6
"""No weight of a model that has learned something comes near this; sums of such weights are still exact."""

LENGTH_NOISE = 0.1
"""The greatest random increase of a length, as a share, when sentences are batched by length."""

GRADIENT_NORM = 5.0
"""The norm to which greater gradients are clipped."""

STATES = ("network", "average", "optimiser", "best")
"""The parts of a network's training that have a state of their own."""


class DivergedError(UserError, ArithmeticError):
    """Training diverged, so there is no model; the message is one line with the place and a remedy."""


def strange(tensor: Tensor) -> str | None:
    """The problem of the real numbers in a tensor: not finite, or very large; None if there is no problem."""
    if not tensor.is_floating_point():
        return None
    tensor = tensor.detach()._values() if tensor.is_sparse else tensor
    if not tensor.numel():
        return None
    # One pass without further memory, as attach models have tens of millions of weights; NaN comes through.
    largest = max(abs(float(end)) for end in torch.aminmax(tensor.detach()))
    if not isfinite(largest):
        return "has a number that is not finite"
    return f"has a number as large as {largest:g}" if largest > LARGEST else None


class Epoch(NamedTuple):
    """The result of one epoch.

    :ivar number: counted from 1.
    :ivar loss: what is minimised, in natural logarithms: per word or slot of a network's training treebank,
        per sentence of a story's, priors included.
    :ivar scores: on the dev treebank, by their names, if there is one.
    :ivar seconds: spent since training began.
    """

    number: int
    loss: float
    scores: Mapping[str, float] | None
    seconds: float


class Progress(NamedTuple):
    """How far training is.

    :ivar what: what is trained: the name of a network, or the direction of a story.
    :ivar epoch: the current epoch, counted from 1.
    :ivar done: the part of ``size`` that is done.
    :ivar size: the words that a network, or the sentences that a story learns from in an epoch.
    :ivar last: the last finished epoch.
    :ivar epochs: the number of epochs.
    """

    what: str
    epoch: int
    done: int
    size: int
    last: Epoch | None
    epochs: int

    @property
    def finished(self) -> bool:
        """Whether the current epoch is finished, its scores known and the checkpoint written."""
        return self.last is not None and self.last.number == self.epoch


Watch = Callable[[Progress], None]
"""Called after every step, and when an epoch is finished."""


class AnyCheckpoint(Protocol):
    """Where the state of a training is kept, such as a `pyropunct.train.checkpoints.Checkpoint`."""

    def load(self, training: Any) -> None:
        """Let a training go on from the state that is kept, if there is one."""

    def save(self, training: Any) -> None:
        """Keep the state of a training."""


class Scores(Protocol):
    """Scores of a model on a dev treebank: a named tuple of numbers."""

    @property
    def merit(self) -> float:
        """A number that is not negative; the higher it is, the better the model."""

    def _asdict(self) -> dict[str, Any]: ...


class Trainer(ABC):
    """A training, an epoch at a time: what the training of a network and that of a story have in common.

    :param planned: the number of epochs.
    :param size: the words, or sentences, of an epoch.
    :ivar what: the name of what is trained, in messages and reports of progress.
    :ivar train: the training data; their number is in the report.
    :ivar dev: data whose scores choose the epoch that is kept; without them the last epoch is kept.
    :ivar recipe: the settings.
    :ivar seed: the seed of torch's random numbers.
    :ivar patience: training stops after this many epochs without a gain on dev.
    :ivar epochs: those that are finished.
    :ivar chosen: the number of the epoch that is kept; 0 before the first.
    :cvar share: an epoch is kept if its merit is greater than this share of the greatest merit before.
    """

    what: str
    train: Sequence[Any]
    dev: Sequence[Any] | None
    recipe: Any
    seed: int
    share: ClassVar[float] = 1.0

    def __init__(self, planned: int, size: int) -> None:
        self.planned, self.size, self.patience = planned, size, inf
        self.epochs: list[Epoch] = []
        self.best_merit, self.chosen = -1.0, 0

    @abstractmethod
    def batches(self) -> Sequence[Sequence[int]]:
        """The batches of one epoch: lists of the numbers of training examples, counted from 0."""

    @abstractmethod
    def size_of(self, batch: Sequence[int]) -> int:
        """The words, or sentences, of a batch."""

    @abstractmethod
    def step(self, batch: Any, done: int) -> float:
        """One step on a batch; returns the loss per word, or per sentence.

        :param done: the words, or sentences, of the current epoch that were seen before.
        :raises DivergedError: if the loss is not finite; then no step is taken.
        """

    @abstractmethod
    def measured(self) -> Scores | None:
        """The scores of the present weights on dev, None without dev.

        :raises DivergedError: if a score is not finite.
        """

    @abstractmethod
    def keep(self) -> None:
        """Remember the present weights as those of the best epoch."""

    def taken(self, number: int, batch: Sequence[int], done: int) -> float:
        """The sum of the losses over a batch, on which a step is taken.

        :param number: of the batch in the epoch, counted from 0.
        """
        return self.step(batch, done) * self.size_of(batch)

    def mean_loss(self, total: float) -> float:
        """The mean of the losses of an epoch, whose steps are all taken.

        :param total: their sum.
        """
        return total / self.size

    def run(self, checkpoint: AnyCheckpoint | None = None, watch: Watch | None = None) -> None:
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
                watch(self._progress(len(self.epochs), self.size))

    def run_epoch(self, watch: Watch | None = None) -> None:
        """Take the steps of one epoch, and measure the scores on dev, which choose the best epoch.

        :raises DivergedError: if the loss or a score is not finite.
        """
        began, total, done = time.monotonic(), 0.0, 0
        for number, batch in enumerate(self.batches()):
            total += self.taken(number, batch, done)
            done += self.size_of(batch)
            if watch is not None:
                watch(self._progress(len(self.epochs) + 1, done))
        loss, scores = self.mean_loss(total), self.measured()
        seconds = time.monotonic() - began + (self.epochs[-1].seconds if self.epochs else 0.0)
        of_dev = None if scores is None else scores._asdict()
        self.epochs.append(Epoch(len(self.epochs) + 1, loss, of_dev, seconds))
        if scores is None or scores.merit > self.share * self.best_merit:
            self.chosen = len(self.epochs)
            self.keep()
        if scores is not None:
            self.best_merit = max(self.best_merit, scores.merit)

    def _progress(self, epoch: int, done: int) -> Progress:
        last = self.epochs[-1] if self.epochs else None
        return Progress(self.what, epoch, done, self.size, last, self.planned)

    def data(self) -> Iterable[object]:
        """What determines the training besides the settings: bytes, or objects with a faithful ``repr``."""
        return ((sentence.tree, sentence.surface) for sentence in [*self.train, *(self.dev or ())])

    @cached_property
    def fingerprint(self) -> str:
        """A checksum of the data, the settings and the seed."""
        settings = (self.recipe, self.seed, len(self.train), self.dev is None)
        digest = sha256(repr(settings).encode())
        for part in self.data():
            digest.update(part if isinstance(part, bytes) else repr(part).encode())
        return digest.hexdigest()

    def state(self) -> dict[str, Any]:
        """The state from which training can continue exactly as without an interruption.

        It consists of tensors and plain values.
        """
        return {
            "random": torch.get_rng_state(),
            "numbers": (self.best_merit, self.chosen),
            "epochs": [tuple(epoch) for epoch in self.epochs],
        }

    def go_on_from(self, state: Mapping[str, Any]) -> None:
        """Continue from a `state`.

        :raises LookupError, TypeError, ValueError, AttributeError, RuntimeError: if it is not one.
        """
        torch.set_rng_state(state["random"])
        self.best_merit, self.chosen = state["numbers"]
        self.epochs = [Epoch(*epoch) for epoch in state["epochs"]]


Model = TypeVar("Model", bound=TrainedNetwork[Any, Any, Any])


class NetworkTraining(Trainer, Generic[Model]):
    """The training of one network.

    A subclass defines the vocabulary, the loss of a batch, and the scores on dev.

    :param train: see `Trainer`.
    :param dev: see `Trainer`.
    :param recipe: the settings.
    :param seed: the seed of torch's random numbers, for the report.
    :param source: gives the features that the network reads.
    :param device: where the network is trained.
    :ivar kind: the class of the model.
    :cvar unit: the unit of the training data in the report.
    :ivar model: the model with the network's first weights.
    :ivar lengths: the number of words of each training sentence.
    :ivar network: the module that is trained.
    :ivar best: the module with the averaged weights of the best epoch.
    """

    kind: type[Model]
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
        size = int(self.lengths.sum())
        super().__init__(recipe.planned_epochs(size), size)
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
        self.best = deepcopy(self.average.module)

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
        """The `Scores` of a model on dev."""

    def size_of(self, batch: Sequence[int]) -> int:
        """The number of words."""
        return int(self.lengths[batch].sum())

    def measured(self) -> Scores | None:
        """The scores of the averaged weights."""
        if self.dev is None:
            return None
        on_dev: Scores = self.scores(self.with_weights(self.average.module.eval()), self.dev)
        for name, score in on_dev._asdict().items():
            self._require_finite(f"{name} on dev", score)
        return on_dev

    def keep(self) -> None:
        """Remember the averaged weights."""
        self.best.load_state_dict(self.average.module.state_dict())

    def step(self, batch: list[int], done: int) -> float:
        """See `Trainer.step`."""
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
        passed = (len(self.epochs) + (done + 1) / self.size) / self.planned  # the first step counts
        warm_up: float = self.recipe.warm_up
        return min(passed / warm_up, (1 - passed) / (1 - warm_up))

    def state(self) -> dict[str, Any]:
        """See `Trainer.state`."""
        parts = {name: getattr(self, name).state_dict() for name in STATES}
        return {**super().state(), **parts, "steps": self.steps}

    def go_on_from(self, state: Mapping[str, Any]) -> None:
        """See `Trainer.go_on_from`."""
        for name in STATES:
            getattr(self, name).load_state_dict(state[name])
        self.steps = state["steps"]
        super().go_on_from(state)

    def result(self) -> Model:
        """The model of the best epoch, on the CPU."""
        report = {
            "epochs": [epoch._asdict() for epoch in self.epochs],
            "chosen": self.chosen,
            "train_words": self.size,
            f"train_{self.unit}": len(self.train),
            "weights": sum(weight.numel() for weight in self.best.parameters()),
            "seed": self.seed,
        }
        return replace(self.with_weights(self.best.cpu().eval()), report=report)


def trained(
    make: Callable[[], NetworkTraining[Model]],
    seed: int,
    checkpoint: AnyCheckpoint | None = None,
    watch: Watch | None = None,
) -> Model:
    """Train a network, and return the best epoch.

    :param make: makes the training, including the first weights of the network.
    :param seed: equal seeds give equal networks, on the same machine with the same number of threads.
    :param checkpoint: see `Trainer.run`.
    :param watch: see `Trainer.run`.
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
