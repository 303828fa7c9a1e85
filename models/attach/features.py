"""What the log-linear model looks at: attributes of constituents, and templates that join them.

An attribute has one value for each constituent, or several. Values are small non-negative integers; `NOTHING`
stands for a missing neighbour, sibling or head. Attributes in `SURFACE` also depend on the marks strictly
inside the constituent; `ViewAttributes` has them.  Templates stand in families (Li, Wang & Eisner 2019,
section 2.1).
"""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch

from pyropunct.inference.compiling import compiled, inner
from pyropunct.inference.forest import Forest
from pyropunct.inference.packed import PackedForest
from pyropunct.inference.ragged import Ints, runs
from pyropunct.inference.story_inputs import OPENS
from pyropunct.inference.views import Views
from pyropunct.models.attach.feature_weights import PairPart
from pyropunct.models.trees import COLUMNS as OF_TREES
from pyropunct.models.trees import TREEBANK, TreeBatch

LENGTH_CLASSES = np.array([1, 2, 3, 5, 8, 13, 21])

NOTHING = 1 << 30
"""The value of an attribute of a missing word or mark."""


ON_MARKS = ("first_mark", "last_mark", "until_mark", "since_mark", "marks")
"""The attributes of the marks strictly inside a constituent that have one value each:

- ``first_mark`` and ``last_mark``: the first and last token inside, `NOTHING` if there are no marks.
- ``until_mark`` and ``since_mark``: how many words of the constituent come before its first mark inside, and
  after its last one, in the classes of `Attributes.length`; all of its words if there are no marks.
- ``marks``: how many tokens there are, 5 for more.
"""


@compiled
def _of_marks(
    node: Ints, start: Ints, token: Ints, slot: Ints, left_slot: Ints, right_slot: Ints, classes: Ints
) -> Ints:
    """(5, V) the attributes `ON_MARKS` of views."""
    columns = np.empty((5, len(node)), np.int64)
    for view in range(len(node)):
        first, end = start[view], start[view + 1]
        begins, ends = left_slot[node[view]], right_slot[node[view]]
        columns[0, view] = token[first] if first < end else NOTHING
        columns[1, view] = token[end - 1] if first < end else NOTHING
        before = (slot[first] if first < end else ends) - begins
        behind = ends - (slot[end - 1] if first < end else begins)
        columns[2, view] = _class_of(before, classes)
        columns[3, view] = _class_of(behind, classes)
        columns[4, view] = min(end - first, 5)
    return columns


@inner
def _class_of(length: int, classes: Ints) -> int:
    """The class of a length: how many classes end below it."""
    below = 0
    while below < len(classes) and classes[below] < length:
        below += 1
    return below


@compiled
def _types(start: Ints, token: Ints) -> tuple[Ints, Ints]:
    """The views, in order, and the distinct tokens of each, in order."""
    views, types, size = np.empty(len(token), np.int64), np.empty(len(token), np.int64), 0
    for view in range(len(start) - 1):
        first = size
        for mark in token[start[view] : start[view + 1]]:
            place = size
            while place > first and types[place - 1] > mark:
                place -= 1
            if place > first and types[place - 1] == mark:
                continue
            for later in range(size, place, -1):
                types[later] = types[later - 1]
            types[place], views[size], size = mark, view, size + 1
    return views[:size], types[:size]


