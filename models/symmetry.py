"""The marks of a puncteme pair: whether they are balanced, and how economical they are."""

from collections.abc import Callable, Iterator, Sequence
from functools import cache

import torch
from torch import Tensor

from pyropunct.inference.forest import Forest
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.packed import PackedForest
from pyropunct.text.marks import CLOSERS as OF_TEXT

CLOSERS = {opener: tuple(closers) for opener, closers in OF_TEXT.items()}
CLOSERS |= {"¿": ("?",), "¡": ("!",), "<": (">",), "<<": (">>",)}
CLOSERS |= {"”": ("”",), "»": ("«", "»"), "›": ("‹", "›")}
"""Each opening token, and the tokens that close it (Li, Wang & Eisner 2019, section 2.3).

German writes „so“ and »so«, Polish „so”, Finnish ”so” and »so».
"""

MAY_STAND_ALONE = frozenset("?!")
"""Closing tokens that need no opener."""

PAIRED = frozenset(CLOSERS).union(*CLOSERS.values()) - MAY_STAND_ALONE
"""Brackets, quotation marks and inverted marks: tokens that need partners."""

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

    The k-th opener in l from the left must face a closer of its kind, the k-th in r from the right; all other
    symmetric tokens are unmatched.
    """
    openers = [token for token in left if token in PAIRED]
    if any(token not in CLOSERS for token in openers):
        return True
    rank = 0
    for token in reversed(right):
        if rank < len(openers) and token in CLOSERS[openers[rank]]:
            rank += 1
        elif token in PAIRED:
            return True
    return rank < len(openers)


def symmetry_class(left: Sequence[str], right: Sequence[str]) -> str:
    """The class of a puncteme pair, one of `CLASSES`."""
    if unmatched(left, right):
        return "unmatched"
    if any(token in CLOSERS for token in left):
        return "matched" if len(left) == len(right) == 1 else "matched and more"
    if left and right:
        return "the same on both sides" if list(left) == list(right) else "different on both sides"
    if left:
        return "left only"
    return "right only" if right else "none"


def symmetry_classes(inventory: Inventory, marks: Sequence[str]) -> list[int]:
    """The class of each row of an inventory, as an index into `CLASSES`; ``marks`` are its tokens."""
    number = cache(lambda left, right: CLASSES.index(symmetry_class(left, right)))
    return [number(*pair) for pair in _as_marks(inventory, marks)]


def _as_marks(
    inventory: Inventory, marks: Sequence[str]
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The puncteme pair of each row of an inventory."""
    return ((tuple(marks[t] for t in left), tuple(marks[t] for t in right)) for left, right in inventory.rows)


def unmatched_rows(inventory: Inventory, marks: Sequence[str]) -> Tensor:
    """c of every row of an inventory: 1.0 if its pair holds an unmatched symmetric token, else 0.0."""
    cost = [unmatched(*pair) for pair in _as_marks(inventory, marks)]
    return torch.tensor(cost, dtype=torch.double)


def sprouted(left: Sequence[str], right: Sequence[str]) -> tuple[int, int, int]:
    """The numbers of facing pairs of tokens (equal, or opener and closer), and of others in l and in r."""
    alone, paired = list(right), 0
    for token in left:
        facing = next((one for one in alone if one in CLOSERS.get(token, (token,))), None)
        if facing is not None:
            alone.remove(facing)
            paired += 1
    return paired, len(left) - paired, len(alone)


UNMATCHED = 30.0
"""How many marks outside of pairs an unmatched constituent counts as in `Economy`."""


class Economy:
    """n(T') of trees: how many marks they sprout, how far inside, and how unbalanced.

    Likelihood does not decide whether an inner clause sprouts a period that the channel absorbs, nor which of
    two constituents with the same end sprouts the final period. n(T') does::

        n(T') = sum over w of  paired(l, r) + (1 + above_left(w)) alone(l) + (1 + above_right(w)) alone(r)
                               + 30 c(l, r)

    *paired* counts pairs of tokens of l and r that face each other; *alone* counts other tokens. c is 1 for a
    pair with an unmatched bracket or quotation mark (`unmatched`), else 0. above_left(w) is the number of
    larger constituents that start where w starts; above_right(w), those that end where w ends. So a greater
    n(T') means more absorbed tokens outside of balanced pairs, or marks of smaller constituents than
    necessary. A mark that stands alone belongs to the largest constituent, as in Universal Dependencies. A
    pair stays with the constituent that it encloses, even if one half is absorbed.

    Training with the weight kappa maximises, for each tree::

        log sum over T' of p(T', x | T) exp(-kappa n(T'))
            = max over q of  log p(x | T) - KL(q || p(T' | T, x)) - kappa E_q[n(T')]

    so the posterior q prefers economical trees. This is posterior regularisation with a linear penalty
    (Ganchev, Graça, Gillenwater & Taskar 2010, "Posterior Regularization for Structured Latent Variable
    Models", JMLR 11, section 2). n is a sum over nodes, so the left side costs the same as log p(x | T).
    """

    def __init__(self, inventory: Inventory, marks: Sequence[str]) -> None:
        counts = [(*sprouted(*pair), UNMATCHED * unmatched(*pair)) for pair in _as_marks(inventory, marks)]
        self._counts = torch.tensor(counts, dtype=torch.double)

    def cost(
        self, forest: Forest | PackedForest, weight: float = 1.0, *, balanced: bool = True
    ) -> Callable[[Tensor, Tensor], Tensor]:
        """kappa n(T') as a cost of pairs, for `pyropunct.inference.pyro.collapse.tree_factor`; c only if
        balanced.

        For latent trees, above_left and above_right are unknown and taken as 0.
        """
        if isinstance(forest, PackedForest):
            above_left = above_right = torch.zeros(forest.num_nodes)
        else:
            above_left, above_right = above(forest, forest.left_slot), above(forest, forest.right_slot)

        def numbers(node: Tensor, row: Tensor) -> Tensor:
            paired, left, right, unbalanced = self._counts[row].unbind(-1)
            inside = (1 + above_left[node]) * left + (1 + above_right[node]) * right
            return weight * (paired + inside + balanced * unbalanced)

        return numbers


def above(forest: Forest, edge: Tensor) -> Tensor:
    """(N,) how many larger constituents share the edge of each; ``edge``: (N,) the slots at left or right
    edges.
    """
    outermost = torch.full((forest.num_slots,), forest.num_nodes, device=edge.device)
    return forest.depth - outermost.scatter_reduce(0, edge, forest.depth, "amin")[edge]
