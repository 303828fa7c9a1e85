"""Moves, the language in which channels are written, and what a machine does with them: the one place that
interprets moves.

A machine begins in state 0.  It reads `START` once, then the tokens of a string, from the left or from the
right, then `END` again and again, until a move halts it.  Each time it makes one of the moves that its state
has for the token, with their probabilities, and writes the move's tokens.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor

from pyropunct.errors import UserError
from pyropunct.inference.machines.evidence import String
from pyropunct.inference.machines.products import (
    LEFT_ABSORPTION,
    RIGHT_ABSORPTION,
    TRANSPOSITION,
    Name,
    Products,
    TokenEdit,
)
from pyropunct.inference.ragged import Floats, Ints, starts_of

Label = TypeVar("Label")

START = -2
"""Read before the first token, once."""

END = -1
"""Read behind the last token, until a move halts the machine."""

HALT = None
"""The target of a move behind which the machine does nothing more."""


class MachineError(UserError, ValueError):
    """The moves of a channel are not those of a probabilistic machine."""


class Move(NamedTuple):
    """A step of a machine: it reads a token, writes tokens and changes its state, any hashable value.

    :ivar source: the state in which the machine may make the move; ignored at `START`.
    :ivar token: the token that it reads, or `START`, or `END`.
    :ivar weight: the weights whose product is the probability of the move, among all moves with the same
        source and token; ``()`` for 1.
    :ivar target: the state in which it goes on, or `HALT`.
    :ivar edit: the edit of two neighbouring tokens, in the order of reading, if the move is an edit.
    :ivar factor: a number by which the weight is multiplied.
    """

    source: Hashable
    token: int
    weight: tuple[Name, ...] = ()
    written: String = ()
    target: Hashable = HALT
    edit: TokenEdit | None = None
    factor: float = 1.0


class Pass(NamedTuple):
    """A machine that reads and writes a string from one end to the other, ``from_right`` or from the left.

    :ivar moves: its moves.  Without moves at `START` it begins in the source of the first move.
    """

    moves: Sequence[Move]
    from_right: bool = False


class Branch(NamedTuple):
    """One way in which a channel may work: passes, each of which reads the output of the one before.

    :ivar weight: the weights whose product is the probability of this branch; ``()`` for 1.
    """

    passes: tuple[Pass, ...]
    weight: tuple[Name, ...] = ()
    name: str = ""


def claims(
    waiting: Sequence[tuple[int, Label]], move: Move
) -> tuple[list[Label | None], list[tuple[int, Label]]]:
    """Which read tokens a move writes: the label of each written token, None if it was not read.

    A written token is the first equal token that waits; in a transposition, the last one.  An edit is about
    the last two tokens that wait.  Only the first token that it writes was read; any others are new.

    :param waiting: the tokens that were read, but neither written nor absorbed yet, in the order of reading,
        each with a label.
    :returns: the labels, and the tokens that wait after the move.
    """
    waiting, labels = list(waiting), []
    edit = move.edit
    for token in move.written if edit is None else move.written[:1]:
        equal = [place for place, (other, _) in enumerate(waiting) if other == token]
        last = edit is not None and edit.kind == TRANSPOSITION
        labels.append(waiting.pop(equal[-1 if last else 0])[1] if equal else None)
    if edit is not None and edit.kind in (LEFT_ABSORPTION, RIGHT_ABSORPTION):
        del waiting[-2 if edit.kind == LEFT_ABSORPTION else -1]
    return labels + [None] * (len(move.written) - len(labels)), waiting


TOLERANCE = 1e-4
"""By how much the probabilities of moves may miss a sum of 1: they come in single precision."""


@dataclass(frozen=True, eq=False)
class Machine:
    """The M moves of a `Pass`, sorted by the state where they begin and by the token that they read.

    :ivar states: the names of the states; state 0 is the one before `START`.
    :ivar first: (states * (V + 2) + 1,) where the moves of each state and token begin; see `at`.
    :ivar target: (M,) the states to which they lead, -1 if they halt.
    :ivar product: (M,) their products of weights, times ``factor``.
    :ivar written: (M,) which of ``strings`` they write: all strings that moves write, and all their
        beginnings, shorter ones first.
    :ivar edits: (M,) their edits as seen on the page.
    :ivar from_right: whether the machine reads, and writes, from right to left.
    """

    num_tokens: int
    states: tuple[object, ...]
    moves: tuple[Move, ...]
    first: Ints
    source: Ints
    token: Ints
    target: Ints
    product: Ints
    factor: Floats
    written: Ints
    strings: tuple[String, ...]
    edits: tuple[TokenEdit | None, ...]
    from_right: bool

    def at(self, state: int, token: int) -> range:
        """The moves that the machine may make in a state for a token."""
        kind = state * (self.num_tokens + 2) + token - START
        return range(int(self.first[kind]), int(self.first[kind + 1]))

    def reads(self, string: String) -> list[int]:
        """What the machine reads of a string on the page before it reads `END`."""
        return [START, *(string[::-1] if self.from_right else string)]

    def chances(self, values: Floats) -> Floats:
        """(M,) the probabilities of the moves, given the values of all products of weights."""
        return values[self.product] * self.factor


def machine_of(one: Pass, num_tokens: int, products: Products) -> Machine:
    """The machine of a pass; raises MachineError as `pyropunct.inference.machines.transducers.Transducer`
    does.
    """
    moves = list(one.moves)
    if not moves:
        raise MachineError("a machine without moves can read nothing")
    if not any(move.token == START for move in moves):
        moves.append(Move(None, START, target=moves[0].source))
    for move in moves:
        _check_move(move, num_tokens)
    names = dict.fromkeys(move.source for move in moves if move.token != START)
    states = {name: state for state, name in enumerate(names, 1)}
    for move in moves:
        if move.target is not HALT and move.target not in states:
            raise MachineError(f"{_named(move)} leads to state {move.target!r}, which has no moves")
    source = np.array([0 if move.token == START else states[move.source] for move in moves])
    token = np.array([move.token for move in moves])
    kind = source * (num_tokens + 2) + token - START
    order = np.argsort(kind, kind="stable")
    sizes = np.bincount(kind, minlength=(1 + len(states)) * (num_tokens + 2))
    _check_complete(list(states), sizes.reshape(-1, num_tokens + 2)[1:, END - START :])
    if all(move.target is not HALT for move in moves):
        raise MachineError("no move halts the machine")
    moves = [moves[place] for place in order.tolist()]
    edits = [move.edit and (move.edit.mirrored() if one.from_right else move.edit) for move in moves]
    beginnings = {move.written[:length] for move in moves for length in range(len(move.written) + 1)}
    strings = sorted(beginnings, key=lambda string: (len(string), string))
    number = {string: place for place, string in enumerate(strings)}
    return Machine(
        num_tokens,
        ("the start", *states),
        tuple(moves),
        starts_of(sizes),
        source[order],
        token[order],
        np.array([-1 if move.target is HALT else states[move.target] for move in moves]),
        products.named([(move.weight, edit) for move, edit in zip(moves, edits, strict=True)]),
        np.array([move.factor for move in moves], np.float64),
        np.array([number[move.written] for move in moves]),
        tuple(strings),
        tuple(edits),
        one.from_right,
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


def _check_complete(names: Sequence[object], sizes: Ints) -> None:
    """Refuse a state without moves for a token."""
    lacking = np.argwhere(np.roll(sizes, -1, 1) == 0)
    if len(lacking):
        state, token = lacking[0].tolist()
        token = END if token == sizes.shape[1] - 1 else token
        raise MachineError(f"state {names[state]!r} has no move for {_token(token)}")


def check_sums(machine: Machine, values: Tensor, tolerance: float) -> None:
    """Check that the probabilities of the moves of each state and token add up to 1.

    :raises MachineError: with the state and the token.
    """
    product = torch.from_numpy(machine.product).to(values.device)
    chances = values[..., product] * torch.from_numpy(machine.factor).to(values)
    sizes = np.diff(machine.first)
    kinds = np.flatnonzero(sizes)
    place = torch.from_numpy(np.repeat(np.arange(len(kinds)), sizes[kinds])).to(values.device)
    sums = values.new_zeros((*values.shape[:-1], len(kinds)))
    sums = sums.index_add(-1, place, chances)
    off = (sums - 1).abs()
    wrong = ~(off <= tolerance)
    if wrong.any():
        column = int(wrong.nonzero()[0, -1])
        state, token = divmod(int(kinds[column]), machine.num_tokens + 2)
        total = float(sums.select(-1, column).flatten()[off.select(-1, column).argmax()])
        where = f"in state {machine.states[state]!r} for {_token(token + START)}" if state else "at its start"
        raise MachineError(f"the probabilities of the machine's moves {where} add up to {total:.6g}, not 1")


def _named(move: Move) -> str:
    return f"the move from state {move.source!r} for {_token(move.token)}"


def _token(token: int) -> str:
    return {START: "the start", END: "the end"}.get(token, f"token {token}")
