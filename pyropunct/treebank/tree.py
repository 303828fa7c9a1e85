"""Unpunctuated dependency trees, made projective by lifting arcs (Nivre & Nilsson 2005)."""

from bisect import insort
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import pairwise


def dependents_of(heads: Sequence[int]) -> list[list[int]]:
    """For 0 and for each word 1..n its dependents from left to right; the dependent of 0 is the root."""
    dependents: list[list[int]] = [[] for _ in range(len(heads) + 1)]
    for word, head in enumerate(heads, start=1):
        dependents[head].append(word)
    return dependents


def top_down(heads: Sequence[int]) -> list[int]:
    """The words by depth, every head before its dependents."""
    dependents = dependents_of(heads)
    order = list(dependents[0])
    for word in order:
        order.extend(dependents[word])
    return order


def spans(heads: Sequence[int]) -> list[tuple[int, int, int]]:
    """For each word the first word, the last word and the number of words of its constituent."""
    first = list(range(1, len(heads) + 1))
    last = list(first)
    size = [1] * len(heads)
    for word in reversed(top_down(heads)):
        head = heads[word - 1]
        if head:
            first[head - 1] = min(first[head - 1], first[word - 1])
            last[head - 1] = max(last[head - 1], last[word - 1])
            size[head - 1] += size[word - 1]
    return list(zip(first, last, size, strict=True))


def is_projective(heads: Sequence[int]) -> bool:
    """Whether every constituent is a contiguous span of words."""
    return all(last - first + 1 == size for first, last, size in spans(heads))


def projectivise(heads: Sequence[int]) -> tuple[int, ...]:
    """The heads after lifting arcs until the tree is projective.

    Repeatedly, the shortest (then leftmost) non-projective arc is replaced by an arc from its head's head.
    """
    return tuple(heads) if is_projective(heads) else tuple(_Lifting(heads).heads())


class _Lifting:
    """Lifts arcs in order; a word's *reach* is the longest stretch around it that it dominates."""

    def __init__(self, heads: Sequence[int]) -> None:
        self._heads = [0, *heads]
        self._dependents = [set(dependents) for dependents in dependents_of(heads)]
        self._span = [(0, 0), *((first, last) for first, last, _ in spans(heads))]
        self._left, self._right = _reach(heads)
        self._projective: list[list[int]] = [[] for _ in self._heads]
        self._waiting: list[tuple[int, int, int]] = []
        for word, head in enumerate(heads, start=1):
            if head and self._reaches(head, word):
                self._projective[head].append(word)
            elif head:
                self._waiting.append(self._arc(word))
        heapify(self._waiting)

    def heads(self) -> list[int]:
        """The heads when no arc waits any more."""
        while self._waiting:
            *_, word = heappop(self._waiting)
            self._lift(word)
        return self._heads[1:]

    def _arc(self, word: int) -> tuple[int, int, int]:
        """The arc to a word as a sort key: the smallest arc is lifted first."""
        head = self._heads[word]
        return abs(word - head), min(word, head), word

    def _reaches(self, head: int, word: int) -> bool:
        return self._left[head] <= word <= self._right[head]

    def _lift(self, word: int) -> None:
        old = self._heads[word]
        new = self._heads[old]
        self._heads[word] = new
        self._dependents[old].remove(word)
        self._dependents[new].add(word)
        self._shrink(old, word)
        if self._reaches(new, word):
            insort(self._projective[new], word)
        else:
            heappush(self._waiting, self._arc(word))

    def _shrink(self, head: int, gone: int) -> None:
        """Shrink the reach of a head that does not dominate a former dependent any more."""
        first, last = self._span[gone]
        if last < self._left[head] or first > self._right[head]:
            return
        dominated = [gone]
        for word in dominated:
            dominated.extend(self._dependents[word])
            if head < word <= self._right[head]:
                self._right[head] = word - 1
            elif self._left[head] <= word < head:
                self._left[head] = word + 1
        kept = self._projective[head]
        while kept and kept[-1] > self._right[head]:
            heappush(self._waiting, self._arc(kept.pop()))
        beyond = sum(word < self._left[head] for word in kept)
        for word in kept[:beyond]:
            heappush(self._waiting, self._arc(word))
        del kept[:beyond]


