"""The ways of a channel through one slot: best moves, draws of a surface string, all surface strings."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor

from pyropunct.inference.machines.automata import Ends
from pyropunct.inference.machines.composition import Lattice
from pyropunct.inference.machines.evidence import Evidence, String
from pyropunct.inference.machines.moves import END, Machine, claims
from pyropunct.inference.machines.products import TokenEdit
from pyropunct.inference.machines.transducers import Cascade, Transducer
from pyropunct.inference.ragged import Floats

MOST_STRINGS = 5000
"""Unfinished strings, with the state of the machine, that are followed together: the most probable ones.  A
slot of seven tokens or fewer has no more, and so all sums are exact."""

PRECISION = 1e-12
"""Where a machine may write for ever behind the last token, sums leave out less probable ways."""


class Path(NamedTuple):
    """How a surface string came from an underlying string u.

    :ivar probability: the product of the probabilities of all moves, and the weight of the evidence.
    :ivar origins: for each token of the surface string the place in u of the token that it is, or None.
    :ivar edits: the edits, in the order in which they were made.
    """

    probability: float
    branch: str
    surface: String
    origins: tuple[int | None, ...]
    edits: tuple["Made", ...]


class Made(NamedTuple):
    """An edit, as seen on the page, and the places in u of its two tokens, None for inserted tokens."""

    edit: TokenEdit
    places: tuple[int | None, int | None]


class Ways:
    """The paths of a transducer with (P,) given weights through single strings, in plain numbers."""

    def __init__(self, transducer: Transducer, weights: Tensor) -> None:
        self._transducer, self._weights = transducer, weights.detach().cpu().double()
        self._known_steps: dict[Machine, _Steps] = {}
        self._known: dict[tuple[int, str, Evidence, _Plus], list[_Weighed]] = {}

    def path(
        self, underlying: Sequence[int], evidence: Evidence, generator: np.random.Generator | None = None
    ) -> Path | None:
        """The most probable path from an underlying string to one that the evidence accepts, or None.

        With a generator, a path drawn from the posterior: its surface follows p(x | u, evidence).
        """
        branches = self._transducer.branches
        ways = [self._ways(branch, evidence, _greatest if generator is None else sum) for branch in branches]
        totals = [
            self._chance(branch) * passes[0].weight(underlying)
            for branch, passes in zip(branches, ways, strict=True)
        ]
        if not any(totals):
            return None
        number, string = _chosen(totals, generator), tuple(underlying)
        origins: tuple[int | None, ...] = tuple(range(len(string)))
        edits: list[Made] = []
        for one in ways[number]:
            string, places, made = _traced(one.machine, string, one.walk(string, generator))
            edits += [edit._replace(places=_through(edit.places, origins)) for edit in made]
            origins = _through(places, origins)
        return Path(totals[number], branches[number].name, string, origins, tuple(edits))

    def outcomes(self, underlying: Sequence[int], leaving_out: Sequence[str] = ()) -> dict[String, float]:
        """p(x | u) of each surface string x, without some branches, if u is short: see `MOST_STRINGS`."""
        outcomes: defaultdict[String, float] = defaultdict(float)
        for branch in self._transducer.branches:
            if branch.name in leaving_out:
                continue
            strings: Mapping[String, float] = {tuple(underlying): self._chance(branch)}
            for machine in branch.machines:
                written: defaultdict[String, float] = defaultdict(float)
                for string, chance in strings.items():
                    for after, share in self._written(machine, string).items():
                        written[after] += chance * share
                strings = written
            for string, chance in strings.items():
                outcomes[string] += chance
        total = sum(outcomes.values())
        return {string: chance / total for string, chance in outcomes.items()}

    @cached_property
    def _values(self) -> Floats:
        return self._transducer.products.values(self._weights).numpy()

    def _chance(self, branch: Cascade) -> float:
        return float(self._values[branch.product])

    def _written(self, machine: Machine, string: String) -> dict[String, float]:
        """What a machine makes of a string."""
        if machine not in self._known_steps:
            self._known_steps[machine] = _steps(machine, self._values)
        steps = self._known_steps[machine]
        reached: dict[tuple[int, String], float] = {(0, ()): 1.0}
        written: defaultdict[String, float] = defaultdict(float)
        for token in machine.reads(string):
            reached = _onward(steps, reached, token)
        while reached and sum(reached.values()) > PRECISION:
            reached = _onward(steps, reached, END)
            for state, after in [place for place in reached if place[0] < 0]:
                written[after[::-1] if machine.from_right else after] += reached.pop((state, after))
        return dict(written)

    def _ways(self, branch: Cascade, evidence: Evidence, plus: "_Plus") -> list["_Weighed"]:
        """The ways of each pass of a branch, given what the passes behind it may read."""
        key = branch.product, branch.name, evidence, plus
        if key not in self._known:
            lattices, _ = self._transducer.lattices(evidence, branch)  # which may make products
            values = self._transducer.products.values(self._weights).numpy()
            self._known[key] = [_Weighed(lattice, values, plus) for lattice in lattices]
        return self._known[key]


_Steps = Mapping[tuple[int, int], Sequence[tuple[float, int, String]]]
"""For each state and token the possible moves: probability, target, and what they write."""


def _steps(machine: Machine, values: Floats) -> _Steps:
    steps: defaultdict[tuple[int, int], list[tuple[float, int, String]]] = defaultdict(list)
    columns = (column.tolist() for column in (machine.source, machine.token, machine.target))
    for source, token, target, chance, move in zip(
        *columns, machine.chances(values).tolist(), machine.moves, strict=True
    ):
        if chance > 0:
            steps[source, token].append((chance, target, move.written))
    return dict(steps)


def _onward(
    steps: _Steps, reached: Mapping[tuple[int, String], float], token: int
) -> dict[tuple[int, String], float]:
    """Make a move from each state and string written so far; the state of a machine that halts is -1."""
    further: defaultdict[tuple[int, String], float] = defaultdict(float)
    for (state, string), chance in reached.items():
        for share, target, written in steps.get((state, token), ()):
            further[target, string + written] += chance * share
    if len(further) > MOST_STRINGS:
        return dict(sorted(further.items(), key=lambda item: -item[1])[:MOST_STRINGS])
    return dict(further)


class _Arc(NamedTuple):
    """An arc of a lattice with its weight."""

    weight: float
    move: int
    target: int


_Plus = Callable[[Iterable[float]], float]
"""How the weights of several ways become one: `sum`, or `_greatest`."""


def _greatest(weights: Iterable[float]) -> float:
    return max(weights, default=0.0)


class _Weighed:
    """The paths of a machine through a `Lattice`; ``plus`` is the addition of the semiring."""

    def __init__(self, lattice: Lattice, values: Floats, plus: _Plus) -> None:
        self.machine, self._lattice, self._plus = lattice.machine, lattice, plus
        self._weight = values[lattice.product] * lattice.factor
        self._arcs: dict[tuple[int, int], list[_Arc]] = {}
        self.initial = self._ends(lattice.after.initial, values)
        self._final = self._ends(lattice.after.final, values)
        self._backward: dict[String, list[dict[int, float]]] = {}

    def _ends(self, ends: Ends, values: Floats) -> dict[int, float]:
        """The weight of starting, or of ending, in each state of the acceptor."""
        by_state: defaultdict[int, list[float]] = defaultdict(list)
        for state, weight in zip(ends.state.tolist(), values[ends.product] * ends.factor, strict=True):
            by_state[state].append(float(weight))
        return {state: self._plus(weights) for state, weights in by_state.items()}

    def weight(self, string: Sequence[int]) -> float:
        """The weights of all ways from a string, put together."""
        table = self.backward(string)[0]
        return self._plus(weight * table.get(place, 0.0) for place, weight in self.initial.items())

    def arcs(self, place: int, token: int) -> list[_Arc]:
        """The arcs that leave a place for a token."""
        if (place, token) not in self._arcs:
            arcs = self._lattice.at(place, token)
            columns = self._weight[arcs], self._lattice.move[arcs], self._lattice.target[arcs]
            every = map(_Arc, *(column.tolist() for column in columns))
            self._arcs[place, token] = [arc for arc in every if arc.weight > 0]
        return self._arcs[place, token]

    def backward(self, string: Sequence[int]) -> list[dict[int, float]]:
        """For each place before a token is read, and before the end, the weight of all that may follow."""
        if tuple(string) not in self._backward:
            self._backward[tuple(string)] = self._tables(tuple(string))
        return self._backward[tuple(string)]

    def _tables(self, string: String) -> list[dict[int, float]]:
        tokens = self.machine.reads(string)
        reached: list[set[int]] = [set(self.initial)]
        for token in tokens:
            reached.append({arc.target for place in reached[-1] for arc in self.arcs(place, token)})
        table = self._at_end(reached[-1])
        tables = [table]
        for token, places in zip(reversed(tokens), reversed(reached[:-1]), strict=True):
            table = {place: self._joined(place, token, table) for place in places}
            tables.insert(0, table)
        return tables

    def _joined(self, place: int, token: int, table: Mapping[int, float]) -> float:
        return self._plus(arc.weight * self.after(arc, table) for arc in self.arcs(place, token))

    def after(self, arc: _Arc, table: Mapping[int, float]) -> float:
        """The weight of all that may follow: the acceptor's final weight, where the machine has halted."""
        if arc.target < 0:
            return self._final.get(arc.target + self._lattice.after.num_states, 0.0)
        return table.get(arc.target, 0.0)

    def _at_end(self, places: set[int]) -> dict[int, float]:
        """The weights of ways from places behind the last token, where a machine may go on for long."""
        known, agenda = set(places), list(places)
        while agenda:
            for arc in self.arcs(agenda.pop(), END):
                if arc.target >= 0 and arc.target not in known:
                    known.add(arc.target)
                    agenda.append(arc.target)
        table = dict.fromkeys(known, 0.0)
        while True:
            better = {place: self._joined(place, END, table) for place in known}
            gain = max((better[place] - table[place] for place in known), default=0.0)
            table = better
            if gain <= PRECISION * max(table.values(), default=0.0):
                return table

    def walk(self, string: String, generator: np.random.Generator | None) -> list[tuple[int, int]]:
        """The tokens read and the moves made, with the greatest weight, or drawn in proportion to weights."""
        tables, tokens = self.backward(string), [*self.machine.reads(string), END]
        places = list(self.initial)
        weights = [weight * tables[0].get(place, 0.0) for place, weight in self.initial.items()]
        place, steps, number = places[_chosen(weights, generator)], [], 0
        while True:
            token, further = tokens[number], min(number + 1, len(tokens) - 1)
            arcs = self.arcs(place, token)
            weights = [arc.weight * self.after(arc, tables[further]) for arc in arcs]
            arc = arcs[_chosen(weights, generator)]
            steps.append((token, arc.move))
            if arc.target < 0:
                return steps
            place, number = arc.target, further


