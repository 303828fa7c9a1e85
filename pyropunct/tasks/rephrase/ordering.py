"""Orders of the dependents of nouns and verbs, drawn from a learned model.

This is the "self-permutation" of Wang & Eisner (2016), "The Galactic Dependencies Treebanks", TACL 4, with
which Li, Wang & Eisner (2019, section 6.3) rephrase sentences.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.tasks.rephrase.orders import NO_ITEM, Nodes, draw_orders, log_prob, nodes_of
from pyropunct.treebank.tree import Tree

NOUN, VERB = "noun", "verb"

GROUPS = {"NOUN": NOUN, "PROPN": NOUN, "PRON": NOUN, "VERB": VERB}
"""The tags of the words whose dependents are reordered, each with its group.  The two groups have separate
weights."""

LARGEST = 8
"""Families with more items than this, the head included, are not used in learning: sums over their orders are
slow."""

PRIOR_SCALE = 0.5
"""The standard deviation of the prior of each weight.  Among 0.3, 0.5, 1 and 2, it predicts the orders of a
development treebank best."""

STEPS = 100
"""The most iterations of the search for the likeliest weights."""

TEMPLATES = 5
"""The most features that a pair of items has."""

Punctemes = Sequence[tuple[Sequence[str], Sequence[str]]]
"""The left and right puncteme of each word of a tree."""

Feature = tuple[object, ...]
"""A description of a pair of items; equal features share their weights."""


class OrderItem(NamedTuple):
    """The relation (`HEAD` of a head), tag and, if the tree has them, punctemes of an item."""

    relation: str
    tag: str
    punctemes: tuple[tuple[str, ...], tuple[str, ...]] | None = None


HEAD = "\thead"
EDGE = OrderItem("\tedge", "")
"""Stands before the first item and after the last."""


class Family(NamedTuple):
    """A head and its dependents.

    :ivar items: the head, then its dependents, sorted by their features.
    :ivar order: of the items from left to right, by their numbers.
    """

    group: str
    items: tuple[OrderItem, ...]
    words: tuple[int, ...]
    order: tuple[int, ...]


def families(tree: Tree, punctemes: Punctemes | None = None) -> Iterator[Family]:
    """Yields the nouns and verbs of a tree that have dependents, with their punctemes if given."""
    for head, dependents in enumerate(tree.children[1:], start=1):
        group = GROUPS.get(tree.tags[head - 1])
        if group is None or not dependents:
            continue
        described = []
        for word in dependents:
            left, right = ((), ()) if punctemes is None else punctemes[word - 1]
            pair = None if punctemes is None else (tuple(left), tuple(right))
            described.append((OrderItem(tree.relations[word - 1], tree.tags[word - 1], pair), word))
        items, words = zip((OrderItem(HEAD, tree.tags[head - 1]), head), *sorted(described), strict=True)
        yield Family(group, items, words, tuple(sorted(range(len(words)), key=words.__getitem__)))


def pair_scores(weights: Tensor, features: Tensor) -> Tensor:
    """(kinds, 4) the scores of pairs, given (features, 6) weights and (kinds, F) features, padded with -1."""
    known = torch.cat([weights, weights.new_zeros(1, 6)])  # the last row is for -1
    sums = torch.nn.functional.embedding_bag(features % len(known), known, mode="sum")
    return sums[:, [0, 1, 3, 4]] + sums[:, [2, 2, 5, 5]]


def log_posterior(
    weights: Tensor, prior_scale: float, nodes: Nodes, features: Tensor, orders: Tensor, counts: Tensor
) -> Tensor:
    """The logarithm, but for a constant, of p(weights | orders), with normal priors of the weights.

    :param orders: (N, M) those of the nodes, each seen ``counts`` times.
    """
    prior = torch.distributions.Normal(0.0, prior_scale).log_prob(weights).sum()
    return prior + (counts * log_prob(nodes, pair_scores(weights, features), orders)).sum()


def map_weights(
    num_features: int, prior_scale: float, nodes: Nodes, features: Tensor, orders: Tensor, counts: Tensor
) -> Tensor:
    """The unique weights of greatest posterior probability, by L-BFGS on a strictly concave objective."""
    weights = torch.zeros(num_features, 6, dtype=torch.double, requires_grad=True)
    search = torch.optim.LBFGS([weights], max_iter=STEPS, history_size=20, line_search_fn="strong_wolfe")

    def loss() -> float:
        search.zero_grad()
        value = -log_posterior(weights, prior_scale, nodes, features, orders, counts) / counts.sum()
        value.backward()
        return float(value.detach())

    search.step(loss)
    return weights.detach()


class WordOrder:
    """A log-linear model of the order of a head and its dependents, learned from a treebank.

    A feature is a property of a pair of items, such as "a determiner and an adjective, both of a noun".  It
    has six weights with normal priors: for standing before each other on the left of the head, on its right,
    or on either side; and the same for standing next to each other (Wang & Eisner 2016, section 4).  The
    scores of a pair sum over its features f; ``next`` is computed likewise::

        before[side] = sum over f of  w[f, side] + w[f, either]

    Features are separate for nouns and verbs.  Each combines for a pair of items: the relations and tags of
    both; both relations; both tags; or both relations with the punctemes of one item.  Features of longer
    runs (Wang & Eisner 2016) are left out, because they need sums over all m! orders.
    """

    def __init__(self, features: Mapping[Feature, int], weights: Tensor) -> None:
        self._features, self._weights = features, weights

    @classmethod
    def learn(cls, observed: Iterable[Family], prior_scale: float = PRIOR_SCALE) -> "WordOrder":
        """Fit the weights to a treebank's families of at most `LARGEST` items; raises `ValueError` if
        none.
        """
        seen = Counter(
            (family.group, family.items, family.order) for family in observed if len(family.items) <= LARGEST
        )
        if not seen:
            raise ValueError("no noun and no verb has dependents, so there is no order to be learned")
        numbering = _Numbering()
        nodes = nodes_of([numbering.table(group, items) for group, items, _ in seen])
        orders = np.full((len(seen), LARGEST), NO_ITEM)
        for row, (_, _, order) in enumerate(seen):
            orders[row, : len(order)] = order
        counts = torch.tensor(list(seen.values()), dtype=torch.double)
        data = nodes, numbering.kinds(), torch.from_numpy(orders), counts
        return cls(numbering.features, map_weights(len(numbering.features), prior_scale, *data))

    def draw(self, drawn: Sequence[Family], generator: np.random.Generator) -> list[tuple[int, ...]]:
        """The words of each family in a drawn order."""
        numbering = _Numbering(self._features)
        nodes = nodes_of([numbering.table(family.group, family.items) for family in drawn])
        scores = pair_scores(self._weights, numbering.kinds()).numpy()
        orders = draw_orders(nodes, scores, generator).tolist()
        return [
            tuple(family.words[item] for item in order[: len(family.items)])
            for family, order in zip(drawn, orders, strict=True)
        ]

    def reorder(
        self,
        trees: Sequence[Tree],
        generator: np.random.Generator,
        punctemes: Sequence[Punctemes] | None = None,
    ) -> list[tuple[int, ...]]:
        """The words of each tree, from 1, with nouns' and verbs' dependents in drawn orders."""
        known = [None] * len(trees) if punctemes is None else punctemes
        of_trees = [list(families(tree, pairs)) for tree, pairs in zip(trees, known, strict=True)]
        drawn = iter(self.draw([family for of_tree in of_trees for family in of_tree], generator))
        return [
            linearised(tree, {family.words[0]: next(drawn) for family in of_tree})
            for tree, of_tree in zip(trees, of_trees, strict=True)
        ]


class _Numbering:
    """Numbers for kinds of pairs, and for their features; without ``features``, all are new."""

    def __init__(self, features: Mapping[Feature, int] | None = None) -> None:
        self._known, self.features = features, dict[Feature, int]()
        self._kinds: dict[tuple[str, OrderItem, OrderItem], int] = {}
        self._rows: list[list[int]] = []

    def table(self, group: str, items: tuple[OrderItem, ...]) -> NDArray[np.int64]:
        """(m + 1, m + 1) the kinds of the pairs of m items and the edge, which is the last."""
        places = (*items, EDGE)
        return np.array([[self._kind(group, left, right) for right in places] for left in places])

    def kinds(self) -> Tensor:
        """(kinds, F) the features of each kind of pair, padded with -1."""
        return torch.tensor(self._rows, dtype=torch.long).reshape(-1, TEMPLATES)

    def _number(self, feature: Feature) -> int:
        if self._known is not None:
            return self._known.get(feature, -1)
        return self.features.setdefault(feature, len(self.features))

    def _kind(self, group: str, left: OrderItem, right: OrderItem) -> int:
        number = self._kinds.setdefault((group, left, right), len(self._rows))
        if number == len(self._rows):
            row = [self._number(feature) for feature in _features(group, left, right)]
            self._rows.append(row + [-1] * (TEMPLATES - len(row)))
        return number


def _features(group: str, left: OrderItem, right: OrderItem) -> list[Feature]:
    features: list[Feature] = [
        (group, "relations and tags", left[:2], right[:2]),
        (group, "relations", left.relation, right.relation),
        (group, "tags", left.tag, right.tag),
    ]
    if left.punctemes is not None:
        features.append((group, "left punctemes", left.relation, left.punctemes, right.relation))
    if right.punctemes is not None:
        features.append((group, "right punctemes", left.relation, right.relation, right.punctemes))
    return features


def linearised(tree: Tree, orders: Mapping[int, Sequence[int]]) -> tuple[int, ...]:
    """The words of a projective tree, from 1, in new orders of some words with their dependents."""
    placed = []
    waiting = [(tree.root, False)]
    while waiting:
        word, alone = waiting.pop()
        if alone:
            placed.append(word)
            continue
        family = orders.get(word) or sorted([word, *tree.children[word]])
        waiting += [(member, member == word) for member in reversed(family)]
    return tuple(placed)
