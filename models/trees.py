"""Trees as integers, many at a time: what the models read.  They are given, or latent."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import torch
from torch import Tensor

from pyropunct.inference.forest import Forest, forest_of
from pyropunct.inference.inside import log_evidence
from pyropunct.inference.machines.evidence import as_wide
from pyropunct.inference.packed import PackedForest, without_marks

Result = TypeVar("Result")

COLUMNS = ("relation", "tag", "form", "shape")
"""The columns that every batch has for its words."""

READING = "reading"
"""The name, in `TreeBatch.more`, of what a network reads in the slots at the edges of each word's
constituent: (N, 2, tokens) log-odds of each token, see `pyropunct.models.extensions`."""

TREEBANK = "treebank"
"""The name, in `TreeBatch.more`, of the number of the treebank that a word's tree comes from."""


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
        """The same trees, for which `once` remembers what it has computed."""
        return replace(self, memo={})

    def once(self, function: Callable[["TreeBatch"], Result]) -> Result:
        """What a function says of these trees; computed only once if they are `remembering`."""
        if self.memo is None:
            return function(self)
        if function not in self.memo:
            self.memo[function] = function(self)
        return self.memo[function]

    def _changed(self, forest: Forest, change: Callable[[Tensor], Tensor]) -> "TreeBatch":
        more = {name: change(column) for name, column in self.more.items()}
        columns: dict[str, Any] = {name: change(getattr(self, name)) for name in COLUMNS}
        return TreeBatch(forest, **columns, more=more)


def join_surfaces(surfaces: Sequence[Tensor]) -> Tensor:
    """Put the surface strings of several batches, (S, L) each, one below the other."""
    return torch.cat(as_wide(surfaces))


@dataclass(frozen=True)
class LatentTrees:
    """B sentences of W words and S slots, and p(T | words) of their possible trees::

        log p(T | words) = sum of log_arcs over the items of T

    The probabilities may add up to less than 1: the rest belongs to trees that are left out.

    :ivar words: any trees of these words; only columns about words are read.
    :ivar relation: (I,) the relation of each item's constituent.
    :ivar log_arcs: (I,) the share of each item in log p(T | words).
    :ivar more: (I, ...) further columns about constituents, as in `TreeBatch.more`.
    """

    words: TreeBatch
    forest: PackedForest
    relation: Tensor
    log_arcs: Tensor
    more: Mapping[str, Tensor] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.forest.num_trees

    @classmethod
    def of_scores(
        cls, words: TreeBatch, forest: PackedForest, relation: Tensor, scores: Tensor
    ) -> "LatentTrees":
        """Trees with probabilities proportional to exp of the sum of their items' scores, (I,),
        differentiable.
        """
        totals = log_evidence(without_marks(forest, scores))
        at_roots = torch.where(forest.head < 0, totals[forest.tree], 0.0)  # each tree has one root
        return cls(words, forest, relation, scores - at_roots)

    def with_reading(self, read: Tensor) -> "LatentTrees":
        """A copy with (S, tokens) log-odds of tokens in all slots; see `pyropunct.models.extensions`."""
        at_edges = torch.stack([read[self.forest.left_slot], read[self.forest.right_slot]], 1)
        return replace(self, more={**self.more, READING: at_edges})

    def trees(self, chosen: Tensor) -> TreeBatch:
        """The trees of the items with (I,) 1. Raises ValueError unless they are one tree of each sentence."""
        forest, items = self.forest, chosen.nonzero()[:, 0]
        items = items[forest.word[items].argsort()]
        words = torch.arange(int(forest.node_start[-1]))
        if not torch.equal(forest.word[items], words):
            raise ValueError("the items of a tree are one for each word")
        first = forest.node_start[forest.tree[items]]
        heads = torch.where(forest.head[items] < 0, 0, forest.head[items] - first + 1)
        of_trees = [some.tolist() for some in heads.split(forest.node_start.diff().tolist())]
        columns = {name: getattr(self.words, name) for name in COLUMNS} | {"relation": self.relation[items]}
        more = {**self.words.more, **{name: column[items] for name, column in self.more.items()}}
        return TreeBatch(forest_of(of_trees), **columns, more=more)


AnyTrees = TreeBatch | LatentTrees
"""Trees that are given, or latent."""