def _reach(heads: Sequence[int]) -> tuple[list[int], list[int]]:
    """The first and last word of each word's reach, joined bottom-up from neighbouring reaches."""
    size = len(heads)
    order, rank, below = preorder(heads)
    left, right = list(range(size + 1)), list(range(size + 1))
    for word in reversed(order):
        inside = range(rank[word], rank[word] + below[word])
        while right[word] < size and rank[right[word] + 1] in inside:
            right[word] = right[right[word] + 1]
        while left[word] > 1 and rank[left[word] - 1] in inside:
            left[word] = left[left[word] - 1]
    return left, right


def preorder(heads: Sequence[int]) -> tuple[list[int], list[int], list[int]]:
    """The words in preorder; the rank of each, and the number of words that it dominates with itself."""
    dependents = dependents_of(heads)
    below = [0, *(size for *_, size in spans(heads))]
    order: list[int] = []
    rank, stack = [0] * (len(heads) + 1), list(dependents[0])
    while stack:
        word = stack.pop()
        rank[word] = len(order)
        order.append(word)
        stack.extend(dependents[word])
    return order, rank, below


MAIN_TREEBANK = ""
"""The treebank of all trees about which nothing else is known."""


@dataclass(frozen=True)
class Tree:
    """The unpunctuated dependency tree T of one sentence of n words, numbered 1..n.

    :ivar heads: the head of each word, 0 for the root.  The tree has one root and is projective: every
        constituent (a word with all its descendants) is a contiguous span of words.
    :ivar treebank: the name of its treebank, for models that distinguish several.
    """

    heads: tuple[int, ...]
    relations: tuple[str, ...]
    tags: tuple[str, ...]
    forms: tuple[str, ...]
    treebank: str = field(default=MAIN_TREEBANK, kw_only=True)

    def __len__(self) -> int:
        return len(self.heads)

    def strings(self) -> Mapping[str, Sequence[Sequence[str]]]:
        """Further columns by name, each of n strings of punctuation tokens; a plain tree has none."""
        return {}

    @property
    def root(self) -> int:
        """The word whose head is 0."""
        return self.children[0][0]

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """For 0 and each word w the words {v : head(v) = w}, left to right; the child of 0 is the root."""
        return tuple(map(tuple, dependents_of(self.heads)))

    @cached_property
    def top_down(self) -> tuple[int, ...]:
        """The words by depth, those of one depth from left to right: every head before its children."""
        return tuple(top_down(self.heads))

    @cached_property
    def depths(self) -> tuple[int, ...]:
        """The number of arcs from each word up to the root: d(root) = 0, and d(w) = 1 + d(head(w))."""
        depths = [0] * len(self)
        for word in self.top_down[1:]:
            depths[word - 1] = 1 + depths[self.heads[word - 1] - 1]
        return tuple(depths)

    @cached_property
    def spans(self) -> tuple[tuple[int, int], ...]:
        """The first and the last word of each word's constituent, a contiguous span::

            first(w) = min({w} | {first(v) : head(v) = w})    last(w) = max({w} | {last(v) : head(v) = w})

        The slots at its edges are first(w) - 1 and last(w).
        """
        return tuple((first, last) for first, last, _ in spans(self.heads))


def base(relation: str) -> str:
    """A relation without its subtype."""
    return relation.partition(":")[0]


def mark_heads(tree: Tree) -> list[int]:
    """For each slot the highest word that a mark there can depend on without crossing an arc.

    In a projective tree the arcs over a slot are nested, and this word is the head of the innermost
    arc.  There is no arc over the first and the last slot, for which it is the root.
    """
    from_left: list[list[tuple[int, int]]] = [[] for _ in range(len(tree) + 1)]
    for word, head in enumerate(tree.heads, 1):
        if head:
            from_left[min(word, head)].append((max(word, head), head))
    over: list[tuple[int, int]] = [(len(tree) + 1, tree.root)]  # right ends and heads, the innermost arc last
    heads = []
    for slot, arcs in enumerate(from_left):
        while over[-1][0] <= slot:
            over.pop()
        over.extend(sorted(arcs, reverse=True))
        heads.append(over[-1][1])
    return heads


OPENERS = frozenset({"cc", "mark"})
"""The relations of conjunctions and subordinators."""


def opens_clause(tree: Tree) -> list[bool]:
    """For each word, whether a clause begins behind it: a conjunction or subordinator before its head,
    as in "and ⟨ if it rains, we stay".

    No clause begins inside of a fixed expression such as *as if*.
    """
    relations = [base(relation) for relation in tree.relations]
    neighbours = zip(tree.heads, pairwise([*relations, ""]), strict=True)
    return [
        relation in OPENERS and head > word and after != "fixed"
        for word, (head, (relation, after)) in enumerate(neighbours, 1)
    ]
