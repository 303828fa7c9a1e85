"""Trees as integers, many at a time: what the models read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import torch
from torch import Tensor

from pyropunct.inference.forest import Forest
from pyropunct.inference.machines.evidence import as_wide

Found = TypeVar("Found")

COLUMNS = ("relation", "tag", "form", "shape")
"""The columns that every batch has for its words."""

READING = "reading"
"""The name, in `TreeBatch.more`, of what a network reads in the slots at the edges of each word's
constituent: (N, 2, tokens) log-odds of each token, see `pyropunct.models.reading`."""

TREEBANK = "treebank"
"""The name there of the number of the treebank that a word's tree comes from."""


def string_number(string: Sequence[int]) -> int:
    """A hash of a string of tokens: 0 for the empty string; two strings hardly ever share one."""
    number = 0
    for token in string:
        number = (number * 1000003 + token + 1) % 2147483647
    return number


@dataclass(frozen=True)
class TreeBatch:
    """B unpunctuated trees with N words and S slots, encoded by a `pyropunct.vocabulary.Vocabulary`.

    :ivar forest: their shapes.
    :ivar relation: (N,) ``int64``, see `Vocabulary.relations`.
    :ivar tag: (N,) ``int64``, see `Vocabulary.tags`.
    :ivar form: (N,) ``int64``, lower-cased forms; see `Vocabulary.forms`.
    :ivar shape: (N,) ``int64``, see `pyropunct.vocabulary.word_shape`.
    :ivar more: (N,) ``int64``, further columns for attach models, by their names in templates; under
        `READING`, which no template reads, log-odds.
    :ivar memo: what `once` has computed; None if nothing is kept.
    """

    forest: Forest
    relation: Tensor
    tag: Tensor
    form: Tensor
    shape: Tensor
    more: Mapping[str, Tensor] = field(default_factory=dict)
    memo: dict[Any, Any] | None = field(default=None, repr=False, compare=False)

    def __len__(self) -> int:
        return self.forest.num_trees

    def to(self, device: torch.device | str) -> "TreeBatch":
        """The same trees with their tensors on ``device``."""
        return self._changed(self.forest.to(device), lambda column: column.to(device))

    def pick(self, trees: Sequence[int]) -> "TreeBatch":
        """A batch of the trees with these numbers, in this order."""
        device = self.relation.device
        place = torch.from_numpy(self.forest.nodes_of(trees)).to(device)
        return self._changed(self.forest.pick(trees).to(device), lambda column: column[place])

    def remembering(self) -> "TreeBatch":
        """The same trees, for which `once` keeps what it computes."""
        return replace(self, memo={})

    def once(self, function: Callable[["TreeBatch"], Found]) -> Found:
        """What a function says of these trees; computed only once if they are `remembering`."""
        if self.memo is None:
            return function(self)
        if function not in self.memo:
            self.memo[function] = function(self)
        return self.memo[function]

    def _changed(self, forest: Forest, change: Callable[[Tensor], Tensor]) -> "TreeBatch":
        more = {name: change(column) for name, column in self.more.items()}
        return TreeBatch(forest, **{name: change(getattr(self, name)) for name in COLUMNS}, more=more)


def join_surfaces(surfaces: Sequence[Tensor]) -> Tensor:
    """Put the surface strings of several batches, (S, L) each, one below the other."""
    return torch.cat(as_wide(surfaces))
