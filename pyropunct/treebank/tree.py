"""Unpunctuated dependency trees."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tree:
    """The unpunctuated dependency tree T of one sentence of n words.

    Words are numbered 1..n from left to right; every field has length n.

    :ivar heads: the head of each word, 0 for the root.  The tree has one root and is projective:
        every constituent (a word with all its descendants) is a contiguous span of words.
    :ivar relations: the dependency relation of each word to its head, subtype included.
    :ivar tags: the universal part-of-speech tag of each word.
    :ivar forms: the words.
    """

    heads: tuple[int, ...]
    relations: tuple[str, ...]
    tags: tuple[str, ...]
    forms: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.heads)

    def strings(self) -> Mapping[str, Sequence[Sequence[str]]]:
        """What else is known: columns of n strings of punctuation tokens each, by their names; here none."""
        return {}
