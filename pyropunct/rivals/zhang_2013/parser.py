"""The parser: applied, and taken apart to be saved."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pyropunct.rivals.transitions.arc_eager import ATOMS, FULL, LEFT, NONE, REDUCE, RIGHT, SHIFT
from pyropunct.rivals.transitions.cells import FIRST_MARK, MARK
from pyropunct.rivals.transitions.parser import (
    Action,
    Actions,
    TransitionParser,
    matrix_of,
    relation_numbers,
)
from pyropunct.rivals.transitions.systems import ARC_EAGER
from pyropunct.rivals.transitions.templates import compiled_templates, templates_in
from pyropunct.rivals.zhang_2013 import templates
from pyropunct.rivals.zhang_2013.oracle import ParsedStream, stream_after
from pyropunct.rivals.zhang_2013.streams import Stream

Array = NDArray[Any]
Marks = Sequence[int]
"""The mark behind each word of a stream."""

KINDS = range(REDUCE + 1)
"""The kinds of transitions."""

NEEDED = (SHIFT + NONE, SHIFT + FULL, LEFT, REDUCE)
"""The kinds of transitions with which any stream can be parsed."""


@dataclass(frozen=True)
class ArcEagerRecipe:
    """How a parser is trained.

    :ivar reads_marks: whether it reads marks of another system, and decides on them anew.
    :ivar beam: the most states that are kept, in training and afterwards.
    :ivar iterations: how often each sentence is seen.
    :ivar seed: decides the order of sentences, anew in each iteration.
    """

    reads_marks: bool = False
    beam: int = 5
    iterations: int = 15
    seed: int = 0


class ArcEagerParser(TransitionParser):
    """A parser of streams that predicts punctuation, trained by
    `pyropunct.rivals.zhang_2013.training.train_arc_eager`."""

    recipe: ArcEagerRecipe
    what = "an arc-eager parser"
    recipe_kind = ArcEagerRecipe
    kinds, needed = frozenset(KINDS), frozenset(NEEDED)

    @classmethod
    def encoded_actions(cls, recipe: ArcEagerRecipe, actions: Sequence[Action]) -> Actions:
        """The score of an arc is shared by its mark and its relation: see `moves_of`."""
        return Actions(ARC_EAGER, moves_of(actions), templates_of(recipe.reads_marks))

    def parse(self, streams: Iterable[Stream], found: Sequence[Marks] | None = None) -> list[ParsedStream]:
        """The marks and trees of streams, of which words and tags alone are read.

        :param found: the marks of each stream that another system predicted, for a parser that reads them.
        :raises ValueError: if there are marks, and the parser reads no marks, or the other way round.
        """
        streams = list(streams)
        if self.recipe.reads_marks != (found is not None):
            raise ValueError("marks of another system are for a parser that was trained to read them")
        given = found if found is not None else [()] * len(streams)
        return [
            stream_after(self.best_actions(encoded(*both)), self.root)
            for both in zip(streams, given, strict=True)
        ]


def encoded(stream: Stream, found: Marks = (), first: int = 0) -> Array:
    """A stream from a sentence on, as compiled code reads it.

    :param found: the marks that another system predicted.
    :param first: the first word of the sentence, counted from 0.
    """
    marks = [FIRST_MARK + mark if mark != NONE else 0 for mark in found[first:]]
    return matrix_of(stream.forms[first:], stream.tags[first:], {MARK: marks} if found else {})


def moves_of(actions: Sequence[Action]) -> Array:
    """(actions, 4) actions as `pyropunct.rivals.transitions.search.search` reads them.

    The score of an arc is that of the transition with its mark, plus that of the arc with its relation: so a
    mark has the same weights whatever the relation is.
    """
    numbers = relation_numbers(actions)
    arcs = [(side, relation) for side in (LEFT, RIGHT) for relation in sorted(numbers)]
    rows = []
    for kind, relation in actions:
        side = LEFT if kind == LEFT else RIGHT
        second = len(KINDS) + arcs.index((side, relation)) if relation else -1
        rows.append((kind, numbers.get(relation, 0), kind, second))
    return np.array(rows)


def templates_of(reads_marks: bool) -> Array:
    """The templates as compiled code reads them."""
    text = templates.WORDS + templates.TREES + (templates.MARKS if reads_marks else "")
    return compiled_templates(templates_in(text), ATOMS)
