"""Weighted automata over underlying strings, one for each surface string or other evidence."""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pyropunct.inference.machines.products import Products
from pyropunct.inference.ragged import Floats, Ints, runs, starts_of


class Arcs(NamedTuple):
    """The arcs of an acceptor, from state to state, each with the token that it reads.

    :ivar product: (A,) products of a channel's weights; see `pyropunct.inference.machines.products.Products`.
    :ivar factor: (A,) the numbers by which these are multiplied.
    """

    token: Ints
    source: Ints
    target: Ints
    product: Ints
    factor: Floats


class Ends(NamedTuple):
    """States where paths may start or end; weights of repeated states add up.

    :ivar product: the products of a channel's weights for starting, or ending, there, times ``factor``.
    """

    state: Ints
    product: Ints
    factor: Floats


class Acceptor(NamedTuple):
    """A weighted automaton over strings of tokens.

    Its weights are products of named weights, so one acceptor serves all values of a channel's parameters.
    States are numbers from 0. Several arcs may join the same two states; their weights then add up.
    """

    num_states: int
    initial: Ends
    final: Ends
    arcs: Arcs


def reverse(acceptor: Acceptor) -> Acceptor:
    """The acceptor that reads every string from its other end."""
    arcs = acceptor.arcs._replace(source=acceptor.arcs.target, target=acceptor.arcs.source)
    return Acceptor(acceptor.num_states, acceptor.final, acceptor.initial, arcs)


def trimmed(acceptor: Acceptor) -> Acceptor:
    """The acceptor without states and arcs that lie on no path of positive weight from a start to an end."""
    _, initial, final, arcs = acceptor
    initial, final = (_kept(ends, ends.factor > 0) for ends in (initial, final))
    arcs = _kept(arcs, arcs.factor > 0)
    alive = reached(acceptor.num_states, initial.state, arcs.source, arcs.target)
    alive &= reached(acceptor.num_states, final.state, arcs.target, arcs.source)
    number = np.cumsum(alive) - 1
    arcs = _kept(arcs, alive[arcs.source] & alive[arcs.target])
    arcs = arcs._replace(source=number[arcs.source], target=number[arcs.target])
    initial, final = (_kept(ends, alive[ends.state]) for ends in (initial, final))
    initial, final = (ends._replace(state=number[ends.state]) for ends in (initial, final))
    return Acceptor(int(alive.sum()), initial, final, arcs)


Columns = TypeVar("Columns", Arcs, Ends)


def _kept(columns: Columns, rows: NDArray[np.bool_]) -> Columns:
    rows_of: Any = (column[rows] for column in columns)
    return type(columns)(*rows_of)


def reached(num_states: int, first: Ints, source: Ints, target: Ints) -> NDArray[np.bool_]:
    """(num_states,) whether arcs lead to each state from the first states, which count too."""
    order = np.argsort(source, kind="stable")
    start, target = np.searchsorted(source[order], np.arange(num_states + 1)), target[order]
    reached, new = np.zeros(num_states, np.bool_), np.unique(first)
    while len(new):
        reached[new] = True
        further = target[runs(start[new], start[new + 1] - start[new])]
        new = np.unique(further[~reached[further]])
    return reached


def unite(parts: Sequence[tuple[int, Acceptor]], products: Products) -> Acceptor:
    """The union of acceptors, each with a product of weights for starting in it; equal strings add up."""
    shifts = starts_of([acceptor.num_states for _, acceptor in parts]).tolist()
    initial, final, arcs = [], [], []
    for shift, (product, part) in zip(shifts, parts, strict=False):
        weighted = products.times(np.full(len(part.initial.state), product), part.initial.product)
        initial.append(Ends(part.initial.state + shift, weighted, part.initial.factor))
        final.append(part.final._replace(state=part.final.state + shift))
        arcs.append(part.arcs._replace(source=part.arcs.source + shift, target=part.arcs.target + shift))
    return Acceptor(shifts[-1], _joined(initial), _joined(final), _joined(arcs))


def _joined(parts: Sequence[Columns]) -> Columns:
    columns: Any = (np.concatenate(column) for column in zip(*parts, strict=True))
    return type(parts[0])(*columns)


class Packed(NamedTuple):
    """An `Acceptor` with its arcs sorted by token; those of each start at ``arc_start``, (num_tokens + 1,).

    :ivar fixed: whether all arcs have the factor 1.
    :ivar log_scale: the logarithm of a factor that the weight of every string has besides.
    """

    acceptor: Acceptor
    arc_start: Ints
    fixed: bool
    log_scale: float

    @property
    def num_states(self) -> int:
        """The number of states; one at least, so that an acceptor of no string has a state too."""
        return max(1, self.acceptor.num_states)


def pack(acceptor: Acceptor, num_tokens: int, log_scale: float = 0.0) -> Packed:
    """Sort the arcs of an acceptor by token."""
    order = np.argsort(acceptor.arcs.token, kind="stable")
    arcs = Arcs._make(np.ascontiguousarray(column[order]) for column in acceptor.arcs)
    start = np.searchsorted(arcs.token, np.arange(num_tokens + 1))
    return Packed(acceptor._replace(arcs=arcs), start, bool((arcs.factor == 1).all()), log_scale)


