"""Small attach and channel variants of somebody else's, and things that are none."""

from collections.abc import Sequence

import pyro.distributions as dist
import torch
from pyro.nn import PyroSample
from torch import Tensor, nn

from pyropunct.inference.automata import Arc, End, Topology
from pyropunct.inference.inventory import Inventory
from pyropunct.models.attach.base import Attach
from pyropunct.models.attach.views import Views
from pyropunct.models.channel.window import Channel
from pyropunct.models.trees import TreeBatch


class PairFrequencies(Attach):
    """Every relation has its own distribution over its pairs, whatever stands around the constituent."""

    reads_surface = False

    def __init__(self, inventory: Inventory, marks: Sequence[str], prior_scale: float = 1.0) -> None:
        super().__init__(inventory)
        self.table = PyroSample(dist.Normal(torch.zeros(len(inventory.rows)), prior_scale).to_event(1))

    def scores(self, trees: TreeBatch, views: Views) -> Tensor:
        return self.table[..., self.pairs_of(trees, views).row]


class TagNetwork(Attach):
    """A network of plain layers that looks at the tag alone.

    One layer leaves features out in training, and one has statistics of its own.
    """

    def __init__(self, inventory: Inventory, marks: Sequence[str], num_tags: int) -> None:
        super().__init__(inventory)
        self.layers = nn.Sequential(
            nn.Embedding(num_tags, 8),
            nn.BatchNorm1d(8),
            nn.Dropout(0.3),
            nn.Linear(8, len(inventory.rows)),
        )

    def scores(self, trees: TreeBatch, views: Views) -> Tensor:
        view, row = self.pairs_of(trees, views)
        return self.layers(trees.tag[views.node].to(self.layers[0].weight.device))[view, row]


class Stutter(Channel):
    """Shows a string as it is, or else its last token twice."""

    def __init__(self, num_tokens: int, direction: str = "left") -> None:
        super().__init__(num_tokens, direction)
        self.logit = PyroSample(dist.Normal(torch.tensor(-3.0), 1.0))

    def weights(self) -> Tensor:
        """Never, always, plain, stuttered."""
        stutter = self.logit.sigmoid()
        return torch.stack([torch.ones_like(stutter), 1 - stutter, stutter], -1)

    def topology(self, surface: tuple[int, ...]) -> Topology:
        if not surface:
            return Topology(1, [End(0, 0)], [End(0, 0)], [])
        arcs = [Arc(token, place, place + 1, 0) for place, token in enumerate(surface)]
        final = [End(len(surface), 1)]
        if surface[-1:] == surface[-2:-1]:
            final.append(End(len(surface) - 1, 2))
        return Topology(len(surface) + 1, [End(0, 0)], final, arcs)

    def rewrite(self, underlying: Sequence[int], weights: Tensor) -> list[int]:
        twice = bool(underlying) and bool(torch.rand(()) < weights[2])
        return [*underlying, *underlying[-1:]] if twice else list(underlying)


class NoModule:
    """A class, but nothing that learns."""


def called(*arguments: object) -> None:
    """What must never be called, however a model folder names it."""
    raise AssertionError("a function was called in place of a variant")


class Choosy(Channel):
    """A channel with options of all kinds, which must be given one; it changes nothing."""

    def __init__(
        self,
        tokens: int,
        reading: str,
        size: int,
        *,
        rate: float = 0.5,
        name: str | None = None,
        names: tuple[str, ...] = (),
        flag=False,  # type: ignore[no-untyped-def]  # not everybody annotates
        table: dict[str, int] | None = None,
    ) -> None:
        super().__init__(tokens, reading)
        self.given = (size, rate, name, names, flag, table)

    def weights(self) -> Tensor:
        return torch.ones(1)

    def topology(self, surface: tuple[int, ...]) -> Topology:
        arcs = [Arc(token, place, place + 1, 0) for place, token in enumerate(surface)]
        return Topology(len(surface) + 1, [End(0, 0)], [End(len(surface), 0)], arcs)

    def rewrite(self, underlying: Sequence[int], weights: Tensor) -> list[int]:
        return list(underlying)
