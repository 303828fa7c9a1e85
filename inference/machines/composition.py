"""What a machine may have read: its composition with an acceptor of the strings that it writes."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pyropunct.inference.machines.automata import Acceptor, Arcs, Ends, reached, reverse, trimmed
from pyropunct.inference.machines.evidence import Evidence, String
from pyropunct.inference.machines.moves import END, START, Machine
from pyropunct.inference.machines.products import EMPTY_PRODUCT, Products
from pyropunct.inference.ragged import Floats, Ints, runs, starts_of


def as_acceptor(evidence: Evidence) -> Acceptor:
    """Evidence as arrays."""

    def ends(states: Sequence[tuple[int, float]]) -> Ends:
        state, weight = np.array(states, np.float64).reshape(-1, 2).T
        return Ends(state.astype(np.int64), np.full(len(state), EMPTY_PRODUCT), weight.copy())

    columns = np.array(evidence.steps, np.float64).reshape(-1, 4).T
    token, source, target = (column.astype(np.int64) for column in columns[:3])
    arcs = Arcs(token, source, target, np.full(len(token), EMPTY_PRODUCT), columns[3].copy())
    return Acceptor(evidence.num_states, ends(evidence.initial), ends(evidence.final), arcs)


class Lattice(NamedTuple):
    """A machine and an acceptor of the strings that it writes, run together.

    A *place* is a state q of the machine with a state e of the acceptor: the number q S + e, where the
    acceptor has S states.  The machine begins at the places e, since its first state is 0.  It has halted at
    the places below zero, e - S.

    :ivar after: the acceptor, in the order in which the machine writes.
    :ivar start: (M + 1,) where the arcs of each of the machine's moves start.
    :ivar move: (A,) the move on each arc, from place ``source`` to ``target``.
    :ivar product: (A,) the products of weights of the moves, and of the acceptor's arcs for what they write.
    :ivar factor: (A,) the numbers by which these are multiplied.
    """

    machine: Machine
    after: Acceptor
    start: Ints
    move: Ints
    source: Ints
    target: Ints
    product: Ints
    factor: Floats

    def at(self, place: int, token: int) -> Ints:
        """The arcs that leave a place when the machine reads a token."""
        moves = self.machine.at(place // self.after.num_states, token)
        first, last = self.start[moves.start], self.start[moves.stop]
        return first + np.flatnonzero(self.source[first:last] == place)

    def part(self, arcs: Ints) -> tuple[Ints, Ints, Ints, Floats]:
        """Source, target, product and factor of arcs with these numbers."""
        return self.source[arcs], self.target[arcs], self.product[arcs], self.factor[arcs]


def compose(machine: Machine, after: Acceptor, products: Products) -> Lattice:
    """A machine and an acceptor of strings on the page, run together (Mohri 2009, "Weighted automata
    algorithms").
    """
    after = reverse(after) if machine.from_right else after
    ways = _ways(machine.strings, after, products)
    counts = np.diff(ways.start)[machine.written]
    move = np.repeat(np.arange(len(counts)), counts)
    way = runs(ways.start[machine.written], counts)
    size = after.num_states
    return Lattice(
        machine,
        after,
        starts_of(counts),
        move,
        machine.source[move] * size + ways.source[way],
        machine.target[move] * size + ways.target[way],
        products.times(machine.product[move], ways.product[way]),
        machine.factor[move] * ways.factor[way],
    )


def preimage(lattice: Lattice, products: Products) -> Acceptor:
    """Accepts each string u with the weight sum over v of p(v | u) weight(v), for accepted strings v.

    :raises ValueError: if, behind the last token, the machine writes tokens with learned weights.
    """
    machine, after = lattice.machine, lattice.after
    token, size = machine.token[lattice.move], after.num_states
    reading = np.flatnonzero(token >= 0)
    arcs = Arcs(token[reading], *lattice.part(reading))

    source, target, product, factor = lattice.part(np.flatnonzero(token == START))
    initial = _carried(after.initial, source, target, product, factor, products)
    source, target, product, factor = lattice.part(np.flatnonzero((token == END) & (lattice.target < 0)))
    final = _carried(after.final, target + size, source, product, factor, products)
    further = np.flatnonzero((token == END) & (lattice.target >= 0))
    if len(further) and len(final.state):
        final = _behind_the_end(final, *lattice.part(further))
    before = trimmed(Acceptor(len(machine.states) * size, initial, final, arcs))
    return reverse(before) if machine.from_right else before


def _carried(ends: Ends, at: Ints, place: Ints, product: Ints, factor: Floats, products: Products) -> Ends:
    """Ends of the acceptor times the arcs that meet them ``at`` its states, as ends at ``place``."""
    end, arc = _matches(ends.state, at)
    both = products.times(ends.product[end], product[arc])
    return Ends(place[arc], both, ends.factor[end] * factor[arc])


def _matches(left: Ints, right: Ints) -> tuple[Ints, Ints]:
    """All pairs of places, one in each array, that hold the same number."""
    order = np.argsort(right, kind="stable")
    first, last = (np.searchsorted(right[order], left, side) for side in ("left", "right"))
    return np.repeat(np.arange(len(left)), last - first), order[runs(first, last - first)]


class _Ways(NamedTuple):
    """The ways of an acceptor from state to state by which it reads strings, string after string."""

    start: Ints
    source: Ints
    target: Ints
    product: Ints
    factor: Floats


def _ways(strings: Sequence[String], after: Acceptor, products: Products) -> _Ways:
    """The ways of all strings that a machine writes; those of a longer string extend a shorter one's."""
    states, arcs = np.arange(after.num_states), after.arcs
    by_token = {token: np.flatnonzero(arcs.token == token) for token in np.unique(arcs.token).tolist()}
    ways: dict[String, tuple[Ints, Ints, Ints, Floats]] = {
        (): (states, states, np.full(len(states), EMPTY_PRODUCT), np.ones(len(states)))
    }
    sizes = np.zeros(len(strings), np.int64)
    sizes[0] = len(states)
    for number, string in enumerate(strings[1:], 1):
        shorter, of_token = ways.get(string[:-1]), by_token.get(string[-1])
        if shorter is None or of_token is None:
            continue
        source, target, product, factor = shorter
        way, place = _matches(target, arcs.source[of_token])
        if len(way):
            arc, sizes[number] = of_token[place], len(way)
            both = products.times(product[way], arcs.product[arc])
            ways[string] = source[way], arcs.target[arc], both, factor[way] * arcs.factor[arc]
    return _Ways(starts_of(sizes), *(np.concatenate(column) for column in zip(*ways.values(), strict=True)))


def _behind_the_end(final: Ends, source: Ints, target: Ints, product: Ints, factor: Floats) -> Ends:
    """The ends before moves that go on behind the last token: (1 - C)^-1 F for each product of weights.

    C are the chances of these moves, F those of halting.
    """
    if product.any():
        raise ValueError(
            "behind the last token the machine writes by itself what has weights of its own: "
            "such evidence cannot be summed over"
        )
    states, inverse = np.unique(np.concatenate([final.state, source, target]), return_inverse=True)
    halting, begin, end = np.split(inverse.reshape(-1), [len(final.state), len(final.state) + len(source)])
    parts = []
    for halt_product in np.unique(final.product).tolist():
        of_product = final.product == halt_product
        at_once = np.bincount(halting[of_product], final.factor[of_product], len(states)).astype(np.float64)
        weights = _closed(at_once, begin, end, factor)
        possible = np.flatnonzero(weights > 0)
        parts.append((states[possible], np.full(len(possible), halt_product), weights[possible]))
    return Ends._make(np.concatenate(columns) for columns in zip(*parts, strict=True))


def _closed(weights: Floats, begin: Ints, end: Ints, factor: Floats) -> Floats:
    """(1 - C)^-1 F: adds up F + C F + ..., or solves for it if moves form a loop; zero where no way halts."""
    total, term = weights.copy(), weights
    for _ in range(len(weights)):
        term = np.bincount(begin, factor * term[end], len(weights)).astype(np.float64)
        if not term.any():
            return total
        total += term
    possible = factor > 0
    halting = reached(len(weights), np.flatnonzero(weights), end[possible], begin[possible])
    among = possible & halting[begin] & halting[end]
    matrix = np.eye(len(weights))
    np.subtract.at(matrix, (begin[among], end[among]), factor[among])
    return np.where(halting, np.linalg.solve(matrix, weights), 0.0)