class Attributes:
    """Columns of integers about the N nodes of a batch, from the trees alone.

    :param forest: the shapes of the trees; or of all trees of their words, whose items are the nodes.
    """

    def __init__(self, trees: TreeBatch, forest: Forest | PackedForest | None = None) -> None:
        self._trees = trees
        forest = trees.forest if forest is None else forest
        self._single: dict[str, Ints] = {}
        self._several: dict[str, tuple[Ints, Ints]] = {}
        columns = forest.head, forest.tree, forest.left_slot, forest.right_slot, forest.node_start
        arrays: list[Ints] = [column.cpu().numpy() for column in columns]
        self.head, self.tree, self.left_slot, self.right_slot, self._node_start = arrays
        word = forest.word if isinstance(forest, PackedForest) else torch.arange(forest.num_nodes)
        self.word: Ints = word.cpu().numpy()
        # Word i of a tree has slot i on its left; each earlier tree has one slot more than it has nodes.
        self.first_word = self.left_slot - self.tree
        self.last_word = self.right_slot - 1 - self.tree

    def single(self, name: str) -> Ints:
        """(N,) an attribute, named by a place in `PLACES` and a column of `COLUMNS` or `TreeBatch.more`."""
        if name not in self._single:
            place, _, column = name.rpartition(" ")
            self._single[name] = PLACES[place](self, self.column(column))
        return self._single[name]

    def column(self, name: str) -> Ints:
        """(N,) a column of the trees, or one of the attributes below."""
        trees = self._trees
        known = trees.more[name] if name in trees.more else vars(trees).get(name)
        return getattr(self, name) if known is None else known.cpu().numpy()

    def several(self, name: str) -> tuple[Ints, Ints]:
        """The nodes, in order, and the values of an attribute of `OF_CHILDREN`, which may have several."""
        if name not in self._several:
            head, child = self.children
            value = self.side[child]
            for column in OF_CHILDREN[name]:
                value = value * 100003 + self.column(column)[child]
            self._several[name] = head, value
        return self._several[name]

    @cached_property
    def treebank(self) -> Ints:
        """(N,) 0: where `TreeBatch.more` does not say more, all trees are of one treebank."""
        return np.zeros(self._node_start[-1], np.int64)

    def at(self, column: Ints, index: Ints) -> Ints:
        """``column[index]``, and `NOTHING` where the index is -1."""
        return np.where(index >= 0, column[index], NOTHING)

    def before(self, column: Ints, distance: int = 1) -> Ints:
        """``column`` of the word before the constituent."""
        index = self.first_word - distance
        return self.at(column, np.where(index >= self._node_start[self.tree], index, -1))

    def after(self, column: Ints, distance: int = 1) -> Ints:
        """``column`` of the word after the constituent."""
        index = self.last_word + distance
        return self.at(column, np.where(index < self._node_start[self.tree + 1], index, -1))

    @cached_property
    def side(self) -> Ints:
        """0 for a root, 1 for a left child, 2 for a right child."""
        return np.where(self.head < 0, 0, np.where(self.word < self.head, 1, 2))

    @cached_property
    def edges(self) -> Ints:
        """Whether the constituent begins the sentence (1), ends it (2), both (3) or neither (0)."""
        starts = self.first_word == self._node_start[self.tree]
        ends = self.last_word + 1 == self._node_start[self.tree + 1]
        return starts + 2 * ends.astype(np.int64)

    @cached_property
    def unseen(self) -> Ints:
        """The sides where no page shows a comma: 1 left, 2 right, 3 both, 0 neither.

        On the left, a constituent begins the sentence or a clause; on the right, it ends the sentence.
        """
        opens = self.before(self.column(OPENS)) == 1 if OPENS in self._trees.more else False
        return self.edges | opens

    @cached_property
    def length(self) -> Ints:
        """The number of words, in classes 1, 2, 3, 4-5, 6-8, 9-13, 14-21, 22 and more."""
        return np.searchsorted(LENGTH_CLASSES, self.last_word - self.first_word + 1)

    @cached_property
    def distance(self) -> Ints:
        """How far the nearest word of the constituent is from its head, in the classes of `length`."""
        gap = np.where(self.word < self.head, self.head - self.last_word, self.first_word - self.head)
        return np.where(self.head < 0, NOTHING, np.searchsorted(LENGTH_CLASSES, gap))

    @cached_property
    def words_before(self) -> Ints:
        """How many words of the sentence stand before the constituent, in the classes of `length`."""
        return np.searchsorted(LENGTH_CLASSES, self.first_word - self._node_start[self.tree])

    @cached_property
    def words_after(self) -> Ints:
        """How many words of the sentence stand after the constituent, in the classes of `length`."""
        return np.searchsorted(LENGTH_CLASSES, self._node_start[self.tree + 1] - 1 - self.last_word)

    @cached_property
    def children(self) -> tuple[Ints, Ints]:
        """All pairs of a head and a child, heads in order, each head's children from left to right."""
        child = np.flatnonzero(self.head >= 0)
        order = np.lexsort((child, self.head[child]))
        return self.head[child][order], child[order]

    @cached_property
    def siblings(self) -> tuple[Ints, Ints]:
        """The nearest sibling on the left and on the right of each node, -1 if it has no such sibling."""
        head, child = self.children
        left, right = np.full(len(self.head), -1), np.full(len(self.head), -1)
        same = head[1:] == head[:-1]
        left[child[1:][same]] = child[:-1][same]
        right[child[:-1][same]] = child[1:][same]
        return left, right

    @cached_property
    def end_children(self) -> tuple[Ints, Ints]:
        """The first and the last child of each node, -1 where the head word is at that edge."""
        (head, child), word = self.children, np.arange(len(self.head))
        first, last = word.copy(), word.copy()
        first[head[::-1]], last[head] = child[::-1], child
        return np.where(first < word, first, -1), np.where(last > word, last, -1)

    @cached_property
    def path(self) -> Ints:
        """A hash of the relations on the way to the root."""
        relation, path = self.column("relation"), np.zeros(len(self.head), np.int64)
        for node in self._trees.forest.bottom_up.cpu().numpy()[::-1]:
            above = path[self.head[node]] if self.head[node] >= 0 else 7
            path[node] = (above * 1000003 + relation[node]) % 2147483647
        return path


