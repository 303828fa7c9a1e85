"""What a machine may have read: the composition of a machine with an acceptor of what it writes."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pyropunct.inference.machines.automata import Acceptor, Arcs, Ends, reached, trimmed
from pyropunct.inference.machines.evidence import Evidence
from pyropunct.inference.machines.moves import END, START, Machine, Written
from pyropunct.inference.machines.products import ONE, Products
from pyropunct.inference.ragged import Floats, Ints, runs, starts_of


def as_acceptor(evidence: Evidence) -> Acceptor:
    """Evidence as arrays."""

    def ends(states: Sequence[tuple[int, float]]) -> Ends:
        state, weight = np.array(states, np.float64).reshape(-1, 2).T
        return Ends(state.astype(np.int64), np.full(len(state), ONE), weight.copy())

    columns = np.array(evidence.steps, np.float64).reshape(-1, 4).T
    token, source, target = (column.astype(np.int64) for column in columns[:3])
    arcs = Arcs(token, source, target, np.full(len(token), ONE), columns[3].copy())
    return Acceptor(evidence.num_states, ends(evidence.initial), ends(evidence.final), arcs)


class _Ways(NamedTuple):
    """The ways of an acceptor from state to state by which it reads strings, string after string.

    :ivar start: where those of each string start.
    """

    start: Ints
    source: Ints
    target: Ints
    product: Ints
    factor: Floats


def preimage(machine: Machine, after: Acceptor, products: Products) -> Acceptor:
    """All strings that the machine may have read to write a string that ``after`` accepts.

    The weight of a string u is the sum over strings v of p(v | u) times the weight of v::

        states (s, e): the machine is in state s, and what it has written leads ``after`` to state e

    Source: Mohri (2009, "Weighted automata algorithms", composition).

    :param products: takes the products of weights that arise.
    :raises ValueError: if the machine goes on behind the last token to write what has learned weights.
    """
    size = after.num_states
    ways = _ways(machine.strings, after, products)
    at_start, at_end = machine.token == START, machine.token == END

    def product_arcs(moves: Ints) -> tuple[Ints, Ints, Ints, Ints, Floats]:
        """For each way of each move: the move, both states of ``after``, product and factor."""
        written = machine.written[moves]
        counts = np.diff(ways.start)[written]
        move, way = np.repeat(moves, counts), runs(ways.start[written], counts)
        product = products.times(machine.product[move], ways.product[way])
        return move, ways.source[way], ways.target[way], product, machine.factor[move] * ways.factor[way]

    move, e, f, product, factor = product_arcs(np.flatnonzero(~at_start & ~at_end))
    arcs = Arcs(
        machine.token[move], machine.source[move] * size + e, machine.target[move] * size + f, product, factor
    )
    move, e, f, product, factor = product_arcs(np.flatnonzero(at_start))
    one, other = _matches(after.initial.state, e)
    initial = Ends(
        machine.target[move[other]] * size + f[other],
        products.times(after.initial.product[one], product[other]),
        after.initial.factor[one] * factor[other],
    )
    move, e, f, product, factor = product_arcs(np.flatnonzero(at_end & (machine.target < 0)))
    one, other = _matches(after.final.state, f)
    final = Ends(
        machine.source[move[other]] * size + e[other],
        products.times(after.final.product[one], product[other]),
        after.final.factor[one] * factor[other],
    )
    move, e, f, product, factor = product_arcs(np.flatnonzero(at_end & (machine.target >= 0)))
    if len(move):
        further = machine.source[move] * size + e, machine.target[move] * size + f, product, factor
        final = _behind_the_end(final, *further, products)
    return trimmed(Acceptor(len(machine.names) * size, initial, final, arcs))


def _matches(left: Ints, right: Ints) -> tuple[Ints, Ints]:
    """All pairs of places, in the one array and in the other, that hold the same number."""
    order = np.argsort(right, kind="stable")
    first, last = (np.searchsorted(right[order], left, side) for side in ("left", "right"))
    return np.repeat(np.arange(len(left)), last - first), order[runs(first, last - first)]


def _ways(written: Written, after: Acceptor, products: Products) -> _Ways:
    """The ways of all strings that a machine writes; those of a longer one go on from a shorter one's."""
    states, arcs = np.arange(after.num_states), after.arcs
    tokens = np.unique(arcs.token).tolist()
    found = {0: (states, states, np.full(len(states), ONE), np.ones(len(states)))}
    agenda = [0]
    for string in agenda:
        source, target, product, factor = found[string]
        for token in tokens:
            longer = written.longer(string, token)
            if longer is None:
                continue
            own = np.flatnonzero(arcs.token == token)
            one, other = _matches(target, arcs.source[own])
            if not len(one):
                continue
            arc = own[other]
            both = products.times(product[one], arcs.product[arc])
            found[longer] = source[one], arcs.target[arc], both, factor[one] * arcs.factor[arc]
            agenda.append(longer)
    sizes = np.zeros(len(written.strings), np.int64)
    sizes[agenda] = [len(found[string][0]) for string in agenda]
    columns = zip(*(found[string] for string in sorted(agenda)), strict=True)
    return _Ways(starts_of(sizes), *(np.concatenate(column) for column in columns))


def _behind_the_end(
    final: Ends, source: Ints, target: Ints, product: Ints, factor: Floats, products: Products
) -> Ends:
    """Final weights, when moves behind the last token may come before the one that halts.

    With C[s, t] the chances of these moves and F[t] the weights of halting, the sum of all ways is
    F + C F + C C F + ... = (1 - C)^-1 F, for each product of learned weights.
    """
    states, inverse = np.unique(np.concatenate([final.state, source, target]), return_inverse=True)
    halting, begin, end = np.split(inverse.reshape(-1), [len(final.state), len(final.state) + len(source)])
    if product.any():
        raise ValueError(
            "behind the last token the machine writes by itself what has weights of its own: "
            "such evidence cannot be summed over"
        )
    found = []
    for which in np.unique(final.product).tolist():
        own = final.product == which
        weights: Floats = np.bincount(halting[own], final.factor[own], len(states)).astype(np.float64)
        found.append((which, _closed(weights, begin, end, factor)))
    places = [np.flatnonzero(weights > 0) for _, weights in found]
    return Ends(
        np.concatenate([states[place] for place in places]),
        np.concatenate([np.full(len(place), which) for (which, _), place in zip(found, places, strict=True)]),
        np.concatenate([weights[place] for (_, weights), place in zip(found, places, strict=True)]),
    )


def _closed(weights: Floats, begin: Ints, end: Ints, factor: Floats) -> Floats:
    """(1 - C)^-1 F: by adding up its terms, which end if no way leads back to where it began.

    Where none of the ways halts, the sum is zero; the chances of all others die out.
    """
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
