"""Unpunctuated dependency trees."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pyropunct.treebank.projective import dependents_of, spans, top_down

MAIN_TREEBANK = ""
"""The treebank of all trees about which nothing else is known."""

SHOWN = 40
"""Characters of a string that an error shows."""


def require_words(words: object) -> None:
    """Check that the words of a sentence are not one string, whose letters would be taken for words.

    :raises TypeError: if they are.
    """
    if isinstance(words, str):
        start = words if len(words) <= SHOWN else words[:SHOWN] + "..."
        raise TypeError(f"{start!r} is a string: a sequence of words is needed, such as its split()")


@dataclass(frozen=True)
class Tree:
    """The unpunctuated dependency tree T of one sentence of n words.

    Words are numbered 1..n from left to right; every field has length n.

    :ivar heads: the head of each word, 0 for the root.  The tree has one root and is projective:
        every constituent (a word with all its descendants) is a contiguous span of words.
    :ivar relations: the dependency relation of each word to its head, subtype included.
    :ivar tags: the universal part-of-speech tag of each word.
    :ivar forms: the words.
    :ivar treebank: the name of the treebank that it comes from, if a model is to tell several treebanks
        apart.
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
