"""Economy of underlying punctuation: how many marks were sprouted, and how far inside the tree.

Likelihood does not decide whether an inner clause sprouts a period that the channel then absorbs, nor which
of two constituents sprouts the final period if both end there.  The number n(T') does::

    n(T') = sum over w of  paired(l, r) + (1 + above_left(w)) alone(l) + (1 + above_right(w)) alone(r)

where *paired* counts tokens of l and r that face each other, two as one, and *alone* the others;
above_left(w) is the number of larger constituents that start where w starts, and above_right(w) of those that
end where w ends.  All marks on the page were sprouted.  So for a given x, a greater n(T') means that more
tokens outside of balanced pairs never reach the page, or that smaller constituents than necessary have
sprouted them.  A mark that stands alone belongs to the largest constituent, as Universal Dependencies attach
it to the highest word.  A pair stays with the constituent that it encloses, even if one half of it is
absorbed.

Training with the weight kappa maximises, for each tree::

    log sum over T' of p(T', x | T) exp(-kappa n(T'))
        = max over q of  log p(x | T) - KL(q || p(T' | T, x)) - kappa E_q[n(T')]

so the posterior q from which training learns prefers economical trees, most of all where likelihood does not
decide.  This is posterior regularisation with a linear penalty (Ganchev, Graça, Gillenwater & Taskar 2010,
"Posterior Regularization for Structured Latent Variable Models", JMLR 11, section 2).  The left side is as
quick to compute as log p(x | T), since n is a sum over nodes.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from pyropunct.inference.forest import Forest
from pyropunct.inference.inventory import Inventory
from pyropunct.inference.problem import choice_rows, choice_start
from pyropunct.models.symmetry import FACING


class Sprouted(NamedTuple):
    """How many tokens a puncteme pair has.

    :ivar paired: pairs of tokens, one of the left and one of the right puncteme, that face each other.
    :ivar left: other tokens of the left puncteme.
    :ivar right: other tokens of the right puncteme.
    """

    paired: int
    left: int
    right: int


def sprouted(left: Sequence[str], right: Sequence[str]) -> Sprouted:
    """The counts of a puncteme pair.

    A quotation mark or bracket faces the mark that closes it; any other token faces a token of its own kind.
    """
    facing = Counter(FACING.get(token, token) for token in left)
    paired = (facing & Counter(right)).total()
    return Sprouted(paired, len(left) - paired, len(right) - paired)


class Economy:
    """n(T') of trees with the relations of an inventory.

    :param inventory: the sets W_d.
    :param marks: the inventory's tokens.
    """

    def __init__(self, inventory: Inventory, marks: Sequence[str]) -> None:
        counts = [
            sprouted([marks[t] for t in left], [marks[t] for t in right]) for left, right in inventory.rows
        ]
        self._inventory, self._counts = inventory, torch.tensor(counts, dtype=torch.double)

    def numbers(self, relation: Tensor, forest: Forest) -> Tensor:
        """(C,) the term of each pair of each node in n(T'), node after node.

        :param relation: (N,) the relation of each node.
        """
        paired, left, right = self._counts[choice_rows(self._inventory, relation)].unbind(-1)
        sizes = torch.from_numpy(choice_start(self._inventory, relation)).diff()
        above_left, above_right = (torch.repeat_interleave(count, sizes) for count in above(forest))
        return paired + (1 + above_left) * left + (1 + above_right) * right


def above(forest: Forest) -> tuple[Tensor, Tensor]:
    """(N,), (N,) how many larger constituents start where each constituent starts, and end where it ends."""
    return _above(forest, forest.left_slot), _above(forest, forest.right_slot)


def _above(forest: Forest, edge: Tensor) -> Tensor:
    """Constituents that share an edge are nested, so their depths are consecutive."""
    outermost = torch.full((forest.num_slots,), forest.num_nodes, device=edge.device)
    return forest.depth - outermost.scatter_reduce(0, edge, forest.depth, "amin")[edge]
