"""ATTACH: which underlying punctuation a constituent sprouts (Li, Wang & Eisner 2019, section 2.1)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from pyro.nn import PyroModule, PyroSample
from torch import Tensor

from pyropunct.inference.compiling import compiled
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.problem import choice_start
from pyropunct.inference.pyro.surface import EMPTY
from pyropunct.inference.ragged import runs, starts_of
from pyropunct.models.attach.attributes import SEVERAL, SURFACE, Attributes, ViewAttributes, Views
from pyropunct.models.attach.scores import (
    ANY_LEFT,
    ANY_RIGHT,
    LEFT,
    PAIR,
    RIGHT,
    SYMMETRY,
    Book,
    Contexts,
    Excerpt,
    Index,
    Weighing,
    gather_contexts,
    index_of,
    lay_out_pairs,
    pair_scores,
)
from pyropunct.models.priors import IsotropicNormal, Shares
from pyropunct.models.symmetry import CLASSES, symmetry_classes

if TYPE_CHECKING:
    from pyropunct.models.trees import TreeBatch

Keys = NDArray[np.uint64]


class Template(NamedTuple):
    """A kind of context of a node.

    :ivar kind: what its weights are about, `PAIR` and so on; for `PAIR`, `LEFT` and `RIGHT` the node's
        relation is always part of the context.
    :ivar attributes: the attributes that make up the context (see `pyropunct.models.attach.attributes`); one
        of them at most may be an attribute of several values.
    """

    kind: int
    attributes: tuple[str, ...]


def _about(kinds: Iterable[int], *contexts: str) -> list[Template]:
    return [
        Template(kind, tuple(context.split(" + ")) if context else ())
        for kind in kinds
        for context in contexts
    ]


def _edges(*contexts: str) -> list[Template]:
    """Contexts of either edge: "outer" is the word before or after it, "inner" the first or last one."""
    left = [context.replace("outer", "before").replace("inner", "first") for context in contexts]
    right = [context.replace("outer", "after").replace("inner", "last") for context in contexts]
    return _about([LEFT, ANY_LEFT], *left) + _about([RIGHT, ANY_RIGHT], *right)


FAMILIES: dict[str, list[Template]] = {
    "symmetry": _about([PAIR, LEFT, RIGHT, SYMMETRY, ANY_LEFT, ANY_RIGHT], "")
    + _about([SYMMETRY], "relation"),
    "head": _about([PAIR], "tag", "head tag + side", "tag + head tag + side")
    + _about([SYMMETRY], "relation + tag", "relation + head tag + side"),
    "paths": _about([PAIR], "head relation", "head relation + side", "child relation", "path")
    + _about([PAIR], "head relation + grandhead relation")
    + _about([SYMMETRY], "relation + head relation", "relation + child relation", "child relation and tag"),
    "flanks": _edges("outer tag", "inner tag", "outer tag + inner tag", "second outer tag + outer tag")
    + _about([PAIR], "before tag + after tag"),
    "inside": _about([PAIR], "mark inside", "first_mark", "last_mark", "first_mark + last_mark"),
    "rhythm": _about([LEFT, ANY_LEFT], "first_mark + until_mark", "until_mark + words_after")
    + _about([RIGHT, ANY_RIGHT], "last_mark + since_mark", "since_mark + words_after")
    + _about([PAIR], "until_mark + since_mark", "last_mark + since_mark")
    + _about([PAIR], "marks", "marks + length")
    + _about([SYMMETRY], "relation + last_mark + since_mark", "last_mark + since_mark + length")
    + _about([SYMMETRY], "relation + marks + words_before", "relation + marks + words_after"),
    "spans": _about([PAIR], "length", "edges", "edges + length", "side + edges + length")
    + _about([SYMMETRY], "relation + edges + length"),
    "distances": _about([PAIR], "distance + side", "words_before", "words_after", "head length")
    + _about([PAIR], "length + right sibling length", "length + left sibling length")
    + _about([PAIR], "length + distance + side")
    + _about([SYMMETRY], "relation + words_before", "relation + words_after", "length + distance + side"),
    "siblings": _about([PAIR], "left sibling relation", "right sibling relation", "first child relation")
    + _about([PAIR], "last child relation", "left sibling relation + right sibling relation")
    + _edges("outer relation"),
    # Contexts with a word in them are too many, and each too rare, for a weight of every pair.
    "words": _about([LEFT, RIGHT, SYMMETRY], "form", "head form", "first form", "last form")
    + _about([LEFT, RIGHT, SYMMETRY], "child relation and form")
    + _edges("outer form", "inner form", "outer form + inner tag", "outer tag + inner form"),
    "shapes": _about([PAIR], "shape", "first shape + last shape") + _edges("outer shape + inner shape"),
}
"""The feature families: (a) to (d) of the paper are "head", "paths", "flanks" and "inside"."""


@compiled
def _mix(keys: Keys, values: Keys) -> None:
    """Fold another column of values into 64-bit keys (the mixing step of splitmix64)."""
    for row in range(len(keys)):
        key = (keys[row] ^ values[row]) * np.uint64(0x9E3779B97F4A7C15)
        key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        keys[row] = key ^ (key >> np.uint64(27))


def _keys(columns: Sequence[NDArray[np.int64]]) -> Keys:
    """One key for each row of some columns."""
    # Zero would stay zero when mixed with a zero, and lose its place among the columns.
    keys = np.full(len(columns[0]), 0x243F6A8885A308D3, np.uint64)
    for column in columns:
        _mix(keys, column.astype(np.uint64))
    return keys


class LogLinearAttach(PyroModule):
    """A log-linear model of the puncteme pair of each constituent::

        p(l, r | w) = exp theta . f(l, r, w) / sum over (l', r') in W_d(w)

    A context of w (say, its tag with its head's tag) has a weight for each pair in W_d, or for each left
    or right puncteme, or for each class of symmetry.  Only contexts seen in training have weights.
    theta has a normal prior, the penalty of equation (5): a prior of standard deviation s gives the
    penalty ||theta||^2 / (2 s^2).

    :param inventory: the sets W_d.
    :param marks: the inventory's tokens, for their symmetry.
    :param families: which feature families of `FAMILIES` are on.
    :param prior_scale: the standard deviation s.
    :param least: contexts seen at fewer nodes get no weights.

    :ivar sparse: whether a call looks at those weights alone that bear on its trees, and their gradient is
        sparse.  Their prior is then estimated too: a context that n nodes of the training treebank have
        charges 1 / n of the prior of its weights at each of them.  The estimates of an epoch's batches
        are the whole prior on average.  Only for trees that `learn_contexts` has seen.
    """

    def __init__(
        self,
        inventory: Inventory,
        marks: Sequence[str],
        families: Sequence[str] = tuple(FAMILIES),
        prior_scale: float = 1.0,
        least: int = 2,
    ) -> None:
        super().__init__()
        self.families = tuple(families)
        self.templates = [template for family in families for template in FAMILIES[family]]
        self.prior_scale, self.least = prior_scale, least
        self.sparse = False
        self._inventory = inventory
        self._shares: Shares | None = None
        self._index: Index | None = None
        self._layout = lay_out_pairs(inventory, np.array(symmetry_classes(inventory, marks)), len(CLASSES))
        self.register_buffer("keys", torch.zeros(0, dtype=torch.long))
        self.register_buffer("starts", torch.zeros(1, dtype=torch.long))
        self.register_buffer("kinds", torch.zeros(0, dtype=torch.int8))
        self.weights: Any = PyroSample(lambda module: module._prior())  # a tensor when read

    def learn_contexts(self, batches: Iterable[tuple["TreeBatch", Tensor]]) -> None:
        """Give weights to the contexts of a training treebank.

        :param batches: trees and their surface strings.
        """
        found: list[list[tuple[NDArray[np.int64], Keys]]] = [[] for _ in self.templates]
        self._num_trees = 0
        for trees, surface in batches:
            self._num_trees += len(trees)
            everything = self._found(Attributes(trees, surface), range(len(self.templates)))
            for number, (_, relation, keys) in enumerate(everything):
                found[number].append((relation, keys))
        kept, kinds, relations, uses = [], [], [], []
        for template, parts in zip(self.templates, found, strict=True):
            relation, keys = (np.concatenate(column) for column in zip(*parts, strict=True))
            distinct, first, count = np.unique(keys, return_index=True, return_counts=True)
            frequent = count >= self.least
            kept.append(distinct[frequent])
            relations.append(relation[first[frequent]])
            kinds.append(np.full(len(kept[-1]), template.kind, np.int8))
            uses.append(count[frequent])
        order = self._lay_out(np.concatenate(kept), np.concatenate(kinds), np.concatenate(relations))
        self._uses = np.concatenate(uses)[order]

    def _lay_out(
        self, keys: Keys, kinds: NDArray[np.int8], relations: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Assign weights to contexts, in the order of their keys; returns that order."""
        order = np.argsort(keys)
        widths = self._layout.widths[relations[order], kinds[order]]
        self.keys = torch.from_numpy(keys[order].view(np.int64))
        self.kinds = torch.from_numpy(kinds[order])
        self.starts = torch.from_numpy(np.concatenate([[0], np.cumsum(widths)]))
        return order

    def _prior(self) -> IsotropicNormal:
        return IsotropicNormal(int(self.starts[-1]), self.prior_scale, self.starts, self._shares)

    def starting_point(self, empty: float = 5.0) -> dict[str, Tensor]:
        """Weights to start training from: all zero, but the empty pair is preferred at every node.

        From equal weights, the first steps would explain a final period by several constituents at once
        and let the channel absorb all but one; training does not leave that local optimum.

        :param empty: the score of the empty pair above all others.
        """
        weights = torch.zeros(int(self.starts[-1]))
        everywhere = Template(SYMMETRY, ())
        if everywhere in self.templates:
            key = _keys([np.array([self.templates.index(everywhere)])]).view(np.int64)[0]
            place = (self.keys == int(key)).nonzero()[:, 0]  # none, if there are too few nodes
            weights[self.starts[place] + CLASSES.index("none")] = empty
        return {"weights": weights}

    def forward(self, trees: "TreeBatch", surface: Tensor) -> Tensor:
        """Unnormalised log p(l, r | w), (C,): each node's pairs in turn.

        :param trees: N nodes.
        :param surface: (S, L) surface strings, of which those strictly inside a constituent are read.
        """
        contexts = trees.contexts or self.contexts(trees, surface)
        book, start = self._book(), choice_start(self._inventory, trees.relation)
        relation = trees.relation.cpu().numpy()
        if not self.sparse:
            return pair_scores(self.weights, Weighing(self._layout, book, relation, start, contexts))
        excerpt = Excerpt(book, contexts)
        weighing = Weighing(self._layout, excerpt.book, relation, start, excerpt.contexts)
        self._shares = self._shares_of(excerpt, len(trees))
        weights = self.weights
        self._shares = None
        return pair_scores(excerpt.of(weights), weighing)

    def _book(self) -> Book:
        return Book(self.kinds.cpu().numpy(), self.starts.cpu().numpy())

    def _shares_of(self, excerpt: Excerpt, trees: int) -> Shares:
        """Each use of a context in the training treebank carries the same share of its weights' prior."""
        share = excerpt.uses / self._uses[excerpt.context] * (self._num_trees / trees)
        return Shares(excerpt.of, share, excerpt.sizes)

    def contexts(self, trees: "TreeBatch", surface: Tensor) -> Contexts:
        """The contexts of all nodes that have weights.

        Put into a `TreeBatch`, they save looking for them again in each epoch of training.
        """
        return self._known(Attributes(trees, surface), range(len(self.templates)))

    @property
    def reads_surface(self) -> bool:
        """Whether any context is about the surface punctuation inside a constituent."""
        return bool(self._templates_with_surface)

    @property
    def _templates_with_surface(self) -> list[int]:
        return [
            number
            for number, template in enumerate(self.templates)
            if SURFACE.intersection(template.attributes)
        ]

    def view_scores(self, trees: "TreeBatch") -> Callable[[Views], NDArray[np.float64]]:
        """The model of some trees, whose constituents are then seen with any surface punctuation inside.

        What depends on the trees alone is looked up once.  Whoever overrides `forward` overrides this too.

        :returns: a function from V views to the unnormalised log p(l, r | w) of each view's pairs in turn:
            what `forward` gives for a node with these marks inside.
        """
        weights, looking = self.weights, self._templates_with_surface
        others = [number for number in range(len(self.templates)) if number not in looking]
        nodes = Attributes(trees, torch.full((trees.forest.num_slots, 1), EMPTY))
        blind, sizes = self._scores(weights, nodes, others), self._num_pairs[nodes.relation]
        start = starts_of(sizes)

        def scores(views: Views) -> NDArray[np.float64]:
            result = blind[runs(start[views.node], sizes[views.node])]
            result += self._scores(weights, ViewAttributes(nodes, views), looking)
            return result

        return scores

    @property
    def _num_pairs(self) -> NDArray[np.int64]:
        return np.diff(self._inventory.pair_start)

    def _scores(
        self, weights: Tensor, attributes: Attributes | ViewAttributes, templates: Sequence[int]
    ) -> NDArray[np.float64]:
        """What the contexts of some templates add to the scores of the pairs of all nodes or views."""
        relation = attributes.relation
        start = starts_of(self._num_pairs[relation])
        if not templates:
            return np.zeros(start[-1])
        contexts = self._known(attributes, templates)
        weighing = Weighing(self._layout, self._book(), relation, start, contexts)
        return pair_scores(weights, weighing).detach().cpu().numpy()

    def _known(self, attributes: Attributes | ViewAttributes, templates: Sequence[int]) -> Contexts:
        """The contexts that have weights, of some templates, of all nodes or views."""
        if self._index is None or self._index.keys is not self.keys:
            self._index = index_of(self.keys)
        nodes, _, keys = zip(*self._found(attributes, templates), strict=True)
        number = self._index.find(np.concatenate(keys))
        return gather_contexts(np.concatenate(nodes), number, len(attributes.relation))

    def _found(
        self, attributes: Attributes | ViewAttributes, templates: Sequence[int]
    ) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], Keys]]:
        """For each of some templates its contexts: nodes or views, their relations, and keys."""
        everything = np.arange(len(attributes.relation))
        for number in templates:
            template, node, columns = self.templates[number], everything, []
            for name in template.attributes:
                if name in SEVERAL:
                    node, values = attributes.several(name)
                    columns.append(values)
            relation = attributes.relation[node]
            if template.kind in (PAIR, LEFT, RIGHT):
                columns.append(relation)
            columns += [attributes.single(name)[node] for name in template.attributes if name not in SEVERAL]
            yield node, relation, _keys([np.full(len(node), number), *columns])
