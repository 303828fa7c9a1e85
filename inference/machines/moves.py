"""Machines that read an underlying string and write a surface string, move by move."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from pyropunct.errors import UserError
from pyropunct.inference.machines.evidence import String
from pyropunct.inference.machines.products import Edit, Name, Products
from pyropunct.inference.ragged import Floats, Ints

START = -2
"""What a machine reads before the first token, once."""

END = -1
"""What it reads behind the last token, until a move halts it."""

HALT = None
"""The state of a machine that is done."""

TOLERANCE = 1e-4
"""By how much the probabilities of moves may miss a sum of 1: they come in single precision."""


class MachineError(UserError, ValueError):
    """The moves of a channel are those of no probabilistic machine."""


class Move(NamedTuple):
    """What a machine may do.

    Any value that can be a key of a dictionary can be a state.

    :ivar source: the state in which it may; none for a move at `START`.
    :ivar token: the token that it reads, or `START`, or `END`.
    :ivar weight: the weights whose product is the probability of this, among all moves with the same source
        and token; ``()`` for 1.
    :ivar written: the tokens that it writes.
    :ivar target: the state in which it goes on, `HALT` if it is done.
    :ivar edit: what this means to two neighbouring tokens, in the order of reading, if it is an edit.
    :ivar factor: a number by which the weight is multiplied.
    """

    source: Hashable
    token: int
    weight: tuple[Name, ...] = ()
    written: String = ()
    target: Hashable = HALT
    edit: Edit | None = None
    factor: float = 1.0


class Pass(NamedTuple):
    """A machine that reads a string from one end to the other.

    :ivar moves: what it may do.  Without moves at `START` it begins in the source of its first move.
    :ivar from_right: whether it reads, and writes, from right to left.
    """

    moves: Sequence[Move]
    from_right: bool = False


class Branch(NamedTuple):
    """One way in which a channel may work: passes, each of which reads what the one before has written.

    :ivar passes: the passes, the first one first.
    :ivar weight: the weights whose product is the probability of this branch; ``()`` for 1.
    :ivar name: tells it from other branches.
    """

    passes: tuple[Pass, ...]
    weight: tuple[Name, ...] = ()
    name: str = ""


class Written:
    """The distinct strings that a machine's moves write, each with the string that lacks its last token.

    :param strings: the strings.
    """

    def __init__(self, strings: Iterable[String]) -> None:
        beginnings = {string[:length] for string in strings for length in range(len(string) + 1)} | {()}
        self.strings = sorted(beginnings, key=lambda string: (len(string), string))
        self.number = {string: number for number, string in enumerate(self.strings)}

    def longer(self, number: int, token: int) -> int | None:
        """The string with another token behind it, if it is one."""
        return self.number.get((*self.strings[number], token))


class Machine(NamedTuple):
    """The moves of a machine as arrays; see `pyropunct.inference.machines.moves.Move`.

    :ivar names: the states.
    :ivar source: (M,) where moves begin, -1 at the start.
    :ivar token: (M,) what they read.
    :ivar target: (M,) where they lead, -1 if they halt.
    :ivar product: (M,) the products of weights that they have.
    :ivar factor: (M,) the numbers by which these are multiplied.
    :ivar written: (M,) which of ``strings`` they write.
    :ivar strings: what may be written.
    :ivar edits: the edits of the moves, as seen on the page.
    :ivar from_right: whether it reads, and writes, from right to left.
    """

    names: tuple[object, ...]
    source: Ints
    token: Ints
    target: Ints
    product: Ints
    factor: Floats
    written: Ints
    strings: Written
    edits: tuple[Edit | None, ...]
    from_right: bool


def machine_of(one: Pass, num_tokens: int, products: Products) -> Machine:
    """The moves of a machine as arrays.

    :raises MachineError: see `pyropunct.inference.machines.transducers.Transducer`.
    """
    moves = list(one.moves)
    if not moves:
        raise MachineError("a machine without moves can read nothing")
    if not any(move.token == START for move in moves):
        moves.append(Move(None, START, target=moves[0].source))
    for move in moves:
        _check_move(move, num_tokens)
    states = {
        state: number
        for number, state in enumerate(dict.fromkeys(move.source for move in moves if move.token != START))
    }
    _check_states(moves, states, num_tokens)
    written = Written({move.written for move in moves})
    edits = [move.edit and (move.edit.mirrored() if one.from_right else move.edit) for move in moves]
    return Machine(
        names=tuple(states),
        source=np.array([-1 if move.token == START else states[move.source] for move in moves]),
        token=np.array([move.token for move in moves]),
        target=np.array([-1 if move.target is HALT else states[move.target] for move in moves]),
        product=products.named([(move.weight, edit) for move, edit in zip(moves, edits, strict=True)]),
        factor=np.array([move.factor for move in moves], np.float64),
        written=np.array([written.number[move.written] for move in moves]),
        strings=written,
        edits=tuple(edits),
        from_right=one.from_right,
    )


def _check_move(move: Move, num_tokens: int) -> None:
    if not isinstance(move.written, tuple):
        raise MachineError(f"{_named(move)} writes {move.written!r}, which is no tuple of tokens")
    tokens = [*move.written, *([] if move.token in (START, END) else [move.token])]
    for token in tokens:
        if not 0 <= token < num_tokens:
            raise MachineError(f"{_named(move)} has token {token}, but tokens are 0 to {num_tokens - 1}")
    if not 0 <= move.factor < np.inf:
        raise MachineError(f"{_named(move)} has the factor {move.factor}")
    if move.target is HALT and move.token != END:
        raise MachineError(f"{_named(move)} halts the machine, but only a move at END may")
    if move.token == END and move.target is not HALT and (move.weight or move.edit):
        raise MachineError(
            f"{_named(move)} goes on with a weight of its own: moves at END halt, or have fixed chances"
        )


def _check_states(moves: Sequence[Move], states: Mapping[Hashable, int], num_tokens: int) -> None:
    for move in moves:
        if move.target is not HALT and move.target not in states:
            raise MachineError(f"{_named(move)} leads to state {move.target!r}, which has no moves")
    able: defaultdict[Hashable, set[int]] = defaultdict(set)
    for move in moves:
        able[move.source].add(move.token)
    for state in states:
        for token in (*range(num_tokens), END):
            if token not in able[state]:
                raise MachineError(f"state {state!r} has no move for {_token(token)}")
    if all(move.target is not HALT for move in moves):
        raise MachineError("no move halts the machine")


def check_sums(machine: Machine, values: Tensor) -> None:
    """Whether the probabilities of the moves of each state and token add up to 1."""
    product = torch.from_numpy(machine.product).to(values.device)
    chances = values[..., product] * torch.from_numpy(machine.factor).to(values)
    kinds, where = np.unique(np.stack([machine.source, machine.token]), axis=1, return_inverse=True)
    sums = chances.new_zeros((*chances.shape[:-1], kinds.shape[1]))
    sums = sums.index_add(-1, torch.from_numpy(where.reshape(-1)).to(chances.device), chances)
    off = (sums - 1).abs()
    wrong = ~(off <= TOLERANCE)
    if wrong.any():
        place = int(wrong.nonzero()[0, -1])
        state, token = kinds[:, place].tolist()
        total = float(sums.select(-1, place).flatten()[off.select(-1, place).argmax()])
        where_ = (
            "at its start" if token == START else f"in state {machine.names[state]!r} for {_token(token)}"
        )
        raise MachineError(f"the probabilities of the machine's moves {where_} add up to {total:.6g}, not 1")


def _named(move: Move) -> str:
    return f"the move from state {move.source!r} for {_token(move.token)}"


def _token(token: int) -> str:
    return {START: "the start", END: "the end"}.get(token, f"token {token}")
