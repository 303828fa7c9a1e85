"""Unpunctuated dependency trees."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
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

OF_CLAUSES = frozenset({"ccomp", "xcomp", "advcl", "acl", "csubj", "parataxis", "root"})
"""The relations of clauses."""

IN_CLAUSES = frozenset({"nsubj", "csubj", "aux", "cop", "expl", "nsubjpass", "csubjpass", "auxpass"})
"""The relations of dependents that heads of clauses alone have; the last three in releases before 2.0."""


def opens_clause(tree: Tree) -> list[bool]:
    """For each word, whether a clause begins behind it: a conjunction or subordinator before the head of the
    clause, as in "and ⟨ if it rains, we stay".

    The relation of the head is one of `OF_CLAUSES`, or that of a dependent of it one of `IN_CLAUSES`; so no
    clause begins in "cats and dogs".  No clause begins inside of a fixed expression such as *as if*.
    """
    relations = [base(relation) for relation in tree.relations]
    clauses = {word for word, relation in enumerate(relations, 1) if relation in OF_CLAUSES}
    clauses |= {head for head, relation in zip(tree.heads, relations, strict=True) if relation in IN_CLAUSES}
    neighbours = zip(tree.heads, pairwise([*relations, ""]), strict=True)
    return [
        relation in OPENERS and head > word and head in clauses and after != "fixed"
        for word, (head, (relation, after)) in enumerate(neighbours, 1)
    ]
