"""The transitions that lead to a tree and its marks."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pyropunct.rivals.transitions.arc_eager import FULL, LEFT, REDUCE, RIGHT, SHIFT
from pyropunct.rivals.transitions.parser import Action


class ParsedStream(NamedTuple):
    """The n words of a stream with marks and trees from a parser.

    :ivar marks: the mark behind each word: see `pyropunct.rivals.transitions.arc_eager.NONE`.
    :ivar heads: the head of each word from 1, 0 for roots.
    :ivar relations: the relation of each word to its head.
    """

    marks: tuple[int, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]


def transitions_to(heads: Sequence[int], relations: Sequence[str], marks: Sequence[int]) -> list[Action]:
    """The kinds of the transitions that lead to a sentence, with their relations.

    A word leaves the stack as late as it can.

    :param heads: of a projective tree, from 1; 0 for the root.
    :param marks: a full stop behind the last word, and nowhere else.
    """
    stack: list[int] = []
    found: list[Action] = []
    for word, head in enumerate(heads, start=1):
        while stack and stack[-1] != head and any(heads[one - 1] == word or one == head for one in stack):
            child = stack.pop()
            left = heads[child - 1] == word
            found.append((LEFT, relations[child - 1]) if left else (REDUCE, ""))
        arc = bool(stack) and stack[-1] == head
        stack.append(word)
        found.append((RIGHT + marks[word - 1], relations[word - 1]) if arc else (SHIFT + marks[word - 1], ""))
    return found + [(REDUCE, "")] * len(stack)


def stream_after(actions: Iterable[Action], root: str) -> ParsedStream:
    """The marks and trees to which transitions lead.

    :param root: the relation of roots.
    """
    marks: list[int] = []
    heads: list[int] = []
    relations: list[str] = []
    stack: list[int] = []
    for kind, relation in actions:
        if kind == LEFT:
            child = stack.pop()
            heads[child - 1], relations[child - 1] = len(heads) + 1, relation
        elif kind == REDUCE:
            stack.pop()
        else:
            arc = kind >= RIGHT
            marks.append(kind % (FULL + 1))
            heads.append(stack[-1] if arc else 0)
            relations.append(relation if arc else root)
            stack.append(len(heads))
    return ParsedStream(tuple(marks), tuple(heads), tuple(relations))