COLUMNS = (*OF_TREES, "side", "edges", "length", "distance", "words_before", "words_after", "path")
"""Attributes of a word, or of the constituent that it heads."""

PLACES: dict[str, Callable[[Attributes, Ints], Ints]] = {
    "": lambda a, column: column,
    "head": lambda a, column: a.at(column, a.head),
    "grandhead": lambda a, column: a.at(a.at(column, a.head), a.head),
    "before": lambda a, column: a.before(column),
    "second before": lambda a, column: a.before(column, 2),
    "first": lambda a, column: column[a.first_word],
    "last": lambda a, column: column[a.last_word],
    "after": lambda a, column: a.after(column),
    "second after": lambda a, column: a.after(column, 2),
    "left sibling": lambda a, column: a.at(column, a.siblings[0]),
    "right sibling": lambda a, column: a.at(column, a.siblings[1]),
    "first child": lambda a, column: a.at(column, a.end_children[0]),
    "last child": lambda a, column: a.at(column, a.end_children[1]),
}
"""Where a column is looked up: at the node itself, its head, the word before its constituent, ..."""

OF_CHILDREN: dict[str, tuple[str, ...]] = {
    "child relation": ("relation",),
    "child relation and tag": ("relation", "tag"),
    "child relation and form": ("relation", "form"),
}
"""Attributes with a value for each child of a node: the child's side with its values of these columns."""

MARK_INSIDE = "mark inside"
"""The attribute with a value for each type of mark inside."""

SEVERAL = frozenset({*OF_CHILDREN, MARK_INSIDE})
"""The attributes with any number of values; all others have one."""

SURFACE = frozenset({*ON_MARKS, MARK_INSIDE})
"""The attributes that depend on surface punctuation.

Only the constituent itself has them: the marks inside its head's constituent are not known yet.
"""


class ViewAttributes:
    """Columns of integers about V views."""

    def __init__(self, of_nodes: Attributes, views: Views) -> None:
        self._of_nodes, self._single = of_nodes, dict[str, Ints]()
        self._several: dict[str, tuple[Ints, Ints]] = {}
        self._node, self._start, self._token, self._slot = (column.numpy() for column in views[:4])

    @property
    def relation(self) -> Ints:
        """(V,) the relation of each view's node."""
        return self.single("relation")

    def single(self, name: str) -> Ints:
        """(V,) the values of an attribute that has one value, of `ON_MARKS` or of a node."""
        if name in ON_MARKS:
            return self._on_marks[name]
        if name not in self._single:
            self._single[name] = self._of_nodes.single(name)[self._node]
        return self._single[name]

    def several(self, name: str) -> tuple[Ints, Ints]:
        """The views, in order, and the values of an attribute in `SEVERAL`."""
        if name == MARK_INSIDE:
            return _types(self._start, self._token)
        if name not in self._several:
            node, value = self._of_nodes.several(name)
            first = np.searchsorted(node, self._node)
            sizes = np.searchsorted(node, self._node, side="right") - first
            self._several[name] = np.repeat(np.arange(len(sizes)), sizes), value[runs(first, sizes)]
        return self._several[name]

    @cached_property
    def _on_marks(self) -> dict[str, Ints]:
        edges = self._of_nodes.left_slot, self._of_nodes.right_slot
        columns = _of_marks(self._node, self._start, self._token, self._slot, *edges, LENGTH_CLASSES)
        return dict(zip(ON_MARKS, columns, strict=True))


LEFTS = (PairPart.LEFT, PairPart.ANY_LEFT)
RIGHTS = (PairPart.RIGHT, PairPart.ANY_RIGHT)
"""The parts for contexts at one edge of a constituent."""

OF_PLACE = frozenset({"edges", "words_before", "words_after"})
"""The attributes that tell where in the sentence a constituent stands."""

BESIDE = frozenset({"before", "second before", "after", "second after", "left sibling", "right sibling"})
"""The places of `PLACES` beside a constituent."""


