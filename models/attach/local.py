"""A log-linear ATTACH whose scores are local to an arc, so that sums over all trees are possible.

Features may look at a constituent's word, its head's word, its relation, its span, and the words and marks
around and inside it, but not at other arcs.
"""

from collections.abc import Sequence
from typing import Any, Protocol, TypeGuard

import numpy as np
from torch import Tensor

from pyropunct.inference.ragged import Ints
from pyropunct.models.attach.attributes import PLACES, SURFACE, Attributes, ViewAttributes
from pyropunct.models.attach.log_linear import LogLinearAttach
from pyropunct.models.attach.templates import Template
from pyropunct.models.attach.views import Contexts, views_between
from pyropunct.models.latent import LatentTrees

OF_SPAN = ("relation", "side", "edges", "length", "distance", "words_before", "words_after")
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
        super().__init__(trees.words)
        forest, words = trees.forest, self._node_start
        self._relation = trees.relation.cpu().numpy()
        columns = forest.word, forest.head, forest.tree, forest.left_slot, forest.right_slot
        self.word, self.head, self.tree, self.left_slot, self.right_slot = (
            column.cpu().numpy() for column in columns
        )
        self._node_start = words
        self.first_word = self.left_slot - self.tree
        self.last_word = self.right_slot - 1 - self.tree

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


class OfArcs(Protocol):
    """An attach model whose scores are local to an arc: see `is_of_arcs`."""

    def scores_of_arcs(self, trees: LatentTrees, surface: Any) -> Tensor:
        """(..., C) the scores of the pairs of all items, given (S, L) strings, or evidence about them."""


def is_of_arcs(attach: object) -> TypeGuard[OfArcs]:
    """Whether an attach model scores arcs: false if it overrides only the scores of trees."""
    places: dict[str, int] = {}
    for place, kind in enumerate(type(attach).__mro__):
        for name in ("scores_of_arcs", "scores", "scorer"):
            if name in vars(kind):
                places.setdefault(name, place)
    of_arcs = places.pop("scores_of_arcs", None)
    return of_arcs is not None and of_arcs <= min(places.values(), default=of_arcs)


class LocalAttach(LogLinearAttach):
    """`LogLinearAttach` with those templates alone that are local to an arc."""

    @classmethod
    def takes(cls, template: Template) -> bool:
        """Whether it looks at nothing but an arc, its span, and words and marks."""
        return LOCAL.issuperset(template.attributes)

    def contexts_of_arcs(self, trees: LatentTrees, surface: Tensor) -> Contexts:
        """The contexts of all items that have weights."""
        views = views_between(trees.forest.left_slot, trees.forest.right_slot, surface)
        return self._known(ViewAttributes(ArcAttributes(trees), views), range(len(self.templates)))

    def scores_of_arcs(self, trees: LatentTrees, surface: Any) -> Tensor:
        """(C,) see `OfArcs`. Raises ValueError if slots inside constituents are open."""
        if not isinstance(surface, Tensor):
            raise ValueError("trees cannot be summed out where evidence leaves the punctuation open")
        if trees.contexts is not None:
            return self.scores_of_treebank(len(trees), trees.relation.numpy(), trees.contexts)
        return self.scores_of_contexts(trees.relation.numpy(), self.contexts_of_arcs(trees, surface))

    def count_uses(self, contexts: Sequence[Contexts]) -> None:
        """Count each item of the packed forest of each training sentence as a use of its contexts: see
        ``sparse``.
        """
        uses = sum(np.bincount(some.number, minlength=len(self.kinds)) for some in contexts)
        self._nodes = np.maximum(uses, 1)
