"""Trees made projective by lifting arcs (Nivre & Nilsson 2005)."""

from bisect import insort
from collections.abc import Sequence
from heapq import heapify, heappop, heappush

from pyropunct.treebank.tree import dependents_of, is_projective, spans


def projectivise(heads: Sequence[int]) -> tuple[int, ...]:
    """The heads after lifting arcs until the tree is projective.

    Repeatedly, the shortest (then leftmost) non-projective arc is replaced by an arc from its head's head.
    """
    return tuple(heads) if is_projective(heads) else tuple(_Lifting(heads).heads())


class _Lifting:
    """Lifts arcs in order; a word's *reach* is the longest stretch around it that it dominates."""

    def __init__(self, heads: Sequence[int]) -> None:
        self._heads = [0, *heads]
        self._dependents = [set(some) for some in dependents_of(heads)]
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
