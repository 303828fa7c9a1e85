"""Weighted automata over underlying strings, one for each surface string."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Ints = NDArray[np.int64]


class Arc(NamedTuple):
    """Reading ``token`` leads from state ``source`` to state ``target``.

    :ivar weight: which of the channel's weights the arc has.
    """

    token: int
    source: int
    target: int
    weight: int


class End(NamedTuple):
    """A state where a path may start, or may end.

    :ivar weight: which of the channel's weights that has.
    :ivar factor: a constant by which the weight is multiplied.
    """

    state: int
    weight: int
    factor: float = 1.0


class Topology(NamedTuple):
    """The automaton that accepts each underlying string u with weight p(x | u), x one surface string.

    Its weights are named, not given: they are places in the flat tensor of a channel's weights, so
    that one topology serves for every value of the parameters.

    :ivar num_states: states are numbered 0 .. num_states - 1.
    :ivar initial: where paths start.
    :ivar final: where paths end.
    :ivar arcs: all arcs; several may join the same two states, their weights then add up.
    """

    num_states: int
    initial: Sequence[End]
    final: Sequence[End]
    arcs: Sequence[Arc]

    def reversed(self) -> "Topology":
        """The automaton that reads every string from its other end."""
        arcs = [Arc(arc.token, arc.target, arc.source, arc.weight) for arc in self.arcs]
        return Topology(self.num_states, self.final, self.initial, arcs)


class Packed(NamedTuple):
    """A `Topology` as arrays, its arcs sorted by token."""

    num_states: int
    arc_start: Ints  # (num_tokens + 1,)
    source: Ints
    target: Ints
    weight: Ints
    initial: tuple[Ints, Ints, NDArray[np.float64]]
    final: tuple[Ints, Ints, NDArray[np.float64]]


def pack(topology: Topology, num_tokens: int) -> Packed:
    """Sort the arcs of ``topology`` by token and put everything into arrays."""
    arcs = np.array(topology.arcs, dtype=np.int64).reshape(-1, 4)
    arcs = arcs[np.argsort(arcs[:, 0], kind="stable")]
    token, source, target, weight = (np.ascontiguousarray(column) for column in arcs.T)
    return Packed(
        topology.num_states,
        np.searchsorted(token, np.arange(num_tokens + 1)),
        source,
        target,
        weight,
        _ends(topology.initial),
        _ends(topology.final),
    )


def _ends(ends: Sequence[End]) -> tuple[Ints, Ints, NDArray[np.float64]]:
    return (
        np.array([end.state for end in ends], dtype=np.int64),
        np.array([end.weight for end in ends], dtype=np.int64),
        np.array([end.factor for end in ends], dtype=np.float64),
    )


class Automata(NamedTuple):
    """K automata side by side, with their weights.

    :ivar num_tokens: the number of token types.
    :ivar state_start: (K + 1,) the first state of each automaton in ``initial`` and ``final``.
    :ivar arc_start: (K * num_tokens + 1,) the first arc of each automaton and token.
    :ivar source: (A,) states where arcs begin, counted within their automaton.
    :ivar target: (A,) states where arcs end, counted likewise.
    :ivar weight: (..., A) weights of the arcs.
    :ivar initial: (..., Q) weight of starting in each state, of all automata together.
    :ivar final: (..., Q) weight of ending in each state.
    """

    num_tokens: int
    state_start: Ints
    arc_start: Ints
    source: Ints
    target: Ints
    weight: Tensor
    initial: Tensor
    final: Tensor

    def matrices(self) -> Tensor:
        """Every token's matrix of every automaton, padded with zeros to the same number of states.

        :returns: (..., K, num_tokens, Q, Q), Q the greatest number of states of one automaton.
        """
        states = int(np.diff(self.state_start).max())
        automata = len(self.state_start) - 1
        block = np.repeat(np.arange(automata * self.num_tokens), np.diff(self.arc_start))
        place = torch.from_numpy((block * states + self.source) * states + self.target)
        flat = self.weight.new_zeros((*self.weight.shape[:-1], automata * self.num_tokens * states**2))
        flat = flat.index_add(-1, place.to(flat.device), self.weight)
        return flat.reshape(*flat.shape[:-1], automata, self.num_tokens, states, states)

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


def join_automata(packed: Sequence[Packed], weights: Tensor) -> Automata:
    """Put automata side by side and look up their weights.

    :param packed: K automata over the same tokens.
    :param weights: (..., P) the channel's weights, to which the automata refer.
    """
    num_tokens = len(packed[0].arc_start) - 1
    state_start = np.cumsum([0] + [one.num_states for one in packed])
    arc_shift = np.cumsum([0] + [len(one.source) for one in packed])
    arc_start = np.concatenate(
        [one.arc_start[:-1] + shift for one, shift in zip(packed, arc_shift, strict=False)] + [arc_shift[-1:]]
    )
    arc_weight = torch.from_numpy(np.concatenate([one.weight for one in packed])).to(weights.device)

    def ends(name: str) -> Tensor:
        columns = [getattr(one, name) for one in packed]
        state = np.concatenate(
            [column[0] + shift for column, shift in zip(columns, state_start, strict=False)]
        )
        weight = torch.from_numpy(np.concatenate([column[1] for column in columns])).to(weights.device)
        factor = torch.from_numpy(np.concatenate([column[2] for column in columns])).to(weights)
        values = weights[..., weight] * factor
        return values.new_zeros((*values.shape[:-1], int(state_start[-1]))).index_add(
            -1, torch.from_numpy(state).to(values.device), values
        )

    return Automata(
        num_tokens,
        state_start,
        arc_start,
        np.concatenate([one.source for one in packed]),
        np.concatenate([one.target for one in packed]),
        weights[..., arc_weight],
        ends("initial"),
        ends("final"),
    )


def side_by_side(parts: Sequence[Automata]) -> Automata:
    """Put groups of automata over the same tokens side by side."""
    if len(parts) == 1:
        return parts[0]

    def joined(name: str) -> Ints:
        starts = [getattr(part, name) for part in parts]
        shifts = np.cumsum([0] + [start[-1] for start in starts])
        moved = [start[:-1] + shift for start, shift in zip(starts, shifts, strict=False)]
        return np.concatenate([*moved, shifts[-1:]])

    return Automata(
        parts[0].num_tokens,
        joined("state_start"),
        joined("arc_start"),
        np.concatenate([part.source for part in parts]),
        np.concatenate([part.target for part in parts]),
        torch.cat([part.weight for part in parts], -1),
        torch.cat([part.initial for part in parts], -1),
        torch.cat([part.final for part in parts], -1),
    )
