"""The input of inference: trees, their punctuation, and the weights of all punctemes that may explain it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.inference.inventory import Inventory
from pyropunct.inference.machines.automata import Automata
from pyropunct.inference.ragged import starts_of

Numbers = TypeVar("Numbers")
"""A column of numbers: an array, or a tensor."""


class Weights(NamedTuple, Generic[Numbers]):
    """The numbers of a problem, all real or all complex; also the shape of their adjoints.

    :ivar pair: p(l, r | w), for each node in turn one number for each pair of its relation.
    :ivar arc: the weights of the arcs of all automata: the elements of the matrices M_i.
    :ivar initial: the vectors lambda_i; ``final``, the vectors rho_i.
    """

    pair: Numbers
    arc: Numbers
    initial: Numbers
    final: Numbers


@dataclass(frozen=True)
class Problem:
    """Trees with their surface punctuation, and the punctemes that may have produced it.

    Leading dimensions "..." stand for any number of joint values of other sites; they broadcast.

    :ivar forest: B trees with N nodes and S slots, or a `pyropunct.inference.packed.PackedForest`, whose
        items are the nodes.
    :ivar relation: (N,) the relation of each node, an index into the inventory.
    :ivar log_pairs: (..., C) log p(l, r | w): for each node in turn, one number for each pair of its W_d.
    :ivar slot_automaton: (S,) which of the automata of K surface strings belongs to each slot.
    """

    forest: Any
    inventory: Inventory
    relation: Tensor
    log_pairs: Tensor
    automata: Automata
    slot_automaton: Tensor

    @cached_property
    def choice_start(self) -> NDArray[np.int64]:
        """(N + 1,) where each node's part of ``log_pairs`` starts."""
        return choice_start(self.inventory, self.relation)

    def unscaled(self, log_totals: Tensor) -> Tensor:
        """The log-probability of each tree, from that which the scaled automata give; (..., B) both."""
        log_scale = self.automata.log_scale
        if not log_scale.any():
            return log_totals
        of_slots = log_scale[self.slot_automaton.cpu().numpy()]
        of_trees = np.add.reduceat(of_slots, self.forest.slot_start[:-1].cpu().numpy())
        return log_totals + torch.from_numpy(of_trees).to(log_totals)


def choice_start(inventory: Inventory, relation: Tensor) -> NDArray[np.int64]:
    """(N + 1,) where each node's pairs start when those of all nodes are written in one line."""
    sizes = np.diff(inventory.pair_start)[relation.cpu().numpy()]
    return starts_of(sizes)


def choice_rows(inventory: Inventory, relation: Tensor) -> Tensor:
    """(C,) the inventory's row of each pair of each node, node after node."""
    start = torch.from_numpy(choice_start(inventory, relation))
    first = torch.from_numpy(inventory.pair_start)[relation] - start[:-1]
    return torch.arange(int(start[-1])) + torch.repeat_interleave(first, start.diff())