class Automata(NamedTuple):
    """K automata side by side, with their weights.

    :ivar state_start: (K + 1,) the first state of each automaton in ``initial`` and ``final``, (..., Q).
    :ivar arc_start: (K * num_tokens + 1,) the first arc of each automaton and token.
    :ivar source: (A,) states where arcs begin, counted within their automaton; ``target``, where they end.
    :ivar weight: (..., A) weights of the arcs.
    :ivar log_scale: (K,) the logarithm of a factor that the weights of each automaton's strings have besides;
        see `pyropunct.inference.machines.transducers.scaled`.
    """

    num_tokens: int
    state_start: Ints
    arc_start: Ints
    source: Ints
    target: Ints
    weight: Tensor
    initial: Tensor
    final: Tensor
    log_scale: Floats

    def matrices(self) -> Tensor:
        """(..., K, num_tokens, Q, Q) the matrices of all tokens, padded with zeros to the most states Q."""
        states = int(np.diff(self.state_start).max())
        automata = len(self.state_start) - 1
        block = np.repeat(np.arange(automata * self.num_tokens), np.diff(self.arc_start))
        place = torch.from_numpy((block * states + self.source) * states + self.target)
        flat = self.weight.new_zeros((*self.weight.shape[:-1], automata * self.num_tokens * states**2))
        flat = flat.index_add(-1, place.to(flat.device), self.weight)
        return flat.reshape(*flat.shape[:-1], automata, self.num_tokens, states, states)

    def behind(self, token: int, some: NDArray[np.bool_]) -> "Automata":
        """The automata, some of which have read a token.

        Their initial weights are those of the states that it leads to.

        :param some: (K,) whether each automaton has read it.
        """
        numbers = np.flatnonzero(some)
        if not len(numbers):
            return self
        block = numbers * self.num_tokens + token
        sizes = self.arc_start[block + 1] - self.arc_start[block]
        arcs, first = runs(self.arc_start[block], sizes), np.repeat(self.state_start[numbers], sizes)
        # An arc from elsewhere would have the gradient 0 times infinity.
        begins = (self.initial.detach() != 0).reshape(-1, self.initial.shape[-1]).any(0).cpu().numpy()
        starts = begins[first + self.source[arcs]]
        arcs, first = arcs[starts], first[starts]
        arc, source, target = (
            torch.from_numpy(places).to(self.weight.device)
            for places in (arcs, first + self.source[arcs], first + self.target[arcs])
        )
        flow = self.initial[..., source] * self.weight[..., arc]
        stays = torch.from_numpy(np.repeat(~some, np.diff(self.state_start))).to(self.initial.device)
        others = torch.where(stays, self.initial, 0.0).expand(*flow.shape[:-1], -1)
        return self._replace(initial=others.index_add(-1, target, flow))

    def end_vectors(self) -> tuple[Tensor, Tensor]:
        """Initial and final weights of every automaton, (..., K, Q) each, padded with zeros."""
        sizes = np.diff(self.state_start)
        states = int(sizes.max())
        place = np.concatenate([number * states + np.arange(size) for number, size in enumerate(sizes)])

        def spread(values: Tensor) -> Tensor:
            flat = values.new_zeros((*values.shape[:-1], len(sizes) * states))
            flat = flat.index_add(-1, torch.from_numpy(place).to(flat.device), values)
            return flat.reshape(*flat.shape[:-1], len(sizes), states)

        return spread(self.initial), spread(self.final)


def join_automata(packed: Sequence[Packed], values: Tensor) -> Automata:
    """Automata side by side, with weights from (..., P) the values of products."""
    acceptors = [each.acceptor for each in packed]
    arcs = _joined([acceptor.arcs for acceptor in acceptors])
    state_start = starts_of([each.num_states for each in packed])
    arc_shift = starts_of([len(acceptor.arcs.token) for acceptor in acceptors])
    shifted = [each.arc_start[:-1] + shift for each, shift in zip(packed, arc_shift, strict=False)]

    def on_device(array: NDArray[Any]) -> Tensor:
        return torch.from_numpy(array).to(values.device)

    def weights(columns: Arcs | Ends, fixed: bool = False) -> Tensor:
        of_products = values[..., on_device(columns.product)]
        return of_products if fixed else of_products * on_device(columns.factor).to(values)

    def ends(parts: Sequence[Ends]) -> Tensor:
        columns = _joined(parts)
        state = columns.state + np.repeat(state_start[:-1], [len(part.state) for part in parts])
        zeros = values.new_zeros((*values.shape[:-1], int(state_start[-1])))
        return zeros.index_add(-1, on_device(state), weights(columns))

    return Automata(
        len(packed[0].arc_start) - 1,
        state_start,
        np.concatenate([*shifted, arc_shift[-1:]]),
        arcs.source,
        arcs.target,
        weights(arcs, all(each.fixed for each in packed)),
        ends([acceptor.initial for acceptor in acceptors]),
        ends([acceptor.final for acceptor in acceptors]),
        np.array([each.log_scale for each in packed]),
    )


def joined_groups(parts: Sequence[Automata]) -> Automata:
    """Put groups of automata over the same tokens side by side."""
    if len(parts) == 1:
        return parts[0]

    def joined(starts: Sequence[Ints]) -> Ints:
        shifts = starts_of([start[-1] for start in starts])
        moved = [start[:-1] + shift for start, shift in zip(starts, shifts, strict=False)]
        return np.concatenate([*moved, shifts[-1:]])

    _, state_start, arc_start, source, target, weight, initial, final, log_scale = zip(*parts, strict=True)
    return Automata(
        parts[0].num_tokens,
        joined(state_start),
        joined(arc_start),
        np.concatenate(source),
        np.concatenate(target),
        torch.cat(weight, -1),
        torch.cat(initial, -1),
        torch.cat(final, -1),
        np.concatenate(log_scale),
    )
