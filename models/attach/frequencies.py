"""The simplest ATTACH: how often each relation sprouts each of its pairs."""

from collections.abc import Sequence
from typing import Any

import pyro.distributions as dist
import torch
from pyro.nn import PyroSample
from torch import Tensor

from pyropunct.inference.inventory import Inventory
from pyropunct.models.attach.base import Attach, Trees
from pyropunct.models.attach.views import Views


class PairFrequencies(Attach):
    """One distribution over W_d for each relation d, whatever the context::

        p(l, r | w) is in proportion to exp table[d, l, r]

    :param prior_scale: the standard deviation of the normal prior of the table.
    """

    reads_surface = False
    is_local = True

    def __init__(self, inventory: Inventory, marks: Sequence[str] = (), prior_scale: float = 1.0) -> None:
        super().__init__(inventory)
        prior = dist.Normal(torch.zeros(len(inventory.rows)), prior_scale).to_event(1)
        self.table: Any = PyroSample(prior)  # a tensor when read

    def scores(self, trees: Trees, views: Views) -> Tensor:
        """The relation's part of the table, for each view."""
        return self.table[..., self.pairs_of(trees, views).row]
