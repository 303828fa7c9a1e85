"""Training in epochs: settings, choice of the best epoch, interruption, report and divergence."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from math import ceil, inf, isfinite
from typing import Annotated, Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
import torch
from torch import Tensor

from pyropunct.limits import Range, forbidden
from pyropunct.text.marks import Surface

LARGEST = 1e6
"""Larger weights mean that training diverged; sums of smaller weights are still exact."""

LARGEST_SETTING = 1_000_000
"""The largest value that a file may give to a setting."""


Layers = Annotated[int, Range(0, 100)]
"""A number of layers; bounded, as a network is built before its tensors are compared with those of a file."""


@dataclass(frozen=True)
class TrainingRecipe:
    """How long, how fast and with how much noise a network is trained.

    :ivar epochs: passes over the training treebank; more if ``least_steps`` needs more.
    :ivar least_steps: minimum number of steps, for small treebanks.
    :ivar learning_rate: Adam's greatest learning rate.
    :ivar dropout: the share of features dropped in training, at every layer.
    :ivar epoch_words: the words of an epoch; larger training data are subsampled in each epoch.
        0 uses all.
    """

    epochs: int = 12
    least_steps: int = 3000
    learning_rate: float = 0.003
    dropout: float = 0.33
    epoch_words: int = 0

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> Self:
        """:raises ValueError: if a setting is not a number of the right type, or out of bounds."""
        usual = asdict(cls())
        given = {name: plain.get(name, number) for name, number in usual.items()}
        for name, number in usual.items():
            kinds = (int,) if type(number) is int else (int, float)
            if type(given[name]) not in kinds or not 0 <= given[name] <= LARGEST_SETTING:
                raise ValueError(f"the setting {name} is {given[name]!r}")
        recipe = cls(**given)
        if problem := forbidden(recipe):
            raise ValueError(f"the setting {problem}")
        return recipe


@dataclass(frozen=True)
class AveragedRecipe(TrainingRecipe):
    """How a network with averaged weights is trained; dropout is shared within a sentence.

    :ivar batch_words: words in a step, exceeded by less than a sentence or a window.
    :ivar second_moment: Adam's beta_2.
    :ivar warm_up: the share of training in which the learning rate rises; then it falls to zero.
    :ivar averaging: a in the moving average of the weights, a average + (1 - a) weights at each step.
    :cvar weight_decay: AdamW's.
    """

    batch_words: int = 300
    second_moment: float = 0.95
    warm_up: float = 0.05
    averaging: float = 0.995
    weight_decay: ClassVar[float] = 0.0

    def planned_epochs(self, words: int) -> int:
        """The number of epochs, given the words of each."""
        return max(self.epochs, ceil(self.least_steps * self.batch_words / words))


def strange(tensor: Tensor) -> str | None:
    """The problem of a tensor: not finite, or very large; None if it has no problem."""
    if not tensor.is_floating_point():
        return None
    tensor = tensor.detach()._values() if tensor.is_sparse else tensor
    if not tensor.numel():
        return None
    # One pass without extra memory, since attach models have tens of millions of weights; it detects NaN too.
    largest = max(abs(float(end)) for end in torch.aminmax(tensor.detach()))
    if not isfinite(largest):
        return "has a number that is not finite"
    return f"has a number as large as {largest:g}" if largest > LARGEST else None


class Epoch(NamedTuple):
    """The result of one epoch.

    :ivar loss: the training loss in natural logarithms: per word or slot of a network, per sentence of a
        story, priors included.
    :ivar scores: on the dev treebank, by name, if there is one.
    """

    number: int
    loss: float
    scores: Mapping[str, float] | None
    seconds: float


class Progress(NamedTuple):
    """The progress of a training; epochs are counted from 1.

    :ivar done: the part of ``size`` that is done: words of a network, sentences of a story.
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
    """Stores the state of a training, such as `pyropunct.train.checkpoints.Checkpoint`."""

    def load(self, training: Any) -> None:
        """Resume a training from the stored state, if there is one."""

    def save(self, training: Any) -> None:
        """Store the state of a training."""


