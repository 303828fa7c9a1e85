"""Machines that read an underlying string and write a surface string, move by move.

This is the language in which channels are written down; `pyropunct.inference.machines.machine` tells what a
machine does with its moves.
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from pyropunct.errors import UserError
from pyropunct.inference.machines.evidence import String
from pyropunct.inference.machines.products import Edit, Name

START = -2
"""Read before the first token, once."""

END = -1
"""Read behind the last token, until a move halts the machine."""

HALT = None
"""The target of a move behind which the machine does nothing more."""


class MachineError(UserError, ValueError):
    """The moves of a channel are not those of a probabilistic machine."""


class Move(NamedTuple):
    """A step of a machine: it reads a token, writes tokens and changes its state.

    Any value that can be a key of a dictionary can be a state.

    :ivar source: the state in which the machine may make the move; of no meaning at `START`.
    :ivar token: the token that it reads, or `START`, or `END`.
    :ivar weight: the weights whose product is the probability of the move, among all moves with the same
        source and token; ``()`` for 1.
    :ivar written: the tokens that it writes.
    :ivar target: the state in which it goes on, or `HALT`.
    :ivar edit: the edit of two neighbouring tokens, in the order of reading, if the move is an edit.
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

    :ivar moves: its moves.  Without moves at `START` it begins in the source of the first move.
    :ivar from_right: whether it reads, and writes, from right to left.
    """

    moves: Sequence[Move]
    from_right: bool = False


class Branch(NamedTuple):
    """One way in which a channel may work: passes, each of which reads the string that the last one wrote.

    :ivar passes: the passes, the first one first.
    :ivar weight: the weights whose product is the probability of this branch; ``()`` for 1.
    :ivar name: tells it from other branches.
    """

    passes: tuple[Pass, ...]
    weight: tuple[Name, ...] = ()
    name: str = ""
