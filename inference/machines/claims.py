"""Which of the tokens that a machine has read are the tokens that it writes.

A machine's moves name the tokens that it writes, not their origins.  A token that is written is taken to be
the first token read that equals it and is neither written nor absorbed yet; in a transposition the last one.
"""

from collections.abc import Sequence
from typing import TypeVar

from pyropunct.inference.machines.moves import Move
from pyropunct.inference.machines.products import LEFT_ABSORPTION, TRANSPOSITION

Label = TypeVar("Label")


def claims(
    waiting: Sequence[tuple[int, Label]], move: Move
) -> tuple[list[Label | None], list[tuple[int, Label]]]:
    """The labels of the tokens that a move writes, and the tokens that wait behind it.

    If the move is an edit, it is one of the last two tokens that wait, and it writes the first token of these
    two; all that it writes behind that token comes from nowhere.

    :param waiting: the tokens that were read and are neither written nor absorbed yet, in the order of
        reading, each with a label.
    :returns: a label for each token that the move writes, None for a token that was not read; and the tokens
        that still wait.
    """
    waiting, labels = list(waiting), []
    edit = move.edit
    for token in move.written if edit is None else move.written[:1]:
        equal = [place for place, (other, _) in enumerate(waiting) if other == token]
        last = edit is not None and edit.kind == TRANSPOSITION
        labels.append(waiting.pop(equal[-1 if last else 0])[1] if equal else None)
    if edit is not None and len(edit.after) == 1:
        del waiting[-2 if edit.kind == LEFT_ABSORPTION else -1]
    return labels + [None] * (len(move.written) - len(labels)), waiting