class DevScores(Protocol):
    """Scores of a model on a dev treebank: a named tuple of numbers."""

    @property
    def merit(self) -> float:
        """A non-negative number; higher is better."""

    def _asdict(self) -> dict[str, Any]: ...


class Perplexity(NamedTuple):
    """The perplexity per slot of the dev treebank."""

    perplexity: float

    @classmethod
    def of(cls, log_prob: Tensor, surfaces: Sequence[Surface]) -> Self:
        """From the log-probability of each of some surfaces, in natural logarithms."""
        return cls(float(np.exp(-float(log_prob.sum()) / sum(map(len, surfaces)))))

    @property
    def merit(self) -> float:
        """The geometric mean of the probabilities of slots, by which the best epoch is chosen."""
        return 1 / self.perplexity


class Trainer(ABC):
    """A training in epochs: the base class for networks and stories.

    :ivar dev: data that choose the best epoch; without them the last epoch is kept.
    :ivar patience: stop after this many epochs without a gain on dev.
    :ivar chosen: the number of the best epoch; 0 before the first.
    :cvar share: an epoch is kept if its merit exceeds this share of the greatest merit so far.
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
        """Take one step, after ``done`` words (sentences) of the epoch; returns the loss per word (sentence).

        :raises UserError: if the loss is not finite; then no step is taken.
        """

    @abstractmethod
    def score_on_dev(self) -> DevScores | None:
        """The scores of the current weights on dev, if any; raises `UserError` if one is not finite."""

    @abstractmethod
    def keep(self) -> None:
        """Keep the current weights as the best."""

    @property
    def is_early(self) -> bool:
        """Whether the next epoch replaces this one, whatever their merits."""
        return False

    def run(self, checkpoint: AnyCheckpoint | None = None, watch: Watch | None = None) -> None:
        """Train until the epochs or the patience end; resumes from the checkpoint, and writes it."""
        if checkpoint is not None:
            checkpoint.load(self)
        while len(self.epochs) < self.planned and len(self.epochs) - self.chosen < self.patience:
            self.run_epoch(watch)
            if checkpoint is not None:
                checkpoint.save(self)
            if watch is not None:
                watch(self._progress(len(self.epochs), self.size))

    def run_epoch(self, watch: Watch | None = None) -> None:
        """Train one epoch and score it on dev; raises `UserError` if a number is not finite."""
        began, total, done = time.monotonic(), 0.0, 0
        for batch in self.batches():
            size = self.size_of(batch)
            total += self.step(batch, done) * size
            done += size
            if watch is not None:
                watch(self._progress(len(self.epochs) + 1, done))
        loss, scores = total / self.size, self.score_on_dev()
        seconds = time.monotonic() - began + (self.epochs[-1].seconds if self.epochs else 0.0)
        of_dev = None if scores is None else scores._asdict()
        self.epochs.append(Epoch(len(self.epochs) + 1, loss, of_dev, seconds))
        if scores is None or self.is_early or scores.merit > self.share * self.best_merit:
            self.chosen = len(self.epochs)
            self.keep()
        if scores is not None:
            self.best_merit = 0.0 if self.is_early else max(self.best_merit, scores.merit)

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
        """Tensors and plain values from which training resumes exactly as if uninterrupted."""
        return {
            "random": torch.get_rng_state(),
            "numbers": (self.best_merit, self.chosen),
            "epochs": [tuple(epoch) for epoch in self.epochs],
        }

    def go_on_from(self, state: Mapping[str, Any]) -> None:
        """Resume from a `state`.

        :raises LookupError, TypeError, ValueError, AttributeError, RuntimeError: if it is not one.
        """
        torch.set_rng_state(state["random"])
        self.best_merit, self.chosen = state["numbers"]
        self.epochs = [Epoch(*epoch) for epoch in state["epochs"]]
