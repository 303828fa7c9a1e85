"""Learns the functions of the marks of a treebank.

Nunberg (1990) and Li, Wang & Eisner (2019, section 2.1) distinguish marks by where they belong. A
*delimiting* mark, such as the comma, belongs on both sides of a constituent, though the page may lose one of
the two. A *separating* mark, such as the semicolon or the Chinese 、, stands once between sisters. A *final*
mark stands once at the end of a sentence. Brackets and quotation marks *open* and *close*.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise

from pyropunct.text.marks import CLOSERS, PAIRED, SPECIAL, Surface
from pyropunct.treebank.tree import Tree, dependents_of

DELIMITING, SEPARATING, FINAL, OPENING, CLOSING = FUNCTIONS = (
    "delimiting",
    "separating",
    "final",
    "opening",
    "closing",
)
"""The functions of marks."""

LEAST = 5
"""A delimiting mark encloses at least this many constituents."""

SHARE = 0.04
"""It encloses at least this share of the constituents that have it on the left, or right if fewer."""


def mark_functions(examples: Iterable[tuple[Tree, Surface]]) -> dict[str, str]:
    """The function of each mark of a treebank, one of `FUNCTIONS`.

    A mark delimits if many constituents have it, and nothing else, on both sides. Sisters with the same
    relation do not count, because a mark between them may separate them. A mark is final if half of its
    occurrences end sentences. A bracket or quotation mark opens if constituents begin there more often than
    they end.
    """
    opening, closing, left, right, both, last, all_marks = (Counter[str]() for _ in range(7))
    for tree, surface in examples:
        all_marks.update(mark for slot in surface for mark in slot)
        last.update(surface[-1])
        alike = None
        for word, (first, end) in enumerate(tree.spans, start=1):
            before, behind = surface[first - 1], surface[end]
            opening.update(before)
            closing.update(behind)
            if first == 1 or end == len(tree):
                continue
            left.update(before)
            right.update(behind)
            if len(before) == 1 and tuple(before) == tuple(behind):
                alike = set(_beside_alike(tree)) if alike is None else alike
                both[before[0]] += word not in alike

    def function(mark: str) -> str:
        if mark in SPECIAL:
            return SEPARATING
        if mark in PAIRED:
            return OPENING if mark in CLOSERS and opening[mark] >= closing[mark] else CLOSING
        if 2 * last[mark] >= all_marks[mark]:
            return FINAL
        delimits = both[mark] >= max(LEAST, SHARE * min(left[mark], right[mark]))
        return DELIMITING if delimits else SEPARATING

    return {mark: function(mark) for mark in all_marks}


def _beside_alike(tree: Tree) -> Iterator[int]:
    """The words whose constituents stand beside a sister with the same relation."""
    for sisters in dependents_of(tree.heads):
        for left, right in pairwise(sisters):
            adjacent = tree.spans[left - 1][1] + 1 == tree.spans[right - 1][0]
            if adjacent and tree.relations[left - 1] == tree.relations[right - 1]:
                yield from (left, right)
