"""Parsers that predict punctuation: transitions, constraints on full stops, features, and bad input."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_eager import parsed
from treebank_strategies import head_lists

from pyropunct.papers.options import CASCADED, UNIFIED
from pyropunct.papers.transitions.arc_eager_parser import (
    ArcEagerParser,
    train_arc_eager,
    transitions_to,
)
from pyropunct.papers.transitions.cells import matrix_of
from pyropunct.papers.transitions.machine import FULL, LEFT, MIDDLE, NONE, REDUCE, RIGHT, SHIFT
from pyropunct.papers.transitions.parser import Recipe, reading_after
from pyropunct.papers.transitions.perceptron import no_weights
from pyropunct.papers.transitions.search import search
from pyropunct.papers.transitions.streams import Stream
from pyropunct.treebank.projective import projectivise
from pyropunct.treebank.tree import is_projective

HEADS = [(3, 3, 0, 3, 6, 4), (2, 0, 2, 3), (0,), (2, 6, 4, 2, 4, 0, 6, 9, 7)]
"""The trees of some sentences."""


def stream(*trees: tuple[int, ...], marks: tuple[int, ...] | None = None) -> Stream:
    """A stream of sentences with these trees, whose words tell a little of what is to be found."""
    words = sum(map(len, trees))
    heads, relations, own = list[int](), list[str](), list[int]()
    for tree in trees:
        first = len(heads)
        heads += [head and first + head for head in tree]
        relations += ["root" if head == 0 else "ab"[place < head] for place, head in enumerate(tree)]
        own += [*[NONE] * (len(tree) - 1), FULL]
    return Stream(
        forms=tuple("vwxyz"[(place + head) % 5] for place, head in enumerate(heads)),
        tags=tuple("XYZ"[place * place % 3] for place in range(words)),
        marks=marks or tuple(own),
        heads=tuple(heads),
        relations=tuple(relations),
        sizes=tuple(map(len, trees)),
    )


STREAMS = [
    stream(*HEADS),
    replace(stream(HEADS[3], HEADS[0], HEADS[1]), marks=(*(NONE, MIDDLE) * 4, *(FULL, *(NONE, MIDDLE) * 5))),
]


@given(head_lists(), st.data())
def test_transitions_lead_to_every_projective_tree_and_its_marks(
    heads: list[int], data: st.DataObject
) -> None:
    projective, size = projectivise(heads), len(heads)
    relations = tuple("root" if head == 0 else "abc"[place % 3] for place, head in enumerate(projective))
    inner = st.lists(st.sampled_from([NONE, MIDDLE]), min_size=size - 1, max_size=size - 1)
    marks = (*data.draw(inner), FULL)
    steps = transitions_to(projective, relations, marks)
    assert len(steps) == 2 * size
    assert reading_after(steps, "root") == (marks, projective, relations)


@settings(max_examples=200)
@given(st.integers(0, 12), st.permutations(range(8)), st.integers(1, 4))
def test_a_full_stop_stands_behind_one_tree_and_behind_the_last_word(
    size: int, order: list[int], beam: int
) -> None:
    """Without weights the best actions are the first ones, so orders of actions lead to many streams."""
    kinds = [*range(SHIFT, SHIFT + 3), *range(RIGHT, RIGHT + 3), LEFT, REDUCE]
    actions = tuple((kinds[place], "d" if kinds[place] in range(RIGHT, REDUCE) else "") for place in order)
    words = Stream(("w",) * size, ("X",) * size, (), (), (), ())
    system = ArcEagerParser.system(Recipe(UNIFIED, beam, 1), actions)
    found = search(system, matrix_of(words.forms, words.tags), no_weights(), beam, np.zeros(0, np.int64))
    assert len(found) == 2 * size
    marks, heads, _ = reading_after([actions[action] for action in found], "root")
    assert marks[-1:] == (FULL,) * bool(size)
    first = 0
    for last in [place for place, mark in enumerate(marks, start=1) if mark == FULL]:
        tree = [head and head - first for head in heads[first:last]]
        assert tree.count(0) == 1
        assert all(0 <= head <= last - first for head in tree)
        assert is_projective(tree)
        first = last


@pytest.mark.parametrize("found", [None, [(NONE, MIDDLE, FULL, FULL) * 5, (MIDDLE, FULL) * 9 + (NONE,)]])
def test_a_beam_of_one_takes_the_best_transition_each_time(found: list[tuple[int, ...]] | None) -> None:
    recipe = Recipe(UNIFIED if found is None else CASCADED, beam=1, iterations=3)
    parser = train_arc_eager(STREAMS, recipe, found=found)
    weights = {(key, action): value for key, action, value in np.stack(parser.rows).T.tolist()}
    moves = [tuple(move) for move in parser.system(recipe, parser.actions).moves.tolist()]
    given = [()] * 2 if found is None else found
    pairs = zip(STREAMS, parser.parse(STREAMS, found), given, strict=True)
    for some, (marks, heads, *_), read in pairs:
        slow = parsed(some, moves, weights, read)
        assert [word.predicted for word in slow] == list(marks)
        assert [word.head.place if word.head else 0 for word in slow] == list(heads)


@pytest.mark.parametrize("beam", [1, 5])
def test_trees_marks_and_ends_are_learned(beam: int) -> None:
    known = [
        replace(one, forms=tuple(f"{one.sizes}{place}" for place in range(sum(one.sizes)))) for one in STREAMS
    ]
    parser = train_arc_eager(known, Recipe(UNIFIED, beam, iterations=200))
    assert parser.report["updates"][0] > 0 == parser.report["updates"][-1]
    for some, found in zip(known, parser.parse(known), strict=True):
        assert found == (some.targets, some.heads, some.relations, None)


def test_marks_that_were_found_before_are_read() -> None:
    """Words alone do not tell where sentences end; the marks that were found do."""
    chains = [stream((0, 1, 2), (0, 1), (0, 1, 2, 3, 4)), stream((0, 1), (0,), (0, 1, 2))]
    same = [replace(one, forms=("w",) * len(one.forms), tags=("X",) * len(one.forms)) for one in chains]
    found = [one.targets for one in same]
    parser = train_arc_eager(same, Recipe(CASCADED, beam=5, iterations=200), found=found)
    assert [one.marks for one in parser.parse(same, found)] == found
    unread = train_arc_eager(same, Recipe(UNIFIED, beam=5, iterations=20))
    assert [one.marks for one in unread.parse(same)] != found
    for marks, other in ((None, parser), (found, unread)):
        with pytest.raises(ValueError, match="for a parser that was trained to read them"):
            other.parse(same, marks)


def test_any_words_can_be_parsed() -> None:
    """A parser that has seen one sentence of one word reads no word, one, and 5,000 without an end."""
    parser = train_arc_eager([stream((0,))], Recipe(UNIFIED, beam=5, iterations=2))
    long = Stream(("v",) * 5000, ("X",) * 5000, (), (), (), ())
    found = parser.parse([stream(), stream((0,)), long])
    assert found[0].marks == ()
    assert found[1] == ((FULL,), (0,), ("root",), None)
    assert len(found[2].heads) == 5000


def test_there_must_be_a_sentence_to_learn_from() -> None:
    for some in ([], [stream()]):
        with pytest.raises(ValueError, match="nothing to learn for an arc-eager parser"):
            train_arc_eager(some, Recipe(UNIFIED, beam=1, iterations=1))


def test_there_may_not_be_thousands_of_relations() -> None:
    chain = stream(tuple(range(2100)))
    many = replace(chain, relations=tuple(map(str, range(2100))))
    with pytest.raises(ValueError, match="too many relations for an arc-eager parser"):
        train_arc_eager([many], Recipe(UNIFIED, beam=1, iterations=1))
