"""Sentences whose trees are latent: p(T | words) of all trees T in a packed forest."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from pyropunct.inference.forest import forest_of
from pyropunct.inference.packed import PackedForest
from pyropunct.models.trees import COLUMNS, TreeBatch


@dataclass(frozen=True)
class LatentTrees:
    """B sentences of W words and S slots, and p(T | words) of the trees that they may have::

        log p(T | words) = sum of log_arcs over the items of T

    These need not add up to 1: what is missing is the probability of trees that are left out.

    :ivar words: any trees of these words; what they say of words alone is read.
    :ivar forest: the trees that may be.
    :ivar relation: (I,) the relation of each item's constituent.
    :ivar log_arcs: (I,) of each item, its part of the logarithm of the probability of T.
    :ivar more: (I, ...) further columns about constituents, as in `TreeBatch.more`.
    :ivar contexts: what the attach model has looked up of all items, for training.
    """

    words: TreeBatch
    forest: PackedForest
    relation: Tensor
    log_arcs: Tensor
    more: Mapping[str, Tensor] = field(default_factory=dict)
    contexts: Any = None

    def __len__(self) -> int:
        return self.forest.num_trees

    def trees(self, chosen: Tensor) -> TreeBatch:
        """The trees that consist of chosen items.

        :param chosen: (I,) 1 for these items, and 0 for all others.
        :raises ValueError: if they are not one tree of each sentence.
        """
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
