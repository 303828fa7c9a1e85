"""A log-linear ATTACH whose scores are local to an arc, so that sums over all trees are possible.

Features may look at a constituent's word, its head's word, its relation, its span, and the words and marks
around and inside it, but not at other arcs.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import Tensor

from pyropunct.inference.ragged import Ints
from pyropunct.inference.views import Views
from pyropunct.models.attach.attach_model import Contexts
from pyropunct.models.attach.features import PLACES, SURFACE, Attributes, Template
from pyropunct.models.attach.log_linear import LogLinearAttach
from pyropunct.models.trees import LatentTrees

OF_SPAN = ("relation", "side", "edges", "unseen", "length", "distance", "words_before", "words_after")
"""Attributes of a constituent that its arc and its span tell."""

OF_WORD = ("tag", "form", "shape", "treebank")
"""Attributes of words, whatever tree they are in."""

AROUND = ("", "head", "before", "second before", "first", "last", "after", "second after")
"""The places of words that the arc and the span of a constituent tell."""

LOCAL = SURFACE | {*OF_SPAN} | {f"{place} {name}".strip() for place in AROUND for name in OF_WORD}
"""The attributes that are local to an arc."""


class ArcAttributes(Attributes):
    """Attributes in `LOCAL` of the constituents of a packed forest."""

    def __init__(self, trees: LatentTrees) -> None:
        super().__init__(trees.words, trees.forest)
        self._relation = trees.relation.cpu().numpy()

    def single(self, name: str) -> Ints:
        """(I,) the values of an attribute. Raises KeyError if it is not local."""
        if name not in LOCAL:
            raise KeyError(f"{name} is not local to an arc")
        if name not in self._single:
            place, _, column = name.rpartition(" ")
            if place:
                values = PLACES[place](self, self.column(column))
            elif name == "relation":
                values = self._relation
            else:
                values = getattr(self, name) if name in OF_SPAN else self.column(name)[self.word]
            self._single[name] = values
        return self._single[name]


class LocalAttach(LogLinearAttach):
    """`LogLinearAttach` with those templates alone that are local to an arc."""

    is_local = True

    @classmethod
    def takes(cls, template: Template) -> bool:
        """Whether it looks at nothing but an arc, its span, and words and marks."""
        return LOCAL.issuperset(template.attributes)

    def attributes(self, trees: Any) -> Attributes:
        """What templates can look at, of trees or of the items of latent trees."""
        return ArcAttributes(trees) if isinstance(trees, LatentTrees) else super().attributes(trees)

    def scores(self, trees: Any, views: Views) -> Tensor:
        """(C,) theta . f(l, r, w) of the pairs of views."""
        if views.contexts is None and isinstance(trees, LatentTrees):
            relation = trees.relation[views.node].numpy()
            return self.scores_of_contexts(relation, self.contexts(trees, views))
        return super().scores(trees, views)

    def count_uses(self, contexts: Sequence[Contexts]) -> None:
        """Count items of packed forests, instead of nodes, as uses of contexts: see ``sparse``."""
        uses = sum(np.bincount(some.number, minlength=len(self.kinds)) for some in contexts)
        self._nodes = np.maximum(uses, 1)
