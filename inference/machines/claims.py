"""Which tokens that a machine has read are those that it writes.

A machine's moves say what it writes, not where that comes from.  A token that is written is taken to be the
first one read that equals it and is neither written nor absorbed yet; in a transposition the last one.
"""

from collections.abc import Sequence
from typing import TypeVar

from pyropunct.inference.machines.products import LEFT_ABSORPTION, TRANSPOSITION, Edit

Label = TypeVar("Label")


def claims(waiting: list[tuple[int, Label]], written: Sequence[int], edit: Edit | None) -> list[Label | None]:
    """The labels of the tokens that a move writes, None for a token that was not read.

    :param waiting: the tokens that were read and are neither written nor absorbed yet, in the order of
        reading, each with a label.  What is now written or absorbed is taken out.
    :param written: what the move writes, in the order of writing.
    :param edit: of the last two tokens that wait, in the order of reading, if the move is an edit: then what
        it writes behind the first token is beside the edit.
    """
    if edit is None:
        return [_claimed(waiting, token, last=False) for token in written]
    shown = written[:1]
    labels = [_claimed(waiting, token, last=edit.kind == TRANSPOSITION) for token in shown]
    if len(edit.after) == 1:
        del waiting[-2 if edit.kind == LEFT_ABSORPTION else -1]
    return labels + [None] * (len(written) - len(shown))


def _claimed(waiting: list[tuple[int, Label]], token: int, last: bool) -> Label | None:
    fitting = [place for place, (other, _) in enumerate(waiting) if other == token]
    if not fitting:
        return None
    return waiting.pop(fitting[-1 if last else 0])[1]
