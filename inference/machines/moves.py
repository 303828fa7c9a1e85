"""Moves: the language in which channels are written, for machines that rewrite strings.

`pyropunct.inference.machines.machine` says how a machine uses its moves.
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple, TypeVar

from pyropunct.errors import UserError
from pyropunct.inference.machines.evidence import String
from pyropunct.inference.machines.products import (
    LEFT_ABSORPTION,
    RIGHT_ABSORPTION,
    TRANSPOSITION,
    Name,
    TokenEdit,
)

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
    """The labels of the tokens that a move writes, None for tokens that were not read; and those that still
    wait.

    A written token is taken to be the first token read that equals it and is neither written nor absorbed
    yet; in a transposition the last one.  An edit is one of the last two tokens that wait, and writes the
    first of these two; all that it writes behind that token comes from nowhere.

    :param waiting: the tokens that were read and are neither written nor absorbed yet, in the order of
        reading, each with a label.
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
