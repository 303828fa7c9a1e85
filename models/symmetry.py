"""The symmetry of a puncteme pair: whether its brackets and quotation marks are balanced."""

from collections.abc import Iterator, Sequence
from functools import cache

import torch
from torch import Tensor

from pyropunct.inference.inventory import Inventory
from pyropunct.text.marks import CLOSERS, EITHER_WAY

PARTNERS = {opener: tuple(closers) for opener, closers in (CLOSERS | EITHER_WAY).items()}
PARTNERS |= {"¿": ("?",), "¡": ("!",), "<": (">",), "<<": (">>",)}
"""Each opening token, and the tokens that close it (Li, Wang & Eisner 2019, section 2.3).

German writes „so“ and »so«, Polish „so”, Finnish ”so” and »so».
"""

MAY_STAND_ALONE = frozenset("?!")
"""Closing tokens that need no opener."""

PAIRED = frozenset(PARTNERS).union(*PARTNERS.values()) - MAY_STAND_ALONE
"""Brackets, quotation marks and inverted marks: tokens that need partners."""

ONLY_CLOSING = PAIRED - PARTNERS.keys()
"""Those that never open."""

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


def unmatched_sides(left: Sequence[str], right: Sequence[str]) -> tuple[bool, bool]:
    """Whether l, and whether r of a puncteme pair holds an unmatched symmetric token.

    The k-th opener in l from the left must face a closer of its kind, the k-th in r from the right; all other
    symmetric tokens are unmatched.
    """
    openers = [token for token in left if token in PARTNERS]
    rank, alone = 0, False
    for token in reversed(right):
        if rank < len(openers) and token in PARTNERS[openers[rank]]:
            rank += 1
        elif token in PAIRED:
            alone = True
    return rank < len(openers) or not ONLY_CLOSING.isdisjoint(left), alone


def unmatched(left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether a puncteme pair holds an unmatched symmetric token: c(l, r) of section 2.3."""
    return any(unmatched_sides(left, right))


def symmetry_class(left: Sequence[str], right: Sequence[str]) -> str:
    """The class of a puncteme pair, one of `CLASSES`."""
    if unmatched(left, right):
        return "unmatched"
    if any(token in PARTNERS for token in left):
        return "matched" if len(left) == len(right) == 1 else "matched and more"
    if left and right:
        return "the same on both sides" if list(left) == list(right) else "different on both sides"
    if left:
        return "left only"
    return "right only" if right else "none"


def symmetry_classes(inventory: Inventory, marks: Sequence[str]) -> list[int]:
    """The class of each row of an inventory, as an index into `CLASSES`; ``marks`` are its tokens."""
    number = cache(lambda left, right: CLASSES.index(symmetry_class(left, right)))
    return [number(*pair) for pair in as_marks(inventory, marks)]


def as_marks(inventory: Inventory, marks: Sequence[str]) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The puncteme pair of each row of an inventory."""
    return ((tuple(marks[t] for t in left), tuple(marks[t] for t in right)) for left, right in inventory.rows)


def unmatched_rows(inventory: Inventory, marks: Sequence[str]) -> Tensor:
    """c of every row of an inventory: 1.0 if its pair holds an unmatched symmetric token, else 0.0."""
    cost = [unmatched(*pair) for pair in as_marks(inventory, marks)]
    return torch.tensor(cost, dtype=torch.double)
