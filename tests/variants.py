"""Small attach and channel variants of somebody else's, and things that are none."""

from collections.abc import Iterator, Sequence
from itertools import product

import pyro.distributions as dist
import torch
from pyro.nn import PyroSample
from torch import Tensor, nn

from pyropunct.inference.inventory import Inventory
from pyropunct.inference.machines.moves import END, Move
from pyropunct.inference.views import Views
from pyropunct.models.attach.attach_model import Attach, PairFrequencies
from pyropunct.models.channel.noisy_channel import Channel, Identity
from pyropunct.models.channel.window import SlidingWindow
from pyropunct.models.trees import TreeBatch


class TagNetwork(Attach):
    """Plain layers with dropout that look at the tag alone, and count those of training in a buffer."""

    def __init__(self, inventory: Inventory, marks: Sequence[str], num_tags: int) -> None:
        super().__init__(inventory)
        self.layers = nn.Sequential(
            nn.Embedding(num_tags, 8),
            nn.LayerNorm(8),
            nn.Dropout(0.3),
            nn.Linear(8, len(inventory.rows)),
        )
        self.register_buffer("seen", torch.zeros(num_tags, dtype=torch.long))

    def scores(self, trees: TreeBatch, views: Views) -> Tensor:
        if self.training:
            self.seen += trees.tag.bincount(minlength=len(self.seen))
        return self.layers(trees.tag[views.node])


class BatchStatistics(TagNetwork):
    """A network that reads, in training, statistics of the whole batch."""

    def __init__(self, inventory: Inventory, marks: Sequence[str], num_tags: int) -> None:
        super().__init__(inventory, marks, num_tags)
        self.layers[1] = nn.BatchNorm1d(8)


class Stutter(Channel):
    """Shows a string as it is, or else its last token twice."""

    def __init__(self, num_tokens: int, direction: str = "left") -> None:
        super().__init__(num_tokens, direction)
        self.logit = PyroSample(dist.Normal(torch.tensor(-3.0), 1.0))

    def weights(self) -> dict[str, Tensor]:
        return {"twice": self.logit.sigmoid(), "once": (-self.logit).sigmoid()}

    def moves(self) -> Iterator[Move]:
        yield Move("start", END)
        for a, b in product(range(self.num_tokens), repeat=2):
            yield Move(a, b, written=(b,), target=b)
        for a in range(self.num_tokens):
            yield Move("start", a, written=(a,), target=a)
            yield Move(a, END, (("twice",),), written=(a,))
            yield Move(a, END, (("once",),))


class LooksAround(PairFrequencies):
    """It likes the empty pair the less, the more marks there are inside the constituent of the head."""

    reads_surface = True

    def scores(self, trees: TreeBatch, views: Views) -> Tensor:
        view, row = self.pairs_of(trees, views)
        inside = dict(zip(views.node.tolist(), views.sizes.tolist(), strict=True))
        around = torch.tensor([inside.get(head, 0) for head in trees.forest.head[views.node].tolist()])
        empty = torch.tensor([not any(pair) for pair in self.inventory.rows])
        return super().scores(trees, views) - around[view] * empty[row]


class NoModule:
    """A class, but nothing that learns."""


def called(*arguments: object) -> None:
    """What must never be called, however the file of a model names it."""
    raise AssertionError("a function was called in place of a variant")


class Choosy(Identity):
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


class Endless(Identity):
    """With probability 0.25 it goes on for ever behind the last token."""

    def moves(self) -> Iterator[Move]:
        for move in super().moves():
            yield move._replace(factor=0.75 if move.token == END else 1.0)
            yield Move("lost", move.token, target="lost")
        yield Move("copying", END, target="lost", factor=0.25)


class OneAtATime(SlidingWindow):
    """It takes the first index of its logits for the first token's."""

    def weights(self) -> dict[str, Tensor]:
        return {"edit": self.edit_logits.exp() / self.edit_logits.exp().sum(2, keepdim=True)}


class Leaky(Identity):
    """It copies a token with probability 0.5, and says nothing of the other half."""

    def moves(self) -> Iterator[Move]:
        for move in super().moves():
            yield move if move.token == END else move._replace(factor=0.5)
