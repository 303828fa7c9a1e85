"""What constituents of a treebank sprout under a model, and what stands beside them on the page.

It is counted by relation, by the place of constituents in the clause, and at the ends of sentences.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np

from pyropunct.fitted.fitted_story import FittedStory
from pyropunct.tasks import Advance
from pyropunct.tasks.explain.examples import Example, constituent_examples, example_of, spread
from pyropunct.tasks.explain.kinds import (
    INITIAL,
    LAST,
    MEDIAL,
    POSITIONS,
    bare_clauses,
    likenesses,
    positions,
    rows_of,
)
from pyropunct.tasks.explain.mark_functions import (
    CHARACTERS,
    CLOSING,
    COMMA,
    DASH,
    EITHER,
    FINAL,
    INVERTED,
    OPENING,
    asks,
    functions_of,
)
from pyropunct.tasks.explain.relations import PairShare, pairs_by_kind
from pyropunct.tasks.explain.tallies import Key, Tallies, Tally
from pyropunct.text.marks import EXCLAMATION_MARKS, real_marks
from pyropunct.treebank.sentence import Puncteme, Sentence
from pyropunct.treebank.tree import base

RELATIONS, IN_CLAUSE, FINAL_MARKS, COPULA_DASHES = "relations", "places", "final marks", "dashes"
"""Tables: what relations sprout, places in the clause, final marks, and dashes for a copula."""

PAGE, PUNCTEMES = "page", "punctemes"
"""Further tables: marks beside constituents on the page, and pairs of punctemes."""

SPROUTED = ("commas on both sides", "a comma on one side", "brackets or quotation marks")
"""The outcomes of rows of `RELATIONS`."""

ANY, SYMMETRIC = "any marks", "symmetric marks"
"""The outcomes of rows of `PUNCTEMES` besides the pairs themselves."""

ON_PAGE = "beside "
"""Before rows of `PUNCTEMES` that are of the page."""

PLACED = ("advcl", "advmod", "ccomp", "csubj", "obl")
"""The relations whose place in the clause is told."""

SET_OFF = {INITIAL: "a comma behind", MEDIAL: "commas on both sides", LAST: "a comma before"}
"""What may set a constituent off from the rest of the clause, by its place."""

BARE, BESIDE = "nominal clause without cop", "a dash between subject and predicate"

Cell = tuple[str, str, str]
"""A key with an outcome."""


class Sides(NamedTuple):
    """What a puncteme pair has on either side: marks with their functions."""

    left: Sequence[tuple[str, str]]
    right: Sequence[tuple[str, str]]

    @classmethod
    def of(cls, left: Puncteme, right: Puncteme, functions: Mapping[str, str]) -> "Sides":
        """The sides of a pair."""
        return cls(*([(mark, functions[mark]) for mark in side] for side in (left, right)))


@cache
def on_both_sides(left: Puncteme, right: Puncteme) -> dict[str, bool]:
    """The outcomes of a constituent with a pair of punctemes: the pair itself, and what holds of it."""
    pair = PairShare(left, right, 1.0)
    return {ANY: bool(left or right), SYMMETRIC: pair.is_symmetric, pair.text: True}


def events(name: str, place: str, sides: Sides, like: str = "") -> Iterator[tuple[Key, dict[str, bool]]]:
    """The rows in which a constituent is counted, with its outcomes, given its place and what it sprouts.

    A comma on one side and a dash on the other do not count as a comma on one side.

    :param name: the relation.
    :param like: see `pyropunct.tasks.explain.kinds.likenesses`.
    """
    relation = base(name)
    left, right = ([function for _, function in side] for side in sides)
    before, behind = COMMA in left, COMMA in right
    opens, closes = not (OPENING | EITHER).isdisjoint(left), not (CLOSING | EITHER).isdisjoint(right)
    one_side = before != behind and DASH not in (right if before else left)
    has = dict(zip(SPROUTED, (before and behind, one_side, opens and closes), strict=True))
    pair = on_both_sides(*(tuple(mark for mark, _ in side) for side in sides))
    for row in rows_of(name, like):
        yield (RELATIONS, row), has
        yield (PUNCTEMES, row), pair
    if relation in PLACED:
        is_set_off = {INITIAL: behind, MEDIAL: before and behind, LAST: before}
        yield (IN_CLAUSE, relation), {f"is {one}": one == place for one in POSITIONS}
        yield (IN_CLAUSE, f"{place} {relation}"), {SET_OFF[place]: is_set_off[place]}
    is_question = any(asks(*one) for one in sides.right)
    exclaims = any(not EXCLAMATION_MARKS.isdisjoint(mark) for mark, _ in sides.right)
    if relation == "root":
        yield (FINAL_MARKS, relation), {"a question mark": is_question, "an exclamation mark": exclaims}
    if is_question or exclaims:
        inverted = any(not INVERTED.isdisjoint(mark) for mark, _ in sides.left)
        yield (FINAL_MARKS, "? or !"), {"¿ or ¡ before the constituent": inverted}
    for _ in range([*left, *right].count(FINAL)):
        yield (FINAL_MARKS, "final mark"), {"root": relation == "root"}


def _kinds(sentences: Sequence[Sentence], by: Sequence[str]) -> list[list[tuple[str, str, str]]]:
    """The relation, place and likeness of each constituent: its `events` depend on these and on its marks."""
    return [
        list(zip(one.tree.relations, map(POSITIONS.__getitem__, positions(one.tree)), like, strict=True))
        for one, like in zip(sentences, likenesses(sentences, by), strict=True)
    ]


def sprouted_in(
    model: FittedStory,
    sentences: Sequence[Sentence],
    advance: Advance = lambda done: None,
    by: Sequence[str] = (),
) -> tuple[dict[str, str], dict[Key, Tally]]:
    """The function of each mark in a treebank, and what constituents sprout under q(T').

    :param by: what else than relations are split by; see `pyropunct.tasks.explain.kinds`.
    """
    inventory, decode = model.vocabulary.inventory, model.vocabulary.decode_string
    expected = pairs_by_kind(model, sentences, _kinds(sentences, by), advance)
    functions = functions_of(model, sentences, np.sum([*expected.values()], 0))
    tallies = Tallies()
    for relation, place in product(PLACED, POSITIONS):  # those that do not occur are compared too
        for key, has in events(relation, place, Sides((), ())):
            tallies.add(key, has, 0)
    sides = [Sides.of(decode(left), decode(right), functions) for left, right in inventory.rows]
    for (relation, place, like), times in expected.items():
        for row in times.nonzero()[0].tolist():
            for key, has in events(relation, place, sides[row], like):
                tallies.add(key, has, float(times[row]))
    bare = [dash for sentence in sentences for dash in bare_clauses(sentence).values()]
    return functions, tallies.rounded(DIGITS) | {(COPULA_DASHES, BARE): Tally(len(bare), {BESIDE: sum(bare)})}


DIGITS = 4
"""Sums of single precision are rounded, so that a number of constituents is a whole one."""


def sprouted_examples(
    model: FittedStory,
    sentences: Sequence[Sentence],
    most: int,
    advance: Advance = lambda done: None,
    *,
    functions: Mapping[str, str],
    by: Sequence[str] = (),
) -> dict[Cell, list[Example]]:
    """At most ``most`` constituents that have each outcome in the best T'."""

    kinds = {id(one): own for one, own in zip(sentences, _kinds(sentences, by), strict=True)}

    def cells(
        sentence: Sentence, punctemes: Sequence[tuple[Puncteme, Puncteme]]
    ) -> Iterator[tuple[Cell, int]]:
        for word, (kind, pair) in enumerate(zip(kinds[id(sentence)], punctemes, strict=True), 1):
            relation, place, like = kind
            for key, has in events(relation, place, Sides.of(*pair, functions), like):
                yield from (((*key, outcome), word) for outcome, happens in has.items() if happens)
        yield from (
            ((COPULA_DASHES, BARE, BESIDE), word) for word, dash in bare_clauses(sentence).items() if dash
        )

    return constituent_examples(model, sentences, cells, most, advance)


A_COMMA, ANOTHER, COMMAS = "a comma", "another mark", "commas"


def beside(sentence: Sentence, word: int) -> Iterator[tuple[str, dict[str, bool]]]:
    """What stands before a constituent, behind it and on both sides, where other words stand there too.

    Another mark is one without a comma beside it in the slot.
    """
    first, last = sentence.tree.spans[word - 1]
    commas = list[bool]()
    for side, slot, is_inside in (
        ("before", first - 1, first > 1),
        ("behind", last, last < len(sentence.tree)),
    ):
        if is_inside:
            marks = real_marks(sentence.surface[slot])
            commas.append(any(map(CHARACTERS[COMMA].issuperset, marks)))
            yield side, {A_COMMA: commas[-1], ANOTHER: bool(marks) and not commas[-1]}
    if len(commas) == 2:
        yield "on both sides of", {COMMAS: all(commas)}


def _events(sentence: Sentence, like: Sequence[str]) -> Iterator[tuple[int, Key, dict[str, bool]]]:
    tree = sentence.tree
    for word, (relation, own) in enumerate(zip(tree.relations, like, strict=True), 1):
        first, last = tree.spans[word - 1]
        pair = on_both_sides(real_marks(sentence.surface[first - 1]), real_marks(sentence.surface[last]))
        sides = list(beside(sentence, word)) if tree.heads[word - 1] else []
        for row in rows_of(relation, own):
            yield word, (PUNCTEMES, f"{ON_PAGE}{row}"), pair
            yield from ((word, (PAGE, f"{side} {row}"), has) for side, has in sides)


def marks_beside(sentences: Sequence[Sentence], by: Sequence[str] = ()) -> dict[Key, Tally]:
    """How often commas, other marks and pairs of marks stand beside the constituents of each relation.

    :param by: see `pyropunct.tasks.explain.kinds`.
    """
    tallies = Tallies()
    for sentence, like in zip(sentences, likenesses(sentences, by), strict=True):
        for _, key, has in _events(sentence, like):
            tallies.add(key, has)
    return tallies.rounded()


def examples_beside(
    sentences: Sequence[Sentence], most: int, by: Sequence[str] = ()
) -> dict[tuple[str, str, str], list[Example]]:
    """At most ``most`` constituents with each outcome, with the marks beside them."""
    places: dict[tuple[str, str, str], list[tuple[Sentence, int, str]]] = {}
    for sentence, like in zip(sentences, likenesses(sentences, by), strict=True):
        for word, key, has in _events(sentence, like):
            for outcome in (outcome for outcome, happens in has.items() if happens):
                places.setdefault((*key, outcome), []).append((sentence, word, outcome))
    return spread(places, most, lambda place: _shown(*place))


def _shown(sentence: Sentence, word: int, outcome: str) -> Example:
    """A constituent with the commas beside it, or with all marks."""
    first, last = sentence.tree.spans[word - 1]
    marks = [
        mark
        for slot in {first - 1, last}
        for mark in sentence.layout.marks[slot]
        if outcome not in (A_COMMA, COMMAS) or CHARACTERS[COMMA].issuperset(sentence.layout.form(mark))
    ]
    return example_of(sentence, [*sentence.layout.words[first - 1 : last], *marks], first)