class Template(NamedTuple):
    """A kind of feature: a conjunction of attributes of the constituent and a part of its pair (l, r).

    These templates are our own: the paper lists its templates in an appendix that was not available.

    :ivar part: of the pair; `PairPart.PAIR`, `PairPart.LEFT` and `PairPart.RIGHT` include the constituent's
        relation.
    :ivar attributes: see `pyropunct.models.attach.features`; at most one may have several values.
    :ivar completed: whether it looks at the completed pair: see
        `pyropunct.models.attach.feature_weights.PARTS`.
    """

    part: PairPart
    attributes: tuple[str, ...]
    completed: bool = False

    @property
    def is_of_place(self) -> bool:
        """Whether its contexts tell where a constituent stands: its neighbours, or its distance from the
        edges of the sentence.
        """
        return any(name in OF_PLACE or name.rpartition(" ")[0] in BESIDE for name in self.attributes)

    @property
    def sides(self) -> int:
        """The sides that its part looks at, as in `Attributes.unseen`."""
        return 1 if self.part in LEFTS else 2 if self.part in RIGHTS else 3


def templates(parts: Iterable[PairPart], *contexts: str) -> list[Template]:
    """A template for each part and context: names joined by " + ", or "" for every constituent."""
    return [
        Template(part, tuple(context.split(" + ")) if context else ())
        for part in parts
        for context in contexts
    ]


def _edges(*contexts: str) -> list[Template]:
    """Contexts at both edges: "outer" is the word before or after, "inner" the first or last word."""
    left = [context.replace("outer", "before").replace("inner", "first") for context in contexts]
    right = [context.replace("outer", "after").replace("inner", "last") for context in contexts]
    return templates(LEFTS, *left) + templates(RIGHTS, *right)


def _pairs(*contexts: str) -> list[Template]:
    return templates([PairPart.PAIR], *contexts)


def _symmetry(*contexts: str) -> list[Template]:
    return templates([PairPart.SYMMETRY], *contexts)


EVERYWHERE = Template(PairPart.SYMMETRY, ())
"""The template of the symmetry of pairs whose single context is true of all constituents."""

OF_WORDS = (PairPart.LEFT, PairPart.RIGHT, PairPart.SYMMETRY)
"""The parts for contexts with a word in them, which are too many and too rare for a weight of every pair."""

# The numbers of templates are part of the keys of saved models: their order must not change.
FAMILIES: dict[str, list[Template]] = {
    "symmetry": templates(PairPart, "") + _symmetry("relation"),
    "head": _pairs("tag", "head tag + side", "tag + head tag + side")
    + _symmetry("relation + tag", "relation + head tag + side"),
    "paths": _pairs("head relation", "head relation + side", "child relation", "path")
    + _pairs("head relation + grandhead relation")
    + _symmetry("relation + head relation", "relation + child relation", "child relation and tag"),
    "flanks": _edges("outer tag", "inner tag", "outer tag + inner tag", "second outer tag + outer tag")
    + _pairs("before tag + after tag"),
    "inside": _pairs("mark inside", "first_mark", "last_mark", "first_mark + last_mark"),
    "rhythm": templates(LEFTS, "first_mark + until_mark", "until_mark + words_after")
    + templates(RIGHTS, "last_mark + since_mark", "since_mark + words_after")
    + _pairs("until_mark + since_mark", "last_mark + since_mark")
    + _pairs("marks", "marks + length")
    + _symmetry("relation + last_mark + since_mark", "last_mark + since_mark + length")
    + _symmetry("relation + marks + words_before", "relation + marks + words_after"),
    "spans": _pairs("length", "edges", "edges + length", "side + edges + length")
    + _symmetry("relation + edges + length"),
    "distances": _pairs("distance + side", "words_before", "words_after", "head length")
    + _pairs("length + right sibling length", "length + left sibling length")
    + _pairs("length + distance + side")
    + _symmetry("relation + words_before", "relation + words_after", "length + distance + side"),
    "siblings": _pairs("left sibling relation", "right sibling relation", "first child relation")
    + _pairs("last child relation", "left sibling relation + right sibling relation")
    + _edges("outer relation"),
    "words": templates(OF_WORDS, "form", "head form", "first form", "last form")
    + templates(OF_WORDS, "child relation and form")
    + _edges("outer form", "inner form", "outer form + inner tag", "outer tag + inner form"),
    "shapes": _pairs("shape", "first shape + last shape") + _edges("outer shape + inner shape"),
    "treebanks": templates(PairPart, TREEBANK)
    + _pairs("treebank + tag", "treebank + head relation", "treebank + edges", "treebank + length")
    + _edges("treebank + outer tag", "treebank + inner tag", "treebank + outer form", "treebank + inner form")
    + _symmetry("treebank + relation", "treebank + relation + edges + length"),
}
"""The feature families: (a) to (d) of the paper are "head", "paths", "flanks" and "inside"."""
