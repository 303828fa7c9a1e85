"""Sentences whose trees are latent: what a model of trees says of all arcs of their words."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from pyropunct.inference.packed import PackedForest, joined
from pyropunct.models.trees import TreeBatch


@dataclass(frozen=True)
class LatentTrees:
    """B sentences of W words and S slots, with p(T | words) of all trees T in a packed forest::

        log p(T | words) = sum over items of T of log_arcs - log_total

    :ivar words: trees of these words, of which only what is said of words is read.
    :ivar forest: the trees that may be.
    :ivar relation: (I,) the relation of each item's constituent.
    :ivar log_arcs: (I,) the logarithm of the weight of each item's arc and relation.
    :ivar log_total: (B,) the logarithm of the sum of the weights of all trees, those besides that the forest
        leaves out.
    :ivar contexts: what the attach model has looked up of all items, for training.
    """

    words: TreeBatch
    forest: PackedForest
    relation: Tensor
    log_arcs: Tensor
    log_total: Tensor
    contexts: Any = None

    def __len__(self) -> int:
        return self.forest.num_trees
