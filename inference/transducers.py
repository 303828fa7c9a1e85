"""Machines that read an underlying string and write a surface string, one random move at a time."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pyropunct.inference.ragged import Ints, starts_of

END = -1
"""Stands for the end of the underlying string, where a machine moves until it halts."""

NOTHING = -1
"""What a move writes that writes no token."""

HALT = -1
"""Where the last move leads."""


class Start(NamedTuple):
    """A state in which a machine may start.

    :ivar state: the state.
    :ivar chance: the probability of starting there.
    :ivar from_right: whether the underlying string is then read, and the surface string written, from
        right to left.
    """

    state: int
    chance: float
    from_right: bool


class Move(NamedTuple):
    """What a machine may do.

    :ivar source: the state in which it may.
    :ivar token: the token that it reads, or `END` behind the last one.
    :ivar chance: the probability of this among all moves with the same source and token.
    :ivar written: the token that it writes, or `NOTHING`.
    :ivar target: the state in which it goes on, or `HALT` if there is nothing left to read.
    """

    source: int
    token: int
    chance: float
    written: int
    target: int


class Transducer(NamedTuple):
    """A probabilistic finite-state transducer: p(x | u) is the total weight of its ways from u to x.

    From where it starts it makes one move for each token of u, drawn from the moves of its state and that
    token, and behind the last token moves at `END` until one of them halts.  What an automaton
    (`pyropunct.inference.automata.Topology`) tells about one surface string, a transducer tells about all:
    it serves to draw them.

    :ivar num_states: states are numbered 0 .. num_states - 1.
    :ivar starts: where it may start; their probabilities add up to 1.
    :ivar moves: all moves.
    """

    num_states: int
    starts: Sequence[Start]
    moves: Sequence[Move]


def mixed(parts: Sequence[tuple[float, Transducer]]) -> Transducer:
    """A machine that starts as one of several machines.

    :param parts: machines, with the probability of each.
    """
    shifts = starts_of([machine.num_states for _, machine in parts]).tolist()
    starts, moves = [], []
    for shift, (chance, machine) in zip(shifts, parts, strict=False):
        starts += [Start(one.state + shift, chance * one.chance, one.from_right) for one in machine.starts]
        for move in machine.moves:
            target = move.target if move.target == HALT else move.target + shift
            moves.append(move._replace(source=move.source + shift, target=target))
    return Transducer(shifts[-1], starts, moves)


class PackedTransducer(NamedTuple):
    """A `Transducer` as arrays, its moves sorted by state and token, `END` behind the tokens.

    :ivar num_tokens: the number T of token types.
    :ivar start_state: (K,) ``int64``, where it may start.
    :ivar start_total: (K,) the probability of starting there or at one before.
    :ivar start_from_right: (K,) in which direction it then reads.
    :ivar move_start: (states * (T + 1) + 1,) the first move of each state and token.
    :ivar move_total: (M,) the probability of a move or one before it of the same state and token.
    :ivar written: (M,) ``int64``, what moves write.
    :ivar target: (M,) ``int64``, where they lead.
    """

    num_tokens: int
    start_state: Ints
    start_total: NDArray[np.float64]
    start_from_right: NDArray[np.bool_]
    move_start: Ints
    move_total: NDArray[np.float64]
    written: Ints
    target: Ints


def pack_transducer(transducer: Transducer, num_tokens: int) -> PackedTransducer:
    """Sort the moves of ``transducer`` by state and token and put everything into arrays.

    :raises ValueError: if some state has no possible move for some token or the end.
    """
    kinds = num_tokens + 1
    source, token, chance, written, target = (
        np.array(column) for column in zip(*transducer.moves, strict=True)
    )
    kind = source * kinds + np.where(token == END, num_tokens, token)
    order = np.argsort(kind, kind="stable")
    every = transducer.num_states * kinds
    impossible = np.bincount(kind, chance, every) <= 0
    if impossible.any():
        state, lacking = divmod(int(impossible.argmax()), kinds)
        what = "the end" if lacking == num_tokens else f"token {lacking}"
        raise ValueError(f"the transducer has no possible move in state {state} for {what}")
    start = starts_of(np.bincount(kind, minlength=every))
    totals = np.concatenate([_shares(chance[order[a:b]]) for a, b in pairwise(start)])
    states, chances, from_right = zip(*transducer.starts, strict=True)
    return PackedTransducer(
        num_tokens,
        np.array(states, np.int64),
        _shares(np.array(chances)),
        np.array(from_right),
        start,
        totals,
        written[order],
        target[order],
    )


def _shares(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sums up to each of some probabilities, the last of which is 1 without a rounding error."""
    totals = np.cumsum(chances)
    return totals / totals[-1]
