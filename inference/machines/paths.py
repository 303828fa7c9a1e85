"""What a channel did to one slot: its best moves, draws of its surface string, all its surface strings."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from torch import Tensor

from pyropunct.inference.machines.automata import Acceptor, Ends, reverse
from pyropunct.inference.machines.claims import claims
from pyropunct.inference.machines.evidence import Evidence, String
from pyropunct.inference.machines.moves import END, START, Machine
from pyropunct.inference.machines.products import Edit
from pyropunct.inference.machines.transducers import Cascade, Transducer
from pyropunct.inference.ragged import Floats

MOST_STRINGS = 5000
"""Unfinished strings, with the state of the machine, that are followed together: the most probable ones.  A
slot of seven tokens or fewer has no more, and so all sums are exact."""

PRECISION = 1e-12
"""Where a machine may write for ever behind the last token, sums leave out what is less probable."""


class Path(NamedTuple):
    """How a surface string came from an underlying string u.

    :ivar probability: the product of the probabilities of all moves, and the weight of the evidence.
    :ivar branch: the name of the branch that was taken.
    :ivar surface: the surface string, as on the page.
    :ivar origins: for each token of the surface string the place in u of the token that it is, or None.
    :ivar edits: the edits, in the order in which they were made.
    """

    probability: float
    branch: str
    surface: String
    origins: tuple[int | None, ...]
    edits: tuple["Made", ...]


class Made(NamedTuple):
    """An edit that was made.

    :ivar edit: the edit, as seen on the page.
    :ivar places: the places in u of its two tokens, None for one that is no token of u.
    """

    edit: Edit
    places: tuple[int | None, int | None]


class Ways:
    """The ways of a transducer with given weights through single strings, in plain numbers.

    :param transducer: the transducer.
    :param weights: (P,) its weights, in one line.
    """

    def __init__(self, transducer: Transducer, weights: Tensor) -> None:
        self._transducer, self._weights = transducer, weights.detach().cpu().double()
        self._known: dict[int, _Steps] = {}
        self._known_lattices: dict[tuple[int, str, Evidence, _Plus], list[_Lattice]] = {}

    def best(self, underlying: Sequence[int], evidence: Evidence) -> Path | None:
        """The single most probable way from an underlying string to one that the evidence accepts.

        None if there is no way.
        """
        found = []
        for branch in self._transducer.branches:
            lattices = self._lattices(branch, evidence, _greatest)
            total = self._chance(branch) * lattices[0].weight(underlying)
            if total > 0:
                found.append((total, branch, lattices))
        if not found:
            return None
        total, branch, lattices = max(found, key=lambda each: each[0])
        return _path(total, branch, underlying, lattices, None)

    def draw(
        self, underlying: Sequence[int], evidence: Evidence, generator: np.random.Generator
    ) -> Path | None:
        """A way drawn from the posterior: its surface string is drawn from p(x | u, evidence).

        None if there is no way.
        """
        branches = self._transducer.branches
        lattices = [self._lattices(branch, evidence, sum) for branch in branches]
        weights = [own[0].weight(underlying) for own in lattices]
        totals = [self._chance(branch) * weight for branch, weight in zip(branches, weights, strict=True)]
        if not any(totals):
            return None
        number = _chosen(totals, generator)
        return _path(totals[number], branches[number], underlying, lattices[number], generator)

    def outcomes(self, underlying: Sequence[int], leaving_out: Sequence[str] = ()) -> dict[String, float]:
        """p(x | u) of each surface string x, if u is not too long; see `MOST_STRINGS`.

        :param leaving_out: names of branches that are never taken.
        """
        found: defaultdict[String, float] = defaultdict(float)
        for branch in self._transducer.branches:
            if branch.name in leaving_out:
                continue
            strings = {tuple(underlying): self._chance(branch)}
            for machine in branch.machines:
                written: defaultdict[String, float] = defaultdict(float)
                for string, chance in strings.items():
                    for after, share in _outcomes(self._steps(machine), string, machine.from_right).items():
                        written[after] += chance * share
                strings = dict(written)
            for string, chance in strings.items():
                found[string] += chance
        total = sum(found.values())
        return {string: chance / total for string, chance in found.items()}

    @cached_property
    def _values(self) -> Floats:
        return self._transducer.products.values(self._weights).numpy()

    def _chance(self, branch: Cascade) -> float:
        return float(self._values[branch.product])

    def _steps(self, machine: Machine) -> "_Steps":
        if id(machine) not in self._known:  # which the transducer keeps alive
            self._known[id(machine)] = _steps(machine, self._values)
        return self._known[id(machine)]

    def _lattices(self, branch: Cascade, evidence: Evidence, plus: "_Plus") -> list["_Lattice"]:
        """For each pass what it may do, given what the passes behind it may read."""
        key = branch.product, branch.name, evidence, plus
        if key not in self._known_lattices:
            self._known_lattices[key] = self._made_lattices(branch, evidence, plus)
        return self._known_lattices[key]

    def _made_lattices(self, branch: Cascade, evidence: Evidence, plus: "_Plus") -> list["_Lattice"]:
        acceptors = self._transducer.acceptors(evidence, branch)
        # Composition may have made new products.
        values = self._transducer.products.values(self._weights).numpy()
        return [
            _Lattice(machine, self._steps(machine), after, values, plus)
            for machine, after in zip(branch.machines, acceptors[1:], strict=True)
        ]


class _Step(NamedTuple):
    """A move, with its probability.  ``target`` is -1 if it halts."""

    chance: float
    written: String
    target: int
    edit: Edit | None


_Steps = Mapping[tuple[int, int], Sequence[_Step]]
"""For each state, -1 at the start, and token the possible moves."""


def _steps(machine: Machine, values: Floats) -> _Steps:
    chances = values[machine.product] * machine.factor
    steps: defaultdict[tuple[int, int], list[_Step]] = defaultdict(list)
    for move in np.flatnonzero(chances > 0).tolist():
        written = machine.strings.strings[machine.written[move]]
        step = _Step(float(chances[move]), written, int(machine.target[move]), machine.edits[move])
        steps[int(machine.source[move]), int(machine.token[move])].append(step)
    return dict(steps)


def _outcomes(steps: _Steps, underlying: String, from_right: bool) -> dict[String, float]:
    """What a machine makes of a string."""
    reached: dict[tuple[int, String], float] = {(-1, ()): 1.0}
    found: defaultdict[String, float] = defaultdict(float)
    for token in (START, *(underlying[::-1] if from_right else underlying)):
        reached = _onward(steps, reached, token)
    while reached and sum(reached.values()) > PRECISION:
        reached = _onward(steps, reached, END)
        for key in [key for key in reached if key[0] == -1]:
            found[key[1][::-1] if from_right else key[1]] += reached.pop(key)
    return dict(found)


def _onward(
    steps: _Steps, reached: Mapping[tuple[int, String], float], token: int
) -> dict[tuple[int, String], float]:
    """Make one move from each state and string written so far."""
    further: defaultdict[tuple[int, String], float] = defaultdict(float)
    for (state, string), chance in reached.items():
        for step in steps.get((state, token), ()):
            further[step.target, string + step.written] += chance * step.chance
    if len(further) > MOST_STRINGS:
        return dict(sorted(further.items(), key=lambda item: -item[1])[:MOST_STRINGS])
    return dict(further)


_Place = tuple[int, int]
"""A state of the machine, -1 before the start, and one of the acceptor."""


class _Onward(NamedTuple):
    """A step of a machine together with the way of the acceptor through what it writes."""

    step: _Step
    weight: float
    target: _Place


_Plus = Callable[[Iterable[float]], float]
"""How the weights of several ways become one: `sum`, or `_greatest`."""


def _greatest(weights: Iterable[float]) -> float:
    return max(weights, default=0.0)


class _Lattice:
    """A machine and an acceptor of what it writes: all that they can do together.

    :param machine: the machine.
    :param steps: its moves.
    :param after: the acceptor, of strings as on the page.
    :param values: the values of the products of weights.
    :param plus: the addition of the semiring.
    """

    def __init__(self, machine: Machine, steps: _Steps, after: Acceptor, values: Floats, plus: _Plus) -> None:
        self.from_right, self._steps, self._plus = machine.from_right, steps, plus
        after = reverse(after) if self.from_right else after
        self._arcs: defaultdict[tuple[int, int], list[tuple[int, float]]] = defaultdict(list)
        weights = (values[after.arcs.product] * after.arcs.factor).tolist()
        columns = (column.tolist() for column in after.arcs[:3])
        for token, source, target, weight in zip(*columns, weights, strict=True):
            self._arcs[source, token].append((target, weight))
        self.initial, self._final = self._ends(after.initial, values), self._ends(after.final, values)
        self._onward: dict[tuple[_Place, int], list[_Onward]] = {}
        self._backward: dict[String, list[dict[_Place, float]]] = {}

    def _ends(self, ends: Ends, values: Floats) -> dict[int, float]:
        """The weight of starting, or of ending, in each state."""
        found: defaultdict[int, list[float]] = defaultdict(list)
        weights = values[ends.product] * ends.factor
        for state, weight in zip(ends.state.tolist(), weights.tolist(), strict=True):
            found[state].append(weight)
        return {state: self._plus(some) for state, some in found.items()}

    def weight(self, underlying: Sequence[int]) -> float:
        """The weights of all ways, put together."""
        table = self.backward(underlying)[0]
        return self._plus(weight * table.get((-1, e), 0.0) for e, weight in self.initial.items())

    def read(self, underlying: Sequence[int]) -> list[int]:
        """The tokens in the order of reading, the start before them."""
        return [START, *(underlying[::-1] if self.from_right else underlying)]

    def backward(self, underlying: Sequence[int]) -> list[dict[_Place, float]]:
        """For each place before a token is read, and before the end, the weight of all that may follow."""
        if tuple(underlying) not in self._backward:
            self._backward[tuple(underlying)] = self._tables(underlying)
        return self._backward[tuple(underlying)]

    def _tables(self, underlying: Sequence[int]) -> list[dict[_Place, float]]:
        tokens = self.read(underlying)
        reached: list[set[_Place]] = [{(-1, e) for e in self.initial}]
        for token in tokens:
            reached.append({way.target for place in reached[-1] for way in self.onward(place, token)})
        table = self._at_end(reached[-1])
        tables = [table]
        for token, places in zip(reversed(tokens), reversed(reached[:-1]), strict=True):
            table = {place: self._joined(place, token, table) for place in places}
            tables.insert(0, table)
        return tables

    def onward(self, place: _Place, token: int) -> list[_Onward]:
        """What may be done at a place."""
        if (place, token) not in self._onward:
            self._onward[place, token] = self._steps_on(place, token)
        return self._onward[place, token]

    def _steps_on(self, place: _Place, token: int) -> list[_Onward]:
        state, e = place
        found = []
        for step in self._steps.get((state, token), ()):
            ways = [(e, step.chance)]
            for written in step.written:
                ways = [(f, w * v) for d, w in ways for f, v in self._arcs.get((d, written), ())]
            found += [_Onward(step, weight, (step.target, f)) for f, weight in ways]
        return found

    def _joined(self, place: _Place, token: int, table: Mapping[_Place, float]) -> float:
        return self._plus(way.weight * self.after(way, table) for way in self.onward(place, token))

    def after(self, way: _Onward, table: Mapping[_Place, float]) -> float:
        """The weight of what may follow: the acceptor's final weight, where the machine has halted."""
        halted = way.step.target < 0
        return self._final.get(way.target[1], 0.0) if halted else table.get(way.target, 0.0)

    def _at_end(self, places: set[_Place]) -> dict[_Place, float]:
        """The weights of ways from places behind the last token, where a machine may go on for long."""
        known, agenda = set(places), list(places)
        while agenda:
            for way in self.onward(agenda.pop(), END):
                if way.target[0] >= 0 and way.target not in known:
                    known.add(way.target)
                    agenda.append(way.target)
        table = dict.fromkeys(known, 0.0)
        while True:
            better = {place: self._joined(place, END, table) for place in known}
            gain = max((better[place] - table[place] for place in known), default=0.0)
            table = better
            if gain <= PRECISION * max(table.values(), default=0.0):
                return table


