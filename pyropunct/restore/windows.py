"""Long lines in overlapping windows.

Parsing takes time that is cubic in the number of words, and memory that is quadratic.  So a line of many
words is restored as if each of its windows were a sentence, and of each window the slots of its core are
kept, which are not near a place where the line was cut.  Time is linear in the length of the line, and memory
is that of a few windows beside the line itself.  Of a sentence of a treebank, or of words from Python, only
the parsing is done in windows.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from pyropunct.treebank.tree import Tree, projectivise

LONGEST_WHOLE = 400
"""The most words of a line that is not cut."""

LONGEST_PARSED = 500
"""The most words that are parsed together: more than any window of a line has."""

CORE, MARGIN = 300, 50
"""The words in the core of a window, and those on either side of it."""

ROOT, PARATAXIS = "root", "parataxis"
"""Relations of Universal Dependencies: of the root, and of clauses side by side."""


class Window(NamedTuple):
    """Neighbouring words of a line.

    :ivar first: the slot where the window starts.
    :ivar last: the slot where it ends.
    :ivar core: the words, counted from 1, whose heads are taken from this window.  So is the surface string
        of the slot before each, and in the last window the string of the last slot.
    """

    first: int
    last: int
    core: range


def windows(size: int, closed: Collection[int]) -> list[Window]:
    """The windows of a line.

    :param size: how many words it has.
    :param closed: slots where it must not be cut.
    """
    if size <= LONGEST_WHOLE:
        return [Window(0, size, range(1, size + 1))]
    parts = []
    for start in range(0, size, CORE):
        first, last = max(0, start - MARGIN), min(size, start + CORE + MARGIN)
        while first in closed:
            first -= 1
        while last in closed:
            last += 1
        parts.append(Window(first, last, range(start + 1, min(size, start + CORE) + 1)))
    return parts


def joined(parts: Sequence[Window], trees: Sequence[Tree]) -> Tree:
    """One tree for a line, of the trees of its windows.

    Each word has the head that it has in the window of whose core it is.  Where that makes no tree, words
    depend on the first root.
    """
    heads: list[int] = []
    relations: list[str] = []
    tags: list[str] = []
    forms: list[str] = []
    for window, tree in zip(parts, trees, strict=True):
        core = slice(window.core.start - 1 - window.first, window.core.stop - 1 - window.first)
        heads += [head and head + window.first for head in tree.heads[core]]
        relations += tree.relations[core]
        tags += tree.tags[core]
        forms += tree.forms[core]
    roots = _roots(heads)
    for word in roots:
        heads[word - 1], relations[word - 1] = roots[0], PARATAXIS
    heads[roots[0] - 1], relations[roots[0] - 1] = 0, ROOT
    return Tree(projectivise(heads), tuple(relations), tuple(tags), tuple(forms))


def _roots(heads: Sequence[int]) -> list[int]:
    """The roots, and a word of each circle; every other word hangs on one of these."""
    roots: list[int] = []
    seen = [False] * (len(heads) + 1)
    for start in range(1, len(heads) + 1):
        path, word = set[int](), start
        while word and not seen[word]:
            seen[word] = True
            path.add(word)
            if not heads[word - 1]:
                roots.append(word)
            word = heads[word - 1]
        if word in path:
            roots.append(word)
    return sorted(roots)