def _chosen(weights: Sequence[float], generator: np.random.Generator | None) -> int:
    if generator is None:
        return int(np.argmax(weights))
    chance = generator.random()
    if len(weights) == 1:
        return 0
    shares = np.cumsum(np.array(weights) / sum(weights))
    return int(np.searchsorted(shares / shares[-1], chance, side="right"))


def _through(places: Iterable[int | None], origins: Sequence[int | None]) -> tuple[Any, ...]:
    """Places in what a pass has read as places in what the first pass read."""
    return tuple(None if place is None else origins[place] for place in places)


def _traced(
    machine: Machine, string: String, steps: Iterable[tuple[int, int]]
) -> tuple[String, tuple[int | None, ...], list[Made]]:
    """The string that a pass wrote, as on the page, the origin of each token, and the edits: see `claims`."""
    places = iter(range(len(string))[::-1] if machine.from_right else range(len(string)))
    waiting: list[tuple[int, int]] = []
    written: list[tuple[int, int | None]] = []
    edits: list[Made] = []
    for token, number in steps:
        move, edit = machine.moves[number], machine.edits[number]
        if token >= 0:
            waiting.append((token, next(places)))
        if edit is not None:
            first, second = sorted(place for _, place in waiting[-2:])
            edits.append(Made(edit, (first, second)))
        claimed, waiting = claims(waiting, move)
        written += zip(move.written, claimed, strict=True)
    if machine.from_right:
        written.reverse()
    return tuple(token for token, _ in written), tuple(origin for _, origin in written), edits
