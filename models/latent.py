"""Sentences whose trees are latent: p(T | words) of all trees T in a packed forest."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from pyropunct.inference.forest import forest_of
from pyropunct.inference.inside import log_evidence
from pyropunct.inference.packed import PackedForest, without_marks
from pyropunct.models.trees import COLUMNS, READING, TreeBatch


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
        """A copy with (S, tokens) log-odds of tokens in all slots; see `pyropunct.models.reading`."""
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
