"""Trees as integers, many at a time: what the models read."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from pyropunct.inference.forest import Forest, join_forests

EMPTY = -1
"""Fills the surface strings of a batch up to the length of the longest."""


@dataclass(frozen=True)
class TreeBatch:
    """B unpunctuated trees with N words and S slots, encoded by a `pyropunct.vocabulary.Vocabulary`.

    :ivar forest: their shapes.
    :ivar relation: (N,) ``int64``, each word's relation; see `Vocabulary.relations`.
    :ivar tag: (N,) ``int64``, each word's tag; see `Vocabulary.tags`.
    :ivar form: (N,) ``int64``, each word's lower-cased form; see `Vocabulary.forms`.
    :ivar shape: (N,) ``int64``, how the word is written; see `pyropunct.vocabulary.word_shape`.
    """

    forest: Forest
    relation: Tensor
    tag: Tensor
    form: Tensor
    shape: Tensor

    def __len__(self) -> int:
        return self.forest.num_trees

    def to(self, device: torch.device | str) -> "TreeBatch":
        """The same trees with their tensors on ``device``."""
        return TreeBatch(**{field.name: getattr(self, field.name).to(device) for field in fields(self)})


def join_trees(batches: Sequence[TreeBatch]) -> TreeBatch:
    """Put batches side by side, in the order given."""
    columns = {
        field.name: torch.cat([getattr(batch, field.name) for batch in batches])
        for field in fields(TreeBatch)
        if field.name != "forest"
    }
    return TreeBatch(join_forests([batch.forest for batch in batches]), **columns)


def join_surfaces(surfaces: Sequence[Tensor]) -> Tensor:
    """Put the surface strings of several batches, (S, L) each, one below the other."""
    longest = max(surface.shape[-1] for surface in surfaces)
    padded = [
        torch.nn.functional.pad(surface, (0, longest - surface.shape[-1]), value=EMPTY)
        for surface in surfaces
    ]
    return torch.cat(padded)
