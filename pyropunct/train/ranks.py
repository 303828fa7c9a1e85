"""Training in several processes, the ranks of torch.distributed, which ``torchrun`` starts.

Each rank takes steps on its own share of the batches.  Every few steps the ranks put together what they have
learned since the last time.  If theta_1 .. theta_n were all theta then, and k of them differ from it now::

    theta <- theta + sum over r of (theta_r - theta) / sqrt(k)

The squares of Adagrad, which are sums over steps, are added up.  In the beginning Adagrad moves a weight by
the square root of the number of steps, which is where the root comes from: the sum would go too far, and the
mean, for which there is k, not far enough.  A weight that one rank alone has moved is where that rank left
it.  Averages of past gradients, as Adam has them, are averaged.
"""

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

from pyropunct.errors import FailureError

Item = TypeVar("Item")

STEPS = 32
"""Steps of each rank between two times that the ranks put together what they have learned."""

PATIENCE = timedelta(minutes=30)
"""How long a rank waits for the others."""


class RankGoneError(FailureError, RuntimeError):
    """Another rank has ended, so that training cannot go on."""


class Ranks:
    """The ranks of a training, of which this process is one.

    :ivar number: which one it is, from 0.
    :ivar size: how many there are.
    """

    def __init__(self, number: int = 0, size: int = 1) -> None:
        self.number, self.size = number, size
        self._before: dict[Tensor, Tensor] = {}

    @property
    def first(self) -> bool:
        """Whether this is the rank that prints and writes."""
        return self.number == 0

    def takes(self, batch: int) -> bool:
        """Whether this rank takes a batch of an epoch, counted from 0."""
        return batch % self.size == self.number

    def meets(self, batch: int) -> bool:
        """Whether the ranks put together what they have learned when this batch is done."""
        return self.size > 1 and (batch + 1) % (STEPS * self.size) == 0

    @contextmanager
    def first_says_why(self) -> Iterator[None]:
        """Let all ranks run the block; if it fails, only the first rank reports the error.

        :raises RankGoneError: if another rank has ended.
        """
        try:
            yield
        except Exception:
            if not self.first:
                self._wait()
            raise
        self._wait()

    def _wait(self) -> None:
        """Wait until all ranks do."""
        if self.size > 1:
            with _others():
                dist.barrier()

    def share(self, items: Sequence[Item]) -> Sequence[Item]:
        """This rank's share of items."""
        return items[self.number :: self.size]

    def same(self, numbers: Tensor) -> Tensor:
        """Numbers as the first rank has them."""
        if self.size > 1:
            with _others():
                dist.broadcast(numbers, 0)
        return numbers

    def total(self, number: float) -> float:
        """The sum of a number over all ranks."""
        if self.size == 1:
            return number
        total = torch.tensor(number, dtype=torch.double)
        with _others():
            dist.all_reduce(total)
        return float(total)

    @torch.no_grad()
    def remember(self, optimisers: list[torch.optim.Optimizer]) -> None:
        """Take weights that all ranks have as those from which they learn."""
        if self.size > 1:
            weights = list(_weights(optimisers))
            squares = [optimiser.state.get(weight, {}).get("squares") for optimiser, weight in weights]
            shared = [weight for _, weight in weights] + [sums for sums in squares if sums is not None]
            self._before = {tensor: tensor.detach().clone() for tensor in shared}

    @torch.no_grad()
    def meet(self, optimisers: list[torch.optim.Optimizer]) -> None:
        """Put together what the ranks have learned.

        :param optimisers: those of the weights, of the same kinds in all ranks.
        :raises RankGoneError: if another rank has ended.
        """
        if self.size == 1:
            return
        with _others():
            for optimiser, weight in _weights(optimisers):
                self._put_together(weight)
                if "squares" in optimiser.state.get(weight, {}):
                    self._add_up(optimiser.state[weight]["squares"])
            self._average(_averages(optimisers))

    def _put_together(self, weight: Tensor) -> None:
        """Put together what was learned of a weight, in its own place: there may be millions of numbers."""
        before, learned = self._before[weight], weight.sub_(self._before[weight])
        moved = (learned != 0).view(torch.uint8)
        dist.all_reduce(learned)
        dist.all_reduce(moved)
        weight.copy_(before.addcdiv_(learned, moved.clamp_(min=1).sqrt()))

    def _add_up(self, squares: Tensor) -> None:
        before, new = self._before[squares], squares.sub_(self._before[squares])
        dist.all_reduce(new)
        squares.copy_(before.add_(new))

    def _average(self, averages: list[Tensor | None]) -> None:
        """Average tensors over the ranks, if all have them: a weight without gradients has no tensor."""
        known = torch.tensor([average is not None for average in averages], dtype=torch.int)
        dist.all_reduce(known)
        for average, ranks in zip(averages, known.tolist(), strict=True):
            if average is not None and ranks == self.size:
                dist.all_reduce(average)
                average /= self.size


ALONE = Ranks()
"""A training in one process."""


def _averages(optimisers: list[torch.optim.Optimizer]) -> list[Tensor | None]:
    """For each weight the averages of past gradients and of their squares; None where there are none."""
    states = (optimiser.state.get(weight, {}) for optimiser, weight in _weights(optimisers))
    return [state.get(name) for state in states for name in ("exp_avg", "exp_avg_sq")]


def _weights(optimisers: list[torch.optim.Optimizer]) -> Iterator[tuple[torch.optim.Optimizer, Tensor]]:
    for optimiser in optimisers:
        for group in optimiser.param_groups:
            for weight in group["params"]:
                yield optimiser, weight


@contextmanager
def _others() -> Iterator[None]:
    """:raises RankGoneError: in the place of what torch raises when another rank has ended."""
    try:
        yield
    except RuntimeError as error:
        raise RankGoneError("another process of this training has ended") from error


@contextmanager
def started(device: str) -> Iterator[Ranks]:
    """The ranks that ``torchrun`` has started; `ALONE` if it has started none, or one.

    When torchrun ends all because one of them has died, that is an interruption here.

    :param device: where weights are.
    """
    size = int(os.environ.get("WORLD_SIZE", "1")) if "TORCHELASTIC_RUN_ID" in os.environ else 1
    if size == 1:
        yield ALONE
        return
    dist.init_process_group("gloo" if device == "cpu" else "cpu:gloo,cuda:nccl", timeout=PATIENCE)
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield Ranks(dist.get_rank(), size)
    finally:
        signal.signal(signal.SIGTERM, before)
        dist.destroy_process_group()


def device_of_rank(device: str) -> str:
    """The device of a rank: of several GPUs each rank of a machine has one."""
    return f"cuda:{os.environ['LOCAL_RANK']}" if device == "cuda" and "LOCAL_RANK" in os.environ else device
