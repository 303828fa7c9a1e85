"""The training of a network: steps, learning rates, averaged weights, and the resulting model."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from math import isfinite
from typing import Any, ClassVar, Generic, TypeVar

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from pyropunct.errors import UserError
from pyropunct.nets.networks import TrainedNetwork
from pyropunct.nets.trainer import AnyCheckpoint, DevScores, Trainer, Watch

LENGTH_NOISE = 0.1
"""The greatest random increase of a length, as a share, when sentences are batched by length."""

GRADIENT_NORM = 5.0
"""The norm to which greater gradients are clipped."""

LEAST_IN_BFLOAT16 = 1000
"""The fewest words of a batch that is computed in bfloat16: smaller ones are not faster."""

STATES = ("network", "average", "optimiser", "best")
"""The parts of a network's training that have a state of their own."""

Model = TypeVar("Model", bound=TrainedNetwork[Any, Any, Any])


class NetworkTraining(Trainer, Generic[Model]):
    """The training of one network.

    A subclass defines the vocabulary, the loss of a batch, and the scores on dev.

    :param source: gives the features that the network reads.
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
        self.source, self.device = source, torch.device(device)
        many = getattr(recipe, "batch_words", 0) >= LEAST_IN_BFLOAT16  # others count sentences
        self.in_bfloat16 = many and self.device.type == "cpu" and multiplies_bfloat16()
        self.model = self.kind.untrained(self.vocabulary(), recipe, source)
        self.lengths = torch.tensor([self.length(sentence) for sentence in train])
        words = int(self.lengths.sum())
        size = min(words, recipe.epoch_words or words)
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
        """The module that is trained, with initial weights."""
        network: nn.Module = self.model.network
        return network

    def groups(self) -> list[tuple[list[nn.Parameter], float]]:
        """Groups of weights, each with the peak of its learning rate."""
        return [(list(self.network.parameters()), self.recipe.learning_rate)]

    def with_weights(self, network: Any) -> Model:
        """The model with the weights of another module."""
        return replace(self.model, network=network)

    def batches(self) -> list[list[int]]:
        """The batches of one epoch, in random order; sentences of like length together."""
        blurred = self.lengths * (1 + LENGTH_NOISE * torch.rand(len(self.lengths)))
        batches: list[list[int]] = [[]]
        size = 0
        for number in blurred.argsort().tolist():
            if size >= self.recipe.batch_words:
                batches.append([])
                size = 0
            batches[-1].append(number)
            size += int(self.lengths[number])
        share = round(len(batches) * min(1.0, self.size / int(self.lengths.sum())))
        return [batches[number] for number in torch.randperm(len(batches)).tolist()[:share]]

    @abstractmethod
    def loss(self, batch: list[int]) -> Tensor:
        """The loss of a batch per word."""

    @abstractmethod
    def scores(self, model: Model, dev: Sequence[Any]) -> Any:
        """The `DevScores` of a model on dev."""

    def size_of(self, batch: Sequence[int]) -> int:
        """The number of words."""
        return int(self.lengths[batch].sum())

    def score_on_dev(self) -> DevScores | None:
        """The scores of the averaged weights."""
        if self.dev is None:
            return None
        on_dev: DevScores = self.scores(self.with_weights(self.average.module.eval()), self.dev)
        for name, score in on_dev._asdict().items():
            self._require_finite(f"{name} on dev", score)
        return on_dev

    def keep(self) -> None:
        """Keep the averaged weights as the best."""
        self.best.load_state_dict(self.average.module.state_dict())

    def step(self, batch: list[int], done: int) -> float:
        """See `Trainer.step`."""
        for group, greatest in zip(self.optimiser.param_groups, self._rates, strict=True):
            group["lr"] = greatest * self.rate(done)
        self.network.train()
        self.optimiser.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=self.in_bfloat16):
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
            raise UserError(
                f"the {self.what}'s training diverged in epoch {len(self.epochs) + 1}: its {what} is "
                f"{number}, with learning_rate={self.recipe.learning_rate:g}"
            )

    def rate(self, done: int) -> float:
        """The learning rate's factor after ``done`` words of the epoch: linear up to 1, then down to 0."""
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


def multiplies_bfloat16() -> bool:
    """Whether the CPU multiplies numbers in bfloat16: large batches take half the time."""
    return bool(torch.cpu.get_capabilities().get("avx512_bf16"))


def trained(
    make: Callable[[], NetworkTraining[Model]],
    seed: int,
    checkpoint: AnyCheckpoint | None = None,
    watch: Watch | None = None,
) -> Model:
    """Train a network with seeded initial weights, and return its best epoch."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        training = make()
        training.run(checkpoint, watch)
        return training.result()


Item = TypeVar("Item")


def sequences(
    what: str, train: Iterable[Item], dev: Iterable[Item] | None
) -> tuple[tuple[Item, ...], tuple[Item, ...] | None]:
    """The training and dev sentences as tuples; raises `ValueError` if either is empty."""
    both = tuple(train), None if dev is None else tuple(dev)
    if not both[0]:
        raise ValueError(f"there is no sentence to train a {what} on")
    if both[1] == ():
        raise ValueError("there is no sentence to choose an epoch by")
    return both