def _path(
    probability: float,
    branch: Cascade,
    underlying: Sequence[int],
    lattices: Sequence[_Lattice],
    generator: np.random.Generator | None,
) -> Path:
    """Follow the passes of a branch: the best way, or with a generator a draw."""
    string = tuple(underlying)
    origins: tuple[int | None, ...] = tuple(range(len(string)))
    edits: list[Made] = []
    for lattice in lattices:
        string, places, made = _written(string, _walk(lattice, string, generator), lattice.from_right)
        edits += [one._replace(places=_through(one.places, origins)) for one in made]
        origins = tuple(_through(places, origins))
    return Path(probability, branch.name, string, origins, tuple(edits))


def _through(places: Iterable[int | None], origins: Sequence[int | None]) -> tuple[Any, ...]:
    """Places in what a pass has read as places in what the first one read."""
    return tuple(None if place is None else origins[place] for place in places)


def _walk(
    lattice: _Lattice, underlying: String, generator: np.random.Generator | None
) -> list[tuple[int, _Step]]:
    """The tokens read and the moves made, with the greatest weight, or drawn in proportion to weights."""
    tables = lattice.backward(underlying)
    tokens = [*lattice.read(underlying), END]
    places = [(-1, e) for e in lattice.initial]
    weights = [lattice.initial[e] * tables[0].get((-1, e), 0.0) for e in lattice.initial]
    place, steps, number = places[_chosen(weights, generator)], [], 0
    while True:
        token, table = tokens[number], tables[min(number + 1, len(tables) - 1)]
        ways = lattice.onward(place, token)
        way = ways[_chosen([each.weight * lattice.after(each, table) for each in ways], generator)]
        steps.append((token, way.step))
        if way.step.target < 0:
            return steps
        place, number = way.target, min(number + 1, len(tokens) - 1)


def _chosen(weights: Sequence[float], generator: np.random.Generator | None) -> int:
    if generator is None:
        return int(np.argmax(weights))
    return int(generator.choice(len(weights), p=np.array(weights) / sum(weights)))


def _written(
    string: String, steps: Sequence[tuple[int, _Step]], from_right: bool
) -> tuple[String, tuple[int | None, ...], list[Made]]:
    """What a pass wrote, as on the page, which token of its string each token is, and the edits that it made.

    See `pyropunct.inference.machines.claims`.
    """
    places = iter(range(len(string))[::-1] if from_right else range(len(string)))
    waiting: list[tuple[int, int]] = []
    written: list[tuple[int, int | None]] = []
    edits: list[Made] = []
    for token, step in steps:
        if token >= 0:
            waiting.append((token, next(places)))
        edit = step.edit
        if edit is not None:
            edits.append(Made(edit, tuple(sorted(place for _, place in waiting[-2:]))))  # type: ignore[arg-type]  # a pair
            edit = edit.mirrored() if from_right else edit
        claimed = claims(waiting, step.written, edit)
        written += zip(step.written, claimed, strict=True)
    if from_right:
        written.reverse()
    return tuple(one for one, _ in written), tuple(origin for _, origin in written), edits
