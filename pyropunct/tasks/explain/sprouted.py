"""What constituents sprout in a treebank: by relation, by their place in the clause, and at sentence ends."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.fitted.fitted_story import FittedStory
from pyropunct.tasks import Advance
from pyropunct.tasks.explain.clauses import INITIAL, LAST, MEDIAL, POSITIONS, bare_clauses, base, positions
from pyropunct.tasks.explain.mark_functions import (
    CLOSING,
    COMMA,
    EITHER,
    EXCLAMATION,
    FINAL,
    INVERTED,
    OPENING,
    asks,
    functions_of,
)
from pyropunct.tasks.explain.relations import pairs_by_class
from pyropunct.treebank.sentence import Sentence

RELATIONS, CLAUSES, ENDS, DASHES = "relations", "places", "final marks", "dashes"
"""What is compared: what relations sprout, places in the clause, final marks, and dashes for a copula."""

SPROUTED = ("commas on both sides", "a comma on one side", "brackets or quotation marks")
"""What constituents of a relation may sprout."""

PLACED = ("advcl", "advmod", "ccomp", "csubj", "obl")
"""The relations whose place in the clause is told."""

INNER = {INITIAL: "a comma behind", MEDIAL: "commas on both sides", LAST: "a comma before"}
"""What may set a constituent off from the rest of the clause, by its place."""


class Tally(NamedTuple):
    """The expected number of times that something happens, in total and for each outcome."""

    total: float
    outcomes: Mapping[str, float]


Tallies = dict[tuple[str, str], Tally]
"""By what is compared, and of what."""


class Sides(NamedTuple):
    """The marks of a puncteme pair and what they do."""

    left: Sequence[tuple[str, str]]
    right: Sequence[tuple[str, str]]

    def has(self, function: str) -> tuple[bool, bool]:
        """Whether a mark with that function is on the left, and on the right."""
        left, right = (any(does == function for _, does in side) for side in self)
        return left, right

    @property
    def commas(self) -> int:
        """The number of sides with commas."""
        return sum(self.has(COMMA))

    @property
    def encloses(self) -> bool:
        """Whether there are brackets or quotation marks on both sides."""
        opening, closing = ({does for _, does in side} for side in self)
        return not (OPENING | EITHER).isdisjoint(opening) and not (CLOSING | EITHER).isdisjoint(closing)

    @property
    def finals(self) -> int:
        """The number of final marks."""
        return sum(does == FINAL for side in self for _, does in side)

    @property
    def asks(self) -> bool:
        """Whether a question mark is on the right."""
        return any(asks(*one) for one in self.right)

    @property
    def exclaims(self) -> bool:
        """Whether an exclamation mark is on the right."""
        return any(not EXCLAMATION.isdisjoint(mark) for mark, _ in self.right)

    @property
    def inverted(self) -> bool:
        """Whether an inverted mark is on the left."""
        return any(not INVERTED.isdisjoint(mark) for mark, _ in self.left)


OF_RELATIONS: Sequence[Callable[[Sides], bool]] = (
    lambda sides: sides.commas == 2,
    lambda sides: sides.commas == 1,
    lambda sides: sides.encloses,
)
"""Which puncteme pairs each of `SPROUTED` has."""

OF_PLACES: Mapping[str, Callable[[Sides], bool]] = {
    INITIAL: lambda sides: sides.has(COMMA)[1],
    MEDIAL: lambda sides: sides.commas == 2,
    LAST: lambda sides: sides.has(COMMA)[0],
}
"""Which pairs each of `INNER` has."""


def sprouted_in(
    model: FittedStory, sentences: Sequence[Sentence], advance: Advance = lambda done: None
) -> tuple[dict[str, str], Tallies]:
    """The function of each mark in a treebank, and what constituents sprout under q(T')."""
    expected, counts = pairs_by_class(model, sentences, positions, len(POSITIONS), advance)
    functions = functions_of(model, sentences, expected.sum(0))
    marks = [*functions.items()]
    pairs = [
        Sides(*([marks[token] for token in side] for side in row)) for row in model.vocabulary.inventory.rows
    ]
    of_relations: defaultdict[str, list[tuple[slice, int]]] = defaultdict(list)
    starts = pairwise(model.vocabulary.inventory.pair_start)
    for number, (name, (first, last)) in enumerate(zip(model.vocabulary.relations, starts, strict=True)):
        of_relations[base(name) or "(other)"].append((slice(first, last), number))
    counted = _Counted(pairs, expected, counts, of_relations)
    found: Tallies = {}
    for name in of_relations:
        found[RELATIONS, name] = Tally(
            counted.number(name),
            {what: counted.times(name, has) for what, has in zip(SPROUTED, OF_RELATIONS, strict=True)},
        )
    for name in filter(of_relations.__contains__, PLACED):
        numbers = {place: counted.number(name, place) for place in POSITIONS}
        found[CLAUSES, name] = Tally(
            counted.number(name), {f"is {place}": numbers[place] for place in numbers}
        )
        for place, number in numbers.items():
            sprouting = counted.times(name, OF_PLACES[place], place)
            found[CLAUSES, f"{place} {name}"] = Tally(number, {INNER[place]: sprouting})
    return functions, found | _ends(counted, "root") | _dashes(sentences)


class _Counted(NamedTuple):
    """Counts of constituents: the rows and the number of each relation's subtypes."""

    pairs: Sequence[Sides]
    expected: NDArray[np.float64]
    counts: NDArray[np.int64]
    of_relations: Mapping[str, Sequence[tuple[slice, int]]]

    def number(self, relation: str, place: str | None = None) -> int:
        """The number of constituents."""
        numbers = self.counts.sum(0) if place is None else self.counts[POSITIONS.index(place)]
        return sum(int(numbers[number]) for _, number in self.of_relations[relation])

    def times(self, relation: str, has: Callable[[Sides], float], place: str | None = None) -> float:
        """How often they are expected to sprout something."""
        expected = self.expected.sum(0) if place is None else self.expected[POSITIONS.index(place)]
        return sum(
            float(expected[row]) * has(self.pairs[row])
            for rows, _ in self.of_relations[relation]
            for row in range(rows.start, rows.stop)
        )


def _ends(counted: _Counted, root: str) -> Tallies:
    """Final marks: those of roots, question and exclamation marks of roots, and inverted ones before them."""
    every = [*counted.of_relations]

    def of_all(has: Callable[[Sides], float]) -> float:
        return sum(counted.times(relation, has) for relation in every)

    finals, marked = of_all(lambda one: one.finals), of_all(lambda one: one.asks or one.exclaims)
    both = of_all(lambda one: (one.asks or one.exclaims) and one.inverted)
    return {
        (ENDS, "final mark"): Tally(finals, {"root": counted.times(root, lambda one: one.finals)}),
        (ENDS, root): Tally(
            counted.number(root),
            {
                "a question mark": counted.times(root, lambda one: one.asks),
                "an exclamation mark": counted.times(root, lambda one: one.exclaims),
            },
        ),
        (ENDS, "? or !"): Tally(marked, {"¿ or ¡ before the constituent": both}),
    }


def _dashes(sentences: Sequence[Sentence]) -> Tallies:
    clauses, dashes = np.array([bare_clauses(sentence) for sentence in sentences]).sum(0).tolist()
    return {(DASHES, "nominal clause without cop"): Tally(clauses, {"a dash beside the predicate": dashes})}
