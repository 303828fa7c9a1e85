"""Symmetric marks: matched and unmatched tokens in a puncteme pair."""

from collections.abc import Sequence

import torch
from torch import Tensor

from pyropunct.inference.inventory import Inventory

FACING: dict[str, str] = {
    "(": ")",
    "[": "]",
    "{": "}",
    "“": "”",
    "‘": "’",
    "«": "»",
    "‹": "›",
    "<": ">",
    "<<": ">>",
    "（": "）",
    "［": "］",
    "〔": "〕",
    "【": "】",
    "「": "」",
    "『": "』",
    "《": "》",
    "〈": "〉",
    "¿": "?",
    "¡": "!",
}
"""Each opening token and the token that closes it (Li, Wang & Eisner 2019, section 2.3)."""

CLOSING = {closer: opener for opener, closer in FACING.items()}

STRICT_CLOSERS = set(CLOSING) - {"?", "!"}
"""Closing tokens that need an opener; question and exclamation marks may stand alone."""

CLASSES = (
    "none",
    "left only",
    "right only",
    "the same on both sides",
    "different on both sides",
    "matched",
    "matched and more",
    "unmatched",
)
"""The classes of symmetry of a puncteme pair."""


def unmatched(left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether a puncteme pair holds an unmatched symmetric token: c(l, r) of section 2.3.

    The symmetric tokens of the left puncteme are read from left to right, those of the right puncteme from
    right to left.  Each opener on the left must face its closer at the same rank.  Closers on the left,
    openers on the right, and tokens without a partner are unmatched.
    """
    openers = [token for token in left if token in FACING or token in STRICT_CLOSERS]
    if any(token not in FACING for token in openers) or any(token in FACING for token in right):
        return True
    closers = [token for token in reversed(right) if token in CLOSING]
    rank = 0
    for token in closers:
        if rank < len(openers) and FACING[openers[rank]] == token:
            rank += 1
        elif token in STRICT_CLOSERS:
            return True
    return rank < len(openers)


def symmetry_class(left: Sequence[str], right: Sequence[str]) -> str:
    """The class of a puncteme pair, one of `CLASSES`."""
    if unmatched(left, right):
        return "unmatched"
    if any(token in FACING for token in left):
        return "matched" if len(left) == len(right) == 1 else "matched and more"
    if left and right:
        return "the same on both sides" if list(left) == list(right) else "different on both sides"
    if left:
        return "left only"
    return "right only" if right else "none"


def symmetry_classes(inventory: Inventory, marks: Sequence[str]) -> list[int]:
    """The class of each row of an inventory, as an index into `CLASSES`.

    :param marks: the inventory's tokens.
    """
    classes = {
        (left, right): CLASSES.index(symmetry_class([marks[t] for t in left], [marks[t] for t in right]))
        for left, right in set(inventory.rows)
    }
    return [classes[row] for row in inventory.rows]


def unmatched_rows(inventory: Inventory, marks: Sequence[str]) -> Tensor:
    """c of every row of an inventory: 1.0 if its pair holds an unmatched symmetric token, else 0.0.

    :param marks: the inventory's tokens.
    """
    cost = [unmatched([marks[t] for t in left], [marks[t] for t in right]) for left, right in inventory.rows]
    return torch.tensor(cost, dtype=torch.double)
