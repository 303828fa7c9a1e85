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
from pyropunct.inference.parts import Parts
from pyropunct.inference.ragged import Ints, runs, starts_of

Column = TypeVar("Column")
"""A column of numbers: an array, or a tensor."""


class Weights(NamedTuple, Generic[Column]):
    """The numbers of a problem, all real or all complex; also the shape of their adjoints.

    :ivar pair: log p(l, r | w), for each node in turn one number for each pair of its relation.
    :ivar arc: the weights of the arcs of all automata: the elements of the matrices M_i.
    :ivar initial: the vectors lambda_i; ``final``, the vectors rho_i.
    """

    pair: Column
    arc: Column
    initial: Column
    final: Column


@dataclass(frozen=True)
class Problem:
    """Trees with their surface punctuation, and the punctemes that may have produced it.

    Leading dimensions "..." stand for any number of joint values of other sites; they broadcast.

    :ivar forest: B trees with N nodes and S slots, or a `pyropunct.inference.packed.PackedForest`, whose
        items are the nodes.
    :ivar relation: (N,) the relation of each node, an index into the inventory.
    :ivar log_pairs: (..., C) log p(l, r | w): for each node in turn, one number for each pair of its W_d.
    :ivar slot_automaton: (S,) which of the automata of K surface strings belongs to each slot.
    :ivar parts: the parts of constituents that marks may enclose: then a node has its pairs in ``log_pairs``
        without a part first, then again with each of its parts.
    """

    forest: Any
    inventory: Inventory
    relation: Tensor
    log_pairs: Tensor
    automata: Automata
    slot_automaton: Tensor
    parts: Parts | None = None

    @cached_property
    def choice_start(self) -> NDArray[np.int64]:
        """(N + 1,) where each node's part of ``log_pairs`` starts."""
        if self.parts is None:
            return self.inventory.choice_start(self.relation)
        return starts_of(self.sizes * self.parts.counts(len(self.sizes)))

    @cached_property
    def sizes(self) -> Ints:
        """(N,) the size of each node's W_d."""
        return np.diff(self.inventory.pair_start)[self.relation.cpu().numpy()]

    @cached_property
    def base(self) -> Tensor:
        """(C,) the pair of each choice, by its place in `Inventory.choice_rows`."""
        if self.parts is None:
            return torch.arange(self.choice_start[-1])
        counts = self.parts.counts(len(self.sizes))
        node = np.repeat(np.arange(len(counts)), counts)
        return torch.from_numpy(runs(starts_of(self.sizes)[node], self.sizes[node]))

    @cached_property
    def rows(self) -> Tensor:
        """(C,) the inventory's row of each choice."""
        return self.inventory.choice_rows(self.relation)[self.base]

    def numbered(self, choices: Tensor) -> Tensor:
        """Choices as in `pyropunct.inference.parts`, from places among the ``log_pairs`` of each node."""
        if self.parts is None:
            return choices
        numbers = choices.clone()
        for node, own in self.parts.of_node.items():
            size, of_node = int(self.sizes[node]), choices[..., node]
            number = torch.cat([torch.zeros(1, dtype=torch.long), self.parts.number[own.start : own.stop]])
            known = of_node % size + size * number.to(of_node.device)[of_node.clamp(min=0) // size]
            numbers[..., node] = of_node.where(of_node < 0, known)
        return numbers

    def unscaled(self, log_totals: Tensor) -> Tensor:
        """(..., B) log-probabilities of trees, with `Automata.log_scale` of all their slots added."""
        log_scale = self.automata.log_scale
        if not log_scale.any():
            return log_totals
        of_slots = log_scale[self.slot_automaton.cpu().numpy()]
        of_trees = np.add.reduceat(of_slots, self.forest.slot_start[:-1].cpu().numpy())
        return log_totals + torch.from_numpy(of_trees).to(log_totals)
