"""What constituents sprout in a treebank: by relation, by their place in the clause, and at sentence ends."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product
from typing import NamedTuple

from pyropunct.fitted.fitted_story import FittedStory
from pyropunct.tasks import Advance
from pyropunct.tasks.explain.clauses import INITIAL, LAST, MEDIAL, POSITIONS, bare_clauses, positions
from pyropunct.tasks.explain.derivations import Example, constituent_examples
from pyropunct.tasks.explain.mark_functions import (
    CLOSING,
    COMMA,
    EITHER,
    FINAL,
    INVERTED,
    OPENING,
    asks,
    functions_of,
)
from pyropunct.tasks.explain.relations import pairs_by_class
from pyropunct.text.marks import EXCLAMATION_MARKS
from pyropunct.treebank.sentence import Puncteme, Sentence
from pyropunct.treebank.tree import base

RELATIONS, CLAUSES, ENDS, DASHES = "relations", "places", "final marks", "dashes"
"""What is compared: what relations sprout, places in the clause, final marks, and dashes for a copula."""

SPROUTED = ("commas on both sides", "a comma on one side", "brackets or quotation marks")
"""What constituents of a relation may sprout."""

PLACED = ("advcl", "advmod", "ccomp", "csubj", "obl")
"""The relations whose place in the clause is told."""

INNER = {INITIAL: "a comma behind", MEDIAL: "commas on both sides", LAST: "a comma before"}
"""What may set a constituent off from the rest of the clause, by its place."""

BARE, BESIDE = "nominal clause without cop", "a dash between subject and predicate"


class Tally(NamedTuple):
    """The expected number of times that something happens, in total and for each outcome."""

    total: float
    outcomes: Mapping[str, float]


Key = tuple[str, str]
"""What is compared, and of what."""

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


def events(relation: str, place: str, sides: Sides) -> Iterator[tuple[Key, dict[str, bool]]]:
    """What is compared of a constituent, and the outcomes that it has, given its place and what it sprouts.

    :param relation: without its subtype.
    """
    left, right = ([function for _, function in side] for side in sides)
    before, behind = COMMA in left, COMMA in right
    opens, closes = not (OPENING | EITHER).isdisjoint(left), not (CLOSING | EITHER).isdisjoint(right)
    yield (
        (RELATIONS, relation),
        dict(zip(SPROUTED, (before and behind, before != behind, opens and closes), strict=True)),
    )
    if relation in PLACED:
        is_set_off = {INITIAL: behind, MEDIAL: before and behind, LAST: before}
        yield (CLAUSES, relation), {f"is {one}": one == place for one in POSITIONS}
        yield (CLAUSES, f"{place} {relation}"), {INNER[place]: is_set_off[place]}
    is_question = any(asks(*one) for one in sides.right)
    exclaims = any(not EXCLAMATION_MARKS.isdisjoint(mark) for mark, _ in sides.right)
    if relation == "root":
        yield (ENDS, relation), {"a question mark": is_question, "an exclamation mark": exclaims}
    if is_question or exclaims:
        inverted = any(not INVERTED.isdisjoint(mark) for mark, _ in sides.left)
        yield (ENDS, "? or !"), {"¿ or ¡ before the constituent": inverted}
    for _ in range([*left, *right].count(FINAL)):
        yield (ENDS, "final mark"), {"root": relation == "root"}


def sprouted_in(
    model: FittedStory, sentences: Sequence[Sentence], advance: Advance = lambda done: None
) -> tuple[dict[str, str], dict[Key, Tally]]:
    """The function of each mark in a treebank, and what constituents sprout under q(T')."""
    inventory, vocabulary = model.vocabulary.inventory, model.vocabulary
    expected, _ = pairs_by_class(model, sentences, positions, len(POSITIONS), advance)
    functions = functions_of(model, sentences, expected.sum(0))
    totals: defaultdict[Key, float] = defaultdict(float)
    outcomes: defaultdict[Key, defaultdict[str, float]] = defaultdict(lambda: defaultdict(float))
    for relation, place in product(PLACED, POSITIONS):  # those that do not occur are compared too
        for key, has in events(relation, place, Sides((), ())):
            totals[key] += 0
            outcomes[key].update(dict.fromkeys(has, 0.0))
    for name, rows in zip(vocabulary.relations, pairwise(inventory.pair_start), strict=True):
        for row in range(*rows):
            left, right = map(vocabulary.decode_string, inventory.rows[row])
            sides = Sides.of(left, right, functions)
            for place, times in zip(POSITIONS, expected[:, row].tolist(), strict=True):
                for key, has in events(base(name) or "(other)", place, sides) if times else ():
                    totals[key] += times
                    for outcome, happens in has.items():
                        outcomes[key][outcome] += times * happens
    bare = [dash for sentence in sentences for dash in bare_clauses(sentence).values()]
    found = {
        key: Tally(
            round(total, DIGITS), {name: round(times, DIGITS) for name, times in outcomes[key].items()}
        )
        for key, total in totals.items()
    }
    return functions, found | {(DASHES, BARE): Tally(len(bare), {BESIDE: sum(bare)})}


DIGITS = 4
"""Sums of single precision are rounded, so that a number of constituents is a whole one."""


def sprouted_examples(
    model: FittedStory,
    sentences: Sequence[Sentence],
    most: int,
    advance: Advance = lambda done: None,
    *,
    functions: Mapping[str, str],
) -> dict[Cell, list[Example]]:
    """At most ``most`` constituents that have each outcome in the best T'."""

    def cells(
        sentence: Sentence, punctemes: Sequence[tuple[Puncteme, Puncteme]]
    ) -> Iterator[tuple[Cell, int]]:
        tree = sentence.tree
        for word, (name, place, pair) in enumerate(
            zip(tree.relations, positions(tree), punctemes, strict=True), 1
        ):
            known = model.vocabulary.relations[model.vocabulary.relation_number(name)]
            sides = Sides.of(*pair, functions)
            for key, has in events(base(known) or "(other)", POSITIONS[place], sides):
                yield from (((*key, outcome), word) for outcome, happens in has.items() if happens)
        yield from (((DASHES, BARE, BESIDE), word) for word, dash in bare_clauses(sentence).items() if dash)

    return constituent_examples(model, sentences, cells, most, advance)
