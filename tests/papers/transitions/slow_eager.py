"""Greedy arc-eager parsing again, in plain Python, with the words of trees as objects."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from slow_features import distance, features_of

from pyropunct.papers.options import CASCADED, UNIFIED
from pyropunct.papers.transitions.machine import SHIFT
from pyropunct.papers.transitions.perceptron import number_of
from pyropunct.papers.transitions.streams import Stream
from pyropunct.papers.transitions.templates import TEMPLATES, templates_in

NONE, MIDDLE, FULL = range(3)
Weights = Mapping[tuple[int, int], int]
"""The weights of features, by their keys, with numbers."""


@dataclass(eq=False)
class Word:
    """A word with its dependents so far, going outward, and the mark found behind it before."""

    place: int
    form: str
    tag: str
    mark: int
    left: list["Word"] = field(default_factory=list)
    right: list["Word"] = field(default_factory=list)
    head: "Word | None" = None
    relation: int = 0
    predicted: int = NONE


def words_of(stream: Stream, found: Sequence[int]) -> list[Word]:
    rows = zip(stream.forms, stream.tags, found or [NONE] * len(stream.forms), strict=True)
    return [
        Word(place, form, tag, mark and 5 + mark) for place, (form, tag, mark) in enumerate(rows, start=1)
    ]


def parsed(
    stream: Stream, moves: Sequence[tuple[int, int, int, int]], weights: Weights, found: Sequence[int] = ()
) -> list[Word]:
    """The words of a stream after the best transition each time."""
    templates = templates_in(TEMPLATES[CASCADED if found else UNIFIED])
    words = words_of(stream, found)
    waiting, stack, closing = list(words), list[Word](), False
    while waiting or stack:
        features = features_of(atoms_of(stack, waiting), templates)
        kinds = [kind - SHIFT for kind, *_ in moves]
        allowed = [place for place, kind in enumerate(kinds) if may(kind, stack, waiting, closing)]
        scores = {
            place: sum(weights.get((one, number), 0) for one in features for number in moves[place][2:])
            for place in allowed
        }
        best = max(allowed, key=lambda place: scores[place])
        kind, relation = kinds[best], moves[best][1]
        if kind == 7:
            stack.pop()
        elif kind == 6:
            join(waiting[0], stack.pop(), relation, left=True)
        else:
            if kind >= 3:
                join(stack[-1], waiting[0], relation, left=False)
            waiting[0].predicted = kind % 3
            stack.append(waiting.pop(0))
        closing = bool(stack) and (closing or kind in (2, 5))
    return words


def may(kind: int, stack: Sequence[Word], waiting: Sequence[Word], closing: bool) -> bool:
    if closing or kind == 7:
        return kind == 7 and bool(stack) and (closing or stack[-1].head is not None)
    if kind == 6:
        return bool(stack) and stack[-1].head is None
    trees = sum(word.head is None for word in stack) + (kind < 3)
    return (kind < 3 or bool(stack)) and (trees == 1 if kind % 3 == FULL else len(waiting) > 1)


def join(head: Word, child: Word, relation: int, *, left: bool) -> None:
    (head.left if left else head.right).append(child)
    child.head, child.relation = head, relation
    if not left and child.mark:
        head.mark = child.mark


def atoms_of(stack: Sequence[Word], waiting: Sequence[Word]) -> dict[str, int]:
    """All atoms that are not absent."""
    atoms: dict[str, int] = {}

    def write(name: str, word: Word) -> None:
        atoms.update({f"{name}.w": number_of(word.form), f"{name}.t": number_of(word.tag)})

    for name, words in (("s0", stack[-1:]), ("b0", waiting[:1])):
        for word in words:
            write(name, word)
            atoms[f"{name}.p"] = word.mark
            for side, children in (("l", word.left), ("r", word.right)):
                atoms[f"{name}.v{side}"] = 1 + len(children)
                atoms[f"{name}.s{side}"] = sum({1 << child.relation for child in children})
                for place, child in zip((side, f"{side}2"), children[::-1], strict=False):
                    write(f"{name}.{place}", child)
                    atoms[f"{name}.{place}.d"] = child.relation
    for place, word in enumerate(waiting[1:3], start=1):
        write(f"b{place}", word)
        atoms[f"b{place}.p"] = word.mark
    if stack:
        top = stack[-1]
        atoms["s0.d"] = top.relation
        if top.head is not None:
            write("h", top.head)
            atoms["h.d"] = top.head.relation
            if top.head.head is not None:
                write("h2", top.head.head)
        if waiting:
            atoms["d"] = distance(waiting[0].place - top.place)
    return atoms
